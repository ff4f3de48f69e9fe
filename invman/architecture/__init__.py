"""What a user hands in: an architecture as one small tensor program with named axes."""

from invman.architecture.activations import REGISTERED, Activation, Support
from invman.architecture.presets import Layer, fully_connected, parse_short_form
from invman.architecture.program import Program, Tensor
from invman.architecture.reading import read_architecture
from invman.architecture.text import parse_program

__all__ = [
    "REGISTERED",
    "Activation",
    "Layer",
    "Program",
    "Support",
    "Tensor",
    "fully_connected",
    "parse_program",
    "parse_short_form",
    "read_architecture",
]
