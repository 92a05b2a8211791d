"""Covariances of weights: full, diagonal, or of low rank beside the prior.

Theta has shape (D, m), m directions of scores; the last of its D rows are the intercepts where the
model has any. Rows are handed in as X of shape (n, d) without the constant feature.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np
import numpy.typing as npt
import scipy.linalg

from separatrix.bayes.laplace.curvature import Curvature, basis_of
from separatrix.bayes.laplace.lanczos import leading_pairs
from separatrix.bayes.small_blas import small_blas
from separatrix.errors import DataError

__all__ = [
    "DiagonalCovariance",
    "FullCovariance",
    "LowRankCovariance",
    "WeightCovariance",
]

FloatArray = npt.NDArray[np.float64]

#: Variance of a flat intercept in units of what the data leave of it, where it must be finite; much
#: more would drown the other directions in the rounding of float32 data.
_NEARLY_FLAT = 1e4


class WeightCovariance(Protocol):
    """What the Laplace posterior asks of a covariance."""

    @property
    def log_determinant(self) -> float:
        """log det of the precision of Theta."""
        ...

    @property
    def size_per_row(self) -> int:
        """Numbers that `of_scores` holds for every row at a time."""
        ...

    def of_scores(self, X: Any) -> FloatArray:
        """Covariances of x'Theta, shape (n, m, m)."""
        ...

    def of_contrast(self, direction: FloatArray) -> FloatArray:
        """Variances of Theta @ direction, shape (D,)."""
        ...

    def sample(self, n_draws: int, generator: np.random.RandomState) -> FloatArray:
        """Draws of Theta minus its mean, shape (n_draws, D, m)."""
        ...


def _times(X: Any, matrix: FloatArray) -> FloatArray:
    """Rows (x, 1) times a matrix of D rows, or x times it where D = d."""
    d = X.shape[1]
    result = np.asarray(X @ matrix[:d], dtype=np.float64)
    return result + matrix[d] if len(matrix) > d else result


def prior_precisions(curvature: Curvature, C: float) -> FloatArray:
    """Prior precision of every row of Theta, shape (D,): 1 / C, and 0 for exempt intercepts."""
    result = np.full(curvature.shape[0], 1.0 / C)
    if curvature.objective.exempt:
        result[-1] = 0.0
    return result


@dataclass(frozen=True)
class FullCovariance:
    """Covariance A A', A of order m D, class by class.

    Attributes
    ----------
    root : ndarray of shape (m, D, m D)
        A.
    """

    root: FloatArray
    log_determinant: float

    @classmethod
    def of(cls, curvature: Curvature, C: float) -> Self:
        """From the whole Hessian, by its Cholesky factor."""
        rows, m = curvature.shape
        precision = curvature.matrix()
        precision[np.diag_indices(m * rows)] += np.tile(prior_precisions(curvature, C), m)
        with small_blas(m * rows):
            try:
                factor = scipy.linalg.cholesky(precision, lower=True, check_finite=False)
            except scipy.linalg.LinAlgError:
                raise DataError(
                    "the posterior is improper: some direction of the weights has neither a prior "
                    "nor data; use penalize_intercept=True"
                ) from None
            # Only the root of the covariance is needed, the transpose of this.
            half, _ = scipy.linalg.lapack.dtrtri(factor, lower=1)
        log_determinant = 2 * float(np.log(np.diagonal(factor)).sum())
        return cls(np.tril(half).T.reshape(m, rows, m * rows), log_determinant)

    @property
    def size_per_row(self) -> int:
        """Numbers that `of_scores` holds for every row at a time."""
        m, _, order = self.root.shape
        return int(m * order)

    def of_scores(self, X: Any) -> FloatArray:
        """Covariances of x'Theta, shape (n, m, m)."""
        roots = np.stack([_times(X, root) for root in self.root], axis=1)
        return roots @ roots.transpose(0, 2, 1)

    def of_contrast(self, direction: FloatArray) -> FloatArray:
        """Variances of Theta @ direction, shape (D,)."""
        combined = np.tensordot(direction, self.root, axes=1)
        return np.asarray(np.einsum("ij,ij->i", combined, combined))

    def sample(self, n_draws: int, generator: np.random.RandomState) -> FloatArray:
        """Draws of Theta minus its mean, shape (n_draws, D, m)."""
        white = generator.standard_normal((n_draws, self.root.shape[2]))
        return np.stack([white @ root.T for root in self.root], axis=2)


@dataclass(frozen=True)
class DiagonalCovariance:
    """Independent features; the classes of one feature independent but for their sum, zero.

    Attributes
    ----------
    blocks : ndarray of shape (D, m, m)
        Covariance of every row of Theta.
    """

    blocks: FloatArray
    log_determinant: float

    @classmethod
    def of(cls, curvature: Curvature, C: float, X: Any) -> Self:
        """From the diagonal of the Hessian of the K weights of every feature."""
        precision = curvature.diagonal(X) + prior_precisions(curvature, C)[:, None]
        if not (precision > 0).all():
            raise DataError("the posterior is improper: a feature has neither a prior nor data")
        n_scores = precision.shape[1]
        variances = 1 / precision
        determinant = np.log(precision).sum()
        if n_scores == 1:
            return cls(variances[:, :, None], float(determinant))
        basis = basis_of(n_scores)
        total = variances.sum(axis=1)
        turned = variances @ basis
        blocks = np.einsum("jk,ka,kb->jab", variances, basis, basis, optimize=True)
        blocks -= turned[:, :, None] * turned[:, None, :] / total[:, None, None]
        return cls(blocks, float(determinant + np.log(total / n_scores).sum()))

    @property
    def size_per_row(self) -> int:
        """Numbers that `of_scores` holds for every row at a time."""
        return int(self.blocks.shape[1] ** 2)

    def of_scores(self, X: Any) -> FloatArray:
        """Covariances of x'Theta, shape (n, m, m)."""
        m = self.blocks.shape[1]
        # Sparse rows have their own way to square; one is its own square.
        squares = X.multiply(X).tocsr() if hasattr(X, "multiply") else np.asarray(X) ** 2
        return _times(squares, self.blocks.reshape(-1, m * m)).reshape(-1, m, m)

    def of_contrast(self, direction: FloatArray) -> FloatArray:
        """Variances of Theta @ direction, shape (D,)."""
        return np.asarray(np.einsum("a,jab,b->j", direction, self.blocks, direction))

    def sample(self, n_draws: int, generator: np.random.RandomState) -> FloatArray:
        """Draws of Theta minus its mean, shape (n_draws, D, m)."""
        rows, m, _ = self.blocks.shape
        roots = np.linalg.cholesky(self.blocks)
        white = generator.standard_normal((n_draws, rows, m))
        return np.asarray(np.einsum("jab,njb->nja", roots, white))


@dataclass(frozen=True)
class LowRankCovariance:
    """S (I - V diag(l / (1 + l)) V') S: the leading directions of the data, the prior elsewhere.

    Attributes
    ----------
    scale : ndarray of shape (D,)
        S, the prior standard deviation of every row.
    values : ndarray of shape (r,)
        l, the leading eigenvalues of S G S.
    vectors : ndarray of shape (D, m, r)
        V.
    """

    scale: FloatArray
    values: FloatArray
    vectors: FloatArray

    @classmethod
    def of(cls, curvature: Curvature, C: float, rank: int) -> Self:
        """By Lanczos iterations, a pass over the data each."""
        rows, m = curvature.shape
        precision = prior_precisions(curvature, C)
        if precision[-1] == 0:
            # Wide beside what the data say, so that it is among the leading directions.
            second = curvature.weights[:, None] * curvature.probabilities
            second *= 1 - curvature.probabilities
            least = float(second.sum(axis=0).min())
            if not least > 0:
                raise DataError("the posterior is improper: no data speak about the intercepts")
            precision[-1] = least / _NEARLY_FLAT
        scale = 1 / np.sqrt(precision)
        order = rows * m

        def apply(vector: FloatArray) -> FloatArray:
            theta = scale[:, None] * vector.reshape(rows, m)
            return (scale[:, None] * curvature.product(theta)).ravel()

        values, vectors = leading_pairs(apply, order, rank)
        return cls(scale, np.maximum(values, 0.0), vectors.reshape(rows, m, -1))

    @property
    def log_determinant(self) -> float:
        """log det of the precision of Theta."""
        m = self.vectors.shape[1]
        return float(np.log1p(self.values).sum() - 2 * m * np.log(self.scale).sum())

    @property
    def _shares(self) -> FloatArray:
        return self.values / (1 + self.values)

    @property
    def size_per_row(self) -> int:
        """Numbers that `of_scores` holds for every row at a time."""
        return int(self.vectors.shape[1] * self.vectors.shape[2])

    def of_scores(self, X: Any) -> FloatArray:
        """Covariances of x'Theta, shape (n, m, m)."""
        m = self.vectors.shape[1]
        squares = X.multiply(X).tocsr() if hasattr(X, "multiply") else np.asarray(X) ** 2
        prior = _times(squares, (self.scale**2)[:, None])
        scaled = self.vectors * self.scale[:, None, None]
        inside = np.stack([_times(X, scaled[:, a]) for a in range(m)], axis=1)
        explained = (inside * self._shares) @ inside.transpose(0, 2, 1)
        return prior[:, :, None] * np.eye(m) - explained

    def of_contrast(self, direction: FloatArray) -> FloatArray:
        """Variances of Theta @ direction, shape (D,)."""
        inside = np.tensordot(self.vectors, direction, axes=(1, 0))
        left = float(direction @ direction) - (inside**2) @ self._shares
        return self.scale**2 * left

    def sample(self, n_draws: int, generator: np.random.RandomState) -> FloatArray:
        """Draws of Theta minus its mean, shape (n_draws, D, m)."""
        rows, m, rank = self.vectors.shape
        flat = self.vectors.reshape(rows * m, rank)
        white = generator.standard_normal((n_draws, rows * m))
        white -= ((white @ flat) * (1 - 1 / np.sqrt(1 + self.values))) @ flat.T
        return white.reshape(n_draws, rows, m) * self.scale[:, None]
