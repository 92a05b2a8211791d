"""Predictions of the reductions against scikit-learn's, over the same learner and over ours."""

import gzip

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris
from sklearn.linear_model import LogisticRegression as ScikitLogistic
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.svm import LinearSVC

from separatrix import AllPairs, LinearSVM, OneVsAll

from ..conftest import require_data


def read_letter():
    folder = require_data("uci")
    with gzip.open(folder / "letter.csv.gz", "rt") as stream:
        table = np.genfromtxt(stream, delimiter=",", dtype=str, skip_header=1)
    return table[:, :-1].astype(float) / 15, table[:, -1]


def read(name):
    if name == "iris":
        return load_iris(return_X_y=True)
    if name == "digits":
        X, y = load_digits(return_X_y=True)
        return X / 16, y
    X, y = read_letter()
    return X[:4000], y[:4000]


SETS = ["iris", "digits", pytest.param("letter", marks=pytest.mark.data("uci"))]


@pytest.mark.parametrize("name", SETS)
def test_the_same_base_gives_the_same_predictions(name):
    X, y = read(name)
    base = LinearSVC(C=0.1, tol=1e-3, random_state=0, max_iter=10_000)
    theirs = OneVsRestClassifier(base).fit(X, y)
    ours = OneVsAll(base).fit(X, y)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X))
    theirs = OneVsOneClassifier(base).fit(X, y)
    ours = AllPairs(base, decode="vote").fit(X, y)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-5)


@pytest.mark.parametrize("name", SETS)
def test_our_base_in_one_pass_gives_the_same_predictions(name):
    X, y = read(name)
    # Both at the same optimum: LIBLINEAR penalizes the intercept, so ours does here.
    C = 0.1
    base = LinearSVC(C=C, tol=1e-8, random_state=0, max_iter=200_000, dual=False)
    mine = LinearSVM("squared_hinge", C=C, tol=1e-9, penalize_intercept=True)
    theirs, ours = OneVsRestClassifier(base).fit(X, y), OneVsAll(mine).fit(X, y)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    theirs, ours = OneVsOneClassifier(base).fit(X, y), AllPairs(mine).fit(X, y)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


def test_probabilities_of_one_vs_all():
    X, y = load_iris(return_X_y=True)
    base = ScikitLogistic(C=2.0, tol=1e-8, max_iter=1000)
    np.testing.assert_allclose(
        OneVsAll(base).fit(X, y).predict_proba(X),
        OneVsRestClassifier(base).fit(X, y).predict_proba(X),
    )
