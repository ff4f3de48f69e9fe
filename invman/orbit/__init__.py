"""The exact size of an orbit: formal transport, bounds from both sides, the certificate."""
