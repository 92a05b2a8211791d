"""Rows of training that are kept to be compared with: examples of every label."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from separatrix._core import LabelExamples
from separatrix.errors import DataError
from separatrix.learners.extreme.index import PairCounts

__all__ = ["Examples"]

#: Units of a natural logarithm.
_UNITS = 16.0
#: What all features of an average row are worth together, in natural logarithms.
_FULL = 12.0
#: Features of an example that are kept, the rarest first.
_LONGEST = 64
#: Rows that are shortened at a time, so that memory is that of the result.
_BLOCK = 2**18
#: The place of a row that is no example.
_NOT_KEPT = 2**32 - 1


@dataclass(frozen=True)
class Examples:
    """The features of some rows of every label.

    Attributes
    ----------
    rows, starts : ndarray of shape (K + 1,)
        Where the rows of each label start in `lengths`, and their features in `features`.
    lengths : ndarray of shape (m,)
        Number of features of each row.
    features : ndarray
        The features, row by row.
    worths : ndarray of shape (d,)
        What it is worth to share a feature, in 1/16: its inverse document frequency, scaled so
        that a row shares 12 with itself on average.
    """

    rows: npt.NDArray[np.int64]
    starts: npt.NDArray[np.int64]
    lengths: npt.NDArray[np.uint8]
    features: npt.NDArray[Any]
    worths: npt.NDArray[np.uint8]

    @classmethod
    def none(cls, n_features: int, n_labels: int) -> Examples:
        """No examples at all."""
        starts = np.zeros(n_labels + 1, dtype=np.int64)
        nothing = np.zeros(0, dtype=np.uint8)
        worths = np.zeros(n_features, dtype=np.uint8)
        return cls(starts, starts, nothing, np.zeros(0, dtype=np.uint16), worths)

    @classmethod
    def of(
        cls,
        rows: sp.csr_array,
        codes: npt.NDArray[Any],
        counts: PairCounts,
        most: int,
        generator: np.random.RandomState,
    ) -> tuple[Examples, npt.NDArray[np.uint32]]:
        """Keep at most `most` rows of every label, drawn at random.

        Returns the examples and the place of every row among them (2^32 - 1 where it is none).
        """
        n, n_labels = rows.shape[0], len(counts.label_rows)
        worths = _worths(counts, n)
        order = generator.permutation(n) if counts.label_rows.max() > most else np.arange(n)
        order = order[np.argsort(codes[order], kind="stable")]
        first = np.searchsorted(codes[order], np.arange(n_labels))
        kept = order[np.arange(n) - first[codes[order]] < most]
        places = np.full(n, _NOT_KEPT, dtype=np.uint32)
        places[kept] = np.arange(len(kept), dtype=np.uint32)
        dtype = np.uint16 if len(worths) <= 2**16 else np.uint32
        blocks = [
            _shortened(rows[kept[start : start + _BLOCK]], worths, dtype)
            for start in range(0, len(kept), _BLOCK)
        ]
        lengths = np.concatenate([block[0] for block in blocks])
        ends = np.searchsorted(codes[kept], np.arange(n_labels + 1)).astype(np.int64)
        starts = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])[ends]
        features = np.concatenate([block[1] for block in blocks])
        return cls(ends, starts, lengths, features, worths), places

    def handle(self) -> LabelExamples:
        """A handle for the kernels."""
        return LabelExamples(self.rows, self.starts, self.lengths, self.features, self.worths)

    def check(self, n_features: int, n_labels: int) -> None:
        """Raise DataError unless the arrays fit so many features and labels."""
        for name, found, expected in (
            ("rows", len(self.rows), n_labels + 1),
            ("starts", len(self.starts), n_labels + 1),
            ("worths", len(self.worths), n_features),
        ):
            if found != expected:
                raise DataError(f"{name} of the examples has length {found}, expected {expected}")


def _worths(counts: PairCounts, n_rows: int) -> npt.NDArray[np.uint8]:
    """Inverse document frequencies in 1/16, scaled to `_FULL` per row."""
    worths = np.log(n_rows / np.maximum(counts.frequency, 1))
    # Values are one on average, so this is what a row is worth to itself.
    own = float(counts.mass @ worths) / n_rows
    units = _UNITS * _FULL / own if own > 0 else 0.0
    return np.rint(units * worths).clip(0, 255).astype(np.uint8)


def _shortened(
    rows: sp.csr_array, worths: npt.NDArray[np.uint8], dtype: Any
) -> tuple[npt.NDArray[np.uint8], npt.NDArray[Any]]:
    """Lengths and features of the rows: the worthiest of each, none that is worth nothing."""
    owners = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    good = worths[rows.indices] > 0
    owners, features = owners[good], rows.indices[good]
    lengths = np.bincount(owners, minlength=rows.shape[0])
    if lengths.max(initial=0) > _LONGEST:
        order = np.lexsort((-worths[features].astype(np.int64), owners))
        first = np.cumsum(lengths) - lengths
        kept = np.sort(order[np.arange(len(order)) - first[owners] < _LONGEST])
        features, lengths = features[kept], np.minimum(lengths, _LONGEST)
    return lengths.astype(np.uint8), features.astype(dtype)
