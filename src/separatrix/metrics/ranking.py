"""Measures of ranked labels, where there are too many labels to look at all of them.

Rows have any number of labels, given as an indicator matrix (dense or sparse) or, with one label
per row, as the vector of their places; a ranking names places of labels, best first.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from separatrix.errors import DataError, ParameterError
from separatrix.validation import is_sparse

__all__ = [
    "ndcg_at_k",
    "precision_at_k",
    "propensities",
    "propensity_scored_ndcg_at_k",
    "propensity_scored_precision_at_k",
    "rank_scores",
    "top_k_accuracy",
]

FloatArray = npt.NDArray[np.float64]


def rank_scores(scores: Any, k: int) -> npt.NDArray[np.int64]:
    """Places of the k highest scores of every row, best first; the first of equal ones leads.

    Parameters
    ----------
    scores : array or sparse matrix of shape (n, K)
        Scores; what a sparse matrix does not store ranks below what it stores.
    k : int
        How many.

    Returns
    -------
    ndarray of shape (n, k)
        Places; -1 where a row of a sparse matrix has fewer.

    Examples
    --------
    >>> rank_scores(np.array([[0.1, 0.7, 0.2]]), 2)
    array([[1, 2]])
    """
    _check_k(k)
    if is_sparse(scores):
        stored = sp.csr_array(scores, copy=True)
        stored.sort_indices()
        ranked = np.full((stored.shape[0], k), -1, dtype=np.int64)
        for row in range(stored.shape[0]):
            inside = slice(stored.indptr[row], stored.indptr[row + 1])
            best = np.argsort(-stored.data[inside], kind="stable")[:k]
            ranked[row, : len(best)] = stored.indices[inside][best]
        return ranked
    scores = np.asarray(scores, dtype=np.float64)
    if scores.ndim != 2 or scores.shape[1] < k:
        raise DataError(f"scores must have at least k={k} columns, got shape {scores.shape}")
    best = np.argpartition(-scores, k - 1, axis=1)[:, :k]
    # Which of equal scores a partition takes is left to chance: take the first of them.
    least = np.take_along_axis(scores, best, axis=1).min(axis=1)
    if ((scores >= least[:, None]).sum(axis=1) > k).any():
        best = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    best.sort(axis=1)
    order = np.argsort(-np.take_along_axis(scores, best, axis=1), axis=1, kind="stable")
    return np.take_along_axis(best, order, axis=1).astype(np.int64)


def precision_at_k(y_true: Any, ranked: npt.ArrayLike, k: int) -> float:
    """Share of right labels among the first k.

    Parameters
    ----------
    y_true : array or sparse matrix of shape (n, K), or array of shape (n,)
        Indicator matrix, or places of the labels.
    ranked : array-like of shape (n, m), m >= k
        Places of labels, best first; -1 for none.
    k : int
        How many of them count.

    Returns
    -------
    float
        Between 0 and 1.

    Examples
    --------
    >>> precision_at_k(np.array([[1, 0, 1], [0, 1, 0]]), [[0, 1], [1, 2]], 2)
    0.5
    """
    hits, _ = _hits(y_true, ranked, k)
    return float(hits.mean())


def ndcg_at_k(y_true: Any, ranked: npt.ArrayLike, k: int) -> float:
    """Gains of right labels, 1 / log2(1 + place), divided by the best that there could be.

    Parameters
    ----------
    y_true : array or sparse matrix of shape (n, K), or array of shape (n,)
        Indicator matrix, or places of the labels.
    ranked : array-like of shape (n, m), m >= k
        Places of labels, best first; -1 for none.
    k : int
        How many of them count.

    Returns
    -------
    float
        Mean over the rows, between 0 and 1; a row without labels counts as 0.

    Examples
    --------
    >>> round(ndcg_at_k(np.array([[0, 1, 0]]), [[0, 1]], 2), 4)
    0.6309
    """
    hits, Y = _hits(y_true, ranked, k)
    gains = _discounts(k)
    best = np.concatenate([[0.0], np.cumsum(gains)])[np.minimum(np.diff(Y.indptr), k)]
    found = hits @ gains
    return float(np.divide(found, best, out=np.zeros(len(found)), where=best > 0).mean())


def propensities(y_train: Any, *, a: float = 0.55, b: float = 1.5) -> FloatArray:
    """Probability that a label that is right was also noted, from its frequency in training.

    p = 1 / (1 + c (N_label + b)^-a) with c = (log N - 1) (b + 1)^a for N rows (Jain, Prabhu &
    Varma 2016); they take a = 0.5, b = 0.4 for Wikipedia, a = 0.6, b = 2.6 for Amazon, and the
    values here elsewhere.

    Parameters
    ----------
    y_train : array or sparse matrix of shape (n, K)
        Indicator matrix of the training rows.
    a, b : float
        The constants of the model.

    Returns
    -------
    ndarray of shape (K,)
        Propensities.

    Examples
    --------
    >>> propensities(np.array([[1, 0]] * 9 + [[1, 1]])).round(3)
    array([0.64 , 0.434])
    """
    Y = _indicator(y_train)
    counts = np.bincount(Y.indices, minlength=Y.shape[1])
    c = (np.log(Y.shape[0]) - 1) * (b + 1) ** a
    shares: FloatArray = 1 / (1 + max(c, 0.0) * (counts + b) ** -a)
    return shares


def propensity_scored_precision_at_k(
    y_true: Any, ranked: npt.ArrayLike, k: int, propensity: npt.ArrayLike
) -> float:
    """Precision at k with right labels weighted by 1 / propensity, over the best that could be.

    Parameters
    ----------
    y_true : array or sparse matrix of shape (n, K)
        Indicator matrix.
    ranked : array-like of shape (n, m), m >= k
        Places of labels, best first; -1 for none.
    k : int
        How many of them count.
    propensity : array-like of shape (K,)
        See `propensities`.

    Returns
    -------
    float
        Between 0 and 1.

    Examples
    --------
    >>> Y = np.array([[1, 1], [1, 0]])
    >>> propensity_scored_precision_at_k(Y, [[0], [0]], 1, [1.0, 0.5])
    0.6666666666666666
    """
    return _propensity_scored(y_true, ranked, np.ones(k), k, propensity)


def propensity_scored_ndcg_at_k(
    y_true: Any, ranked: npt.ArrayLike, k: int, propensity: npt.ArrayLike
) -> float:
    """Gains 1 / (propensity log2(1 + place)) of right labels, over the best that could be.

    Parameters
    ----------
    y_true : array or sparse matrix of shape (n, K)
        Indicator matrix.
    ranked : array-like of shape (n, m), m >= k
        Places of labels, best first; -1 for none.
    k : int
        How many of them count.
    propensity : array-like of shape (K,)
        See `propensities`.

    Returns
    -------
    float
        Between 0 and 1.

    Examples
    --------
    >>> propensity_scored_ndcg_at_k(np.array([[1, 1]]), [[1, 0]], 2, [1.0, 0.5])
    1.0
    """
    return _propensity_scored(y_true, ranked, _discounts(k), k, propensity)


def top_k_accuracy(y_true: Any, ranked: npt.ArrayLike, k: int) -> float:
    """Share of rows with a right label among the first k.

    Parameters
    ----------
    y_true : array or sparse matrix of shape (n, K), or array of shape (n,)
        Indicator matrix, or places of the labels.
    ranked : array-like of shape (n, m), m >= k
        Places of labels, best first; -1 for none.
    k : int
        How many of them count.

    Returns
    -------
    float
        Between 0 and 1.

    Examples
    --------
    >>> top_k_accuracy([2, 0], [[1, 2], [1, 2]], 2)
    0.5
    """
    hits, _ = _hits(y_true, ranked, k)
    return float(hits.any(axis=1).mean())


def _check_k(k: Any) -> None:
    if not isinstance(k, int | np.integer) or k < 1:
        raise ParameterError(f"k must be a positive number, got {k!r}")


def _discounts(k: int) -> FloatArray:
    _check_k(k)
    gains: FloatArray = 1 / np.log2(np.arange(2, k + 2))
    return gains


def _indicator(y: Any) -> sp.csr_array:
    if not sp.issparse(y) and np.ndim(y) == 1:
        codes = np.asarray(y)
        if codes.dtype.kind not in "iu" or (codes < 0).any():
            raise DataError("labels of one per row must be given as their places, from 0 on")
        parts = (np.ones(len(codes)), codes, np.arange(len(codes) + 1))
        return sp.csr_array(parts, shape=(len(codes), int(codes.max(initial=-1)) + 1))
    Y = sp.csr_array(y)
    Y.eliminate_zeros()
    Y.sort_indices()
    return Y


def _hits(y_true: Any, ranked: npt.ArrayLike, k: int) -> tuple[FloatArray, sp.csr_array]:
    """Ones of shape (n, k) where a label is right, and the indicator matrix."""
    _check_k(k)
    Y = _indicator(y_true)
    places = np.asarray(ranked)
    if places.ndim != 2 or places.shape[0] != Y.shape[0] or places.shape[1] < k:
        raise DataError(
            f"the ranking must have {Y.shape[0]} rows and at least k={k} columns, got shape "
            f"{places.shape}"
        )
    places = places[:, :k].astype(np.int64)
    width = max(Y.shape[1], int(places.max(initial=0)) + 1)
    rows = np.repeat(np.arange(Y.shape[0], dtype=np.int64), np.diff(Y.indptr))
    right = rows * width + Y.indices
    asked = np.where(places >= 0, np.arange(len(places))[:, None] * width + places, -1)
    return np.isin(asked, right).astype(np.float64), Y


def _propensity_scored(
    y_true: Any, ranked: npt.ArrayLike, gains: FloatArray, k: int, propensity: npt.ArrayLike
) -> float:
    hits, Y = _hits(y_true, ranked, k)
    worth = 1 / np.asarray(propensity, dtype=np.float64)
    if worth.shape != (Y.shape[1],):
        raise DataError(f"there are {Y.shape[1]} labels, but propensities of shape {worth.shape}")
    places = np.asarray(ranked)[:, :k].astype(np.int64)
    found = (hits * worth[np.where(hits > 0, places, 0)]) @ gains
    # The best ranking puts the labels of a row in the order of their worth.
    values = worth[Y.indices]
    rows = np.repeat(np.arange(Y.shape[0]), np.diff(Y.indptr))
    order = np.lexsort((-values, rows))
    place = np.arange(len(values)) - np.repeat(Y.indptr[:-1], np.diff(Y.indptr))
    best = values[order] * np.append(gains, 0.0)[np.minimum(place, k)]
    total = best.sum()
    return float(found.sum() / total) if total > 0 else 0.0
