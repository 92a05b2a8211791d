"""CSV and TSV (RFC 4180): quotes, any delimiter, header found or given, kinds of columns found."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator, Sequence
from itertools import chain, islice

from separatrix.data.columns import ColumnKind, kind_of_strings
from separatrix.data.dataset import Dataset
from separatrix.data.options import Options
from separatrix.data.source import Origin, TextStream, naming
from separatrix.data.tables import Plan, dataset_of, make_plan
from separatrix.errors import FormatError, ParameterError

__all__ = ["chunks_delimited", "read_delimited", "sniff_delimiter"]

DELIMITERS = (",", "\t", ";", "|")
#: Rows that header and delimiter are told by.
_SAMPLE_ROWS = 200
#: Rows that the first look at a streamed file holds at a time.
_SCAN_ROWS = 20_000


class _Rows:
    """The rows of a delimited text; `line` is the line on which the last one ended."""

    def __init__(self, origin: Origin, delimiter: str) -> None:
        # One value may be as long as the file; the module's default stops at 128 KiB.
        csv.field_size_limit(sys.maxsize)
        self._stream = TextStream(origin)
        self._rows = csv.reader(self._stream, delimiter=delimiter, strict=True)

    @property
    def line(self) -> int:
        return self._stream.line

    def __iter__(self) -> Iterator[list[str]]:
        while True:
            start = self._stream.line + 1
            try:
                row = next(self._rows, None)
            except csv.Error as error:
                told = str(error)
                if "unexpected end" in told:
                    message = "a quote is opened here and never closed"
                    raise FormatError(message, start) from None
                if "NUL" in told:
                    told = "the line holds a NUL: is this a text file?"
                raise FormatError(told, self._stream.line) from None
            if row is None:
                return
            if row:
                yield row


def sniff_delimiter(lines: Sequence[str]) -> str | None:
    """The delimiter that parts all these lines into equally many fields, more than one.

    Examples
    --------
    >>> sniff_delimiter(["a;b", "1,5;2"]), sniff_delimiter(["a", "b"])
    (';', None)
    """
    best, most = None, 1
    for delimiter in DELIMITERS:
        try:
            rows = [row for row in csv.reader(lines, delimiter=delimiter) if row]
        except csv.Error:
            continue
        widths = {len(row) for row in rows}
        if len(widths) == 1 and min(widths) > most:
            best, most = delimiter, min(widths)
    return best


def _delimiter(origin: Origin, format: str, options: Options) -> str:
    if options.delimiter is not None:
        if len(options.delimiter) != 1 or options.delimiter in '"\r\n':
            raise ParameterError(f"delimiter must be one character, got {options.delimiter!r}")
        return options.delimiter
    if format == "tsv":
        return "\t"
    stream = TextStream(origin)
    lines = [line for line in islice(stream, _SAMPLE_ROWS) if line.strip()]
    found = sniff_delimiter(lines)
    if found is None and lines and "," not in lines[0]:
        held = [mark for mark in DELIMITERS[1:] if mark in lines[0]]
        # Uneven rows are told as such, with their line, once the delimiter is plain.
        found = held[0] if len(held) == 1 else None
    return found or ","


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def has_header(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first row names the columns: words, all different, that do not come again below.

    Examples
    --------
    >>> has_header([["size", "class"], ["1", "a"]]), has_header([["a", "x"], ["a", "y"]])
    (True, False)
    """
    first, rest = rows[0], rows[1:]
    named = [cell.strip() for cell in first if cell.strip()]
    if not named or any(_is_number(cell) for cell in named) or len(set(named)) < len(named):
        return False
    repeated = any(
        cell.strip() and any(len(row) > at and row[at] == cell for row in rest)
        for at, cell in enumerate(first)
    )
    return not repeated


def _open(origin: Origin, format: str, options: Options) -> tuple[list[str], Iterator[list[str]]]:
    """Names of the columns, and the rows, checked to have as many cells."""
    rows = _Rows(origin, _delimiter(origin, format, options))
    iterator = iter(rows)
    sample, ends = [], []
    for row in islice(iterator, _SAMPLE_ROWS):
        sample.append(row)
        ends.append(rows.line)
    if not sample:
        raise FormatError("there are no rows")
    header = has_header(sample) if options.header == "auto" else bool(options.header)
    width, first_line = len(sample[0]), ends[0]
    if options.names is not None:
        names = [str(name) for name in options.names]
        if len(names) != width:
            raise ParameterError(f"{len(names)} names for {width} columns")
    elif header:
        names = [cell.strip() or str(at) for at, cell in enumerate(sample[0])]
        twice = {name for name in names if names.count(name) > 1}
        if twice:
            raise FormatError(f"two columns are named {sorted(twice)[0]!r}; pass names=", ends[0])
    else:
        names = [str(at) for at in range(width)]

    def checked() -> Iterator[list[str]]:
        skip = int(header)
        early = zip(sample[skip:], ends[skip:], strict=True)
        for row, line in chain(early, ((row, rows.line) for row in iterator)):
            if len(row) != width:
                raise FormatError(f"{len(row)} fields, but {width} on line {first_line}", line)
            yield row

    return names, checked()


def _cells(names: Sequence[str], rows: Sequence[Sequence[str]]) -> dict[str, Sequence[str]]:
    columns = zip(*rows, strict=True) if rows else ([] for _ in names)
    return dict(zip(names, columns, strict=True))


def read_delimited(origin: Origin, format: str, options: Options) -> Dataset:
    """The whole file as a dataset."""
    with naming(origin.name):
        names, rows = _open(origin, format, options)
        cells = _cells(names, list(rows))
        if not cells[names[0]]:
            raise FormatError("there is a header and no row")
        kinds = {name: kind_of_strings(cells[name], options.missing) for name in names}
        plan = make_plan(names, kinds, options)
        return dataset_of(cells, plan, options.missing, origin.name, format)


def _scan(origin: Origin, format: str, options: Options) -> Plan:
    """Look at all rows once, so that every chunk has the same kinds of columns."""
    names, rows = _open(origin, format, options)
    kinds = {name: ColumnKind() for name in names}
    while block := list(islice(rows, _SCAN_ROWS)):
        for name, cells in _cells(names, block).items():
            kinds[name] |= kind_of_strings(cells, options.missing)
    return make_plan(names, kinds, options)


def chunks_delimited(origin: Origin, format: str, n: int, options: Options) -> Iterator[Dataset]:
    """Datasets of at most `n` rows; a first pass finds the kinds of the columns."""
    with naming(origin.name):
        plan = _scan(origin, format, options)
        names, rows = _open(origin, format, options)
        done = 0
        while block := list(islice(rows, n)):
            cells = _cells(names, block)
            yield dataset_of(cells, plan, options.missing, origin.name, format, done)
            done += len(block)
