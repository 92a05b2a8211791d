"""Hessians of the loss part, formed as matrices: of all weights on dense data, or of some."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from separatrix._core import Csr, column_gram, label_gram
from separatrix.losses import is_softmax
from separatrix.objective import Objective
from separatrix.protocols import Array
from separatrix.solvers.blas import blas_threads
from separatrix.solvers.points import Points
from separatrix.solvers.primal.preconditioner import curvatures, dense_values, gram

__all__ = ["has_active_hessian", "has_hessian", "loss_hessian"]


def has_hessian(objective: Objective) -> bool:
    """Whether `loss_hessian` can form the Hessian of all weights."""
    known = objective.loss.n_scores == 1 or is_softmax(objective.loss)
    return known and dense_values(objective) is not None


def has_active_hessian(objective: Objective) -> bool:
    """Whether `loss_hessian` can form the Hessian of some weights."""
    sparse = isinstance(getattr(objective.score_map, "design", None), Csr)
    return has_hessian(objective) or (sparse and objective.loss.n_scores == 1)


def loss_hessian(
    points: Points, scores: Array, active: npt.NDArray[np.int64] | None = None
) -> npt.NDArray[np.float64]:
    """Hessian of the loss part in the order of w.ravel(): one pass.

    Parameters
    ----------
    points : Points
        Points of an objective for which `has_hessian` holds, or `has_active_hessian` with
        `active`.
    scores : ndarray of shape (n, K)
        Scores at the weights where the Hessian is taken.
    active : ndarray of int or None
        The weights whose rows and columns are formed, increasing; None stands for all of them.
    """
    objective = points.objective
    points.n_passes += 1.0
    rows, n_scores = objective.weight_shape
    if objective.loss.n_scores == 1:
        weights = objective.row_weights * curvatures(objective, scores, objective.targets)[:, 0]
        design = objective.score_map.design  # type: ignore[attr-defined]
        if isinstance(design, Csr):
            assert active is not None
            numbers = np.ascontiguousarray(active)
            return column_gram(design, numbers, np.ascontiguousarray(weights, dtype=np.float64))
        if active is None or len(active) == rows:
            return gram(objective, weights).astype(np.float64)
        return _product(_columns(objective, active) * np.sqrt(weights)[:, None])
    p = objective.probabilities(scores).astype(np.float64, copy=False)
    if active is None:
        return _softmax_hessian(objective, p)
    feature, score = np.divmod(active, n_scores)
    used, position = np.unique(feature, return_inverse=True)
    columns = _columns(objective, used) * np.sqrt(objective.row_weights)[:, None]
    # sum_i (diag(p_i) - p_i p_i') x x_i x_i': one product for the second part, K for the first.
    if len(active) == len(used) * n_scores:
        outer = (columns[:, :, None] * p[:, None, :]).reshape(len(p), len(active))
    else:
        outer = columns[:, position] * p[:, score]
    result = -_product(outer)
    for k in range(n_scores):
        at = np.flatnonzero(score == k)
        part = columns if len(at) == len(used) else columns[:, position[at]]
        result[np.ix_(at, at)] += _product(part * np.sqrt(p[:, k])[:, None])
    return result


def _softmax_hessian(objective: Objective, p: Array) -> npt.NDArray[np.float64]:
    """sum_i C_i x_i x_i' (x) (diag(p_i) - p_i p_i'), from the order of labels to that of w."""
    rows, n_scores = objective.weight_shape
    score_map: Any = objective.score_map
    weights = np.ascontiguousarray(p * objective.row_weights[:, None])
    intercept = rows > score_map.design.shape[1]
    matrix = label_gram(score_map.design, None, weights, n_scores, intercept, score_map.n_threads)
    blocks = matrix.reshape(n_scores, rows, n_scores, rows).transpose(1, 0, 3, 2)
    return blocks.reshape(rows * n_scores, rows * n_scores)


def _product(matrix: Array) -> npt.NDArray[np.float64]:
    with blas_threads(1):
        result: npt.NDArray[np.float64] = matrix.T @ matrix
    return result


def _columns(objective: Objective, numbers: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """Some columns of the data, number d a column of ones, in double precision."""
    X = dense_values(objective)
    assert X is not None
    n_features = X.shape[1]
    result = np.ones((len(X), len(numbers)))
    inner = numbers[numbers < n_features]
    result[:, : len(inner)] = X if len(inner) == n_features else X[:, inner]
    return result
