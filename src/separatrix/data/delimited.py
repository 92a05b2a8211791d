"""CSV and TSV (RFC 4180): quotes, any delimiter, header found or given, kinds of columns found."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from typing import NamedTuple

from separatrix.data.columns import Words, as_words
from separatrix.data.dataset import Dataset
from separatrix.data.options import Options
from separatrix.data.schema import Schema
from separatrix.data.source import Origin, TextStream, naming
from separatrix.data.tables import Seen, dataset_of, evidence_of, judged, make_schema
from separatrix.data.written import Evidence
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
    """Whether the first row names the columns.

    Names are words that do not come again below. Where two of them are the same, or some are years
    or other whole numbers, a column has to tell them from data: a word above numbers, or above
    values that repeat themselves.

    Examples
    --------
    >>> has_header([["size", "class"], ["1", "a"]]), has_header([["a", "x"], ["a", "y"]])
    (True, False)
    >>> has_header([["2019", "2020", "y"], ["1.5", "2", "a"], ["1", "2.5", "a"]])
    True
    """
    first, rest = [cell.strip() for cell in rows[0]], rows[1:]
    named = [cell for cell in first if cell]
    below = [[row[at].strip() for row in rest if len(row) > at] for at in range(len(first))]
    words = [at for at, cell in enumerate(first) if cell and not _is_number(cell)]
    if not words or any(first[at] in below[at] for at in words):
        return False
    numbers = [cell for cell in named if _is_number(cell)]
    if not numbers and len(set(named)) == len(named):
        return True
    if any(not cell.isdigit() for cell in numbers) or len(set(numbers)) < len(numbers):
        return False
    # A row of data would have a word that comes again, or a number above numbers.
    return any(
        len(below[at]) > 1
        and (all(map(_is_number, filter(None, below[at]))) or _repeats(below[at]))
        for at in words
    ) or (len(rest) == 1 and all(_is_number(below[at][0]) for at in words if below[at]))


def _repeats(cells: Sequence[str]) -> bool:
    return 2 * len(set(cells)) <= len(cells)


def _names(cells: Sequence[str], notes: list[str]) -> list[str]:
    """Names of columns from a header: blank ones are numbers, twins are numbered."""
    names: list[str] = []
    given = [cell.strip() or str(at) for at, cell in enumerate(cells)]
    for name in given:
        number, free = 2, name
        while free in names or (free != name and free in given):
            free, number = f"{name}.{number}", number + 1
        if free != name:
            notes.append(f"two columns are named {name!r}; the later one is {free!r}")
        names.append(free)
    return names


class _Opened(NamedTuple):
    """Names of the columns, the rows, checked to have as many cells, and what is to be told."""

    names: list[str]
    rows: Iterator[list[str]]
    notes: tuple[str, ...]


def _open(origin: Origin, format: str, options: Options) -> _Opened:
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
    notes: list[str] = []
    if options.names is not None:
        names = [str(name) for name in options.names]
        if len(names) != width:
            raise ParameterError(f"{len(names)} names for {width} columns")
    elif header:
        names = _names(sample[0], notes)
        if options.header == "auto" and any(map(_is_number, filter(str.strip, sample[0]))):
            notes.append(
                "the first row is taken for names of columns, numbers among them; --header no if "
                "it is data"
            )
    else:
        names = [str(at) for at in range(width)]

    def checked() -> Iterator[list[str]]:
        skip = int(header)
        early = zip(sample[skip:], ends[skip:], strict=True)
        for row, line in chain(early, ((row, rows.line) for row in iterator)):
            if len(row) != width:
                raise FormatError(f"{len(row)} fields, but {width} on line {first_line}", line)
            yield row

    return _Opened(names, checked(), tuple(notes))


def _cells(names: Sequence[str], rows: Sequence[Sequence[str]]) -> dict[str, Words]:
    columns = zip(*rows, strict=True) if rows else ([] for _ in names)
    return {name: as_words(column) for name, column in zip(names, columns, strict=True)}


def read_delimited(origin: Origin, format: str, options: Options) -> Dataset:
    """The whole file as a dataset."""
    with naming(origin.name):
        opened = _open(origin, format, options)
        cells = _cells(opened.names, list(opened.rows))
        if not len(cells[opened.names[0]].codes):
            raise FormatError("there is a header and no row")
        seen = {name: evidence_of(words, options.missing) for name, words in cells.items()}
        schema = make_schema(seen, options, opened.notes)
        return judged(dataset_of(cells, schema, options.missing, origin.name, format), options)


def _scan(origin: Origin, format: str, options: Options) -> Schema:
    """Look at all rows once, so that every chunk has the same kinds of columns."""
    opened = _open(origin, format, options)
    seen: dict[str, Seen] = dict.fromkeys(opened.names, Evidence())
    while options.schema is None and (block := list(islice(opened.rows, _SCAN_ROWS))):
        for name, words in _cells(opened.names, block).items():
            seen[name] |= evidence_of(words, options.missing)  # type: ignore[operator]
    return make_schema(seen, options, opened.notes)


def chunks_delimited(origin: Origin, format: str, n: int, options: Options) -> Iterator[Dataset]:
    """Datasets of at most `n` rows; a first pass finds the kinds of the columns."""
    with naming(origin.name):
        schema = _scan(origin, format, options)
        opened = _open(origin, format, options)
        done = 0
        while block := list(islice(opened.rows, n)):
            cells = _cells(opened.names, block)
            yield dataset_of(cells, schema, options.missing, origin.name, format, done)
            done += len(block)
