"""Newton's method: exact for small dense problems, truncated by conjugate gradients otherwise."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.linalg import lapack

from separatrix.objective import Objective
from separatrix.protocols import Array
from separatrix.results import Monitor, Solution
from separatrix.solvers.base import check_needs
from separatrix.solvers.blas import blas_threads
from separatrix.solvers.driver import Iterate, drive, rounding
from separatrix.solvers.points import Point, Points
from separatrix.solvers.primal.conjugate_gradients import newton_step
from separatrix.solvers.primal.hessian import has_hessian, loss_hessian
from separatrix.solvers.primal.line_search import wolfe
from separatrix.solvers.primal.preconditioner import block_preconditioner, dense_values

__all__ = ["NewtonCG"]

#: Parameters up to which the Hessian is formed and factored.
_EXACT = 2000
#: Features up to which one block of the Hessian per score preconditions the conjugate gradients.
_BLOCKS = 512


@dataclass(frozen=True)
class NewtonCG:
    """Newton steps w <- w - t H^-1 grad P with a line search on kept scores.

    With at most `exact_limit` weights and dense data, H is formed and factored. Otherwise
    H p = grad is solved by preconditioned conjugate gradients, truncated when the residual is
    small against the gradient (Dembo & Steihaug 1983); dense data with few features are
    preconditioned by the diagonal blocks of H.

    Parameters
    ----------
    exact_limit : int
        Number of weights up to which H is formed.

    Examples
    --------
    >>> import numpy as np
    >>> from separatrix.losses import MARGIN_LOSSES
    >>> from separatrix.objective import Objective
    >>> from separatrix.penalties import L2
    >>> from separatrix.results import Monitor
    >>> from separatrix.structures.labels import FlatScores, make_design
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([-1.0, -1.0, 1.0, 1.0])
    >>> scores = FlatScores(make_design(X, 1), 1, intercept=True, dtype=X.dtype)
    >>> objective = Objective(scores, MARGIN_LOSSES["logistic"], L2(), y, exempt=True)
    >>> solution = NewtonCG().minimize(objective, None, Monitor(tol=1e-12, max_passes=100))
    >>> solution.stopped.value, round(solution.objective, 4)
    ('converged', 1.8494)
    """

    exact_limit: int = _EXACT

    needs: ClassVar[frozenset[str]] = frozenset({"value_grad", "smooth", "hvp"})

    def minimize(self, objective: Objective, w0: Array | None, monitor: Monitor) -> Solution:
        """Minimize from `w0` (None: from zero) until `monitor` says stop."""
        check_needs(self, objective)
        points = Points(objective, fused=False)
        start = points.start(w0)
        exact = self.is_exact(objective)
        name = "exact Newton" if exact else "Newton-CG"
        iterates = self._iterate(points, start, exact)
        with blas_threads(1):
            return drive(name, points, start, iterates, monitor)

    def is_exact(self, objective: Objective) -> bool:
        """Whether the Hessian of `objective` would be formed."""
        small = int(np.prod(objective.weight_shape)) <= self.exact_limit
        return small and (has_hessian(objective) or getattr(objective, "forms_hessian", False))

    @staticmethod
    def _iterate(points: Points, start: Array, exact: bool) -> Iterator[Iterate]:
        step_at = _exact_step if exact else _truncated_step
        point = points.first(start)
        first = float(np.linalg.norm(point.grad))
        bounded = math.isfinite(points.objective.gap_bound(point.w, point.grad, point.value))
        while True:
            if bounded:
                # Before the step: its Hessian costs more than the proof that it is not needed.
                yield Iterate(point)
            norm = float(np.linalg.norm(point.grad))
            forcing = min(0.1, (norm / first) ** 0.5) if first > 0 else 0.1
            direction = step_at(points, point, forcing)
            if not bounded:
                yield Iterate(point, 0.5 * float(np.vdot(point.grad, direction)))
            # Where rounding spoils the solve, the gradient itself is still a direction.
            for way, step in (
                (direction, 1.0),
                (point.grad, 1 / max(1.0, norm)),
            ):
                ray = points.along(point, -way)
                taken = None
                if ray.slope < 0:
                    taken = wolfe(ray, step, noise=rounding(point, points.objective))
                if taken is not None:
                    break
            else:
                return
            point = ray.point(taken)


def _exact_step(points: Points, point: Point, forcing: float) -> Array:
    """H^-1 grad by Cholesky, with a growing ridge while H is singular in floating point."""
    objective = points.objective
    if getattr(objective, "forms_hessian", False):
        points.n_passes += 1.0
        matrix = objective.loss_hessian(point.w)  # type: ignore[attr-defined]
    else:
        assert point.scores is not None
        matrix = loss_hessian(points, point.scores)
    rows, n_scores = point.w.shape
    diagonal = np.einsum("ii->i", matrix)
    scale = float(diagonal.mean()) or 1.0
    curvature = float(getattr(objective.penalty, "curvature", 0.0))
    free = rows if curvature == 0 else rows - len(objective.penalized(point.w))
    if n_scores > 1 and free:
        # The loss does not see a shift of all scores, nor does the gradient point along one:
        # stiffness in that direction makes the system regular and leaves its solution as it is.
        blocks = matrix.reshape(rows, n_scores, rows, n_scores)
        for j in range(rows - free, rows):
            blocks[j, :, j, :] += scale / n_scores
    diagonal.reshape(rows, n_scores)[: len(objective.penalized(point.w))] += curvature
    ridge = float(np.finfo(np.float64).eps) * len(matrix) * scale
    while True:
        _, x, failed = lapack.dposv(matrix, point.grad.reshape(-1), lower=1)
        if not failed:
            return np.asarray(x).reshape(point.w.shape)
        diagonal += ridge
        ridge *= 10


def _truncated_step(points: Points, point: Point, forcing: float) -> Array:
    """H^-1 grad by conjugate gradients, preconditioned where the data are dense and narrow."""
    X = dense_values(points.objective)
    inverse: Callable[[Array], Array] | None = None
    if X is not None and X.shape[1] <= _BLOCKS:
        assert point.scores is not None
        inverse = block_preconditioner(points.objective, point.scores)
        points.n_passes += 1.0
    return newton_step(points, point, inverse, forcing)
