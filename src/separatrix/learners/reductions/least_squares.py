"""Least squares for many targets at once: one factored matrix serves all columns of a code."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.linalg import cho_factor, cho_solve

__all__ = ["least_squares"]

FloatArray = npt.NDArray[np.float64]


def least_squares(
    X: FloatArray, Y: FloatArray, rates: FloatArray, intercept: str
) -> tuple[FloatArray, FloatArray, FloatArray]:
    r"""Minimize 1/2 |w|^2 + sum_i c_i (y_i - w·x_i - b)^2 for every column of Y.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Rows.
    Y : ndarray of shape (n, L)
        Targets.
    rates : ndarray of shape (n,)
        The c_i.
    intercept : {"none", "penalized", "free"}
        Whether there is a b, and whether 1/2 b^2 is part of the sum.

    Returns
    -------
    weights : ndarray of shape (d, L)
        w
    intercepts : ndarray of shape (L,)
        b
    objectives : ndarray of shape (L,)
        The minima.

    Examples
    --------
    >>> X, Y = np.array([[-1.0], [1.0]]), np.array([[-1.0], [3.0]])
    >>> w, b, value = least_squares(X, Y, np.full(2, 50.0), "free")
    >>> w.round(2), b
    (array([[1.99]]), array([1.]))
    """
    X, Y = np.asarray(X, dtype=np.float64), np.asarray(Y, dtype=np.float64)
    centers, offsets = np.zeros(X.shape[1]), np.zeros(Y.shape[1])
    if intercept == "penalized":
        X, centers = np.hstack([X, np.ones((len(X), 1))]), np.zeros(X.shape[1] + 1)
    elif intercept == "free":
        # At the best b the weighted residuals sum to zero.
        centers, offsets = rates @ X / rates.sum(), rates @ Y / rates.sum()
        X, Y = X - centers, Y - offsets
    W = _from_rows(X, Y, rates) if len(X) < X.shape[1] else _from_features(X, Y, rates)
    values = 0.5 * np.square(W).sum(axis=0) + rates @ np.square(Y - X @ W)
    if intercept == "penalized":
        return W[:-1], W[-1], values
    return W, offsets - centers @ W, values


def _from_features(X: FloatArray, Y: FloatArray, rates: FloatArray) -> FloatArray:
    """(X'DX + I) W = X'DY with D = 2 diag(c): a matrix of d x d."""
    scaled = X.T * (2 * rates)
    gram = scaled @ X
    gram[np.diag_indices_from(gram)] += 1.0
    return np.asarray(cho_solve(cho_factor(gram, overwrite_a=True), scaled @ Y))


def _from_rows(X: FloatArray, Y: FloatArray, rates: FloatArray) -> FloatArray:
    """W = X'A with (XX' + D^-1) A = Y: a matrix of n x n, the smaller one for few rows."""
    used = rates > 0
    X, Y = X[used], Y[used]
    gram = X @ X.T
    gram[np.diag_indices_from(gram)] += 0.5 / rates[used]
    return np.asarray(X.T @ cho_solve(cho_factor(gram, overwrite_a=True), Y))
