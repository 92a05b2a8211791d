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
#: Passes over which the rate of dual ascent is taken, and the most that it is worth while to wait
#: for; L-BFGS goes on otherwise.
_SPAN = 3
_PATIENCE = 20
#: The certificate of a run that was stopped before its gap was proven.
_ESTIMATED = "none; objective estimated from the losses on the way"


class _Ascent(NamedTuple):
    """Where dual ascent ended; `stopped` is None where L-BFGS is to go on."""

    w: Array
    passes: float
    value: float
    gap: float
    stopped: StopReason | None


@dataclass(frozen=True)
class ChainDualAscent:
    """Dual coordinate ascent in mean parameters, L-BFGS where that is slow.

    Under moderate regularization each pass of `_core.ChainDual` takes off a third or more of what
    is left. Once a pass brings little, the gap is proven at the weights by a pass in double
    precision, again when it should have reached the tolerance. L-BFGS goes on where passes bring
    too little, or the tolerance is below what dual ascent can reach.

    Parameters
    ----------
    seed : int
        Seed of the shuffles.
    max_passes : int
        The most passes of dual ascent.
    share : float
        The gap is proven first when a pass lowers P by less than this share of what is wanted.
    """

    seed: int = 0
    max_passes: int = 60
    share: float = 0.1

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
            proven = np.isfinite(found.gap)
            return Solution(
                w=found.w,
                n_passes=found.passes,
                gap=found.gap,
                stopped=found.stopped,
                trace=monitor.trace,
                objective=found.value,
                certificate="duality gap" if proven else _ESTIMATED,
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
        passes, estimates = 0, [np.inf]
        proven: tuple[Array, float, float] | None = None
        next_proof, last_gap = None, np.inf
        stopped: StopReason | None = None

        def weights() -> Array:
            return objective.variables_of(handle.weights())

        try:
            while stopped is None and passes < self.max_passes:
                estimate = handle.run_pass()
                estimates.append(estimate)
                passes += 1
                wanted = monitor.wanted(estimate)
                if wanted <= 0:
                    due = True  # all labels are the same one
                elif next_proof is None:
                    due = estimates[-2] - estimate <= self.share * wanted
                else:
                    due = passes >= next_proof
                if not due:
                    proven = None
                    stopped = monitor.record(passes, estimate, np.inf, weights)
                    fall = (estimates[-2] - estimate) / (self.share * wanted)
                    if passes > 2 * _SPAN and _passes_left(estimates, fall) > _PATIENCE:
                        break
                    continue
                w = weights()
                value, gap = objective.prove(w)
                passes += 1
                proven = w, value, gap
                stopped = monitor.record(passes, value, gap, lambda: w)  # noqa: B023
                if wanted <= 0:
                    break
                left = _passes_left(estimates, gap / wanted)
                if left > _PATIENCE or gap > 0.5 * last_gap:
                    break
                next_proof, last_gap = passes + left, gap
        except KeyboardInterrupt:
            stopped = StopReason.INTERRUPTED
        except DataError:
            # Transition weights left the range of the scaled domain: L-BFGS goes on from here.
            stopped = None
        if proven is not None:
            w, value, gap = proven
            return _Ascent(w, float(passes), value, gap, stopped)
        return _Ascent(weights(), float(passes), estimates[-1], np.inf, stopped)


def _passes_left(estimates: list[float], factor: float) -> int:
    """Passes until the gap is a `factor` smaller, if it falls as P does.

    Examples
    --------
    >>> _passes_left([np.inf, 100.0, 14.0, 12.0, 11.0, 10.5], 4.0)
    2
    """
    falls = -np.diff(estimates[-_SPAN - 2 :])
    if len(falls) < 2 or not np.isfinite(falls).all() or falls[0] <= 0 or falls[-1] <= 0:
        return _PATIENCE + 1
    rate = (falls[-1] / falls[0]) ** (1 / (len(falls) - 1))
    if rate >= 1:
        return _PATIENCE + 1
    return max(1, int(np.ceil(np.log(max(factor, 1.0)) / -np.log(rate))))


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
