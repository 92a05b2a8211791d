"""The hinge with multipliers: a smooth function whose minimizer is that of the hinge itself.

The hinge is a maximum over duals, C_i max(0, 1 - m_i) = max over 0 <= q_i <= C_i of q_i (1 - m_i).
Taking (q_i - a_i)^2 / (2 sigma) off the maximum makes it smooth; when the duals a of the last round
become those of this one, the minimizer moves to the exact optimum, at any sigma (the method of
multipliers: Rockafellar 1976; for support vector machines Niu et al. 2019). For many classes q_i is
a point of the simplex of size C_i and 1 - m is replaced by the scores plus the costs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from separatrix.distributed.problems import Problem
from separatrix.distributed.rows import aligned
from separatrix.protocols import Array
from separatrix.solvers.primal.preconditioner import gram

__all__ = [
    "Knobs",
    "new_duals",
    "shifted_gradient",
    "shifted_matrix",
    "shifted_product",
    "start_duals",
]

FloatArray = npt.NDArray[np.float64]


class Knobs(NamedTuple):
    """What all partitions share.

    Attributes
    ----------
    C : float
        Weight of the losses.
    sigma : float
        Curvature of the smooth part.
    cost : ndarray of shape (K, K) or None
        Costs, for many classes; None stands for 0-1 cost.
    """

    C: float
    sigma: float
    cost: FloatArray | None = None


class _Point(NamedTuple):
    """Duals at w, and what they are made of."""

    duals: FloatArray
    inside: npt.NDArray[np.bool_]
    margins: FloatArray
    sizes: FloatArray


def start_duals(problem: Problem, *state: Any) -> FloatArray:
    """No dual at all."""
    n, k = problem.X.shape[0], problem.objective().weight_shape[1]
    return np.zeros(n) if k == 1 else np.zeros((n, k))


class _State(NamedTuple):
    """What belongs to a partition in a round: its duals, and the fold that is held out."""

    duals: FloatArray
    held_out: int = -1

    @classmethod
    def of(cls, state: Sequence[Any]) -> _State:
        """From the arguments between the problem and w: (fold,) duals."""
        return cls(aligned(state[-1]), *state[:-1])


def _sizes(problem: Problem, knobs: Knobs, held_out: int) -> FloatArray:
    weights = problem.row_weights(held_out)
    if weights is None:
        return np.full(problem.X.shape[0], knobs.C)
    return knobs.C * weights


def _at(problem: Problem, state: _State, w: Array, knobs: Knobs) -> _Point:
    objective, duals = problem.objective(), state.duals
    scores = problem.exact_scores(w)
    sizes = _sizes(problem, knobs, state.held_out)
    if scores.shape[1] == 1:
        short = 1.0 - scores[:, 0] * objective.targets
        free = duals + knobs.sigma * short
        inside = (free > 0) & (free < sizes)
        return _Point(np.clip(free, 0.0, sizes), inside, short, sizes)
    rows = np.arange(len(scores))
    if knobs.cost is None:
        scores = scores + 1.0
        scores[rows, problem.codes] -= 1.0
    else:
        scores = scores + knobs.cost[problem.codes]
    found = simplex_projection(duals + knobs.sigma * scores, sizes)
    return _Point(found, found > 0, scores, sizes)


def simplex_projection(points: FloatArray, sizes: FloatArray) -> FloatArray:
    """The nearest q >= 0 with sum q = size, row by row (Held, Wolfe & Crowder 1974).

    Examples
    --------
    >>> simplex_projection(np.array([[1.0, 0.5, -2.0]]), np.array([1.0]))
    array([[0.75, 0.25, 0.  ]])
    """
    order = -np.sort(-points, axis=1)
    sums = np.cumsum(order, axis=1) - sizes[:, None]
    counts = np.arange(1, points.shape[1] + 1)
    kept = (order * counts > sums).sum(axis=1).clip(min=1)
    shift = sums[np.arange(len(points)), kept - 1] / kept
    nearest: FloatArray = np.maximum(points - shift[:, None], 0.0)
    return nearest


def new_duals(problem: Problem, *arguments: Any) -> FloatArray:
    """The duals of the next round; arguments are (fold,) duals, w and the knobs."""
    *state, w, knobs = arguments
    duals: FloatArray = _at(problem, _State.of(state), w, knobs).duals
    return duals


def shifted_gradient(problem: Problem, *arguments: Any) -> tuple[float, FloatArray, float, float]:
    """Value and gradient of the smooth function, the exact loss, and the linear part of the dual.

    The last two certify: the dual value is that part less half the square of the weights that the
    duals make. Arguments are those of `new_duals`.
    """
    *given, w, knobs = arguments
    state = _State.of(given)
    objective, duals = problem.objective(), state.duals
    point = _at(problem, state, w, knobs)
    q, margins, sizes = point.duals, point.margins, point.sizes
    smooth = float((q * margins).sum() - ((q - duals) ** 2).sum() / (2 * knobs.sigma))
    if q.ndim == 1:
        exact = float(sizes @ np.maximum(margins, 0.0))
        ds, dual = -(objective.targets * q)[:, None], float(q.sum())
    else:
        rows = np.arange(len(q))
        own = margins[rows, problem.codes]  # a right answer costs nothing
        smooth -= float(sizes @ own)
        exact = float(sizes @ (margins.max(axis=1) - own))
        ds = q.copy()
        ds[rows, problem.codes] -= sizes
        if knobs.cost is None:
            dual = float(q.sum() - q[rows, problem.codes].sum())
        else:
            dual = float((q * knobs.cost[problem.codes]).sum())
    return smooth, problem.exact_adjoint(ds), exact, dual


def shifted_product(problem: Problem, *arguments: Any) -> tuple[FloatArray]:
    """A generalized Hessian of the smooth function at w, times v.

    Arguments are those of `new_duals`, with v after w.
    """
    *state, w, v, knobs = arguments
    objective = problem.objective()
    inside = problem.remembered(w, lambda: _at(problem, _State.of(state), w, knobs).inside)
    toward = objective.score_map(aligned(v)).astype(np.float64, copy=False)
    if inside.ndim == 1:
        ds = np.where(inside[:, None], toward, 0.0)
    else:
        held = np.where(inside, toward, 0.0)
        mean = held.sum(axis=1, keepdims=True) / inside.sum(axis=1, keepdims=True).clip(min=1)
        ds = np.where(inside, toward - mean, 0.0)
    product = objective.score_map.adjoint(knobs.sigma * ds)
    return (np.asarray(product, dtype=np.float64),)


def shifted_matrix(problem: Problem, *arguments: Any) -> tuple[FloatArray]:
    """The same Hessian as a matrix in the order of w.ravel(), of dense rows."""
    *state, w, knobs = arguments
    objective = problem.objective()
    inside = _at(problem, _State.of(state), w, knobs).inside
    if inside.ndim == 1:
        weights = knobs.sigma * inside
        return (np.asarray(gram(objective, weights, n_threads=1), dtype=np.float64),)
    d, k = objective.weight_shape
    counts = inside.sum(axis=1).clip(min=1)
    blocks = np.empty((d, k, d, k))
    for a in range(k):
        for b in range(a, k):
            both = inside[:, a] & inside[:, b]
            weights = knobs.sigma * np.where(both, (a == b) - 1.0 / counts, 0.0)
            # Kernels take weights that are not negative.
            sign = 1.0 if a == b else -1.0
            part = sign * gram(objective, sign * weights, n_threads=1)
            blocks[:, a, :, b] = part
            blocks[:, b, :, a] = part
    return (blocks.reshape(d * k, d * k),)
