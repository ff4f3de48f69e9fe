"""How a check is made: its sizes, its seed and its tolerances."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, NamedTuple, NoReturn

from invman.errors import InvmanError
from invman.flow.losses import LOSSES


class OptionsError(InvmanError):
    """An option of a check is outside its range."""


class Tolerances(NamedTuple):
    """The thresholds of a check, all relative.

    Attributes
    ----------
    rounding : float
        A normal component or a drift up to this is rounding.
    violation : float
        A normal component above this is a violation; between the two a check is inconclusive.
    floor : float
        A field smaller than this fraction of a typical field counts as this fraction, so that the rounding of a field
        that vanishes is not divided by zero; distances likewise.
    integration : float
        Relative tolerance of the integrator of gradient flow.
    """

    rounding: float
    violation: float
    floor: float
    integration: float


_DEFAULTS = {
    "float64": Tolerances(rounding=1e-9, violation=1e-6, floor=1e-5, integration=1e-7),
    "float32": Tolerances(rounding=1e-3, violation=3e-2, floor=1e-2, integration=1e-4),
}


@dataclass(frozen=True)
class CheckOptions:
    """How a check is made.

    Attributes
    ----------
    trials : int
        Random points a manifold, each the start of one trajectory of every optimiser.
    fields : int
        Fields of the gradient family that are tried at each point.
    steps : int
        Steps of gradient descent.
    horizon : float
        Time of gradient flow, in units of 1 / (largest curvature of the loss at the start).
    learning_rate : float
        Step of gradient descent, in the same units; below 2 for stability. Also the longest move of one step.
    seed : int
        Of all random numbers.
    losses : tuple of str
        Trial t trains with loss ``losses[t % len(losses)]``.
    samples : int
        Size of the random data of a trial; not used when data are given.
    spread : float
        Largest standard deviation of the random parameters; a trial uses between an eighth of it and all of it.
    batch : int
        How many trajectories run at once: bounds the memory.
    dtype : str
        ``"float64"`` or ``"float32"``; the tolerances go with it.
    tolerance, violation : float, optional
        Replace ``Tolerances.rounding`` and ``Tolerances.violation``.

    Raises
    ------
    OptionsError
        A value is outside its range; the message says what was got, what is expected and what to do.

    Examples
    --------
    >>> CheckOptions(trials=2).tolerances.violation
    1e-06
    """

    trials: int = 4
    fields: int = 8
    steps: int = 200
    horizon: float = 20.0
    learning_rate: float = 0.1
    seed: int = 0
    losses: tuple[str, ...] = tuple(LOSSES)
    samples: int = 16
    spread: float = 1.0
    batch: int = 64
    dtype: Literal["float64", "float32"] = "float64"
    tolerance: float | None = None
    violation: float | None = None

    def __post_init__(self) -> None:
        for name in ("trials", "fields", "steps", "samples", "batch"):
            self._whole(name, 1, 2**31 - 1)
        self._whole("seed", 0, 2**63 - 1)
        for name in ("horizon", "learning_rate", "spread"):
            self._positive(name, getattr(self, name))
        if self.learning_rate >= 2:
            _refuse("learning_rate", self.learning_rate, "a number below 2", "Beyond that descent is unstable.")
        if not isinstance(self.losses, tuple) or not self.losses or any(name not in LOSSES for name in self.losses):
            hint = f"Choose among {', '.join(LOSSES)}."
            _refuse("losses", self.losses, "a tuple of at least one name of a loss", hint)
        if self.dtype not in _DEFAULTS:
            _refuse("dtype", self.dtype, "'float64' or 'float32'", "float64 tells rounding from drift more sharply.")
        for name in ("tolerance", "violation"):
            if getattr(self, name) is not None:
                self._positive(name, getattr(self, name))
        if self.tolerances.rounding >= self.tolerances.violation:
            got = f"{self.tolerances.rounding:g} and {self.tolerances.violation:g}"
            _refuse("tolerance and violation", got, "tolerance < violation", "Raise violation or lower tolerance.")

    @property
    def tolerances(self) -> Tolerances:
        """The thresholds in force."""
        found = _DEFAULTS[self.dtype]
        return found._replace(
            rounding=found.rounding if self.tolerance is None else self.tolerance,
            violation=found.violation if self.violation is None else self.violation,
        )

    def loss(self, trial: int) -> str:
        """Return the name of the loss of a trial."""
        return self.losses[trial % len(self.losses)]

    def _whole(self, name: str, least: int, most: int) -> None:
        value = getattr(self, name)
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            _refuse(name, value, f"a whole number from {least} to {most}", "Leave it out for the default.")

    def _positive(self, name: str, value: object) -> None:
        number = float(value) if isinstance(value, int | float) and not isinstance(value, bool) else math.nan
        if not math.isfinite(number) or number <= 0:
            _refuse(name, value, "a positive number", "Leave it out for the default.")


def _refuse(name: str, got: object, expected: str, advice: str) -> NoReturn:
    msg = f"option {name}: got {got!r}, expected {expected}. {advice}"
    raise OptionsError(msg)
