"""Objective values in plain numpy, float64, independent of the library and of every peer.

One convention: ``P(W, b) = 1/2 |W|^2 + C sum_i loss(W x_i + b, y_i)``, plus ``1/2 |b|^2`` where the
intercept counts as a weight of a constant feature (LIBLINEAR).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse

from benchmarks.data import IntArray, Matrix, is_sparse

FloatArray = npt.NDArray[np.float64]
Loss = Callable[[FloatArray, IntArray], FloatArray]

_BLOCK = 8192  # rows of a dense matrix converted to float64 at a time


def logistic(scores: FloatArray, y: IntArray) -> FloatArray:
    """Return ``log(1 + exp(-t s))`` per row; `scores` (n, 1), `y` in {0, 1}, ``t = 2y - 1``."""
    losses: FloatArray = np.logaddexp(0.0, -_margins(scores, y))
    return losses


def hinge(scores: FloatArray, y: IntArray) -> FloatArray:
    """Return ``max(0, 1 - t s)`` per row; `scores` (n, 1), `y` in {0, 1}, ``t = 2y - 1``."""
    losses: FloatArray = np.maximum(0.0, 1.0 - _margins(scores, y))
    return losses


def squared_hinge(scores: FloatArray, y: IntArray) -> FloatArray:
    """Return ``max(0, 1 - t s)^2`` per row; `scores` (n, 1), `y` in {0, 1}, ``t = 2y - 1``."""
    losses: FloatArray = hinge(scores, y) ** 2
    return losses


def softmax(scores: FloatArray, y: IntArray) -> FloatArray:
    """Return ``logsumexp_k s_k - s_y`` per row; `scores` (n, K), `y` in 0 … K-1."""
    top: FloatArray = scores.max(axis=1)
    total: FloatArray = np.log(np.exp(scores - top[:, None]).sum(axis=1))
    gold: FloatArray = scores[np.arange(len(y)), y]
    return total + top - gold


def crammer_singer(scores: FloatArray, y: IntArray) -> FloatArray:
    """Return ``max_k (s_k + [k != y]) - s_y`` per row; `scores` (n, K), `y` in 0 … K-1."""
    rows = np.arange(len(y))
    costs = np.ones_like(scores)
    costs[rows, y] = 0.0
    worst: FloatArray = (scores + costs).max(axis=1)
    gold: FloatArray = scores[rows, y]
    return worst - gold


def one_vs_all_squared_hinge(scores: FloatArray, y: IntArray) -> FloatArray:
    """Return ``sum_k max(0, 1 - t_k s_k)^2`` per row, ``t_k = 1`` for k = y and -1 otherwise."""
    targets = -np.ones_like(scores)
    targets[np.arange(len(y)), y] = 1.0
    losses: FloatArray = (np.maximum(0.0, 1.0 - targets * scores) ** 2).sum(axis=1)
    return losses


def squared(scores: FloatArray, y: npt.NDArray[np.generic]) -> FloatArray:
    """Return ``(y - s)^2 / 2`` per row; `scores` (n, 1), `y` real."""
    losses: FloatArray = 0.5 * (np.asarray(y, dtype=np.float64) - scores[:, 0]) ** 2
    return losses


@dataclass(frozen=True)
class Objective:
    """The function that every contender of a case minimizes.

    Parameters
    ----------
    loss : callable
        A loss of this module: scores (n, K) and labels (n,) to losses (n,).
    C : float
        Weight of the summed losses.
    penalize_intercept : bool
        Whether ``1/2 |b|^2`` is part of the objective.
    """

    loss: Loss
    C: float = 1.0
    penalize_intercept: bool = False

    def __call__(
        self, coef: npt.ArrayLike, intercept: npt.ArrayLike, X: Matrix, y: IntArray
    ) -> float:
        """Return the value at `coef` (K, d), `intercept` (K,); one row of `coef` if binary."""
        W = np.atleast_2d(np.asarray(coef, dtype=np.float64))
        b = np.atleast_1d(np.asarray(intercept, dtype=np.float64))
        value = 0.5 * float(np.vdot(W, W)) + self.C * float(self.loss(scores(W, b, X), y).sum())
        return value + 0.5 * float(b @ b) if self.penalize_intercept else value


@dataclass(frozen=True)
class PairObjective(Objective):
    """The sum over all pairs i < j of the objective on the rows of i (+1) and j (-1).

    Pairs come in the order (0, 1), (0, 2), …; `loss` is one of two classes.
    """

    def __call__(self, coef: Matrix, intercept: npt.ArrayLike, X: Matrix, y: IntArray) -> float:
        """Return the value at sparse `coef` (pairs, d) and `intercept` (pairs,)."""
        W, b = sparse.csr_matrix(coef).astype(np.float64), np.asarray(intercept, dtype=np.float64)
        parts = [X[y == k].astype(np.float64) for k in range(int(y.max()) + 1)]
        value = 0.5 * float(W.data @ W.data)
        if self.penalize_intercept:
            value += 0.5 * float(b @ b)
        for pair, (i, j) in enumerate(itertools.combinations(range(len(parts)), 2)):
            w = W[pair].toarray().ravel()
            for k, label in ((i, 1), (j, 0)):
                s = (parts[k] @ w + b[pair])[:, None]
                value += self.C * float(self.loss(s, np.full(len(s), label)).sum())
        return value


def scores(W: FloatArray, b: FloatArray, X: Matrix) -> FloatArray:
    """Return ``X W' + b``, shape (n, K), in float64 whatever the type of `X`."""
    if is_sparse(X):
        product: FloatArray = np.asarray(X.astype(np.float64) @ W.T)
    else:
        blocks = range(0, X.shape[0], _BLOCK)
        product = np.concatenate([X[i : i + _BLOCK].astype(np.float64) @ W.T for i in blocks])
    return product + b


def predict(W: FloatArray, b: FloatArray, X: Matrix) -> IntArray:
    """Return the predicted labels: the sign for one row of weights, else the largest score."""
    s = scores(W, b, X)
    labels = (s[:, 0] > 0) if s.shape[1] == 1 else s.argmax(axis=1)
    return labels.astype(np.int64)


def _margins(scores: FloatArray, y: IntArray) -> FloatArray:
    margins: FloatArray = (2.0 * y - 1.0) * scores[:, 0]
    return margins
