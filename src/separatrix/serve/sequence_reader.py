"""Sequences of tokens in a request."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from separatrix.data import TokenSequences
from separatrix.features.templates.columns import has_column, token_sequences
from separatrix.serve.problems import Problem
from separatrix.serve.readers import bad, number

__all__ = ["SequenceReader"]


class SequenceReader:
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
    max_tokens : int
        Tokens of all sequences of a request.
    """

    kind = "sequences"

    def __init__(
        self,
        with_templates: bool,
        columns: Sequence[str],
        wanted: Sequence[str],
        n_attributes: int | None,
        max_tokens: int,
    ) -> None:
        self.with_templates = with_templates
        self.columns = tuple(columns)
        self.wanted = tuple(wanted)
        self.n_attributes = n_attributes
        self.max_tokens = max_tokens

    def check(self, rows: list[Any]) -> tuple[list[Any], str]:
        """Sequences whose tokens have one form."""
        form, n_tokens = "", 0
        for at, row in enumerate(rows):
            if type(row) is not list:
                raise bad(f"rows[{at}]", "an array of tokens", row)
            n_tokens += len(row)
            if n_tokens > self.max_tokens:
                told = f"the sequences have more than {self.max_tokens} tokens"
                raise Problem("too_large", told, f"rows[{at}]")
            for place, token in enumerate(row):
                found = self._form(token, f"rows[{at}][{place}]")
                if form and found != form:
                    told = f"is {found}, other tokens of the request are {form}"
                    raise Problem("invalid", told, f"rows[{at}][{place}]")
                form = found
        return rows, form

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
