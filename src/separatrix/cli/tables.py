"""Tables on standard output or in a file: aligned text, CSV or JSON lines."""

from __future__ import annotations

import csv
import io
import json
import math
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from separatrix.cli.options import Format

__all__ = ["Table", "plain", "print_json", "show"]


def plain(value: Any) -> Any:
    """The value as JSON can hold it: numpy's numbers become Python's, NaN becomes None.

    Examples
    --------
    >>> plain({"a": float("nan"), "b": (1, 2.5)})
    {'a': None, 'b': [1, 2.5]}
    """
    if isinstance(value, Mapping):
        return {str(name): plain(part) for name, part in value.items()}
    if hasattr(value, "tolist"):  # of numpy
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return str(value)


def print_json(record: Any) -> None:
    """Print one JSON document."""
    sys.stdout.write(json.dumps(plain(record), indent=2, ensure_ascii=False) + "\n")


def show(found: Any) -> None:
    """Print what can print itself; on a terminal as a rich table, if it knows how."""
    if not (sys.stdout.isatty() and hasattr(found, "verdict")):
        sys.stdout.write(f"{found}\n")
        return
    from rich import box
    from rich.console import Console
    from rich.table import Table as RichTable
    from rich.text import Text

    table = RichTable(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for name in found.headings:
        table.add_column(name, overflow="fold")
    for row in found.rows:
        # Words are no markup.
        table.add_row(*(Text(_cell(value)) for value in row))
    console = Console()
    console.print(table)
    console.print(found.verdict(), markup=False, highlight=False)


def _listed(value: Any) -> Any:
    """A list as one cell: its values with commas between them, 3 rather than 3.0."""
    if not isinstance(value, list):
        return value
    return ",".join(f"{one:g}" if isinstance(one, float) else str(one) for one in value)


def _cell(value: Any) -> str:
    value = "" if value is None else _listed(value)
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _aligned(heads: Sequence[str], rows: Sequence[Sequence[Any]], widths: list[int]) -> list[str]:
    """Lines of text; `widths` are at least so wide and grow with the cells."""
    cells = [[_cell(value) for value in row] for row in rows]
    for at, head in enumerate(heads):
        widths[at] = max(widths[at], len(head), *(len(row[at]) for row in cells), 0)
    number = [
        bool(rows) and all(row[at] is None or isinstance(row[at], int | float) for row in rows)
        for at in range(len(heads))
    ]
    lines = []
    for row in [list(heads), *cells] if heads else cells:
        parts = [
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(row, widths, number, strict=True)
        ]
        lines.append("  ".join(parts).rstrip())
    return lines


@dataclass(frozen=True)
class Table:
    """Rows under headings.

    Parameters
    ----------
    headings : sequence of str
    rows : iterable of sequences
        Values, not words for them: numbers stay numbers in JSON. They are read once, and printed
        as they come, `block` rows at a time.
    block : int
        Rows that are aligned, and written, together.

    Examples
    --------
    >>> table = Table(("name", "size"), [("a", 1.5), ("bcd", 20)])
    >>> print("".join(table.parts(Format.table)), end="")
    name  size
    a      1.5
    bcd     20
    >>> print("".join(table.parts(Format.jsonl)), end="")
    {"name": "a", "size": 1.5}
    {"name": "bcd", "size": 20}
    """

    headings: Sequence[str]
    rows: Iterable[Sequence[Any]]
    block: int = 1000

    def parts(self, format: Format) -> Iterator[str]:
        """The text, piece by piece."""
        widths = [0] * len(self.headings)
        heads: Sequence[str] = self.headings
        for rows in self._blocks():
            if format is Format.jsonl:
                yield "".join(
                    json.dumps(dict(zip(self.headings, row, strict=True)), ensure_ascii=False)
                    + "\n"
                    for row in map(plain, rows)
                )
            elif format is Format.csv:
                buffer = io.StringIO()
                writer = csv.writer(buffer, lineterminator="\n")
                cells = [[_listed(value) for value in row] for row in rows]
                writer.writerows([heads, *cells] if heads else cells)
                yield buffer.getvalue()
            else:
                yield "\n".join(_aligned(heads, rows, widths)) + "\n"
            heads = ()

    @classmethod
    def joined(
        cls, tables: Iterable[tuple[Sequence[str], Sequence[Sequence[Any]]]], format: Format
    ) -> Iterator[str]:
        """The text of tables with the same headings one after the other, as they come."""
        tables = iter(tables)
        headings, first = next(tables)
        rows = chain(first, chain.from_iterable(rows for _, rows in tables))
        return cls(headings, rows, block=10_000).parts(format)

    def _blocks(self) -> Iterator[list[Sequence[Any]]]:
        """Rows in blocks; one empty block where there are none, for the headings."""
        block: list[Sequence[Any]] = []
        begun = False
        for row in self.rows:
            block.append(row)
            if len(block) == self.block:
                begun = True
                yield block
                block = []
        if block or not begun:
            yield block

    def show(self, format: Format | None = None, *, json: bool = False) -> None:
        """Print the table: as text by default, as one JSON list of objects with `json`."""
        if json:
            print_json([dict(zip(self.headings, row, strict=True)) for row in self.rows])
            return
        for part in self.parts(format or Format.table):
            sys.stdout.write(part)
