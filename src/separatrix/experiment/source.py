"""Any kind of data as a `Dataset`, and its fingerprint."""

from __future__ import annotations

import hashlib
import os
from typing import Any

import numpy as np
import numpy.typing as npt

from separatrix.data import Dataset, LabelSets, TokenColumn, TokenSequences, read
from separatrix.data.tables.assembly import TARGETS, find_column, with_schema, with_target
from separatrix.data.tables.columns import objects
from separatrix.errors import DataError
from separatrix.features.templates.columns import token_sequences
from separatrix.learners.multilabel import label_sets
from separatrix.validation import is_sparse

__all__ = ["as_dataset", "fingerprint"]

#: Values of a column of words that are hashed together.
_AT_ONCE = 4096


def as_dataset(data: Any, target: Any = "auto", **options: Any) -> Dataset:
    """A data set from a file, a DataFrame, arrays, or another data set.

    Parameters
    ----------
    data : path, Dataset, DataFrame, dict of columns, or (X, y)
        What to learn from; X and y may be sequences of tokens and of their labels, or images and
        their label images; y a binary matrix or lists of labels.
    target : str, int or "auto"
        The column to predict; "auto": the usual names, or the only column beside the texts.
    **options
        Those of `separatrix.data.read`, for files.

    Examples
    --------
    >>> data = as_dataset({"size": [1.0, 2.0], "class": ["a", "b"]})
    >>> data.kind, data.target_name, data.feature_names
    ('table', 'class', ('size',))
    """
    if isinstance(data, Dataset):
        found = data
        if target != "auto" and data.target_name != target:
            found = _with_target(data, target)
    elif isinstance(data, tuple) and len(data) == 2:
        found = _from_arrays(*data)
    elif isinstance(data, str | os.PathLike) or hasattr(data, "read"):
        given = {} if target == "auto" else {"target": target}
        found = read(data, **given, **options)
    else:
        columns = _columns(data)
        found = Dataset("table", columns, feature_names=tuple(columns), source="the table")
        found = _with_target(found, target)
    found = with_schema(found)
    return _guess_target(found) if found.y is None else found


def _from_arrays(X: Any, y: Any) -> Dataset:
    if isinstance(y, TokenColumn) or _are_sequences(X, y):
        return _from_sequences(X, y)
    if _are_label_images(y):
        return _from_pictures(X, y)
    labels = label_sets(y) if _are_sets(y) else np.asarray(y)
    if not isinstance(labels, LabelSets) and labels.ndim != 1:
        raise DataError(f"y must have one value for every row, got shape {labels.shape}")
    if isinstance(X, dict) or hasattr(X, "columns"):
        columns = _columns(X)
        found = Dataset("table", columns, labels, tuple(columns))
        n_rows = len(next(iter(columns.values()), ()))
    else:
        if not is_sparse(X):
            X = np.asarray(X)
        found, n_rows = _of_array(X, labels), int(X.shape[0])
    if n_rows != len(labels):
        raise DataError(f"X has {n_rows} rows, y has {len(labels)}")
    return found


def _are_sequences(X: Any, y: Any) -> bool:
    """Whether X holds tokens, and y a list of labels for every row."""
    lists = isinstance(y, list | tuple) and len(y) > 0 and isinstance(y[0], list | tuple)
    if isinstance(X, list | tuple) and len(X) and isinstance(X[0], str):
        return False  # texts; what they have is label sets
    return lists and (isinstance(X, TokenSequences) or not hasattr(X, "shape"))


def _are_label_images(y: Any) -> bool:
    """Whether y holds an array of lines of labels for every row."""
    if isinstance(y, np.ndarray) and y.dtype != object:
        return y.ndim == 3
    return isinstance(y, list | tuple | np.ndarray) and len(y) > 0 and np.ndim(y[0]) == 2


def _from_pictures(X: Any, y: Any) -> Dataset:
    if len(X) != len(y):
        raise DataError(f"there are {len(X)} images, but {len(y)} label images")
    images, labels = (objects([np.asarray(one) for one in part]) for part in (X, y))
    return Dataset("images", images, labels)


def _are_sets(y: Any) -> bool:
    """Whether y holds several labels for a row: a binary matrix, or collections."""
    if isinstance(y, LabelSets) or is_sparse(y):
        return True
    if isinstance(y, np.ndarray) and y.dtype != object:
        return y.ndim == 2
    if getattr(y, "ndim", 1) == 2:
        return True  # a DataFrame
    return len(y) > 0 and isinstance(next(iter(y)), list | tuple | set | frozenset | np.ndarray)


def _from_sequences(X: Any, y: Any) -> Dataset:
    tokens = token_sequences(X)
    labels = y if isinstance(y, TokenColumn) else TokenColumn.of(y)
    for number, (a, b) in enumerate(zip(tokens.lengths, labels.lengths, strict=False)):
        if a != b:
            raise DataError(f"sequence {number} has {a} tokens, but {b} labels")
    if len(tokens) != len(labels):
        raise DataError(f"X has {len(tokens)} sequences, y has {len(labels)}")
    return Dataset("sequences", tokens, labels, tokens.names)


def _of_array(X: Any, labels: Any) -> Dataset:
    if X.ndim == 1 and X.dtype.kind in "OU":
        return Dataset("text", X.astype(object), labels, ("text",), text_names=("text",))
    if X.ndim == 1 or X.dtype.kind not in "fiub":
        raise DataError(
            "X must be a matrix of numbers, a sequence of texts, a DataFrame or a dict of columns; "
            f"got an array of shape {X.shape} and type {X.dtype}"
        )
    values = X.data if is_sparse(X) else X
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        raise DataError(
            "X contains NaN or infinity; missing values are learned from in tables only: "
            "give a DataFrame, or a dict of columns"
        )
    return Dataset("images" if X.ndim > 2 else "matrix", X, labels)


def _columns(frame: Any) -> dict[str, npt.NDArray[Any]]:
    """Columns of a DataFrame or dict, missing strings as None."""
    if isinstance(frame, dict):
        columns = {str(name): np.asarray(values) for name, values in frame.items()}
    else:
        import narwhals.stable.v1 as nw

        table = nw.from_native(frame, eager_only=True)
        # By position: pandas has columns whose names are numbers.
        columns = {
            str(name): np.asarray(table[:, at].to_numpy()) for at, name in enumerate(table.columns)
        }
    lengths = {len(values) for values in columns.values()}
    if len(lengths) > 1:
        raise DataError(f"the columns have different lengths: {sorted(lengths)}")
    return {name: _plain(values) for name, values in columns.items()}


def _plain(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    if values.dtype.kind not in "OUS":
        return values
    held = values.astype(object)
    for row, value in enumerate(held):
        if isinstance(value, np.ndarray):
            held[row] = value.tolist()  # a list, as Parquet's readers give it
        elif value is not None and value != value:
            held[row] = None
    return held


def _with_target(data: Dataset, target: Any) -> Dataset:
    """The data set with another of its columns as the target."""
    if not isinstance(data.X, dict):
        raise DataError(f"{data.source or 'the data'} holds a {data.kind}, which has no columns")
    names = list(data.X)
    if target == "auto":
        usual = [name for name in names if name.strip().lower() in TARGETS]
        if len(usual) != 1:
            return data
        target = usual[0]
    return with_target(data, find_column(target, names, "target"))


def _guess_target(data: Dataset) -> Dataset:
    """The only column beside the texts that has a value in every row, and not always the same."""
    if not isinstance(data.X, dict) or not data.text_names:
        return data
    others = [
        name
        for name, values in data.X.items()
        if name not in data.text_names
        and all(value is not None and value == value for value in values)
        and len(set(values.tolist())) > 1
    ]
    return _with_target(data, others[0]) if len(others) == 1 else data


def fingerprint(data: Dataset) -> str:
    """SHA-256 of the rows and the target, as hexadecimal digits.

    Examples
    --------
    >>> len(fingerprint(Dataset("matrix", np.zeros((2, 1)), np.array([0, 1]))))
    64
    """
    digest = hashlib.sha256()

    def add(part: Any) -> None:
        if isinstance(part, dict):
            for name, values in part.items():
                digest.update(repr(name).encode())
                add(values)
        elif isinstance(part, TokenSequences):
            add(part.columns)
        elif isinstance(part, TokenColumn):
            for array in (part.codes, part.offsets, part.vocabulary.array):
                add(array)
        elif is_sparse(part):
            for array in (part.data, part.indices, part.indptr):
                add(np.asarray(array))
        elif isinstance(part, np.ndarray) and part.dtype != object:
            digest.update(f"{part.dtype.str}{part.shape}".encode())
            digest.update(np.ascontiguousarray(part).reshape(-1).view(np.uint8).data)
        elif isinstance(part, np.ndarray) and len(part) and isinstance(part[0], np.ndarray):
            for one in part:
                add(one)
        elif part is not None:
            values = list(part)
            for first in range(0, len(values), _AT_ONCE):
                words = "\0".join(map(repr, values[first : first + _AT_ONCE])) + "\0"
                digest.update(words.encode("utf-8", "surrogatepass"))

    add(data.X)
    add(data.y)
    return digest.hexdigest()
