"""Truncated, preconditioned conjugate gradients for Newton steps."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from separatrix.protocols import Array
from separatrix.solvers.points import Point, Points

__all__ = ["newton_step"]

#: Steps at most.
_MAX_STEPS = 250


def newton_step(
    points: Points,
    point: Point,
    inverse: Callable[[Array], Array] | None,
    forcing: float,
    max_steps: int = _MAX_STEPS,
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
        Preconditioner: an approximation of v -> H^-1 v, symmetric and positive definite. One that
        leaves out some weights solves for the others.
    forcing : float
        Relative residual to reach.
    max_steps : int
        Steps at most.
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
    for _ in range(max_steps):
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
