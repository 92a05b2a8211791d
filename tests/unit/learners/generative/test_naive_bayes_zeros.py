"""Naive Bayes: impossible values, and smoothing that is chosen or changed."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from separatrix.errors import ZeroProbabilityWarning
from separatrix.learners.generative import (
    Interpolation,
    LaplaceSmoothing,
    MaximumLikelihood,
    NaiveBayes,
)
from tests.unit.learners.generative.naive_bayes_models import (
    KINDS,
    counts,
    logs,
)


def test_maximum_likelihood_reports_its_zeros():
    X = np.array([[2.0, 0.0, 1.0], [0.0, 3.0, 1.0]])
    with pytest.warns(ZeroProbabilityWarning, match="2 estimated probabilities are zero"):
        model = NaiveBayes("multinomial", smoothing=MaximumLikelihood()).fit(X, ["a", "b"])
    assert model.zero_probabilities_ == 2
    np.testing.assert_array_equal(model.predict_proba([[1, 0, 5]]), [[1.0, 0.0]])
    assert np.isneginf(model.predict_joint_log_proba([[1, 0, 5]])[0, 1])
    with pytest.warns(ZeroProbabilityWarning, match="1 rows .* row 1"):
        impossible = model.predict_proba([[1, 0, 0], [1, 1, 0]])
    np.testing.assert_allclose(impossible, [[1, 0], [0.5, 0.5]])


@pytest.mark.parametrize("kind", ["bernoulli", "categorical", "multinomial"])
def test_zeros_rule_classes_out_dense_and_sparse(kind):
    X = np.array([[0.0, 1, 1], [0, 0, 1], [1, 1, 0], [1, 0, 0]])
    y = [0, 0, 1, 1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ZeroProbabilityWarning)
        for smoothing in (MaximumLikelihood(), LaplaceSmoothing(0), Interpolation(1.0)):
            model = NaiveBayes(kind, smoothing=smoothing).fit(X, y)
            assert model.zero_probabilities_ > 0
            for rows in (X, sp.csr_array(X)):
                shares = model.predict_proba(rows)
                np.testing.assert_allclose(shares, np.eye(2)[y], atol=1e-15)
                assert model.predict(rows).tolist() == y


def test_smoothing_leaves_no_zeros_and_no_warning():
    X, y = counts()
    X[y == 0, 0] = 0
    with warnings.catch_warnings():
        warnings.simplefilter("error", ZeroProbabilityWarning)
        for smoothing in (None, 1e-6, Interpolation(0.999)):
            for kind in KINDS:
                model = NaiveBayes(kind, smoothing=smoothing).fit(X, y)
                assert model.zero_probabilities_ == 0
                assert np.isfinite(model.predict_joint_log_proba(X)).all()


def test_interpolation_at_alpha_zero_gives_the_prior():
    X, y = counts()
    prior = np.bincount(y) / len(y)
    for kind in ("multinomial", "bernoulli", "categorical"):
        model = NaiveBayes(kind, smoothing=Interpolation(0.0)).fit(X, y)
        np.testing.assert_allclose(model.predict_proba(X), np.tile(prior, (len(X), 1)), rtol=1e-9)


def test_tune_picks_the_best_setting_without_counting_again(monkeypatch):
    X, y = counts(600, 40)
    held, held_y = counts(300, 40, seed=0)[0][::-1], counts(300, 40, seed=0)[1][::-1]
    model = NaiveBayes("multinomial").fit(X[:30], y[:30])
    monkeypatch.setattr("separatrix.learners.generative.counts.count", None)
    grid = [1e-3, 0.1, 1.0, 30.0]
    assert model.tune(held, held_y, grid) is model
    scores = []
    for k in grid:
        fresh = clone(model).set_params(smoothing=k)
        fresh.classes_, fresh.n_features_in_ = model.classes_, model.n_features_in_
        fresh._estimate(model.counts_)
        scores.append((fresh.predict(held) == held_y).mean())
    assert model.tuning_["accuracy"] == pytest.approx(scores)
    assert model.smoothing.k in np.array(grid)[np.array(scores) == max(scores)]
    assert (model.predict(held) == held_y).mean() == max(scores)
    by_loss = model.tune(held, held_y, scoring="log_loss")
    assert by_loss.tuning_["log_loss"][
        by_loss.tuning_["smoothing"].index(by_loss.smoothing)
    ] == min(by_loss.tuning_["log_loss"])
    model.smoothing = Interpolation(0.5)
    model.tune(held, held_y)
    assert isinstance(model.smoothing, Interpolation)
    monkeypatch.undo()
    again = NaiveBayes("multinomial", smoothing=model.smoothing).fit(X[:30], y[:30])
    np.testing.assert_array_equal(logs(model, held), logs(again, held))


def test_set_params_after_the_fit_takes_effect():
    X, y = counts()
    model = NaiveBayes("multinomial").fit(X, y).set_params(smoothing=50.0)
    np.testing.assert_array_equal(
        logs(model, X), logs(NaiveBayes("multinomial", smoothing=50.0).fit(X, y), X)
    )
