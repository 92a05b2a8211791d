"""Inverting covariances: well-conditioned, singular, and hopeless ones."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import linalg

__all__ = ["Whitener", "whitener"]

FloatArray = npt.NDArray[np.float64]


class Whitener(NamedTuple):
    """A factor A of the (pseudo-)inverse covariance, inverse = A A'.

    Attributes
    ----------
    factor : ndarray of shape (d, r)
        A; A'(x - mean) has unit covariance.
    log_det : float
        Logarithm of the (pseudo-)determinant of the covariance.
    null : ndarray of shape (d, d - r)
        Directions without variance.
    """

    factor: FloatArray
    log_det: float
    null: FloatArray


def whitener(covariance: FloatArray, precision: float) -> Whitener:
    """Factor the inverse of a covariance whose entries are known to a relative `precision`.

    Columns are brought to variance one first, so that their units do not matter. Cholesky where
    the matrix is well-conditioned, otherwise eigenvectors, leaving out directions whose variance
    is lost in rounding.
    """
    variance = np.diagonal(covariance)
    alive = variance > 0
    d = len(variance)
    scale = np.sqrt(variance[alive])
    unit = covariance[np.ix_(alive, alive)] / np.outer(scale, scale)
    n = len(scale)
    factor = np.zeros((d, n))
    null = np.eye(d)[:, ~alive]
    if n == 0:
        return Whitener(factor, 0.0, null)
    lower, fault = linalg.lapack.dpotrf(unit, lower=1, clean=1)
    if not fault:
        rcond, _ = linalg.lapack.dpocon(lower, np.abs(unit).sum(axis=0).max(), uplo="L")
        if rcond > precision:
            inverse, _ = linalg.lapack.dtrtri(lower, lower=1)
            factor[alive] = inverse.T / scale[:, None]
            log_det = 2 * np.log(np.diagonal(lower)).sum() + 2 * np.log(scale).sum()
            return Whitener(factor, float(log_det), null)
    values, vectors = linalg.eigh(unit)
    kept = values > precision * n * values[-1]
    factor = np.zeros((d, int(kept.sum())))
    factor[alive] = vectors[:, kept] / np.sqrt(values[kept]) / scale[:, None]
    lost = np.zeros((d, int((~kept).sum())))
    # Directions in the units of the data, of length one per standard deviation.
    lost[alive] = vectors[:, ~kept] / scale[:, None]
    log_det = np.log(values[kept]).sum() + 2 * np.log(scale).sum()
    return Whitener(factor, float(log_det), np.hstack([null, lost]))
