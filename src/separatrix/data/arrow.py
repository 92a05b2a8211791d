"""Parquet and Arrow IPC (Feather) files, through pyarrow (extra ``parquet``)."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from separatrix.data.columns import ColumnKind, kind_of_values, make_column, make_text, objects
from separatrix.data.dataset import Dataset, Table
from separatrix.data.options import Options
from separatrix.data.source import Origin, naming
from separatrix.data.tables import Plan, assemble, make_plan
from separatrix.errors import DataError, FormatError, MissingPackageError

__all__ = ["chunks_arrow", "read_arrow", "write_arrow"]


def _pyarrow() -> Any:
    try:
        import pyarrow.feather
        import pyarrow.parquet
    except ImportError:
        raise MissingPackageError(
            "Parquet and Arrow files need pyarrow: pip install 'separatrix[parquet]'"
        ) from None
    return pyarrow


def _open(origin: Origin) -> Any:
    """A file for pyarrow: the path itself, mapped, unless it is packed or in memory."""
    source = origin.open()
    if isinstance(origin.content, str) and source.packing is None:
        return origin.content
    return io.BytesIO(source.read(None))


def _batches(origin: Origin, format: str, n: int | None) -> tuple[Any, Iterator[Any]]:
    """The schema, and tables of at most `n` rows."""
    pa = _pyarrow()
    try:
        if format == "parquet":
            file = pa.parquet.ParquetFile(_open(origin))
            if n is None:
                return file.schema_arrow, iter([file.read()])
            parts = (pa.Table.from_batches([batch]) for batch in file.iter_batches(n))
            return file.schema_arrow, _told(parts)
        table = pa.feather.read_table(_open(origin), memory_map=False)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, OSError) as error:
        if isinstance(error, FileNotFoundError):
            raise
        raise FormatError(f"not a whole {format} file: {error}") from None
    if n is None:
        return table.schema, iter([table])
    return table.schema, (table.slice(at, n) for at in range(0, table.num_rows, n))


def _told(parts: Iterator[Any]) -> Iterator[Any]:
    pa = _pyarrow()
    try:
        yield from parts
    except (pa.ArrowInvalid, OSError) as error:
        raise FormatError(f"not a whole parquet file: {error}") from None


def _is_struct(table: Any) -> bool:
    pa = _pyarrow()
    return any(pa.types.is_struct(column.type) for column in table.schema)


def _flat(table: Any) -> dict[str, Any]:
    """Columns by name; structs become columns named ``outer.inner``."""
    while _is_struct(table):
        table = table.flatten()
    names = table.column_names
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise FormatError(f"two columns are named {sorted(twice)[0]!r}")
    return dict(zip(names, table.columns, strict=True))


def _kind(column: Any) -> ColumnKind:
    """The kind of an Arrow column: "date" and "unread" beside those of text files."""
    types, missing = _pyarrow().types, column.null_count > 0
    type_ = column.type.value_type if types.is_dictionary(column.type) else column.type
    if types.is_boolean(type_):
        return ColumnKind("bool", missing)
    if types.is_integer(type_):
        return ColumnKind("int", missing)
    if types.is_floating(type_) or types.is_decimal(type_):
        return ColumnKind("float", missing)
    if types.is_null(type_):
        return ColumnKind("none", missing)
    if types.is_list(type_) or types.is_large_list(type_) or types.is_fixed_size_list(type_):
        return ColumnKind("list", missing)
    if types.is_string(type_) or types.is_large_string(type_):
        return kind_of_values(column.to_pylist()) | ColumnKind("string")
    if types.is_temporal(type_):
        return ColumnKind("date", missing)
    return ColumnKind("unread", missing)


def _is_number(column: Any) -> bool:
    return _kind(column).base in ("bool", "int", "float")


def _array(name: str, column: Any, kind: ColumnKind, text: bool) -> npt.NDArray[Any]:
    if kind.base == "unread":
        message = f"column {name!r} of type {column.type} is not read; leave it out with columns="
        raise FormatError(message)
    if text:
        return make_text(column.to_pylist())
    if kind.base == "date":
        dates: npt.NDArray[Any] = column.to_numpy()
        return dates
    if kind.base in ("int", "float") and not _pyarrow().types.is_decimal(column.type):
        values = column.to_numpy()
        if values.dtype.kind in "iuf":
            wanted = np.float64 if kind.missing else values.dtype
            numbers: npt.NDArray[Any] = values.astype(wanted, copy=False)
            return numbers
    if kind.base == "string" and not _is_number(column):
        return objects(column.to_pylist())
    array: npt.NDArray[Any] = make_column(column.to_pylist(), kind, ())
    return array


def _dataset(table: Any, plan: Plan, source: str, format: str, first_row: int) -> Dataset:
    columns = _flat(table)
    features: Table = {
        name: _array(name, columns[name], plan.kinds[name], name in plan.texts)
        for name in plan.features
    }
    target = None
    if plan.target is not None:
        target = _array(plan.target, columns[plan.target], plan.kinds[plan.target], False)
    return assemble(features, target, plan, source, format, first_row)


def read_arrow(origin: Origin, format: str, options: Options) -> Dataset:
    """The whole file as a dataset."""
    with naming(origin.name):
        _, tables = _batches(origin, format, None)
        table = next(tables)
        columns = _flat(table)
        if not columns or not table.num_rows:
            raise FormatError("there are no rows")
        kinds = {name: _kind(column) for name, column in columns.items()}
        plan = make_plan(list(columns), kinds, options)
        return _dataset(table, plan, origin.name, format, 0)


def chunks_arrow(origin: Origin, format: str, n: int, options: Options) -> Iterator[Dataset]:
    """Datasets of at most `n` rows; a first pass finds which columns have gaps."""
    with naming(origin.name):
        kinds: dict[str, ColumnKind] = {}
        for table in _batches(origin, format, max(n, 20_000))[1]:
            for name, column in _flat(table).items():
                kinds[name] = kinds.get(name, ColumnKind()) | _kind(column)
        if not kinds:
            raise FormatError("there are no rows")
        plan = make_plan(list(kinds), kinds, options)
        done = 0
        for table in _batches(origin, format, n)[1]:
            if table.num_rows:
                yield _dataset(table, plan, origin.name, format, done)
            done += table.num_rows


def write_arrow(path: str | os.PathLike[str], columns: Mapping[str, Any], format: str) -> None:
    """Write columns (arrays, or lists of values and None) as a Parquet or Arrow file.

    The file is written under its own name: whoever calls sees to it that it is whole.
    """
    pa = _pyarrow()
    try:
        table = pa.table(dict(columns))
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise DataError(f"a column mixes kinds of values, which {format} cannot: {error}") from None
    if format == "parquet":
        pa.parquet.write_table(table, path)
    else:
        pa.feather.write_feather(table, path)
