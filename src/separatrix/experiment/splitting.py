"""From one data set to train, held-out and sealed test rows that fit each other."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from separatrix.data import Dataset, TokenSequences
from separatrix.data.tables.assembly import find_column
from separatrix.errors import DataError
from separatrix.experiment.source import as_dataset
from separatrix.experiment.split import (
    ByDocument,
    Given,
    SealedTest,
    Split,
    Stratified,
    documents_of,
)
from separatrix.tasks import Task
from separatrix.tasks.inputs import Inputs

__all__ = ["make_parts"]


def make_parts(
    data: Dataset,
    split: Any,
    task: Task,
    drop: Sequence[str],
    random_state: int,
    *,
    reuse: bool = False,
) -> tuple[Split, Inputs, tuple[str, ...]]:
    """Data sets of the three parts, the test rows sealed; what of them is learned from; remarks.

    Columns and dense matrices are put into the order of the parts, which are views then.

    Parameters
    ----------
    data : Dataset
        All rows.
    split : Stratified, Grouped, ByTime, ByDocument or Given
        Where the data mark documents, whole ones are split instead of rows.
    task : Task
    drop : sequence of str
        Columns to leave out.
    random_state : int
        Seed of the split.
    reuse : bool
        Put the columns of `data` itself into the order of the parts, one after the other: its
        rows are not needed twice then.
    """
    generator = np.random.default_rng(random_state)
    if isinstance(split, Stratified) and documents_of(data, split.shares) is not None:
        split = ByDocument(split.shares)
    rows = split.rows(data, generator, task.strata(data.y))
    if isinstance(data.X, dict | np.ndarray):
        order = np.concatenate(rows)
        if reuse and isinstance(data.X, dict):
            X = data.X
            # Target and weights first, which need not look at the columns.
            data = replace(data, X=np.empty((len(data), 0))).take(order)
            for name in X:
                X[name] = X[name].take(order, axis=0)
            data = replace(data, X=X)
        else:
            data = data.take(order)
        ends = np.cumsum([len(part) for part in rows]).tolist()
        train, held_out, test = (data.take(slice(a, b)) for a, b in pairwise([0, *ends]))
    else:
        train, held_out, test = (data.take(part) for part in rows)
    # The train rows alone decide which columns are of use.
    inputs = Inputs.of(_without(train, split.column), drop)
    if isinstance(split, Given):
        test = _further(split.test, inputs)
        if split.held_out is not None:
            held_out = _further(split.held_out, inputs)
    remarks: list[str] = []
    if getattr(split, "held_out", None) is None:
        repeated = task.repeated(inputs, train, held_out)
        if 0 < repeated.sum() < len(held_out):
            # They say nothing about new rows, but may be learned from.
            train, held_out = _joined(train, held_out, repeated)
            remarks.append(
                f"{repeated.sum()} held-out {task.units} that stand among the train "
                f"{task.units} too are not held out but learned from."
            )
    rule = split.describe(task.units, task.evenly)
    for part, found in (("train", train), ("held-out", held_out), ("test", test)):
        if len(found) == 0:
            labels = task.labels(data.y)
            sparse = labels is not None and 2 * len(labels) >= len(data)
            why = (
                f": {len(labels)} classes of one or two rows cannot be split. Merge rare classes, "
                "predict a coarser label, collect more rows, or give test rows of their own"
                if sparse and labels is not None
                else ""
            )
            raise DataError(
                f"{len(data)} {task.units} are too few: no {part} {task.units} are left{why}."
            )
        if found.y is None:
            where = found.source or "the data"
            raise DataError(
                f"{where}: the {part} {task.units} need the target {train.target_name!r}"
            )
        remarks += task.check_part(part, found, train, rule)
    return Split(train, held_out, SealedTest(test), rule), inputs, tuple(remarks)


def _joined(train: Dataset, held_out: Dataset, moved: Any) -> tuple[Dataset, Dataset]:
    """Both with some of the held-out rows moved to the train rows."""
    more = held_out.take(np.flatnonzero(moved))
    both = replace(train, X=train.X.joined(more.X), y=train.y.joined(more.y))
    return both, held_out.take(np.flatnonzero(~moved))


def _without(data: Dataset, column: str | None) -> Dataset:
    """The data without the column that decided the split."""
    if column is None:
        return data
    if isinstance(data.X, TokenSequences):
        column = find_column(column, list(data.X.names), "split")
        columns = {name: part for name, part in data.X.columns.items() if name != column}
        return replace(data, X=replace(data.X, columns=columns), feature_names=tuple(columns))
    if not isinstance(data.X, dict):
        return data
    kept = {name: values for name, values in data.X.items() if name != column}
    texts = tuple(name for name in data.text_names if name != column)
    schema = data.schema
    if schema is not None:
        schema = schema.take([name for name in schema.names if name != column])
    return replace(data, X=kept, feature_names=tuple(kept), text_names=texts, schema=schema)


def _further(source: Any, inputs: Inputs) -> Dataset:
    """Rows from elsewhere; a file is read as the training rows were."""
    if isinstance(source, str | os.PathLike):
        return inputs.read(source, target=True)
    found = as_dataset(source, "auto" if inputs.target is None else inputs.target)
    inputs.take(found)  # complains now rather than after the search
    return found
