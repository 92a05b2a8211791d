"""Solvers for margin losses of structures, all with a duality gap."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from separatrix._core import ChainSegments, ChainVisits, MarginPlanes
from separatrix.objective.passes import Search
from separatrix.protocols import Array
from separatrix.results import Monitor, Solution, StopReason
from separatrix.solvers.base import check_needs

__all__ = ["BlockVisits", "CachedFrankWolfe", "SegmentDualAscent"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

#: A sweep that raises the dual by less than this share of the gap does no good: over segment planes
#: of chains, which cost next to nothing, and over planes of whole examples.
_NO_GAIN, _NO_GAIN_OF_PLANES = 1e-7, 1e-4
#: Share of the gap that may be left over the known planes when nothing else can close it.
_SETTLED = 0.1


class _Bounds:
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
        self.max_passes = monitor.max_passes
        self.first: Callable[[], Floats]  # the weights before there is a bound

    def weights(self) -> Array:
        """The best weights, or those before the first bound."""
        return self.w if self.w is not None else self.first()[:, None]

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


#: Passes made so far, and P estimated on the way; None where the bounds took P itself.
_Steps = Generator[tuple[int, float | None], None, None]


class _MarginSolver:
    """What the solvers share: the record of passes, bounds, and the end."""

    title: ClassVar[str]
    needs: ClassVar[frozenset[str]]

    def minimize(self, objective: Any, w0: Array | None, monitor: Monitor) -> Solution:
        """Minimize until `monitor` says stop; `w0` counts as a first candidate."""
        check_needs(self, objective)
        bounds, passes = _Bounds(objective, monitor), 0
        stopped: StopReason | None = None
        try:
            with closing(self._iterate(objective, bounds, w0)) as steps:
                for passes, value in steps:
                    seen = (bounds.primal, bounds.gap) if value is None else (value, np.inf)
                    stopped = monitor.record(passes, *seen, bounds.weights)
                    if stopped is None and value is None and bounds.is_exhausted:
                        # A gap cannot be smaller for rounding, or for maxima that are not exact.
                        exact = getattr(objective.passes, "is_exact", True)
                        stopped = StopReason.PRECISION if exact else StopReason.STATIONARY
                    if stopped is not None:
                        break
                else:
                    stopped = StopReason.STATIONARY
        except KeyboardInterrupt:
            stopped = StopReason.INTERRUPTED
        bounds.measure()
        certified = bounds.w is not None
        return Solution(
            w=bounds.weights(),
            n_passes=float(passes),
            gap=bounds.gap if certified else float("inf"),
            stopped=stopped,
            trace=monitor.trace,
            objective=bounds.primal,
            certificate="duality gap" if certified else "none; stopped before the first bound",
            solver=self.title,
        )

    def _iterate(self, objective: Any, bounds: _Bounds, w0: Array | None) -> _Steps:
        """Make passes; the end is that nothing is left which could close the gap."""
        raise NotImplementedError


@dataclass(frozen=True)
class SegmentDualAscent(_MarginSolver):
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

    title: ClassVar[str] = "dual coordinate ascent on segment planes"
    needs: ClassVar[frozenset[str]] = frozenset({"chain_margin"})

    def _iterate(self, objective: Any, bounds: _Bounds, w0: Array | None) -> _Steps:
        handle = ChainSegments(objective.passes.handle, self.seed)
        bounds.first, passes = handle.weights, 0

        def search(at: Floats | None) -> None:
            primal, w = handle.search(at, objective.passes.n_threads)
            bounds.take(primal, w, handle.dual())

        try:
            if objective.passes.planes is not None:
                handle.restore(objective.passes.planes)
            if w0 is not None:
                passes += 1
                search(np.ascontiguousarray(w0[:, 0], dtype=np.float64))
                yield passes, None
            while True:
                passes += 1
                if passes <= self.online_passes and passes < bounds.max_passes:
                    loss = handle.run_pass()
                    yield passes, loss + objective.penalty_value(handle.weights()[:, None])
                    continue
                for _ in range(self.sweeps):
                    if handle.sweep() <= _NO_GAIN * bounds.gap:
                        break
                search(None)
                yield passes, None
        finally:
            objective.passes.planes = handle.active()  # for a warm start


@dataclass(frozen=True)
class BlockVisits(_MarginSolver):
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

    @property
    def title(self) -> str:  # type: ignore[override]
        """The method, for the record."""
        words = {
            "frank_wolfe": "block-coordinate Frank-Wolfe, averaged",
            "subgradient": "stochastic subgradient descent, averaged",
        }
        return words[self.kind]

    def _iterate(self, objective: Any, bounds: _Bounds, w0: Array | None) -> _Steps:
        handle = ChainVisits(objective.passes.handle, self.kind, self.seed)
        bounds.first, passes, next_check = handle.average, 0, 1

        def check() -> None:
            average = handle.average()
            bounds.take(objective.value(average[:, None]), average, handle.dual())

        if w0 is not None:
            bounds.take(objective.value(w0), np.asarray(w0[:, 0], dtype=np.float64), -np.inf)
        while True:
            loss = handle.run_pass()
            passes += 1
            if passes >= next_check or passes >= bounds.max_passes:
                check()
                next_check = passes + max(1, passes // 2)
                yield passes, None
                continue
            try:
                yield passes, loss + objective.penalty_value(handle.weights()[:, None])
            except GeneratorExit:  # it was the last pass
                check()
                raise


@dataclass(frozen=True)
class CachedFrankWolfe(_MarginSolver):
    """Frank-Wolfe steps over cached planes, see `_core.MarginPlanes`; a pass asks for new ones.

    The first passes go block by block, so that later blocks profit from earlier ones; the others
    search the rivals of all examples at once, and so yield P and the duality gap. Sweeps over the
    planes known so far lie between passes and count as none.

    Parameters
    ----------
    seed : int
        Seed of the shuffles.
    block_passes : int
        Passes block by block.
    blocks : int
        Blocks of such a pass.
    sweeps : int
        Sweeps between passes; fewer where one no longer raises the dual.
    """

    seed: int = 0
    block_passes: int = 2
    blocks: int = 16
    sweeps: int = 30

    title: ClassVar[str] = "Frank-Wolfe on cached planes"
    needs: ClassVar[frozenset[str]] = frozenset({"margin"})

    def _iterate(self, objective: Any, bounds: _Bounds, w0: Array | None) -> _Steps:
        passes, factors = objective.passes, objective.example_weights
        planes = MarginPlanes(factors, passes.n_variables, self.seed)
        bounds.first = planes.weights
        random = np.random.default_rng(self.seed)
        n, n_passes = len(factors), 0
        everyone = np.arange(n, dtype=np.int64)

        def search(w: Floats) -> int:
            found = passes.search(w)
            # A rival that is known may be better than the one found now.
            losses = np.maximum(found.losses, planes.losses(w))
            primal = objective.penalty_value(w[:, None]) + float(factors @ losses)
            bounds.take(primal, w, planes.dual())
            return _add(planes, everyone, found)

        if w0 is not None:
            n_passes += 1
            search(np.ascontiguousarray(w0[:, 0], dtype=np.float64))
            yield n_passes, None
        while True:
            n_passes += 1
            if n_passes <= self.block_passes and n > 1 and n_passes < bounds.max_passes:
                loss = 0.0
                for rows in np.array_split(random.permutation(everyone), min(self.blocks, n)):
                    found = passes.search(planes.weights(), rows)
                    loss += float(factors[rows] @ found.losses)
                    _add(planes, rows, found)
                    planes.sweep(rows)
                yield n_passes, loss + objective.penalty_value(planes.weights()[:, None])
                continue
            for _ in range(self.sweeps):
                if planes.sweep(None) <= _NO_GAIN_OF_PLANES * bounds.gap:
                    break
            w = planes.weights()
            added = search(w)
            yield n_passes, None
            if not added and not passes.is_exact:
                known = objective.penalty_value(w[:, None]) + float(factors @ planes.losses(w))
                if known - planes.dual() <= _SETTLED * bounds.gap:
                    # No rival is new, and the known ones are weighed: what is left of the gap is
                    # that maxima are not exact.
                    return


def _add(planes: MarginPlanes, rows: Integers, found: Search) -> int:
    matrix = found.planes
    matrix.sort_indices()
    csr = (
        matrix.indptr.astype(np.int64),
        matrix.indices.astype(np.int64),
        np.ascontiguousarray(matrix.data, dtype=np.float64),
    )
    return planes.add(np.ascontiguousarray(rows, dtype=np.int64), csr, found.costs)
