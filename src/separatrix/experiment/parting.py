"""From one data set to train, held-out and sealed test rows that fit each other."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from separatrix.data import Dataset
from separatrix.errors import DataError
from separatrix.experiment.inputs import Inputs
from separatrix.experiment.source import as_dataset
from separatrix.experiment.split import Given, SealedTest, Split
from separatrix.experiment.task import Task

__all__ = ["make_parts"]


def make_parts(
    data: Dataset, split: Any, task: Task, drop: Sequence[str], random_state: int
) -> tuple[Split, Inputs]:
    """Data sets of the three parts, the test rows sealed, and what of them is learned from.

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
    rows = split.rows(data, generator, quantity=task.is_regression)
    train, held_out, test = (data.take(part) for part in rows)
    # The train rows alone decide which columns are of use.
    inputs = Inputs.of(_without(train, split.column), drop)
    if isinstance(split, Given):
        test = _further(split.test, inputs)
        if split.held_out is not None:
            held_out = _further(split.held_out, inputs)
    for part, found in (("train", train), ("held-out", held_out), ("test", test)):
        if len(found) == 0:
            raise DataError(f"{len(data)} rows are too few: no {part} rows are left.")
        _check_part(part, found, train, inputs, task, split)
    return Split(train, held_out, SealedTest(test)), inputs


def _check_part(
    part: str, found: Dataset, train: Dataset, inputs: Inputs, task: Task, split: Any
) -> None:
    """Complain now rather than after the search."""
    where = f"{found.source or 'the data'}: "
    if found.y is None:
        raise DataError(f"{where}the {part} rows need the target {train.target_name!r}")
    inputs.take(found)
    if task.is_regression and found.y.dtype.kind not in "fiu":
        raise DataError(f"{where}the target of the {part} rows holds {found.y[0]!r}, no number")
    if task.is_regression:
        return
    strange = sorted(set(found.y.tolist()) - set(train.y.tolist()), key=str)
    if strange:
        raise DataError(
            f"{where}class {strange[0]!r} is among the {part} rows, but not among the train "
            f"rows ({split.describe()}); leave it out, or split in another way"
        )


def _without(data: Dataset, column: str | None) -> Dataset:
    """The data without the column that decided the split."""
    if column is None or not isinstance(data.X, dict):
        return data
    kept = {name: values for name, values in data.X.items() if name != column}
    texts = tuple(name for name in data.text_names if name != column)
    return replace(data, X=kept, feature_names=tuple(kept), text_names=texts)


def _further(source: Any, inputs: Inputs) -> Dataset:
    """Rows from elsewhere; a file is read as the training rows were."""
    if isinstance(source, str | os.PathLike):
        return inputs.read(source, target=True)
    return as_dataset(source, "auto" if inputs.target is None else inputs.target)
