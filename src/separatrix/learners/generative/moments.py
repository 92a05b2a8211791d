"""Sufficient statistics of Gaussian classes: counts, means and scatters that merge exactly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from separatrix._core import Dense, class_scatter

__all__ = ["ClassMoments"]

FloatArray = npt.NDArray[np.float64]

#: Rows whose higher moments are taken at a time.
_BLOCK = 8192


@dataclass(frozen=True, eq=False)
class ClassMoments:
    """What was seen of K classes and d columns.

    Attributes
    ----------
    count : ndarray of shape (K,)
        Weight of the rows of every class.
    mean : ndarray of shape (K, d)
        Means; 0 for a class without rows.
    scatter : ndarray of shape (1, d, d) or (K, d, d)
        Sum of c_i y_i y_i' with y = x - mean of its class: of all classes together, or of each.
    third, fourth : ndarray of shape (K, d, d) or None
        Sums of c_i (y_a^2 y_b) and of c_i (y_a^2 y_b^2), which Ledoit and Wolf's shrinkage needs.
    """

    count: FloatArray
    mean: FloatArray
    scatter: FloatArray
    third: FloatArray | None = None
    fourth: FloatArray | None = None

    @classmethod
    def of(
        cls,
        X: npt.NDArray[Any],
        codes: npt.NDArray[np.int64],
        weights: FloatArray | None,
        n_classes: int,
        *,
        shared: bool,
        higher: bool,
        n_threads: int,
    ) -> ClassMoments:
        """The statistics of the rows of X, which is finite, dense and in C order."""
        d, pooled = X.shape[1], shared and not higher
        count, mean, flat = class_scatter(Dense(X), codes, weights, n_classes, pooled, n_threads)
        scatter = flat.reshape(-1, d, d)
        _refuse_overflow(mean, scatter)
        if not higher:
            return cls(count, mean, scatter)
        third, fourth = np.zeros_like(scatter), np.zeros_like(scatter)
        for k in range(n_classes):
            rows = np.flatnonzero(codes == k)
            for first in range(0, len(rows), _BLOCK):
                some = rows[first : first + _BLOCK]
                y = X[some] - mean[k]
                squares = y**2
                weighted = squares if weights is None else weights[some, None] * squares
                third[k] += weighted.T @ y
                fourth[k] += weighted.T @ squares
        _refuse_overflow(third, fourth)
        return cls(count, mean, scatter, third, fourth)

    def merge(self, other: ClassMoments) -> ClassMoments:
        """The statistics of both sets of rows (Chan, Golub & LeVeque 1983)."""
        count = self.count + other.count
        share = np.divide(other.count, count, out=np.zeros_like(count), where=count > 0)[:, None]
        delta = other.mean - self.mean
        mean = self.mean + share * delta
        between = (self.count[:, None] * share)[:, :, None] * delta[:, :, None] * delta[:, None, :]
        if len(self.scatter) == 1:
            between = between.sum(axis=0, keepdims=True)
        third = fourth = None
        if self.third is not None and other.third is not None:
            parts = []
            for part, step in ((self, share * delta), (other, (share - 1) * delta)):
                assert part.third is not None
                assert part.fourth is not None
                parts.append(_shifted(part.count, part.scatter, part.third, part.fourth, step))
            third, fourth = parts[0][0] + parts[1][0], parts[0][1] + parts[1][1]
        return ClassMoments(count, mean, self.scatter + other.scatter + between, third, fourth)

    def spread(self, codes: npt.NDArray[np.intp], n_classes: int) -> ClassMoments:
        """The same statistics among more classes: class k here is class codes[k] there."""

        def wide(array: FloatArray) -> FloatArray:
            result = np.zeros((n_classes, *array.shape[1:]))
            result[codes] = array
            return result

        return ClassMoments(
            wide(self.count),
            wide(self.mean),
            self.scatter if len(self.scatter) == 1 else wide(self.scatter),
            None if self.third is None else wide(self.third),
            None if self.fourth is None else wide(self.fourth),
        )

    def covariances(self, shrinkage: float | str | None) -> FloatArray:
        """Covariances of shape (1, d, d) or (K, d, d), divided by the counts, and shrunk.

        A number s gives (1 - s) S + s tr(S) / d I; "auto" is Ledoit and Wolf's on standardized
        columns, class by class, as in scikit-learn.
        """
        if len(self.scatter) == 1:
            total = self.count.sum()
        else:
            total = np.where(self.count > 0, self.count, 1.0)[:, None, None]
        plain: FloatArray = self.scatter / total
        if shrinkage is None:
            return plain
        if shrinkage == "auto":
            assert self.fourth is not None
            return np.stack(
                [
                    _ledoit_wolf(n, *parts)
                    for n, *parts in zip(self.count, plain, self.fourth, strict=True)
                ]
            )
        share = float(shrinkage)
        d = plain.shape[1]
        shrunk: FloatArray = (1 - share) * plain
        shrunk[:, np.arange(d), np.arange(d)] += (
            share * np.trace(plain, axis1=1, axis2=2)[:, None] / d
        )
        return shrunk


def _refuse_overflow(*moments: FloatArray) -> None:
    if not all(np.isfinite(one).all() for one in moments):
        raise FloatingPointError("the moments of the classes are not finite; scale the features")


def _shifted(
    count: FloatArray,
    scatter: FloatArray,
    third: FloatArray,
    fourth: FloatArray,
    step: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Third and fourth moments of y - step, from the moments of y, whose sum is zero.

    Expands sum (y_a - s_a)^2 (y_b - s_b) and sum (y_a - s_a)^2 (y_b - s_b)^2.
    """
    a, b = step[:, :, None], step[:, None, :]
    n = count[:, None, None]
    square_a = np.diagonal(scatter, axis1=1, axis2=2)[:, :, None]
    square_b = np.swapaxes(square_a, 1, 2)
    new_third = third - b * square_a - 2 * a * scatter - n * a**2 * b
    new_fourth = (
        fourth
        - 2 * b * third
        - 2 * a * np.swapaxes(third, 1, 2)
        + b**2 * square_a
        + a**2 * square_b
        + 4 * a * b * scatter
        + n * a**2 * b**2
    )
    return new_third, new_fourth


def _ledoit_wolf(n: float, covariance: FloatArray, fourth: FloatArray) -> FloatArray:
    """Ledoit & Wolf (2004), lemma 3.2 ff., on columns divided by their standard deviations."""
    d = len(covariance)
    if n <= 0 or d == 1:
        return covariance
    variance = np.diagonal(covariance)
    scale = np.where(variance > 0, np.sqrt(np.maximum(variance, 0.0)), 1.0)
    outer = np.outer(scale, scale)
    unit = covariance / outer
    mu = np.trace(unit) / d
    squared = float((unit**2).sum())
    noise = (float((fourth / outer**2).sum()) / n - squared) / (d * n)
    distance = (squared - 2 * mu * np.trace(unit) + d * mu**2) / d
    noise = min(noise, distance)
    share = 0.0 if noise <= 0 else noise / distance
    shrunk: FloatArray = ((1 - share) * unit + share * mu * np.eye(d)) * outer
    return shrunk
