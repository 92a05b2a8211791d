"""One decomposition of a regression for every ridge value, the evidence and leave-one-out.

In weights u of prior covariance (sigma^2 / ridge) I the data are a matrix Z and a target t with
Z = U S V', p = U't and rest = |t - U p|^2. Then, for any ridge,

    E[u]   = V diag(s / (s^2 + ridge)) p
    Cov[u] = sigma^2 (V diag(1 / (s^2 + ridge)) V' + (I - V V') / ridge)
    Q      = rest + sum_j p_j^2 ridge / (s_j^2 + ridge)         (the penalized sum of squares)
    log p(t) = -n/2 log(2 pi sigma^2) - 1/2 sum_j log(1 + s_j^2 / ridge) - Q / (2 sigma^2)
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt
import scipy.linalg
from scipy.optimize import brentq
from scipy.special import gammaln

from separatrix.bayes.small_blas import small_blas

__all__ = ["Spectrum"]

FloatArray = npt.NDArray[np.float64]

_EPS = float(np.finfo(np.float64).eps)
#: The smallest noise variance: what is left where the data leave none.
_LEAST_NOISE = 1e-290


@dataclass(frozen=True)
class Spectrum:
    """Singular values and projections of a whitened regression.

    Attributes
    ----------
    values : ndarray of shape (k,)
        Singular values s.
    vectors : ndarray of shape (d, k)
        V, k = min(rows, d).
    projection : ndarray of shape (k,)
        p.
    rest : float
        Squared length of the target outside the span of the data.
    size : float
        n, the number of observations that speak about the noise.
    """

    values: FloatArray
    vectors: FloatArray
    projection: FloatArray
    rest: float
    size: float

    @classmethod
    def of(cls, Z: FloatArray, target: FloatArray, size: float) -> Self:
        """Decompose Z of shape (r, d) with its target of shape (r,)."""
        if len(Z) == 0:
            return cls(np.empty(0), np.empty((Z.shape[1], 0)), np.empty(0), 0.0, size)
        with small_blas(min(Z.shape)):
            left, values, right = scipy.linalg.svd(Z, full_matrices=False, check_finite=False)
        projection = left.T @ target
        outside = target - left @ projection
        return cls(values, right.T, projection, float(outside @ outside), size)

    def squares(self, ridge: FloatArray) -> FloatArray:
        """Q for every ridge of an array."""
        ratio = ridge[..., None] / (self.values**2 + ridge[..., None])
        result: FloatArray = self.rest + (self.projection**2 * ratio).sum(axis=-1)
        return result

    def log_volume(self, ridge: FloatArray) -> FloatArray:
        """Sum_j log(1 + s_j^2 / ridge) for every ridge of an array."""
        result: FloatArray = np.log1p(self.values**2 / ridge[..., None]).sum(axis=-1)
        return result

    def log_evidence(self, ridge: FloatArray, noise: FloatArray | float) -> FloatArray:
        """log p(t) for every ridge, at noise variance sigma^2."""
        result: FloatArray = -0.5 * (
            self.size * np.log(2 * math.pi * np.asarray(noise))
            + self.log_volume(ridge)
            + self.squares(ridge) / noise
        )
        return result

    def conjugate_log_evidence(self, ridge: FloatArray, shape: float, scale: float) -> FloatArray:
        """log p(t) for every ridge, sigma^2 ~ InvGamma(shape, scale) integrated out."""
        after = shape + self.size / 2
        result: FloatArray = (
            -0.5 * (self.size * math.log(2 * math.pi) + self.log_volume(ridge))
            + shape * math.log(scale)
            - gammaln(shape)
            + gammaln(after)
            - after * np.log(scale + self.squares(ridge) / 2)
        )
        return result

    def best_noise(self, ridge: float) -> float:
        """The noise variance Q / n of the highest evidence at a ridge."""
        floor = _EPS**2 * (self.rest + float(self.projection @ self.projection))
        squares = float(self.squares(np.array(ridge)))
        return max(max(squares, floor) / self.size, _LEAST_NOISE)

    def best_ridge(self, noise: float | None = None) -> float:
        """The ridge of the highest evidence, the noise variance given or at its best as well.

        Minus twice the log evidence is n log Q + sum log(1 + s^2 / ridge), or with Q / sigma^2 in
        place of n log Q; a grid finds the valley, a root of the derivative its bottom.
        """
        top = float(self.values.max(initial=0.0)) ** 2
        if top == 0:
            return 1.0
        squares, ends = self.values**2, (math.log(_EPS * top), math.log(top / _EPS))
        floor = _EPS**2 * (self.rest + float(self.projection @ self.projection))
        if floor == 0:
            return math.exp(ends[1])  # nothing to explain: every weight at its prior mean

        def slope(log_ridge: float) -> float:
            ridge = math.exp(log_ridge)
            pulled = float((self.projection**2 * squares * ridge / (squares + ridge) ** 2).sum())
            if noise is None:
                pulled *= self.size / max(float(self.squares(np.array(ridge))), floor)
            else:
                pulled /= noise
            return pulled - float((squares / (squares + ridge)).sum())

        grid = np.linspace(*ends, 289)
        values = self.squares(np.exp(grid))
        values = values / noise if noise else self.size * np.log(np.maximum(values, floor))
        values += self.log_volume(np.exp(grid))
        # Among equals the strongest ridge: the simplest explanation.
        best = len(grid) - 1 - int(np.argmin(values[::-1]))
        low, high = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
        if slope(low) < 0 < slope(high):
            return math.exp(brentq(slope, low, high, xtol=1e-14, rtol=4 * _EPS))
        return math.exp(grid[best])

    def mean(self, ridge: FloatArray) -> FloatArray:
        """E[u] for every ridge of an array, shape (..., d)."""
        shrunk = self.values * self.projection / (self.values**2 + ridge[..., None])
        return shrunk @ self.vectors.T

    def variances(self, rows: FloatArray, ridge: FloatArray) -> FloatArray:
        """Rows times Cov[u] / sigma^2 times rows, for every ridge: shape (..., n).

        Parameters
        ----------
        rows : ndarray of shape (n, d)
            Whitened directions.
        ridge : ndarray of shape (...)
            Ridge values.
        """
        inside = rows @ self.vectors
        result: FloatArray = (1 / (self.values**2 + ridge[..., None])) @ (inside**2).T
        if len(self.values) < rows.shape[1]:
            outside = rows - inside @ self.vectors.T
            result += np.einsum("ij,ij->i", outside, outside) / ridge[..., None]
        return result

    def spread(self, columns: FloatArray, ridge: float, power: float) -> FloatArray:
        """(Cov[u] / sigma^2)^power times columns, shape (d, m)."""
        inside = self.vectors.T @ columns
        result = self.vectors @ (inside / (self.values[:, None] ** 2 + ridge) ** power)
        if len(self.values) < columns.shape[0]:
            result += (columns - self.vectors @ inside) / ridge**power
        return result
