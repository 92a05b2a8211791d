"""How often every feature meets every label, in rows of equal mean value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from separatrix._core import LabelCounts
from separatrix.errors import DataError

__all__ = ["PairCounts", "check_no_empty_rows", "relative_rows"]

FloatVector = npt.NDArray[np.float32]


def relative_rows(X: Any) -> sp.csr_array:
    """Rows in float32, scaled so that their mean stored value is one; rows of zeros stay.

    Examples
    --------
    >>> relative_rows(sp.csr_array([[0.0, 1.0, 3.0], [0.5, 0.5, 0.0]])).toarray()
    array([[0. , 0.5, 1.5],
           [1. , 1. , 0. ]], dtype=float32)
    """
    X = sp.csr_array(X, dtype=np.float64, copy=True)
    X.eliminate_zeros()
    lengths = np.diff(X.indptr)
    sums = np.asarray(X.sum(axis=1)).ravel()
    means = np.where(sums > 0, sums, 1.0) / np.maximum(lengths, 1)
    X.data /= np.repeat(means, lengths)
    return sp.csr_array(X, dtype=np.float32)


def check_no_empty_rows(rows: sp.csr_array) -> None:
    """Raise DataError naming the first row without a value other than zero."""
    owners = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    empty = np.flatnonzero(np.bincount(owners[rows.data != 0], minlength=rows.shape[0]) == 0)
    if len(empty):
        raise DataError(
            f"row {empty[0]} has no features ({len(empty)} such rows): it says nothing about "
            "its label; drop such rows before fitting"
        )


@dataclass(frozen=True)
class PairCounts:
    """Counts c_fy of features f and labels y, feature by feature.

    Attributes
    ----------
    pairs : CSR array of shape (d, K)
        The counts, labels rising within a feature.
    shares : ndarray of shape (d,)
        Share p_f of each feature in all counts.
    label_mass : ndarray of shape (K,)
        L_y, the sum of the counts of a label.
    label_rows : ndarray of shape (K,)
        n_y, the rows of a label.
    """

    pairs: sp.csr_array
    shares: FloatVector
    label_mass: FloatVector
    label_rows: FloatVector

    @classmethod
    def of(cls, rows: sp.csr_array, codes: npt.NDArray[np.int64], n_labels: int) -> PairCounts:
        """Count rows (from `relative_rows`) with the label numbers `codes`."""
        n = rows.shape[0]
        check_no_empty_rows(rows)
        ones = np.ones(n, dtype=np.float32)
        labels = sp.csr_array((ones, (np.arange(n), codes)), shape=(n, n_labels))
        pairs = sp.csr_array(rows.T.tocsr() @ labels)
        pairs.sort_indices()
        mass = np.asarray(pairs.sum(axis=1), dtype=np.float64).ravel()
        # A feature that never occurs must not have the share 0, as its weight is divided by it.
        shares = np.maximum(mass, 0.5) / mass.sum()
        return cls(
            pairs,
            shares.astype(np.float32),
            np.bincount(codes, np.diff(rows.indptr), n_labels).astype(np.float32),
            np.bincount(codes, minlength=n_labels).astype(np.float32),
        )

    def handle(self) -> LabelCounts:
        """A handle for the kernels."""
        return LabelCounts(
            self.pairs.indptr.astype(np.int64),
            self.pairs.indices.astype(np.int32, copy=False),
            self.pairs.data.astype(np.float32, copy=False),
            self.shares,
            self.label_mass,
            self.label_rows,
        )
