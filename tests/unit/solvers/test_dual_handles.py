"""What the handles on the dual solvers check, and what they take."""

from __future__ import annotations

import numpy as np
import pytest

from separatrix._core import DualBinary, DualMulticlass
from separatrix.errors import DataError
from separatrix.structures.labels import make_design

BINARY = {
    "y": np.array([1.0, -1.0]),
    "upper": np.ones(2),
    "loss": "hinge",
    "intercept": "none",
    "seed": 0,
    "n_threads": 1,
}
MULTICLASS = BINARY | {
    "y": np.array([0, 1]),
    "n_classes": 2,
    "loss": "multiclass_hinge",
    "cost": None,
}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y": np.array([1.0, 0.5])}, r"y\[1\]"),
        ({"y": np.array([1.0])}, "y has length 1"),
        ({"upper": np.array([1.0, -1.0])}, r"upper\[1\]"),
        ({"upper": np.array([np.nan, 1.0])}, r"upper\[0\]"),
        ({"loss": "squared"}, "no dual"),
        ({"intercept": "maybe"}, "intercept must be"),
    ],
)
def test_the_binary_handle_checks_its_arguments(change, message):
    design = make_design(np.eye(2), 1)
    with pytest.raises(DataError, match=message):
        DualBinary(design, **(BINARY | change))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y": np.array([0, 2])}, r"y\[1\] is 2"),
        ({"y": np.array([0, -1])}, r"y\[1\] is -1"),
        ({"n_classes": 0}, "n_classes must be"),
        ({"cost": np.zeros((3, 3))}, "cost must be"),
        ({"cost": np.array([[0.0, -1.0], [1.0, 0.0]])}, r"cost\[0, 1\]"),
        ({"cost": np.array([[0.0, 1.0], [1.0, 2.0]])}, r"cost\[1, 1\]"),
        ({"cost": np.zeros((2, 2)), "loss": "multiclass_logistic"}, "takes no costs"),
        ({"loss": "hinge"}, "no dual"),
        ({"start": np.zeros((2, 3))}, "start has length"),
    ],
)
def test_the_multiclass_handle_checks_its_arguments(change, message):
    design = make_design(np.eye(2), 1)
    with pytest.raises(DataError, match=message):
        DualMulticlass(design, **(MULTICLASS | change))


def test_no_rows_and_no_weight_are_not_a_crash():
    empty = make_design(np.zeros((0, 3)), 1)
    state = DualBinary(empty, np.zeros(0), np.zeros(0), "logistic", "free", 0, 2)
    assert state.run_pass()[0] == 0
    state = DualBinary(make_design(np.eye(2), 1), np.ones(2), np.zeros(2), "hinge", "free", 0, 2)
    assert state.run_pass()[0] == 0
    assert state.certificate() == (0, 0, 0)
