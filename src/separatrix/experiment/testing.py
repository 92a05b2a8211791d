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
from separatrix.experiment.classes import class_parts
from separatrix.experiment.inputs import Inputs
from separatrix.experiment.metric import Metric
from separatrix.experiment.quantities import quantity_parts
from separatrix.experiment.result import LeaderboardRow
from separatrix.experiment.task import Task
from separatrix.report.parts import Part, TestReport, TestScore

__all__ = ["Finalist", "Opened", "open_test"]

LEVEL = 0.95
#: Draws of the Bayesian bootstrap, and about how many weights they have together.
_DRAWS, _WEIGHTS = 2000, 20_000_000


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
    task : Task
    metric : Metric
    cost : array of shape (K, K) or None
    """
    X, y = inputs.take(test), test.y
    said, microseconds = [], []
    for one in finalists:
        start = time.perf_counter()
        said.append(one.model.predict(X))
        microseconds.append(1e6 * (time.perf_counter() - start) / len(y))
    values = [
        _row_values(one, X, y, guess, metric) for one, guess in zip(finalists, said, strict=True)
    ]
    scores = tuple(
        _score(one, role, X, y, guess, value, metric, task)
        for one, role, guess, value in zip(
            finalists, ("champion", "runner-up"), said, values, strict=False
        )
    )
    better, method = _probability_better(y, said, values, metric)
    report = TestReport(scores, len(y), LEVEL, better, math.nan, method)
    champion = finalists[0]
    if task.is_regression:
        parts = quantity_parts(champion.model, champion.row.learner, inputs, X, y)
    else:
        parts = class_parts(
            champion.model, champion.plain, champion.row.learner, champion.calibration, inputs,
            test, said[0], cost,
        )  # fmt: skip
    return Opened(report, parts, tuple(microseconds))


def _row_values(
    one: Finalist, X: Any, y: npt.NDArray[Any], said: npt.NDArray[Any], metric: Metric
) -> npt.NDArray[np.float64] | None:
    """The metric's value of every row, from the predictions at hand where they tell it."""
    if metric.name == "accuracy":
        return np.asarray(said == y, dtype=np.float64)
    return None if metric.each is None else metric.each(one.model, X, y)


def _score(
    one: Finalist,
    role: str,
    X: Any,
    y: npt.NDArray[Any],
    said: npt.NDArray[Any],
    values: npt.NDArray[np.float64] | None,
    metric: Metric,
    task: Task,
) -> TestScore:
    low = high = math.nan
    others: tuple[tuple[str, float], ...] = ()
    score = metric(one.model, X, y) if values is None else float(metric.of_mean(values.mean()))
    if metric.name == "accuracy":
        low, high = accuracy_interval(y, said, level=LEVEL).interval
    else:
        if values is not None and np.isfinite(values).all():
            draws = metric.of_mean(_bootstrap_means(values))
            low, high = (float(q) for q in np.quantile(draws, [(1 - LEVEL) / 2, (1 + LEVEL) / 2]))
        if not task.is_regression:
            others = (("accuracy", float(np.mean(said == y))),)
    return TestScore(one.row.learner, role, score, low, high, others)


def _probability_better(
    y: npt.NDArray[Any],
    said: Sequence[npt.NDArray[Any]],
    values: Sequence[npt.NDArray[np.float64] | None],
    metric: Metric,
) -> tuple[float, str]:
    if len(said) < 2:
        return math.nan, ""
    if metric.name == "accuracy":
        found = compare_predictions(y, said[0], said[1])
        return found.p_a, "paired predictions, uniform Dirichlet prior"
    first, second = values[0], values[1]
    if first is None or second is None or not np.isfinite(first - second).all():
        return math.nan, ""
    differences = _bootstrap_means(first - second)
    share = float(np.mean(differences > 0) + np.mean(differences == 0) / 2)
    return (share if metric.higher_is_better else 1 - share), "Bayesian bootstrap of the test rows"


def _bootstrap_means(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Means of the values under the weights of the Bayesian bootstrap (Rubin 1981); fixed seed."""
    generator = np.random.default_rng(0)
    n = len(values)
    # A large test set needs fewer draws: the interval is narrow then.
    n_draws = max(200, min(_DRAWS, _WEIGHTS // n))
    at_once = max(1, _WEIGHTS // (10 * n))
    means = []
    for first in range(0, n_draws, at_once):
        weights = generator.standard_exponential((min(at_once, n_draws - first), n))
        means.append(weights @ values / weights.sum(axis=1))
    return np.concatenate(means)
