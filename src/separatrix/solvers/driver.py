"""Runs a deterministic solver: judges its iterates, keeps the best, hears the interrupt."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from separatrix.objective import Objective
from separatrix.protocols import Array
from separatrix.results import Monitor, Solution, StopReason
from separatrix.solvers.points import Point, Points

__all__ = ["Iterate", "drive", "rounding"]


class Iterate(NamedTuple):
    """A point of a run, with what the solver knows about its distance from the optimum.

    Attributes
    ----------
    point : Point
        Where the solver stands.
    estimate : float or None
        Estimate of P(w) - min P, such as half the squared Newton decrement.
    bound : float or None
        Proven bound of P(w) - min P; None asks the objective for its own.
    residual : float or None
        Norm that vanishes at the optimum, for objectives with neither bound nor estimate;
        None stands for the norm of the gradient.
    verified : bool
        Whether the estimate comes from the Hessian and may be trusted when seen once.
    """

    point: Point
    estimate: float | None = None
    bound: float | None = None
    residual: float | None = None
    verified: bool = False


class _Judge:
    """Turns bounds, estimates and residuals into one gap with its name."""

    def __init__(self, objective: Objective) -> None:
        self._objective = objective
        self._before = math.inf

    def __call__(self, iterate: Iterate) -> tuple[float, str]:
        point = iterate.point
        bound = iterate.bound
        if bound is None:
            bound = self._objective.gap_bound(point.w, point.grad)
        # An estimate counts once it was seen twice: the larger of the last two.
        estimate = math.inf if iterate.estimate is None else max(iterate.estimate, 0.0)
        seen = estimate if iterate.verified else max(estimate, self._before)
        self._before = estimate
        if seen < bound:
            return seen, "newton decrement"
        if math.isfinite(bound):
            return bound, "duality gap"
        if iterate.estimate is not None:
            return math.inf, "newton decrement"
        residual = iterate.residual
        return float(np.linalg.norm(point.grad)) if residual is None else residual, "gradient norm"


def drive(
    name: str, points: Points, start: Array, iterates: Iterator[Iterate], monitor: Monitor
) -> Solution:
    """Draw iterates until the monitor says stop, they end, or the user interrupts.

    A solver whose iterates end by themselves can make no more progress in floating point: the
    solution then says BUDGET unless its gap is within the tolerance.
    """
    judge = _Judge(points.objective)
    best: Point | None = None
    gap, certificate = math.inf, "none"
    stopped = None
    try:
        for iterate in iterates:
            point = iterate.point
            new_gap, new_certificate = judge(iterate)
            if best is None or point.value <= best.value or monitor.converged(point.value, new_gap):
                best, gap, certificate = point, new_gap, new_certificate
            stopped = monitor.record(points.n_passes, point.value, new_gap, lambda: point.w)  # noqa: B023
            if stopped is not None:
                break
    except KeyboardInterrupt:
        stopped = StopReason.INTERRUPTED
    if best is None:
        best = Point(start, math.nan, np.zeros_like(start))
    return Solution(
        w=best.w,
        n_passes=points.n_passes,
        gap=gap,
        stopped=stopped or StopReason.BUDGET,
        trace=monitor.trace,
        objective=best.value,
        certificate=certificate,
        solver=name,
    )


def rounding(point: Point, objective: Objective) -> float:
    """How far the value at `point` may be off by rounding, or by the objective's own noise."""
    dtype = getattr(objective.score_map, "dtype", np.dtype(np.float64))
    return 4 * float(np.finfo(dtype).eps) * abs(point.value) + getattr(objective, "noise", 0.0)
