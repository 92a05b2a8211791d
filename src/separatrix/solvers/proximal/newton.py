"""Proximal Newton, for L1 and elastic-net penalties on losses with a second derivative."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from separatrix.errors import SolverError
from separatrix.objective import Objective
from separatrix.penalties import strengths
from separatrix.protocols import Array
from separatrix.results import Monitor, Solution
from separatrix.solvers.base import check_needs
from separatrix.solvers.blas import blas_threads
from separatrix.solvers.driver import Iterate, drive, rounding
from separatrix.solvers.points import Point, Points
from separatrix.solvers.primal.hessian import has_active_hessian, has_hessian, loss_hessian
from separatrix.solvers.primal.preconditioner import curvatures
from separatrix.solvers.proximal.quadratic_columns import minimize_through_columns
from separatrix.solvers.proximal.quadratic_model import minimize_quadratic

__all__ = ["ProximalNewton"]

#: Weights up to which the Hessian is formed.
_EXACT = 2000
#: n m^2 up to which the Hessian of m weights is formed.
_CHEAP_HESSIAN = 4e9
#: Halvings of a step before rounding is blamed.
_HALVINGS = 40
#: Share of the promised decrease that a step must deliver.
_DECREASE = 1e-4
#: Damping of the model, tried in turn where a step fails: a gradient step of the size of w is 1.
_DAMPINGS = (0.0, 1.0, 1e2, 1e4)
#: Steps in a row that gain no more than rounding before the end.
_STALLS = 3


@dataclass(frozen=True)
class ProximalNewton:
    """Minimizes a quadratic model of the losses plus the penalty, then searches along the way.

    u = argmin_u  <grad L(w), u - w> + (u - w)' H (u - w) / 2 + R(u),   w <- w + t (u - w),
    with H the Hessian of the losses and t found by backtracking on P (Lee, Sun & Saunders 2014).
    Weights that are zero and want to stay there are left out of the model. Where few are left, H
    is formed and the model is minimized by coordinate descent and Newton steps on the weights that
    are not zero; otherwise, with one score per row, by coordinate descent through the columns of X
    (Yuan, Ho & Lin 2012) and conjugate gradients. The certificate is the duality gap.

    Parameters
    ----------
    exact_limit : int
        Number of weights in a model up to which H is formed.
    seed : int
        Of the order of the columns.

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
    >>> solution = ProximalNewton().minimize(objective, None, Monitor(tol=1e-9, max_passes=99))
    >>> solution.certificate, abs(float(solution.w[1, 0]))
    ('duality gap', 0.0)
    """

    exact_limit: int = _EXACT
    seed: int = 0

    needs: ClassVar[frozenset[str]] = frozenset({"curvature", "elastic_net"})

    def minimize(self, objective: Objective, w0: Array | None, monitor: Monitor) -> Solution:
        """Minimize from `w0` (None: from zero) until `monitor` says stop."""
        check_needs(self, objective)
        if not self.fits(objective):
            raise SolverError(
                "ProximalNewton needs one score per row, or dense data and at most "
                f"{self.exact_limit} weights under a softmax; use ProximalGradient."
            )
        points = Points(objective, fused=False)
        start = points.start(w0)
        with blas_threads(1):
            return drive("proximal Newton", points, start, self._iterate(points, start), monitor)

    def fits(self, objective: Objective) -> bool:
        """Whether there is a way to minimize the models of `objective`."""
        if not self.needs <= objective.can or not hasattr(objective.score_map, "design"):
            return False
        if objective.loss.n_scores == 1:
            return True
        small = int(np.prod(objective.weight_shape)) <= self.exact_limit
        return small and has_hessian(objective)

    def _iterate(self, points: Points, start: Array) -> Iterator[Iterate]:
        objective = points.objective
        penalty = _Penalty(objective)
        w, scores = start, points.scores(start)
        loss, ds = objective.loss_at(scores)
        value = loss + penalty.value(w)
        if start.any():
            zero = objective.loss_at(np.zeros_like(scores))
            if not value <= zero[0]:
                # The start is worse than none, or P overflows there.
                w, scores = np.zeros_like(start), np.zeros_like(scores)
                value, ds = zero
        first, stalls = 0.0, 0
        epsilon = float(np.finfo(scores.dtype).eps)
        while True:
            grad = points.adjoint(ds)
            residual = float(penalty.violation(w, grad).max(initial=0.0))
            first = max(first, residual)
            point = Point(w, value, grad, scores)
            yield Iterate(point, residual=residual, prove=True)
            if not residual > 0 or stalls > _STALLS:
                return
            tolerance = max(min(0.1, (residual / first) ** 0.5) * residual, epsilon * first)
            reach = residual / (1 + float(np.abs(w).max(initial=0.0)))
            for damping in _DAMPINGS:
                target = self._model_minimizer(points, point, penalty, tolerance, damping * reach)
                taken = _search(points, point, target, penalty)
                if taken is not None:
                    break
            else:
                return
            before = value
            w, scores, value, ds = taken
            stalls = stalls + 1 if before - value <= rounding(point, objective) else 0

    def _model_minimizer(
        self, points: Points, point: Point, penalty: _Penalty, tolerance: float, damping: float
    ) -> Array:
        """Weights that minimize the model at `point` up to `tolerance` in each subgradient.

        The model has damping/2 |u - w|^2 added.
        """
        objective = points.objective
        active = penalty.working_set(point.w, point.grad)
        flat = point.w.reshape(-1).astype(np.float64)
        gradient = point.grad.reshape(-1)[active].astype(np.float64)
        start = flat[active]
        # damping/2 |u - w|^2 is damping/2 |u|^2 - damping <w, u> and a constant.
        l1, l2 = penalty.l1[active], penalty.l2[active] + damping
        gradient = gradient - damping * start
        assert point.scores is not None
        size, n_rows = len(active), len(point.scores)
        cheap = size <= self.exact_limit and n_rows * size**2 <= _CHEAP_HESSIAN
        if has_active_hessian(objective) and (cheap or objective.loss.n_scores != 1):
            matrix = loss_hessian(points, point.scores, active)
            with np.errstate(over="ignore", invalid="ignore"):
                found = minimize_quadratic(matrix, gradient, start, l1, l2, tolerance)
        else:
            curvature = curvatures(objective, point.scores, objective.targets)[:, 0]
            curvature = objective.row_weights * curvature
            found = minimize_through_columns(
                points, curvature, active, gradient, start, l1, l2, tolerance, self.seed
            )
        flat[active] = found
        return flat.reshape(point.w.shape)


def _search(
    points: Points, point: Point, target: Array, penalty: _Penalty
) -> tuple[Array, Array, float, Array] | None:
    """Weights, scores, P and derivatives of the losses where P has fallen enough, or None.

    The first of target, halfway to it, a quarter of the way, ... at which P has fallen by a share
    of what the model promises (Tseng & Yun 2009).
    """
    objective = points.objective
    if not np.isfinite(target).all():
        return None
    w, scores = point.w, point.scores
    assert scores is not None
    direction = target - w
    scores_there = points.scores(target)
    noise = rounding(point, objective)
    with np.errstate(over="ignore", invalid="ignore"):
        promise = float(np.vdot(point.grad, direction)) + penalty.value(target) - penalty.value(w)
        if not promise <= noise:
            return None  # the model overflows, and has sent us uphill
        # Where rounding hides the decrease, the model is trusted.
        slack = noise if -promise <= 10 * noise else 0.0
        step = 1.0
        for _ in range(_HALVINGS):
            if step == 1:
                after, scores_after = target, scores_there
            else:
                after = w + step * direction
                scores_after = scores + scores.dtype.type(step) * (scores_there - scores)
            loss, ds = objective.loss_at(scores_after)
            value = loss + penalty.value(after)
            if value <= point.value + _DECREASE * step * promise + slack:
                return after, scores_after, value, ds
            step /= 2
    return None


class _Penalty:
    """l1 |u|_1 + l2/2 |u|^2 over the penalized weights, with one l1 and l2 per weight.

    Parameters
    ----------
    objective : Objective
        An objective with an elastic net, or a special case of it, as its penalty.
    """

    def __init__(self, objective: Objective) -> None:
        found = strengths(objective.penalty)
        assert found is not None  # "elastic_net" is among the needs
        self.l1, self.l2 = (self._spread(objective, part) for part in found)

    @staticmethod
    def _spread(objective: Objective, strength: float) -> npt.NDArray[np.float64]:
        weights = np.zeros(objective.weight_shape)
        objective.penalized(weights)[...] = strength
        return weights.reshape(-1)

    def value(self, w: Array) -> float:
        """R(w)."""
        flat = w.reshape(-1)
        return float(self.l1 @ np.abs(flat)) + float(self.l2 @ (flat * flat)) / 2

    def violation(self, w: Array, grad: Array) -> npt.NDArray[np.float64]:
        """Absolute values of the smallest subgradient of P, `grad` being that of the losses."""
        u, q = w.reshape(-1), grad.reshape(-1)
        inside = np.maximum(np.abs(q) - self.l1, 0)
        return np.where(u == 0, inside, np.abs(q + self.l2 * u + self.l1 * np.sign(u)))

    def working_set(self, w: Array, grad: Array) -> npt.NDArray[np.int64]:
        """Weights that are not zero or want to leave zero, as numbers in w.ravel()."""
        u, q = w.reshape(-1), grad.reshape(-1)
        return np.flatnonzero((u != 0) | (np.abs(q) >= self.l1)).astype(np.int64)
