"""Minimizes a quadratic with an elastic-net penalty, its Hessian given as a matrix.

Coordinate descent finds which weights are zero and the signs of the others; a Newton step on the
weights that are not zero then does what coordinate descent is slow at where H is ill-conditioned
(Byrd, Chin, Nocedal & Oztoprak 2016, section 3).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from scipy.linalg import lapack

from separatrix._core import quadratic_descent

__all__ = ["better_point", "minimize_quadratic"]

_Vector = npt.NDArray[np.float64]

#: Sweeps of coordinate descent between two Newton steps, and multiply-adds they may take.
_SWEEPS, _MOST_SWEEPS, _WORK = 20, 200, 3e5
#: Newton steps at most.
_ROUNDS = 50


def minimize_quadratic(
    hessian: npt.NDArray[np.float64],
    gradient: _Vector,
    start: _Vector,
    l1: _Vector,
    l2: _Vector,
    tolerance: float,
) -> _Vector:
    """The minimizer of q'(u - s) + (u - s)' H (u - s) / 2 + sum_j l1_j |u_j| + l2_j/2 u_j^2.

    Parameters
    ----------
    hessian : ndarray of shape (m, m)
        H, positive semidefinite up to rounding.
    gradient, start : ndarray of shape (m,)
        q and s.
    l1, l2 : ndarray of shape (m,)
        Penalties of each weight; zero where it is exempt.
    tolerance : float
        Largest entry of the subgradient at which to stop.

    Examples
    --------
    >>> one = np.ones(1)
    >>> minimize_quadratic(2.0 * np.eye(1), -3 * one, 0 * one, one, 0 * one, 1e-9)
    array([1.])
    """
    u, q = start, gradient
    most = int(min(max(_SWEEPS, _WORK / max(1, len(u)) ** 2), _MOST_SWEEPS))
    for _ in range(_ROUNDS):
        u, q, sweeps, residual = quadratic_descent(hessian, q, u, l1, l2, tolerance, most)
        if sweeps < most or residual <= tolerance:
            break
        better = _newton_step(hessian, q, u, l1, l2)
        if better is not None:
            u = better
        # Afresh, so that rounding does not pile up.
        q = gradient + hessian @ (u - start)
    return u


def _newton_step(
    hessian: npt.NDArray[np.float64], q: _Vector, u: _Vector, l1: _Vector, l2: _Vector
) -> _Vector | None:
    """A better point with the same signs or zeros, or None where rounding hides it."""
    support = np.flatnonzero((u != 0) | (l1 == 0))
    inner = np.ascontiguousarray(hessian[np.ix_(support, support)])
    here, l1, l2 = u[support], l1[support], l2[support]
    slope = q[support] + l2 * here + l1 * np.sign(here)
    matrix = inner + np.diag(l2)
    if not (len(support) and np.isfinite(matrix).all() and np.isfinite(slope).all()):
        return None
    diagonal = np.einsum("ii->i", matrix)
    scale = float(diagonal.max(initial=0.0)) or 1.0
    ridge = float(np.finfo(np.float64).eps) * len(matrix) * scale
    while True:
        diagonal += ridge
        _, step, failed = lapack.dposv(matrix, slope, lower=1)
        if not failed:
            break
        ridge *= 10
    better = better_point(q[support], here, step, l1, l2, lambda move: inner @ move)
    if better is None:
        return None
    result = u.copy()
    result[support] = better
    return result


def better_point(
    q: _Vector,
    here: _Vector,
    step: _Vector,
    l1: _Vector,
    l2: _Vector,
    product: Callable[[_Vector], _Vector],
) -> _Vector | None:
    """A point on the way to `here - step` that is better than `here`, or None.

    Weights that would change their sign are set to zero; or, where that is better, the way ends
    where the first of them reaches zero.

    Parameters
    ----------
    q, here, step, l1, l2 : ndarray of shape (m,)
        Gradient of the quadratic at `here`, the point, the step, the penalties.
    product : callable
        The map v -> H v.
    """
    there = here - step
    crossing = (l1 > 0) & (there * here < 0)
    candidates = [np.where(crossing, 0.0, there)]
    if crossing.any():
        shares = here[crossing] / step[crossing]
        first = here - shares.min() * step
        first[np.flatnonzero(crossing)[shares == shares.min()]] = 0.0
        candidates.append(first)

    def change(point: _Vector) -> float:
        move = point - here
        curved = float(move @ product(move)) / 2 + float(l2 @ (point**2 - here**2)) / 2
        return float(q @ move) + curved + float(l1 @ (np.abs(point) - np.abs(here)))

    changes = [change(point) for point in candidates]
    best = int(np.argmin(changes))
    return candidates[best] if changes[best] < 0 else None
