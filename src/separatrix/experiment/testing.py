"""One look at the test set, for champion and runner-up together."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from separatrix.bayes.comparison import accuracy_interval, compare_predictions
from separatrix.data import Dataset
from separatrix.experiment.result import LeaderboardRow
from separatrix.metrics import Metric
from separatrix.report.parts import Part, TestReport, TestScore
from separatrix.tasks import Task
from separatrix.tasks.inputs import Inputs
from separatrix.tasks.task import TestRows

__all__ = ["Finalist", "Opened", "open_test"]

LEVEL = 0.95
#: What the intervals are: that of an accuracy always holds the accuracy.
_UNIFORM = "highest-density credible interval, uniform prior"
_BOOTSTRAP = "equal-tailed credible interval, Bayesian bootstrap"
#: Draws of the Bayesian bootstrap, and about how many weights they have together.
_DRAWS, _WEIGHTS = 2000, 20_000_000
#: Rows from which on it is believed: of fewer it knows too little, and is too sure.
_ENOUGH = 10


@dataclass(frozen=True)
class Finalist:
    """A model that is ready for the test.

    Attributes
    ----------
    row : LeaderboardRow
        Its line.
    model, plain : estimator
        Takes raw rows; with calibration and costs, and without.
    calibration : str
        What was calibrated, in words.
    refit_seconds : float
        Time of the last fit.
    """

    row: LeaderboardRow
    model: Any
    plain: Any
    calibration: str
    refit_seconds: float

    @property
    def learner(self) -> str:
        """Its name."""
        return self.row.learner


@dataclass(frozen=True)
class Opened:
    """What the test set told: scores, further parts of the report, and the time per row."""

    report: TestReport
    parts: tuple[Part, ...]
    microseconds: tuple[float, ...]


def open_test(
    finalists: Sequence[Finalist],
    inputs: Inputs,
    test: Dataset,
    X: Any,
    task: Task,
    metric: Metric,
    cost: npt.NDArray[np.float64] | None,
) -> Opened:
    """Score the finalists on the test rows and look at the champion's predictions.

    Parameters
    ----------
    finalists : sequence of Finalist
        Champion first.
    inputs : Inputs
        What of the rows the models are fed.
    test : Dataset
        The test rows.
    X : matrix, texts, dict of columns or sequences
        What the models are fed of them.
    task : Task
    metric : Metric
    cost : array of shape (K, K) or None
    """
    y, prepared = test.y, TestRows(X)
    finals, predictions, microseconds, encoding = [], [], [], 0.0
    for one in finalists:
        start = time.perf_counter()
        finals.append(prepared(one.model))
        # What both need is made once, and is the time of both.
        encoding = max(encoding, time.perf_counter() - start)
        start = time.perf_counter()
        predictions.append(finals[-1][0].predict(finals[-1][1]))
        microseconds.append(1e6 * (encoding + time.perf_counter() - start) / len(y))
    values = [
        metric.values(*final, y, guess) for final, guess in zip(finals, predictions, strict=True)
    ]
    scores = tuple(
        TestScore(
            one.row.learner,
            role,
            metric(*final, y, guess) if value is None else metric.of(value),
            *_interval(y, guess, value, metric),
            task.others(y, guess, metric),
        )
        for one, final, role, guess, value in zip(
            finalists, finals, ("champion", "runner-up"), predictions, values, strict=False
        )
    )
    better, method = _probability_better(y, predictions, values, metric, task)
    interval = _UNIFORM if metric.name == "accuracy" else _BOOTSTRAP
    report = TestReport(scores, len(y), LEVEL, better, math.nan, method, interval)
    parts = task.parts(finalists[0], inputs, test, prepared, predictions[0], cost)
    return Opened(report, parts, tuple(microseconds))


def _interval(
    y: Any, predictions: Any, values: npt.NDArray[np.float64] | None, metric: Metric
) -> tuple[float, float]:
    """Ends of the credible interval of a score; NaN where it is not made of values of rows."""
    if metric.name == "accuracy":
        return accuracy_interval(y, predictions, level=LEVEL).interval
    if not _can_draw(values):
        return math.nan, math.nan
    assert values is not None
    draws = metric.finish(_bootstrap_means(values))
    low, high = np.quantile(draws, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    # Rows that are all alike, all without a mistake say, tell nothing of those to come.
    return (float(low), float(high)) if low < high else (math.nan, math.nan)


def _probability_better(
    y: Any,
    predictions: Sequence[Any],
    values: Sequence[npt.NDArray[np.float64] | None],
    metric: Metric,
    task: Task,
) -> tuple[float, str]:
    if len(predictions) < 2:
        return math.nan, ""
    if metric.name == "accuracy":
        found = compare_predictions(y, predictions[0], predictions[1])
        return found.p_a, "paired predictions, uniform Dirichlet prior"
    first, second = values[0], values[1]
    if not (_can_draw(first) and _can_draw(second)):
        return math.nan, ""
    # The weights are the same for both, so that the draws are paired.
    scores = [metric.finish(_bootstrap_means(one)) for one in values[:2] if one is not None]
    differences = scores[0] - scores[1]
    share = float(np.mean(differences > 0) + np.mean(differences == 0) / 2)
    words = f"Bayesian bootstrap of the test {task.units}"
    return (share if metric.higher_is_better else 1 - share), words


def _can_draw(values: npt.NDArray[np.float64] | None) -> bool:
    return values is not None and len(values) >= _ENOUGH and bool(np.isfinite(values).all())


def _bootstrap_means(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Means of the values under the weights of the Bayesian bootstrap (Rubin 1981); fixed seed.

    Values of shape (n,) or (n, m) give means of shape (draws,) or (draws, m).
    """
    generator = np.random.default_rng(0)
    n = len(values)
    # A large test set needs fewer draws: the interval is narrow then.
    n_draws = max(200, min(_DRAWS, _WEIGHTS // n))
    at_once = max(1, _WEIGHTS // (10 * n))
    means = []
    for first in range(0, n_draws, at_once):
        weights = generator.standard_exponential((min(at_once, n_draws - first), n))
        means.append((weights @ values).T / weights.sum(axis=1))
    return np.concatenate(means, axis=-1).T
