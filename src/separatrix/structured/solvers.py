"""Solvers for the likelihood of chains: the dual one, and the choice among them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from separatrix.errors import DataError, ParameterError, SolverError
from separatrix.protocols import Array, Solver
from separatrix.results import Monitor, Solution
from separatrix.solvers.lbfgs import Lbfgs
from separatrix.solvers.owlqn import OwlQn
from separatrix.structured.likelihood import ChainLikelihood

__all__ = ["CHAIN_SOLVERS", "ChainDualAscent", "make_chain_solver"]

#: Names of solvers for `CRF(solver=...)`.
CHAIN_SOLVERS = ("auto", "lbfgs", "dual", "owlqn")
#: Pairs that L-BFGS keeps.
_MEMORY = 12


@dataclass(frozen=True)
class ChainDualAscent:
    """Dual coordinate ascent in mean parameters, then L-BFGS.

    Passes of `_core.ChainDual` come within a small multiple of 1e-4 of the optimum in a few passes
    under moderate regularization; L-BFGS goes on from there and certifies the end, or does most of
    the work where regularization is weak.

    Parameters
    ----------
    seed : int
        Seed of the shuffles.
    max_passes : int
        The most passes of dual ascent.
    share : float
        Dual ascent ends when a pass lowers P by less than this share of it.
    """

    seed: int = 0
    max_passes: int = 30
    share: float = 1e-4

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
        w, passes = self._ascend(objective, monitor)
        monitor.offset += passes
        solution = Lbfgs(memory=_MEMORY).minimize(objective, w, monitor)
        monitor.offset -= passes
        return solution._replace(
            n_passes=solution.n_passes + passes, solver="dual coordinate ascent, then L-BFGS"
        )

    def _ascend(self, objective: ChainLikelihood, monitor: Monitor) -> tuple[Array, float]:
        handle = objective.dual_handle(self.seed)
        before, passes = np.inf, 0
        w = objective.variables_of(handle.weights())
        try:
            while passes < min(self.max_passes, monitor.max_passes):
                loss = handle.run_pass()
                passes += 1
                w = objective.variables_of(handle.weights())
                value = loss + objective.regularizer.value(w)
                monitor.record(passes, value, np.inf, lambda: w)  # noqa: B023
                if abs(before - value) <= self.share * abs(value):
                    break
                before = value
        except DataError:
            # Transition weights left the range of the scaled domain: L-BFGS goes on.
            pass
        return w, float(passes)


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
