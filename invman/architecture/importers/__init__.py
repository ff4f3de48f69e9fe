"""What the importers share: symbolic arrays over named axes, and how they become a program."""
