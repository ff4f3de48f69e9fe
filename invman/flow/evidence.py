"""What was measured about one manifold, gathered from its trials, and the verdict that follows from it."""

from __future__ import annotations

from dataclasses import dataclass, field

from invman.flow.options import Tolerances
from invman.flow.verdict import FAMILY, OPTIMIZERS, CheckResult, Verdict, Witness


@dataclass(frozen=True)
class Drift:
    """One trajectory in numbers.

    Attributes
    ----------
    optimizer, loss : str
        What was followed.
    trial : int
        Which start.
    first, largest : float
        Distance from the manifold after the first segment, and the largest of all, in units of the distance travelled.
    distance : float
        Distance travelled.
    failure : str
        Why the trajectory did not finish; empty if it did.
    """

    optimizer: str
    loss: str
    trial: int
    first: float
    largest: float
    distance: float
    failure: str = ""


@dataclass
class Evidence:
    """All that was measured about one manifold.

    Attributes
    ----------
    normal : float
        Largest relative normal component of a gradient.
    witness : Witness or None
        Where it is, if it is a violation.
    failures : list of str
        What could not be computed.
    drifts : list of Drift
        The trajectories.
    projected : list of Drift
        The trajectories once more, put back on the manifold after each segment; only after drift.
    vanishing : bool
        Whether the gradient family vanishes at every sampled point.
    """

    normal: float = 0.0
    witness: Witness | None = None
    failures: list[str] = field(default_factory=list)
    drifts: list[Drift] = field(default_factory=list)
    projected: list[Drift] = field(default_factory=list)
    vanishing: bool = True

    def add_witness(self, witness: Witness) -> None:
        """Keep the clearest witness; a field of the family comes first, since it can be recomputed from x and c."""
        held = self.witness
        if held is None or (witness.kind == FAMILY, witness.normal) > (held.kind == FAMILY, held.normal):
            self.witness = witness

    def worst(self) -> Drift:
        """Return the trajectory with the largest drift."""
        return max(self.drifts, key=lambda drift: drift.largest)

    def drifted(self, tolerances: Tolerances) -> bool:
        """Tell whether the gradients are tangent and everything finished, but a trajectory left the manifold."""
        complete = not self.failures and all(not drift.failure for drift in self.drifts)
        return complete and self.normal <= tolerances.rounding < self.worst().largest

    def result(self, tolerances: Tolerances) -> CheckResult:
        """Return the verdict with its reason.

        A violation needs a normal component above ``tolerances.violation``. To pass, every gradient must be tangent to
        rounding, every trajectory must finish, and it must stay to rounding, where need be after projection.
        """
        verdict, reason = self._decide(tolerances)
        return CheckResult(
            verdict=verdict,
            reason=reason,
            normal=self.normal,
            drift={name: self._drift(name) for name in OPTIMIZERS},
            distance={name: self._distance(name) for name in OPTIMIZERS},
            witness=self.witness if verdict is Verdict.NOT_INVARIANT else None,
        )

    def _of(self, optimizer: str) -> list[Drift]:
        return [drift for drift in self.drifts if drift.optimizer == optimizer]

    def _drift(self, optimizer: str) -> float | None:
        own = self._of(optimizer)
        return None if any(drift.failure for drift in own) else max(drift.largest for drift in own)

    def _distance(self, optimizer: str) -> float | None:
        own = self._of(optimizer)
        return None if any(drift.failure for drift in own) else min(drift.distance for drift in own)

    def _decide(self, tolerances: Tolerances) -> tuple[Verdict, str]:
        normal = f"{self.normal:.1e}"
        if self.normal > tolerances.violation and self.witness is not None:
            where = f"trial {self.witness.trial}, largest at {self.witness.coordinate}"
            return Verdict.NOT_INVARIANT, (
                f"a {self.witness.kind} has relative normal component {self.witness.normal:.1e} ({where})"
            )
        failures = self.failures + [drift.failure for drift in self.drifts if drift.failure]
        if failures:
            more = f"; and {len(failures) - 1} more" if len(failures) > 1 else ""
            return Verdict.INCONCLUSIVE, failures[0] + more
        if self.normal > tolerances.rounding:
            low, high = f"{tolerances.rounding:.0e}", f"{tolerances.violation:.0e}"
            return Verdict.INCONCLUSIVE, (
                f"the largest relative normal component {normal} lies between rounding ({low}) and a clear violation "
                f"({high})"
            )
        if self.drifted(tolerances):
            return self._unstable(tolerances)
        note = "; the gradient family vanishes at every sampled point" if self.vanishing else ""
        return Verdict.INVARIANT_IN_TEST, (
            f"every sampled gradient is tangent (normal component at most {normal}) and every trajectory stays "
            f"(drift at most {self.worst().largest:.1e}){note}"
        )

    def _unstable(self, tolerances: Tolerances) -> tuple[Verdict, str]:
        worst = self.worst()
        story = (
            f"transverse instability amplifies rounding: every sampled gradient is tangent (normal component at most "
            f"{self.normal:.1e}), but under {worst.optimizer} with the {worst.loss} loss the drift grows from "
            f"{worst.first:.1e} to {worst.largest:.1e}"
        )
        failed = [drift.failure for drift in self.projected if drift.failure]
        left = max((drift.largest for drift in self.projected), default=float("inf"))
        if not failed and left <= tolerances.rounding:
            return Verdict.INVARIANT_IN_TEST, (
                f"{story}; put back on the manifold after each segment it stays (drift at most {left:.1e})"
            )
        outcome = failed[0] if failed else f"drift {left:.1e}"
        return (
            Verdict.INCONCLUSIVE,
            f"{story}, and {outcome} even when put back after each segment; shorten the horizon",
        )
