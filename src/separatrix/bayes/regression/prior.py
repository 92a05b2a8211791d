"""The Gaussian prior of a linear regression, told by a covariance, a precision or a ridge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.linalg

from separatrix.errors import ParameterError

__all__ = ["GaussianPrior"]

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class GaussianPrior:
    """w ~ N(mean, scale L L'), the scale left to the model.

    Attributes
    ----------
    mean : ndarray of shape (d,)
        Prior mean.
    diagonal : ndarray of shape (d,) or None
        L where it is diagonal.
    factor : ndarray of shape (d, d) or None
        L where it is a full matrix.
    precision_factor : ndarray of shape (d, d) or None
        The lower Cholesky factor K of the precision, where L = K'^-1.
    """

    mean: FloatArray
    diagonal: FloatArray | None = None
    factor: FloatArray | None = None
    precision_factor: FloatArray | None = None

    @classmethod
    def of(cls, mean: Any, covariance: Any, precision: Any, n_features: int) -> Self:
        """Check what the user gave; without covariance and precision L is the identity.

        Examples
        --------
        >>> GaussianPrior.of(0.0, 4.0, None, 2).color(np.eye(2))
        array([[2., 0.],
               [0., 2.]])
        """
        if covariance is not None and precision is not None:
            raise ParameterError("give prior_covariance or prior_precision, not both")
        center = _vector("prior_mean", 0.0 if mean is None else mean, n_features)
        if covariance is not None:
            matrix = _matrix("prior_covariance", covariance, n_features)
            if matrix.ndim == 1:
                if (matrix < 0).any():
                    raise ParameterError("prior_covariance must not hold negative variances")
                return cls(center, diagonal=np.sqrt(matrix))
            return cls(center, factor=_root(matrix))
        if precision is not None:
            matrix = _matrix("prior_precision", precision, n_features)
            if matrix.ndim == 1:
                if (matrix <= 0).any():
                    raise ParameterError("prior_precision must be positive; a flat prior is not")
                return cls(center, diagonal=1 / np.sqrt(matrix))
            try:
                return cls(center, precision_factor=scipy.linalg.cholesky(matrix, lower=True))
            except scipy.linalg.LinAlgError:
                raise ParameterError("prior_precision must be positive definite") from None
        return cls(center, diagonal=np.ones(n_features))

    def whiten(self, rows: FloatArray) -> FloatArray:
        """Rows times L: the data as seen by weights of unit prior covariance."""
        if self.diagonal is not None:
            return rows * self.diagonal
        if self.factor is not None:
            return rows @ self.factor
        assert self.precision_factor is not None
        solved: FloatArray = scipy.linalg.solve_triangular(
            self.precision_factor, rows.T, lower=True, check_finite=False
        )
        return solved.T

    def color(self, columns: FloatArray) -> FloatArray:
        """L times columns: weights from weights of unit prior covariance."""
        if self.diagonal is not None:
            return columns * (self.diagonal if columns.ndim == 1 else self.diagonal[:, None])
        if self.factor is not None:
            return self.factor @ columns
        assert self.precision_factor is not None
        solved: FloatArray = scipy.linalg.solve_triangular(
            self.precision_factor, columns, lower=True, trans=1, check_finite=False
        )
        return solved

    def variances(self) -> FloatArray:
        """Diagonal of L L'."""
        if self.diagonal is not None:
            return self.diagonal**2
        factor = self.color(np.eye(len(self.mean)))
        result: FloatArray = np.einsum("ij,ij->i", factor, factor)
        return result


def _vector(name: str, value: Any, n_features: int) -> FloatArray:
    vector = np.asarray(value, dtype=np.float64)
    if vector.ndim == 0:
        vector = np.full(n_features, float(vector))
    if vector.shape != (n_features,):
        raise ParameterError(
            f"{name} must be a number or have shape ({n_features},), got {vector.shape}"
        )
    if not np.isfinite(vector).all():
        raise ParameterError(f"{name} must be finite")
    return vector


def _matrix(name: str, value: Any, n_features: int) -> FloatArray:
    """A vector for a number or a diagonal, else a symmetric matrix."""
    matrix = np.asarray(value, dtype=np.float64)
    if matrix.ndim < 2:
        return _vector(name, matrix, n_features)
    if matrix.shape != (n_features, n_features):
        raise ParameterError(
            f"{name} must be a number or have shape ({n_features},) or "
            f"({n_features}, {n_features}), got {matrix.shape}"
        )
    if not np.isfinite(matrix).all():
        raise ParameterError(f"{name} must be finite")
    if not np.allclose(matrix, matrix.T, rtol=1e-8, atol=1e-12 * np.abs(matrix).max()):
        raise ParameterError(f"{name} must be symmetric")
    return (matrix + matrix.T) / 2


def _root(covariance: FloatArray) -> FloatArray:
    """L with L L' = covariance, which may be singular but not indefinite."""
    try:
        factor: FloatArray = scipy.linalg.cholesky(covariance, lower=True)
        return factor
    except scipy.linalg.LinAlgError:
        values, vectors = scipy.linalg.eigh(covariance)
    if values[0] < -1e-10 * max(values[-1], 0.0) or values[-1] < 0:
        raise ParameterError(
            f"prior_covariance is not positive semidefinite: it has the eigenvalue {values[0]:.3g}"
        )
    result: FloatArray = vectors * np.sqrt(np.maximum(values, 0.0))
    return result
