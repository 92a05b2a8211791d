"""Rows put together from the entries of one column after the other."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

__all__ = ["Encoded", "Part", "assemble", "distinct", "fill"]


class Part(NamedTuple):
    """Some entries, at most one per row unless `starts` says how many each row has.

    Attributes
    ----------
    rows : ndarray or None
        Rows, rising; None for all of them, and with `starts`.
    columns : ndarray or int
        Columns within the encoder's own.
    values : ndarray or float
        Values.
    starts : ndarray or None
        Row pointer of a block with any number of entries per row.
    """

    rows: npt.NDArray[np.intp] | None
    columns: Any
    values: Any
    starts: npt.NDArray[Any] | None = None


class Encoded(NamedTuple):
    """A column as entries, and how many of its values were not known."""

    parts: list[Part]
    n_unseen: int = 0


def distinct(names: list[str]) -> list[str]:
    """The names with a number behind those that stand there already."""
    taken: set[str] = set()
    for k, name in enumerate(names):
        number = 1
        while names[k] in taken:
            number += 1
            names[k] = f"{name}#{number}"
        taken.add(names[k])
    return names


def assemble(
    parts: list[tuple[int, Part]], shape: tuple[int, int], dtype: np.dtype[Any]
) -> sp.csr_matrix:
    """Rows from parts whose columns follow each other: counted, then filled in without a sort."""
    n = shape[0]
    parts = [(base, _nonzero(part)) for base, part in parts]
    lengths = np.zeros(n, dtype=np.int64)
    for _, part in parts:
        if part.starts is not None:
            lengths += np.diff(part.starts)
        else:
            lengths[part.rows] += 1
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    narrow = max(indptr[-1], shape[1]) < 2**31
    indices = np.empty(indptr[-1], dtype=np.int32 if narrow else np.int64)
    data = np.empty(indptr[-1], dtype=dtype)
    cursor = indptr[:-1].copy()
    for base, part in parts:
        if part.starts is not None:
            counts = np.diff(part.starts)
            at = np.repeat(cursor - part.starts[:-1], counts) + np.arange(len(part.values))
            cursor += counts
        else:
            at = cursor[part.rows]
            cursor[part.rows] += 1
        indices[at] = base + part.columns
        data[at] = part.values
    return sp.csr_matrix((data, indices, indptr.astype(indices.dtype)), shape=shape, copy=False)


def fill(parts: list[tuple[int, Part]], dense: npt.NDArray[Any]) -> None:
    """Write the same rows into a dense array of zeros."""
    n_rows, width = dense.shape
    flat = dense.reshape(-1)
    for base, part in parts:
        if part.starts is not None:
            at = np.repeat(np.arange(n_rows) * width, np.diff(part.starts))
            flat[at + (base + part.columns)] = part.values
        elif part.rows is None:
            dense[:, base + part.columns] = part.values
        else:
            flat[part.rows * width + (base + part.columns)] = part.values


def _nonzero(part: Part) -> Part:
    """The part without zeros, where it has a value for every row."""
    if part.rows is not None or part.starts is not None:
        return part
    rows = np.flatnonzero(part.values)
    return Part(rows, part.columns, part.values[rows])
