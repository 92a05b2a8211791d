"""Columns as arrays: from the cells of a text file, or from typed values, as the schema says."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date, datetime
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from separatrix.data.dataset import LabelSets
from separatrix.data.schema import SchemaColumn, absent_words
from separatrix.data.tables.values import iso_dates, reader
from separatrix.errors import DataError

__all__ = [
    "Numbers",
    "Words",
    "as_words",
    "from_numbers",
    "from_values",
    "from_words",
    "gaps",
    "make_target",
    "objects",
    "read_value",
]

#: Words for a kind in messages.
PLURALS = {
    "number": "numbers",
    "date": "dates",
    "duration": "lengths of time",
    "flag": "yes and no",
}


class Words(NamedTuple):
    """A column of a text file: each value once, and which of them stands in every row.

    Attributes
    ----------
    codes : int array of shape (n,), or None
        None where every row has its own value.
    values : list of str, or array of such objects
        Not all need be distinct: a column of texts is an array of them.
    met : tuple of str, or None
        Of texts, the words for no value that were met.
    """

    codes: npt.NDArray[Any] | None
    values: Any
    met: tuple[str, ...] | None = None

    def spread(self, each: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The column that has for every row what `each` has for its value."""
        return each if self.codes is None else np.asarray(each[self.codes])

    def first(self, n: int) -> list[str]:
        """The words of the first rows."""
        if self.codes is None:
            return list(self.values[:n])
        return [self.values[code] for code in self.codes[:n].tolist()]

    def row_of(self, value: str) -> int:
        """The first row with a value."""
        at = list(self.values).index(value)
        return at if self.codes is None else int(np.argmax(self.codes == at))


class Numbers(NamedTuple):
    """A column of plain numbers of a text file.

    Attributes
    ----------
    values : array of shape (n,)
        int64 where all are whole and none is missing, else float64 with NaN.
    whole : bool
        Whether all are whole.
    missing : tuple of str
        The words for no value that were met.
    """

    values: npt.NDArray[Any]
    whole: bool
    missing: tuple[str, ...]


def as_words(cells: Sequence[str]) -> Words:
    """The column that holds these cells."""
    places: dict[str, int] = {}
    codes = [places.setdefault(cell, len(places)) for cell in cells]
    return Words(np.array(codes, dtype=np.intp), list(places))


def from_words(words: Words, column: SchemaColumn, missing: Sequence[str]) -> npt.NDArray[Any]:
    """The array of a column of a text file.

    Whole numbers without gaps become int64, other numbers float64 with NaN where missing, lengths
    of time float64 in seconds; flags bool, with gaps objects; dates datetime64[us]; everything
    else objects, None where missing.

    Raises
    ------
    DataError
        Names the first row whose value is not of the kind.
    """
    if column.kind == "text":
        return words.spread(objects(words.values))
    values = list(words.values)
    absent = absent_words(column.kind, (*missing, *column.missing))
    gone = np.array([value.strip() in absent for value in values], dtype=bool)
    present = [value for value, nothing in zip(values, gone, strict=True) if not nothing]
    read, nothing, dtype = reader(column.kind, column.form)
    filled: Any = None
    if column.kind == "date":
        filled = iso_dates([value.strip() for value in present])
    elif column.kind == "number":
        try:
            plain = column.form[4:5] != ","
            filled = (
                [int(value) if column.whole else float(value) for value in present]
                if plain
                else None
            )
        except ValueError:
            filled = None
    if filled is None:
        filled = list(_read_all(present, read, words, column))
    if column.whole and not gone.any():
        return words.spread(np.array(filled, dtype=np.int64))
    if column.kind == "flag" and not column.missing and not gone.any():
        return words.spread(np.array(filled, dtype=np.bool_))
    made = np.full(len(values), nothing, dtype=dtype)
    if len(present):
        made[~gone] = filled if dtype is not object else objects(filled)
    return words.spread(made)


def from_numbers(numbers: Numbers, column: SchemaColumn) -> npt.NDArray[Any]:
    """The array of a column of plain numbers, as the schema says."""
    values = numbers.values
    if column.kind == "date":
        return compact_dates(values)
    if column.whole and values.dtype.kind == "i":
        return values
    return values.astype(np.float64, copy=False)


def compact_dates(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Dates of eight digits, as 20191231; NaT for what is none."""
    gone = ~np.isfinite(values)
    whole = np.where(gone, 0, values).astype(np.int64)
    months = (whole // 10_000 - 1970) * 12 + whole // 100 % 100 - 1
    days = months.astype("datetime64[M]").astype("datetime64[D]") + (whole % 100 - 1)
    right = (
        ~gone & (whole // 100 % 100 <= 12) & (days.astype("datetime64[M]").astype(int) == months)
    )
    return np.where(right, days.astype("datetime64[us]"), np.datetime64("NaT", "us"))


def _read_all(present: list[str], read: Any, words: Words, column: SchemaColumn) -> Iterable[Any]:
    for value in present:
        try:
            yield read(value)
        except ValueError:
            raise refusal(column, words.row_of(value), value) from None


def refusal(column: SchemaColumn, row: int, value: Any) -> DataError:
    """The error for a value that is not of its column's kind."""
    held = PLURALS.get(column.kind, column.kind) + (f" ({column.form})" if column.form else "")
    return DataError(
        f"column {column.name!r} holds {held}, but row {row + 1} holds {value!r}; mend "
        f"the value, or choose another kind: kinds={{{column.name!r}: ...}}"
    )


def read_value(value: Any, column: SchemaColumn) -> Any:
    """A typed value, or a word, as the column's kind; ValueError or TypeError if it is none."""
    if isinstance(value, str):
        return reader(column.kind, column.form)[0](value)
    if column.kind in ("number", "duration"):
        if isinstance(value, np.timedelta64):
            return value / np.timedelta64(1, "s")
        if hasattr(value, "total_seconds"):
            return value.total_seconds()
        if isinstance(value, np.datetime64 | date):
            raise TypeError
        return float(value)
    if column.kind == "flag":
        if value not in (0, 1):
            raise ValueError
        return bool(value)
    if column.kind == "date":
        if isinstance(value, np.datetime64):
            return value
        if isinstance(value, int) and not isinstance(value, bool):
            return reader("date", column.form)[0](str(value))  # eight digits
        if not isinstance(value, date):
            raise TypeError
        if isinstance(value, datetime) and value.tzinfo is not None:
            value = (value - value.utcoffset()).replace(tzinfo=None)  # type: ignore[operator]
        return np.datetime64(value, "us")
    return value


def from_values(values: Sequence[Any], column: SchemaColumn) -> npt.NDArray[Any]:
    """The array of a column of typed values, None where missing.

    Raises
    ------
    DataError
        Names the first row whose value is not of the kind.
    """
    if column.kind == "text":
        return objects(["" if value is None else word(value) for value in values])
    if column.kind in ("category", "identifier"):
        return objects([None if value is None else word(value) for value in values])
    if column.kind in ("vector", "labels"):
        return objects(values)
    _, nothing, dtype = reader(column.kind, column.form)
    converted: list[Any] = []
    for row, value in enumerate(values):
        gone = value is None or value != value
        try:
            if not gone and column.whole and type(value) is int:
                converted.append(value)
            else:
                converted.append(nothing if gone else read_value(value, column))
        except (TypeError, ValueError, ArithmeticError):
            raise refusal(column, row, value) from None
    complete = not any(value is None for value in converted)
    if column.whole and all(type(value) is int for value in converted):
        return np.array(converted, dtype=np.int64)
    if column.kind == "flag" and not column.missing and complete:
        return np.array(converted, dtype=np.bool_)
    return objects(converted) if dtype is object else np.array(converted, dtype=dtype)


def word(value: Any) -> str:
    """A typed value in a column of strings, as JSON would write it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else str(value)


def objects(values: Sequence[Any]) -> npt.NDArray[np.object_]:
    """An object array of the values, lists among them left whole."""
    if isinstance(values, np.ndarray) and values.dtype == object:
        return values
    array = np.empty(len(values), dtype=object)
    array[:] = values if isinstance(values, list) else list(values)
    return array


def gaps(column: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Which rows of a column have no value: NaN among numbers, NaT among dates, None among objects.

    Examples
    --------
    >>> gaps(np.array([1.0, np.nan])), gaps(objects(["a", None]))
    (array([False,  True]), array([False,  True]))
    """
    if column.dtype.kind == "f":
        return np.asarray(np.isnan(column))
    if column.dtype.kind in "mM":
        return np.asarray(np.isnat(column))
    if column.dtype == object:
        return np.asarray(column == None, dtype=bool)  # noqa: E711
    return np.zeros(len(column), dtype=bool)


def _hashable(column: npt.NDArray[Any]) -> bool:
    try:
        dict.fromkeys(column.tolist())
    except TypeError:
        return False
    return True


def make_target(column: npt.NDArray[Any]) -> npt.NDArray[Any] | LabelSets:
    """A target from its column: lists become label sets."""
    if column.dtype == object and not _hashable(column):
        for row, value in enumerate(column):
            if not isinstance(value, list):
                raise DataError(
                    f"row {row + 1} of the target is {value!r}, other rows are lists of "
                    "labels; an empty list stands for none"
                )
        return LabelSets.of(column.tolist())
    return column
