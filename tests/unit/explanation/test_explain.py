"""`explain`: the terms add up to what the model says, whatever it is wrapped in."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

from separatrix import (
    BayesDecision,
    BayesianLinearRegression,
    Calibrated,
    LinearSVM,
    LogisticRegression,
    MajorityClass,
    NaiveBayes,
    Perceptron,
    TableEncoder,
    TextVectorizer,
    explain,
)
from separatrix.errors import DataError, ParameterError
from separatrix.explanation import see_through

TEXTS = ["free money now", "free offer, free!", "see you at noon", "money for lunch at noon"]
KINDS = ["spam", "spam", "ham", "ham"]


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)


@pytest.mark.parametrize("learner", [LogisticRegression(), LinearSVM(), Perceptron(random_state=0)])
def test_two_classes_add_up_to_the_score(learner):
    X, y = load_breast_cancer(return_X_y=True)
    model = make_pipeline(StandardScaler(), learner).fit(X, y)
    for row in X[:5]:
        found = explain(model, row)
        assert found.totals.shape == (31, 1)
        assert found.totals[-1, 0] == pytest.approx(model.decision_function(row[None])[0])
        np.testing.assert_allclose(found.values[1:] * found.weights[1:, 0], found.addends[1:, 0])
        turned = explain(model, row, classes=[0, 1])
        np.testing.assert_allclose(turned.addends, -found.addends)
        assert found.prediction == model.predict(row[None])[0]


def test_many_classes_show_the_winner_against_the_next(iris):
    X, y = iris
    model = LogisticRegression().fit(X, y)
    scores = model.decision_function(X[100:101])[0]
    found = explain(model, X[100])
    assert found.labels.tolist() == [2, 1]
    assert found.totals[-1, 0] == pytest.approx(scores[2] - scores[1])
    np.testing.assert_allclose(found.posterior, model.predict_proba(X[100:101])[0][[2, 1]])
    everything = explain(model, X[100], classes="all")
    assert everything.labels.tolist() == [0, 1, 2]
    np.testing.assert_allclose(everything.totals[-1], scores)
    assert everything.headings[-1] == "total 2"
    for line in ("value", "(intercept)", "x3"):
        assert line in str(everything)


def test_naive_bayes_adds_up_to_the_joint_probability(iris):
    X, y = iris
    model = NaiveBayes().fit(X, y)
    found = explain(model, X[100])
    joint = model.predict_joint_log_proba(X[100:101])[0]
    np.testing.assert_allclose(found.totals[-1], joint[found.labels], rtol=1e-12)
    np.testing.assert_allclose(
        found.posterior, model.predict_proba(X[100:101])[0][found.labels], rtol=1e-12
    )
    assert len(explain(model, X[100], classes="all").labels) == 3


def test_a_regression_adds_up_to_the_prediction():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    model = make_pipeline(StandardScaler(), BayesianLinearRegression()).fit(X, y)
    found = explain(model, X.iloc[[3]])
    assert found.totals[-1, 0] == pytest.approx(model.predict(X.iloc[[3]])[0])
    assert found.names[:3] == ("(intercept)", "age", "sex")
    assert str(found).splitlines()[-1].startswith("prediction: ")


@pytest.mark.parametrize("learner", [LogisticRegression(), NaiveBayes("multinomial")])
def test_terms_of_a_text_come_in_its_order(learner):
    model = make_pipeline(TextVectorizer(use_idf=False, norm=None, ngram_range=(1, 2)), learner)
    model.fit(TEXTS, KINDS)
    found = explain(model, "Lunch is free, free money now")
    assert found.names[0] in ("(intercept)", "(prior)")
    words = [name.removesuffix(" x 2") for name in found.names[1:]]
    assert words == ["lunch", "free", "money", "now", "free money", "money now"]
    assert found.unknown[0] == "is"
    assert "unknown, left out: is" in str(found)
    probability = model.predict_proba(["Lunch is free, free money now"])[0]
    assert found.posterior.max() == pytest.approx(probability.max())


def test_wrappers_are_seen_through():
    X, y = load_breast_cancer(return_X_y=True)
    inner = make_pipeline(MaxAbsScaler(), LogisticRegression())
    calibrated = Calibrated(inner, random_state=0).fit(X, y)
    decision = BayesDecision(inner, [[0, 100], [1, 0]]).fit(X, y)
    for model, learner in (
        (calibrated, calibrated.estimator_[-1]),
        (decision, decision.estimator_[-1]),
    ):
        assert see_through(model)[1] is learner
        found = explain(model, X[0])
        np.testing.assert_allclose(found.posterior[::-1], model.predict_proba(X[:1])[0])
        assert found.calibrated is ("after calibration" in str(found)) is (model is calibrated)
    # The label of least cost is told where it is not the most probable one.
    torn = np.flatnonzero(decision.predict(X) != decision.predict_proba(X).argmax(axis=1))[0]
    assert "prediction: 0" in str(explain(decision, X[torn]))


def test_rows_of_tables_by_name():
    table = {"age": [20.0, 40.0, 60.0, 30.0], "city": ["Rome", "Oslo", "Oslo", "Rome"]}
    model = make_pipeline(TableEncoder(), LogisticRegression()).fit(table, [0, 1, 1, 0])
    found = explain(model, {"age": 50.0, "city": "Oslo"})
    assert found.names == ("(intercept)", "age", "city=Oslo")
    frame = explain(model, pd.DataFrame({"age": [50.0], "city": ["Oslo"]}))
    np.testing.assert_array_equal(frame.addends, found.addends)


def test_sparse_and_dense_rows_explain_alike(iris):
    X, y = iris
    model = LogisticRegression().fit(X, y)
    dense, sparse = explain(model, X[0]), explain(model, sp.csr_array(X[:1]))
    np.testing.assert_array_equal(dense.addends, sparse.addends)


def test_top_keeps_the_sum_and_the_most_telling_terms():
    X, y = load_breast_cancer(return_X_y=True)
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    whole, short = explain(model, X[0]), explain(model, X[0], top=4)
    assert short.names[-1] == "(26 others)"
    assert short.totals[-1, 0] == pytest.approx(whole.totals[-1, 0])
    kept, left = np.abs(short.addends[1:-1, 0]), np.sort(np.abs(whole.addends[1:, 0]))
    np.testing.assert_allclose(np.sort(kept), left[-4:])
    assert explain(model, X[0], top=30).names == whole.names


def test_the_record_is_plain_json(iris):
    X, y = iris
    record = explain(LogisticRegression().fit(X, y), X[0]).to_dict()
    again = json.loads(json.dumps(record))
    assert again["prediction"] == 0
    assert len(again["terms"]) == 5


@pytest.mark.parametrize(
    ("model", "row", "error", "message"),
    [
        (MajorityClass(), np.ones(4), ParameterError, "MajorityClass has no weights"),
        (Perceptron(averaging="vote"), np.ones(4), ParameterError, "votes"),
        (LogisticRegression(), np.ones((2, 4)), ParameterError, "one row, got 2"),
        (LogisticRegression(), np.ones(3), (DataError, ValueError), "3"),
    ],
)
def test_what_cannot_be_explained_is_said(iris, model, row, error, message):
    model.fit(*iris)
    with pytest.raises(error, match=message):
        explain(model, row)


@pytest.mark.parametrize(
    "options", [{"classes": [0, 9]}, {"classes": [1]}, {"top": 0}], ids=["unknown", "one", "top"]
)
def test_wrong_options_are_said(iris, options):
    model = LogisticRegression().fit(*iris)
    with pytest.raises(ParameterError):
        explain(model, np.ones(4), **options)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"ngram_range": (1, 3), "stop_words": "english"},
        {"analyzer": "char_wb", "ngram_range": (2, 3), "strip_accents": "unicode"},
        {"lowercase": False, "token_pattern": r"\w+"},
    ],
)
def test_the_analyzer_is_that_of_the_columns(options):
    texts = ["The Café, at Noon", "see the cats: naïve"]
    ours = TextVectorizer(use_idf=False, norm=None, **options).fit(texts)
    names = ours.get_feature_names_out().tolist()
    analyzer = ours.build_analyzer()
    assert sorted({term for text in texts for term in analyzer(text)}) == names
    assert CountVectorizer(**options).fit(texts).get_feature_names_out().tolist() == names
