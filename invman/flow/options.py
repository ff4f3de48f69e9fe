"""How to check: numbers of trials and steps, losses, seed, and what counts as rounding."""

from __future__ import annotations

from dataclasses import dataclass

from invman.errors import InvmanError
from invman.flow.losses import LOSSES


@dataclass(frozen=True)
class CheckOptions:
    """Options of the checker; all runs are in float64.

    Attributes
    ----------
    trials : int
        Random points a manifold; each also starts one trajectory of each kind. Trial t trains with loss t mod 4.
    fields : int
        Random gradients tried at each point.
    steps : int
        Steps of gradient descent.
    learning_rate : float
        Step of gradient descent, divided by 1 + |gradient at the start| and constant along the run; also the longest
        move of one step.
    horizon : float
        Time of gradient flow along the field -g / (1 + |g|): the same orbits as -g, at a speed below one.
    samples : int
        Rows of random data.
    losses : tuple of str, or None
        Some of squared, logistic, exponential, quartic; None for all that the data admit.
    seed : int
        Of all random numbers.
    batch : int
        Trajectories that are run at once.
    rounding, violation : float
        A relative normal component up to ``rounding`` is rounding, from ``violation`` on it is a violation; between
        them nothing is decided. A drift above ``violation`` without a normal component is amplified rounding.
    """

    trials: int = 4
    fields: int = 8
    steps: int = 200
    learning_rate: float = 0.1
    horizon: float = 2.0
    samples: int = 16
    losses: tuple[str, ...] | None = None
    seed: int = 0
    batch: int = 256
    rounding: float = 1e-9
    violation: float = 1e-6

    def __post_init__(self) -> None:
        for name in ("trials", "fields", "steps", "samples", "batch"):
            value = getattr(self, name)
            if not isinstance(value, int) or value < 1:
                msg = f"option {name}: got {value!r}, expected a whole number of at least 1"
                raise InvmanError(msg)
        for name in ("learning_rate", "horizon"):
            value = getattr(self, name)
            if not 0 < value < float("inf"):
                msg = f"option {name}: got {value!r}, expected a positive number"
                raise InvmanError(msg)
        if not 0 <= self.seed < 2**32:
            msg = f"option seed: got {self.seed!r}, expected a whole number from 0 to 2^32 - 1"
            raise InvmanError(msg)
        for loss in self.losses or ():
            if loss not in LOSSES:
                msg = f"option losses: got {loss!r}, expected some of {', '.join(LOSSES)}"
                raise InvmanError(msg)
