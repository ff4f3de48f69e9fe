"""Names of the source made into names of a program."""

from __future__ import annotations

import re

from invman.architecture.activations import PRIMITIVES, REGISTERED

RESERVED = {*REGISTERED, *PRIMITIVES, "softmax", "sum", "mean", "sqrt", "custom", "input", "constant", "size", "output"}
GENERATED = re.compile(r"[fhc]\d*")


class Names:
    """Makes identifiers, each only once.

    Examples
    --------
    >>> names = Names()
    >>> [names.unique("layers.0/weight"), names.unique("layers_0_weight"), names.unique("exp")]
    ['layers_0_weight', 'layers_0_weight_2', 'exp_']
    """

    def __init__(self) -> None:
        self.taken: set[str] = set()

    def unique(self, text: str) -> str:
        """Return the text as an identifier that is not in use and means nothing else in index notation."""
        name = re.sub(r"\W+", "_", text, flags=re.ASCII).strip("_") or "p"
        if name[0].isdigit():
            name = f"p{name}"
        if name in RESERVED or GENERATED.fullmatch(name):
            name = f"{name}_"
        number, base = 2, name
        while name in self.taken:
            name, number = f"{base}_{number}", number + 1
        self.taken.add(name)
        return name
