"""Scores of flat data: S = X W + 1 b', for dense and sparse X."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from separatrix._core import Csr, Dense, adjoint, row_adjoint, row_scores, scores
from separatrix.protocols import Array
from separatrix.validation import canonical, check_room

__all__ = [
    "Design",
    "FlatScores",
    "RowScores",
    "far_from_zero",
    "in_double",
    "in_place",
    "make_design",
]

#: Rows that tell where the columns of dense data lie, and how many times their spread the mean of a
#: column must exceed for centering to be worth a copy: it costs that factor in digits otherwise.
_SAMPLE, _FAR = 256, 100.0

Design: TypeAlias = Csr | Dense


def in_place(X: Any) -> Csr:
    """A handle on sparse rows that nobody has looked at; kernels check them on the way."""
    return Csr(X.indptr, X.indices, X.data, X.shape[1])


def make_design(X: npt.NDArray[Any] | sp.csr_array | sp.csr_matrix, n_threads: int) -> Design:
    """Hand a float32 or float64 matrix to the kernels, which read it where it lies.

    DataError names the first cell that is not finite or outside the matrix. Columns that stand
    twice in a row are added up in a copy; X is left as it is.
    """
    if not sp.issparse(X):
        dense = Dense(np.ascontiguousarray(X))
        dense.check(n_threads)
        return dense
    check_room(X.shape[1])
    design = in_place(X)
    if design.check(n_threads):
        design = in_place(canonical(X))
        design.check(n_threads)
    return design


def far_from_zero(design: Design) -> npt.NDArray[np.float64] | None:
    """The column means of dense data some columns of which lie far from zero, else None.

    Examples
    --------
    >>> far_from_zero(Dense(np.array([[1.0, 5001.0], [2.0, 5002.0], [3.0, 5003.0]])))
    array([2.000e+00, 5.002e+03])
    """
    values = getattr(design, "values", None)
    if values is None or 0 in values.shape:
        return None
    sample = values[:: max(1, len(values) // _SAMPLE)].astype(np.float64)
    first, n = sample[0].copy(), len(sample)
    with np.errstate(over="ignore", invalid="ignore"):
        # From the first row, so that squares keep the digits of what differs.
        sample -= first
        mean = np.add.reduce(sample) / n
        spread = np.einsum("ij,ij->j", sample, sample) / n - mean * mean
        spread = np.sqrt(np.maximum(spread, 0))
        if not spread.all():
            spread = np.where(spread > 0, spread, spread.max())
        if not (np.abs(first + mean) > _FAR * spread).any():
            return None
        means: npt.NDArray[np.float64] = values.mean(axis=0, dtype=np.float64)
    return means if np.isfinite(means).all() else None


def in_double(design: Design, means: npt.NDArray[np.float64] | None) -> Design:
    """A copy of the data in double precision, dense columns less their means."""
    values = getattr(design, "values", None)
    if values is None:
        return design.double()  # type: ignore[union-attr]
    double = values.astype(np.float64)
    if means is not None:
        double -= means
    return Dense(double)


class FlatScores:
    """The linear map w -> X W + 1 b' and its adjoint.

    Parameters
    ----------
    design : Csr or Dense
        The data, n rows and d columns.
    n_scores : int
        Number of scores K per row.
    intercept : bool
        Whether the last row of the weights holds intercepts.
    dtype : dtype
        Precision of the data; products are computed in it.
    n_threads : int
        Threads to use; the result does not depend on it.
    """

    def __init__(
        self,
        design: Design,
        n_scores: int,
        *,
        intercept: bool,
        dtype: npt.DTypeLike,
        n_threads: int = 1,
    ) -> None:
        self.design = design
        self.n_scores = n_scores
        self.intercept = intercept
        self.dtype = np.dtype(dtype)
        self.n_threads = n_threads

    @property
    def n_rows(self) -> int:
        """Number of examples."""
        return self.design.shape[0]

    @property
    def weight_shape(self) -> tuple[int, int]:
        """(d, K), or (d + 1, K) with intercepts."""
        return self.design.shape[1] + self.intercept, self.n_scores

    def __call__(self, w: Array) -> Array:
        """Scores of shape (n, K)."""
        return scores(self.design, np.ascontiguousarray(w, dtype=self.dtype), self.n_threads)

    def adjoint(self, ds: Array) -> Array:
        """X' ds with the column sums of ds below, float64, of the shape of the weights."""
        residuals = np.ascontiguousarray(ds, dtype=self.dtype)
        inner = adjoint(self.design, residuals, self.n_threads)
        if not self.intercept:
            return inner.astype(np.float64, copy=False)
        grad = np.empty(self.weight_shape)
        grad[:-1] = inner
        ds.sum(axis=0, dtype=np.float64, out=grad[-1])
        return grad

    def subset(self, rows: npt.NDArray[np.int64]) -> RowScores:
        """The same map for some of the rows: what a mini-batch sees."""
        return RowScores(self, rows)


class RowScores:
    """`FlatScores` of some rows, at a cost that does not depend on the others.

    Parameters
    ----------
    whole : FlatScores
        The map of all rows.
    rows : ndarray of shape (m,)
        Numbers of the rows, in any order.
    """

    def __init__(self, whole: FlatScores, rows: npt.NDArray[np.int64]) -> None:
        self.whole = whole
        self.rows = rows

    @property
    def n_rows(self) -> int:
        """Number of examples."""
        return len(self.rows)

    @property
    def weight_shape(self) -> tuple[int, int]:
        """(d, K), or (d + 1, K) with intercepts."""
        return self.whole.weight_shape

    def __call__(self, w: Array) -> Array:
        """Scores of shape (m, K)."""
        weights = np.ascontiguousarray(w, dtype=self.whole.dtype)
        return row_scores(self.whole.design, self.rows, weights)

    def adjoint(self, ds: Array) -> Array:
        """X' ds over these rows, float64, of the shape of the weights."""
        residuals = np.ascontiguousarray(ds, dtype=self.whole.dtype)
        grad = row_adjoint(self.whole.design, self.rows, residuals).astype(np.float64, copy=False)
        if self.whole.intercept:
            grad = np.vstack([grad, ds.sum(axis=0, dtype=np.float64)[None]])
        return grad
