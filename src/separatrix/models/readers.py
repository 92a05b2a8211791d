"""From rows as JSON has them to what a model predicts from, one reader for each kind of input.

A mistake is a FieldError that names its place, such as ``rows[3].age``.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from separatrix.data import TokenSequences
from separatrix.data.schema import Schema, SchemaColumn
from separatrix.data.tables.columns import read_value
from separatrix.errors import DataError
from separatrix.features.templates.columns import has_column, positions, token_sequences
from separatrix.tasks import FieldError, Fitted

__all__ = ["Reader", "reader_of"]

_NUMBERS = {int, float}
_SHOWN = 40
#: Most numbers of an example that are all written down.
_DENSE = 1000
#: Most values of a category that are listed, and most numbers that get a field each.
_LISTED, _FIELDS = 200, 60


class Reader(ABC):
    """One kind of input."""

    #: "text", "table", "matrix", "images", "sequences" or "pictures".
    kind: str
    #: Which form of the service's page fits: a template and a script of this name.
    page: str

    @abstractmethod
    def check(self, rows: list[Any], most: int | None = None) -> tuple[list[Any], str]:
        """Rows in the form that `join` takes, and its name: only equal forms may be joined.

        Parameters
        ----------
        rows : list
        most : int, optional
            Tokens, or pixels, of all rows at most.

        Raises
        ------
        FieldError
            With the field that is wrong.
        """

    def n_places(self, rows: list[Any]) -> int:
        """How many labels are predicted for checked rows: one each, or for tokens or pixels."""
        return len(rows)

    @abstractmethod
    def join(self, rows: list[Any]) -> Any:
        """What the model predicts from, of all rows."""

    def oddities(self, rows: list[Any]) -> Iterator[tuple[str, str]]:
        """Columns, once for every value that is "missing", or a category that is "unknown"."""
        return iter(())

    def single(self, row: Any) -> Any:
        """What explanations take, of one row."""
        return self.join([row])

    @abstractmethod
    def example(self) -> Any:
        """A row that can be predicted."""

    @abstractmethod
    def schema(self) -> dict[str, Any]:
        """JSON schema of a row."""

    def features(self, model: Fitted) -> dict[str, Any]:
        """What a row holds, in the words of a model's card."""
        return {}

    def of_arrow(self, names: Sequence[str], columns: list[list[Any]]) -> list[Any]:
        """Rows of a table of Arrow: those of its only column."""
        if len(names) != 1:
            raise FieldError(f"must have one column, got {len(names)}", "rows")
        return list(columns[0])


def reader_of(model: Fitted) -> Reader:
    """The reader that fits the inputs of a model.

    Raises
    ------
    DataError
        It is not known how many numbers a row has.
    """
    inputs, learner = model.inputs, model.learner
    if inputs.kind == "text":
        return TextReader()
    if inputs.kind == "pictures":
        return PictureReader(learner.n_channels_in_)
    if inputs.kind == "sequences":
        wanted = [name for step in model.steps for name in getattr(step, "columns_", ())]
        if not model.steps:  # a baseline
            wanted = [getattr(learner, "column", "word")]
        return SequenceReader(True, inputs.columns or positions(wanted), wanted, None)
    if inputs.kind == "attributes":
        unnamed = getattr(learner, "attributes_", ()) is None
        n_attributes = learner.n_attributes_in_ if unnamed else None
        return SequenceReader(False, (), (), n_attributes)
    if inputs.kind == "table":
        first = model.steps[0] if model.steps else learner
        schema = getattr(first, "schema_", None)
        return TableReader(inputs.columns, schema, getattr(first, "categories_", None))
    n_features = inputs.n_features or getattr(model.estimator, "n_features_in_", None)
    if n_features is None:
        raise DataError("the file does not say how many numbers a row has")
    return MatrixReader(inputs.kind, int(n_features))


def shown(value: Any) -> str:
    """A value in a message: its kind, and its beginning if it is short."""
    names = {dict: "an object", list: "an array", str: "a string", bool: "a truth value"}
    if value is None:
        return "null"
    said = names.get(type(value), "a number")
    return f"{said} ({value!r})" if isinstance(value, int | float) else said


def bad(field: str, wanted: str, value: Any) -> FieldError:
    """The error of a field that should be something else."""
    return FieldError(f"must be {wanted}, got {shown(value)}", field)


def number(value: Any, field: str) -> float:
    """A finite number, or a FieldError."""
    if type(value) in _NUMBERS:
        try:
            found = float(value)
        except OverflowError:
            found = math.inf
        if math.isfinite(found):
            return found
        raise FieldError("must be a finite number", field)
    raise bad(field, "a number", value)


class _Kind(NamedTuple):
    """What a column of a kind takes in JSON beside null, and a usual value of it."""

    words: str
    types: tuple[type, ...]
    json: tuple[str, ...]
    usual: Any


_KINDS = {
    "number": _Kind("a number", (), ("number",), 0.0),
    "duration": _Kind("a length of time, in seconds or as 1:30:00", (int, float), ("number",), 60),
    "flag": _Kind("true or false", (bool,), ("boolean",), True),
    "date": _Kind("a date (ISO 8601)", (int,), ("string",), "2024-05-17"),
}
_ANY = ("string", "number", "boolean")


def _as_encoded(column: SchemaColumn) -> SchemaColumn:
    """A column that is left out takes what a category takes."""
    kept = column.role != "left out"
    return column if kept else SchemaColumn(column.name, "category")


def _may_be_words(value: Any, column: SchemaColumn) -> bool:
    """Whether a value is a string, and files may hold such in this column.

    JSON has numbers and truth values of its own; what files write otherwise is read as they are.
    """
    plain = column.kind in ("number", "flag") and column.form in ("", "1234", "1234.5")
    return type(value) is str and not plain


def _forms(column: SchemaColumn) -> tuple[str, ...]:
    """How values may be written: as in files, and dates in the order of ISO 8601 too."""
    is_date = column.kind == "date" and column.form not in ("", "ymd")
    return (column.form, "ymd") if is_date else (column.form,)


def _as_written(column: SchemaColumn) -> str:
    """How files write the values, to be added to a message."""
    return f", or as {column.form}" if column.form and _may_be_words("", column) else ""


class TextReader(Reader):
    """Rows that are texts."""

    kind = page = "text"

    def check(self, rows: list[Any], most: int | None = None) -> tuple[list[Any], str]:
        """Texts as they are."""
        for at, row in enumerate(rows):
            if type(row) is not str:
                raise bad(f"rows[{at}]", "a string", row)
        return rows, "text"

    def join(self, rows: list[Any]) -> Any:
        """The texts."""
        return rows

    def single(self, row: Any) -> Any:
        """The text."""
        return row

    def example(self) -> Any:
        """A text."""
        return "See you at noon"

    def schema(self) -> dict[str, Any]:
        """A string."""
        return {"type": "string"}


class TableReader(Reader):
    """Rows that are objects: a value per column.

    Parameters
    ----------
    columns : sequence of str
        All must be there; null stands for a missing value.
    schema : Schema, optional
        What each column holds and how it is written; without, all are numbers, and the model takes
        a matrix.
    categories : dict of str to list, optional
        Known values of the columns of categories.
    """

    kind = page = "table"

    def __init__(
        self,
        columns: Sequence[str],
        schema: Schema | None = None,
        categories: dict[str, list[Any]] | None = None,
    ) -> None:
        self.columns = tuple(columns)
        self.held = {
            name: SchemaColumn(name, "number") if schema is None else _as_encoded(schema[name])
            for name in columns
        }
        self.categories = categories or {}
        self.takes_table = schema is not None
        self._words = {
            name
            for name, values in self.categories.items()
            if values and all(isinstance(value, str) for value in values)
        }
        self._known = {name: frozenset(values) for name, values in self.categories.items()}

    def check(self, rows: list[Any], most: int | None = None) -> tuple[list[Any], str]:
        """Values in the order of the columns."""
        return [self._row(row, f"rows[{at}]") for at, row in enumerate(rows)], "table"

    def _row(self, row: Any, place: str) -> list[Any]:
        if type(row) is not dict:
            raise bad(place, "an object with a value per column", row)
        if len(row) > len(self.columns):
            unknown = next(name for name in row if name not in self.held)
            raise FieldError("is no column of the model", f"{place}.{unknown[:_SHOWN]}")
        values: list[Any] = []
        for name in self.columns:
            field = f"{place}.{name}"
            if name not in row:
                for other in row:
                    if other not in self.held:
                        raise FieldError("is no column of the model", f"{place}.{other[:_SHOWN]}")
                raise FieldError("is missing; null stands for a missing value", field)
            value = row[name]
            if value is None and self.takes_table:
                values.append(None)
            else:
                values.append(self._value(value, name, field))
        return values

    def _value(self, value: Any, name: str, field: str) -> Any:
        column = self.held[name]
        if type(value) is str and value in column.missing and self.takes_table:
            return None
        if column.kind in _KINDS:
            if column.kind == "number" and type(value) in _NUMBERS:
                return number(value, field)
            if type(value) in _KINDS[column.kind].types or _may_be_words(value, column):
                for form in _forms(column):
                    try:
                        return read_value(value, replace(column, form=form))
                    except (ValueError, ArithmeticError):
                        continue
            raise bad(field, _KINDS[column.kind].words + _as_written(column), value)
        if column.kind == "text" or name in self._words:
            if type(value) is not str:
                raise bad(field, "a string", value)
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
            if self.held[name].kind in ("number", "duration"):
                table[name] = np.array(values, dtype=np.float64)
            else:
                table[name] = np.empty(len(values), dtype=object)
                table[name][:] = values
        return table

    def oddities(self, rows: list[Any]) -> Iterator[tuple[str, str]]:
        """Missing values, and categories that the training had not."""
        for row in self.check(rows)[0]:
            for name, value in zip(self.columns, row, strict=True):
                if value is None:
                    yield name, "missing"
                elif name in self._known and value not in self._known[name]:
                    yield name, "unknown"

    def example(self) -> Any:
        """A row with a usual value in every column."""
        known = {name: values[0] for name, values in self.categories.items() if values}
        usual = {kind: said.usual for kind, said in _KINDS.items()} | {"text": "some words"}
        found = {
            name: known.get(name, usual.get(column.kind, "value"))
            for name, column in self.held.items()
        }
        dates = {"dmy": "17/05/2024", "mdy": "05/17/2024"}
        return found | {
            name: dates[column.form]
            for name, column in self.held.items()
            if column.kind == "date" and column.form in dates
        }

    def of_arrow(self, names: Sequence[str], columns: list[list[Any]]) -> list[Any]:
        """Objects."""
        return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]

    def features(self, model: Fitted) -> dict[str, Any]:
        """Names, kinds, usual values and categories of the columns."""
        moments = getattr(model.steps[0], "moments_", {}) if model.steps else {}
        found = []
        for name in self.columns:
            column: dict[str, Any] = {"name": name, "kind": self.held[name].kind}
            if name in moments:
                column["mean"], column["deviation"] = map(float, moments[name])
            if self.categories.get(name):
                column["values"] = list(self.categories[name][:_LISTED])
            found.append(column)
        return {"columns": found}

    def schema(self) -> dict[str, Any]:
        """An object with a property per column."""
        types = {kind: said.json for kind, said in _KINDS.items()} | {"text": ("string",)}
        properties: dict[str, dict[str, Any]] = {}
        for name, column in self.held.items():
            every = types.get(column.kind, ("string",) if name in self._words else _ANY)
            words = ("string",) if "string" not in every and _may_be_words("", column) else ()
            properties[name] = {"type": [*every, *words, "null"]}
            if column.kind == "date" and column.form in ("", "ymd"):
                properties[name]["format"] = "date"
            elif column.form:
                properties[name]["description"] = f"as {column.form}"
        return {
            "type": "object",
            "properties": properties,
            "required": list(self.columns),
            "additionalProperties": False,
        }


class MatrixReader(Reader):
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
        square = math.isqrt(n_features) ** 2 == n_features
        few = "table" if n_features <= _FIELDS else "numbers"
        self.page = "pad" if kind == "images" and square else few

    def of_arrow(self, names: Sequence[str], columns: list[list[Any]]) -> list[Any]:
        """Arrays, the columns in their order."""
        return [list(row) for row in zip(*columns, strict=True)]

    def features(self, model: Fitted) -> dict[str, Any]:
        """How many numbers, and the largest of the training rows, where a scaler knows it."""
        first = model.steps[0] if model.steps else None
        known = getattr(first, "max_abs_", getattr(first, "data_max_", None))
        largest = None if known is None else float(max(known))
        return {"n_features": self.n_features, "largest": largest}

    def check(self, rows: list[Any], most: int | None = None) -> tuple[list[Any], str]:
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
            raise FieldError(f"must hold {self.n_features} numbers, got {len(row)}", place)
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
            raise FieldError("must be an object with indices and values", place)
        if type(values) is not list or len(values) != len(indices):
            raise FieldError("must be as many as indices", f"{place}.values")
        for at, index in enumerate(indices):
            whole = type(index) is int or (type(index) is float and index.is_integer())
            if not whole or not 0 <= index < self.n_features:
                wanted = f"a column from 0 to {self.n_features - 1}"
                raise bad(f"{place}.indices[{at}]", wanted, index)
        if len(set(indices)) < len(indices):
            raise FieldError("must be different", f"{place}.indices")
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


class SequenceReader(Reader):
    """Rows that are arrays of tokens, all tokens of a request in one form.

    Parameters
    ----------
    with_templates : bool
        Whether the model makes attributes of the columns of a token; then a token is a string, an
        array of strings or an object of columns. Otherwise it is an object or an array of
        attributes.
    columns : sequence of str
        Columns of a token, in the order in which an array gives them; none where the templates know
        columns by name only.
    wanted : sequence of str
        Columns that the templates read, by the names that they use.
    n_attributes : int or None
        Numbers of a token, of a model whose attributes have no names.
    """

    kind = "sequences"
    page = "sentence"

    def __init__(
        self,
        with_templates: bool,
        columns: Sequence[str],
        wanted: Sequence[str],
        n_attributes: int | None,
    ) -> None:
        self.with_templates = with_templates
        self.columns = tuple(columns)
        self.wanted = tuple(wanted)
        self.n_attributes = n_attributes

    def check(self, rows: list[Any], most: int | None = None) -> tuple[list[Any], str]:
        """Sequences whose tokens have one form."""
        form, n_tokens = "", 0
        for at, row in enumerate(rows):
            if type(row) is not list:
                raise bad(f"rows[{at}]", "an array of tokens", row)
            n_tokens += len(row)
            if most is not None and n_tokens > most:
                told = f"the sequences have more than {most} tokens"
                raise FieldError(told, f"rows[{at}]", "too_large")
            for place, token in enumerate(row):
                found = self._form(token, f"rows[{at}][{place}]")
                if form and found != form:
                    told = f"is {found}, other tokens of the request are {form}"
                    raise FieldError(told, f"rows[{at}][{place}]")
                form = found
        return rows, form

    def n_places(self, rows: list[Any]) -> int:
        """Tokens."""
        return sum(map(len, rows))

    def _form(self, token: Any, place: str) -> str:
        if self.with_templates:
            return self._columns(token, place)
        if self.n_attributes is not None:
            if type(token) is not list or len(token) != self.n_attributes:
                raise bad(place, f"an array of {self.n_attributes} numbers", token)
            for at, value in enumerate(token):
                number(value, f"{place}[{at}]")
            return "an array of numbers"
        if type(token) is list:
            _strings(token, place)
            return "an array of attributes"
        if type(token) is not dict:
            raise bad(place, "an object or an array of attributes", token)
        for name, value in token.items():
            if type(value) is list:
                _strings(value, f"{place}.{name}")
            elif type(value) not in (str, bool):
                number(value, f"{place}.{name}")
        return "an object of attributes"

    def _columns(self, token: Any, place: str) -> str:
        n = len(self.columns)
        if type(token) is str and n == 1:
            return "a string"
        if type(token) is list and n:
            _strings(token, place)
            if len(token) != n:
                raise bad(place, f"an array of {self._told()}", token)
            return f"an array of {n} strings"
        if type(token) is not dict:
            forms = "a string, " if n == 1 else ""
            array = f"an array of {self._told()}, or " if n else ""
            raise bad(place, f"{forms}{array}an object of {self._told()}", token)
        for name, value in token.items():
            if value is not None and type(value) is not str:
                raise bad(f"{place}.{name}", "a string or null", value)
        if not (self.columns and set(self.columns) <= set(token)):
            # Other names will do where each tells what it is: "form" for "word".
            for name in self.wanted:
                if not has_column(name, tuple(token)):
                    raise bad(place, f"an object of {self._told()}", token)
        return "an object of columns"

    def _told(self) -> str:
        """The columns in words."""
        names = self.columns or self.wanted
        many = "s" if len(names) > 1 else ""
        return f"{len(names)} string{many} (column{many} {', '.join(map(repr, names))})"

    def join(self, rows: list[Any]) -> Any:
        """The sequences; columns of arrays get their names."""
        first = next((token for row in rows for token in row), None)
        if not self.with_templates or type(first) not in (str, list):
            return rows
        found = token_sequences(rows)
        columns = dict(zip(self.columns, found.columns.values(), strict=True))
        return TokenSequences(columns, found.offsets)

    def single(self, row: Any) -> Any:
        """The tokens."""
        joined = self.join([row])
        return joined if isinstance(joined, TokenSequences) else row

    def features(self, model: Fitted) -> dict[str, Any]:
        """Whether tokens are words, and their columns."""
        return {"templates": self.with_templates, "token_columns": list(self.columns)}

    def example(self) -> Any:
        """A short sentence."""
        words = ["The", "cat", "sat"]
        if not self.with_templates:
            if self.n_attributes is not None:
                return [[0.0] * self.n_attributes]
            return [{"word": word.lower()} for word in words]
        if not self.columns:
            return [dict.fromkeys(self.wanted, word) for word in words]
        n = len(self.columns)
        return words if n == 1 else [[word] * n for word in words]

    def schema(self) -> dict[str, Any]:
        """An array of tokens, all in one of the forms."""
        text: dict[str, Any] = {"type": "string"}
        several: dict[str, Any] = {"type": "array", "items": text}
        if self.with_templates:
            n = len(self.columns)
            value = {"type": ["string", "null"]}
            columns = {
                "type": "object",
                "required": list(self.columns or self.wanted),
                "additionalProperties": value,
            }
            tokens: list[dict[str, Any]] = [columns]
            if n:
                tokens.insert(0, several | {"minItems": n, "maxItems": n})
            if n == 1:
                tokens.append(text)
        elif self.n_attributes is not None:
            n = self.n_attributes
            numbers = {"type": "array", "items": {"type": "number"}, "minItems": n, "maxItems": n}
            tokens = [numbers]
        else:
            values = {"anyOf": [{"type": ["string", "number", "boolean"]}, several]}
            tokens = [{"type": "object", "additionalProperties": values}, several]
        return {"anyOf": [{"type": "array", "items": token} for token in tokens]}


def _strings(values: list[Any], place: str) -> None:
    for at, value in enumerate(values):
        if type(value) is not str:
            raise bad(f"{place}[{at}]", "a string", value)


class PictureReader(Reader):
    """Images of any size: arrays of lines of pixels, each a number or an array of channels.

    Parameters
    ----------
    n_channels : int
        Numbers of a pixel.
    """

    kind = page = "pictures"

    def __init__(self, n_channels: int) -> None:
        self.n_channels = n_channels

    def check(self, rows: list[Any], most: int | None = None) -> tuple[list[Any], str]:
        """Arrays of float64."""
        found = [self._picture(row, f"rows[{at}]") for at, row in enumerate(rows)]
        if most is not None and self.n_places(found) > most:
            raise FieldError(f"the images have more than {most} pixels", "rows", "too_large")
        return found, "pictures"

    def n_places(self, rows: list[Any]) -> int:
        """Pixels."""
        return sum(one.shape[0] * one.shape[1] for one in rows)

    def _picture(self, row: Any, place: str) -> Any:
        if type(row) is not list or not row or not all(type(line) is list for line in row):
            raise bad(place, "an array of lines of pixels", row)
        try:
            found = np.array(row, dtype=np.float64)
        except (ValueError, TypeError, OverflowError):
            raise FieldError("must hold lines of one length, of numbers", place) from None
        found = found[..., None] if found.ndim == 2 else found
        if found.ndim != 3 or not found.size or found.shape[2] != self.n_channels:
            raise FieldError(f"must have {self.n_channels} numbers a pixel", place)
        if not np.isfinite(found).all():
            raise FieldError("must hold finite numbers", place)
        return found

    def join(self, rows: list[Any]) -> Any:
        """The images."""
        return rows

    def example(self) -> Any:
        """A small image, dark on the left."""
        pixel = [0.0, 0.0, 1.0, 1.0]
        line = pixel if self.n_channels == 1 else [[value] * self.n_channels for value in pixel]
        return [line] * 4

    def features(self, model: Fitted) -> dict[str, Any]:
        """How many numbers a pixel has."""
        return {"n_channels": self.n_channels}

    def schema(self) -> dict[str, Any]:
        """An array of lines."""
        pixel: dict[str, Any] = {"type": "number"}
        if self.n_channels > 1:
            n = self.n_channels
            pixel = {"type": "array", "items": pixel, "minItems": n, "maxItems": n}
        return {"type": "array", "items": {"type": "array", "items": pixel, "minItems": 1}}
