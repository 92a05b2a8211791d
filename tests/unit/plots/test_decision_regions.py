"""Decision regions show what the classifier says, and where it says nothing."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_iris

from separatrix import BayesDecision, CostMatrix, LogisticRegression
from separatrix.errors import NotFittedError
from separatrix.plots import DecisionRegionDisplay

mpl.use("agg")
from matplotlib import pyplot as plt

X, y = load_iris(return_X_y=True)
X = X[:, :2]


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def labels(display):
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]


def test_codes_are_the_predictions():
    model = BayesDecision(LogisticRegression(), reject=0.3).fit(X, y)
    display = DecisionRegionDisplay.from_estimator(model, X, y, grid_resolution=30)
    grid = np.column_stack([display.xx0.ravel(), display.xx1.ravel()])
    said = display.actions[display.codes.ravel()]
    np.testing.assert_array_equal(said, model.predict(grid))
    assert display.n_rejected == 1
    assert (said == -1).any()
    assert labels(display) == ["0", "1", "2", "rejected"]
    assert display.xx0.min() == X[:, 0].min() - 0.5
    assert "////" in display.surface_.hatches


def test_any_classifier_and_given_axes():
    figure, ax = plt.subplots()
    model = LogisticRegression().fit(X, np.array(["a", "b", "c"])[y])
    display = DecisionRegionDisplay.from_estimator(model, X, ax=ax, grid_resolution=20, alpha=0.7)
    assert display.ax_ is ax
    assert display.figure_ is figure
    assert display.n_rejected == 0
    assert labels(display) == ["a", "b", "c"]
    assert display.surface_.get_alpha() == 0.7
    assert len(plt.get_fignums()) == 1


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
def test_frames_give_the_names(library):
    frame = library({"length": X[:, 0], "width": X[:, 1]})
    model = LogisticRegression().fit(frame, y)
    display = DecisionRegionDisplay.from_estimator(model, frame, y, grid_resolution=20)
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("length", "width")


def test_other_actions_are_regions_too():
    cost = CostMatrix([[0, 5], [1, 1], [6, 0]], actions=["keep", "sell"])
    model = BayesDecision(LogisticRegression(), cost).fit(X, y)
    display = DecisionRegionDisplay.from_estimator(model, X, y, grid_resolution=20)
    assert labels(display) == ["keep", "sell"]


@pytest.mark.parametrize(
    "call",
    [
        lambda m: DecisionRegionDisplay.from_estimator(m, np.zeros((3, 3))),
        lambda m: DecisionRegionDisplay.from_estimator(m, X, y[:5]),
        lambda m: DecisionRegionDisplay.from_estimator(m, X, grid_resolution=1),
        lambda m: DecisionRegionDisplay.from_estimator(m, X, eps=-1),
    ],
)
def test_bad_input(call):
    model = LogisticRegression().fit(X, y)
    with pytest.raises(ValueError):
        call(model)
    assert plt.get_fignums() == []


def test_an_unfitted_estimator_is_named():
    with pytest.raises(NotFittedError, match="LogisticRegression"):
        DecisionRegionDisplay.from_estimator(LogisticRegression(), X)
