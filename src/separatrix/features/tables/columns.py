"""Tables of any kind as named columns: frames, mappings, arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import validate_data

from separatrix.data.schema import SchemaColumn, infer_array, is_missing
from separatrix.data.tables.columns import objects, read_value, refusal, word
from separatrix.errors import DataError
from separatrix.validation import number_values

__all__ = ["Column", "Table", "as_kind", "infer_kind", "match_columns", "read_table"]


@dataclass(frozen=True)
class Column:
    """One column of a table.

    Attributes
    ----------
    name : str
        Its name.
    values : ndarray of shape (n,)
        float64, bool, datetime64[us] or object; what stands at missing places has no meaning.
    missing : ndarray of shape (n,)
        Where there is no value.
    """

    name: str
    values: npt.NDArray[Any]
    missing: npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Table:
    """Columns of one length.

    Attributes
    ----------
    columns : dict of str to Column
        By name, in order.
    n_rows : int
        Their length.
    named : bool
        Whether the names came with the table (they are x0, x1, … for plain arrays).
    """

    columns: dict[str, Column]
    n_rows: int
    named: bool

    def rows(self, rows: slice) -> Table:
        """Some rows that follow each other."""
        cut = {n: Column(n, c.values[rows], c.missing[rows]) for n, c in self.columns.items()}
        return Table(cut, rows.stop - rows.start, self.named)


def infer_kind(column: Column) -> SchemaColumn:
    """What a column holds, by the rules of `separatrix.data`."""
    present = column.values[~column.missing]
    if column.values.dtype == object and not len(present):
        return SchemaColumn(column.name, "category", why="no value is there")
    return infer_array(column.name, present)


def as_kind(column: Column, wanted: SchemaColumn) -> Column:
    """The column with values of the dtype of a kind; DataError names the first that does not fit.

    Numbers and lengths of time are float64, flags bool, dates datetime64[us]; categories and text
    are objects.
    """
    values, missing, kind = column.values, column.missing, wanted.kind
    if kind in ("number", "duration"):
        if values.dtype.kind not in "fb":
            values = _converted(column, wanted, np.float64, 0)
        values = values.astype(np.float64, copy=False)
        bad = ~np.isfinite(values) & ~missing
        if bad.any():
            row = int(np.argmax(bad))
            raise refusal(wanted, row, column.values[row])
    elif kind == "flag":
        if values.dtype.kind != "b":
            values = _converted(column, wanted, np.bool_, False)
    elif kind == "date":
        if values.dtype.kind != "M":
            values = _converted(column, wanted, "datetime64[us]", np.datetime64("NaT"))
    elif kind == "text":
        if values.dtype.kind != "O" or set(map(type, values)) != {str}:
            values = objects(
                ["" if gone else word(v) for v, gone in zip(values, missing, strict=True)]
            )
    else:
        values = values.astype(object, copy=False)
    return Column(column.name, values, missing)


def _converted(column: Column, wanted: SchemaColumn, dtype: Any, blank: Any) -> npt.NDArray[Any]:
    result = np.full(len(column.values), blank, dtype=dtype)
    for row in np.flatnonzero(~column.missing):
        try:
            result[row] = read_value(column.values[row], wanted)
        except (TypeError, ValueError, ArithmeticError):
            raise refusal(wanted, int(row), column.values[row]) from None
    return result


def read_table(estimator: Any, X: Any, *, reset: bool) -> Table:
    """The columns of a frame, of a mapping name -> values, or of an array.

    Plain arrays are checked by scikit-learn's rules for `estimator` (number of columns, names).
    """
    if isinstance(X, Mapping):
        return _from_mapping(X)
    if isinstance(X, np.ndarray) and X.dtype.names:
        return _from_mapping({name: X[name] for name in X.dtype.names})
    frame = nw.from_native(X, pass_through=True)
    if isinstance(frame, nw.LazyFrame):
        raise DataError("X is a lazy frame; call .collect() first")
    if isinstance(frame, nw.DataFrame):
        return _from_frame(frame)
    if isinstance(X, list | tuple) and any(isinstance(row, list | tuple) for row in X):
        # As objects: numpy would make strings of mixed rows.
        X = _object_rows(X)
    X = validate_data(estimator, X, reset=reset, dtype=None, ensure_all_finite=False)
    names = [f"x{j}" for j in range(X.shape[1])]
    columns = {name: _from_array(name, X[:, j]) for j, name in enumerate(names)}
    return Table(columns, X.shape[0], named=False)


def match_columns(table: Table, known: list[str]) -> Table:
    """The table with its columns in the order and under the names of `known`.

    Columns of a named table are found by name; missing and new ones are a DataError.
    """
    if not table.named:
        # validate_data has checked their number.
        columns = zip(known, table.columns.values(), strict=True)
        renamed = {name: Column(name, c.values, c.missing) for name, c in columns}
        return Table(renamed, table.n_rows, named=False)
    unseen = sorted(set(table.columns).difference(known))
    missing = sorted(set(known).difference(table.columns))
    if unseen or missing:
        message = "The feature names should match those that were passed during fit.\n"
        for words, names in (
            ("Feature names unseen at fit time:", unseen),
            ("Feature names seen at fit time, yet now missing:", missing),
        ):
            if names:
                shown = [*names[:5], *(["..."] if len(names) > 5 else [])]
                message += f"{words}\n" + "".join(f"- {name}\n" for name in shown)
        raise DataError(f"{message}Drop new columns, and add missing ones (of None, if need be).")
    return Table({name: table.columns[name] for name in known}, table.n_rows, named=True)


def _object_rows(X: Any) -> npt.NDArray[Any]:
    lengths = {len(row) if isinstance(row, list | tuple) else -1 for row in X}
    if len(lengths) != 1:
        raise DataError(f"the rows of X have different lengths: {sorted(lengths)}")
    rows = np.empty((len(X), lengths.pop()), dtype=object)
    for i, row in enumerate(X):
        rows[i] = row
    return rows


def _from_mapping(X: Mapping[Any, Any]) -> Table:
    columns: dict[str, Column] = {}
    for key, values in X.items():
        name = str(key)
        if name in columns:
            raise DataError(f"two columns are called {name!r}")
        plain = isinstance(values, np.ndarray | list)  # which Narwhals takes long to find out
        series = values if plain else nw.from_native(values, series_only=True, pass_through=True)
        if isinstance(series, nw.Series):
            columns[name] = _from_series(name, series)
            continue
        if isinstance(values, str | bytes) or not hasattr(values, "__len__"):
            raise DataError(f"column {name!r} must be a list or an array, got {type(values)}")
        array = values if isinstance(values, np.ndarray) else _object_array(values)
        if array.ndim != 1:
            raise DataError(f"column {name!r} has {array.ndim} dimensions, expected 1")
        columns[name] = _from_array(name, array)
    return _of_one_length(columns)


def _object_array(values: Any) -> npt.NDArray[Any]:
    array = np.empty(len(values), dtype=object)
    array[:] = list(values)
    return array


def _of_one_length(columns: dict[str, Column]) -> Table:
    if not columns:
        raise DataError("X has no columns")
    lengths = {name: len(column.values) for name, column in columns.items()}
    n = next(iter(lengths.values()))
    for name, length in lengths.items():
        if length != n:
            first = next(iter(lengths))
            raise DataError(f"column {name!r} has {length} rows, but {first!r} has {n}")
    if n == 0:
        raise DataError(
            f"Found array with 0 sample(s) (shape=(0, {len(columns)})) while a minimum of 1 is "
            "required."
        )
    return Table(columns, n, named=True)


def _from_frame(frame: Any) -> Table:
    columns: dict[str, Column] = {}
    for series in frame.iter_columns():
        name = str(series.name)
        if name in columns:
            raise DataError(f"two columns are called {name!r}")
        columns[name] = _from_series(name, series)
    return _of_one_length(columns)


def _from_series(name: str, series: Any) -> Column:
    dtype = series.dtype
    if dtype.is_numeric():
        values = series.cast(nw.Float64).to_numpy()
        return _numbers(name, values)
    if dtype == nw.Boolean:
        missing = np.asarray(series.is_null().to_numpy(), dtype=bool)
        if missing.any():
            series = series.fill_null(False)
        return Column(name, np.asarray(series.to_numpy(), dtype=bool), missing)
    if dtype == nw.Date or dtype == nw.Datetime:
        if getattr(dtype, "time_zone", None) is not None:
            series = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
        return _dates(name, series.to_numpy())
    if dtype == nw.Duration:
        return _from_array(name, series.to_numpy().astype("timedelta64[us]"))
    values = _object_array(series.to_list())
    if dtype == nw.String or dtype == nw.Categorical or dtype == nw.Enum:
        return Column(name, values, np.asarray(series.is_null().to_numpy(), dtype=bool))
    return _objects(name, values)


def _from_array(name: str, values: npt.NDArray[Any]) -> Column:
    kind = values.dtype.kind
    if kind == "b":
        return Column(name, values, np.zeros(len(values), dtype=bool))
    if kind in "iuf":
        return _numbers(name, values)
    if kind == "M":
        return _dates(name, values)
    if kind == "m":
        missing = np.isnat(values)
        seconds = values / np.timedelta64(1, "s")
        return Column(name, np.asarray(seconds, dtype=np.float64), missing)
    if kind in "OUT":
        return _objects(name, values.astype(object))
    raise DataError(f"column {name!r} has dtype {values.dtype}, which cannot be encoded")


def _numbers(name: str, values: npt.NDArray[Any]) -> Column:
    values = np.asarray(values, dtype=np.float64)
    if np.isinf(values).any():
        row = int(np.argmax(np.isinf(values)))
        raise DataError(f"Input X contains infinity at row {row + 1}, column {name!r}.")
    return Column(name, values, np.isnan(values))


def _dates(name: str, values: npt.NDArray[Any]) -> Column:
    if values.dtype.kind == "O":
        values = np.array([None if is_missing(v) else v for v in values], dtype="datetime64[us]")
    values = np.asarray(values, dtype="datetime64[us]")
    return Column(name, values, np.isnat(values))


def _objects(name: str, values: npt.NDArray[Any]) -> Column:
    try:
        codes, known = number_values(values)
    except TypeError:
        # Some value has no hash.
        missing = np.fromiter(map(is_missing, values), dtype=bool, count=len(values))
        return Column(name, values, missing)
    each = np.fromiter(map(is_missing, known), dtype=bool, count=len(known))
    return Column(name, values, each[codes])
