"""Dual coordinate ascent for the likelihood of chains."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from separatrix.errors import DataError
from separatrix.objective import StructuredObjective
from separatrix.protocols import Array
from separatrix.results import Monitor, Solution, StopReason
from separatrix.solvers.base import check_needs
from separatrix.solvers.primal.lbfgs import Lbfgs

__all__ = ["MEMORY", "ChainDualAscent"]

#: Pairs that L-BFGS and OWL-QN keep for structures, where a pass costs more than a pair.
MEMORY = 12


class _Ascent(NamedTuple):
    """Where dual ascent ended; `stopped` is None where L-BFGS is to go on."""

    w: Array
    passes: float
    value: float
    stopped: StopReason | None


@dataclass(frozen=True)
class ChainDualAscent:
    """Dual coordinate ascent in mean parameters, then L-BFGS.

    Under moderate regularization each pass of `_core.ChainDual` takes off a third or more of what
    is left, but leaves a long gradient: L-BFGS goes on from there and proves the gap, or does most
    of the work where regularization is weak.

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
            return Lbfgs(memory=MEMORY).minimize(objective, w0, monitor)
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
        solution = Lbfgs(memory=MEMORY).minimize(objective, start, monitor)
        monitor.offset -= found.passes
        return solution._replace(
            n_passes=solution.n_passes + found.passes, solver="dual coordinate ascent, then L-BFGS"
        )

    def _ascend(self, objective: StructuredObjective, monitor: Monitor) -> _Ascent:
        """Where dual ascent ended, and why to stop (None: L-BFGS is to go on)."""
        handle = objective.passes.dual_handle(objective.C, self.seed)
        value, passes = np.inf, 0
        stopped: StopReason | None = None

        def weights() -> Array:
            found: Array = objective.passes.variables_of(handle.weights())
            return found

        try:
            while stopped is None and passes < self.max_passes:
                before, value = value, handle.run_pass()
                passes += 1
                stopped = monitor.record(passes, value, np.inf, weights)
                if before - value <= self.share * monitor.wanted(value):
                    break
        except KeyboardInterrupt:
            stopped = StopReason.INTERRUPTED
        except DataError:
            # Transition weights left the range of the scaled domain: L-BFGS goes on from here.
            stopped = None
        return _Ascent(weights(), float(passes), value, stopped)
