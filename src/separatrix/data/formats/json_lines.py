"""JSON lines, one object a line, and JSON arrays of objects.

Nested objects become columns named ``outer.inner``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from typing import Any

from separatrix.data.dataset import Dataset
from separatrix.data.formats.options import Options
from separatrix.data.formats.source import Origin, TextStream, naming
from separatrix.data.schema import Schema, SchemaColumn, TypedEvidence
from separatrix.data.tables.assembly import dataset_of, find_target, judged, make_schema
from separatrix.errors import FormatError

__all__ = ["chunks_json_lines", "read_json_lines"]

_SCAN_ROWS = 20_000
#: Objects within objects; deeper ones are refused before Python's own limit.
_DEEPEST = 16


def _flatten(record: dict[str, Any], prefix: str, into: dict[str, Any], depth: int) -> None:
    if depth > _DEEPEST:
        raise FormatError(f"objects are nested more than {_DEEPEST} deep")
    for key, value in record.items():
        if isinstance(value, dict):
            _flatten(value, f"{prefix}{key}.", into, depth + 1)
        else:
            into[prefix + key] = value


def _records(origin: Origin, format: str) -> Iterator[dict[str, Any]]:
    """The objects of a file, flat."""
    return _of_array(origin) if format == "json" else _of_lines(origin)


def _of_array(origin: Origin) -> Iterator[dict[str, Any]]:
    text = "".join(TextStream(origin))
    try:
        records = json.loads(text)
    except json.JSONDecodeError as error:
        message = f"not JSON at column {error.colno}: {error.msg}"
        raise FormatError(message, error.lineno) from None
    except (RecursionError, ValueError) as error:
        raise FormatError(f"not JSON: {error}") from None
    if isinstance(records, dict):
        lists = [key for key, value in records.items() if isinstance(value, list)]
        # The rows under their one name, as services write them.
        records = records[lists[0]] if len(lists) == 1 else [records]
    if not isinstance(records, list):
        raise FormatError("an array of objects is needed, or one object with an array in it")
    for number, record in enumerate(records, 1):
        if not isinstance(record, dict):
            kind = type(record).__name__
            raise FormatError(f"an array of objects is needed, element {number} is a {kind}")
        yield _flat(record, None)


def _flat(record: dict[str, Any], line: int | None) -> dict[str, Any]:
    if not any(isinstance(value, dict) for value in record.values()):
        return record
    flat: dict[str, Any] = {}
    try:
        _flatten(record, "", flat, 0)
    except FormatError as error:
        raise FormatError(error.message, line) from None
    return flat


def _of_lines(origin: Origin) -> Iterator[dict[str, Any]]:
    stream = TextStream(origin)
    for line in stream:
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except json.JSONDecodeError as error:
            message = f"not JSON at column {error.colno}: {error.msg}"
            raise FormatError(message, stream.line) from None
        except RecursionError:
            raise FormatError("values are nested too deep", stream.line) from None
        except ValueError as error:  # an integer of thousands of digits
            raise FormatError(f"not JSON: {error}", stream.line) from None
        if not isinstance(record, dict):
            kind = type(record).__name__
            raise FormatError(f"one object a line is needed, here is a {kind}", stream.line)
        yield _flat(record, stream.line)


def _columns(records: list[dict[str, Any]], names: dict[str, None]) -> dict[str, list[Any]]:
    for record in records:
        names.update(dict.fromkeys(record))
    return {name: [record.get(name) for record in records] for name in names}


def read_json_lines(origin: Origin, format: str, options: Options) -> Dataset:
    """The whole file as a dataset."""
    with naming(origin.name):
        cells = _columns(list(_records(origin, format)), {})
        if not cells:
            raise FormatError("there are no rows")
        seen = {name: TypedEvidence.of(values) for name, values in cells.items()}
        schema = make_schema(_decided(seen, options), options)
        return judged(dataset_of(cells, schema, options, origin.name, format), options)


def _decided(seen: dict[str, TypedEvidence], options: Options) -> dict[str, SchemaColumn]:
    target = find_target(list(seen), options)
    return {name: found.column(name, target=name == target) for name, found in seen.items()}


def _scan(origin: Origin, format: str, options: Options) -> Schema:
    """Look at all objects once, so that every chunk has the same columns of the same kinds."""
    records = _records(origin, format)
    seen: dict[str, TypedEvidence] = {}
    done = 0
    while block := list(islice(records, _SCAN_ROWS)):
        for name, values in _columns(block, dict.fromkeys(seen)).items():
            # A column that begins later is missing in all rows before.
            before = seen.get(name, TypedEvidence(missing=done > 0))
            seen[name] = before | TypedEvidence.of(values)
        done += len(block)
    if not seen:
        raise FormatError("there are no rows")
    return make_schema(_decided(seen, options), options)


def chunks_json_lines(origin: Origin, format: str, n: int, options: Options) -> Iterator[Dataset]:
    """Datasets of at most `n` rows; a first pass finds the kinds of the columns."""
    with naming(origin.name):
        schema = _scan(origin, format, options)
        records = _records(origin, format)
        done = 0
        while block := list(islice(records, n)):
            cells = {name: [record.get(name) for record in block] for name in schema.names}
            yield dataset_of(cells, schema, options, origin.name, format, done)
            done += len(block)
