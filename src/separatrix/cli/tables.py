"""Tables on standard output or in a file: aligned text, CSV or JSON lines."""

from __future__ import annotations

import csv
import io
import json
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from separatrix.cli.options import Format

#: Rows whose cells are aligned with each other.
_ALIGNED = 1000

__all__ = ["Table", "column_texts", "plain", "print_json", "show"]


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
    for line in getattr(found, "colored", list)():
        console.print(Text.assemble(*line), highlight=False)
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
        for at in range(len(widths))
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
        Values, not words for them: numbers stay numbers in JSON.

    Examples
    --------
    >>> Table(("name", "size"), [("a", 1.5), ("bcd", 20)]).show()
    name  size
    a      1.5
    bcd     20
    >>> Table(("name", "size"), [("a", 1.5), ("bcd", 20)]).show(Format.jsonl)
    {"name": "a", "size": 1.5}
    {"name": "bcd", "size": 20}
    """

    headings: Sequence[str]
    rows: Iterable[Sequence[Any]]

    def show(self, format: Format | None = None, *, json: bool = False) -> None:
        """Print the table: as text by default, as one JSON list of objects with `json`."""
        rows = list(self.rows)
        if json or format is Format.json:
            print_json([dict(zip(self.headings, row, strict=True)) for row in rows])
            return
        columns = list(zip(*rows, strict=True)) or [()] * len(self.headings)
        table = dict(zip(self.headings, columns, strict=True))
        for part in column_texts([table], format or Format.table):
            sys.stdout.write(part)


def column_texts(tables: Iterable[Mapping[str, Any]], format: Format) -> Iterator[str]:
    """The text of tables with the same columns, one after the other, as they come.

    Parameters
    ----------
    tables : iterable of mappings
        Names of columns to their values, arrays or lists.
    format : Format

    Examples
    --------
    >>> import numpy as np
    >>> tables = [{"label": ["a", None], "P": np.array([0.5, np.nan])}]
    >>> print("".join(column_texts(tables, Format.csv)), end="")
    label,P
    a,0.5
    ,nan
    >>> print("".join(column_texts(tables, Format.json)), end="")
    [{"label": "a", "P": 0.5},
    {"label": null, "P": null}]
    """
    widths: list[int] = []
    begun = False  # whether headings, or the beginning of a JSON list, are written
    for table in tables:
        heads = list(table)
        if format is Format.table:
            widths = widths or [0] * len(heads)
            held = (getattr(one, "tolist", lambda one=one: one)() for one in table.values())
            rows = list(zip(*held, strict=True))
            for at in range(0, max(1, len(rows)), _ALIGNED):
                told = [] if begun else heads
                yield "\n".join(_aligned(told, rows[at : at + _ALIGNED], widths)) + "\n"
                begun = True
        elif format is Format.csv:
            if not begun:
                yield ",".join(_csv_cell(head, len(heads) == 1) for head in heads) + "\n"
            yield _csv_rows(table)
        else:
            lines = format is Format.jsonl
            text = _json_rows(table, "" if lines else ",\n", "\n" if lines else "")
            yield text if begun or lines else f"[{text[2:]}"
        begun = True
    if format is Format.json:
        yield "]\n" if begun else "[]\n"


def _csv_cell(value: Any, alone: bool) -> str:
    """A value as a cell; one that is alone in its row and empty has to be quoted."""
    buffer = io.StringIO()
    csv.writer(buffer).writerow([_listed(value)] if alone else [_listed(value), ""])
    return buffer.getvalue()[: -2 if alone else -3]


def _csv_rows(table: Mapping[str, Any]) -> str:
    alone = len(table) == 1
    between = ["", *[","] * (len(table) - 1), "\n"]
    return _rows(table, lambda value: _csv_cell(value, alone), between)


def _json_rows(table: Mapping[str, Any], before: str, after: str) -> str:
    names = [f"{json.dumps(name, ensure_ascii=False)}: " for name in table]
    between = [before + "{" + names[0], *(f", {name}" for name in names[1:]), "}" + after]
    return _rows(table, _json_cell, between)


def _json_cell(value: Any) -> str:
    return json.dumps(plain(value), ensure_ascii=False)


def _rows(table: Mapping[str, Any], spell: Callable[[Any], str], between: list[str]) -> str:
    """All rows as text."""
    from separatrix._core import write_rows
    from separatrix.validation import number_of_threads

    columns = [_cells(values, spell) for values in table.values()]
    return write_rows(columns, between, number_of_threads(None))


def _cells(values: Any, spell: Callable[[Any], str]) -> Any:
    """A column as the kernel writes it: each distinct value that is no number spelled once."""
    import numpy as np

    from separatrix.data.tables.columns import objects
    from separatrix.validation import number_values

    array = values if isinstance(values, np.ndarray) else objects(values)
    if array.dtype.kind in "iu" or (array.dtype.kind == "f" and np.isfinite(array).all()):
        whole = array.dtype.kind != "f"
        return np.ascontiguousarray(array, dtype=np.int64 if whole else np.float64)
    try:
        codes, known = number_values(array)
    except TypeError:  # lists
        return np.arange(len(array)), [spell(value) for value in array.tolist()]
    return codes, [spell(value) for value in known]
