"""Approximate inverse Hessians of dense problems, by Cholesky factors of weighted Gram matrices.

The Hessian of the loss part has the blocks X' D_kl X over pairs of scores, D_kl the second
derivatives of the losses. Its diagonal blocks, or one matrix shared by all scores, are cheap to
factor while the number of features is moderate. Under a softmax the scores of a row may move
together without changing the loss, so both sides are held to sum zero over the classes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.linalg import blas, lapack

from separatrix.objective import Objective
from separatrix.protocols import Array
from separatrix.solvers.blas import blas_threads

__all__ = [
    "block_preconditioner",
    "curvatures",
    "dense_values",
    "gram",
    "shared_preconditioner",
]

#: Second derivatives below this share of the largest one do not enter a preconditioner.
_NEGLIGIBLE = 4e-3
#: Ridge on rows without a penalty, as a share of the mean diagonal.
_RIDGE = 1e-7
#: Rows copied at a time.
_BLOCK = 2048


def dense_values(objective: Objective) -> Array | None:
    """The data as an array of shape (n, d), or None when they are sparse or not flat."""
    values: Array | None = getattr(getattr(objective.score_map, "design", None), "values", None)
    return values


def curvatures(objective: Objective, scores: Array, targets: npt.NDArray[Any]) -> Array:
    """Diagonal second derivatives of the losses in the scores, of the shape of the scores."""
    loss = objective.loss
    product = loss.curvature_product  # type: ignore[attr-defined]
    if getattr(loss, "name", None) == "multiclass_logistic":
        p = objective.probabilities(scores)
        return p * (1 - p)
    result = np.empty_like(scores)
    for k in range(scores.shape[1]):
        unit = np.zeros_like(scores)
        unit[:, k] = 1
        result[:, k] = product(scores, targets, unit)[:, k]
    return result


def gram(
    objective: Objective, X: Array, weights: Array, *, intercept: bool, dtype: npt.DTypeLike
) -> Array:
    """X' diag(weights) X of shape (d, d), bordered by X' weights and their sum with an intercept.

    Only the lower triangle is filled. Computed in the precision of `dtype`, a few rows at a time so that they stay in cache.
    """
    d = X.shape[1] + intercept
    total = np.zeros((d, d), dtype=dtype, order="F")
    rank_update = blas.ssyrk if total.dtype == np.float32 else blas.dsyrk
    root = np.sqrt(weights).astype(dtype)
    buffer = np.empty((min(_BLOCK, len(X)), d), dtype=dtype)
    for first in range(0, len(X), _BLOCK):
        rows = X[first : first + _BLOCK]
        part = buffer[: len(rows)]
        scale = root[first : first + _BLOCK]
        np.multiply(rows, scale[:, None], out=part[:, : X.shape[1]], casting="same_kind")
        if intercept:
            part[:, -1] = scale
        with blas_threads(objective, len(X) * d * d / 2):
            total = rank_update(1.0, part.T, beta=1.0, c=total, lower=1, overwrite_c=1)
    return total


def _factor(matrix: Array, objective: Objective, intercept: bool) -> Callable[[Array], Array]:
    """Add the penalty to `matrix`, factor it in place and return its inverse as a map."""
    diagonal = np.einsum("ii->i", matrix)
    penalty = np.full(len(matrix), float(getattr(objective.regularizer, "curvature", 0.0)))
    if objective.exempt and intercept:
        penalty[-1] = 0.0
    scale = float(diagonal.mean()) or 1.0
    diagonal += np.maximum(penalty, _RIDGE * scale)
    single = matrix.dtype == np.float32
    potrf, potri = (lapack.spotrf, lapack.spotri) if single else (lapack.dpotrf, lapack.dpotri)
    ridge = _RIDGE * scale
    while True:
        with blas_threads(objective, len(matrix) ** 3 / 6):
            factor, failed = potrf(matrix, lower=1, clean=1, overwrite_a=0)
        if not failed:
            break
        ridge *= 10
        diagonal += ridge
    with blas_threads(objective, len(matrix) ** 3 / 3):
        inverse, _ = potri(factor, lower=1, overwrite_c=1)
    inverse += np.tril(inverse, -1).T

    def apply(v: Array) -> Array:
        with blas_threads(objective, inverse.size * v.size / len(v)):
            return np.asarray(inverse @ v.astype(inverse.dtype, copy=False), dtype=np.float64)

    return apply


def _zero_sum(objective: Objective, inner: Callable[[Array], Array]) -> Callable[[Array], Array]:
    """Apply `inner` to the part that sums to zero over the scores, and the penalty to the rest."""
    if getattr(objective.loss, "name", None) != "multiclass_logistic":
        return inner
    curvature = float(getattr(objective.regularizer, "curvature", 0.0))

    def apply(grad: Array) -> Array:
        mean = grad.mean(axis=1, keepdims=True)
        result = inner(grad - mean)
        result -= result.mean(axis=1, keepdims=True)
        if curvature > 0:
            shared = mean / curvature
            if objective.exempt:
                shared[-1] = 0
            result += shared
        return result

    return apply


def _intercept(objective: Objective, X: Array) -> bool:
    return bool(objective.score_map.weight_shape[0] > X.shape[1])


def shared_preconditioner(
    objective: Objective, X: Array, scores: Array
) -> Callable[[Array], Array]:
    """The inverse of X' D X + penalty, D the mean curvature over the scores.

    Parameters
    ----------
    objective : Objective
        An objective with second derivatives.
    X : ndarray of shape (n, d)
        Its data.
    scores : ndarray of shape (n, K)
        Scores at which the second derivatives are taken.
    """
    diagonal = curvatures(objective, scores, objective.targets)
    # A softmax restricted to sum zero has K/(K - 1) times the curvature of its diagonal.
    share = max(1, scores.shape[1] - 1) if objective.loss.n_scores is None else 1
    weights = objective.row_weights * diagonal.sum(axis=1) / share
    matrix = gram(objective, X, weights, intercept=_intercept(objective, X), dtype=X.dtype)
    return _zero_sum(objective, _factor(matrix, objective, _intercept(objective, X)))


def block_preconditioner(
    objective: Objective, X: Array, scores: Array, rows: npt.NDArray[np.intp] | None = None
) -> Callable[[Array], Array]:
    """The inverses of X' D_k X + penalty, one per score.

    Parameters
    ----------
    objective : Objective
        An objective with second derivatives.
    X : ndarray of shape (n, d)
        Its data.
    scores : ndarray of shape (n, K)
        Scores at which the second derivatives are taken.
    rows : ndarray of int or None
        The rows to use, in place of all of them.
    """
    n_scores = scores.shape[1]
    row_weights = objective.row_weights
    targets = objective.targets
    scale = 1.0
    if rows is not None:
        scale = len(X) / len(rows)
        scores, targets, row_weights = scores[rows], targets[rows], row_weights[rows]
    diagonal = curvatures(objective, scores, targets) * (scale * row_weights)[:, None]
    intercept = _intercept(objective, X)
    inverses = []
    for k in range(n_scores):
        weights = diagonal[:, k]
        keep = np.flatnonzero(weights > _NEGLIGIBLE * weights.max(initial=0.0))
        used = X[keep if rows is None else rows[keep]]
        matrix = gram(objective, used, weights[keep], intercept=intercept, dtype=X.dtype)
        inverses.append(_factor(matrix, objective, intercept))

    def apply(grad: Array) -> Array:
        return np.stack([inverse(grad[:, k]) for k, inverse in enumerate(inverses)], axis=1)

    return _zero_sum(objective, apply)
