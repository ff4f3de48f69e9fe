"""The exact size of an orbit: formal transport, bounds from both sides, the certificate."""

from invman.orbit.certificate import Bound, Certificate, NumericalRank
from invman.orbit.find import OrbitOptions, find_orbit
from invman.orbit.nodes import CertifyReport, Finding, NodeOrbit, certify_lattice
from invman.orbit.points import draw_point, exact_point, read_point

__all__ = [
    "Bound",
    "Certificate",
    "CertifyReport",
    "Finding",
    "NodeOrbit",
    "NumericalRank",
    "OrbitOptions",
    "certify_lattice",
    "draw_point",
    "exact_point",
    "find_orbit",
    "read_point",
]
