"""CSV and TSV (RFC 4180): quotes, any delimiter, header found or given, kinds of columns found."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from separatrix._core import read_csv
from separatrix.data.dataset import Dataset
from separatrix.data.formats.options import Options
from separatrix.data.formats.source import Origin, TextStream, naming
from separatrix.data.schema import named_as_code
from separatrix.data.tables.assembly import (
    dataset_of,
    evidence_of,
    find_column,
    find_target,
    judged,
    make_schema,
)
from separatrix.data.tables.columns import Numbers, Words
from separatrix.data.tables.values import MISSING_AMONG_NUMBERS, Evidence, are_plain
from separatrix.errors import FormatError, ParameterError

__all__ = ["chunks_delimited", "column_names", "read_delimited", "sniff_delimiter"]

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
        one = len(options.delimiter) == 1 and options.delimiter.isascii()
        if not one or options.delimiter in '"\r\n':
            raise ParameterError(
                f"delimiter must be one ASCII character, got {options.delimiter!r}"
            )
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


def column_names(cells: Sequence[str], notes: list[str]) -> list[str]:
    """Names of columns from a header: blank ones are numbers, twins are numbered."""
    names: list[str] = []
    given = [cell.strip() or str(at) for at, cell in enumerate(cells)]
    taken: set[str] = set()
    known = set(given)
    for name in given:
        number, free = 2, name
        while free in taken or (free != name and free in known):
            free, number = f"{name}.{number}", number + 1
        if free != name:
            notes.append(f"two columns are named {name!r}; the later one is {free!r}")
        names.append(free)
        taken.add(free)
    return names


@dataclass(frozen=True)
class _Shape:
    """How the rows of a file lie.

    Attributes
    ----------
    delimiter : str
    names : list of str
        Of the columns.
    header : bool
        Whether the first row has them.
    first_line : int
        The line that told how many columns there are.
    sample : list of list of str
        The first rows, the header not among them.
    notes : tuple of str
        What is to be told.
    """

    delimiter: str
    names: list[str]
    header: bool
    first_line: int
    sample: list[list[str]]
    notes: tuple[str, ...]


def _shape(origin: Origin, format: str, options: Options) -> _Shape:
    delimiter = _delimiter(origin, format, options)
    rows = _Rows(origin, delimiter)
    sample, ends = [], []
    for row in islice(rows, _SAMPLE_ROWS):
        sample.append(row)
        ends.append(rows.line)
    if not sample:
        raise FormatError("there are no rows")
    header = has_header(sample) if options.header == "auto" else bool(options.header)
    width = len(sample[0])
    notes: list[str] = []
    if options.names is not None:
        names = [str(name) for name in options.names]
        if len(names) != width:
            raise ParameterError(f"{len(names)} names for {width} columns")
    elif header:
        names = column_names(sample[0], notes)
        if options.header == "auto" and any(map(_is_number, filter(str.strip, sample[0]))):
            notes.append(
                "the first row is taken for names of columns, numbers among them; --header no if "
                "it is data"
            )
    else:
        names = [str(at) for at in range(width)]
    for row, line in zip(sample, ends, strict=True):
        if len(row) != width:
            raise FormatError(f"{len(row)} fields, but {width} on line {ends[0]}", line)
    return _Shape(delimiter, names, header, ends[0], sample[int(header) :], tuple(notes))


_NOTHING, _NUMBERS, _WORDS = range(3)
#: Forms of numbers that the kernel reads.
_PLAIN = ("", "1234", "1234.5")


def _wanted(shape: _Shape, options: Options) -> dict[str, int]:
    """What every column is read as: numbers where the first rows have them, else words."""
    wanted = {}
    for at, name in enumerate(shape.names):
        plain = are_plain((row[at] for row in shape.sample), options.missing)
        plain = plain and not named_as_code(name)
        wanted[name] = _NUMBERS if plain else _WORDS
    if options.schema is not None:
        for name in wanted:
            if name in options.schema:
                column = options.schema[name]
                plain = column.kind == "number" and column.form in _PLAIN
                wanted[name] = _NUMBERS if plain else _WORDS
    for name in (*options.kinds, *_list_of(options.text)):
        if name in wanted:
            wanted[name] = _WORDS
    needed = _needed(shape.names, options)
    return {name: what if name in needed else _NOTHING for name, what in wanted.items()}


def _needed(names: Sequence[str], options: Options) -> set[str]:
    """The columns that will be looked at."""
    if options.schema is not None:
        used = {column.name for column in options.schema if column.role != "left out"}
        return used.union(map(str, _list_of(options.target)))
    if options.columns is None:
        return set(names)
    target = find_target(names, options)
    texts = [find_column(name, names, "text") for name in _list_of(options.text)]
    chosen = [find_column(name, names, "columns") for name in options.columns]
    return {*chosen, *texts, *([] if target is None else [target])}


def _list_of(option: Any) -> list[Any]:
    if option is None or (isinstance(option, str) and option == "auto"):
        return []
    return [option] if isinstance(option, str | int) else list(option)


class _Reader:
    """Records of delimited text, by the kernel, and where the next one begins."""

    def __init__(self, origin: Origin, shape: _Shape, options: Options, whole: bool) -> None:
        self.shape, self.options = shape, options
        self._source, self._watch = origin.open(), origin.watch
        self._bytes, self._at, self._line, self._ended = b"", 0, 1, False
        marks = [*options.missing, *MISSING_AMONG_NUMBERS]
        self._marks = marks[:_MOST_MARKS]
        self._encoded = [mark.encode() for mark in self._marks]
        self._knows_marks = len(marks) <= _MOST_MARKS and max(map(len, self._encoded)) <= _LONGEST
        self._size = 1 << 16
        if whole and self._source.packing is None:
            content = origin.content
            self._bytes, self._ended = (
                content if isinstance(content, bytes) else _load(content),
                True,
            )
            if self._watch is not None:
                self._watch(len(self._bytes))
        else:
            self._more(None if whole else self._size)
        if self._bytes.startswith(b"\xef\xbb\xbf"):
            self._at = 3
        if shape.header:
            self.records(bytes(len(shape.names)), 1)

    def _more(self, n: int | None) -> None:
        """Have at least `n` bytes more to read, all of them for None."""
        held = self._bytes[self._at :]
        more = self._source.read(n)
        self._bytes, self._at = held + more if held else more, 0
        self._ended = n is None or len(more) < n
        if self._watch is not None:
            self._watch(len(more))

    def records(self, wanted: bytes, most: int | None) -> tuple[list[Any], int]:
        """The next records, at most so many (all for None), and how many there are."""
        while True:
            lines = (self._line, self.shape.first_line)
            columns, n, consumed, n_lines = read_csv(
                self._bytes, self._at, ord(self.shape.delimiter), wanted, self._encoded, lines,
                most, self._ended, self.options.n_threads,
            )  # fmt: skip
            if self._ended or n == most:
                break
            # As many bytes as the rows will need, as far as those before tell.
            self._size = max(self._size, 2 * (len(self._bytes) - self._at))
            if n:
                self._size = max(1 << 16, int(1.1 * consumed / n * (most or n)))
            self._more(self._size)
        if columns.count(False):
            again = bytes(_WORDS * (column is False) for column in columns)
            words = read_csv(
                self._bytes, self._at, ord(self.shape.delimiter), again, [], lines, most,
                self._ended, self.options.n_threads,
            )[0]  # fmt: skip
            columns = [
                word if column is False else column
                for column, word in zip(columns, words, strict=True)
            ]
        self._at += consumed
        self._line += n_lines
        return columns, n

    def columns(self, wanted: dict[str, int], most: int | None) -> tuple[dict[str, Any], int]:
        """The next records as columns by name: `Words` or `Numbers`."""
        made, n = self.records(bytes(wanted[name] for name in self.shape.names), most)
        cells: dict[str, Any] = {}
        for name, held in zip(self.shape.names, made, strict=True):
            if held is None:
                continue
            if len(held) == 2:
                cells[name] = Words(*held)
                continue
            met = tuple(mark for at, mark in enumerate(self._marks) if held[2] >> at & 1)
            if held[0] is None:
                cells[name] = Words(None, held[1], met if self._knows_marks else None)
            else:
                cells[name] = Numbers(held[0], held[1], met)
        return cells, n


def _load(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


#: Words for a missing value that the kernel tells apart, and bytes of those it looks for in texts.
_MOST_MARKS, _LONGEST = 64, 32


def read_delimited(origin: Origin, format: str, options: Options) -> Dataset:
    """The whole file as a dataset."""
    with naming(origin.name):
        shape = _shape(origin, format, options)
        wanted = _wanted(shape, options)
        cells, n = _Reader(origin, shape, options, whole=True).columns(wanted, None)
        if not n:
            raise FormatError("there is a header and no row")
        seen: dict[str, Any] = {
            name: evidence_of(cells[name], options.missing) if name in cells else Evidence()
            for name in shape.names
        }
        schema = make_schema(seen, options, shape.notes)
        return judged(dataset_of(cells, schema, options, origin.name, format), options)


def chunks_delimited(origin: Origin, format: str, n: int, options: Options) -> Iterator[Dataset]:
    """Datasets of at most `n` rows; a first pass finds the kinds, where no schema tells them."""
    with naming(origin.name):
        shape = _shape(origin, format, options)
        wanted = _wanted(shape, options)
        seen: dict[str, Any] = dict.fromkeys(shape.names, Evidence())
        if options.schema is None:
            reader = _Reader(origin, shape, options, whole=False)
            while True:
                cells, found = reader.columns(wanted, _SCAN_ROWS)
                if not found:
                    break
                for name, held in cells.items():
                    seen[name] |= evidence_of(held, options.missing)
        schema = make_schema(seen, options, shape.notes)
        # What turned out to be no plain number is read as words from the beginning.
        plain = {c.name for c in schema if c.kind == "number" and c.form in _PLAIN}
        wanted = {
            name: what and (_NUMBERS if name in plain else _WORDS) for name, what in wanted.items()
        }
        reader, done = _Reader(origin, shape, options, whole=False), 0
        while True:
            cells, found = reader.columns(wanted, n)
            if not found:
                break
            yield dataset_of(cells, schema, options, origin.name, format, done)
            done += found
