"""From the rows of a request to what a model predicts from, with the field of every mistake."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp

from separatrix.data.schema import SchemaColumn
from separatrix.errors import DataError
from separatrix.features.columns import Column, as_kind
from separatrix.serve.problems import Problem

__all__ = ["MatrixReader", "Reader", "TableReader", "TextReader", "bad", "number"]

_NUMBERS = {int, float}
_SHOWN = 40
#: Most numbers of an example that are all written down.
_DENSE = 1000


class Reader(Protocol):
    """One kind of input."""

    #: "text", "table", "matrix", "images" or "sequences".
    kind: str

    def check(self, rows: list[Any]) -> tuple[list[Any], str]:
        """Rows in the form that `join` takes, and its name: only equal forms may be joined.

        Raises
        ------
        Problem
            With the field that is wrong.
        """

    def join(self, rows: list[Any]) -> Any:
        """What the model predicts from, of all rows."""

    def example(self) -> Any:
        """A row that can be predicted."""

    def schema(self) -> dict[str, Any]:
        """JSON schema of a row."""


def shown(value: Any) -> str:
    """A value in a message: its kind, and its beginning if it is short."""
    names = {dict: "an object", list: "an array", str: "a string", bool: "a truth value"}
    if value is None:
        return "null"
    said = names.get(type(value), "a number")
    return f"{said} ({value!r})" if isinstance(value, int | float) else said


def bad(field: str, wanted: str, value: Any) -> Problem:
    """The problem of a field that should be something else."""
    return Problem("invalid", f"must be {wanted}, got {shown(value)}", field)


def number(value: Any, field: str) -> float:
    """A finite number, or a Problem."""
    if type(value) in _NUMBERS:
        try:
            found = float(value)
        except OverflowError:
            found = math.inf
        if math.isfinite(found):
            return found
        raise Problem("invalid", "must be a finite number", field)
    raise bad(field, "a number", value)


class TextReader:
    """Rows that are texts."""

    kind = "text"

    def check(self, rows: list[Any]) -> tuple[list[Any], str]:
        """Texts as they are."""
        for at, row in enumerate(rows):
            if type(row) is not str:
                raise bad(f"rows[{at}]", "a string", row)
        return rows, "text"

    def join(self, rows: list[Any]) -> Any:
        """The texts."""
        return rows

    def example(self) -> Any:
        """A text."""
        return "See you at noon"

    def schema(self) -> dict[str, Any]:
        """A string."""
        return {"type": "string"}


class TableReader:
    """Rows that are objects: a value per column.

    Parameters
    ----------
    columns : sequence of str
        All must be there; null stands for a missing value.
    kinds : dict of str to str, optional
        Kind of each column, as `TableEncoder` names them; without, all are numbers, and the model
        takes a matrix.
    categories : dict of str to list, optional
        Known values of the columns of categories.
    """

    kind = "table"

    def __init__(
        self,
        columns: Sequence[str],
        kinds: dict[str, str] | None = None,
        categories: dict[str, list[Any]] | None = None,
    ) -> None:
        self.columns = tuple(columns)
        self.kinds = dict.fromkeys(columns, "number") if kinds is None else kinds
        self.categories = categories or {}
        self.takes_table = kinds is not None
        self._words = {
            name
            for name, values in self.categories.items()
            if values and all(isinstance(value, str) for value in values)
        }

    def check(self, rows: list[Any]) -> tuple[list[Any], str]:
        """Values in the order of the columns."""
        return [self._row(row, f"rows[{at}]") for at, row in enumerate(rows)], "table"

    def _row(self, row: Any, place: str) -> list[Any]:
        if type(row) is not dict:
            raise bad(place, "an object with a value per column", row)
        if len(row) > len(self.columns):
            unknown = next(name for name in row if name not in self.kinds)
            raise Problem("invalid", "is no column of the model", f"{place}.{unknown[:_SHOWN]}")
        values: list[Any] = []
        for name in self.columns:
            field = f"{place}.{name}"
            if name not in row:
                for other in row:
                    if other not in self.columns:
                        raise Problem(
                            "invalid", "is no column of the model", f"{place}.{other[:_SHOWN]}"
                        )
                raise Problem("invalid", "is missing; null stands for a missing value", field)
            value = row[name]
            if value is None and self.takes_table:
                values.append(None)
            else:
                values.append(self._value(value, name, field))
        return values

    def _value(self, value: Any, name: str, field: str) -> Any:
        kind = self.kinds.get(name, "category")
        if kind == "number":
            return number(value, field)
        if kind == "flag":
            if type(value) is not bool:
                raise bad(field, "true or false", value)
        elif kind == "text" or name in self._words:
            if type(value) is not str:
                raise bad(field, "a string", value)
        elif kind == "date":
            cell = np.empty(1, dtype=object)
            cell[0] = value
            try:
                as_kind(Column(name, cell, np.zeros(1, dtype=bool)), SchemaColumn(name, "date"))
            except DataError:
                raise Problem("invalid", "must be a date (ISO 8601)", field) from None
        elif isinstance(value, dict | list):
            raise bad(field, "a string, a number or a truth value", value)
        elif type(value) in _NUMBERS:
            number(value, field)
        return value

    def join(self, rows: list[Any]) -> Any:
        """Columns by name, or a matrix."""
        columns = list(zip(*rows, strict=True))
        if not self.takes_table:
            return np.array(rows, dtype=np.float64).reshape(len(rows), len(self.columns))
        table: dict[str, Any] = {}
        for name, values in zip(self.columns, columns, strict=True):
            if self.kinds.get(name) == "number":
                table[name] = np.array(values, dtype=np.float64)
            else:
                table[name] = np.empty(len(values), dtype=object)
                table[name][:] = values
        return table

    def example(self) -> Any:
        """A row with a usual value in every column."""
        usual = {"number": 0.0, "flag": True, "date": "2024-05-17", "text": "some words"}
        known = {name: values[0] for name, values in self.categories.items() if values}
        return {
            name: known.get(name, usual.get(self.kinds.get(name, ""), "value"))
            for name in self.columns
        }

    def schema(self) -> dict[str, Any]:
        """An object with a property per column."""
        types = {"number": "number", "flag": "boolean", "date": "string", "text": "string"}
        properties: dict[str, dict[str, Any]] = {}
        for name in self.columns:
            single = types.get(self.kinds.get(name, ""), "string" if name in self._words else "")
            every = [single] if single else ["string", "number", "boolean"]
            properties[name] = {"type": [*every, "null"]}
            if self.kinds.get(name) == "date":
                properties[name]["format"] = "date"
        return {
            "type": "object",
            "properties": properties,
            "required": list(self.columns),
            "additionalProperties": False,
        }


class MatrixReader:
    """Rows of numbers: an array, or indices and values of what is not zero.

    Parameters
    ----------
    kind : {"matrix", "images"}
        Of images a row may also be an array of lines of pixels.
    n_features : int
        Numbers of a row.
    """

    def __init__(self, kind: str, n_features: int) -> None:
        self.kind = kind
        self.n_features = n_features

    def check(self, rows: list[Any]) -> tuple[list[Any], str]:
        """Arrays of float64, or pairs of indices and values."""
        return [self._row(row, f"rows[{at}]") for at, row in enumerate(rows)], "matrix"

    def _row(self, row: Any, place: str) -> Any:
        if type(row) is dict:
            return self._sparse(row, place)
        if type(row) is not list:
            raise bad(place, f"an array of {self.n_features} numbers", row)
        if self.kind == "images" and row and all(type(line) is list for line in row):
            row = [pixel for line in row for pixel in line]
        if len(row) != self.n_features:
            raise Problem("invalid", f"must hold {self.n_features} numbers, got {len(row)}", place)
        return self._numbers(row, place)

    def _numbers(self, values: list[Any], place: str) -> Any:
        if set(map(type, values)) <= _NUMBERS:
            try:
                found = np.array(values, dtype=np.float64)
            except OverflowError:
                found = np.array([math.inf])
            if np.isfinite(found).all():
                return found
        return np.array([number(value, f"{place}[{at}]") for at, value in enumerate(values)])

    def _sparse(self, row: dict[str, Any], place: str) -> Any:
        indices, values = row.get("indices"), row.get("values")
        if set(row) != {"indices", "values"} or type(indices) is not list:
            raise Problem("invalid", "must be an object with indices and values", place)
        if type(values) is not list or len(values) != len(indices):
            raise Problem("invalid", "must be as many as indices", f"{place}.values")
        for at, index in enumerate(indices):
            whole = type(index) is int or (type(index) is float and index.is_integer())
            if not whole or not 0 <= index < self.n_features:
                wanted = f"a column from 0 to {self.n_features - 1}"
                raise bad(f"{place}.indices[{at}]", wanted, index)
        if len(set(indices)) < len(indices):
            raise Problem("invalid", "must be different", f"{place}.indices")
        return np.array(indices, dtype=np.int64), self._numbers(values, f"{place}.values")

    def join(self, rows: list[Any]) -> Any:
        """A dense matrix, or CSR where a row is given by indices."""
        if not any(isinstance(row, tuple) for row in rows):
            return np.vstack(rows)
        every = [
            row if isinstance(row, tuple) else (np.arange(self.n_features), row) for row in rows
        ]
        indptr = np.cumsum([0, *(len(indices) for indices, _ in every)])
        data = np.concatenate([values for _, values in every])
        columns = np.concatenate([indices for indices, _ in every])
        matrix = sp.csr_matrix((data, columns, indptr), shape=(len(rows), self.n_features))
        matrix.sort_indices()
        return matrix

    def example(self) -> Any:
        """Zeros; of very many numbers a sparse row."""
        if self.n_features <= _DENSE:
            return [0.0] * self.n_features
        return {"indices": [0], "values": [1.0]}

    def schema(self) -> dict[str, Any]:
        """An array, or an object with indices and values."""
        numbers = {"type": "array", "items": {"type": "number"}}
        n = self.n_features
        dense = numbers | {"minItems": n, "maxItems": n}
        index = {"type": "integer", "minimum": 0, "maximum": n - 1}
        indices = {"type": "array", "items": index, "uniqueItems": True}
        sparse = {
            "type": "object",
            "properties": {"indices": indices, "values": numbers},
            "required": ["indices", "values"],
            "additionalProperties": False,
        }
        return {"anyOf": [dense, sparse]} if self.kind == "matrix" else dense
