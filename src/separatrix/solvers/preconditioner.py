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
from scipy.linalg import lapack

from separatrix._core import gram as core_gram
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


def gram(objective: Objective, weights: Array, rows: npt.NDArray[np.int64] | None = None) -> Array:
    """X' diag(weights) X of shape (d, d), bordered by X' weights and their sum with an intercept.

    Parameters
    ----------
    objective : Objective
        An objective with dense data.
    weights : ndarray of shape (n,) or (len(rows),)
        Weights of the rows, not negative.
    rows : ndarray of int or None
        The rows to use, in place of all of them.
    """
    score_map: Any = objective.score_map
    largest = float(np.finfo(score_map.dtype).max) ** 0.5
    weights = np.clip(weights, 0, largest).astype(score_map.dtype)
    intercept = _intercept(objective)
    return core_gram(score_map.design, rows, weights, intercept, score_map.n_threads)


def _intercept(objective: Objective) -> bool:
    return bool(objective.score_map.weight_shape[0] > objective.score_map.design.shape[1])  # type: ignore[attr-defined]


def _factor(matrix: Array, objective: Objective) -> Callable[[Array], Array]:
    """Add the penalty to `matrix`, factor it in place and return its inverse as a map."""
    diagonal = np.einsum("ii->i", matrix)
    penalty = np.full(len(matrix), float(getattr(objective.regularizer, "curvature", 0.0)))
    if objective.exempt:
        penalty[-1] = 0.0
    scale = float(diagonal.mean()) or 1.0
    diagonal += np.maximum(penalty, _RIDGE * scale)
    single = matrix.dtype == np.float32
    potrf, potri = (lapack.spotrf, lapack.spotri) if single else (lapack.dpotrf, lapack.dpotri)
    ridge = _RIDGE * scale
    while True:
        with blas_threads(1):
            factor, failed = potrf(matrix, lower=1, clean=1, overwrite_a=0)
        if not failed:
            break
        ridge *= 10
        diagonal += ridge
    with blas_threads(1):
        inverse, _ = potri(factor, lower=1, overwrite_c=1)
    inverse += np.tril(inverse, -1).T

    def apply(v: Array) -> Array:
        with blas_threads(1):
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


def shared_preconditioner(objective: Objective, scores: Array) -> Callable[[Array], Array]:
    """The inverse of X' D X + penalty, D the mean curvature over the scores.

    Parameters
    ----------
    objective : Objective
        An objective with second derivatives and dense data.
    scores : ndarray of shape (n, K)
        Scores at which the second derivatives are taken.
    """
    diagonal = curvatures(objective, scores, objective.targets)
    # A softmax restricted to sum zero has K/(K - 1) times the curvature of its diagonal.
    share = max(1, scores.shape[1] - 1) if objective.loss.n_scores is None else 1
    weights = objective.row_weights * diagonal.sum(axis=1) / share
    return _zero_sum(objective, _factor(gram(objective, weights), objective))


def block_preconditioner(
    objective: Objective, scores: Array, rows: npt.NDArray[np.int64] | None = None
) -> Callable[[Array], Array]:
    """The inverses of X' D_k X + penalty, one per score.

    Parameters
    ----------
    objective : Objective
        An objective with second derivatives and dense data.
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
        scale = len(scores) / len(rows)
        scores, targets, row_weights = scores[rows], targets[rows], row_weights[rows]
    diagonal = curvatures(objective, scores, targets) * (scale * row_weights)[:, None]
    inverses = []
    for k in range(n_scores):
        weights = diagonal[:, k]
        keep = np.flatnonzero(weights > _NEGLIGIBLE * weights.max(initial=0.0))
        matrix = gram(objective, weights[keep], keep if rows is None else rows[keep])
        inverses.append(_factor(matrix, objective))

    def apply(grad: Array) -> Array:
        return np.stack([inverse(grad[:, k]) for k, inverse in enumerate(inverses)], axis=1)

    return _zero_sum(objective, apply)
