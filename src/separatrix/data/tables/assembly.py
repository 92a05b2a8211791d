"""From columns to a `Dataset`: the target, the schema, what is left out, and the arrays."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from separatrix.data.dataset import Dataset, LabelSets, Table
from separatrix.data.formats.options import Options
from separatrix.data.schema import Schema, SchemaColumn, infer_array, infer_words, is_missing
from separatrix.data.tables.columns import (
    Numbers,
    Words,
    compact_dates,
    from_numbers,
    from_values,
    from_words,
    gaps,
    make_target,
)
from separatrix.data.tables.values import COMPACT_DATES, Evidence, look
from separatrix.errors import FormatError, ParameterError
from separatrix.validation import number_values

__all__ = [
    "dataset_of",
    "evidence_of",
    "find_column",
    "judged",
    "make_schema",
    "with_schema",
    "with_target",
]

#: Names, in any case, that tell the target where it is not named.
TARGETS = ("target", "label", "labels", "class", "y")
#: Columns of whole numbers with such a name, at least half of them different, are identifiers.
_IDENTIFIERS = {"id", "index", "row", "rowid", "row_id", "uid", "uuid", "key", ""}
#: Rows from which on a column of distinct words, or one that counts, is an identifier.
_ENOUGH = 20
#: A column with a value in less than this share of the rows is as good as empty.
_PRESENT = 0.005

#: What was seen of a column: words of a text file, or its kind where the values have types.
Seen = Evidence | SchemaColumn


def find_column(wanted: Any, names: Sequence[str], role: str) -> str:
    """The column named, or at a position; an error lists the close names."""
    if isinstance(wanted, int | np.integer) and not isinstance(wanted, bool):
        if not -len(names) <= wanted < len(names):
            raise ParameterError(f"{role}={wanted}, but there are {len(names)} columns")
        return names[int(wanted)]
    if wanted in names:
        return str(wanted)
    close = difflib.get_close_matches(str(wanted), names, n=3, cutoff=0.5)
    others = ", ".join(map(repr, close or names[:8])) + ("" if close or len(names) <= 8 else ", …")
    hint = "did you mean" if close else "there are"
    raise ParameterError(f"{role}: there is no column {wanted!r}; {hint} {others}")


def find_target(names: Sequence[str], options: Options) -> str | None:
    """The target's column, if there is one."""
    if options.target is None:
        return None
    if options.target == "auto" and "auto" not in names:
        usual = [name for name in names if name.strip().lower() in TARGETS]
        return usual[0] if len(usual) == 1 else None
    return find_column(options.target, names, "target")


def evidence_of(column: Words | Numbers, missing: Sequence[str]) -> Evidence:
    """What the cells of a column tell."""
    if isinstance(column, Words):
        return look(column.values, missing, column.first(10_000), column.met)
    values = column.values
    sample = values[: 4 * COMPACT_DATES]
    likely = column.whole and bool(np.isin(sample[np.isfinite(sample)] // 10_000_000, (1, 2)).all())
    compact = likely and bool((np.isnan(values) | ~np.isnat(compact_dates(values))).all())
    return Evidence(
        some=values.dtype.kind == "i" or not np.isnan(values).all(),
        plain=True,
        whole=column.whole,
        marked=frozenset("."),
        bare=True,
        either=False,
        dates=frozenset(),
        compact=compact,
        duration=False,
        words=None,
        missing=frozenset(column.missing).intersection(missing),
        maybe_missing=frozenset(column.missing).difference(missing),
        sample=tuple(str(int(value)) for value in sample if np.isfinite(value)) if compact else (),
    )


def make_schema(seen: Mapping[str, Seen], options: Options, notes: Sequence[str] = ()) -> Schema:
    """Decide what every column holds and what it is for; the target stands last.

    Parameters
    ----------
    seen : mapping of str to Evidence or SchemaColumn
        The columns of the file, in their order.
    options : Options
    notes : sequence of str
        What else was found.
    """
    names = list(seen)
    if options.schema is not None:
        return _given_schema(names, options)
    target = find_target(names, options)
    chosen = names if options.columns is None else [
        find_column(name, names, "columns") for name in options.columns
    ]  # fmt: skip
    features = [name for name in chosen if name != target]
    texts = _texts(names, target, options)
    features += [name for name in texts or () if name not in features]
    columns = []
    for name in features + ([] if target is None else [target]):
        column = seen[name]
        if isinstance(column, Evidence):
            column = infer_words(name, column, target=name == target)
        if texts is not None and name in texts:
            column = replace(column, kind="text", form="", missing=(), why="requested")
        elif texts is not None and column.kind == "text":
            column = replace(column, kind="category", why="words")
        columns.append(replace(column, role="target" if name == target else "input"))
    unsure = [f"column {c.name!r}: {c.why}" for c in columns if " taken " in c.why]
    schema = Schema(tuple(columns), (*notes, *unsure))
    known = {find_column(name, names, "kinds"): kind for name, kind in options.kinds.items()}
    return schema.with_kinds({name: kind for name, kind in known.items() if name in schema})


def _texts(names: Sequence[str], target: str | None, options: Options) -> list[str] | None:
    """The columns that hold texts, as given; None where they are to be found."""
    if options.text is None:
        return []
    if isinstance(options.text, str) and options.text == "auto" and "auto" not in names:
        return None
    single = isinstance(options.text, str | int)
    wanted = [options.text] if single else list(options.text)
    texts = [find_column(name, names, "text") for name in wanted]
    if target in texts:
        raise ParameterError(f"column {target!r} cannot be both target and text")
    return texts


def _given_schema(names: Sequence[str], options: Options) -> Schema:
    """The schema that was given, without what is left out; the target where it is requested."""
    given: Schema = options.schema.with_kinds(options.kinds)
    target = given.target
    if options.target is None:
        target = None
    elif options.target != "auto":
        wanted = find_column(options.target, names, "target")
        if wanted not in given and target is not None:
            # Labels of the same kind in another column.
            moved = replace(given[target], name=wanted)
            given = replace(given, columns=(*given.columns, moved))
        given, target = given.with_role(wanted, "target"), wanted
    elif target is not None and target not in names:
        target = find_column(target, names, "target")
    kept = [c.name for c in given if c.role not in ("target", "left out")]
    wanted_columns = kept if options.columns is None else list(options.columns)
    for name in wanted_columns:
        find_column(name, names, "columns")
    return given.take([*wanted_columns, *([] if target is None else [target])])


def dataset_of(
    cells: Mapping[str, Any],
    schema: Schema,
    options: Options,
    source: str,
    format: str,
    first_row: int = 0,
) -> Dataset:
    """The dataset for columns of words, of typed values, or finished ones."""
    table: Table = {}
    for column in schema:
        held = cells[column.name]
        if isinstance(held, Words):
            table[column.name] = from_words(held, column, options.missing)
        elif isinstance(held, Numbers):
            table[column.name] = from_numbers(held, column)
        elif isinstance(held, np.ndarray):
            table[column.name] = held
        else:
            table[column.name] = from_values(held, column)
    return assemble(table, schema, source, format, first_row, options)


def assemble(
    table: Table, schema: Schema, source: str, format: str, first_row: int, options: Options
) -> Dataset:
    """The dataset for finished columns, without the rows that have no target if so asked."""
    y: npt.NDArray[Any] | LabelSets | None = None
    target = schema.target
    if target is not None:
        missing = gaps(table[target])
        if missing.any() and options.drop_missing_target:
            table = {name: column[~missing] for name, column in table.items()}
            told = f"{int(missing.sum())} rows without a target are left out"
            schema = replace(schema, notes=(*schema.notes, told))
        else:
            check_target(missing, target, source, first_row)
        y = make_target(table[target])
    features = tuple(name for name in schema.names if name != target)
    alone = len(features) == 1 and features == schema.texts
    return Dataset(
        kind="text" if alone else "table",
        X=table[features[0]] if alone else {name: table[name] for name in features},
        y=y,
        feature_names=features,
        target_name=target,
        text_names=schema.texts,
        source=source,
        format=format,
        schema=schema,
    )


def with_schema(data: Dataset) -> Dataset:
    """The data set with a schema: by the types of its columns, of strings by their values.

    Examples
    --------
    >>> data = with_schema(Dataset("table", {"price": np.array(["$5", "$7.50"], dtype=object)}))
    >>> data.X["price"].tolist(), data.schema["price"].kind
    ([5.0, 7.5], 'number')
    """
    if data.schema is not None or not isinstance(data.X, dict):
        return data
    columns, X = [], {}
    for name, values in data.X.items():
        column = infer_array(name, values)
        if name in data.text_names:
            column = SchemaColumn(name, "text", why="requested")
        if values.dtype == object and column.kind in ("number", "date", "duration", "flag"):
            values = from_values([None if is_missing(value) else value for value in values], column)
        columns.append(column)
        X[name] = values
    if data.y is not None and data.target_name is not None and data.target_name not in X:
        held = data.y if isinstance(data.y, np.ndarray) else None
        target = SchemaColumn(data.target_name, "labels")
        if held is not None:
            target = infer_array(data.target_name, held, target=True)
        columns.append(replace(target, role="target"))
    return judged(replace(data, X=X, schema=Schema(tuple(columns))))


def with_target(data: Dataset, name: str) -> Dataset:
    """The data set with another of its columns as the target; what was the target is gone."""
    rest = {column: values for column, values in data.X.items() if column != name}
    values, schema = data.X[name], data.schema
    if schema is not None:
        column = schema[name]
        if column.kind == "flag" and values.dtype == bool and "/" in column.form:
            yes, no = column.form.split("/")
            if yes.lower() != "true":
                # Classes keep their words.
                values = np.where(values, yes, no).astype(object)
                column = replace(column, kind="category", form="", why="words")
        kept = [c for c in schema if c.name in rest]
        schema = replace(schema, columns=(*kept, replace(column, role="target")))
    return replace(
        data,
        kind="table",
        X=rest,
        y=make_target(values),
        feature_names=tuple(rest),
        target_name=name,
        text_names=tuple(column for column in data.text_names if column != name),
        schema=schema,
    )


def judged(data: Dataset, options: Options | None = None) -> Dataset:
    """The data set with a schema that leaves out the columns that can tell nothing.

    They stay in the table: what is left out is for a model to leave out.
    """
    schema = data.schema
    if schema is None or not isinstance(data.X, dict) or (options and options.schema is not None):
        return data
    asked = set(options.kinds) if options else set()
    counting: list[str] = []
    changed: list[SchemaColumn] = []
    for name, values in data.X.items():
        column = schema[name]
        if column.role != "input" or name in asked:
            continue
        why, kind = _useless(column, values)
        if why is not None:
            if why == _COUNTS:
                counting.append(name)
            changed.append(column.left_out(why, kind))
    schema = schema.replace(*changed)
    if not schema.inputs and counting:
        # What counts is better than nothing.
        assert data.schema is not None
        schema = schema.replace(data.schema[counting[-1]])
    return replace(data, schema=schema)


_COUNTS = "counts the rows"


def _useless(column: SchemaColumn, values: npt.NDArray[Any]) -> tuple[str | None, str | None]:
    """Why a column can tell nothing and the kind it is then, or None."""
    if column.kind in ("vector", "labels"):
        return "holds lists", None
    n = len(values)
    if column.kind == "text":
        return (None if any(map(str.strip, values)) else "is empty"), None
    distinct: Any = None
    if values.dtype == object:
        codes, distinct = number_values(values)
        n_present = n - (int(np.bincount(codes)[distinct[None]]) if None in distinct else 0)
    else:
        n_present = n - int(np.count_nonzero(gaps(values)))
    if n_present == 0:
        return "is empty", None
    if n_present < _PRESENT * n:
        return "is nearly empty", None
    if n_present == n and n > 1:
        constant = (values == values[0]).all() if distinct is None else len(distinct) == 1
        if constant:
            return "has one value only", None
    if column.kind == "category" and distinct is not None and _ENOUGH <= n == len(distinct):
        return "every row has its own value", "identifier"
    if values.dtype.kind in "iu":
        plain = column.name.strip().lower()
        named = plain in _IDENTIFIERS or plain.endswith("_id") or plain.startswith("unnamed: ")
        counts = n > 1 and (named or n >= _ENOUGH) and values[0] in (0, 1)
        if counts and values[1] - values[0] == 1 and (np.diff(values) == 1).all():
            return _COUNTS, "identifier"
        if named and 2 * len(np.unique(values)) >= n:
            return "looks like an identifier", "identifier"
    return None, None


def check_target(missing: npt.NDArray[np.bool_], name: str, source: str, first_row: int) -> None:
    """A target must be there in every row."""
    if missing.any():
        row = first_row + int(np.argmax(missing)) + 1
        message = (
            f"target {name!r} is missing in {missing.sum()} rows, first in row {row}; leave these "
            "out (--drop-missing-target, in Python drop_missing_target=True), or pass target=None"
        )
        raise FormatError(message, None, source)
