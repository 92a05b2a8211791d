"""Solvers for the hinge losses of chains, all with a duality gap, and the choice among them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from separatrix._core import ChainSegments, ChainVisits
from separatrix.errors import ParameterError
from separatrix.protocols import Array, Solver
from separatrix.results import Monitor, Solution, StopReason
from separatrix.structured.hinge import ChainHinge
from separatrix.validation import check_choice

__all__ = ["HINGE_SOLVERS", "BlockVisits", "Bounds", "SegmentDualAscent", "make_hinge_solver"]

Floats = npt.NDArray[np.float64]

#: Names of solvers for `StructuredSVM(solver=...)`.
HINGE_SOLVERS = ("auto", "dual", "frank_wolfe", "subgradient")
#: A sweep that raises the dual by less than this share of the gap does no good.
_NO_GAIN = 1e-7


class Bounds:
    """The best weights and the best lower bound so far.

    P may come from a search in single precision. It is measured in double precision, with its
    rounding, before a gap is told that is within the tolerance, and at the end.

    Parameters
    ----------
    objective : object
        With ``measure(w)``: P(w) and by how much it may be off.
    monitor : Monitor
        Knows the tolerance.
    """

    def __init__(self, objective: Any, monitor: Monitor) -> None:
        self._objective, self._monitor = objective, monitor
        self.w: Array | None = None
        self.primal = float("inf")
        self.dual = float("-inf")
        self._off: float | None = None  # of P, once it is measured

    def take(self, primal: float, w: Array, dual: float) -> None:
        """Note P at weights w, and a lower bound."""
        if primal < self.primal:
            self.primal, self.w, self._off = primal, w[:, None], None
        self.dual = max(self.dual, dual)
        if self._monitor.converged(self.primal, self.gap):
            self.measure()

    def measure(self) -> None:
        """Take P at the weights, and its rounding, in double precision."""
        if self._off is None and self.w is not None:
            self.primal, self._off = self._objective.measure(self.w)
            if self.primal == 0:
                self._off = 0.0  # no loss and no weights: nothing was rounded

    @property
    def gap(self) -> float:
        """P(w) - min P is at most this, rounding included once P is measured."""
        off = self._off or 0.0
        return max(off, self.primal + off - self.dual)

    @property
    def is_exhausted(self) -> bool:
        """Whether rounding alone is more than the gap that is wanted."""
        return self._off is not None and self._off > self._monitor.wanted(self.primal)

    def solution(
        self, handle: Any, passes: float, stopped: StopReason, monitor: Monitor, solver: str
    ) -> Solution:
        """The record of a run that ends here."""
        self.measure()
        certified = self.w is not None
        return Solution(
            w=self.w if self.w is not None else handle.weights()[:, None],
            n_passes=passes,
            gap=self.gap if certified else float("inf"),
            stopped=stopped,
            trace=monitor.trace,
            objective=self.primal,
            certificate="duality gap" if certified else "none; stopped before the first bound",
            solver=solver,
        )


@dataclass(frozen=True)
class SegmentDualAscent:
    """Dual coordinate ascent on segment planes, see `_core.ChainSegments`.

    A pass searches the rivals of all sequences, at the average of the weights after the sweeps
    before it, and so yields P there; passes one sequence at a time come first. Sweeps over the
    planes known so far lie between passes and count as none.

    Parameters
    ----------
    seed : int
        Seed of the shuffles.
    online_passes : int
        Passes one sequence at a time.
    sweeps : int
        Sweeps between passes; fewer where one no longer raises the dual.
    """

    seed: int = 0
    online_passes: int = 3
    sweeps: int = 15

    needs: ClassVar[frozenset[str]] = frozenset({"chain_margin"})

    def minimize(self, objective: ChainHinge, w0: Array | None, monitor: Monitor) -> Solution:
        """Minimize from `objective.planes`, where there are any, until `monitor` says stop.

        `w0` counts as a first candidate.
        """
        handle = ChainSegments(objective.handle, self.seed)
        bounds, passes = Bounds(objective, monitor), 0
        stopped: StopReason | None = None

        def weights() -> Array:
            return bounds.w if bounds.w is not None else handle.weights()[:, None]

        def search(at: Floats | None) -> StopReason | None:
            primal, w = handle.search(at, objective.n_threads)
            bounds.take(primal, w, handle.dual())
            stopped = monitor.record(passes, bounds.primal, bounds.gap, weights)
            return StopReason.PRECISION if stopped is None and bounds.is_exhausted else stopped

        try:
            if objective.planes is not None:
                handle.restore(objective.planes)
            if w0 is not None:
                passes += 1
                stopped = search(np.ascontiguousarray(w0[:, 0], dtype=np.float64))
            while stopped is None:
                passes += 1
                if passes <= self.online_passes and passes < monitor.max_passes:
                    value = handle.run_pass() + objective.penalty(handle.weights())
                    stopped = monitor.record(passes, value, np.inf, weights)
                    continue
                for _ in range(self.sweeps):
                    if handle.sweep() <= _NO_GAIN * bounds.gap:
                        break
                stopped = search(None)
        except KeyboardInterrupt:
            stopped = StopReason.INTERRUPTED
        objective.planes = handle.active()
        return bounds.solution(
            handle, float(passes), stopped, monitor, "dual coordinate ascent on segment planes"
        )


@dataclass(frozen=True)
class BlockVisits:
    """Passes over the sequences, one at a time, see `_core.ChainVisits`; P at their average.

    P and the lower bound are computed after passes 1, 2, 3, 5, 8, 12 and so on, each half as many
    again.

    Parameters
    ----------
    kind : {"frank_wolfe", "subgradient"}
        Block-coordinate Frank-Wolfe with line search, or stochastic subgradient descent.
    seed : int
        Seed of the shuffles.
    """

    kind: str
    seed: int = 0

    needs: ClassVar[frozenset[str]] = frozenset({"chain_margin"})

    def minimize(self, objective: ChainHinge, w0: Array | None, monitor: Monitor) -> Solution:
        """Minimize from zero until `monitor` says stop; `w0` counts as a first candidate."""
        handle = ChainVisits(objective.handle, self.kind, self.seed)
        bounds, passes, next_check = Bounds(objective, monitor), 0, 1
        stopped: StopReason | None = None

        def weights() -> Array:
            return bounds.w if bounds.w is not None else handle.average()[:, None]

        def check() -> None:
            average = handle.average()
            bounds.take(objective.value(average[:, None]), average, handle.dual())

        try:
            if w0 is not None:
                bounds.take(objective.value(w0), np.asarray(w0[:, 0], dtype=np.float64), -np.inf)
            while stopped is None:
                loss = handle.run_pass()
                passes += 1
                if passes >= next_check or passes >= monitor.max_passes:
                    check()
                    next_check = passes + max(1, passes // 2)
                    stopped = monitor.record(passes, bounds.primal, bounds.gap, weights)
                    if stopped is None and bounds.is_exhausted:
                        stopped = StopReason.PRECISION
                else:
                    value = loss + objective.penalty(handle.weights())
                    stopped = monitor.record(passes, value, np.inf, weights)
                    if stopped is not None:
                        check()
        except KeyboardInterrupt:
            stopped = StopReason.INTERRUPTED
        words = {
            "frank_wolfe": "block-coordinate Frank-Wolfe, averaged",
            "subgradient": "stochastic subgradient descent, averaged",
        }
        return bounds.solution(handle, float(passes), stopped, monitor, words[self.kind])


def make_hinge_solver(solver: Any, *, seed: int) -> Solver:
    """The solver of that name, or the object itself."""
    if not isinstance(solver, str):
        if not isinstance(solver, Solver):
            raise ParameterError(
                f"solver must be one of {HINGE_SOLVERS} or keep the contract protocols.Solver, "
                f"got {solver!r}"
            )
        return solver
    check_choice("solver", solver, HINGE_SOLVERS)
    if solver in ("auto", "dual"):
        return SegmentDualAscent(seed=seed)
    return BlockVisits(solver, seed=seed)
