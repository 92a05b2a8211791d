"""Lower bounds of min P from the dual, for certificates of objectives with an L1 part.

For any theta of the shape of the scores,  min P >= -sum_i (C_i loss_i)*(theta_i) - R*(-Psi' theta);
the derivatives of the losses at good scores make a good theta, and scaling it toward zero brings
it into the domain of R* (Mairal 2010, appendix D; Ndiaye et al. 2017).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import xlogy

from separatrix.objective import Objective
from separatrix.protocols import Array
from separatrix.solvers.points import Points

__all__ = ["has_dual_bound", "lower_bound", "lower_bound_at"]

#: Newton steps on the intercepts before a certificate.
_INTERCEPT_STEPS = 20

#: phi*(-a) for margin losses phi(m), a = -phi'(m).
_CONJUGATES: dict[str, Callable[[Array], Array]] = {
    "logistic": lambda a: xlogy(a, a) + xlogy(1 - a, 1 - a),
    "squared_hinge": lambda a: a * a / 4 - a,
    "squared": lambda a: a * a / 4 - a,
    "exponential": lambda a: xlogy(a, a) - a,
}


def has_dual_bound(objective: Objective) -> bool:
    """Whether `lower_bound` knows the conjugates of this loss and regularizer."""
    name = getattr(objective.loss, "name", None)
    return (name in _CONJUGATES or name == "multiclass_logistic") and getattr(
        objective.regularizer, "name", None
    ) in {"l1", "l2", "elasticnet"}


def _loss_conjugate(objective: Objective, theta: Array) -> float:
    """Sum over the rows of C_i loss*(theta_i / C_i)."""
    weights = objective.row_weights
    used = weights > 0
    if not used.all():
        theta, weights = theta[used], weights[used]
    unit = theta / weights[:, None]
    targets = objective.targets if used.all() else objective.targets[used]
    name = str(objective.loss.name)  # type: ignore[attr-defined]
    if name == "multiclass_logistic":
        p = unit
        p[np.arange(len(p)), targets] += 1
        # Rounding may leave p just outside the simplex, where the conjugate is infinite.
        p = np.maximum(p, 0)
        p /= p.sum(axis=1, keepdims=True)
        values = xlogy(p, p).sum(axis=1)
    else:
        a = -unit[:, 0] * targets
        if name == "logistic":
            a = np.clip(a, 0, 1)
        values = _CONJUGATES[name](a)
    return float(weights @ values)


def lower_bound(objective: Objective, ds: Array, pulled: Array, w: Array) -> float:
    """A lower bound of min P.

    Parameters
    ----------
    objective : Objective
        An objective for which `has_dual_bound` holds.
    ds : ndarray of shape (n, K)
        Derivatives C_i loss_i' at some scores.
    pulled : ndarray of shape (d, K)
        Psi' ds.
    w : ndarray of shape (d, K)
        Weights near the optimum. Exempt intercepts ask for column sums of `ds` that are exactly
        zero; what is left of them is charged with 1 + |b|, as in `Objective.gap_bound`.
    """
    inner = np.abs(objective.penalized(pulled))
    threshold = 1 - float(getattr(objective.regularizer, "curvature", 0.0))
    curvature = 1 - threshold
    theta = np.asarray(ds, dtype=np.float64)
    largest = float(inner.max(initial=0.0))
    scales = {1.0} if curvature > 0 else set()
    if threshold > 0:
        scales.add(min(1.0, threshold / largest) if largest > 0 else 1.0)
    loose = float(np.abs(pulled[-1]) @ (1 + np.abs(w[-1]))) if objective.exempt else 0.0
    best = -np.inf
    for scale in scales:
        beyond = np.maximum(scale * inner - threshold, 0)
        penalty = float(np.vdot(beyond, beyond)) / (2 * curvature) if curvature > 0 else 0.0
        value = -_loss_conjugate(objective, scale * theta) - penalty - scale * loose
        best = max(best, value)
    return best


def lower_bound_at(points: Points, w: Array, scores: Array) -> float:
    """A lower bound of min P from the losses' derivatives at w, intercepts at their best.

    Parameters
    ----------
    points : Points
        Counts the product with the data: half a pass.
    w : ndarray of shape (d, K)
        Weights near the optimum.
    scores : ndarray of shape (n, K)
        Scores at w.
    """
    objective = points.objective
    if objective.exempt:
        scores = _center(objective, scores)
    _, ds = objective.loss_at(scores)
    return lower_bound(objective, ds, points.adjoint(ds), w)


def _center(objective: Objective, scores: Array) -> Array:
    """Scores shifted by the intercepts that minimize the loss: Newton steps without the data."""
    loss, ds = objective.loss_at(scores)
    for _ in range(_INTERCEPT_STEPS):
        grad = ds.sum(axis=0, dtype=np.float64)
        hessian = _intercept_hessian(objective, scores)
        shift = -np.linalg.lstsq(hessian, grad, rcond=1e-12)[0]
        if not np.isfinite(shift).all():
            break
        moved = (scores + shift).astype(scores.dtype)
        loss_moved, ds_moved = objective.loss_at(moved)
        if not loss_moved < loss:
            # Within rounding the slopes still tell which is better.
            left = float(np.abs(ds_moved.sum(axis=0, dtype=np.float64)).sum())
            close = loss_moved <= loss + 4 * float(np.finfo(scores.dtype).eps) * abs(loss)
            if not (close and left < 0.5 * float(np.abs(grad).sum())):
                break
        scores, loss, ds = moved, loss_moved, ds_moved
    return scores


def _intercept_hessian(objective: Objective, scores: Array) -> Array:
    """Second derivatives of the losses in the intercepts, of shape (K, K)."""
    row_weights = objective.row_weights
    if getattr(objective.loss, "name", None) == "multiclass_logistic":
        p = objective.probabilities(scores).astype(np.float64)
        weighted = p * row_weights[:, None]
        return np.asarray(np.diag(weighted.sum(axis=0)) - weighted.T @ p)
    product = objective.loss.curvature_product  # type: ignore[attr-defined]
    second = product(scores, objective.targets, np.ones_like(scores))
    return np.asarray(row_weights @ second)[:, None]
