"""What a linear regression has to know of its data: means and a root of the scatter matrix.

With z_i = (x_i, y_i), weights c_i, W = sum c_i and m = sum c_i z_i / W, the matrix R holds

    R'R = sum_i c_i (z_i - m)(z_i - m)'

R rather than R'R is kept, since squaring would lose half of the digits; it has at most d + 1 rows,
and as many as there are data while these are fewer, so that N < D costs N x D. Two such summaries
merge exactly (Chan, Golub & LeVeque 1983, in square-root form).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.linalg
from scipy.linalg.blas import dsyrk

from separatrix._core import Dense
from separatrix._core import moments as core_moments
from separatrix.errors import DataError
from separatrix.validation import is_sparse

__all__ = ["Moments"]

FloatArray = npt.NDArray[np.float64]

#: Up to so many multiply-adds the root is found from the rows themselves.
_SMALL = 1 << 27
#: Cells of the data that are centered and decomposed at a time.
_BLOCK = 1 << 22
#: A share of a column's scatter below which the others explain it: then squaring has lost digits.
_EXPLAINED = 1e-8
#: Values up to this can be squared and summed.
_LARGEST = 1e150


@dataclass(frozen=True)
class Moments:
    """Summary of the rows (x, y) seen so far.

    Attributes
    ----------
    n_rows : int
        Rows of positive weight.
    total : float
        Sum W of the weights.
    mean : ndarray of shape (d + 1,)
        Weighted means of the features and, last, of the target.
    root : ndarray of shape (r, d + 1)
        R with R'R the weighted scatter matrix around the means, r <= d + 1.

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.array([[0.0], [1.0], [2.0]]), np.array([1.0, 3.0, 5.0])
    >>> whole = Moments.of(X, y)
    >>> parts = Moments.of(X[:1], y[:1]).merge(Moments.of(X[1:], y[1:]))
    >>> np.allclose(parts.root.T @ parts.root, whole.root.T @ whole.root)
    True
    """

    n_rows: int
    total: float
    mean: FloatArray
    root: FloatArray

    @classmethod
    def of(
        cls, X: Any, y: FloatArray, weights: FloatArray | None = None, n_threads: int = 1
    ) -> Self:
        """Summarize rows.

        Parameters
        ----------
        X : ndarray (C order) or CSR matrix of shape (n, d), float32 or float64
            Features. DataError names the first cell that is not finite.
        y : ndarray of shape (n,)
            Targets, finite.
        weights : ndarray of shape (n,), optional
            Weights, not negative; ones by default.
        n_threads : int, default=1
            Threads; the result does not depend on it.
        """
        n, width = X.shape[0], X.shape[1] + 1
        if not is_sparse(X) and n > 2 * width and n * width * width > _SMALL:
            found = cls._squared(X, y, weights, n_threads)
            if found is not None:
                return found
        if not is_sparse(X):
            Dense(X).check(n_threads)
        return reduce(cls.merge, cls._blocks(X, y, weights))

    def merge(self, other: Self) -> Self:
        """Summary of the rows of both."""
        if self.total == 0:
            return other
        if other.total == 0:
            return self
        total = self.total + other.total
        gap = other.mean - self.mean
        between = np.sqrt(self.total / total * other.total) * gap
        return type(self)(
            self.n_rows + other.n_rows,
            total,
            self.mean + gap * (other.total / total),
            _compress(np.vstack([self.root, other.root, between])),
        )

    @classmethod
    def _blocks(cls, X: Any, y: FloatArray, weights: FloatArray | None) -> Iterator[Self]:
        width = X.shape[1] + 1
        size = max(4 * width, _BLOCK // width)
        for start in range(0, X.shape[0], size):
            rows = X[start : start + size]
            values = rows.toarray() if is_sparse(rows) else rows
            z = np.empty((len(values), width))
            z[:, :-1] = values
            z[:, -1] = y[start : start + size]
            yield cls._rows(z, None if weights is None else weights[start : start + size])

    @classmethod
    def _rows(cls, z: FloatArray, weights: FloatArray | None) -> Self:
        """Summary of rows z, which are overwritten."""
        if weights is None:
            weights = np.ones(len(z))
        elif not weights.all():
            z, weights = z[weights > 0], weights[weights > 0]
        total = float(weights.sum())
        if total == 0:
            return cls(0, 0.0, np.zeros(z.shape[1]), np.empty((0, z.shape[1])))
        share = weights / total
        mean = share @ z
        z -= mean
        # What rounding left of the mean, which a large offset would blow up.
        rest = share @ z
        z -= rest
        z *= np.sqrt(weights)[:, None]
        if not (np.abs(z) < _LARGEST).all():
            raise DataError(
                "the values of X or y are too large: their squares overflow; scale them"
            )
        return cls(len(z), total, mean + rest, _compress(z))

    @classmethod
    def _squared(
        cls, X: Any, y: FloatArray, weights: FloatArray | None, n_threads: int
    ) -> Self | None:
        """Summary by the squared root, or None where its digits do not suffice."""
        design = Dense(X)
        sample = np.linspace(0, len(X) - 1, 1024).astype(np.intp)
        shift = np.append(X[sample].mean(axis=0, dtype=np.float64), y[sample].mean())
        if not np.isfinite(shift).all():
            return None
        gram = core_moments(design, y, weights, shift, n_threads)
        if not np.isfinite(gram).all() or gram[-1, -1] <= 0:
            return None
        total = float(gram[-1, -1])
        rest = gram[-1, :-1] / total
        scatter: FloatArray = gram[:-1, :-1] - total * np.outer(rest, rest)
        mean = shift + rest
        spread = np.diagonal(scatter)
        # A constant column leaves nothing but what rounding of its value leaves.
        live = np.flatnonzero(spread > total * (8 * np.finfo(np.float64).eps * mean) ** 2)
        inner = scatter[np.ix_(live, live)]
        try:
            factor = scipy.linalg.cholesky(inner, check_finite=False)
        except scipy.linalg.LinAlgError:
            return None
        if (np.diagonal(factor) ** 2 < _EXPLAINED * np.diagonal(inner)).any():
            return None
        root = np.zeros((len(live), len(mean)))
        root[:, live] = factor
        n_rows = len(X) if weights is None else int(np.count_nonzero(weights))
        return cls(n_rows, total, mean, root)

    def scatter(self) -> FloatArray:
        """R'R, of shape (d + 1, d + 1)."""
        upper: FloatArray = dsyrk(1.0, self.root, trans=1)
        return np.triu(upper) + np.triu(upper, 1).T


def _compress(rows: FloatArray) -> FloatArray:
    """A matrix with the same R'R and at most as many rows as columns."""
    if rows.shape[0] <= rows.shape[1]:
        return rows
    # With mode "r" numpy returns the triangle alone.
    return np.asarray(np.linalg.qr(rows, mode="r"))
