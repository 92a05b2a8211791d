"""Runs a deterministic solver: judges its iterates, keeps the best, hears the interrupt."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from separatrix.objective import Objective
from separatrix.penalties import L2
from separatrix.protocols import Array
from separatrix.results import Monitor, Solution, StopReason
from separatrix.solvers.certificate import Certifier
from separatrix.solvers.points import Point, Points

__all__ = ["Iterate", "drive", "rounding"]

#: How much of the hoped-for gap must have gone since a proof failed before the next is tried.
_AGAIN = 0.5
#: A hoped-for gap below so many units in the last place of P, in the precision of the data, that
#: did not halve within so many iterates consists of rounding.
_ROUNDING_UNITS, _LEVEL_ITERATES = 64.0, 16
#: A gap of less than so many times the rounding in it will not become much smaller.
_NOISES = 3.0
#: Rounding of a value in double precision, relative to it.
_UNIT = 4 * float(np.finfo(np.float64).eps)


class Iterate(NamedTuple):
    """A point of a run, with what the solver knows about its distance from the optimum.

    Attributes
    ----------
    point : Point
        Where the solver stands.
    estimate : float or None
        Estimate of P(w) - min P, such as half the squared Newton decrement. It says when a proof
        is worth its pass, and nothing else.
    residual : float or None
        Norm that vanishes at the optimum, for objectives without a bound or an estimate; None
        stands for the norm of the gradient.
    prove : bool or None
        Whether to prove the gap here; None leaves that to the estimate.
    flatter : tuple of (array, float) or None
        Weights nearby where the gradient is expected to be shorter, and the gap to hope for there.
    """

    point: Point
    estimate: float | None = None
    residual: float | None = None
    prove: bool | None = None
    flatter: tuple[Array, float] | None = None


class _Judge:
    """Proves gaps where that may succeed, and tells estimates from proofs."""

    def __init__(self, points: Points, monitor: Monitor) -> None:
        self._points, self._monitor = points, monitor
        self._objective = points.objective
        self._certifier = self._make_certifier()
        self._lower = -math.inf
        #: Proven gap divided by its estimate when a proof failed, and the estimate then.
        self._ratio, self._failed = 1.0, math.inf
        self._before = math.inf
        #: Scores at the last iterate, what they promise of a dual point, and what came of it.
        self._scores: Array | None = None
        self._linear, self._linear_ratio = math.inf, 1.0
        self._least, self._n_level = math.inf, 0
        self._is_noise = False
        self.bounded = self._certifier is not None

    def _make_certifier(self) -> Certifier | None:
        if Certifier.fits(self._objective):
            return Certifier(self._objective)
        # Rows that lie elsewhere are proven there.
        make = getattr(self._objective, "certifier", None)
        return make() if make is not None else None

    def __call__(self, iterate: Iterate) -> tuple[Point, float, bool]:
        """The point, perhaps with better intercepts, its gap, and whether the gap is proven."""
        point = iterate.point
        if self._certifier is None:
            quick = self._objective.gap_bound(point.w, point.grad, point.value)
            if not math.isfinite(quick):
                return point, self._estimated(iterate), False
            self.bounded = True
            noise = self._learn(point, quick)
            wanted = self._monitor.wanted(point.value)
            if iterate.flatter is not None and point.value - self._lower > wanted:
                w, hope = iterate.flatter
                if hope <= min(wanted, _AGAIN * self._failed):
                    other, self._failed = self._points.at(w), hope
                    quick = self._objective.gap_bound(w, other.grad, other.value)
                    # Its gradient proves what it can; a better point it is only by its value.
                    off = self._learn(other, quick)
                    if other.value + off < point.value + noise:
                        point, noise = other, off
            gap = point.value - self._lower + noise
            self._is_noise = gap <= _NOISES * noise
            return point, gap, True
        hope = self._hope(iterate)
        self._watch(hope, point.value)
        worth = hope * self._ratio <= self._monitor.wanted(point.value)
        before, self._scores = self._scores, point.scores
        if iterate.prove is None and not worth and self._is_near(before, point):
            return self.prove(point, before=before)
        if iterate.prove or (iterate.prove is None and worth and hope <= _AGAIN * self._failed):
            if iterate.flatter is not None and iterate.flatter[1] <= hope:
                point = replace(point, w=iterate.flatter[0])
            return self.prove(point, hope)
        return point, min(hope * self._ratio, point.value - self._certifier.lower), False

    @property
    def is_exhausted(self) -> bool:
        """Whether all that gaps are estimated by has been rounding for some time."""
        return self._is_noise or self._n_level >= _LEVEL_ITERATES

    def _learn(self, point: Point, quick: float) -> float:
        """Keep the lower bound that a gap says, and say by how much the value may be off."""
        self._lower = max(self._lower, point.value - quick)
        # What the objective knows of its own rounding, and never less than that of its sum.
        return _UNIT * abs(point.value) + float(getattr(self._objective, "noise", 0.0))

    def _is_near(self, before: Array | None, point: Point) -> bool:
        """Whether a Newton step from these scores to the point may have a dual point that proves.

        Where the step was another one it has not, and the next must promise so much more.
        """
        certifier, scores = self._certifier, point.scores
        if before is None or scores is None or not getattr(certifier, "is_curved", False):
            return False
        if type(self._objective.penalty) is not L2:
            return False
        assert isinstance(certifier, Certifier)
        self._linear = max(certifier.linear_gap(before, scores), 0.0)
        return self._linear * self._linear_ratio <= self._monitor.wanted(point.value)

    def _watch(self, hope: float, value: float) -> None:
        rounding = _ROUNDING_UNITS * float(np.finfo(self._objective.dtype).eps) * abs(value)
        level = 0.5 * self._least <= hope <= rounding
        self._n_level = self._n_level + 1 if level else 0
        self._least = self._least if level else hope

    def _hope(self, iterate: Iterate) -> float:
        """What a proof may find at most: the gap of the slopes of the losses, or an estimate."""
        objective, hope = self._objective, math.inf
        if type(objective.penalty) is L2:
            inner = objective.penalized(iterate.point.grad)
            hope = float(np.vdot(inner, inner)) / 2
        if iterate.flatter is not None:
            hope = min(hope, iterate.flatter[1])
        return hope if iterate.estimate is None else min(hope, max(iterate.estimate, 0.0))

    def prove(
        self, point: Point, hope: float = math.inf, *, before: Array | None = None
    ) -> tuple[Point, float, bool]:
        """Bound the gap at `point`, at the price of a pass."""
        if self._certifier is None:
            return point, math.inf, False
        wanted = self._monitor.wanted(point.value)
        self._points.n_passes += 1.0
        found = self._certifier.at(point.w, wanted, before=before)
        if before is not None and found.gap > wanted:
            self._linear_ratio = 2 * max(self._linear_ratio, found.gap / max(self._linear, 1e-300))
        if found.gap > wanted and 0 < hope < math.inf:
            self._ratio, self._failed = max(1.0, found.gap / hope), hope
        w = np.asarray(found.w, dtype=np.float64)
        return Point(w, found.value, point.grad, point.scores), found.gap, True

    def _estimated(self, iterate: Iterate) -> float:
        """Without any bound: the larger of the last two estimates, or a residual."""
        if iterate.estimate is not None:
            before, self._before = self._before, max(iterate.estimate, 0.0)
            return max(before, self._before)
        if iterate.residual is not None:
            return iterate.residual
        grad = iterate.point.grad
        return float(np.linalg.norm(grad)) * float(np.linalg.norm(iterate.point.w))


def drive(
    name: str, points: Points, start: Array, iterates: Iterator[Iterate], monitor: Monitor
) -> Solution:
    """Draw iterates until the monitor says stop, they end, or the user interrupts.

    A solver whose iterates end by themselves can make no more progress in floating point: the
    solution then says PRECISION unless its gap is within the tolerance. Where nothing bounds the
    gap, a run ends as STATIONARY when the estimate of it is within the tolerance. Weights of zero
    are never the end without a step: with a tiny C they are near the optimum, and predict nothing.
    """
    judge = _Judge(points, monitor)
    best: Point | None = None
    gap, proven = math.inf, False
    stopped: StopReason | None = None
    n_seen = 0
    try:
        for iterate in iterates:
            n_seen += 1
            if untouched := n_seen == 1 and not start.any():
                iterate = iterate._replace(prove=False)
            point, new_gap, new_proven = judge(iterate)
            new_proven &= not untouched
            done = new_proven and monitor.converged(point.value, new_gap)
            if best is None or point.value <= best.value or done:
                best, gap, proven = point, new_gap, new_proven
            stopped = monitor.record(
                points.n_passes,
                point.value,
                new_gap,
                lambda: point.w,  # noqa: B023
                proven=new_proven,
            )
            still = not judge.bounded and n_seen > 1 and monitor.converged(point.value, new_gap)
            if stopped is None and still:
                stopped = StopReason.STATIONARY
            if stopped is None and judge.is_exhausted:
                stopped = StopReason.PRECISION
            if stopped is not None:
                break
        if best is not None and not proven and stopped is not StopReason.STATIONARY:
            best, gap, proven = judge.prove(best)
            if proven and monitor.converged(best.value, gap):
                stopped = StopReason.CONVERGED
    except KeyboardInterrupt:
        stopped = StopReason.INTERRUPTED
    if best is None:
        best = Point(start, math.nan, np.zeros_like(start))
    if stopped is None:
        still = not judge.bounded and monitor.converged(best.value, gap)
        stopped = StopReason.STATIONARY if still else StopReason.PRECISION
    return Solution(
        w=best.w,
        n_passes=points.n_passes,
        gap=gap if proven else math.inf,
        stopped=stopped,
        trace=monitor.trace,
        objective=best.value,
        certificate="duality gap" if proven else "none",
        solver=name,
    )


def rounding(point: Point, objective: Objective) -> float:
    """How far the value at `point` may be off by rounding, or by the objective's own noise."""
    return 4 * float(np.finfo(objective.dtype).eps) * abs(point.value) + getattr(
        objective, "noise", 0.0
    )
