"""The task is found from the target, said, and can be overruled."""

from __future__ import annotations

import numpy as np
import pytest

from separatrix.data import Dataset
from separatrix.data.dataset import LabelSets
from separatrix.errors import DataError, ParameterError
from separatrix.tasks import find_task, task_named


def data(y, kind="table", name="price"):
    X = {"x": np.zeros(len(y))} if kind == "table" else np.zeros((len(y), 1))
    return Dataset(kind, X, np.asarray(y), ("x",), name, source="file.csv")


@pytest.mark.parametrize(
    ("y", "kind", "task"),
    [
        ([0, 1] * 5, "table", "binary"),
        ([True, False] * 5, "table", "binary"),
        (["a", "b", "c"] * 5, "table", "multiclass"),
        ([0.5, 1.5, 2.5] * 5, "table", "multiclass"),
        (np.arange(11) / 2, "table", "regression"),
        (np.arange(20), "table", "multiclass"),
        (np.arange(21), "table", "regression"),
        (np.arange(26.0), "matrix", "multiclass"),
        (np.arange(26) + 0.5, "matrix", "regression"),
        ([f"{n}" for n in range(100)], "table", "multiclass"),
    ],
)
def test_the_target_sets_the_task(y, kind, task):
    found = find_task(data(y, kind))
    assert found.name == task
    assert isinstance(found, type(task_named(task)))
    assert found.reason.startswith(f"'price' holds {len(set(y))} ")


def test_the_finding_can_be_overruled():
    numbers = data(np.arange(30))
    assert find_task(numbers).name == "regression"
    assert find_task(numbers, "classification").name == "multiclass"
    assert find_task(numbers, "multiclass").reason == "requested"
    assert find_task(data([1, 2, 3] * 4), "regression").name == "regression"
    assert find_task(data([1, 2] * 4), "binary").name == "binary"


@pytest.mark.parametrize(
    ("y", "asked", "error", "words"),
    [
        (
            ["a", "b"],
            "regression",
            ParameterError,
            "needs quantities, but 'price' holds",
        ),
        ([1, 2, 3], "binary", ParameterError, "'price' has 3 classes"),
        ([1, 2, 3], "ranking", ParameterError, "no task 'ranking'; there are tagging, label_sets"),
        ([1, 1, 1], "auto", DataError, "file.csv: all rows have the same label, 1 in 'price'"),
        (["a"] * 3, "auto", DataError, "nothing to tell apart"),
        ([], "auto", DataError, "file.csv: there are no rows"),
        (
            np.array(["a", None, "b", None], dtype=object),
            "auto",
            DataError,
            r"file.csv: row 2 has no value in 'price', and 1 more; leave such rows out",
        ),
        ([0.5, np.nan], "regression", DataError, r"row 2 has no value"),
        ([0.5, np.inf], "regression", DataError, r"row 2 holds inf"),
        (np.array(["a", 1, "b"], dtype=object), "auto", DataError, "several types: int, str"),
    ],
)
def test_what_cannot_be_learned(y, asked, error, words):
    with pytest.raises(error, match=words):
        find_task(data(y), asked)


def test_targets_that_are_not_there():
    nothing = Dataset("table", {f"c{n}": np.zeros(3) for n in range(10)}, source="file.csv")
    with pytest.raises(DataError, match=r"file.csv: which column is to be predicted"):
        find_task(nothing)
    sets = Dataset("matrix", np.zeros((2, 1)), LabelSets.of([("a",), ("a", "b")]))
    assert find_task(sets).name == "label_sets"
