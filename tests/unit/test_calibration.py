"""Calibration on held-out rows: the three methods against their definitions and scikit-learn."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, log_softmax, softmax
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import RidgeClassifier
from sklearn.svm import LinearSVC

from separatrix import Calibrated, LinearSVM, NaiveBayes
from separatrix.errors import DataError, NotFittedError, ParameterError
from separatrix.metrics import expected_calibration_error, log_loss

METHODS = ["temperature", "sigmoid", "isotonic"]


class Given(ClassifierMixin, BaseEstimator):
    """Probabilities that stand in the data: P(y | x) = softmax(x / T) with the true T = 1."""

    def __init__(self, sharpness=1.0):
        self.sharpness = sharpness

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict_log_proba(self, X):
        return log_softmax(self.sharpness * X, axis=1)


class LabelsOnly(ClassifierMixin, BaseEstimator):
    """Predicts labels, and nothing that could be calibrated."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self


def drawn(n=20_000, k=3, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(scale=1.5, size=(n, k))
    y = (softmax(X, axis=1).cumsum(axis=1) < random.random((n, 1))).sum(axis=1)
    return X, y


def two(n=4000, seed=0):
    random = np.random.default_rng(seed)
    y = random.integers(2, size=n)
    X = random.normal(size=(n, 5)) + 0.6 * y[:, None]
    X[:, 2:] = X[:, :1] + 0.1 * X[:, 2:]  # copies: naive Bayes counts the evidence four times
    return X, y


def test_temperature_finds_the_factor():
    X, y = drawn()
    model = Calibrated(Given(sharpness=3.0).fit(X, y)).calibrate(X, y)
    assert model.temperature_ == pytest.approx(3.0, rel=0.05)
    fresh, truth = drawn(seed=1)
    np.testing.assert_allclose(model.predict_proba(fresh), softmax(fresh, axis=1), atol=0.02)
    assert expected_calibration_error(truth, model.predict_proba(fresh)) < 0.01
    best = log_loss(y, model.predict_proba(X))
    for factor in (0.9, 1.1):
        shares = softmax(3 * X / (factor * model.temperature_), axis=1)
        assert log_loss(y, shares) > best


@pytest.mark.parametrize("method", METHODS)
def test_overconfident_naive_bayes_is_mended(method):
    X, y = two()
    fresh, truth = two(seed=1)
    plain = NaiveBayes().fit(X[:2000], y[:2000])
    mended = Calibrated(plain, method).calibrate(X[2000:], y[2000:])
    errors = [expected_calibration_error(truth, m.predict_proba(fresh)) for m in (plain, mended)]
    assert errors[0] > 0.1
    assert errors[1] < 0.04
    if method == "temperature":
        assert (mended.predict(fresh) == plain.predict(fresh)).all()


@pytest.mark.filterwarnings("ignore:Since FrozenEstimator")
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_parity_with_scikit_learn(method, weighted):
    X, y = two(1000)
    svm = LinearSVC().fit(X[:500], y[:500])
    weights = np.random.default_rng(0).random(500) if weighted else None
    ours = Calibrated(svm, method).calibrate(X[500:], y[500:], weights)
    peer = CalibratedClassifierCV(FrozenEstimator(svm), method=method)
    peer.fit(X[500:], y[500:], sample_weight=weights)
    np.testing.assert_allclose(ours.predict_proba(X), peer.predict_proba(X), atol=2e-4)


def test_sigmoid_is_the_minimum_of_its_loss():
    X, y = two(1000)
    svm = LinearSVM(random_state=0).fit(X[:500], y[:500])
    model = Calibrated(svm, "sigmoid").calibrate(X[500:], y[500:])
    one = model._map.maps[0]
    margins, hits = svm.decision_function(X[500:]), y[500:]
    n, m = hits.sum(), (1 - hits).sum()
    targets = np.where(hits == 1, (n + 1) / (n + 2), 1 / (m + 2))
    away = expit(one.slope * margins + one.intercept) - targets
    assert abs(away @ margins) < 1e-5 * len(y)
    assert abs(away.sum()) < 1e-5 * len(y)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "estimator",
    [
        RidgeClassifier(),
        RandomForestClassifier(10, random_state=0),
        LinearSVM(random_state=0),
        NaiveBayes(),
    ],
)
def test_any_estimator_with_scores_or_probabilities(method, estimator):
    X, y = drawn(600)
    labels = np.array(["a", "b", "c"])[y]
    frame = pd.DataFrame(X, columns=["u", "v", "w"])
    model = Calibrated(estimator, method, random_state=0).fit(frame, labels)
    shares = model.predict_proba(frame)
    np.testing.assert_allclose(shares.sum(axis=1), 1, rtol=1e-12)
    assert (shares >= 0).all()
    assert model.classes_.tolist() == ["a", "b", "c"]
    assert model.score(frame, labels) > 0.6
    assert not hasattr(estimator, "classes_")  # a copy was fitted


def test_held_out_rows_are_not_fitted():
    X, y = two(400)

    class Spy(NaiveBayes):
        def fit(self, X, y, sample_weight=None):
            type(self).seen = X
            return super().fit(X, y, sample_weight)

        def predict_log_proba(self, X):
            type(self).late = X
            return super().predict_log_proba(X)

    Calibrated(Spy(), held_out=0.3, random_state=0).fit(X, y, np.ones(len(y)))
    early, late = ({tuple(row) for row in rows} for rows in (Spy.seen, Spy.late))
    assert len(early) == 280
    assert len(late) == 120
    assert not early & late


def test_what_goes_wrong_is_told():
    X, y = two(100)
    with pytest.raises(ParameterError, match="method"):
        Calibrated(NaiveBayes(), "magic").fit(X, y)
    with pytest.raises(ParameterError, match="held_out"):
        Calibrated(NaiveBayes(), held_out=1.5).fit(X, y)
    with pytest.raises(NotFittedError):
        Calibrated(NaiveBayes()).calibrate(X, y)
    with pytest.raises(DataError, match="one row only"):
        Calibrated(NaiveBayes()).fit(X, np.where(np.arange(100) == 3, 2, y))
    with pytest.raises(DataError, match="not among"):
        Calibrated(NaiveBayes().fit(X, y)).calibrate(X, y + 5)
    with pytest.raises(ValueError, match="zero"):
        Calibrated(NaiveBayes().fit(X, y)).calibrate(X, y, np.zeros(100))
    with pytest.raises(ParameterError, match="neither"):
        Calibrated(LabelsOnly().fit(X, y)).calibrate(X, y)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("model", [LinearSVM(), NaiveBayes()], ids=["scores", "probabilities"])
def test_a_calibration_carried_over_is_the_same_map_of_other_scores(method, model):
    X, y = two()
    first = Calibrated(clone(model).fit(X[:1000], y[:1000]), method)
    first.calibrate(X[1000:2000], y[1000:2000])
    before = first.predict_proba(X)
    last = clone(model).fit(X[:3000], y[:3000])
    final = first.carried_over(last)
    assert final.estimator_ is last
    assert final.method == method
    np.testing.assert_array_equal(first.predict_proba(X), before)
    # On the estimator that it was learned with nothing changes.
    same = first.carried_over(first.estimator_)
    np.testing.assert_array_equal(same.predict_proba(X), before)
    np.testing.assert_array_equal(final.predict_proba(X), final._map(final._scores(X)[0]))
    assert not np.array_equal(final.predict_proba(X), before)
    assert final.n_features_in_ == X.shape[1]
    # It can be fitted anew as any estimator.
    assert clone(final).fit(X, y).predict(X[:3]).shape == (3,)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("k", [2, 3])
def test_scores_alone_give_the_same_calibration(method, k):
    X, y = drawn(2000, k)
    model = LinearSVM().fit(X[:1000], y[:1000])
    expected = Calibrated(model, method).calibrate(X[1000:], y[1000:])
    known = Calibrated(model, method).calibrate_scores(
        model.decision_function(X[1000:]), y[1000:], model.classes_, log_probabilities=False
    )
    with pytest.raises((NotFittedError, AttributeError)):
        known.predict_proba(X)
    np.testing.assert_array_equal(
        known.carried_over(model).predict_proba(X), expected.predict_proba(X)
    )


def test_log_probabilities_alone_give_the_same_calibration():
    X, y = drawn(2000)
    model = Given(3.0).fit(X, y)
    expected = Calibrated(model, "sigmoid").calibrate(X, y)
    logs = model.predict_log_proba(X)
    known = Calibrated(model, "sigmoid")
    known.calibrate_scores(logs, y, model.classes_, log_probabilities=True)
    np.testing.assert_array_equal(
        known.carried_over(model).predict_proba(X), expected.predict_proba(X)
    )


@pytest.mark.parametrize("n", [10, 1000])
def test_scores_without_mistakes_leave_some_doubt(n):
    """The temperature stays away from zero, the more so the fewer rows vouch for it."""
    y = np.arange(n) % 2
    X = np.where(y == 1, 1.0, -1.0)[:, None]
    shares = Calibrated(LinearSVM().fit(X, y)).calibrate(X, y).predict_proba(X)
    doubt = 1 - shares[np.arange(n), y]
    # One row's worth in n + 2, shared between the two classes.
    np.testing.assert_allclose(doubt, 0.5 / (n + 2), rtol=1e-3)


def test_what_cannot_be_carried_over():
    X, y = two(400)
    known = Calibrated(LinearSVM().fit(X, y)).calibrate(X, y)
    with pytest.raises(NotFittedError):
        known.carried_over(LinearSVM())
    with pytest.raises(NotFittedError):
        Calibrated(LinearSVM()).carried_over(LinearSVM().fit(X, y))
    with pytest.raises(ParameterError, match="learned other classes"):
        known.carried_over(LinearSVM().fit(X, y + 1))
