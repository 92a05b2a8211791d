"""`write`: a data set to a file of any format that can hold it, with nothing lost on the way."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from separatrix.data.dataset import Dataset, LabelSets
from separatrix.data.formats.arrow import write_arrow
from separatrix.data.formats.conll import write_conll
from separatrix.data.formats.crfsuite import write_crfsuite
from separatrix.data.formats.detect import PACKED, format_named
from separatrix.data.formats.svmlight import write_svmlight
from separatrix.data.formats.table_files import (
    cells_of,
    columns_of,
    write_delimited,
    write_json_lines,
)
from separatrix.data.reading import read
from separatrix.errors import DataError, FormatError, ParameterError

__all__ = ["WRITTEN", "write"]


def write(
    data: Dataset, path: str | os.PathLike[str], format: str = "auto", *, lossy: bool = False
) -> None:
    r"""Write a data set to a file, whole or not at all.

    The file is read again before it takes its name: unless that gives the same data, DataError says
    what would be lost (a string that looks like a number in CSV, names of columns in svmlight).

    Parameters
    ----------
    data : Dataset
    path : str or path
        ``.gz`` at the end packs texts.
    format : str
        "csv", "tsv", "jsonl", "parquet", "arrow", "svmlight", "conll" or "crfsuite"; "auto" goes
        by the end of the name.
    lossy : bool
        Write also what will not read back as the same.

    Raises
    ------
    DataError
        The format cannot hold the data; the message says what, and where.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from separatrix.data import read, write
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "sizes.csv"
    >>> write(read(b'{"size": 1.5, "class": "a"}\n{"size": null, "class": "b"}\n'), path)
    >>> print(path.read_text(), end="")
    size,class
    1.5,a
    ,b
    >>> write(read(b'{"code": "123", "class": "a"}\n'), path)
    Traceback (most recent call last):
    separatrix.errors.DataError: ... '123' in row 1 would be 123; choose another format, ...
    """
    target = Path(path)
    if format == "auto":
        format = format_named(target.name) or ""
    if format not in WRITTEN:
        known = ", ".join(WRITTEN)
        raise ParameterError(f"{target}: the name matches no format that can be written ({known})")
    writer = WRITTEN[format]
    if format in ("parquet", "arrow") and target.suffix.lower() in PACKED:
        raise ParameterError(f"{target}: {format} files pack their columns themselves")
    if data.kind not in writer.kinds:
        holds = " or ".join(kind for kind in writer.kinds)
        raise DataError(f"{target}: {format} files hold {holds}, not {data.kind}")
    # The same end of the name: it decides on packing.
    staged = target.with_name(f".{secrets.token_hex(8)}.{target.name}")
    try:
        with _naming(target):
            writer.write(data, staged, format)
            if not lossy:
                _compare(data, staged, format)
        os.replace(staged, target)
    except BaseException:
        with suppress(OSError):
            staged.unlink()
        raise


@contextmanager
def _naming(target: Path) -> Iterator[None]:
    try:
        yield
    except DataError as error:
        raise DataError(f"{target}: {error}") from None


def _write_delimited(data: Dataset, path: Path, format: str) -> None:
    write_delimited(path, data, "\t" if format == "tsv" else ",")


def _write_json_lines(data: Dataset, path: Path, format: str) -> None:
    write_json_lines(path, data)


def _write_arrow(data: Dataset, path: Path, format: str) -> None:
    columns = columns_of(data)
    for name, column in columns.items():
        if isinstance(column, LabelSets) or column.dtype == object:
            columns[name] = cells_of(column)
    write_arrow(path, columns, format)


def _write_svmlight(data: Dataset, path: Path, format: str) -> None:
    if data.y is None:
        raise DataError("svmlight rows begin with a label, and there is no target")
    X = data.X
    if data.kind == "table":
        words = next((name for name, part in X.items() if part.dtype.kind not in "biuf"), None)
        if words is not None:
            raise DataError(f"svmlight holds numbers, column {words!r} does not")
        X = np.column_stack([part.astype(np.float64) for part in X.values()])
    elif data.kind == "images":
        X = X.reshape(len(data), -1)
    write_svmlight(path, X, data.y, query=data.query)


def _write_conll(data: Dataset, path: Path, format: str) -> None:
    write_conll(path, data.X, data.y)


def _write_crfsuite(data: Dataset, path: Path, format: str) -> None:
    write_crfsuite(path, data.X, data.y, sample_weight=data.sample_weight)


@dataclass(frozen=True)
class _Writer:
    """How a format is written, and which kinds of data it holds."""

    write: Callable[[Dataset, Path, str], None]
    kinds: tuple[str, ...]


_TABLES = ("table", "text", "matrix")
#: Formats that are written.
WRITTEN = {
    "csv": _Writer(_write_delimited, _TABLES),
    "tsv": _Writer(_write_delimited, _TABLES),
    "jsonl": _Writer(_write_json_lines, _TABLES),
    "parquet": _Writer(_write_arrow, _TABLES),
    "arrow": _Writer(_write_arrow, _TABLES),
    "svmlight": _Writer(_write_svmlight, ("matrix", "table", "images")),
    "conll": _Writer(_write_conll, ("sequences",)),
    "crfsuite": _Writer(_write_crfsuite, ("sequences",)),
}


def _compare(data: Dataset, staged: Path, format: str) -> None:
    """Raise DataError unless the file reads back as the same data."""
    if format in ("svmlight", "conll", "crfsuite"):
        _compare_parts(data, staged, format)
        return
    if data.query is not None:
        raise DataError("the queries (qid) of the rows would be lost")
    advice = "choose another format, such as JSON lines"
    columns = columns_of(data)
    texts = [name for name in data.text_names if name in columns] or None
    target = data.target_name if data.target_name in columns else None
    try:
        again = read(staged, format, target=target, text=texts)
    except FormatError as error:
        raise DataError(f"the file could not be read again: {error.message}") from None
    except ParameterError:  # a column is not there by its name
        again = None
    found = {} if again is None else columns_of(again)
    if again is None or list(found) != list(columns) or len(again) != len(data):
        raise DataError(
            f"the names of the columns ({', '.join(map(repr, list(columns)[:4]))}) would "
            f"not read back as a header; {advice}"
        )
    for name, column in columns.items():
        before, after = cells_of(column), cells_of(found[name])
        row = _first_difference(before, after)
        if row is not None:
            raise DataError(
                f"column {name!r} would not read back as it is: {before[row]!r} in row "
                f"{row + 1} would be {after[row]!r}; {advice}"
            )


def _first_difference(before: list[Any], after: list[Any]) -> int | None:
    if before == after and all(type(a) is type(b) for a, b in zip(before, after, strict=True)):
        return None
    for row, (a, b) in enumerate(zip(before, after, strict=True)):
        numbers = isinstance(a, int | float) and isinstance(b, int | float)
        if a != b or (not numbers and type(a) is not type(b)):
            return row
    return None


def _compare_parts(data: Dataset, staged: Path, format: str) -> None:
    """What formats that are no tables would lose; the rest they write as it is, or refuse."""
    lost = None
    if data.kind == "table":
        lost = "the names of the columns"
    elif data.kind == "images":
        lost = "the shape of the images"
    elif any(getattr(data.X, "comments", ())):
        lost = "the comments of the sentences"
    elif format == "svmlight":
        width = read(staged, format).X.shape[1]
        if width != data.X.shape[1]:
            lost = f"the last {data.X.shape[1] - width} columns, which are empty,"
    if lost is not None:
        raise DataError(f"{lost} would be lost")
