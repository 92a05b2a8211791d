"""More of everything than a report can show."""

from __future__ import annotations

from functools import cache

import numpy as np

from separatrix.explanation import Explanation
from separatrix.report import Content, DataSummary, LeaderboardRow
from separatrix.report.parts import (
    Band,
    ClassWeights,
    Column,
    Confusion,
    Costs,
    Effort,
    Efforts,
    Explained,
    Explanations,
    Finding,
    Findings,
    LearningCurve,
    LearningCurves,
    Mistake,
    Mistakes,
    Part,
    Profile,
    RegressionReport,
    Residuals,
    TestReport,
    TestScore,
    TrainingCurve,
    TrainingCurves,
    Weights,
)
from tests.unit.report.contents.shared import class_report


@cache
def enormous() -> Content:
    """More of everything than a report can show."""
    rng = np.random.default_rng(2)
    n_classes, long = 105, "a rather long name of something " * 40
    labels = tuple(f"class {i} {long}" for i in range(n_classes))
    large = rng.random((900, 700))
    counts = rng.integers(0, 40, (n_classes, n_classes))
    x = np.arange(1.0, 5001.0)
    wiggle = np.clip(0.9 + 0.05 * np.sin(x / 50), 0, 1)
    terms = Explanation(np.array(["a", "b"]), (long,) * 2000, np.full((2000, 1), 0.01))
    curve = TrainingCurve("l", "passes", x, wiggle, wiggle, 40.0)
    parts: tuple[Part, ...] = (
        TestReport((TestScore(long, "champion", 0.9, 0.89, 0.91),), 10**7),
        TrainingCurves((curve,) * 60),
        LearningCurves(tuple(LearningCurve(long, x, wiggle, wiggle, wiggle) for _ in range(60))),
        Confusion(labels, counts),
        class_report(labels, counts),
        Mistakes(
            tuple(Mistake("1", long * 50, long, long, 0.9, 0.05, large) for _ in range(300)),
            300,
            1000,
        ),
        Costs(labels, labels, rng.random((n_classes, n_classes))),
        Weights(
            "l",
            tuple(
                ClassWeights(
                    label, (long,) * 3000, rng.normal(size=3000), picture=rng.random((64, 64))
                )
                for label in labels
            ),
        ),
        Explanations((Explained(terms, long * 50, "b"),) * 300),
        Efforts(tuple(Effort(long, 1.0) for _ in range(3000))),
        Profile(
            10**7,
            tuple(
                Column(long, "text", frequent=((long, 3),) * 100, note=long) for _ in range(20000)
            ),
            tuple((label, 5) for label in labels),
        ),
        Findings(tuple(Finding("many", long * 20, details=(long,) * 1000) for _ in range(1000))),
        RegressionReport(
            1.0,
            band=Band(x, x, x - 1, x + 1, np.tile(x, 20), np.tile(x, 20)),
            residuals=Residuals(np.tile(x, 20), np.tile(x, 20)),
        ),
    )
    return Content(
        "large",
        "v",
        DataSummary("d", "t"),
        tuple(LeaderboardRow(long, long, 0.5, note=long, summary=long) for _ in range(3000)),
        parts=parts,
    )
