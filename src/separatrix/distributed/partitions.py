"""Dask collections as lists of partitions that belong together."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.errors import DataError
from separatrix.validation import is_dask

__all__ = ["Partitions", "partitions_of"]


@dataclass(frozen=True)
class Partitions:
    """The partitions of X, y and weights, one triple for each.

    Attributes
    ----------
    parts : list of (X, y, weights)
        Delayed values, or plain ones of a partition; y and weights may be None.
    """

    parts: list[tuple[Any, Any, Any]]

    def __len__(self) -> int:
        return len(self.parts)

    def numbered(self) -> list[tuple[Any, ...]]:
        """(number, X, y, weights) of every partition."""
        return [(number, *part) for number, part in enumerate(self.parts)]


def partitions_of(X: Any, y: Any = None, sample_weight: Any = None) -> Partitions:
    """Split X, y and weights into partitions by the rows of X.

    Parameters
    ----------
    X : dask Array, DataFrame, Series or Bag
        The examples. The chunks of an array must not cut its columns; those that do are joined.
    y, sample_weight : dask collection, array-like or None
        One entry per example. Dask collections have the partitions of X (arrays with known chunks
        are cut anew); plain arrays need an X whose partitions are of known lengths.

    Examples
    --------
    >>> import dask.array as da
    >>> found = partitions_of(da.ones((10, 2), chunks=(4, 1)), np.arange(10))
    >>> len(found), found.parts[2][1]
    (3, array([8, 9]))
    """
    if not is_dask(X):
        raise TypeError(
            f"X is a {type(X).__module__}.{type(X).__name__}; separatrix.distributed takes dask "
            "arrays, DataFrames and bags (for data in memory use the estimator's own methods)"
        )
    lengths: list[int] | None = None
    if hasattr(X, "chunks") and hasattr(X, "rechunk"):
        if X.ndim > 1 and X.numblocks[1] > 1:
            X = X.rechunk({1: -1})
        chunks = X.chunks[0]
        lengths = None if any(math.isnan(n) for n in chunks) else [int(n) for n in chunks]
        rows = list(X.to_delayed().ravel())
    elif hasattr(X, "to_delayed"):
        rows = list(X.to_delayed())
    else:
        raise TypeError(
            f"X is a dask {type(X).__name__}; expected a dask Array, DataFrame, Series or Bag"
        )
    columns = [
        _aligned(name, values, len(rows), lengths)
        for name, values in (("y", y), ("sample_weight", sample_weight))
    ]
    return Partitions(list(zip(rows, *columns, strict=True)))


def _aligned(name: str, values: Any, count: int, lengths: list[int] | None) -> list[Any]:
    """One entry per partition of X."""
    if values is None:
        return [None] * count
    if not is_dask(values):
        return _cut(name, values, lengths)
    if hasattr(values, "rechunk"):
        known = not any(math.isnan(n) for n in values.chunks[0])
        if known and lengths is not None:
            if sum(values.chunks[0]) != sum(lengths):
                raise DataError(
                    "Found input variables with inconsistent numbers of samples: X has "
                    f"{sum(lengths)} rows, {name} has {int(sum(values.chunks[0]))}"
                )
            values = values.rechunk({0: tuple(lengths)})
        parts = list(values.to_delayed().ravel())
    else:
        parts = list(values.to_delayed())
    if len(parts) != count:
        raise DataError(
            f"X has {count} partitions, {name} has {len(parts)}; give both the same partitions "
            "(repartition one of them, or make them from one collection)"
        )
    return parts


def _cut(name: str, values: Any, lengths: list[int] | None) -> list[Any]:
    if lengths is None:
        raise DataError(
            f"{name} is no dask collection, and the lengths of the partitions of X are not known; "
            f"give {name} as a dask Array, Series or Bag with the partitions of X"
        )
    array = np.asarray(values)
    if len(array) != sum(lengths):
        raise DataError(
            "Found input variables with inconsistent numbers of samples: X has "
            f"{sum(lengths)} rows, {name} has {len(array)}"
        )
    return np.split(array, np.cumsum(lengths)[:-1])
