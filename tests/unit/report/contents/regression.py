"""A regression."""

from __future__ import annotations

import numpy as np

from separatrix.metrics import Metric
from separatrix.report import Content, DataSummary, LeaderboardRow
from separatrix.report.parts import (
    Band,
    Column,
    Coverage,
    Profile,
    RegressionReport,
    Residuals,
    TestReport,
    TestScore,
)


def regression() -> Content:
    rng = np.random.default_rng(1)
    x = np.linspace(0, 10, 120)
    mean, spread = np.sin(x) * 3 + x, 0.8 + 0.05 * x
    at = rng.uniform(0, 10, 300)
    observed = np.sin(at) * 3 + at + rng.normal(0, 0.6, 300)
    metric = Metric("rmse", "RMSE", False, unit="km", digits=3)
    return Content(
        title="distances: how far, from 3 columns",
        verdict="bayesian_rbf is the champion: its predictions are off by 0.612 km (RMSE).",
        data=DataSummary("distances.csv", "regression", "The target has 300 different numbers."),
        leaderboard=(
            LeaderboardRow("bayesian_rbf", "width 1.2", 0.612, 0.31, role="champion"),
            LeaderboardRow("bayesian_polynomial", "degree 5", 0.718, 0.12, role="runner-up"),
            LeaderboardRow("bayesian_linear", "by evidence", 2.31, 0.01),
            LeaderboardRow("mean", "", 3.402, 0.0, baseline=True),
        ),
        metric=metric,
        seconds=61.0,
        parts=(
            TestReport(
                (
                    TestScore("bayesian_rbf", "champion", 0.6217, 0.573, 0.6791),
                    TestScore("bayesian_polynomial", "runner-up", 0.71, 0.65, 0.78),
                ),
                300,
                probability_better=0.9981,
            ),
            RegressionReport(
                0.6217,
                -0.9313,
                0.4821,
                (Coverage(0.5, 0.517), Coverage(0.8, 0.81), Coverage(0.95, 0.9433)),
                "distance",
                "km",
                Band(x, mean, mean - 2 * spread, mean + 2 * spread, at, observed, "hours"),
                Residuals(np.sin(at) * 3 + at, observed - np.sin(at) * 3 - at),
            ),
            Profile(
                1500,
                target=Column(
                    "distance", "number", 3, 1490, -1.2, 4.9, 13.1, histogram=(1, 4, 9, 3)
                ),
            ),
        ),
    )
