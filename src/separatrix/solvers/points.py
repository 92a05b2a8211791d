"""Points of an objective and rays between them, with every product with the data counted.

Scores are linear in the weights, s(w + t d) = s(w) + t s(d), so a line search over t costs one
product with the data, however many steps it tries.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from separatrix.objective import Objective
from separatrix.protocols import Array

__all__ = ["Point", "Points", "Ray"]

#: Scores kept by linearity are computed afresh after this many steps, against rounding.
_REFRESH = 32


@dataclass(frozen=True, slots=True, eq=False)
class Point:
    """Weights with all that was computed at them.

    Attributes
    ----------
    w : ndarray of shape (d, K)
        Weights, float64.
    value : float
        P(w).
    grad : ndarray of shape (d, K)
        Gradient of P at w, float64.
    scores : ndarray of shape (n, K) or None
        Scores at w, where they were kept.
    age : int
        Steps since the scores were computed from the data.
    """

    w: Array
    value: float
    grad: Array
    scores: Array | None = None
    age: int = 0


class Ray(Protocol):
    """P along the half-line w + t d, t >= 0."""

    value: float
    slope: float

    def __call__(self, step: float) -> tuple[float, float]:
        """Value and derivative at t = step."""
        ...

    def point(self, step: float) -> Point:
        """The point at t = step."""
        ...


class Points:
    """Evaluates an objective for one run of a solver and counts passes over the data.

    A product with the data or with its transpose is half a pass, a fused pass is one.

    Parameters
    ----------
    objective : Objective
        What is minimized.
    fused : bool
        Whether to use the fused pass where the objective has one; otherwise scores are kept.
    """

    def __init__(self, objective: Objective, *, fused: bool = True) -> None:
        self.objective = objective
        # Scores that lie on other machines cannot be kept.
        keeps_scores = getattr(objective, "keeps_scores", True)
        self.fused = objective.has_fused_pass and (fused or not keeps_scores)
        self.n_passes = 0.0

    def start(self, w0: Array | None) -> Array:
        """A float64 copy of `w0`, or zeros."""
        shape = self.objective.weight_shape
        if w0 is None:
            return np.zeros(shape)
        return np.array(w0, dtype=np.float64).reshape(shape)

    def scores(self, w: Array) -> Array:
        """Scores of shape (n, K): half a pass."""
        self.n_passes += 0.5
        return self.objective.score_map(w)

    def adjoint(self, ds: Array) -> Array:
        """Product with the transpose: half a pass."""
        self.n_passes += 0.5
        return self.objective.score_map.adjoint(ds)

    def at(self, w: Array) -> Point:
        """Value and gradient at w: one pass."""
        if self.fused:
            self.n_passes += 1.0
            value, grad = self.objective.value_and_grad(w)
            return Point(w, value, grad)
        return self.at_scores(w, self.scores(w))

    def first(self, w: Array) -> Point:
        """The point at w or, where P overflows there, at zero."""
        with np.errstate(over="ignore", invalid="ignore"):
            point = self.at(w)
        if np.isfinite(point.value) and np.isfinite(point.grad).all():
            return point
        return self.at(np.zeros_like(w))

    def at_scores(self, w: Array, scores: Array, age: int = 0) -> Point:
        """Value and gradient at w with known scores: half a pass."""
        value, ds = self.objective.loss_at(scores)
        return self._finish(w, scores, value, ds, age)

    def _finish(self, w: Array, scores: Array, value: float, ds: Array, age: int) -> Point:
        inner = self.objective.penalized(w)
        grad = self.adjoint(ds)
        grad[: len(inner)] += self.objective.penalty.grad(inner)
        return Point(w, value + self.objective.penalty.value(inner), grad, scores, age)

    def along(self, start: Point, direction: Array) -> Ray:
        """The ray from `start` in `direction`."""
        if start.scores is None:
            return _FusedRay(self, start, direction)
        if start.age >= _REFRESH:
            start = Point(start.w, start.value, start.grad, self.scores(start.w))
        return _ScoredRay(self, start, direction)


class _ScoredRay:
    """A ray on which scores are kept: steps cost nothing, their end half a pass."""

    def __init__(self, points: Points, start: Point, direction: Array) -> None:
        self.value = start.value
        self.slope = float(np.vdot(start.grad, direction))
        self._points = points
        self._start = start
        self._direction = direction
        self._toward = points.scores(direction)
        self._last: tuple[float, Array, float, Array] | None = None

    def _scores(self, step: float) -> Array:
        assert self._start.scores is not None
        moved: Array = self._start.scores + self._toward.dtype.type(step) * self._toward
        return moved

    def __call__(self, step: float) -> tuple[float, float]:
        objective = self._points.objective
        scores = self._scores(step)
        loss, ds = objective.loss_at(scores)
        self._last = step, scores, loss, ds
        inner = objective.penalized(self._start.w + step * self._direction)
        toward = objective.penalized(self._direction)
        value = loss + objective.penalty.value(inner)
        with np.errstate(over="ignore", invalid="ignore"):
            slope = float(np.einsum("ij,ij->", ds, self._toward, dtype=np.float64))
        return value, slope + float(np.vdot(objective.penalty.grad(inner), toward))

    def point(self, step: float) -> Point:
        w = self._start.w + step * self._direction
        age = self._start.age + 1
        if self._last is not None and self._last[0] == step:
            _, scores, loss, ds = self._last
            return self._points._finish(w, scores, loss, ds, age)
        return self._points.at_scores(w, self._scores(step), age)


class _FusedRay:
    """A ray on which every step is one fused pass, which brings the gradient with it."""

    def __init__(self, points: Points, start: Point, direction: Array) -> None:
        self.value = start.value
        self.slope = float(np.vdot(start.grad, direction))
        self._points = points
        self._start = start
        self._direction = direction
        self._last: tuple[float, Point] | None = None

    def __call__(self, step: float) -> tuple[float, float]:
        point = self.point(step)
        with np.errstate(over="ignore", invalid="ignore"):
            return point.value, float(np.vdot(point.grad, self._direction))

    def point(self, step: float) -> Point:
        if self._last is None or self._last[0] != step:
            self._last = step, self._points.at(self._start.w + step * self._direction)
        return self._last[1]
