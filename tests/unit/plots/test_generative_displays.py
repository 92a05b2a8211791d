"""Reliability diagrams and odds-ratio bars draw the right numbers."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pytest

from separatrix import LaplaceLogisticRegression, LinearSVM, NaiveBayes
from separatrix.errors import DataError, ParameterError
from separatrix.metrics import calibration_bins
from separatrix.plots import OddsRatioDisplay, ReliabilityDisplay

mpl.use("agg")
from matplotlib import pyplot as plt


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.fixture
def fitted():
    random = np.random.default_rng(0)
    y = random.integers(3, size=300)
    X = random.poisson(1 + 2.0 * np.eye(3)[y] + 0.5 * (y[:, None] == 1))
    return NaiveBayes("multinomial").fit(X, y), X, y


def test_reliability_draws_the_bins(fitted):
    model, X, y = fitted
    display = ReliabilityDisplay.from_estimator(model, X, y, n_bins=5)
    bins = calibration_bins(y, model.predict_proba(X), n_bins=5)
    np.testing.assert_allclose(display.line_.get_xdata(), bins.confidence)
    np.testing.assert_allclose(display.line_.get_ydata(), bins.frequency)
    assert f"{bins.error:.3f}" in display.line_.get_label()
    assert display.ax_.get_xlim()[0] <= bins.confidence.min()
    both = ReliabilityDisplay.from_predictions(
        y, model.predict_proba(X), label=1, name="again", ax=display.ax_, color="red"
    )
    assert both.ax_ is display.ax_
    assert both.line_.get_color() == "red"
    assert "1" in both.ax_.get_xlabel()
    diagonals = [line for line in both.ax_.lines if line.get_linestyle() == ":"]
    assert len(diagonals) == 1
    assert len(plt.get_fignums()) == 1


def test_odds_ratios_are_bars_from_one(fitted):
    model, _, _ = fitted
    display = OddsRatioDisplay.from_estimator(model, 0, feature_names=["a", "b", "c"])
    found = model.odds_ratios(0, feature_names=["a", "b", "c"])
    assert display.names == found.names
    ends = [bar.get_x() + bar.get_width() for bar in display.bars_]
    np.testing.assert_allclose(ends, found.ratios)
    assert display.ax_.get_xscale() == "log"
    assert [text.get_text() for text in display.ax_.get_yticklabels()] == list(found.names)


def test_odds_ratios_of_a_laplace_posterior_have_intervals(fitted):
    _, X, y = fitted
    model = LaplaceLogisticRegression().fit(X.astype(float), y)
    display = OddsRatioDisplay.from_estimator(model, 0, top=1, feature_names=["a", "b", "c"])
    found = model.odds_ratios(0, feature_names=["a", "b", "c"])
    clearest = [found.features[j] for j in found.order(0)[:2]]
    assert sorted(display.names) == sorted(clearest)
    at = [found.features.index(name) for name in display.names]
    np.testing.assert_allclose(display.ratios, found.ratios[0, at])
    np.testing.assert_allclose(display.intervals[:, 1], found.upper[0, at])
    assert "odds of 0" in display.ax_.get_xlabel()


def test_given_ratios_are_sorted_and_may_have_intervals():
    display = OddsRatioDisplay.from_ratios(
        ["low", "high"], [0.5, 4.0], intervals=[[0.2, 0.9], [2.0, 9.0]]
    )
    assert display.names == ("high", "low")
    np.testing.assert_array_equal(display.intervals, [[2.0, 9.0], [0.2, 0.9]])


def test_what_cannot_be_drawn(fitted):
    _, X, y = fitted
    svm = LinearSVM(random_state=0).fit(X.astype(float), y)
    with pytest.raises(ParameterError, match="Calibrated"):
        ReliabilityDisplay.from_estimator(svm, X, y)
    with pytest.raises(ParameterError, match="odds_ratios"):
        OddsRatioDisplay.from_estimator(svm)
    with pytest.raises(DataError, match="'b' is not a positive"):
        OddsRatioDisplay.from_ratios(["a", "b"], [1.0, np.inf])
    with pytest.raises(DataError, match="names"):
        OddsRatioDisplay.from_ratios(["a"], [1.0, 2.0])
    assert plt.get_fignums() == []
