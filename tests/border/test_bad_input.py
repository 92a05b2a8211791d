"""Bad input gets a typed error that names the place, or the right answer; never a crash."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris

from separatrix import MIRA, LinearClassifier, LinearSVM, LogisticRegression, Perceptron
from separatrix._core import Csr
from separatrix.errors import DataError, ParameterError, SolverError

LEARNERS = [LogisticRegression, LinearSVM, LinearClassifier, Perceptron, MIRA]
X, Y = load_iris(return_X_y=True)


@pytest.fixture(params=LEARNERS, ids=lambda learner: learner.__name__)
def learner(request):
    return request.param(random_state=0)


@pytest.mark.parametrize(("value", "word"), [(np.nan, "NaN"), (np.inf, "inf"), (-np.inf, "inf")])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, np.asfortranarray])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_cell_that_is_not_finite_is_named(learner, value, word, form, dtype):
    bad = X.astype(dtype)
    bad[17, 2] = value
    with pytest.raises(DataError, match=rf"{word}.* row 17, column 2"):
        learner.fit(form(bad), Y)
    learner.fit(X.astype(dtype), Y)
    with pytest.raises(DataError, match="row 17, column 2"):
        learner.predict(form(bad))


def test_the_column_of_a_frame_is_named(learner):
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    frame.loc[5, "c"] = np.nan
    with pytest.raises(DataError, match="row 5, column 'c'"):
        learner.fit(frame, Y)
    with pytest.raises(DataError, match="column 'town'"):
        learner.fit(pd.DataFrame(X).assign(town="Oslo"), Y)
    with pytest.raises(DataError, match="column 'town'"):
        learner.fit(pl.DataFrame({"x": X[:, 0], "town": ["Oslo"] * len(X)}), Y)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_are_taken(learner, frame):
    columns = {"a": X[:, 0], "b": X[:, 1], "c": X[:, 2] > 3, "d": (10 * X[:, 3]).astype(int)}
    plain = np.column_stack([np.asarray(column, dtype=float) for column in columns.values()])
    by_frame = learner.fit(frame(columns), Y).coef_.copy()
    assert list(learner.feature_names_in_) == ["a", "b", "c", "d"]
    np.testing.assert_array_equal(by_frame, learner.fit(plain, Y).coef_)


def test_lengths_must_agree(learner):
    with pytest.raises(ValueError, match=r"150.*149"):
        learner.fit(X, Y[:-1])
    with pytest.raises(ValueError, match="sample_weight"):
        learner.fit(X, Y, sample_weight=np.ones(3))


def test_one_class_only(learner):
    with pytest.raises(DataError, match="one class"):
        learner.fit(X, np.zeros(len(X)))
    weights = (Y == 1).astype(float)
    with pytest.raises(DataError, match="one class"):
        learner.fit(X, Y, sample_weight=weights)


def test_empty_input(learner):
    with pytest.raises(ValueError, match="0 sample"):
        learner.fit(np.empty((0, 4)), np.empty(0))
    with pytest.raises(ValueError, match="0 feature"):
        learner.fit(np.empty((5, 0)), [0, 1, 0, 1, 0])


def test_negative_weights(learner):
    weights = np.ones(len(X))
    weights[9] = -1
    with pytest.raises(DataError, match="negative at row 9"):
        learner.fit(X, Y, sample_weight=weights)
    with pytest.raises(ValueError, match="zero"):
        learner.fit(X, Y, sample_weight=np.zeros(len(X)))


def test_zero_weight_rows_do_not_count():
    weights = np.ones(len(X))
    weights[::3] = 0
    for learner in (LogisticRegression(tol=1e-10), LinearSVM(tol=1e-10, random_state=0)):
        first = learner.fit(X, Y, sample_weight=weights).decision_function(X)
        kept = weights > 0
        second = learner.fit(X[kept], Y[kept]).decision_function(X)
        np.testing.assert_allclose(first, second, atol=2e-3)


@pytest.mark.parametrize(
    ("cost", "words"),
    [
        (np.ones((3, 2)), "square"),
        (np.zeros((2, 2)), "3 classes"),
        ([[0, -1, 1], [1, 0, 1], [1, 1, 0]], r"cost\[0, 1\]"),
        ([[0, 1, 1], [1, 2, 1], [1, 1, 0]], r"cost\[1, 1\]"),
        ([[0, np.nan, 1], [1, 0, 1], [1, 1, 0]], r"cost\[0, 1\]"),
    ],
)
def test_bad_cost_matrices(cost, words):
    with pytest.raises(ParameterError, match=words):
        LinearSVM(cost=cost).fit(X, Y)


def test_squared_hinge_with_many_classes_points_to_one_vs_all():
    with pytest.raises(ParameterError, match="one-vs-all"):
        LinearSVM("squared_hinge").fit(X, Y)
    with pytest.raises(ParameterError, match="one-vs-all"):
        LinearClassifier("exponential").fit(X, Y)


@pytest.mark.parametrize("C", [0, -1, np.nan, "1", None])
def test_bad_C(C):
    for learner in (LogisticRegression(C=C), LinearSVM(C=C), MIRA(C=C)):
        with pytest.raises(ParameterError, match="C must be"):
            learner.fit(X, Y)


def test_a_hard_margin_is_refused():
    with pytest.raises(ParameterError, match="say a large C"):
        LinearSVM(C=np.inf).fit(X, Y)
    with pytest.raises(ParameterError, match="C must be"):
        MIRA(C=np.inf).fit(X, Y)


@pytest.mark.parametrize(
    "parameters",
    [
        {"penalty": "l3"},
        {"solver": "magic"},
        {"solver": 3},
        {"tol": 0},
        {"max_iter": -1},
        {"n_jobs": 0},
        {"on_interrupt": "x"},
        {"penalty": "elasticnet", "l1_ratio": 2},
    ],
    ids=str,
)
def test_bad_parameters_are_named(parameters):
    name = list(parameters)[-1]
    with pytest.raises(ParameterError, match=name):
        LogisticRegression(**parameters).fit(X, Y)


def test_a_solver_that_cannot_says_why():
    with pytest.raises(SolverError, match=r"Lbfgs needs .*l1"):
        LogisticRegression("l1", solver="lbfgs").fit(X, Y)
    with pytest.raises(SolverError, match="NewtonCG needs"):
        LinearSVM(solver="newton").fit(X, Y)
    with pytest.raises(SolverError, match="DualCoordinateDescent needs"):
        LinearClassifier("exponential", solver="dual").fit(X, Y == 1)


def csr(indptr, indices, data, shape, dtype=np.int32):
    matrix = sp.csr_matrix(shape)
    matrix.indptr = np.asarray(indptr, dtype=dtype)
    matrix.indices = np.asarray(indices, dtype=dtype)
    matrix.data = np.asarray(data, dtype=float)
    return matrix


def test_unsorted_and_repeated_indices_give_the_right_answer(learner):
    rng = np.random.default_rng(0)
    rows = [rng.permutation(4) for _ in X]
    twice = [np.concatenate([row, row[:2]]) for row in rows]
    halves = [
        np.concatenate([[0.5, 0.5, 1, 1], [0.5, 0.5]]) * X[i][twice[i]] for i in range(len(X))
    ]
    messy = csr(6 * np.arange(len(X) + 1), np.concatenate(twice), np.concatenate(halves), X.shape)
    before = messy.data.copy()
    clean = learner.fit(sp.csr_array(X), Y).coef_.copy()
    np.testing.assert_allclose(learner.fit(messy, Y).coef_, clean, rtol=1e-6, atol=1e-9)
    np.testing.assert_array_equal(messy.data, before)
    np.testing.assert_allclose(
        learner.decision_function(messy), learner.decision_function(X), atol=1e-9
    )


@pytest.mark.parametrize("index", [4, -1, 2**31 - 1])
def test_indices_out_of_range_are_refused(learner, index):
    bad = sp.csr_matrix(X)
    bad.indices[7] = index
    with pytest.raises(DataError, match=f"column index {index} in row 1"):
        learner.fit(bad, Y)


@pytest.mark.parametrize("indptr", [[0, 2, 1, 3], [1, 2, 3, 3], [0, 1, 2, 99], [0, -1, 2, 3]])
def test_malformed_row_pointers_are_refused(indptr):
    with pytest.raises(DataError, match="row pointer"):
        Csr(np.array(indptr, dtype=np.int32), np.zeros(3, np.int32), np.ones(3), 4)


def test_int64_indices_are_taken(learner):
    wide = sp.csr_matrix(X)
    wide.indptr, wide.indices = wide.indptr.astype(np.int64), wide.indices.astype(np.int64)
    np.testing.assert_array_equal(
        learner.fit(wide, Y).coef_, learner.fit(sp.csr_matrix(X), Y).coef_
    )


@pytest.mark.parametrize(
    "labels",
    [
        np.array(["a", "b", "c"])[Y],
        np.array([-7, 0, 1000])[Y],
        np.array(["x", "y", "zz"], dtype=object)[Y],
        Y.astype(bool),
        pd.Series(np.array(["u", "v", "w"])[Y]),
        list(map(str, Y)),
    ],
    ids=["str", "int", "object", "bool", "series", "list"],
)
def test_any_label_type(learner, labels):
    predicted = learner.fit(X, labels).predict(X)
    assert set(predicted) <= set(np.unique(np.asarray(labels)))
    assert (predicted == np.asarray(labels)).mean() > 0.6


def test_inputs_are_not_written_to(learner):
    frozen_X, frozen_y, weights = X.copy(), Y.copy(), np.ones(len(X))
    for array in (frozen_X, frozen_y, weights):
        array.flags.writeable = False
    learner.fit(frozen_X, frozen_y, sample_weight=weights).predict(frozen_X)


def test_predict_wants_the_same_features(learner):
    learner.fit(X, Y)
    with pytest.raises(ValueError, match="3 features"):
        learner.predict(X[:, :3])
    with pytest.raises(ValueError):
        learner.predict(X[0])
