"""Inverting covariances: well-conditioned, singular, and hopeless ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import linalg

from separatrix.solvers.blas import blas_threads

__all__ = ["Whitener", "whitener"]

FloatArray = npt.NDArray[np.float64]

#: Matrices up to this size are factored on one thread.
_NARROW = 2048


@dataclass(frozen=True, eq=False)
class Whitener:
    """A factor A of the (pseudo-)inverse covariance, inverse = A A'.

    Attributes
    ----------
    scale : ndarray of shape (m,)
        Standard deviations of the columns that vary.
    alive : ndarray of bool of shape (d,)
        Which columns vary.
    lower : ndarray of shape (m, m) or None
        Cholesky factor of the correlations; A = diag(1/scale) inverse(lower)'.
    basis : ndarray of shape (m, r) or None
        Without it: eigenvectors over roots of their eigenvalues; A = diag(1/scale) basis.
    log_det : float
        Logarithm of the (pseudo-)determinant of the covariance.
    null : ndarray of shape (d, d - r)
        Directions without variance.
    """

    scale: FloatArray
    alive: npt.NDArray[np.bool_]
    lower: FloatArray | None
    basis: FloatArray | None
    log_det: float
    null: FloatArray

    @property
    def rank(self) -> int:
        """Number of directions with variance."""
        return int(len(self.alive) - self.null.shape[1])

    def whiten(self, rows: FloatArray) -> FloatArray:
        """Rows times A: centered rows of the distribution get unit covariance."""
        unit = rows[:, self.alive] / self.scale
        if self.basis is not None:
            return unit @ self.basis
        return self._solve(unit, 0)

    def weights(self, white: FloatArray) -> FloatArray:
        """White rows times A': the weights that give products with white rows."""
        result = np.zeros((len(white), len(self.alive)))
        unit = self._solve(white, 1) if self.basis is None else white @ self.basis.T
        result[:, self.alive] = unit / self.scale
        return result

    def _solve(self, rows: FloatArray, trans: int) -> FloatArray:
        """Rows times the inverse of the Cholesky factor's transpose, or of itself."""
        lower: Any = self.lower
        with blas_threads(1 if len(rows) < _NARROW else 2):
            solved, fault = linalg.lapack.dtrtrs(lower, rows.T, lower=1, trans=trans)
        if fault:
            raise FloatingPointError("a Cholesky factor lost its diagonal")
        result: FloatArray = solved.T
        return result


def whitener(covariance: FloatArray, precision: float) -> Whitener:
    """Factor the inverse of a covariance whose entries are known to a relative `precision`.

    Columns are brought to variance one first, so that their units do not matter. Cholesky where
    the matrix is well-conditioned, otherwise eigenvectors, leaving out directions whose variance
    is lost in rounding.
    """
    variance = np.diagonal(covariance)
    alive = variance > 0
    scale = np.sqrt(variance[alive])
    unit = (covariance if alive.all() else covariance[np.ix_(alive, alive)]) / np.outer(
        scale, scale
    )
    null = np.eye(len(alive))[:, ~alive]
    if not alive.any():
        return Whitener(scale, alive, None, np.empty((0, 0)), 0.0, null)
    log_scale = 2 * float(np.log(scale).sum())
    with blas_threads(1 if len(scale) <= _NARROW else 2):
        lower, fault = linalg.lapack.dpotrf(unit, lower=1, clean=1)
        if not fault:
            norm = np.abs(unit).sum(axis=0).max()
            if linalg.lapack.dpocon(lower, norm, uplo="L")[0] > precision:
                log_det = 2 * float(np.log(np.diagonal(lower)).sum()) + log_scale
                return Whitener(scale, alive, lower, None, log_det, null)
        values, vectors = linalg.eigh(unit)
    kept = values > precision * len(scale) * values[-1]
    lost = np.zeros((len(alive), int((~kept).sum())))
    lost[alive] = vectors[:, ~kept] / scale[:, None]
    log_det = float(np.log(values[kept]).sum()) + log_scale
    basis = vectors[:, kept] / np.sqrt(values[kept])
    return Whitener(scale, alive, None, basis, log_det, np.hstack([null, lost]))
