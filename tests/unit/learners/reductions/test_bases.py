"""Any base learner; fits in parts; costs and weights of classes."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.linear_model import Ridge, SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from separatrix import (
    AllPairs,
    Calibrated,
    LinearSVM,
    LogisticRegression,
    OneVsAll,
    OutputCode,
    Perceptron,
    TextVectorizer,
)
from separatrix.errors import DataError, ParameterError
from tests.unit.learners.reductions.problems import (
    CODES,
    IRIS,
    IRIS_LABELS,
    NAMES,
    REDUCTIONS,
    SPARSE,
    K,
)


@pytest.mark.parametrize(
    "base",
    [
        GaussianNB(),
        DecisionTreeClassifier(random_state=0),
        Ridge(),
        make_pipeline(StandardScaler(), LogisticRegression()),
        Calibrated(LinearSVM(), "sigmoid", random_state=0),
        Perceptron(random_state=0),
    ],
    ids=lambda base: type(base).__name__,
)
@pytest.mark.parametrize("reduction", REDUCTIONS, ids=repr)
def test_any_estimator_serves(reduction, base):
    model = clone(reduction).set_params(estimator=base).fit(IRIS, NAMES)
    # The class in the middle seldom has the largest sum of scores, and few bits err together.
    assert model.score(IRIS, NAMES) > 0.55
    assert len(model.estimators_) == model.code_.n_columns
    if hasattr(base, "predict_proba"):
        p = model.predict_proba(IRIS)
        np.testing.assert_allclose(p.sum(axis=1), 1)
        assert (model.classes_[p.argmax(axis=1)] == NAMES).mean() > 0.6
    np.testing.assert_array_equal(
        pickle.loads(pickle.dumps(model)).predict(IRIS), model.predict(IRIS)
    )


def test_rows_need_not_be_numbers():
    texts = [
        "see you at noon",
        "cheap pills",
        "match tonight",
        "noon again",
        "pills!",
        "a match",
    ] * 4
    topics = ["meet", "spam", "sport"] * 8
    model = AllPairs(make_pipeline(TextVectorizer(), LogisticRegression())).fit(texts, topics)
    assert model.predict(["cheap cheap pills", "the match"]).tolist() == ["spam", "sport"]


@pytest.mark.parametrize("reduction", REDUCTIONS, ids=repr)
def test_parts_add_up(reduction):
    X, y = load_digits(return_X_y=True)
    X, y = X[:600] / 16, y[:600]
    base = SGDClassifier(random_state=0)
    model = clone(reduction).set_params(estimator=base)
    model.partial_fit(X[:300], y[:300], classes=np.arange(10))
    model.partial_fit(X[300:], y[300:])
    code = model.code_.values
    for column, fitted in enumerate(model.estimators_):
        alone = clone(base)
        for part in (slice(300), slice(300, 600)):
            entries = code[y[part], column]
            used = entries != 0
            alone.partial_fit(X[part][used], entries[used].astype(int), classes=[-1, 1])
        np.testing.assert_array_equal(fitted.coef_, alone.coef_)
    assert model.score(X, y) > 0.7


def test_classes_that_have_not_come_yet_do_not_win():
    X, y = load_digits(return_X_y=True)
    few = y < 3
    model = AllPairs(SGDClassifier(random_state=0))
    model.partial_fit(X[few], y[few], classes=np.arange(10))
    assert model.estimators_[-1] is None
    assert (model.column_scores(X)[:, -1] == 0).all()
    assert set(model.predict(X[few])) <= {0, 1, 2}
    with pytest.raises(DataError, match="not the same as on the last call"):
        model.partial_fit(X, y, classes=[0, 1])


def test_parts_are_refused_where_they_cannot_be():
    assert not hasattr(OneVsAll(LinearSVM()), "partial_fit")
    with pytest.raises(AttributeError):
        OneVsAll(LinearSVM()).partial_fit(IRIS, IRIS_LABELS)
    with pytest.raises(ParameterError, match="needs all rows at once"):
        OneVsAll(Perceptron(), class_weight="balanced").partial_fit(IRIS, IRIS_LABELS)


@pytest.mark.parametrize("reduction", REDUCTIONS, ids=repr)
def test_zero_one_cost_is_no_cost(reduction):
    plain = clone(reduction).fit(SPARSE, CODES)
    costly = clone(reduction).set_params(cost=1 - np.eye(K)).fit(SPARSE, CODES)
    np.testing.assert_allclose(plain.column_scores(SPARSE), costly.column_scores(SPARSE), atol=1e-6)


def test_costs_are_weights_of_the_rows_in_a_column():
    cost = np.array([[0, 1.0, 4.0], [2.0, 0, 1.0], [1.0, 3.0, 0]])
    model = AllPairs(LogisticRegression(tol=1e-9), cost=cost).fit(IRIS, IRIS_LABELS)
    for column, (i, j) in enumerate([(0, 1), (0, 2), (1, 2)]):
        used = np.isin(IRIS_LABELS, (i, j))
        labels = np.where(IRIS_LABELS[used] == i, 1, -1)
        weights = np.where(labels == 1, cost[i, j], cost[j, i])
        alone = LogisticRegression(tol=1e-9).fit(IRIS[used], labels, sample_weight=weights)
        np.testing.assert_allclose(
            model.column_scores(IRIS)[:, column], alone.decision_function(IRIS), atol=1e-3
        )
    one = OneVsAll(LogisticRegression(), cost=cost).fit(IRIS, IRIS_LABELS)
    task = one._task(one.code_, IRIS_LABELS, None)
    # A row of class 1 in the column of class 0 weighs what taking 1 for 0 costs.
    np.testing.assert_allclose(task.table, [[2.5, -1, -4], [-2, 1.5, -1], [-1, -3, 2]])


def test_a_costly_class_is_missed_less_often():
    X, y = IRIS[:, :2], IRIS_LABELS
    cost = 1 - np.eye(3)
    cost[1, :] *= 8
    for reduction in (OneVsAll(), AllPairs(), OutputCode(code="exhaustive")):
        missed = [
            (clone(reduction).set_params(cost=c).fit(X, y).predict(X)[y == 1] != 1).mean()
            for c in (None, cost)
        ]
        assert missed[1] < missed[0]


def test_class_weights_weigh_the_rows_of_a_class():
    weights = {"setosa": 1.0, "versicolor": 3.0, "virginica": 0.5}
    rows = np.array([weights[name] for name in NAMES])
    base = LogisticRegression(tol=1e-9)
    one = OneVsAll(base, class_weight=weights).fit(IRIS, NAMES)
    other = OneVsAll(base).fit(IRIS, NAMES, sample_weight=rows)
    np.testing.assert_allclose(one.decision_function(IRIS), other.decision_function(IRIS))
