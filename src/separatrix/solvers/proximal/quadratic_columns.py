"""Minimizes a quadratic with an elastic-net penalty, its Hessian X' D X known by its factors.

Sweeps of coordinate descent through the columns of X alternate with conjugate gradients on the
weights that are not zero, which are faster where columns are alike.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from separatrix._core import column_descent
from separatrix.protocols import Array
from separatrix.solvers.points import Points
from separatrix.solvers.proximal.quadratic_model import better_point

__all__ = ["minimize_through_columns"]

_Vector = npt.NDArray[np.float64]

#: Sweeps between two solves by conjugate gradients.
_SWEEPS = 60
#: Steps of conjugate gradients at most.
_STEPS = 150
#: Rounds of both at most.
_ROUNDS = 20


def minimize_through_columns(
    points: Points,
    curvature: Array,
    active: npt.NDArray[np.int64],
    gradient: _Vector,
    start: _Vector,
    l1: _Vector,
    l2: _Vector,
    tolerance: float,
    seed: int,
) -> _Vector:
    """The minimizer of q'(u - s) + (u - s)' H (u - s) / 2 + sum_j l1_j |u_j| + l2_j/2 u_j^2.

    Parameters
    ----------
    points : Points
        Points of an objective with one score per row; counts the passes.
    curvature : ndarray of shape (n,)
        The diagonal of D.
    active : ndarray of shape (m,)
        Numbers of the columns of X, d for the column of ones of the intercept.
    gradient, start : ndarray of shape (m,)
        q and s.
    l1, l2 : ndarray of shape (m,)
        Penalties of each weight; zero where it is exempt.
    tolerance : float
        Largest entry of the subgradient at which to stop.
    seed : int
        Of the order of the columns.
    """
    score_map: Any = points.objective.score_map
    weights = curvature.astype(score_map.dtype)
    share = len(active) / max(1, score_map.weight_shape[0])

    def product(v: _Vector, columns: npt.NDArray[np.int64]) -> _Vector:
        w = np.zeros(score_map.weight_shape)
        w[columns, 0] = v
        image: _Vector = points.adjoint(weights[:, None] * points.scores(w))[columns, 0]
        return image

    u, q = start, gradient
    for turn in range(_ROUNDS):
        u, sweeps, residual = column_descent(
            score_map.design, active, weights, q, u, l1, l2, tolerance, _SWEEPS, seed + turn
        )
        points.n_passes += sweeps * share
        if residual <= tolerance:
            break
        q = gradient + product(u - start, active)
        support = np.flatnonzero((u != 0) | (l1 == 0))
        columns, here, thin, ridge = active[support], u[support], l1[support], l2[support]

        def inner(
            v: _Vector,
            columns: npt.NDArray[np.int64] = columns,
        ) -> _Vector:
            return product(v, columns)

        slope = q[support] + ridge * here + thin * np.sign(here)
        step = _solve(inner, ridge, slope, tolerance / 2)
        better = better_point(q[support], here, step, thin, ridge, inner)
        if better is not None:
            u = u.copy()
            u[support] = better
            q = gradient + product(u - start, active)
    return u


def _solve(product: Any, ridge: _Vector, slope: _Vector, tolerance: float) -> _Vector:
    """An approximate solution of (H + diag(ridge)) x = slope by conjugate gradients."""
    solution = np.zeros_like(slope)
    residual = slope.copy()
    direction = residual
    length = float(residual @ residual)
    for _ in range(_STEPS):
        if float(np.abs(residual).max(initial=0.0)) <= tolerance:
            break
        image = product(direction) + ridge * direction
        curvature = float(direction @ image)
        if not curvature > 0:
            break
        step = length / curvature
        solution += step * direction
        residual = residual - step * image
        before, length = length, float(residual @ residual)
        direction = residual + (length / before) * direction
    return solution
