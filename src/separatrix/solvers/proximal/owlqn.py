"""Orthant-wise limited-memory quasi-Newton, for L1 and elastic-net penalties."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from separatrix.penalties import strengths
from separatrix.protocols import Array
from separatrix.results import Monitor, Solution
from separatrix.solvers.base import check_needs
from separatrix.solvers.blas import blas_threads
from separatrix.solvers.certificate import Certifier
from separatrix.solvers.driver import Iterate, drive, rounding
from separatrix.solvers.points import Point, Points
from separatrix.solvers.primal.conjugate_gradients import newton_step
from separatrix.solvers.primal.pairs import Pairs

__all__ = ["OwlQn"]

#: Share of the promised decrease that a step must deliver, and halvings before rounding is blamed.
_DECREASE = 1e-4
_HALVINGS = 40
#: Share of the passes so far that a proof may add, and steps of conjugate gradients it may always
#: take: runs should stop within 1.5 times the passes that they need.
_PROOF_SHARE, _PROOF_STEPS = 0.15, 4


@dataclass(frozen=True)
class OwlQn:
    """L-BFGS that stays in one orthant per step (Andrew & Gao 2007, Algorithm 1).

    The direction is that of L-BFGS on the pseudo-gradient, without the entries that disagree with
    it; a step is projected back onto the orthant it began in, so that weights become exactly zero.
    The pairs come from the smooth part, the squares of an elastic net included. When a proof is
    worth its pass is estimated by half of what the quadratic model promises. Under L1 alone the gap
    that dual points prove shrinks with the gradient, and not with its square as P does: they are
    taken where conjugate gradients on the weights beside zero have made the gradient short.

    Parameters
    ----------
    memory : int
        Number of pairs kept.
    scale : array of the shape of w, optional
        The pairs see w / scale: the root of a diagonal matrix that stands for the inverse of the
        Hessian, where that is known.

    Examples
    --------
    >>> import numpy as np
    >>> from separatrix.losses import MARGIN_LOSSES
    >>> from separatrix.objective import Objective
    >>> from separatrix.penalties import L1
    >>> from separatrix.results import Monitor
    >>> from separatrix.structures.labels import FlatScores, make_design
    >>> X = np.array([[0.0, 1.0], [1.0, 1.0], [2.0, 0.0], [3.0, 1.0]])
    >>> y = np.array([-1.0, -1.0, 1.0, 1.0])
    >>> scores = FlatScores(make_design(X, 1), 1, intercept=True, dtype=X.dtype)
    >>> objective = Objective(scores, MARGIN_LOSSES["logistic"], L1(), y, exempt=True)
    >>> solution = OwlQn().minimize(objective, None, Monitor(tol=1e-8, max_passes=999))
    >>> round(solution.objective, 4), abs(float(solution.w[1, 0]))
    (2.3475, 0.0)
    """

    memory: int = 10
    scale: Array | None = None

    needs: ClassVar[frozenset[str]] = frozenset({"smooth_loss", "elastic_net"})

    def minimize(self, objective: Any, w0: Array | None, monitor: Monitor) -> Solution:
        """Minimize from `w0` (None: from zero) until `monitor` says stop."""
        check_needs(self, objective)
        points = Points(objective)
        start = points.start(w0)
        with blas_threads(1):
            return drive("OWL-QN", points, start, self._iterate(points, start, monitor), monitor)

    def _iterate(self, points: Points, start: Array, monitor: Monitor) -> Iterator[Iterate]:
        objective = points.objective
        found = strengths(objective.penalty)
        assert found is not None  # "elastic_net" is among the needs
        weight, curvature = found
        pairs = Pairs(self.memory)
        refines = curvature == 0 and self.scale is None and Certifier.fits(objective)
        refines = refines and "curvature" in objective.can
        # What proves its gap by the gradient alone proves it where that is short.
        bounded = curvature > 0 and not Certifier.fits(objective)
        refine_at, stuck = 0.0, False  # passes; whether steps no longer lower P
        point = _smooth_point(points, start, curvature)
        if not math.isfinite(point.value):
            point = _smooth_point(points, np.zeros_like(start), curvature)
        total = point.value + _absolute(objective, point.w, weight)
        seen = self._scaled(point)  # by the pairs
        while True:
            slope = _pseudo_gradient(objective, point, weight)
            steep = slope if self.scale is None else self.scale * slope
            direction = -pairs(steep)
            norm = float(np.linalg.norm(steep))
            if self.scale is not None:
                direction *= self.scale
            direction[direction * slope > 0] = 0.0
            promised = -float(np.vdot(slope, direction))
            known = len(pairs) > 0
            shown = Point(point.w, total, slope)
            estimate = 0.5 * promised if known and promised > 0 else None
            wanted = monitor.wanted(total)
            refine = refines and estimate is not None and estimate <= wanted
            if refines:
                estimate = _dual_gap(objective, point, weight)
            flatter = self._flatter(pairs, shown, curvature, wanted) if bounded and known else None
            prove = True if norm == 0 else None
            yield Iterate(shown, estimate, residual=norm, prove=prove, flatter=flatter)
            if (refine and points.n_passes >= refine_at) or stuck:
                after = self._refine(points, shown, pairs, wanted, weight, curvature)
                refine_at = (1 + _PROOF_SHARE) * points.n_passes
                if after is not None:
                    point, total = after
                    before, seen = seen, self._scaled(point)
                    pairs.add(before, seen)
                    stuck = False
                    continue
            step = 1.0 if known else 1 / max(1.0, norm)
            after = self._search(points, point, total, direction, slope, step, weight, curvature)
            if after is None:
                if refines and known and not stuck:
                    stuck = True
                    continue
                if not known:
                    return
                pairs.clear()
                continue
            point, total = after
            stuck = False
            before, seen = seen, self._scaled(point)
            pairs.add(before, seen)

    def _scaled(self, point: Point) -> Point:
        """The point as the pairs see it."""
        if self.scale is None:
            return point
        return Point(point.w / self.scale, point.value, point.grad * self.scale)

    def _flatter(
        self, pairs: Pairs, point: Point, curvature: float, wanted: float
    ) -> tuple[Array, float] | None:
        """Weights with a gradient that should be short enough for a proof, and the gap to hope for.

        With squares among the penalties the gap is about |slope|^2 / (2 curvature), which has
        nothing of the curvature of the losses: far more than P can still fall, unless the slopes of
        the last steps are averaged. Weights at zero that want to stay there do.

        Parameters
        ----------
        pairs : Pairs
        point : Point
            Weights, P and its pseudo-gradient.
        curvature : float
            Of the penalty.
        wanted : float
            The gap that would do.
        """
        longest, slope = math.sqrt(2 * curvature * wanted), point.grad
        if float(np.linalg.norm(slope)) > 2 * math.sqrt(len(pairs) + 1) * longest:
            return None
        moving = ((point.w != 0) | (slope != 0)).astype(np.float64)
        step, length = pairs.flattest(slope, moving if self.scale is None else moving * self.scale)
        if length > longest:
            return None
        w = point.w + step
        w[(point.w != 0) & (w * point.w <= 0)] = 0.0
        return w, length**2 / (2 * curvature)

    @staticmethod
    def _refine(
        points: Points, point: Point, pairs: Pairs, wanted: float, weight: Any, curvature: float
    ) -> tuple[Point, float] | None:
        """A point in the same orthant with a short gradient, and P there; None where P is higher.

        Conjugate gradients on the Hessian of the weights beside zero, with that of L-BFGS as the
        preconditioner.

        Parameters
        ----------
        points : Points
        point : Point
            Weights, P and its pseudo-gradient.
        pairs : Pairs
        wanted : float
            The gap that would do: what the gradient is off by is a share of the dual point that is
            lost, and so of |w|_1.
        weight, curvature : float
            Of the penalty.
        """
        objective, slope = points.objective, point.grad
        moving = (point.w != 0) | (slope != 0)

        def inverse(v: Array) -> Array:
            inner: Array = moving * pairs(moving * v)
            return inner

        size = float(np.abs(slope).max()) * float(np.abs(objective.penalized(point.w)).sum())
        forcing = min(0.1, 0.3 * wanted / size) if size > 0 else 0.1
        most = max(_PROOF_STEPS, int(_PROOF_SHARE * points.n_passes))
        with np.errstate(over="ignore", invalid="ignore"):
            w = point.w - newton_step(points, point, inverse, forcing, most)
        if not np.isfinite(w).all():
            return None
        orthant = np.where(point.w != 0, np.sign(point.w), -np.sign(slope))
        inner = objective.penalized(w)
        inner[inner * objective.penalized(orthant) <= 0] = 0.0
        after = _smooth_point(points, w, curvature)
        value = after.value + _absolute(objective, w, weight)
        return (after, value) if value <= point.value + rounding(point, objective) else None

    @staticmethod
    def _search(
        points: Points,
        point: Point,
        total: float,
        direction: Array,
        slope: Array,
        step: float,
        weight: Any,
        curvature: float,
    ) -> tuple[Point, float] | None:
        objective = points.objective
        inner = len(objective.penalized(point.w))
        orthant = np.where(point.w != 0, np.sign(point.w), -np.sign(slope))
        noise = rounding(Point(point.w, total, slope), objective)
        for _ in range(_HALVINGS):
            w = point.w + step * direction
            if np.any(weight > 0):
                crossed = w[:inner] * orthant[:inner] <= 0
                w[:inner][crossed] = 0.0
            after = _smooth_point(points, w, curvature)
            value = after.value + _absolute(objective, w, weight)
            gain = float(np.vdot(slope, w - point.w))
            if math.isfinite(value) and value <= total + _DECREASE * min(gain, 0.0):
                return after, value
            if math.isfinite(value) and step < 1e-3 and abs(value - total) <= noise:
                return None
            step /= 2
        return None


def _smooth_point(points: Points, w: Array, curvature: float) -> Point:
    """Loss and squares at w, with their gradient."""
    points.n_passes += 1.0
    objective = points.objective
    value, grad = objective.loss_value_and_grad(w)
    grad = np.array(grad, dtype=np.float64)
    inner = objective.penalized(w)
    grad[: len(inner)] += curvature * inner
    return Point(w, value + 0.5 * curvature * float(np.vdot(inner, inner)), grad)


def _dual_gap(objective: Any, point: Point, weight: Any) -> float:
    """About P(w) - D(theta) for the slopes of the losses, scaled to where the penalty allows them.

    D falls by <theta, s> = <w, grad> times the share that scaling takes where that is small; where
    nothing is left of theta, nothing is left of D.
    """
    w, grad = objective.penalized(point.w), objective.penalized(point.grad)
    over = float((np.abs(grad) / weight).max(initial=0.0))
    pull = -float(np.vdot(w, grad))
    lost = max(0.0, 1 - 1 / over) if over > 0 else 0.0
    kept = max(0.0, float((weight * np.abs(w)).sum()) - pull)
    return kept + lost * max(pull, lost * (point.value + pull))


def _absolute(objective: Any, w: Array, weight: Any) -> float:
    return float((weight * np.abs(objective.penalized(w))).sum())


def _pseudo_gradient(objective: Any, point: Point, weight: Any) -> Array:
    """The subgradient of smallest norm (Andrew & Gao 2007, equation 4)."""
    slope = point.grad.copy()
    w = objective.penalized(point.w)
    inner = slope[: len(w)]
    # Beside zero the slope of |w| is that of its side; at zero it is the one that helps most.
    inner += np.where(w != 0, weight * np.sign(w), -np.clip(inner, -weight, weight))
    return slope
