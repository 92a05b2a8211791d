"""Tables to CSV, TSV and JSON lines; the plain values of their cells."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from separatrix.data.dataset import Dataset, LabelSets
from separatrix.data.formats.whole_files import write_atomically
from separatrix.errors import DataError

__all__ = ["cells_of", "columns_of", "write_delimited", "write_json_lines"]

#: Rows that are turned into text at a time.
_ROWS = 10_000
#: Most columns of a matrix that is written as a table.
_WIDEST = 10_000


def columns_of(data: Dataset) -> dict[str, Any]:
    """Columns of a table, a text or a matrix, the target last.

    Numbered columns, which a file without header has, stay in their order.
    """
    if data.kind == "matrix":
        width = data.X.shape[1]
        if width > _WIDEST:
            raise DataError(f"{width} columns are too many for a table")
        dense = data.X.toarray() if hasattr(data.X, "toarray") else np.asarray(data.X)
        columns: dict[str, Any] = {f"x{j}": dense[:, j] for j in range(width)}
    elif data.kind == "text":
        columns = {data.feature_names[0] if data.feature_names else "text": data.X}
    else:
        columns = dict(data.X)
    if data.y is not None:
        name = data.target_name or "target"
        if name in columns:
            raise DataError(f"two columns would be named {name!r}")
        columns[name] = data.y
    if _is_numbered(list(columns)):
        columns = {name: columns[name] for name in sorted(columns, key=int)}
    return columns


def _is_numbered(names: Sequence[str]) -> bool:
    """Whether these are the names that columns of a file without header get."""
    return sorted(names) == sorted(str(at) for at in range(len(names)))


def cells_of(column: Any, first: int = 0, last: int | None = None) -> list[Any]:
    """Plain values of some rows: None where missing, lists for label sets, dates as ISO 8601."""
    if isinstance(column, LabelSets):
        return [list(labels) for labels in column[first : len(column) if last is None else last]]
    part = column[first:last]
    if part.dtype.kind == "M":
        texts = np.datetime_as_string(part, unit="auto").tolist()
        return [None if text == "NaT" else text for text in texts]
    values = part.tolist()
    if part.dtype.kind == "f":
        return [None if value != value else value for value in values]
    return list(values)


def _as_written(column: Any) -> Any:
    """Whole numbers with gaps, which are floats in memory, as whole numbers again."""
    if isinstance(column, LabelSets) or column.dtype.kind != "f":
        return column
    gaps = np.isnan(column)
    present = column[~gaps]
    exact = np.abs(present) < 2**53
    if not gaps.any() or not (exact & (present == np.round(present))).all():
        return column
    values = column.astype(object)
    values[gaps] = None
    values[~gaps] = present.astype(np.int64)
    return values


def write_delimited(path: str | os.PathLike[str], data: Dataset, delimiter: str) -> None:
    """Write a table as CSV or TSV; missing values are empty cells."""
    columns = {name: _as_written(column) for name, column in columns_of(data).items()}
    for name, column in columns.items():
        if _holds_lists(column):
            raise DataError(f"column {name!r} holds lists, which a cell cannot; use JSON lines")

    def parts() -> Iterator[bytes]:
        for first in range(0, len(data), _ROWS):
            buffer = io.StringIO(newline="")
            writer = csv.writer(buffer, delimiter=delimiter, lineterminator="\n")
            if first == 0 and not _is_numbered(list(columns)):
                writer.writerow(columns)
            cells = [cells_of(column, first, first + _ROWS) for column in columns.values()]
            writer.writerows(map(_words, zip(*cells, strict=True)))
            yield _encoded(buffer.getvalue())

    write_atomically(path, parts())


def _words(row: Sequence[Any]) -> list[Any]:
    return [str(value).lower() if isinstance(value, bool) else value for value in row]


def _holds_lists(column: Any) -> bool:
    if isinstance(column, LabelSets):
        return True
    held: npt.NDArray[Any] = column
    return held.dtype == object and any(isinstance(value, list) for value in held)


def write_json_lines(path: str | os.PathLike[str], data: Dataset) -> None:
    """Write a table as one JSON object a line; missing values are null."""
    columns = {name: _as_written(column) for name, column in columns_of(data).items()}

    def parts() -> Iterator[bytes]:
        for first in range(0, len(data), _ROWS):
            cells = [cells_of(column, first, first + _ROWS) for column in columns.values()]
            records = (dict(zip(columns, row, strict=True)) for row in zip(*cells, strict=True))
            try:
                lines = [json.dumps(r, ensure_ascii=False, allow_nan=False) for r in records]
            except ValueError:
                raise DataError("JSON has no infinite numbers") from None
            yield _encoded("".join(f"{line}\n" for line in lines))

    write_atomically(path, parts())


def _encoded(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise DataError("a value holds half a character (a lone surrogate)") from None
