"""Documents as users have them: lists, Arrow, pandas and polars columns, arrays, generators."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np

from separatrix._core import TextColumn
from separatrix.errors import DataError

__all__ = ["iterate", "take_documents"]

_SINGLE = "Iterable over raw text documents expected, string object received."


def take_documents(X: Any) -> Any:
    """X as the kernels take it: an iterable of str, or a column in Arrow's layout, not copied.

    Parameters
    ----------
    X : iterable of str, or column of strings
        List, tuple, generator, NumPy array of shape (n,), Series of pandas or polars, Arrow array,
        or a data frame with a single column.

    Returns
    -------
    iterable of str or TextColumn
        What the items are is checked where they are read; the error names the row.
    """
    if isinstance(X, list | tuple):
        return X
    if isinstance(X, str | bytes):
        raise DataError(_SINGLE)
    if isinstance(X, np.ndarray):
        if X.ndim != 1:
            raise DataError(f"Documents must have shape (n,), got an array of shape {X.shape}.")
        return X.tolist()
    if isinstance(X, Mapping):
        raise DataError("Documents must be a list or a column of strings, got a mapping.")
    if type(X).__module__.partition(".")[0] == "pyarrow" and hasattr(X, "type"):
        return _arrow_column(X)
    native = nw.from_native(X, allow_series=True, eager_only=True, pass_through=True)
    if isinstance(native, nw.DataFrame):
        if native.shape[1] != 1:
            raise DataError(
                f"X is a data frame with columns {native.columns}; hand over one column of text."
            )
        native = native[native.columns[0]]
    if isinstance(native, nw.Series):
        if native.dtype == nw.String and importlib.util.find_spec("pyarrow"):
            return _arrow_column(native.to_arrow())
        return native.to_list()
    if not isinstance(X, Iterable):
        raise DataError(f"Documents must be a list or a column of strings, got {type(X).__name__}.")
    return X


def _arrow_column(array: Any) -> TextColumn:
    """An Arrow array or chunked array of strings, by its buffers."""
    pa = importlib.import_module("pyarrow")
    kind = array.type
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        if not (
            pa.types.is_dictionary(kind)
            or getattr(pa.types, "is_string_view", lambda _: False)(kind)
        ):
            raise DataError(f"Documents must be strings, got an Arrow column of type {kind}.")
        array = array.cast(pa.large_string())
    chunks: list[tuple[Any, Any]] = []
    first = 0
    for chunk in array.chunks if isinstance(array, pa.ChunkedArray) else [array]:
        if chunk.null_count:
            row = first + int(np.argmax(chunk.is_null().to_numpy(zero_copy_only=False)))
            raise DataError(
                f"The document in row {row} is missing (null); fill or drop missing values first."
            )
        first += len(chunk)
        if not len(chunk):
            continue
        _, offsets, data = chunk.buffers()
        width = np.int32 if pa.types.is_string(chunk.type) else np.int64
        starts = np.frombuffer(offsets, dtype=width)[chunk.offset :][: len(chunk) + 1]
        text = np.empty(0, dtype=np.uint8) if data is None else np.frombuffer(data, dtype=np.uint8)
        chunks.append((starts, text))
    return TextColumn(chunks)


def iterate(X: Any) -> Iterator[Any]:
    """The documents of X one by one, for analysis in Python."""
    documents = take_documents(X)
    if not isinstance(documents, TextColumn):
        yield from documents
    elif hasattr(X, "to_pylist"):
        yield from X.to_pylist()
    else:
        native: Any = nw.from_native(X, allow_series=True, eager_only=True)
        column = native if isinstance(native, nw.Series) else native[native.columns[0]]
        yield from column.to_list()
