"""Approximate inverse Hessians of dense problems, by Cholesky factors of weighted Gram matrices.

The Hessian of the loss part has the blocks X' D_kl X over pairs of scores, D_kl the second
derivatives of the losses. Its diagonal blocks, or one matrix shared by all scores, are cheap to
factor while the number of features is moderate. Under a softmax the scores of a row may move
together without changing the loss, so both sides are held to sum zero over the classes.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.linalg import blas, lapack

from separatrix._core import gram as core_gram
from separatrix.losses import is_softmax
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
_NEGLIGIBLE = 2e-2
#: Ridge on rows without a penalty, as a share of the mean diagonal.
_RIDGE = 1e-7


def dense_values(objective: Objective) -> Array | None:
    """The data as an array of shape (n, d), or None when they are sparse or not flat."""
    values: Array | None = getattr(getattr(objective, "design", None), "values", None)
    return values


def curvatures(objective: Objective, scores: Array, targets: npt.NDArray[Any]) -> Array:
    """Diagonal second derivatives of the losses in the scores, of the shape of the scores."""
    loss = objective.loss
    product = loss.curvature_product  # type: ignore[attr-defined]
    if is_softmax(loss):
        p = objective.probabilities(scores)
        return p * (1 - p)
    result = np.empty_like(scores)
    for k in range(scores.shape[1]):
        unit = np.zeros_like(scores)
        unit[:, k] = 1
        result[:, k] = product(scores, targets, unit)[:, k]
    return result


def gram(
    objective: Objective,
    weights: Array,
    rows: npt.NDArray[np.int64] | None = None,
    n_threads: int | None = None,
) -> Array:
    """X' diag(weights) X of shape (d, d), bordered by X' weights and their sum with an intercept.

    Parameters
    ----------
    objective : Objective
        An objective with dense data.
    weights : ndarray of shape (n,) or (len(rows),)
        Weights of the rows, not negative.
    rows : ndarray of int or None
        The rows to use, in place of all of them.
    n_threads : int or None
        Number of threads, in place of that of the scores.
    """
    score_map: Any = objective.score_map
    largest = float(np.finfo(score_map.dtype).max) ** 0.5
    weights = np.clip(weights, 0, largest).astype(score_map.dtype)
    intercept = _intercept(objective)
    threads = n_threads or score_map.n_threads
    return core_gram(score_map.design, rows, weights, intercept, threads)


def _intercept(objective: Objective) -> bool:
    return bool(objective.score_map.weight_shape[0] > objective.score_map.design.shape[1])  # type: ignore[attr-defined]


def _invert(matrix: Array, objective: Objective) -> Array:
    """Lower triangle of the inverse of `matrix`, which is overwritten, plus the penalty."""
    diagonal = np.einsum("ii->i", matrix)
    penalty = np.full(len(matrix), float(getattr(objective.penalty, "curvature", 0.0)))
    if objective.exempt:
        penalty[-1] = 0.0
    scale = float(diagonal.mean()) or 1.0
    diagonal += np.maximum(penalty, _RIDGE * scale)
    single = matrix.dtype == np.float32
    potrf, potri = (lapack.spotrf, lapack.spotri) if single else (lapack.dpotrf, lapack.dpotri)
    ridge = _RIDGE * scale
    while True:
        # The transpose is the same matrix in the order of LAPACK.
        factor, failed = potrf(matrix.T, lower=1, clean=0, overwrite_a=0)
        if not failed:
            break
        ridge *= 10
        diagonal += ridge
    inverse, _ = potri(factor, lower=1, overwrite_c=1)
    return np.asarray(inverse)


def _zero_sum(objective: Objective, inner: Callable[[Array], Array]) -> Callable[[Array], Array]:
    """Apply `inner` to the part that sums to zero over the scores, and the penalty to the rest."""
    if not is_softmax(objective.loss):
        return inner
    curvature = float(getattr(objective.penalty, "curvature", 0.0))

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


def shared_preconditioner(
    objective: Objective, scores: Array, rows: npt.NDArray[np.int64] | None = None
) -> Callable[[Array], Array]:
    """The inverse of X' D X + penalty, D the mean curvature over the scores.

    Parameters
    ----------
    objective : Objective
        An objective with second derivatives and dense data.
    scores : ndarray of shape (n, K)
        Scores at which the second derivatives are taken.
    rows : ndarray of int or None
        The rows to use, in place of all of them.
    """
    diagonal = _weighted_curvatures(objective, scores, rows)
    # A softmax restricted to sum zero has K/(K - 1) times the curvature of its diagonal.
    share = max(1, scores.shape[1] - 1) if objective.loss.n_scores is None else 1
    matrix = gram(objective, diagonal.sum(axis=1) / share, rows)
    with blas_threads(1):
        inverse = _invert(matrix, objective)
    symm = blas.ssymm if inverse.dtype == np.float32 else blas.dsymm

    def apply(grad: Array) -> Array:
        with blas_threads(1):
            return np.asarray(symm(1.0, inverse, grad, lower=1), dtype=np.float64)

    return _zero_sum(objective, apply)


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
    diagonal = _weighted_curvatures(objective, scores, rows)

    def inverse_for(weights: Array) -> Array:
        keep = np.flatnonzero(weights > _NEGLIGIBLE * weights.max(initial=0.0))
        kept = keep if rows is None else rows[keep]
        return _invert(gram(objective, weights[keep], kept, n_threads=1), objective)

    # Each thread sums and factors matrices of its own: nothing is waited for in between.
    n_threads = min(objective.score_map.n_threads, diagonal.shape[1])  # type: ignore[attr-defined]
    with blas_threads(1), ThreadPoolExecutor(n_threads) as pool:
        inverses = list(pool.map(inverse_for, diagonal.T))
    symv = blas.ssymv if inverses[0].dtype == np.float32 else blas.dsymv

    def apply(grad: Array) -> Array:
        result = np.empty(grad.shape)
        with blas_threads(1):
            for k, inverse in enumerate(inverses):
                result[:, k] = symv(1.0, inverse, grad[:, k], lower=1)
        return result

    return _zero_sum(objective, apply)


def _weighted_curvatures(
    objective: Objective, scores: Array, rows: npt.NDArray[np.int64] | None
) -> Array:
    """C_i times the diagonal second derivatives; a subset of the rows stands for all of them."""
    weights = objective.row_weights
    targets = objective.targets
    if rows is not None:
        weights = weights[rows] * (len(scores) / len(rows))
        scores, targets = scores[rows], targets[rows]
    return curvatures(objective, scores, targets) * weights[:, None]
