"""Truncated, preconditioned conjugate gradients for Newton steps and decrements."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from separatrix.protocols import Array
from separatrix.solvers.points import Point, Points

__all__ = ["certified_step", "newton_step"]

#: Steps at most.
_MAX_STEPS = 250
#: Steps whose gain stands for what is left to gain, and how many times as much that may be.
_DELAY = 4
_CAUTION = 4.0


def newton_step(
    points: Points, point: Point, inverse: Callable[[Array], Array] | None, forcing: float
) -> Array:
    """An approximate solution p of H p = grad, one pass per step.

    From zero until |residual| <= forcing |grad|, lengths in the norm of the preconditioner
    (Dembo & Steihaug 1983). 1/2 grad'p grows with every step toward half the squared Newton
    decrement. A direction without curvature ends the solve at the best step so far.

    Parameters
    ----------
    points : Points
        Counts the passes.
    point : Point
        Where the Hessian is taken.
    inverse : callable or None
        Preconditioner: an approximation of v -> H^-1 v, symmetric and positive definite.
    forcing : float
        Relative residual to reach.
    """
    if point.scores is None:
        points.n_passes += 0.5
    product = points.objective.hessian(point.w, point.scores)
    solution = np.zeros_like(point.grad)
    residual = point.grad.copy()
    z = residual if inverse is None else inverse(residual)
    direction = z.copy()
    length = float(np.vdot(residual, z))
    target = forcing**2 * length
    for _ in range(_MAX_STEPS):
        image = product(direction)
        points.n_passes += 1.0
        curvature = float(np.vdot(direction, image))
        if not curvature > 1e-15 * float(np.vdot(direction, direction)):
            return solution if solution.any() else direction
        step = length / curvature
        solution += step * direction
        residual -= step * image
        z = residual if inverse is None else inverse(residual)
        before, length = length, float(np.vdot(residual, z))
        if not length > target:
            break
        direction = z + (length / before) * direction
    return solution


def certified_step(
    points: Points,
    point: Point,
    inverse: Callable[[Array], Array] | None,
    convexity: float,
    wanted: float,
) -> tuple[Array, float]:
    """An approximate solution p of H p = grad, and 1/2 grad'H^-1 grad with what p leaves out.

    Conjugate gradients p with residual r split grad'H^-1 grad into grad'p + r'H^-1 r. The last is
    at most |r|^2 / m where H - m I is positive semidefinite; and it is estimated by what the last
    few steps gained, times a factor of caution (after Strakos & Tichy 2002, who look at the next
    steps instead). The solve ends as soon as the smaller of both makes
    the sum at most `wanted`, or 1/2 grad'p alone is more.

    Parameters
    ----------
    points : Points
        Counts the passes.
    point : Point
        Where the Hessian is taken.
    inverse : callable or None
        Preconditioner, as for `newton_step`.
    convexity : float
        m, positive.
    wanted : float
        The bound that would do.
    """
    solution = np.zeros_like(point.grad)
    residual = point.grad.copy()
    gained, left = 0.0, float(np.vdot(residual, residual)) / convexity
    gains: list[float] = []
    if 0.5 * left <= wanted:
        return (residual if inverse is None else inverse(residual)), 0.5 * left
    product = points.objective.hessian(point.w, point.scores)
    z = residual if inverse is None else inverse(residual)
    direction = z.copy()
    length = float(np.vdot(residual, z))
    for _ in range(_MAX_STEPS):
        image = product(direction)
        points.n_passes += 1.0
        curvature = float(np.vdot(direction, image))
        if not curvature > 1e-15 * float(np.vdot(direction, direction)):
            break
        step = length / curvature
        solution += step * direction
        residual -= step * image
        gains.append(step * length)
        gained += gains[-1]
        left = float(np.vdot(residual, residual)) / convexity
        if len(gains) >= _DELAY:
            left = min(left, _CAUTION * sum(gains[-_DELAY:]))
        if 0.5 * gained > wanted or 0.5 * (gained + left) <= wanted:
            break
        z = residual if inverse is None else inverse(residual)
        before, length = length, float(np.vdot(residual, z))
        direction = z + (length / before) * direction
    return (solution if solution.any() else direction), 0.5 * (gained + left)
