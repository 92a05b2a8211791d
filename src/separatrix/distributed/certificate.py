"""Proofs of gaps where the rows lie in partitions, in double precision at the stored weights."""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from separatrix.losses import kernel_of
from separatrix.penalties import L2
from separatrix.protocols import Array
from separatrix.solvers.certificate import ROUNDING, Certified, Certifier, as_stored

if TYPE_CHECKING:
    from separatrix.distributed.objective import DistributedObjective

__all__ = ["RemoteCertifier", "partial_proof"]


class RemoteCertifier(Certifier):
    """Bounds P(w) - min P from sums over partitions; one pass a proof, intercepts stay.

    Parameters
    ----------
    objective : DistributedObjective
        One for which `RemoteCertifier.fits` holds.
    """

    objective: DistributedObjective

    def __init__(self, objective: DistributedObjective) -> None:
        self.objective = objective
        self.lower = 0.0  # no loss of ours is negative
        self._grain = 0.0

    @staticmethod
    def fits(objective: Any) -> bool:
        """Whether partitions can tell the sums that a proof is made of."""
        return type(objective.penalty) is L2 and kernel_of(objective.loss) is not None

    @cached_property
    def _longest(self) -> float:
        return math.hypot(self.objective.longest_row, 1.0)

    def value_at(self, w: Array) -> tuple[Array, float, float, tuple[Any, ...]]:
        """Weights as they are stored, P there, how far it may be off, and the sums behind it."""
        objective = self.objective
        stored = as_stored(w, objective.score_map.dtype, objective.loss)  # type: ignore[attr-defined]
        w = stored.astype(np.float64)
        inner = objective.penalized(w)
        size = math.sqrt(float(np.vdot(inner, inner)))
        off = ROUNDING * (self._longest * size + float(np.abs(w[-1]).max()))
        sums = objective.proof_sums(stored, off)
        value = sums[0] + objective.penalty.value(inner)
        self._grain = sums[-1]
        return stored, value, ROUNDING * (abs(value) + sums[-1]) + sums[4] * off, sums

    def at(self, w: Array, wanted: float = 0.0, **_: Any) -> Certified:
        """Weights as they are stored, with their value and gap: one pass over the partitions."""
        stored, value, noise, sums = self.value_at(w)
        if self.objective.loss.smooth:
            total, paired, mass, size, _, columns, pulled, grain = sums
            v = total - paired
            self._raise(
                v, pulled, columns, mass, abs(total) + size + grain, lambda scale: scale * v
            )
        gap = value - self.lower + noise
        return Certified(stored, value, gap if math.isfinite(gap) else math.inf)


def partial_proof(problem: Any, *arguments: Any) -> tuple[Any, ...]:
    """The sums of one partition at weights w, whose scores may be off by the last argument."""
    *state, w, off = arguments
    return tuple(problem.proof_sums(w, off, *state))
