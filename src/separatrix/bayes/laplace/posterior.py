"""Gaussian posterior around the optimum of a logistic regression (Laplace's approximation)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy import stats

from separatrix.bayes.laplace.curvature import Curvature, basis_of
from separatrix.bayes.laplace.weight_covariance import (
    DiagonalCovariance,
    FullCovariance,
    LowRankCovariance,
    WeightCovariance,
)
from separatrix.bayes.small_blas import small_blas
from separatrix.objective import Objective
from separatrix.protocols import Array
from separatrix.validation import is_sparse

__all__ = ["FULL_LIMIT", "LaplacePosterior"]

FloatArray = npt.NDArray[np.float64]

#: Parameters up to which ``covariance="auto"`` takes the full matrix.
FULL_LIMIT = 4096
#: Numbers that the covariances of a block of rows may take.
_BLOCK = 1 << 22


@dataclass(frozen=True)
class LaplacePosterior:
    """Theta ~ N(center, (G + prior precision)^-1), W = basis Theta'.

    To the functions of `separatrix.bayes` it is the posterior of the weights W, of shape (K, D) and
    (1, D) for two classes, the last column the intercepts where there are any.

    Attributes
    ----------
    center : ndarray of shape (D, m)
        Theta at the optimum, the last row the intercepts where there are any.
    basis : ndarray of shape (K, m), or (1, 1) for two classes
        From Theta to the weights.
    covariance : WeightCovariance
        Covariance of Theta.
    log_evidence : float
        log p(y), up to a constant under flat intercepts.
    proper : bool
        Whether every weight has a proper prior.
    """

    center: FloatArray
    basis: FloatArray
    covariance: WeightCovariance
    log_evidence: float
    proper: bool

    @classmethod
    def of(cls, objective: Objective, w: Array, kind: str, rank: int, X: Any) -> Self:
        """Expand an objective with an L2 penalty around its optimum w.

        Parameters
        ----------
        objective : Objective
            P(w) = 1/2 |w|^2 + C sum_i c_i loss_i with a logistic loss.
        w : ndarray of shape (D, K) or (D, 1)
            The optimum.
        kind : {"auto", "full", "diagonal", "low_rank"}
            Which covariance.
        rank : int
            Of the low rank.
        X : ndarray or CSR matrix of shape (n, d)
            The rows, for the diagonal.
        """
        C, w = objective.C, np.asarray(w, dtype=np.float64)
        curvature = Curvature(objective, w)
        rows, m = curvature.shape
        if kind == "auto":
            kind = "full" if rows * m <= FULL_LIMIT else "diagonal"
        covariance: WeightCovariance
        if kind == "full":
            covariance = FullCovariance.of(curvature, C)
        elif kind == "diagonal":
            covariance = DiagonalCovariance.of(curvature, C, X)
        else:
            covariance = LowRankCovariance.of(curvature, C, rank)
        basis = basis_of(w.shape[1])
        # -P / C is the logarithm of likelihood times prior, but for the prior's constant.
        penalized = (rows - objective.exempt) * m
        log_evidence = (
            -objective.value(w) / C
            - penalized / 2 * math.log(C)
            + m * objective.exempt / 2 * math.log(2 * math.pi)
            - covariance.log_determinant / 2
        )
        return cls(w @ basis, basis, covariance, log_evidence, not objective.exempt)

    @property
    def mean(self) -> FloatArray:
        """E[W], shape (K, D)."""
        return self.basis @ self.center.T

    @property
    def mode(self) -> FloatArray:
        """The mode, which a normal distribution has at its mean."""
        return self.mean

    @property
    def marginals(self) -> tuple[Any]:
        """The normal distributions of the single weights, with parameters of shape (K, D)."""
        return (stats.norm(*self.contrasts(np.eye(len(self.basis)))),)

    def scores(self, X: Any) -> tuple[FloatArray, FloatArray]:
        """Mean (n, m) and covariance (n, m, m) of the scores in the basis, block by block."""
        rows, d = len(self.center), X.shape[1]
        mean = np.asarray(X @ self.center[:d], dtype=np.float64)
        if rows > d:
            mean = mean + self.center[d]
        n = X.shape[0]
        step = max(1, _BLOCK // (self.covariance.size_per_row + (0 if is_sparse(X) else d)))
        parts = []
        for start in range(0, n, step):
            block = X[start : start + step]
            block = block if is_sparse(block) else np.asarray(block, dtype=np.float64)
            with small_blas(rows):
                parts.append(self.covariance.of_scores(block))
        return mean, np.concatenate(parts)

    def contrasts(self, directions: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean and standard deviation, (q, D), of the weights W @ direction for q directions."""
        turned = directions @ self.basis
        variances = np.stack([self.covariance.of_contrast(turn) for turn in turned])
        return turned @ self.center.T, np.sqrt(np.maximum(variances, 0.0))

    def sample(self, n_draws: int, generator: np.random.RandomState) -> FloatArray:
        """Draws of the weights, (n_draws, K, D), the last column the intercepts if any."""
        theta = self.center + self.covariance.sample(n_draws, generator)
        return (theta @ self.basis.T).transpose(0, 2, 1)
