"""CRFsuite files: a label and weighted attributes per item, sequences with blank lines between."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from separatrix._core import Block
from separatrix._core import read_crfsuite as parse_crfsuite
from separatrix._core import write_crfsuite as format_crfsuite
from separatrix.data.dataset import Dataset
from separatrix.data.formats.options import Options
from separatrix.data.formats.source import Origin, naming
from separatrix.data.formats.whole_files import write_atomically
from separatrix.data.sequences.attributes import as_attribute_sequences
from separatrix.data.sequences.containers import AttributeSequences, TokenColumn, Vocabulary
from separatrix.errors import DataError, FormatError

__all__ = ["chunks_crfsuite", "read_crfsuite", "write_crfsuite"]


def _dataset(block: Block, origin: Origin, options: Options) -> Dataset | None:
    offsets, (codes, labels), rows, attributes, weights = parse_crfsuite(block, options.n_threads)
    if len(offsets) < 2:
        return None
    starts, indices, values = rows
    vocabulary = Vocabulary(*attributes)
    shape = (len(starts) - 1, len(vocabulary))
    indptr: npt.NDArray[Any] = starts.astype(np.int32 if len(values) < 2**31 else np.int64)
    data = values.astype(options.dtype, copy=False)
    matrix = sp.csr_matrix((data, indices, indptr), shape=shape, copy=False)
    matrix.has_canonical_format = True
    return Dataset(
        "sequences",
        AttributeSequences(matrix, vocabulary, offsets),
        TokenColumn(codes, Vocabulary(*labels), offsets),
        target_name="label",
        sample_weight=weights if (weights != 1.0).any() else None,
        source=origin.name,
        format="crfsuite",
    )


def read_crfsuite(origin: Origin, format: str, options: Options) -> Dataset:
    """The whole file as a dataset."""
    with naming(origin.name):
        block = origin.open().block(None, True)
        data = None if block is None else _dataset(block, origin, options)
        if data is None:
            raise FormatError("there are no items")
        return data


def chunks_crfsuite(origin: Origin, format: str, n: int, options: Options) -> Iterator[Dataset]:
    """Datasets of at most `n` sequences; each has a vocabulary of its own."""
    with naming(origin.name):
        source = origin.open()
        found = False
        while (block := source.block(n, True)) is not None:
            data = _dataset(block, origin, options)
            if data is not None:
                found = True
                yield data
        if not found:
            raise FormatError("there are no items")


def write_crfsuite(
    path: str | os.PathLike[str],
    X: Any,
    y: Any,
    *,
    sample_weight: npt.ArrayLike | None = None,
) -> None:
    r"""Write labeled sequences as a CRFsuite file, whole or not at all.

    Parameters
    ----------
    path : str or path
        ``.gz`` at the end packs the file.
    X : AttributeSequences or sequence of sequences of items
        An item is a dict of attribute to weight, or a sequence of attributes.
    y : TokenColumn or sequence of sequences of labels
    sample_weight : array of shape (n_sequences,), optional
        Written as ``@weight:v`` where it is not one.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "train.crfsuite"
    >>> write_crfsuite(path, [[{"w=a:b": 1.0, "size": 2.5}, ["w=c"]]], [["B", "O"]])
    >>> print(path.read_text().expandtabs(8), end="")
    B       w=a\:b  size:2.5
    O       w=c
    <BLANKLINE>
    """
    sequences = as_attribute_sequences(X)
    labels = y if isinstance(y, TokenColumn) else TokenColumn.of(y)
    if not np.array_equal(sequences.offsets, labels.offsets):
        raise DataError("X and y have sequences of different lengths")
    if not (np.diff(labels.offsets) > 0).all():
        empty = int(np.argmin(np.diff(labels.offsets)))
        raise DataError(f"sequence {empty} is empty, which CRFsuite files cannot express")
    weights = np.array([], dtype=np.float64)
    if sample_weight is not None:
        weights = np.ascontiguousarray(sample_weight, dtype=np.float64)
    matrix, vocabulary = sequences.matrix, sequences.vocabulary
    if vocabulary is None:
        vocabulary = Vocabulary.of(map(str, range(matrix.shape[1])))
    text = format_crfsuite(
        np.ascontiguousarray(labels.offsets, dtype=np.int64),
        weights,
        labels.codes.astype(np.int64),
        (labels.vocabulary.data, labels.vocabulary.offsets),
        np.ascontiguousarray(matrix.indptr, dtype=np.int64),
        np.ascontiguousarray(matrix.indices, dtype=np.int64),
        np.ascontiguousarray(matrix.data, dtype=np.float64),
        (vocabulary.data, vocabulary.offsets),
    )
    write_atomically(path, [text])
