"""Dual coordinate ascent for the likelihood of chains, under squares or an elastic net."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from separatrix.errors import DataError
from separatrix.objective import StructuredObjective
from separatrix.penalties import SharedElasticNet, strengths
from separatrix.protocols import Array
from separatrix.results import Monitor, Solution, StopReason
from separatrix.solvers.base import check_needs
from separatrix.solvers.primal.lbfgs import Lbfgs
from separatrix.solvers.proximal.owlqn import OwlQn

__all__ = ["MEMORY", "ChainDualAscent"]

#: Pairs that L-BFGS and OWL-QN keep for structures, where a pass costs more than a pair.
MEMORY = 12
#: Under an elastic net: the least passes of dual ascent, and the part of P that two passes must
#: take off for another to be worth its time (from conll2000, conll2002 Spanish and wnut17).
_LEAST_PASSES, _WORTH = 6, 4e-3
#: Power of the second derivatives by which OWL-QN scales its variables: between none (0) and that
#: of Newton's method (1/2), as the derivatives are those of the dual's marginals (same corpora).
_POWER = 0.25


class _Ascent(NamedTuple):
    """Where dual ascent ended; `stopped` is None where another solver is to go on."""

    w: Array
    passes: float
    value: float
    stopped: StopReason | None
    curvature: Array | None


@dataclass(frozen=True)
class ChainDualAscent:
    """Dual coordinate ascent in mean parameters, then L-BFGS, or OWL-QN under an elastic net.

    Under moderate regularization each pass of `_core.ChainDual` takes off a third or more of what
    is left, but leaves a long gradient: L-BFGS goes on from there and proves the gap, or does most
    of the work where regularization is weak. Under an elastic net the weights are soft thresholds
    of the dual vector, and OWL-QN goes on in variables that are scaled by the second derivatives at
    the marginals of the dual.

    Parameters
    ----------
    seed : int
        Seed of the shuffles.
    max_passes : int
        The most passes of dual ascent.
    share : float
        Dual ascent ends when a pass lowers P by less than this multiple of the wanted gap.
    """

    seed: int = 0
    max_passes: int = 60
    share: float = 1.0

    needs: ClassVar[frozenset[str]] = frozenset({"chain_dual"})

    def minimize(self, objective: Any, w0: Array | None, monitor: Monitor) -> Solution:
        """Minimize from `w0` (None: from zero) until `monitor` says stop."""
        check_needs(self, objective)
        if w0 is not None:
            return self._further(objective, None).minimize(objective, w0, monitor)
        found = self._ascend(objective, monitor)
        if found.stopped is not None:
            return Solution(
                w=found.w,
                n_passes=found.passes,
                gap=float("inf"),
                stopped=found.stopped,
                trace=monitor.trace,
                objective=found.value,
                certificate="none; objective estimated from the losses on the way",
                solver="dual coordinate ascent",
            )
        monitor.offset += found.passes
        start = found.w if found.value < objective.C * objective.passes.value_at_zero else None
        further = self._further(objective, found.curvature)
        solution = further.minimize(objective, start, monitor)
        monitor.offset -= found.passes
        name = f"dual coordinate ascent, then {'OWL-QN' if type(further) is OwlQn else 'L-BFGS'}"
        return solution._replace(n_passes=solution.n_passes + found.passes, solver=name)

    @staticmethod
    def _further(objective: StructuredObjective, curvature: Array | None) -> Lbfgs | OwlQn:
        """The solver that goes on, with second derivatives of the losses where they are known."""
        if objective.penalty.smooth:
            return Lbfgs(memory=MEMORY)
        if curvature is None:
            return OwlQn(memory=MEMORY)
        _, l2 = strengths(objective.penalty) or (0.0, 1.0)
        return OwlQn(memory=MEMORY, scale=(1.0 + curvature / l2) ** -_POWER)

    def _ascend(self, objective: StructuredObjective, monitor: Monitor) -> _Ascent:
        """Where dual ascent ended, and why to stop (None: another solver is to go on)."""
        penalty = objective.penalty
        l1, l2 = 0.0, 1.0
        if isinstance(penalty, SharedElasticNet):
            l1, l2 = penalty.l1, penalty.l2
        handle = objective.passes.dual_handle(objective.C, l1, l2, self.seed)
        value, before, passes = np.inf, np.inf, 0
        best: list[float] = []  # the least value after every pass: a pass may raise it
        stopped: StopReason | None = None

        def weights() -> Array:
            found: Array = objective.passes.variables_of(handle.weights())
            return found

        try:
            while stopped is None and passes < self.max_passes:
                before, value = value, handle.run_pass()
                best.append(min([value, *best[-1:]]))
                passes += 1
                stopped = monitor.record(passes, value, np.inf, weights)
                if l1 == 0 and before - value <= self.share * monitor.wanted(value):
                    break
                if l1 > 0 and passes >= _LEAST_PASSES and best[-3] - best[-1] <= _WORTH * best[-1]:
                    break
        except KeyboardInterrupt:
            stopped = StopReason.INTERRUPTED
        except DataError:
            # Transition weights left the range of the scaled domain: another solver goes on.
            stopped = None
        curvature = objective.passes.curvature(handle) if l1 > 0 else None
        return _Ascent(weights(), float(passes), value, stopped, curvature)
