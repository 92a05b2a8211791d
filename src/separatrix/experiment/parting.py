"""From one data set to train, held-out and sealed test rows that fit each other."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from separatrix.data import Dataset
from separatrix.errors import DataError
from separatrix.experiment.source import as_dataset
from separatrix.experiment.split import Given, SealedTest, Split
from separatrix.tasks import Task
from separatrix.tasks.inputs import Inputs

__all__ = ["make_parts"]


def make_parts(
    data: Dataset, split: Any, task: Task, drop: Sequence[str], random_state: int
) -> tuple[Split, Inputs, tuple[str, ...]]:
    """Data sets of the three parts, the test rows sealed; what of them is learned from; remarks.

    Parameters
    ----------
    data : Dataset
        All rows.
    split : Stratified, Grouped, ByTime or Given
    task : Task
    drop : sequence of str
        Columns to leave out.
    random_state : int
        Seed of the split.
    """
    generator = np.random.default_rng(random_state)
    rows = split.rows(data, generator, task.strata(data.y))
    train, held_out, test = (data.take(part) for part in rows)
    # The train rows alone decide which columns are of use.
    inputs = Inputs.of(_without(train, split.column), drop)
    if isinstance(split, Given):
        test = _further(split.test, inputs)
        if split.held_out is not None:
            held_out = _further(split.held_out, inputs)
    rule = split.describe(task.units, task.evenly)
    remarks: list[str] = []
    for part, found in (("train", train), ("held-out", held_out), ("test", test)):
        if len(found) == 0:
            raise DataError(
                f"{len(data)} {task.units} are too few: no {part} {task.units} are left."
            )
        if found.y is None:
            where = found.source or "the data"
            raise DataError(
                f"{where}: the {part} {task.units} need the target {train.target_name!r}"
            )
        inputs.take(found)
        remarks += task.check_part(part, found, train, rule)
    return Split(train, held_out, SealedTest(test)), inputs, tuple(remarks)


def _without(data: Dataset, column: str | None) -> Dataset:
    """The data without the column that decided the split."""
    if column is None or not isinstance(data.X, dict):
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
    return as_dataset(source, "auto" if inputs.target is None else inputs.target)
