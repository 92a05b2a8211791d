"""Objectives of the benchmarks against scikit-learn, on tiny data."""

import numpy as np
import pytest
from benchmarks import data, objectives, peers
from benchmarks.objectives import Objective
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import hinge_loss, log_loss
from sklearn.svm import LinearSVC


@pytest.fixture
def binary():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5)).astype(np.float32)
    return X, (X[:, 0] + 0.5 * rng.normal(size=60) > 0).astype(np.int64)


@pytest.fixture
def multiclass():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(90, 6)).astype(np.float32)
    return X, (X[:, :3] + 0.5 * rng.normal(size=(90, 3))).argmax(axis=1).astype(np.int64)


def test_logistic_is_log_loss_plus_penalty(binary):
    X, y = binary
    model = LogisticRegression(C=2.0).fit(X, y)
    summed = log_loss(y, model.predict_proba(X.astype(np.float64)), normalize=False)
    expected = 0.5 * np.sum(model.coef_.astype(np.float64) ** 2) + 2.0 * summed
    value = Objective(objectives.logistic, C=2.0)(model.coef_, model.intercept_, X, y)
    assert value == pytest.approx(expected, rel=1e-5)


def test_softmax_is_log_loss_plus_penalty(multiclass):
    X, y = multiclass
    model = LogisticRegression(C=0.5).fit(X.astype(np.float64), y)
    summed = log_loss(y, model.predict_proba(X.astype(np.float64)), normalize=False)
    expected = 0.5 * np.sum(model.coef_**2) + 0.5 * summed
    value = Objective(objectives.softmax, C=0.5)(model.coef_, model.intercept_, X, y)
    assert value == pytest.approx(expected, rel=1e-9)


def test_hinge_with_penalized_intercept(binary):
    X, y = binary
    model = LinearSVC(loss="hinge", C=3.0, max_iter=100_000).fit(X, y)
    mean = hinge_loss(y, model.decision_function(X.astype(np.float64)))
    penalty = 0.5 * (np.sum(model.coef_**2) + model.intercept_[0] ** 2)
    objective = Objective(objectives.hinge, C=3.0, penalize_intercept=True)
    expected = penalty + 3.0 * mean * len(y)
    assert objective(model.coef_, model.intercept_, X, y) == pytest.approx(expected, rel=1e-6)


def test_crammer_singer_is_multiclass_hinge_loss(multiclass):
    X, y = multiclass
    model = LinearSVC(multi_class="crammer_singer", fit_intercept=False, max_iter=100_000).fit(X, y)
    mean = hinge_loss(y, model.decision_function(X.astype(np.float64)))
    expected = 0.5 * np.sum(model.coef_**2) + mean * len(y)
    value = Objective(objectives.crammer_singer)(model.coef_, np.zeros(3), X, y)
    assert value == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(
    ("loss", "estimator"),
    [
        (objectives.logistic, LogisticRegression(tol=1e-10, max_iter=10_000)),
        (objectives.hinge, LinearSVC(loss="hinge", tol=1e-10, max_iter=1_000_000)),
        (objectives.squared_hinge, LinearSVC(tol=1e-10, max_iter=1_000_000)),
    ],
)
def test_estimators_minimize_the_objective(binary, loss, estimator):
    X, y = binary
    model = estimator.fit(X.astype(np.float64), y)
    objective = Objective(loss, penalize_intercept=isinstance(estimator, LinearSVC))
    best = objective(model.coef_, model.intercept_, X, y)
    rng = np.random.default_rng(2)
    for scale in (1e-3, 1e-2, 1e-1):
        coef = model.coef_ + scale * rng.normal(size=model.coef_.shape)
        intercept = model.intercept_ + scale * rng.normal(size=1)
        assert objective(coef, intercept, X, y) > best


def test_sparse_equals_dense(multiclass):
    X, y = multiclass
    rng = np.random.default_rng(3)
    W, b = rng.normal(size=(3, 6)), rng.normal(size=3)
    objective = Objective(objectives.softmax)
    assert objective(W, b, sparse.csr_matrix(X), y) == pytest.approx(objective(W, b, X, y))
    predicted = objectives.predict(W, b, X)
    np.testing.assert_array_equal(predicted, (X @ W.T + b).argmax(axis=1))


def test_softmax_does_not_overflow():
    value = objectives.softmax(np.array([[1e4, 0.0]]), np.array([1]))
    np.testing.assert_allclose(value, [1e4])


@pytest.mark.parametrize("first", [0, 1])
def test_liblinear_signs_do_not_depend_on_the_order_of_labels(binary, first):
    pytest.importorskip("liblinear")
    X, y = binary
    order = np.argsort(y != first, kind="stable")
    split = data.Data(sparse.csr_matrix(X[order]), y[order], sparse.csr_matrix(X), y)
    problem = peers.prepare_liblinear(split, bias=1.0)
    model = peers.train_liblinear(problem, solver=3, tol=1e-6)
    ((coef, intercept),) = peers.read_liblinear(problem, model).models
    objective = Objective(objectives.hinge, penalize_intercept=True)
    reference = LinearSVC(loss="hinge", tol=1e-8, max_iter=1_000_000).fit(X, y)
    best = objective(reference.coef_, reference.intercept_, X, y)
    assert objective(coef, intercept, X, y) == pytest.approx(best, rel=1e-4)


def test_one_vs_all_and_pairs_are_sums_of_two_class_objectives():
    random = np.random.default_rng(0)
    X, y = random.normal(size=(30, 4)), np.arange(30) % 3
    W, b = random.normal(size=(3, 4)), random.normal(size=3)
    two = objectives.Objective(objectives.squared_hinge, C=0.7, penalize_intercept=True)
    together = objectives.Objective(
        objectives.one_vs_all_squared_hinge, C=0.7, penalize_intercept=True
    )
    parts = [two(W[[k]], b[[k]], X, (y == k).astype(np.int64)) for k in range(3)]
    assert together(W, b, X, y) == pytest.approx(sum(parts))

    pairs = objectives.PairObjective(objectives.squared_hinge, C=0.7, penalize_intercept=True)
    parts = []
    for pair, (i, j) in enumerate([(0, 1), (0, 2), (1, 2)]):
        rows = np.isin(y, (i, j))
        parts.append(two(W[[pair]], b[[pair]], X[rows], (y[rows] == i).astype(np.int64)))
    assert pairs(sparse.csr_matrix(W), b, sparse.csr_matrix(X), y) == pytest.approx(sum(parts))
