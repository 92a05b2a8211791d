"""The one table of kinds of output, and the task that a target sets."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

from sklearn.base import is_classifier, is_regressor

from separatrix.data import Dataset
from separatrix.errors import DataError, ParameterError
from separatrix.explanation import see_through
from separatrix.metrics import Metric
from separatrix.tasks.task import Task

__all__ = ["TASKS", "all_metrics", "find_task", "kind_of", "task_named", "task_of_kind", "tasks"]

#: Letters of the names of columns that a message lists.
_LISTED = 300
#: Kind, as model files name it -> "module:Class". The first that recognizes a target has it. A
#: kind is imported when it is requested.
TASKS: dict[str, str] = {
    "tagging": "separatrix.tasks.tagging:Tagging",
    "label_sets": "separatrix.tasks.label_sets:SetsOfLabels",
    "label_images": "separatrix.tasks.label_images:LabelImages",
    "quantities": "separatrix.tasks.quantities:Quantities",
    "classes": "separatrix.tasks.classes:Classes",
}


def task_of_kind(kind: str) -> type[Task]:
    """The class of a kind.

    Examples
    --------
    >>> task_of_kind("quantities").names
    ('regression',)
    """
    module, _, name = TASKS[kind].partition(":")
    found: type[Task] = getattr(importlib.import_module(module), name)
    return found


def tasks() -> Iterator[type[Task]]:
    """All kinds, in the order of the table."""
    return map(task_of_kind, TASKS)


def kind_of(estimator: Any) -> str | None:
    """The kind of output of a fitted model: as its learner declares, or scikit-learn's tags tell.

    Examples
    --------
    >>> from separatrix import MajorityClass, MeanValue
    >>> kind_of(MajorityClass()), kind_of(MeanValue())
    ('classes', 'quantities')
    """
    learner = see_through(estimator)[1]
    if hasattr(learner, "__sx_task__"):
        declared: str | None = learner.__sx_task__
        return declared
    if is_regressor(learner):
        return "quantities"
    return "classes" if is_classifier(learner) else None


def task_named(name: str) -> Task:
    """The task that learners of the registry call `name`."""
    for task in tasks():
        if name in task.names:
            return task(name)
    known = ", ".join(name for task in tasks() for name in task.names)
    raise ParameterError(f"there is no task {name!r}; there are {known}")


def all_metrics() -> dict[str, Metric]:
    """Name -> metric, of all kinds.

    Examples
    --------
    >>> all_metrics()["rmse"].title
    'root mean squared error'
    """
    return {name: metric for task in tasks() for name, metric in task.metrics.items()}


def find_task(data: Dataset, wanted: str = "auto") -> Task:
    """The task that the target of `data` sets, or the one that is wanted.

    A label for every token of a sequence is tagging, lists of labels for rows are label sets, a
    label for every pixel is a label image. Numbers of many different values are quantities, to be
    predicted by regression; few of them, and anything else, are classes. The labels of svmlight
    files are classes where they are whole.

    Parameters
    ----------
    data : Dataset
        With a target.
    wanted : str
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
    if data.y is None:
        raise _no_target(data)
    if len(data.y) == 0:
        raise DataError(f"{data.source or 'the data'}: there are no rows")
    owner: Any = None
    if wanted != "auto":
        owner = next((task for task in tasks() if wanted in (*task.names, *task.aliases)), None)
        if owner is None:
            task_named(wanted)  # which names those there are
    for task in tasks():
        if owner is None or task is owner:
            found = task.recognize(data, wanted)
            if found is not None:
                return found
    held = find_task(data)
    shown = repr(data.target_name) if data.target_name else "the target"
    raise ParameterError(
        f"{wanted} needs {owner.holds}, but {shown} holds {held.holds}; their task is {held.name}"
    )


def _no_target(data: Dataset) -> DataError:
    where = f"{data.source}: " if data.source else ""
    if data.kind == "sequences":
        return DataError(f"{where}tokens have one column; their labels are to stand in another")
    names = [repr(name) for name in data.feature_names]
    listed = ", ".join(names)
    if len(listed) > _LISTED:
        listed = f"{', '.join(names[:8])}, … ({len(names)} columns)"
    return DataError(f"{where}which column is to be predicted? Name it by -t (target=): {listed}")
