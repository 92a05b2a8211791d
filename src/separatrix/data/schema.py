"""The schema of a table: what every column holds, what it is for, and why that was decided."""

from __future__ import annotations

import html
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import date, timedelta
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from separatrix.data.tables.values import (
    COMPACT_DATES,
    MISSING_AMONG_NUMBERS,
    Evidence,
    are_texts,
    look,
)
from separatrix.errors import FormatError, ParameterError

__all__ = [
    "KINDS",
    "ROLES",
    "Schema",
    "SchemaColumn",
    "TypedEvidence",
    "infer_array",
    "infer_words",
    "parse_kind",
]

#: What a column may hold.
KINDS = ("number", "category", "text", "date", "duration", "flag", "identifier", "vector", "labels")
#: What a column may be for.
ROLES = ("input", "target", "weight", "group", "time", "left out")
#: Orders of the parts of a date.
_ORDERS = {"ymd": "year, month, day", "dmy": "day, month, year", "mdy": "month, day, year"}
#: Words in the name of a column of whole numbers that say they are codes, with which nobody
#: calculates.
_CODES = frozenset(
    [
        "zip",
        "zipcode",
        "postal",
        "postcode",
        "plz",
        "phone",
        "telephone",
        "tel",
        "mobile",
        "fax",
        "isbn",
        "ean",
        "upc",
        "sku",
        "ssn",
        "iban",
        "fips",
        "naics",
    ]
)
_FORM = re.compile(r"1234(?:[.,]5(?: \S+)?)?")


@dataclass(frozen=True)
class SchemaColumn:
    """One column of a table.

    Attributes
    ----------
    name : str
    kind : str
        One of `KINDS`.
    role : str
        One of `ROLES`.
    form : str
        How the values are written, where that matters: of numbers an example ("1234", "1234.5",
        "1234,5 kg"), of dates the order of their parts ("ymd", "dmy", "mdy"), of flags the words
        for yes and no ("yes/no"), of texts "mail" where they are raw mails.
    missing : tuple of str
        Words that stood for no value; "" is an empty cell.
    why : str
        Why kind and role were decided so.
    """

    name: str
    kind: str
    role: str = "input"
    form: str = ""
    missing: tuple[str, ...] = ()
    why: str = ""

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ParameterError(
                f"column {self.name!r}: there is no kind {self.kind!r}; there are "
                + ", ".join(KINDS)
            )
        if self.role not in ROLES:
            raise ParameterError(
                f"column {self.name!r}: there is no role {self.role!r}; there are "
                + ", ".join(ROLES)
            )
        fits = {
            "number": not self.form or _FORM.fullmatch(self.form),
            "date": not self.form or self.form in _ORDERS,
            "flag": not self.form or len(self.form.split("/")) == 2,
            "text": self.form in ("", "mail"),
        }
        if not fits.get(self.kind, not self.form):
            raise ParameterError(
                f"column {self.name!r}: {self.form!r} is no form of a {self.kind}; "
                "numbers have 1234, 1234.5 or 1234,5 and a unit, dates ymd, dmy or mdy, "
                "flags two words like yes/no, texts mail"
            )

    @property
    def whole(self) -> bool:
        """Whether these are whole numbers without gaps."""
        return self.kind == "number" and self.form == "1234" and not self.missing

    def left_out(self, why: str, kind: str | None = None) -> SchemaColumn:
        """The column, not used."""
        return replace(
            self, role="left out", why=why, kind=kind or self.kind, form="" if kind else self.form
        )


@dataclass(frozen=True)
class Schema:
    r"""The columns of a table, in their order.

    `separatrix.data.read` makes it; it can be saved, edited and given back.

    Parameters
    ----------
    columns : tuple of SchemaColumn
    notes : tuple of str
        What was found about the table as a whole, and should be told.

    Examples
    --------
    >>> from separatrix.data import read
    >>> print(read(b"when,price,ok,y\n31/12/2019,$5.10,yes,a\n01/02/2020,$7,no,b\n").schema)
    column  kind      role    form      missing  why
    when    date      input   dmy                day, month, year: some day is above 12
    price   number    input   1234.5 $           all are numbers with a mark
    ok      flag      input   yes/no             two words for yes and no
    y       category  target                     words
    """

    columns: tuple[SchemaColumn, ...]
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if len(self._places) < len(self.columns):
            names = [column.name for column in self.columns]
            twice = next(name for name in names if names.count(name) > 1)
            raise ParameterError(f"the schema has two columns {twice!r}")

    @cached_property
    def _places(self) -> dict[str, int]:
        return {column.name: at for at, column in enumerate(self.columns)}

    def __iter__(self) -> Iterator[SchemaColumn]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    def __contains__(self, name: object) -> bool:
        return name in self._places

    def __getitem__(self, name: str) -> SchemaColumn:
        return self.columns[self._places[name]]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all columns."""
        return tuple(column.name for column in self.columns)

    def names_of(self, role: str) -> tuple[str, ...]:
        """Names of the columns with a role."""
        return tuple(column.name for column in self.columns if column.role == role)

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of the columns that a model is fed."""
        return self.names_of("input")

    @property
    def target(self) -> str | None:
        """Name of the column to predict."""
        return next(iter(self.names_of("target")), None)

    @property
    def texts(self) -> tuple[str, ...]:
        """Names of the columns of texts, the target not among them."""
        return tuple(c.name for c in self.columns if c.kind == "text" and c.role != "target")

    @property
    def left_out(self) -> tuple[tuple[str, str], ...]:
        """Names of the columns that are not used, and why."""
        return tuple((c.name, c.why) for c in self.columns if c.role == "left out")

    def take(self, names: Iterable[str]) -> Schema:
        """The schema of some columns, in the order of `names`."""
        return replace(self, columns=tuple(self[name] for name in names))

    def replace(self, *columns: SchemaColumn) -> Schema:
        """The schema with other columns of the same names."""
        changed = {column.name: column for column in columns}
        return replace(self, columns=tuple(changed.get(c.name, c) for c in self.columns))

    def with_role(self, name: str, role: str, why: str = "requested") -> Schema:
        """The schema with another role for a column; only inputs can be several."""
        columns = self.columns
        if role in ("target", "weight", "group", "time"):
            columns = tuple(
                replace(c, role="input") if c.role == role and c.name != name else c
                for c in columns
            )
        return replace(self, columns=columns).replace(replace(self[name], role=role, why=why))

    def with_kinds(self, kinds: Mapping[str, str]) -> Schema:
        """The schema with other kinds ("category", "date dmy") for some columns.

        Examples
        --------
        >>> Schema((SchemaColumn("zip", "number"),)).with_kinds({"zip": "category"})["zip"].why
        'requested'
        """
        from separatrix.data.tables.assembly import find_column

        changed = []
        for wanted, words in kinds.items():
            column = self[find_column(wanted, self.names, "kind")]
            kind, form = parse_kind(words)
            role = "input" if column.role == "left out" else column.role
            changed.append(replace(column, kind=kind, form=form, role=role, why="requested"))
        return self.replace(*changed)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for a model file or JSON."""
        columns = [{**asdict(column), "missing": list(column.missing)} for column in self.columns]
        return {"columns": columns, "notes": list(self.notes)}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Schema:
        """The schema that `to_dict` described.

        Examples
        --------
        >>> schema = Schema((SchemaColumn("age", "number", missing=("?",)),))
        >>> Schema.from_dict(schema.to_dict()) == schema
        True
        """
        known = set(SchemaColumn.__dataclass_fields__)
        columns = []
        held = values.get("columns")
        if not isinstance(held, list) or not all(isinstance(c, Mapping) for c in held):
            raise ParameterError('a schema has "columns", a list of objects')
        for part in held:
            unknown = sorted(set(part) - known)
            if unknown:
                raise ParameterError(
                    f"a column of a schema has no {unknown[0]!r}; it has {', '.join(known)}"
                )
            if "name" not in part or "kind" not in part:
                raise ParameterError("every column of a schema needs a name and a kind")
            columns.append(SchemaColumn(**{**part, "missing": tuple(part.get("missing", ()))}))
        return cls(tuple(columns), tuple(values.get("notes", ())))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the schema as JSON, a line for every column, to be edited."""
        from separatrix.data.formats.whole_files import write_atomically

        lines = [json.dumps(column, ensure_ascii=False) for column in self.to_dict()["columns"]]
        notes = json.dumps(list(self.notes), ensure_ascii=False)
        text = '{"columns": [\n  ' + ",\n  ".join(lines) + f'\n], "notes": {notes}}}\n'
        write_atomically(path, iter([text.encode()]))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Schema:
        """Read a schema that was saved."""
        try:
            values = json.loads(Path(path).read_text(encoding="utf-8"))
            if not isinstance(values, dict):
                raise ParameterError('a schema has "columns", a list of objects')
            return cls.from_dict(values)
        except json.JSONDecodeError as error:
            raise FormatError(f"not a schema: {error.msg}", error.lineno, str(path)) from None
        except ParameterError as error:
            raise FormatError(f"not a schema: {error}", None, str(path)) from None

    def _cells(self) -> list[list[str]]:
        return [
            [c.name, c.kind, c.role, c.form, " ".join(m or "(empty)" for m in c.missing), c.why]
            for c in self.columns
        ]

    def __str__(self) -> str:
        rows = [["column", "kind", "role", "form", "missing", "why"], *self._cells()]
        widths = [max(len(row[at]) for row in rows) for at in range(6)]
        lines = [
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in rows
        ]
        return "\n".join([*lines, *self.notes])

    def _repr_html_(self) -> str:
        heads = "".join(
            f"<th>{head}</th>" for head in ("column", "kind", "role", "form", "missing", "why")
        )
        rows = "".join(
            "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>"
            for row in self._cells()
        )
        notes = "".join(f"<p>{html.escape(note)}</p>" for note in self.notes)
        return f"<table><tr>{heads}</tr>{rows}</table>{notes}"


def parse_kind(words: str) -> tuple[str, str]:
    """Kind and form from words like "category", "date dmy", "number 1234,5 kg".

    Examples
    --------
    >>> parse_kind("date dmy")
    ('date', 'dmy')
    """
    kind, _, form = words.strip().partition(" ")
    SchemaColumn("", kind, form=form.strip())  # checks them
    return kind, form.strip()


def infer_words(
    name: str, found: Evidence, *, typed: bool = False, target: bool = False
) -> SchemaColumn:
    """What a column of words holds.

    Parameters
    ----------
    name : str
    found : Evidence
    typed : bool
        Whether the file has numbers that are not words, so that digits among words were meant as
        words.
    target : bool
        Whether it is to be predicted: classes keep their words, whatever these are.
    """
    missing = tuple(sorted(found.missing))
    among = tuple(sorted(found.missing | found.maybe_missing))

    def column(
        kind: str, why: str, form: str = "", absent: tuple[str, ...] = missing
    ) -> SchemaColumn:
        return SchemaColumn(name, kind, form=form, missing=absent, why=why)

    if not found.some:
        if found.maybe_missing:
            return column("category", "words")
        return column("number", "no value is there", "" if typed else "1234.5")
    if found.padded:
        return column("category", "digits with leading zeros are codes")
    if found.long:
        return column("category", "more digits than a number holds exactly: codes")
    if found.is_number and not (typed and found.plain):
        form = found.number_form
        if found.plain:
            if found.compact and not target and len(set(found.sample)) >= COMPACT_DATES:
                return column("date", "all are dates of eight digits", "ymd", among)
            if found.whole and not target and named_as_code(name):
                return column("category", f"whole numbers under the name {name!r} are codes")
            return column(
                "number", "all are whole numbers" if found.whole else "all are numbers", form, among
            )
        why = "all are numbers with a mark"
        if found.either:
            shown = next((v for v in found.sample if "," in v), found.sample[0])
            why += f"; {shown.strip()!r} may be a thousand or have decimals: taken for a thousand"
            return column("number", why, form.replace(",", "."), among)
        return column("number", why, form, among)
    flag = found.flag
    if flag is not None and not found.plain and (not target or flag[0].lower() == "true"):
        return column("flag", "two words for yes and no", "/".join(flag))
    if not target:
        if found.dates and not found.plain:
            return column("date", *_order(name, found), among)
        if found.duration:
            return column("duration", "all are lengths of time or times of day", absent=among)
        if are_texts(found.sample):
            return column("text", "three words or more on average, most values distinct", absent=())
    return column("category", "words")


def named_as_code(name: str) -> bool:
    parts = re.findall(r"[A-Z]?[a-z]+|[A-Z]+", name)
    return any(part.lower() in _CODES for part in (*parts, name))


def _order(name: str, found: Evidence) -> tuple[str, str]:
    """Why the dates are read so, and in which order."""
    if found.dates == {"ymd"}:
        return "all are dates", "ymd"
    if len(found.dates) == 1:
        form = next(iter(found.dates))
        return f"{_ORDERS[form]}: some day is above 12", form
    if "ymd" in found.dates:
        return "all are dates with the name of the month", "dmy"
    shown = found.sample[0].strip()
    form = "mdy" if "/" in shown else "dmy"
    first, other = ("month", "dmy") if form == "mdy" else ("day", "mdy")
    why = (
        f"no day is above 12: the {first} is taken to come first in {shown!r}; "
        f"--kind '{name}=date {other}' if not"
    )
    return why, form


@dataclass(frozen=True)
class TypedEvidence:
    """What the typed values of a column are, as far as they were seen.

    Attributes
    ----------
    types : frozenset of str
        Of "number", "whole", "flag", "word", "date", "duration", "vector", "labels" and "other".
    missing : bool
        Whether some value is.
    words : Evidence
        Of the strings.
    length : int
        Of vectors; -1 where they differ.
    """

    types: frozenset[str] = frozenset()
    missing: bool = False
    words: Evidence = field(default_factory=Evidence)
    length: int | None = None

    @classmethod
    def of(cls, values: Sequence[Any]) -> TypedEvidence:
        """What these values tell; None and NaN are missing."""
        present = [value for value in values if not is_missing(value)]
        missing = len(present) < len(values)
        types = {_type_name(kind) for kind in set(map(type, present))}
        words, length = Evidence(), None
        if "word" in types:
            words = look([value for value in present if isinstance(value, str)], ())
        if "whole" in types:
            largest = max(
                abs(int(value)) for value in present if _type_name(type(value)) == "whole"
            )
            if largest >= 2**63:
                # What no double holds stays as its digits.
                types = types - {"whole"} | {"number" if largest < 10**308 else "other"}
        if "labels" in types:
            types -= {"labels"}
            for value in present:
                if isinstance(value, list | tuple):
                    numbers = value and all(
                        _type_name(type(part)) in ("number", "whole") for part in value
                    )
                    types.add("vector" if numbers else "labels")
                    length = len(value) if length in (None, len(value)) else -1
        return cls(frozenset(types), missing, words, length)

    def __or__(self, other: TypedEvidence) -> TypedEvidence:
        """The evidence of both pieces together."""
        lengths = {self.length, other.length} - {None}
        length = None if not lengths else lengths.pop() if len(lengths) == 1 else -1
        return TypedEvidence(
            self.types | other.types,
            self.missing or other.missing,
            self.words | other.words,
            length,
        )

    def column(self, name: str, *, target: bool = False) -> SchemaColumn:
        """What the column holds."""
        missing = ("",) if self.missing else ()

        def made(kind: str, why: str = "the types of the values", form: str = "") -> SchemaColumn:
            return SchemaColumn(name, kind, form=form, missing=missing, why=why)

        if not self.types:
            return made("number", "no value is there")
        if self.types == {"word"}:
            found = infer_words(name, self.words, typed=True, target=target)
            return replace(found, missing=tuple(dict.fromkeys((*missing, *found.missing))))
        if self.types == {"whole"}:
            return made("number", form="1234")
        if self.types <= {"number", "whole"}:
            return made("number")
        if self.types <= {"vector", "labels"}:
            vector = self.types == {"vector"} and self.length != -1 and not target
            return made("vector" if vector else "labels")
        if len(self.types) == 1 and not self.types & {"other"}:
            return made(next(iter(self.types)))
        return made("category", "values of several types")


def _type_name(kind: type) -> str:
    for classes, name in (
        ((bool, np.bool_), "flag"),
        ((int, np.integer), "whole"),
        ((float, np.floating, Decimal), "number"),
        ((str,), "word"),
        ((date, np.datetime64), "date"),
        ((timedelta, np.timedelta64), "duration"),
        ((list, tuple), "labels"),
    ):
        if issubclass(kind, classes):
            return name
    return "other"


def is_missing(value: Any) -> bool:
    """Whether a Python object stands for a missing value: None, NaN, NaT, pandas' NA.

    Examples
    --------
    >>> [is_missing(v) for v in (None, float("nan"), "", 0)]
    [True, True, False, False]
    """
    if value is None:
        return True
    if isinstance(value, str | int | list | tuple | dict):
        return False
    try:
        return bool(value != value)
    except (TypeError, ValueError):
        # NA is neither equal to itself nor not; arrays give no single answer and are not missing.
        return type(value).__name__ == "NAType"


def infer_array(name: str, values: npt.NDArray[Any], *, target: bool = False) -> SchemaColumn:
    """What a column of an array holds: by its dtype, and of objects by their types.

    Examples
    --------
    >>> infer_array("x", np.array([1, 2])).kind, infer_array("x", np.array(["a", None])).kind
    ('number', 'category')
    """
    kind = values.dtype.kind
    if kind in "iu":
        return SchemaColumn(name, "number", form="1234", why="the type of the column")
    if kind in "fbMm":
        found = {"f": "number", "b": "flag", "M": "date", "m": "duration"}[kind]
        return SchemaColumn(name, found, why="the type of the column")
    return TypedEvidence.of(values.tolist()).column(name, target=target)


def absent_words(kind: str, missing: Sequence[str]) -> frozenset[str]:
    """The words that stand for no value in a column of a kind."""
    more = MISSING_AMONG_NUMBERS if kind in ("number", "date", "duration") else ()
    return frozenset((*missing, *more))
