"""Solvers for the likelihood of chains: the dual one, and the choice among them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from separatrix.errors import DataError, ParameterError, SolverError
from separatrix.protocols import Array, Solver
from separatrix.results import Monitor, Solution, StopReason
from separatrix.solvers.lbfgs import Lbfgs
from separatrix.solvers.owlqn import OwlQn
from separatrix.structured.likelihood import ChainLikelihood

__all__ = ["CHAIN_SOLVERS", "ChainDualAscent", "make_chain_solver"]

#: Names of solvers for `CRF(solver=...)`.
CHAIN_SOLVERS = ("auto", "lbfgs", "dual", "owlqn")
#: Pairs that L-BFGS keeps.
_MEMORY = 12


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
        if not objective.can_dual:
            raise SolverError(
                "the dual solver needs an L2 penalty, a chain of first order, all labels known and "
                "no attributes of edges"
            )
        if w0 is not None:
            return Lbfgs(memory=_MEMORY).minimize(objective, w0, monitor)
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
        start = found.w if found.value < objective.value_at_zero else None
        solution = Lbfgs(memory=_MEMORY).minimize(objective, start, monitor)
        monitor.offset -= found.passes
        return solution._replace(
            n_passes=solution.n_passes + found.passes, solver="dual coordinate ascent, then L-BFGS"
        )

    def _ascend(self, objective: ChainLikelihood, monitor: Monitor) -> _Ascent:
        """Where dual ascent ended, and why to stop (None: L-BFGS is to go on)."""
        handle = objective.dual_handle(self.seed)
        value, passes = np.inf, 0
        stopped: StopReason | None = None

        def weights() -> Array:
            return objective.variables_of(handle.weights())

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


def make_chain_solver(solver: Any, objective: ChainLikelihood, *, seed: int) -> Solver:
    """The solver of that name, or the object itself."""
    if not isinstance(solver, str):
        if not isinstance(solver, Solver):
            raise ParameterError(
                f"solver must be one of {CHAIN_SOLVERS} or keep the contract protocols.Solver, "
                f"got {solver!r}"
            )
        return solver
    if solver not in CHAIN_SOLVERS:
        raise ParameterError(f"solver must be one of {CHAIN_SOLVERS}, got {solver!r}")
    if solver == "dual" or (solver == "auto" and objective.can_dual):
        return ChainDualAscent(seed=seed)
    if solver == "owlqn" or (solver == "auto" and not objective.regularizer.smooth):
        return OwlQn(memory=_MEMORY)
    return Lbfgs(memory=_MEMORY)
