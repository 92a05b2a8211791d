"""Sparse matrices whose arrays do not fit together are refused by every estimator, at every door.

scipy believes `indices` and `indptr`, and reads or writes outside its arrays when they are wrong;
so whatever takes a matrix has to look at them first. Each estimator is tried in a process of its
own, as a crash must not take the other tests with it.
"""

from __future__ import annotations

import inspect
import os
import pickle
import sys
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.utils import get_tags

import separatrix
from separatrix import registry
from separatrix.errors import SeparatrixError

ROWS, COLUMNS = 40, 6

_random = np.random.default_rng(0)
X = sp.csr_array(np.where(_random.random((ROWS, COLUMNS)) > 0.5, 1.0, 0.0))
Y = np.arange(ROWS) % 2

#: What constructors need beyond their defaults, by the name of the parameter.
NEEDED: dict[str, Any] = {"estimator": separatrix.LogisticRegression(), "shape": (2, 3)}

ESTIMATORS = sorted(
    name
    for name in separatrix.__all__
    if isinstance(getattr(separatrix, name), type) and hasattr(getattr(separatrix, name), "fit")
)

#: Learners of the registry that learn from a matrix.
OF_MATRICES = {
    learner.target.partition(":")[2]
    for learner in registry.LEARNERS
    if not {"tagging", "label_images"} & {*learner.tasks}
}

DOORS = ("predict", "predict_proba", "decision_function", "transform", "predict_top")


def malformed() -> dict[str, Any]:
    """Matrices of the shape of X, each with one fault."""

    def with_fault(make: str, **arrays: Any) -> Any:
        matrix = getattr(sp, f"{make}_array")(X.toarray())
        for name, change in arrays.items():
            setattr(matrix, name, change(getattr(matrix, name).copy()))
        return matrix

    def put(at: int, value: int) -> Any:
        def change(array: Any) -> Any:
            array[at] = value
            return array

        return change

    faults = {
        "index past the end": {"indices": put(3, 2**31 - 1)},
        "index one past the end": {"indices": put(-1, COLUMNS)},
        "negative index": {"indices": put(3, -1)},
        "very negative index": {"indices": put(3, -(2**31))},
        "pointers that fall": {"indptr": put(4, 0)},
        "pointers past the end": {"indptr": put(-1, 10**6)},
        "negative pointer": {"indptr": put(2, -5)},
        "first pointer": {"indptr": put(0, 3)},
        "too few indices": {"indices": lambda array: array[:-4].copy()},
        "too few values": {"data": lambda array: array[:-4].copy()},
    }
    found = {f"csr, {name}": with_fault("csr", **fault) for name, fault in faults.items()}
    found["csc, index past the end"] = with_fault("csc", indices=put(3, 2**31 - 1))
    found["csc, negative index"] = with_fault("csc", indices=put(3, -1))
    found["csc, pointers past the end"] = with_fault("csc", indptr=put(-1, 10**6))
    wide = with_fault(
        "csr", indices=lambda a: a.astype(np.int64), indptr=lambda a: a.astype(np.int64)
    )
    wide.indices[2] = 2**40
    found["csr, index of 64 bits"] = wide
    whole = with_fault("csr", indices=put(3, 10**6), data=lambda a: a.astype(np.int32))
    found["csr of whole numbers, index past the end"] = whole
    coo = sp.coo_array(X.toarray())
    coo.coords = (coo.coords[0], put(3, 10**9)(coo.coords[1].copy()))
    found["coo, column past the end"] = coo
    return found


def made(name: str) -> Any:
    """An estimator with what its constructor needs."""
    make = getattr(separatrix, name)
    parameters = inspect.signature(make).parameters.values()
    needed = [one.name for one in parameters if one.default is one.empty and one.kind < 2]
    return make(**{one: NEEDED[one] for one in needed if one in NEEDED})


def try_all(name: str) -> list[str]:
    """What an estimator took without an error of ours, at any door.

    One that takes no matrix must refuse these too; one that looks at no column, only at the number
    of rows, may take them. None may crash.
    """
    taken = []

    def attempt(what: str, call: Any) -> bool:
        try:
            call()
        except (SeparatrixError, ValueError, TypeError):
            return False
        except Exception as error:
            taken.append(f"{what}: {type(error).__name__}: {error}")
            return False
        return True

    sets = getattr(getattr(separatrix, name), "__sx_task__", None) == "label_sets"
    y = np.stack([Y, 1 - Y], axis=1) if sets else Y
    fitted = made(name)
    takes = attempt("fit", lambda: fitted.fit(X, y))
    assert takes or name not in OF_MATRICES, f"{name} does not take a matrix that is right"
    blind = attempt("fit", lambda: made(name).fit(sp.csr_array((ROWS, 0)), y))
    for fault, matrix in malformed().items():
        calls = {"fit": lambda matrix=matrix: made(name).fit(matrix, y)}
        if hasattr(fitted, "partial_fit"):
            calls["partial_fit"] = lambda matrix=matrix: made(name).partial_fit(matrix, y)
        for door in DOORS:
            if hasattr(fitted, door) and (takes or not get_tags(fitted).requires_fit):
                calls[door] = lambda door=door, matrix=matrix: getattr(fitted, door)(matrix)
        taken += [
            f"{door}, {fault}: taken"
            for door, call in calls.items()
            if attempt(f"{door}, {fault}", call) and not blind
        ]
    return taken


@pytest.mark.skipif(not hasattr(os, "fork"), reason="tries each estimator in a fork")
@pytest.mark.parametrize("name", ESTIMATORS)
def test_malformed_matrices_are_refused(name: str) -> None:
    receive, send = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.write(send, pickle.dumps(try_all(name)[:20]))
            status = 0
        except BaseException as error:
            print(f"{type(error).__name__}: {error}", file=sys.stderr)
        finally:
            os._exit(status)
    os.close(send)
    _, status = os.waitpid(child, 0)
    with os.fdopen(receive, "rb") as pipe:
        report = pipe.read()
    assert status == 0, f"the process ended with status {status}: a signal, or what it printed"
    assert pickle.loads(report) == []
