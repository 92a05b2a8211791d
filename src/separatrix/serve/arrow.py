"""Arrow in and out; what a request unpacks to is known from its metadata, before it is unpacked.

A few hundred bytes of Arrow can stand for gigabytes: packed buffers, columns of nulls, lists of
nulls, runs, a long text in a dictionary that every row names. So the lengths that the messages of a
stream tell are added up first; they lie in their flatbuffers (format/Message.fbs of Apache Arrow),
and the size of a packed buffer in its first eight bytes.
"""

from __future__ import annotations

import importlib
import struct
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple

from separatrix.models import Model
from separatrix.serve.problems import Problem
from separatrix.serve.settings import Settings
from separatrix.tasks import FieldError

if TYPE_CHECKING:
    from separatrix.serve.batching import Prepared

__all__ = ["arrow_rows", "arrow_table"]

#: Lists in lists: the tokens of a sequence, each a list of attributes, need two.
_DEEPEST = 3
#: Fields of a schema; a row of numbers has as many as it has columns.
_MOST_FIELDS = 100_000
#: Messages of a stream, each a batch of rows or a dictionary.
_MOST_MESSAGES = 10_000
#: Values that become Python's at a time: pyarrow holds the interpreter's lock for as long.
_AT_A_TIME = 10_000


def _pyarrow() -> Any:
    try:
        return importlib.import_module("pyarrow")
    except ImportError:
        raise Problem(
            "unsupported_media_type", "this service has no pyarrow; send JSON", "Content-Type"
        ) from None


class _Size(NamedTuple):
    """What a stream unpacks to."""

    rows: int
    #: Values of all columns and lists, missing ones too.
    values: int
    #: Bytes of all buffers.
    n_bytes: int


class _Table:
    """A table of a flatbuffer: offsets to fields, all of them checked by pyarrow before."""

    def __init__(self, data: memoryview, at: int) -> None:
        self._data, self._at = data, at

    def _unpack(self, form: str, at: int) -> int:
        return int(struct.unpack_from(form, self._data, at)[0])

    def _place(self, field: int) -> int | None:
        """Where a field stands; None where it has its default."""
        directory = self._at - self._unpack("<i", self._at)
        slot = 4 + 2 * field
        if slot + 2 > self._unpack("<H", directory):
            return None
        offset = self._unpack("<H", directory + slot)
        return self._at + offset if offset else None

    def number(self, field: int) -> int:
        """A whole number of 64 bits."""
        place = self._place(field)
        return 0 if place is None else self._unpack("<q", place)

    def table(self, field: int) -> _Table | None:
        """A table in this one."""
        place = self._place(field)
        return None if place is None else _Table(self._data, place + self._unpack("<I", place))

    def pairs(self, field: int) -> list[tuple[int, int]]:
        """A vector of structures of two whole numbers of 64 bits."""
        place = self._place(field)
        if place is None:
            return []
        start = place + self._unpack("<I", place)
        count = self._unpack("<I", start)
        # Structures of 64-bit numbers are aligned to them, the count before them is not.
        begin = start + 4
        return list(struct.iter_unpack("<qq", self._data[begin : begin + 16 * count]))


def _batch_size(message: Any) -> _Size:
    """What a message of a batch of rows, or of a dictionary, unpacks to."""
    data = memoryview(message.metadata)
    root = _Table(data, int(struct.unpack_from("<I", data, 0)[0]))
    header = root.table(2)
    if header is not None and message.type == "dictionary":
        header = header.table(1)
    if header is None:
        return _Size(0, 0, 0)
    rows = 0 if message.type == "dictionary" else header.number(0)
    values = sum(length for length, _ in header.pairs(1))
    body, n_bytes = memoryview(message.body or b""), 0
    packed = header.table(3) is not None
    for offset, length in header.pairs(2):
        if packed and length >= 8:
            told = int(struct.unpack_from("<q", body, offset)[0])
            length = length - 8 if told == -1 else told
        n_bytes += length
    return _Size(rows, values, n_bytes)


def _check_type(kind: Any, name: str, pa: Any, depth: int = 0) -> None:
    """Raise Problem where a type is none that a row of JSON could hold."""
    types = pa.types
    if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        if depth == _DEEPEST:
            raise Problem("invalid", f"has lists deeper than {_DEEPEST}", f"rows.{name}")
        _check_type(kind.value_type, name, pa, depth + 1)
        return
    if types.is_struct(kind) and depth:
        for field in kind:
            _check_type(field.type, name, pa, depth + 1)
        return
    if types.is_dictionary(kind) and not depth:
        kind = kind.value_type
    of_numbers = (types.is_boolean, types.is_integer, types.is_floating, types.is_decimal)
    of_words = (types.is_string, types.is_large_string, types.is_date, types.is_timestamp)
    simple = any(is_one(kind) for is_one in (*of_numbers, *of_words))
    if not simple and not (types.is_null(kind) and not depth):
        raise Problem("invalid", f"has the type {kind}, which rows cannot hold", f"rows.{name}")


def _check_size(body: bytearray, settings: Settings, pa: Any) -> None:
    """Raise Problem where a stream would unpack to more than the settings allow."""
    most_bytes, most_values = 4 * settings.max_body, settings.max_values
    rows = values = n_bytes = 0
    reader = pa.ipc.MessageReader.open_stream(pa.py_buffer(body))
    schema = None
    for at, message in enumerate(reader):
        if at > _MOST_MESSAGES:
            raise Problem("too_large", f"has more than {_MOST_MESSAGES} messages", "rows")
        if schema is None:
            schema = pa.ipc.read_schema(message)
            if len(schema) > _MOST_FIELDS:
                raise Problem("too_large", f"has more than {_MOST_FIELDS} columns", "rows")
            for field in schema:
                _check_type(field.type, field.name[:40], pa)
            continue
        found = _batch_size(message)
        if min(found) < 0:
            raise Problem("bad_arrow", "the body gives a negative length", "body")
        rows, values, n_bytes = rows + found.rows, values + found.values, n_bytes + found.n_bytes
        for told, most, what in (
            (rows, settings.max_rows, "rows"),
            (values, most_values, "values"),
            (n_bytes, most_bytes, "bytes when unpacked"),
        ):
            if told > most:
                raise Problem("too_large", f"must hold at most {most} {what}, got {told}", "rows")


def _values(column: Any, pa: Any, most: int) -> tuple[list[Any], int]:
    """The values of a column as JSON has them, and their bytes where they are texts.

    A text in a dictionary is made once, and counted as often as rows name it.
    """
    values: list[Any] = []
    size = 0
    if pa.types.is_dictionary(column.type):
        for chunk in column.chunks:
            places = chunk.indices.to_pylist()
            # Only what is used: every one of many small chunks may have the same long dictionary.
            known = {at: _plain(chunk.dictionary[at].as_py()) for at in {*places} - {None}}
            sizes = {at: len(one) if isinstance(one, str) else 8 for at, one in known.items()}
            size += sum(sizes[at] for at in places if at is not None)
            if size > most:
                break
            values.extend(known.get(at) for at in places)
        return values, size
    for start in range(0, len(column), _AT_A_TIME):
        values += map(_plain, column.slice(start, _AT_A_TIME).to_pylist())
    return values, column.nbytes


def arrow_rows(body: bytearray, model: Model, settings: Settings) -> list[Any]:
    """Rows of an Arrow stream, as a JSON request would hold them.

    Of a text the only column, or that of the model's name for it; of a matrix the columns in
    their order.

    Raises
    ------
    Problem
        It is no stream, holds nothing or too much, or other types than rows have.
    """
    pa = _pyarrow()
    try:
        _check_size(body, settings, pa)
        with pa.ipc.open_stream(pa.py_buffer(body)) as stream:
            table = stream.read_all()
        table.validate(full=True)
    except (pa.ArrowException, OSError, ValueError, struct.error) as error:
        told = str(error).partition("\n")[0]
        raise Problem("bad_arrow", f"the body is no Arrow stream: {told}", "body") from None
    if not table.num_rows:
        raise Problem("invalid", "there are no rows", "body")
    names = table.column_names
    if len(set(names)) < len(names):
        raise Problem("invalid", "two columns have the same name", "rows")
    columns, left = [], 4 * settings.max_body
    for name, column in zip(names, table.columns, strict=True):
        try:
            values, size = _values(column, pa, left)
        except (pa.ArrowException, ValueError, OverflowError) as error:
            told = f"has a value that cannot be read: {error}".partition("\n")[0]
            raise Problem("invalid", told, f"rows.{name[:40]}") from None
        left -= size
        if left < 0:
            most = 4 * settings.max_body
            raise Problem("too_large", f"must hold at most {most} bytes when unpacked", "rows")
        columns.append(values)
    try:
        return model.reader.of_arrow(names, columns)
    except FieldError as error:
        raise Problem.of(error) from None


def _plain(value: Any) -> Any:
    """A value as JSON has it."""
    if isinstance(value, float):
        return None if value != value else value
    if isinstance(value, date | datetime | time):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    return float(value) if isinstance(value, Decimal) else value


def arrow_table(found: Any, places: slice, asked: Prepared) -> bytes:
    """The answers as an Arrow stream."""
    pa = _pyarrow()
    table = pa.table(asked.model.task.columns(asked.model, found, places, asked.options))
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())
