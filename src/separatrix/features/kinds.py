"""What a column holds, found out or asked for, and its values as that kind."""

from __future__ import annotations

import re
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt

from separatrix.data.columns import are_texts
from separatrix.errors import DataError
from separatrix.features.columns import Column

__all__ = ["KINDS", "as_kind", "detect_kind"]

#: Kinds of columns that a TableEncoder knows.
KINDS = ("numeric", "boolean", "category", "date", "text", "drop")

_ISO_DATE = re.compile(
    r"\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?(Z|[+-]\d{2}:?\d{2})?)?"
)
_TRUE, _FALSE = ("true", "t", "yes", "y", "1"), ("false", "f", "no", "n", "0")


def detect_kind(column: Column) -> str:
    """The kind of a column by its dtype; of objects, by their values.

    Strings are dates when all look like ISO 8601, text by the rule of `are_texts`, and categories
    otherwise; so are values of mixed types.
    """
    kind = {"f": "numeric", "b": "boolean", "M": "date"}.get(column.values.dtype.kind)
    if kind is not None:
        return kind
    values = column.values[~column.missing]
    if len(values) == 0:
        return "category"
    types = set(map(type, values))

    def all_are(*classes: type) -> bool:
        return all(issubclass(found, classes) for found in types)

    if all_are(str):
        return _kind_of_strings(values)
    if all_are(bool, np.bool_):
        return "boolean"
    if all_are(int, float, np.integer, np.floating, Decimal) and bool not in types:
        return "numeric"
    if all_are(date, np.datetime64):
        return "date"
    return "category"


def _kind_of_strings(values: npt.NDArray[Any]) -> str:
    if all(_ISO_DATE.fullmatch(v) for v in set(values)):
        return "date"
    return "text" if are_texts(values) else "category"


def as_kind(column: Column, kind: str) -> Column:
    """The column with values of the dtype of `kind`; DataError names the first that does not fit.

    Numbers are float64, booleans bool, dates datetime64[us]; categories and text are objects.
    """
    values, missing = column.values, column.missing
    if kind == "numeric":
        if values.dtype.kind not in "fb":
            values = _converted(column, kind, _to_number, np.float64)
        values = values.astype(np.float64, copy=False)
        bad = ~np.isfinite(values) & ~missing
        if bad.any():
            _refuse(column, kind, int(np.argmax(bad)))
    elif kind == "boolean":
        if values.dtype.kind != "b":
            values = _converted(column, kind, _to_boolean, np.bool_)
    elif kind == "date":
        if values.dtype.kind != "M":
            values = _converted(column, kind, _to_date, "datetime64[us]")
    elif kind == "text":
        if values.dtype.kind != "O" or set(map(type, values)) != {str}:
            values = _converted(column, kind, str, object)
    elif kind == "category":
        values = values.astype(object, copy=False)
    return Column(column.name, values, missing)


def _converted(column: Column, kind: str, convert: Any, dtype: Any) -> npt.NDArray[Any]:
    blank = "" if kind == "text" else np.datetime64("NaT") if kind == "date" else 0
    result = np.full(len(column.values), blank, dtype=dtype)
    for row in np.flatnonzero(~column.missing):
        try:
            result[row] = convert(column.values[row])
        except (TypeError, ValueError, ArithmeticError):
            _refuse(column, kind, int(row))
    return result


def _refuse(column: Column, kind: str, row: int) -> None:
    raise DataError(
        f"column {column.name!r} is {kind}, but row {row} holds {column.values[row]!r}; "
        f"mend the value or choose another kind: kinds={{{column.name!r}: ...}}"
    ) from None


def _to_number(value: Any) -> float:
    if isinstance(value, np.datetime64 | date):
        raise TypeError
    return float(value)


def _to_boolean(value: Any) -> bool:
    if isinstance(value, str):
        value = value.strip().lower()
        if value not in _TRUE + _FALSE:
            raise ValueError
        return value in _TRUE
    if value not in (0, 1):
        raise ValueError
    return bool(value)


def _to_date(value: Any) -> np.datetime64:
    if isinstance(value, np.datetime64):
        return value
    if isinstance(value, str):
        if not _ISO_DATE.fullmatch(value.strip()):
            raise ValueError
        value = datetime.fromisoformat(value.strip())
    if not isinstance(value, date):
        raise TypeError
    if isinstance(value, datetime) and value.tzinfo is not None:
        value = (value - value.utcoffset()).replace(tzinfo=None)  # type: ignore[operator]
    return np.datetime64(value, "us")
