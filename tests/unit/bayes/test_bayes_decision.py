"""BayesDecision: the cheapest action from any classifier with probabilities."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression as SklearnLogistic
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from separatrix import BayesDecision, CostMatrix, LinearSVM, LogisticRegression, MajorityClass
from separatrix.errors import DataError, NotFittedError, ParameterError
from separatrix.metrics import expected_cost
from tests.checks import check, each

X, y = load_iris(return_X_y=True)
CLASSIFIERS = [
    LogisticRegression(),
    SklearnLogistic(max_iter=1000),
    GaussianNB(),
    make_pipeline(StandardScaler(), LogisticRegression()),
    GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, cv=2),
    MajorityClass(),
]


@each(
    [
        BayesDecision(LogisticRegression(tol=1e-11)),
        BayesDecision(SklearnLogistic(max_iter=1000, tol=1e-10)),
        BayesDecision(GaussianNB()),
    ]
)
def test_scikit_learn_checks(estimator):
    check(estimator)


@pytest.mark.parametrize("classifier", CLASSIFIERS, ids=lambda c: type(c).__name__)
def test_zero_one_cost_is_the_classifier_itself(classifier):
    model = BayesDecision(classifier).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), clone(classifier).fit(X, y).predict(X))
    assert model.reject_label_ is None
    assert not model.rejected(X).any()
    assert model.mean_cost(X, y) == pytest.approx(1 - model.score(X, y))


@pytest.mark.parametrize("classifier", CLASSIFIERS, ids=lambda c: type(c).__name__)
def test_predictions_are_the_cheapest_actions(classifier):
    cost = np.array([[0, 1, 2], [4, 0, 1], [8, 3, 0]])
    model = BayesDecision(classifier, CostMatrix(cost, reject=0.4)).fit(X, y)
    risks = np.column_stack([model.predict_proba(X) @ cost, np.full(len(X), 0.4)])
    np.testing.assert_allclose(model.expected_costs(X), risks)
    np.testing.assert_array_equal(model.predict(X), np.array([0, 1, 2, -1])[risks.argmin(axis=1)])
    np.testing.assert_array_equal(model.rejected(X), model.predict(X) == -1)


def test_costs_pay_on_held_out_data():
    cancer, labels = load_breast_cancer(return_X_y=True)
    train, test = np.arange(0, 569, 2), np.arange(1, 569, 2)
    base = make_pipeline(StandardScaler(), LogisticRegression(C=0.1))
    cost = np.array([[0, 20], [1, 0]])  # a missed tumor costs twenty false alarms
    plain = BayesDecision(base).fit(cancer[train], labels[train])
    aware = BayesDecision(base, cost).fit(cancer[train], labels[train])
    able = BayesDecision(base, cost, reject=0.5).fit(cancer[train], labels[train])

    def paid(model):
        return expected_cost(labels[test], model.predict(cancer[test]), cost)

    assert paid(aware) < paid(plain)
    assert aware.mean_cost(cancer[test], labels[test]) == pytest.approx(paid(aware))
    assert able.mean_cost(cancer[test], labels[test]) <= paid(aware)
    assert 0 < able.rejected(cancer[test]).mean() < 0.5


def test_more_expensive_rejection_rejects_less():
    shares = [
        BayesDecision(LogisticRegression(), reject=r).fit(X, y).rejected(X).mean()
        for r in (0.0, 0.05, 0.1, 0.3, 0.7)
    ]
    assert shares == sorted(shares, reverse=True)
    assert shares[0] == 1.0  # nothing is certain
    assert shares[-1] == 0.0  # the best of three classes has at least 1/3


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (np.array(["a", "bb", "c"])[y], "reject"),
        (y + 10, -1),
        (y.astype(np.uint8), -1),
        (y.astype(float), -1.0),
        ((y == 0), "reject"),
    ],
    ids=["strings", "integers", "unsigned", "floats", "booleans"],
)
def test_the_label_of_rejection_fits_the_labels(labels, expected):
    model = BayesDecision(LogisticRegression(), reject=1e-9).fit(X, labels)
    predicted = model.predict(X)
    assert set(predicted.tolist()) == {expected}
    assert model.actions_.tolist()[:-1] == sorted(set(labels.tolist()))


def test_label_of_rejection_by_hand_and_clash():
    model = BayesDecision(LogisticRegression(), reject=1e-9, reject_label=99).fit(X, y)
    assert set(model.predict(X)) == {99}
    with pytest.raises(ParameterError, match="reject_label"):
        BayesDecision(LogisticRegression(), reject=0.1).fit(X, y - 1)


def test_other_actions_than_the_classes():
    cost = CostMatrix([[0, 5], [1, 1], [6, 0]], actions=["keep", "sell"], reject=0.9)
    model = BayesDecision(LogisticRegression(), cost).fit(X, y)
    assert set(model.predict(X)) == {"keep", "sell", "reject"}
    np.testing.assert_array_equal(model.actions_, ["keep", "sell", "reject"])
    assert model.mean_cost(X, y) <= 1


def test_frames_sparse_and_weights():
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = BayesDecision(LogisticRegression(tol=1e-10), reject=0.1).fit(frame, y)
    assert list(model.feature_names_in_) == list("abcd")
    assert model.n_features_in_ == 4
    expected = model.predict(frame)
    again = BayesDecision(LogisticRegression(tol=1e-10), reject=0.1)
    for data in (X, sp.csr_array(X), pl.DataFrame(X, schema=list("abcd"))):
        np.testing.assert_array_equal(clone(again).fit(data, y).predict(data), expected)
    again.fit(frame, y).fit(X, y)
    assert not hasattr(again, "feature_names_in_")
    weights = np.where(y == 2, 5.0, 1.0)
    weighted = clone(again).fit(X, y, sample_weight=weights)
    inner = LogisticRegression(tol=1e-10).fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(weighted.predict_proba(X), inner.predict_proba(X))
    assert weighted.mean_cost(X, y, weights) != weighted.mean_cost(X, y)


def test_a_fitted_classifier_is_kept():
    fitted = LogisticRegression().fit(X[::2], y[::2])
    model = BayesDecision(FrozenEstimator(fitted), reject=0.1).fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X), fitted.predict_proba(X))


def test_costs_can_be_searched():
    search = GridSearchCV(
        BayesDecision(LogisticRegression()),
        {"reject": [None, 0.3], "estimator__C": [0.1, 1]},
        cv=2,
    ).fit(X, y)
    assert set(search.best_params_) == {"reject", "estimator__C"}


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (BayesDecision(LinearSVM()), "predict_proba"),
        (BayesDecision(LogisticRegression(), [[0, 1], [1, 0]]), "2 rows"),
        (BayesDecision(LogisticRegression(), np.ones((3, 2))), "name the actions"),
        (BayesDecision(LogisticRegression(), CostMatrix(np.ones((3, 3))), reject=1), "rejection"),
        (BayesDecision(LogisticRegression(), reject=[1, 2]), "reject"),
    ],
)
def test_bad_costs(model, words):
    with pytest.raises(ParameterError, match=words):
        model.fit(X, y)


def test_bad_use():
    with pytest.raises(NotFittedError):
        BayesDecision(LogisticRegression()).predict(X)
    model = BayesDecision(LogisticRegression()).fit(X, y)
    with pytest.raises(DataError, match=r"y\[0\]"):
        model.mean_cost(X, y + 7)
    with pytest.raises(DataError, match="rows"):
        model.mean_cost(X, y[:5])
    assert hasattr(model, "predict_log_proba")
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), model.predict_proba(X))
