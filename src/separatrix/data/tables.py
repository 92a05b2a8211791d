"""From rows of cells to a `Dataset`: header, kinds of columns, target and texts."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from separatrix.data.columns import ColumnKind, gaps, make_column, make_target, make_text
from separatrix.data.dataset import Dataset, LabelSets, Table
from separatrix.data.options import Options
from separatrix.errors import FormatError, ParameterError

__all__ = ["Plan", "dataset_of", "make_plan"]

#: Names, in any case, that tell the target where it is not named.
TARGETS = ("target", "label", "labels", "class", "y")


@dataclass(frozen=True)
class Plan:
    """What becomes of every column; the same for all chunks of a file.

    Parameters
    ----------
    names : tuple of str
        Columns in the order of the file.
    kinds : dict of str to ColumnKind
    target : str or None
    texts : tuple of str
        Columns that hold texts.
    features : tuple of str
        Columns that are handed on, without the target.
    """

    names: tuple[str, ...]
    kinds: dict[str, ColumnKind]
    target: str | None
    texts: tuple[str, ...]
    features: tuple[str, ...]


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


def make_plan(names: Sequence[str], kinds: dict[str, ColumnKind], options: Options) -> Plan:
    """Decide what becomes of every column."""
    target = find_target(names, options)
    kinds = {**kinds}
    for name in options.strings:
        column = find_column(name, names, "strings")
        if kinds[column].base in ("bool", "int", "float"):
            kinds[column] = replace(kinds[column], base="string")
    chosen = list(names) if options.columns is None else [
        find_column(name, names, "columns") for name in options.columns
    ]  # fmt: skip
    features = tuple(name for name in chosen if name != target)
    if options.text is None:
        texts: tuple[str, ...] = ()
    elif isinstance(options.text, str) and options.text == "auto" and "auto" not in names:
        texts = tuple(name for name in features if kinds[name].is_text)
    else:
        single = isinstance(options.text, str | int)
        wanted = [options.text] if single else list(options.text)
        texts = tuple(find_column(name, names, "text") for name in wanted)
        if target in texts:
            raise ParameterError(f"column {target!r} cannot be both target and text")
        features = features + tuple(name for name in texts if name not in features)
    return Plan(tuple(names), kinds, target, texts, features)


def dataset_of(
    cells: Mapping[str, Sequence[Any]],
    plan: Plan,
    missing: Sequence[str],
    source: str,
    format: str,
    first_row: int = 0,
) -> Dataset:
    """The dataset for cells of text or typed values."""
    table: Table = {}
    for name in plan.features:
        if name in plan.texts:
            table[name] = make_text(cells[name])
        else:
            table[name] = make_column(cells[name], plan.kinds[name], missing)
    target = None
    if plan.target is not None:
        target = make_column(cells[plan.target], plan.kinds[plan.target], missing)
    return assemble(table, target, plan, source, format, first_row)


def assemble(
    table: Table,
    target: npt.NDArray[Any] | None,
    plan: Plan,
    source: str,
    format: str,
    first_row: int = 0,
) -> Dataset:
    """The dataset for finished columns."""
    y: npt.NDArray[Any] | LabelSets | None = None
    if target is not None:
        check_target(target, plan.target, source, first_row)
        y = make_target(target)
    alone = len(plan.features) == 1 and plan.features == plan.texts
    return Dataset(
        kind="text" if alone else "table",
        X=table[plan.features[0]] if alone else table,
        y=y,
        feature_names=plan.features,
        target_name=plan.target,
        text_names=plan.texts,
        source=source,
        format=format,
    )


def check_target(target: npt.NDArray[Any], name: str | None, source: str, first_row: int) -> None:
    """A target must be there in every row."""
    missing = gaps(target)
    if missing.any():
        row = first_row + int(np.argmax(missing))
        message = (
            f"target {name!r} is missing in {missing.sum()} rows, first in row {row} (from 0); "
            "leave these out, or pass target=None"
        )
        raise FormatError(message, None, source)
