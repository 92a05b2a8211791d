"""What is to be learned, found from the target."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.data import Dataset, LabelSets, TokenColumn, TokenSequences
from separatrix.errors import DataError, ParameterError
from separatrix.experiment.families import FAMILIES, Family
from separatrix.experiment.families.sequences import check_token_labels
from separatrix.multilabel import read_sets
from separatrix.registry import Task as TaskName

__all__ = ["TASKS", "Task", "find_task"]

TASKS = ("binary", "multiclass", "regression", "tagging", "label_sets")

#: Most different numbers that still count as classes: of whole numbers, and of others.
_MOST_WHOLE, _MOST_OTHER = 20, 10


@dataclass(frozen=True)
class Task:
    """What is learned, and how that was found.

    Attributes
    ----------
    name : {"binary", "multiclass", "regression", "tagging", "label_sets"}
    reason : str
        In words.
    """

    name: TaskName
    reason: str

    @property
    def family(self) -> Family:
        """What tasks of this kind do in their own way."""
        return FAMILIES[self.name]


def find_task(data: Dataset, asked: str = "auto") -> Task:
    """The task that the target of `data` sets, or the one that was asked for.

    A label for every token of a sequence is tagging, lists of labels for rows are label sets.
    Numbers of many different values are quantities, to be predicted by regression; few of them, and
    anything else, are classes. The labels of svmlight files are classes where they are whole.

    Parameters
    ----------
    data : Dataset
        With a target.
    asked : str
        "auto", a task, or "classification": overrules the finding.

    Examples
    --------
    >>> import numpy as np
    >>> prices = Dataset("matrix", np.zeros((30, 1)), np.linspace(1, 2, 30), target_name="price")
    >>> print(find_task(prices).reason)
    'price' holds 30 different numbers
    >>> find_task(prices).name
    'regression'
    """
    y, name = data.y, data.target_name or "the target"
    shown = repr(name) if data.target_name else name
    if y is None:
        raise _no_target(data)
    if isinstance(y, LabelSets):
        return _label_sets(data, y, shown, asked)
    if isinstance(y, TokenColumn):
        return _tagging(data, y, shown, asked)
    _check_labels(data, y, shown)
    numbers = y.dtype.kind in "fiu"
    if asked == "regression":
        if not numbers:
            raise ParameterError(f"regression needs numbers, but {shown} holds {y[0]!r}")
        return Task("regression", "asked for")
    if asked == "label_sets":
        raise ParameterError(
            f"label sets need a list of labels for every row, but {shown} has none"
        )
    if asked == "tagging":
        raise ParameterError(f"tagging needs sequences of tokens, but {shown} labels rows")
    if asked not in ("auto", "binary", "multiclass", "classification"):
        raise ParameterError(f"there is no task {asked!r}; there are {', '.join(TASKS)}")
    distinct = np.unique(y)
    if asked == "auto" and numbers and _is_quantity(data, y, distinct):
        return Task("regression", f"{shown} holds {len(distinct)} different numbers")
    if len(distinct) < 2:
        raise DataError(
            f"{data.source or 'the data'}: all rows have the same label, {distinct.tolist()[0]!r} "
            f"in {shown}; there is nothing to tell apart"
        )
    if asked == "binary" and len(distinct) > 2:
        raise ParameterError(f"binary was asked for, but {shown} has {len(distinct)} classes")
    return Task(
        "binary" if len(distinct) == 2 else "multiclass",
        "asked for" if asked != "auto" else f"{shown} holds {len(distinct)} classes",
    )


def _tagging(data: Dataset, y: TokenColumn, shown: str, asked: str) -> Task:
    where = data.source or "the data"
    if asked not in ("auto", "tagging"):
        raise ParameterError(f"{where} holds sequences of tokens; their task is tagging")
    if not isinstance(data.X, TokenSequences):
        raise DataError(
            f"{where} holds attributes, not words, so that there are no templates to choose; fit "
            "separatrix.CRF to them"
        )
    check_token_labels(data)
    labels = y.classes
    if len(labels) < 2:
        raise DataError(
            f"{where}: all tokens have the same label, {labels.tolist()[0]!r} in {shown}; there is "
            "nothing to tell apart"
        )
    return Task("tagging", f"{shown} holds {len(labels)} labels of tokens")


def _label_sets(data: Dataset, y: LabelSets, shown: str, asked: str) -> Task:
    where = data.source or "the data"
    if asked not in ("auto", "label_sets"):
        raise ParameterError(f"{shown} holds sets of labels; their task is label_sets")
    if len(y) == 0:
        raise DataError(f"{where}: there are no rows")
    # The same checks that the learners make, with the row in the message.
    labels = read_sets(y, len(y))[1]
    return Task("label_sets", f"{shown} holds sets of {len(labels)} labels")


def _check_labels(data: Dataset, y: Any, shown: str) -> None:
    """Every row has a label, and labels can be put into an order."""
    where = data.source or "the data"
    if len(y) == 0:
        raise DataError(f"{where}: there are no rows")
    missing = np.zeros(len(y), dtype=bool)
    if y.dtype.kind == "f":
        missing = np.isnan(y)
    elif y.dtype == object:
        missing = np.array([value is None or value != value for value in y], dtype=bool)
    if missing.any():
        rows = int(missing.sum())
        raise DataError(
            f"{where}: row {int(np.argmax(missing))} (from 0) has no value in {shown}"
            + (f", and {rows - 1} more" if rows > 1 else "")
            + "; leave such rows out"
        )
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        row = int(np.argmin(np.isfinite(y)))
        raise DataError(f"{where}: row {row} (from 0) holds {y[row]} in {shown}")
    kinds = sorted({type(value).__name__ for value in y}) if y.dtype == object else []
    if len(kinds) > 1:
        raise DataError(f"{where}: {shown} holds values of several types: {', '.join(kinds)}")


def _is_quantity(data: Dataset, y: Any, distinct: Any) -> bool:
    whole = bool(np.all(distinct == np.round(distinct)))
    if data.kind in ("matrix", "images") and whole:
        return False
    return len(distinct) > (_MOST_WHOLE if whole else _MOST_OTHER)


def _no_target(data: Dataset) -> DataError:
    where = f"{data.source}: " if data.source else ""
    if data.kind == "sequences":
        return DataError(f"{where}tokens have one column; their labels are to stand in another")
    names = ", ".join(map(repr, data.feature_names[:8])) + ", …" * (len(data.feature_names) > 8)
    return DataError(f"{where}which column is to be predicted? Name it as the target: {names}")
