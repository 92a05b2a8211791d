"""Boosted trees beside the learners, so that one sees what linearity costs."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from separatrix.experiment.result import LeaderboardRow
from separatrix.metrics import Metric
from separatrix.tasks import Task
from separatrix.tasks.preparation import Prepared
from separatrix.tasks.rows import Rows
from separatrix.validation import is_sparse

__all__ = ["REFERENCE", "reference_row"]

#: Its name in the leaderboard.
REFERENCE = "reference"
#: Widest rows, most classes and longest time that a reference is worth.
_WIDEST, _CLASSES, _SECONDS = 300, 50, 20.0
#: Rounds of boosting (scikit-learn's default), and what a tree takes: seconds for itself, and for
#: each value that it looks at. Rough, from one laptop core.
_ROUNDS, _TREE, _VALUE = 100, 2e-3, 1e-8


def reference_row(
    folds: Sequence[tuple[Prepared, Prepared]],
    metric: Metric,
    task: Task,
    seconds: float,
    random_state: int,
) -> LeaderboardRow | None:
    """The line of scikit-learn's HistGradientBoosting, fitted to the plain features.

    It is never champion and never saved: what it reaches is no linear model. None where the rows
    are no table of numbers and categories, or where it would take too long.

    Parameters
    ----------
    folds : sequence of (Prepared, Prepared)
        Where to fit and where to score; scores of several are pooled.
    metric : Metric
    task : Task
    seconds : float
        Time that is left for it.
    random_state : int
        Its seed.
    """
    parts = [tuple((one.plain or one).rows for one in fold) for fold in folds]
    rows = parts[0][0]
    width = getattr(rows.X, "shape", (0, 0))[1]
    n_classes = 1 if task.labels(rows.y) is None else len(np.unique(rows.y))
    n_trees = _ROUNDS * (1 if n_classes == 2 else n_classes)
    expected = len(parts) * n_trees * (_TREE + _VALUE * len(rows.y) * width)
    if width > _WIDEST or n_classes > _CLASSES or expected > min(seconds, _SECONDS):
        return None
    # Here: with it comes half of scikit-learn.
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    make = HistGradientBoostingRegressor if n_classes == 1 else HistGradientBoostingClassifier
    start = time.perf_counter()
    outcomes = []
    for first, second in parts:
        model = make(max_iter=_ROUNDS, random_state=random_state).fit(_dense(first), first.y)
        outcomes.append(metric.outcome(model, _dense(second), second.y))
    score = outcomes[0].score
    if len(parts) > 1:
        score = metric.pooled(outcomes, np.concatenate([second.y for _, second in parts])).score
    return LeaderboardRow(
        REFERENCE, "boosted trees", score, time.perf_counter() - start, _ROUNDS,
        solver="scikit-learn", reference=True, note="no linear model: never champion",
        summary="scikit-learn's HistGradientBoosting, untuned, to see what linearity costs",
    )  # fmt: skip


def _dense(rows: Rows) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    return np.asarray(rows.X.toarray() if is_sparse(rows.X) else rows.X, dtype=np.float64)
