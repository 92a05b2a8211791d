"""Parquet and Arrow IPC (Feather) files, through pyarrow (extra ``parquet``)."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from separatrix.data.dataset import Dataset, Table
from separatrix.data.formats.options import Options
from separatrix.data.formats.source import Origin, naming
from separatrix.data.schema import Schema, SchemaColumn, TypedEvidence
from separatrix.data.tables.assembly import assemble, find_target, judged, make_schema
from separatrix.data.tables.columns import from_values
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


def _seen(column: Any) -> TypedEvidence:
    """What an Arrow column holds; "unread" for types that are not read."""
    types, missing = _pyarrow().types, column.null_count > 0
    type_ = column.type.value_type if types.is_dictionary(column.type) else column.type
    if types.is_list(type_) or types.is_large_list(type_) or types.is_fixed_size_list(type_):
        return TypedEvidence.of(column.to_pylist())
    if types.is_string(type_) or types.is_large_string(type_):
        return TypedEvidence.of(column.to_pylist()) | TypedEvidence(frozenset({"word"}))
    for holds, name in (
        (types.is_boolean, "flag"),
        (types.is_integer, "whole"),
        (types.is_floating, "number"),
        (types.is_decimal, "number"),
        (types.is_duration, "duration"),
        (types.is_temporal, "date"),
    ):
        if holds(type_):
            return TypedEvidence(frozenset({name}), missing)
    return TypedEvidence(frozenset() if types.is_null(type_) else frozenset({"unread"}), missing)


def _array(column: Any, wanted: SchemaColumn) -> npt.NDArray[Any]:
    pa = _pyarrow()
    type_ = column.type
    if wanted.why == _UNREAD:
        message = f"column {wanted.name!r} of type {type_} is not read; leave it out with columns="
        raise FormatError(message)
    if wanted.kind == "date" and pa.types.is_temporal(type_):
        dates: npt.NDArray[Any] = column.to_numpy()
        return dates
    if wanted.kind == "duration" and pa.types.is_duration(type_):
        return np.asarray(column.to_numpy() / np.timedelta64(1, "s"), dtype=np.float64)
    if wanted.kind == "number" and not pa.types.is_decimal(type_):
        values = column.to_numpy()
        if values.dtype.kind in "iuf":
            dtype = np.float64 if wanted.missing else values.dtype
            numbers: npt.NDArray[Any] = values.astype(dtype, copy=False)
            return numbers
    return from_values(column.to_pylist(), wanted)


_UNREAD = "of a type that is not read"


def _schema(seen: Mapping[str, TypedEvidence], options: Options) -> Schema:
    target = find_target(list(seen), options)
    columns = {}
    for name, found in seen.items():
        if "unread" in found.types:
            columns[name] = SchemaColumn(name, "category", why=_UNREAD)
        else:
            columns[name] = found.column(name, target=name == target)
    return make_schema(columns, options)


def _dataset(
    table: Any, schema: Schema, source: str, format: str, first_row: int, options: Options
) -> Dataset:
    held = _flat(table)
    columns: Table = {column.name: _array(held[column.name], column) for column in schema}
    return assemble(columns, schema, source, format, first_row, options)


def read_arrow(origin: Origin, format: str, options: Options) -> Dataset:
    """The whole file as a dataset."""
    with naming(origin.name):
        _, tables = _batches(origin, format, None)
        table = next(tables)
        columns = _flat(table)
        if not columns or not table.num_rows:
            raise FormatError("there are no rows")
        schema = _schema({name: _seen(column) for name, column in columns.items()}, options)
        return judged(_dataset(table, schema, origin.name, format, 0, options), options)


def chunks_arrow(origin: Origin, format: str, n: int, options: Options) -> Iterator[Dataset]:
    """Datasets of at most `n` rows; a first pass finds which columns have gaps."""
    with naming(origin.name):
        seen: dict[str, TypedEvidence] = {}
        for table in _batches(origin, format, max(n, 20_000))[1]:
            for name, column in _flat(table).items():
                seen[name] = seen.get(name, TypedEvidence()) | _seen(column)
        if not seen:
            raise FormatError("there are no rows")
        schema = _schema(seen, options)
        done = 0
        for table in _batches(origin, format, n)[1]:
            if table.num_rows:
                yield _dataset(table, schema, origin.name, format, done, options)
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
