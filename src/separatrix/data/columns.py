"""Columns of a table: what kind of values they hold, and arrays of that kind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from separatrix.data.dataset import LabelSets

__all__ = ["ColumnKind", "kind_of_strings", "kind_of_values", "make_column", "make_target"]

#: Words a value on average from which on a column of strings counts as text.
TEXT_WORDS = 5.0
_LARGEST = 2**63


@dataclass(frozen=True)
class ColumnKind:
    """What the values of a column are, as far as they were seen.

    Parameters
    ----------
    base : {"none", "bool", "int", "float", "string", "list"}
        "none": no value is there.
    missing : bool
        Whether some value is missing.
    n_values, n_words : int
        Strings seen, and words in them.

    Examples
    --------
    >>> kind_of_strings(["1", "2.5"], ()).base, kind_of_strings(["1", "x"], ()).base
    ('float', 'string')
    """

    base: str = "none"
    missing: bool = False
    n_values: int = 0
    n_words: int = 0

    def __or__(self, other: ColumnKind) -> ColumnKind:
        """The kind of both columns together."""
        bases = {self.base, other.base} - {"none"}
        if len(bases) < 2:
            base = bases.pop() if bases else "none"
        else:
            base = "float" if bases == {"int", "float"} else "string"
        return ColumnKind(
            base,
            self.missing or other.missing,
            self.n_values + other.n_values,
            self.n_words + other.n_words,
        )

    @property
    def is_text(self) -> bool:
        """Whether these are strings of many words."""
        return self.base == "string" and self.n_words >= TEXT_WORDS * max(self.n_values, 1)


def kind_of_strings(values: Sequence[str], missing: Sequence[str]) -> ColumnKind:
    """The kind of a column of a text file; `missing` are the words for no value."""
    absent = set(missing)
    distinct = set(values)
    present = [value for value in distinct if value.strip() not in absent]
    lacks = len(present) < len(distinct)
    base = _base_of_strings(present)
    if base != "string":
        return ColumnKind(base, lacks, len(values))
    words = sum(len(value.split()) for value in values)
    return ColumnKind(base, lacks, len(values), words)


def _base_of_strings(present: list[str]) -> str:
    if not present:
        return "none"
    try:
        numbers = list(map(float, present))
    except ValueError:
        lowered = {value.strip().lower() for value in present}
        return "bool" if lowered <= {"true", "false"} else "string"
    joined = "".join(present)
    # Python also reads 1_000 and digits of other scripts as numbers; in a file they are words.
    if "_" in joined or not joined.isascii():
        return "string"
    try:
        whole = max(map(abs, map(int, present))) < _LARGEST
    except ValueError:
        whole = False
    return "int" if whole and all(map(np.isfinite, numbers)) else "float"


def kind_of_values(values: Sequence[Any]) -> ColumnKind:
    """The kind of a column of typed values: numbers, truth values, strings, lists, None."""
    kind = ColumnKind(missing=any(value is None for value in values))
    types = {type(value) for value in values} - {type(None)}
    for seen in types:
        if seen is bool:
            base = "bool"
        elif seen is int:
            largest = max(abs(value) for value in values if type(value) is int)
            # What no double holds stays as its digits.
            base = "int" if largest < _LARGEST else "float" if largest < 10**308 else "string"
        elif seen is float:
            base = "float"
        else:
            base = "list" if seen is list else "string"
        kind |= ColumnKind(base)
    if kind.base == "string":
        strings = [value for value in values if value is not None]
        words = sum(len(str(value).split()) for value in strings)
        kind = ColumnKind("string", kind.missing, len(strings), words)
    return kind


def make_column(values: Sequence[Any], kind: ColumnKind, missing: Sequence[str]) -> Any:
    """An array of the values: of a text file, or typed ones.

    Numbers without gaps become int64 or float64, numbers with gaps float64 with NaN; truth values
    bool, with gaps objects; strings objects, None where missing.
    """
    if kind.base == "list":
        return objects(values)
    absent = {*missing, None}
    if kind.base == "string" and not missing:
        # Typed values: 1, 1.0 and True are equal and yet different words.
        converted = [_convert(value, kind, absent) for value in values]
    else:
        # Columns repeat their values: every distinct one is converted once.
        made = {value: _convert(value, kind, absent) for value in set(values)}
        converted = [made[value] for value in values]
    if kind.base in ("none", "float", "int"):
        whole = kind.base == "int" and not kind.missing
        return np.array(converted, dtype=np.int64 if whole else np.float64)
    if kind.base == "bool" and not kind.missing:
        return np.array(converted, dtype=np.bool_)
    return objects(converted)


def _convert(value: Any, kind: ColumnKind, absent: set[Any]) -> Any:
    number = kind.base in ("none", "float", "int")
    if _is_absent(value, absent):
        return np.nan if number else None
    if number:
        return int(value) if kind.base == "int" and not kind.missing else float(value)
    if kind.base == "bool":
        return str(value).strip().lower() == "true"
    return _word(value)


def _is_absent(value: Any, absent: set[Any]) -> bool:
    return (value.strip() if isinstance(value, str) else value) in absent


def _word(value: Any) -> str:
    """A typed value in a column of strings, as JSON would write it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else str(value)


def make_text(values: Sequence[Any]) -> npt.NDArray[np.object_]:
    """A column of texts: nothing is missing, null is the empty text."""
    return objects(["" if value is None else _word(value) for value in values])


def objects(values: Sequence[Any]) -> npt.NDArray[np.object_]:
    """An object array of the values, lists among them left whole."""
    array = np.empty(len(values), dtype=object)
    array[:] = values if isinstance(values, list) else list(values)
    return array


def make_target(column: npt.NDArray[Any]) -> npt.NDArray[Any] | LabelSets:
    """A target from its column: lists become label sets."""
    if column.dtype == object and any(isinstance(value, list) for value in column):
        return LabelSets.of(column.tolist())
    return column
