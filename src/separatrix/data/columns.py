"""Columns of a table: what kind of values they hold, and arrays of that kind."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt

from separatrix.data.dataset import LabelSets
from separatrix.errors import DataError

__all__ = [
    "ColumnKind",
    "are_texts",
    "gaps",
    "kind_of_strings",
    "kind_of_values",
    "make_column",
    "make_target",
]

#: Words a value on average from which on strings count as texts, and how many are looked at.
_TEXT_WORDS, _TEXT_SAMPLE = 3, 10_000
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
    sample : tuple
        The first values that are there and not blank, for `are_texts`.

    Examples
    --------
    >>> kind_of_strings(["1", "2.5"], ()).base, kind_of_strings(["1", "x"], ()).base
    ('float', 'string')
    """

    base: str = "none"
    missing: bool = False
    sample: tuple[Any, ...] = field(default=(), repr=False)

    def __or__(self, other: ColumnKind) -> ColumnKind:
        """The kind of both columns together."""
        bases = {self.base, other.base} - {"none"}
        if len(bases) < 2:
            base = bases.pop() if bases else "none"
        else:
            base = "float" if bases == {"int", "float"} else "string"
        sample = self.sample
        if len(sample) < _TEXT_SAMPLE:
            sample = (sample + other.sample)[:_TEXT_SAMPLE]
        return ColumnKind(base, self.missing or other.missing, sample)

    @property
    def is_text(self) -> bool:
        """Whether these are strings, and texts."""
        return self.base == "string" and are_texts(map(_word, self.sample))


def are_texts(values: Iterable[str]) -> bool:
    """Whether strings are texts rather than names of categories: what ``"auto"`` goes by.

    They are when they have three words or more on average and more than half of them are distinct,
    by the first ten thousand that are not blank.

    Examples
    --------
    >>> are_texts(["good value for money", "broke after a week", "does what it says"])
    True
    >>> are_texts(["New York City", "New York City", "New York City", "Oslo"])
    False
    """
    seen = list(islice(filter(str.strip, values), _TEXT_SAMPLE))
    if 2 * len(set(seen)) <= len(seen):  # of no values too
        return False
    return sum(len(value.split()) for value in seen) >= _TEXT_WORDS * len(seen)


def kind_of_strings(values: Sequence[str], missing: Sequence[str]) -> ColumnKind:
    """The kind of a column of a text file; `missing` are the words for no value."""
    absent = set(missing)
    distinct = set(values)
    present = [value for value in distinct if value.strip() not in absent]
    said = {value for value in present if value.strip()}
    there = values if len(said) == len(distinct) else filter(said.__contains__, values)
    sample = tuple(islice(there, _TEXT_SAMPLE))
    return ColumnKind(_base_of_strings(present), len(present) < len(distinct), sample)


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
    blank = (value is None or (isinstance(value, str) and not value.strip()) for value in values)
    there = (value for value, nothing in zip(values, blank, strict=True) if not nothing)
    sample = tuple(islice(there, _TEXT_SAMPLE))
    kind = ColumnKind("none", any(value is None for value in values), sample)
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


def gaps(column: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Which rows of a column have no value: NaN among numbers, None among objects.

    Examples
    --------
    >>> gaps(np.array([1.0, np.nan])), gaps(objects(["a", None]))
    (array([False,  True]), array([False,  True]))
    """
    if column.dtype.kind == "f":
        return np.asarray(np.isnan(column))
    if column.dtype == object:
        return np.array([value is None for value in column], dtype=bool)
    return np.zeros(len(column), dtype=bool)


def make_target(column: npt.NDArray[Any]) -> npt.NDArray[Any] | LabelSets:
    """A target from its column: lists become label sets."""
    if column.dtype == object and any(isinstance(value, list) for value in column):
        for row, value in enumerate(column):
            if not isinstance(value, list):
                raise DataError(
                    f"row {row} (from 0) of the target is {value!r}, other rows are lists of "
                    "labels; an empty list stands for none"
                )
        return LabelSets.of(column.tolist())
    return column
