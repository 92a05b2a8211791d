"""svmlight / LIBSVM files: sparse rows with one label, several or none, and queries."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from separatrix._core import Block
from separatrix._core import read_svmlight as parse_svmlight
from separatrix._core import write_svmlight as format_svmlight
from separatrix.data.dataset import Dataset, LabelSets
from separatrix.data.formats.options import Options
from separatrix.data.formats.source import Origin, naming
from separatrix.data.formats.whole_files import write_atomically
from separatrix.errors import DataError, FormatError
from separatrix.validation import canonical

__all__ = ["chunks_svmlight", "read_svmlight", "write_svmlight"]

#: Lines that the first look at a streamed file holds at a time, and rows written at a time.
_SCAN_LINES = 50_000
_WRITE_ROWS = 20_000


def _labels(
    labels: npt.NDArray[np.float64],
    starts: npt.NDArray[np.int64],
    several: int | None,
    none: int | None,
    multilabel: bool | str,
) -> npt.NDArray[np.float64] | LabelSets:
    """One label a row, or sets of them."""
    if multilabel is True or (multilabel == "auto" and several is not None):
        whole = bool(((labels == np.round(labels)) & (np.abs(labels) < 2**63)).all())
        return LabelSets(labels.astype(np.int64) if whole else labels, starts)
    if several is not None:
        raise FormatError("several labels (multilabel=False)", several)
    if none is not None:
        raise FormatError("no label; pass multilabel=True where rows may have none", none)
    return labels


def _dataset(block: Block, origin: Origin, options: Options, zero_based: bool | None) -> Dataset:
    (labels, starts), query, (indptr, indices, values), width, _, odd = parse_svmlight(
        block, zero_based, options.n_features, options.n_threads
    )
    y = _labels(labels, starts, *odd, options.multilabel)
    data = values.astype(options.dtype, copy=False)
    X = sp.csr_matrix((data, indices, indptr), shape=(len(indptr) - 1, width), copy=False)
    X.has_sorted_indices = True
    X.has_canonical_format = True
    return Dataset("matrix", X, y, query=query, source=origin.name, format="svmlight")


def read_svmlight(origin: Origin, format: str, options: Options) -> Dataset:
    """The whole file as a dataset."""
    with naming(origin.name):
        block = origin.open().block(None, False)
        zero_based = None if options.zero_based == "auto" else bool(options.zero_based)
        if block is not None:
            data = _dataset(block, origin, options, zero_based)
            if len(data):
                return data
        raise FormatError("there are no rows")


def _scan(origin: Origin, options: Options) -> tuple[bool, int, bool]:
    """Whether indices count from zero, the number of columns, and whether labels are sets."""
    source = origin.open()
    smallest, largest, several = None, -1, False
    while (block := source.block(_SCAN_LINES, False)) is not None:
        read = parse_svmlight(block, True, None, options.n_threads)
        indices = read[2][1]
        if len(indices):
            low = int(indices.min())
            smallest = low if smallest is None else min(low, smallest)
            largest = max(largest, int(indices.max()))
        several = several or read[5][0] is not None
    if options.zero_based == "auto":
        zero_based = smallest is None or smallest == 0
    else:
        zero_based = bool(options.zero_based)
    width = largest + int(zero_based) if options.n_features is None else options.n_features
    return zero_based, max(width, 0), several


def chunks_svmlight(origin: Origin, format: str, n: int, options: Options) -> Iterator[Dataset]:
    """Datasets of at most `n` rows with equally many columns.

    A first pass finds what is not given of `n_features`, `zero_based` and `multilabel`.
    """
    with naming(origin.name):
        known = options.zero_based != "auto" and options.multilabel != "auto"
        if known and options.n_features is not None:
            zero_based = bool(options.zero_based)
        else:
            zero_based, width, several = _scan(origin, options)
            multilabel = several if options.multilabel == "auto" else options.multilabel
            options = replace(options, n_features=width, multilabel=multilabel)
        source = origin.open()
        queries: bool | None = None
        rows = 0
        while (block := source.block(n, False)) is not None:
            data = _dataset(block, origin, options, zero_based)
            if not len(data):
                continue
            if queries is not None and queries != (data.query is not None):
                raise FormatError("rows with and without qid", block.first_line)
            queries = data.query is not None
            rows += len(data)
            yield data
        if not rows:
            raise FormatError("there are no rows")


def write_svmlight(
    path: str | os.PathLike[str],
    X: Any,
    y: Any,
    *,
    query: npt.ArrayLike | None = None,
    zero_based: bool = False,
    comment: str | None = None,
) -> None:
    r"""Write rows and labels as an svmlight file, whole or not at all.

    Numbers are written in the fewest digits that read back as the same double. Stored zeros are
    written, others not. Where the last columns are empty, reading needs ``n_features``.

    Parameters
    ----------
    path : str or path
        ``.gz`` at the end packs the file.
    X : array or sparse matrix of shape (n, d)
    y : array of shape (n,), LabelSets or sequence of label sets
        Numbers. Sets of labels are written as ``l1,l2``.
    query : array of shape (n,), optional
        Query of each row, written as ``qid:q``.
    zero_based : bool
        Count columns from 0 instead of 1. A file whose first column is empty then reads back
        shifted unless it is read with ``zero_based=True``.
    comment : str, optional
        Written at the top, every line after a ``#``.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "train.svm"
    >>> write_svmlight(path, [[0.5, 0, 2]], [1])
    >>> path.read_text()
    '1 1:0.5 3:2\n'
    """
    matrix = sp.csr_matrix(X, dtype=np.float64, copy=False)
    if not matrix.has_sorted_indices or not matrix.has_canonical_format:
        matrix = canonical(matrix)
    labels, starts = _label_arrays(y)
    if len(starts) - 1 != matrix.shape[0]:
        raise DataError(f"X has {matrix.shape[0]} rows, y has {len(starts) - 1}")
    queries = np.array([], dtype=np.int64)
    if query is not None:
        queries = np.ascontiguousarray(query, dtype=np.int64)
        if len(queries) != matrix.shape[0]:
            raise DataError(f"X has {matrix.shape[0]} rows, query has {len(queries)}")
    indptr = np.ascontiguousarray(matrix.indptr, dtype=np.int64)
    indices = np.ascontiguousarray(matrix.indices, dtype=np.int64)
    values = np.ascontiguousarray(matrix.data, dtype=np.float64)

    def text() -> Iterator[bytes]:
        if comment is not None:
            yield "".join(f"# {line}\n" for line in comment.splitlines()).encode()
        for first in range(0, matrix.shape[0], _WRITE_ROWS):
            last = min(first + _WRITE_ROWS, matrix.shape[0])
            yield format_svmlight(
                labels, starts, queries, indptr, indices, values, int(not zero_based), first, last
            )

    write_atomically(path, text())


def _label_arrays(y: Any) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
    if not isinstance(y, LabelSets):
        sets = not isinstance(y, np.ndarray) and len(y) and isinstance(y[0], list | tuple | set)
        if not sets:
            try:
                labels = np.ascontiguousarray(y, dtype=np.float64)
            except (TypeError, ValueError):
                raise DataError("svmlight labels must be numbers; encode names first") from None
            return labels, np.arange(len(labels) + 1, dtype=np.int64)
        y = LabelSets.of([sorted(labels) for labels in y])
    try:
        flat = np.ascontiguousarray(y.labels, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError("svmlight labels must be numbers; encode names first") from None
    return flat, np.ascontiguousarray(y.offsets, dtype=np.int64)
