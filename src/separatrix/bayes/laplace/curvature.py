"""Curvature of the logistic likelihood at given weights, in coordinates without redundancy.

A softmax does not see a shift of all classes together, so the weights are held to sum zero over the
classes: W = Theta B' with an orthonormal basis B of shape (K, m), m = K - 1. With two classes and
one score, B = (1). The curvature of the likelihood in Theta is

    G = sum_i c_i  M_i (x) x_i x_i',   M_i = B'(diag(p_i) - p_i p_i') B   (p (1 - p) for one score).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.linalg import helmert
from scipy.special import expit

from separatrix._core import Csr, column_gram, label_gram
from separatrix.bayes.small_blas import small_blas
from separatrix.objective import Objective
from separatrix.protocols import Array
from separatrix.validation import is_sparse

__all__ = ["Curvature", "basis_of"]

FloatArray = npt.NDArray[np.float64]

#: Rows that are squared at a time.
_BLOCK = 4096


def basis_of(n_scores: int) -> FloatArray:
    """Orthonormal basis of the score vectors that sum to zero, (K, K - 1); (1) for one score.

    Examples
    --------
    >>> bool(abs(basis_of(3).sum(axis=0)).max() < 1e-15)
    True
    """
    return np.ones((1, 1)) if n_scores == 1 else np.ascontiguousarray(helmert(n_scores).T)


@dataclass(frozen=True)
class Curvature:
    """G at the weights w of an objective with logistic loss.

    Attributes
    ----------
    objective : Objective
        Logistic loss of one score, or the softmax of several.
    w : ndarray of shape (D, K)
        Weights, the last row the intercepts where there are any.
    """

    objective: Objective
    w: Array

    @property
    def shape(self) -> tuple[int, int]:
        """(D, m), the shape of Theta."""
        rows, n_scores = self.objective.weight_shape
        return rows, max(1, n_scores - 1)

    @property
    def _map(self) -> Any:
        return self.objective.score_map

    @cached_property
    def weights(self) -> FloatArray:
        """c_i for every row."""
        given = self.objective.sample_weight
        return np.ones(self._map.n_rows) if given is None else given

    @cached_property
    def probabilities(self) -> FloatArray:
        """p_i of shape (n, K); of shape (n, 2), the second class first, for one score."""
        scores = self._map(self.w).astype(np.float64)
        if scores.shape[1] == 1:
            return np.hstack([expit(scores), expit(-scores)])
        return np.asarray(self.objective.probabilities(scores), dtype=np.float64)

    def matrix(self) -> FloatArray:
        """G of order m D, class by class."""
        rows, m = self.shape
        weighted = np.ascontiguousarray(self.probabilities * self.weights[:, None])
        design = self._map.design
        if isinstance(design, Csr):
            kept = self._sparse(weighted, m)
        else:
            threads = self._map.n_threads
            kept = label_gram(design, None, weighted, m, self._map.intercept, threads)
        if self.objective.weight_shape[1] == 1:
            return kept
        # Scores relative to the last class, s_k - s_K, are T Theta.
        basis = basis_of(m + 1)
        turn = basis[:-1] - basis[-1]
        blocks = kept.reshape(m, rows, m, rows)
        with small_blas(rows):
            blocks = np.einsum("ka,kilj->ailj", turn, blocks, optimize=True)
            blocks = np.einsum("ailj,lb->aibj", blocks, turn, optimize=True)
        return np.ascontiguousarray(blocks.reshape(m * rows, m * rows))

    def _sparse(self, weighted: FloatArray, m: int) -> FloatArray:
        """The curvature of the first m classes on sparse rows."""
        rows = self.shape[0]
        result = np.empty((m, rows, m, rows))
        columns = np.arange(rows, dtype=np.int64)  # number d stands for the column of ones
        p = self.probabilities
        for k in range(m):
            for j in range(k + 1):
                # Off the diagonal the second derivatives -p_k p_j are negative.
                value = weighted[:, k] * (1 - p[:, k] if j == k else p[:, j])
                block = column_gram(self._map.design, columns, np.ascontiguousarray(value))
                result[k, :, j] = block if j == k else -block
                result[j, :, k] = result[k, :, j]
        return result.reshape(m * rows, m * rows)

    def product(self, theta: FloatArray) -> FloatArray:
        """G times Theta of shape (D, m)."""
        basis = basis_of(self.objective.weight_shape[1])
        scores = self._map(theta @ basis.T)
        if len(basis) == 1:
            change = self.weights[:, None] * self.probabilities.prod(axis=1, keepdims=True) * scores
        else:
            change = self.probabilities * scores
            change -= self.probabilities * change.sum(axis=1, keepdims=True)
            change *= self.weights[:, None]
        return np.asarray(self._map.adjoint(change) @ basis, dtype=np.float64)

    def diagonal(self, X: Any) -> FloatArray:
        """sum_i c_i p_ik (1 - p_ik) x_ij^2 of shape (D, K), X the rows themselves."""
        n_scores = self.objective.weight_shape[1]
        second = self.weights[:, None] * self.probabilities * (1 - self.probabilities)
        second = np.ascontiguousarray(second[:, :n_scores])
        if is_sparse(X):
            squared = X.astype(np.float64)  # a copy
            squared.sum_duplicates()
            squared.data **= 2
            inner = np.asarray(squared.T @ second)
        else:
            inner = np.zeros((X.shape[1], n_scores))
            for start in range(0, len(X), _BLOCK):
                block = X[start : start + _BLOCK].astype(np.float64)
                inner += (block**2).T @ second[start : start + _BLOCK]
        return np.vstack([inner, second.sum(axis=0)]) if self._map.intercept else inner
