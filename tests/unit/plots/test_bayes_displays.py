"""Pictures of Bayesian regression show the numbers of the estimator."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pytest

from separatrix import BayesianLinearRegression
from separatrix.errors import DataError, NotFittedError, ParameterError
from separatrix.plots import EstimateGrowthDisplay, LinePosteriorDisplay, PredictiveBandDisplay

mpl.use("agg")
from matplotlib import pyplot as plt


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def line(n=20):
    generator = np.random.default_rng(0)
    X = generator.uniform(-1, 1, (n, 1))
    return X, -0.3 + 0.5 * X[:, 0] + 0.2 * generator.standard_normal(n)


def model(**parameters):
    settings = {
        "prior_covariance": 0.5,
        "intercept_prior": (0.0, 0.5),
        "noise": "known",
        "noise_variance": 0.04,
    }
    return BayesianLinearRegression(**(settings | parameters))


def test_the_prior_panel_before_fit_and_the_posterior_after():
    X, y = line()
    prior = LinePosteriorDisplay.from_estimator(model(), true_weights=(-0.3, 0.5), random_state=0)
    np.testing.assert_allclose(prior.distribution.cov, 0.5 * np.eye(2))
    fitted = model().fit(X, y)
    figure, axes = plt.subplots(1, 2)
    display = LinePosteriorDisplay.from_estimator(
        fitted, X, y, n_lines=4, axes=tuple(axes), random_state=0
    )
    assert display.figure_ is figure
    assert display.axes_ == tuple(axes)
    np.testing.assert_allclose(display.distribution.mean, [*fitted.coef_, fitted.intercept_])
    assert display.draws.shape == (4, 2)
    # w0 to the right, w1 upwards, centered on the posterior.
    assert np.mean(axes[0].get_xlim()) == pytest.approx(fitted.intercept_)
    assert np.mean(axes[0].get_ylim()) == pytest.approx(fitted.coef_[0])
    lines = axes[1].get_lines()
    slope, intercept = display.draws[0]
    np.testing.assert_allclose(lines[0].get_ydata(), [intercept - slope, intercept + slope])
    conjugate = BayesianLinearRegression(noise="conjugate").fit(X, y)
    LinePosteriorDisplay.from_estimator(conjugate, random_state=0)


def test_bands_are_the_intervals_of_the_predictive():
    X, y = line()
    fitted = model().fit(X, y)
    display = PredictiveBandDisplay.from_estimator(fitted, X, y, level=0.8, n_points=11)
    rows = display.x[:, None]
    np.testing.assert_allclose(display.line_.get_ydata(), fitted.predict(rows))
    np.testing.assert_allclose(display.observation.T, fitted.predictive(rows).interval(0.8))
    assert (np.diff(display.function) < np.diff(display.observation)).all()
    squared = BayesianLinearRegression().fit(np.hstack([X, X**2]), y)
    PredictiveBandDisplay.from_estimator(squared, X, transform=lambda x: np.hstack([x, x**2]))


def test_growth_ends_at_the_fit_of_all_rows():
    X, y = line(60)
    display = EstimateGrowthDisplay.from_estimator(model(), X, y, true_weights=[0.5, -0.3])
    fitted = model().fit(X, y)
    np.testing.assert_allclose(display.posterior[-1], [fitted.coef_[0], fitted.intercept_])
    rows = np.column_stack([X, np.ones(60)])
    np.testing.assert_allclose(display.likelihood[-1], np.linalg.lstsq(rows, y, rcond=None)[0])
    gaps = np.abs(display.likelihood - display.posterior).max(axis=1)
    assert gaps[-1] < gaps[0]
    assert len(display.lines_) == 4
    assert display.sizes[-1] == 60


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (
            lambda X, y: LinePosteriorDisplay.from_estimator(BayesianLinearRegression()),
            NotFittedError,
        ),
        (
            lambda X, y: LinePosteriorDisplay.from_estimator(
                BayesianLinearRegression(fit_intercept=False)
            ),
            ParameterError,
        ),
        (
            lambda X, y: LinePosteriorDisplay.from_estimator(
                BayesianLinearRegression().fit(np.hstack([X, X**2]), y)
            ),
            DataError,
        ),
        (lambda X, y: PredictiveBandDisplay.from_estimator(model(), X), NotFittedError),
        (
            lambda X, y: PredictiveBandDisplay.from_estimator(model().fit(X, y), X, level=2.0),
            ParameterError,
        ),
        (
            lambda X, y: PredictiveBandDisplay.from_estimator(model().fit(X, y), np.zeros((2, 2))),
            DataError,
        ),
        (
            lambda X, y: EstimateGrowthDisplay.from_estimator(model(), X, y, sizes=[5, 5]),
            DataError,
        ),
    ],
)
def test_bad_calls(call, error):
    with pytest.raises(error):
        call(*line())
    assert plt.get_fignums() == []
