"""Rows of training that are kept to be compared with: examples of every label."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from separatrix._core import LabelExamples
from separatrix.errors import DataError
from separatrix.learners.extreme.index import PairCounts, starts_of

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
    rows : ndarray of shape (K,)
        Number of rows of each label.
    lengths : ndarray of shape (m,)
        Number of features of each row.
    features : ndarray
        The features, row by row, in 16 bits: see `slots`.
    worths : ndarray of shape (d,)
        What it is worth to share a feature, in 1/16: its inverse document frequency, scaled so
        that a row shares 12 with itself on average.
    """

    rows: npt.NDArray[Any]
    lengths: npt.NDArray[np.uint8]
    features: npt.NDArray[np.uint16]
    worths: npt.NDArray[np.uint8]

    @classmethod
    def none(cls, n_features: int, n_labels: int) -> Examples:
        """No examples at all."""
        none, nothing = np.zeros(n_labels, dtype=np.uint8), np.zeros(0, dtype=np.uint8)
        worths = np.zeros(n_features, dtype=np.uint8)
        return cls(none, nothing, np.zeros(0, dtype=np.uint16), worths)

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
        blocks = [
            _shortened(rows[kept[start : start + _BLOCK]], worths)
            for start in range(0, len(kept), _BLOCK)
        ]
        lengths = np.concatenate([block[0] for block in blocks])
        held = np.bincount(codes[kept], minlength=n_labels)
        features = np.concatenate([block[1] for block in blocks])
        return cls(held.astype(np.min_scalar_type(most)), lengths, features, worths), places

    @cached_property
    def handle(self) -> LabelExamples:
        """A handle for the kernels."""
        rows = starts_of(self.rows)
        starts = starts_of(self.lengths)[rows]
        return LabelExamples(rows, starts, self.lengths, self.features, self.worths)

    def __getstate__(self) -> dict[str, Any]:
        return {one.name: getattr(self, one.name) for one in fields(self)}

    def check(self, n_features: int, n_labels: int) -> None:
        """Raise DataError unless the arrays fit so many features and labels."""
        for name, found, expected in (
            ("rows", len(self.rows), n_labels),
            ("lengths", len(self.lengths), int(self.rows.sum(dtype=np.int64))),
            ("features", len(self.features), int(self.lengths.sum(dtype=np.int64))),
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
    rows: sp.csr_array, worths: npt.NDArray[np.uint8]
) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint16]]:
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
    return lengths.astype(np.uint8), slots(features, len(worths))


def slots(features: npt.NDArray[Any], n_features: int) -> npt.NDArray[np.uint16]:
    """Features in 16 bits: themselves among up to 2^16 of them, else a hash, as in the kernels.

    Examples
    --------
    >>> slots(np.array([7, 8]), 9).tolist(), slots(np.array([7, 8]), 2**17).tolist()
    ([7, 8], [21380, 61883])
    """
    if n_features > 2**16:
        features = (features.astype(np.uint32) * np.uint32(0x9E3779B1)) >> np.uint32(16)
    return features.astype(np.uint16)
