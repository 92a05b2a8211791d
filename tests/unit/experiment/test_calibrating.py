"""Calibration is learned on held-out scores and carried over to the last fit."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import StratifiedKFold

from separatrix import Calibrated, LinearSVM, LogisticRegression, NaiveBayes
from separatrix.errors import DataError, ParameterError
from separatrix.experiment import Experiment, Given
from separatrix.experiment.calibrating import calibrate, check_calibration
from separatrix.experiment.tuning import Rows
from separatrix.metrics import expected_calibration_error
from separatrix.tasks import task_named
from tests.unit.experiment.problems import blobs

X, y = blobs(600, spread=2.0)
TRAIN, HELD_OUT, EVERYTHING = Rows(X[:300], y[:300]), Rows(X[300:], y[300:]), Rows(X, y)


def run(model, method):
    return calibrate(
        clone(model).fit(*TRAIN),
        HELD_OUT,
        method,
        lambda rows: clone(model).fit(*rows),
        EVERYTHING,
    )


@pytest.mark.parametrize("method", ["auto", "temperature", "sigmoid"])
def test_the_map_is_that_of_the_held_out_scores(method):
    found, words = run(LinearSVM(), method)
    expected = Calibrated(LinearSVM().fit(*TRAIN), method.replace("auto", "temperature"))
    expected.calibrate(*HELD_OUT)
    np.testing.assert_array_equal(found.predict_proba(X), expected.predict_proba(X))
    assert "held-out scores" in words


def test_isotonic_maps_are_cross_fitted():
    """No score that the map is fitted to comes from a model that has seen its row."""
    two = y != "c"
    rows = Rows(X[two], y[two])
    seen = []

    class Spy(LinearSVM):
        def fit(self, X, y):
            self.rows_ = {row.tobytes() for row in X}
            return super().fit(X, y)

        def decision_function(self, X):
            assert not any(row.tobytes() in self.rows_ for row in X)
            seen.append(len(X))
            return super().decision_function(X)

    found, words = calibrate(
        LinearSVM().fit(rows.X, rows.y),
        rows,
        "isotonic",
        lambda part: Spy().fit(part.X, part.y),
        rows,
    )
    assert len(seen) == 5
    assert sum(seen) == len(rows.y)
    assert "5 folds" in words
    # The map is the one of scikit-learn for scores of the same folds.
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    peer = CalibratedClassifierCV(LinearSVM(), method="isotonic", cv=folds, ensemble=False)
    peer.fit(rows.X, rows.y)
    final = found.carried_over(LinearSVM().fit(rows.X, rows.y))
    np.testing.assert_allclose(final.predict_proba(X), peer.predict_proba(X), atol=1e-6)


def test_probabilities_that_are_right_are_left_alone():
    found, words = run(LogisticRegression(), "auto")
    assert found is None
    assert "would not improve" in words
    assert run(LogisticRegression(), "none") == (None, "Not calibrated.")
    twice = np.hstack([X] * 5)  # the same evidence five times
    train, held_out = Rows(twice[:300], y[:300]), Rows(twice[300:], y[300:])
    found, _ = calibrate(NaiveBayes().fit(*train), held_out, "auto", lambda rows: None, held_out)
    assert found.temperature_ > 2


def test_classes_too_small_for_folds_are_refused_before_the_search():
    check_calibration("isotonic", np.repeat([0, 1], 5), task_named("binary"))
    labels = y.copy()
    labels[0] = "z"
    words = r"needs 5 train and held-out rows of every class; class .*'z'.* has 1: choose"
    with pytest.raises(DataError, match=words):
        Experiment((X, labels), calibration="isotonic", learners=["linear_svm"]).run()


@pytest.mark.parametrize("method", ["none", "temperature", "sigmoid", "isotonic"])
def test_the_champion_is_calibrated_and_not_its_labels(method):
    result = Experiment((X, y), calibration=method, learners=["linear_svm"]).run()
    final = result.model[-1]
    if method == "none":
        assert isinstance(final, LinearSVM)
        return
    assert (type(final), final.method) == (Calibrated, method)
    assert expected_calibration_error(y, result.model.predict_proba(X)) < 0.15
    if method == "temperature":
        same = result.model.predict(X) == final.estimator_.predict(result.model[0].transform(X))
        assert same.all()


def test_the_map_comes_from_the_fit_before_the_last():
    split = Given((X[:50], y[:50]), (HELD_OUT.X, HELD_OUT.y))
    result = Experiment(
        (TRAIN.X, TRAIN.y), calibration="temperature", learners=["logistic_regression"], split=split
    ).run()
    C, scale = result.champion.value, np.abs(TRAIN.X).max(axis=0)
    before = LogisticRegression(C=C).fit(TRAIN.X / scale, TRAIN.y)
    expected = Calibrated(before).calibrate(HELD_OUT.X / scale, HELD_OUT.y)
    assert result.model[-1].temperature_ == pytest.approx(expected.temperature_, rel=0.01)
    # The last fit has seen all rows.
    scale = np.abs(X).max(axis=0)
    np.testing.assert_allclose(result.model[0].max_abs_, scale)
    last = LogisticRegression(C=C).fit(X / scale, y)
    found = result.model[-1].estimator_
    # Fits of a comparison stop at a tolerance of their own.
    assert found.solution_.objective == pytest.approx(last.solution_.objective, rel=found.tol)
    again = Calibrated(last).calibrate(X / scale, y)
    assert again.temperature_ != pytest.approx(expected.temperature_, rel=0.01)


def test_a_calibration_is_not_carried_over_to_other_classes():
    found, _ = run(LinearSVM(), "temperature")
    two = y != "c"
    with pytest.raises(ParameterError, match="learned other classes"):
        found.carried_over(LinearSVM().fit(X[two], y[two]))


def test_bad_method():
    with pytest.raises(ParameterError, match="calibration"):
        Experiment((X, y), calibration="platt")
