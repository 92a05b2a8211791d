"""Curves of an experiment: scores against settings, and against the number of rows."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from separatrix.experiment.event_models import Counted
from separatrix.experiment.result import LeaderboardRow
from separatrix.experiment.tuning import CurvePoint, Tuned, refit
from separatrix.metrics import Metric
from separatrix.registry import VARIANCE_GRID
from separatrix.report.parts import LearningCurve, LearningCurves, TrainingCurve, TrainingCurves
from separatrix.tasks import Task
from separatrix.tasks.rows import Rows

__all__ = ["learning_curves", "training_curves"]

#: Shares of the train rows in a learning curve, the whole left out.
_SHARES = (1 / 16, 1 / 8, 1 / 4, 1 / 2)
#: Fewest rows of a point.
_FEWEST = 20


def training_curves(
    tuned: Sequence[Tuned], leaderboard: Sequence[LeaderboardRow]
) -> TrainingCurves:
    """Train and held-out scores of all settings of every learner, the champion first."""
    order = {row.learner: number for number, row in enumerate(leaderboard)}
    found = sorted(
        (one for one in tuned if len(one.curve) > 1), key=lambda one: order[one.learner.name]
    )
    return TrainingCurves(
        tuple(curve for one in found for curve in _curves(one) if len(curve.x) > 1)
    )


def _curves(one: Tuned) -> list[TrainingCurve]:
    """One curve; of naive Bayes one for each model of the columns and each of its parameters."""
    learner, chosen = one.learner, one.value
    if not isinstance(chosen, Counted):
        logarithmic = learner.kind != "passes" and learner.parameter != "degree"
        pairs = [(point.value, point) for point in one.curve]
        at = math.nan if chosen is None else chosen
        return [_curve(learner.name, learner.parameter, pairs, at, logarithmic)]
    found = []
    for events in dict.fromkeys(value.events for value, *_ in one.curve):
        points = [point for point in one.curve if point.value.events == events]
        # The smoothing was tried at the first share of the variance, the shares at the best of it.
        last, title = points[-1].value, f"{learner.name}, {events}" if events else learner.name
        for name in last.parameters:
            if name == "smoothing":
                own = [p for p in points if p.value.var_smoothing in (None, VARIANCE_GRID[0])]
            else:
                own = [p for p in points if p.value.smoothing == last.smoothing]
            pairs = [(p.value.parameters[name], p) for p in own]
            at = chosen.parameters[name] if chosen.events == events else math.nan
            found.append(_curve(title, name, pairs, at, True))
    return found


def _curve(
    title: str, axis: str, pairs: list[tuple[Any, CurvePoint]], chosen: float, logarithmic: bool
) -> TrainingCurve:
    return TrainingCurve(
        title,
        axis,
        np.array([x for x, _ in pairs], dtype=np.float64),
        np.array([point.held_out for _, point in pairs]),
        np.array([point.train for _, point in pairs]),
        chosen,
        logarithmic=logarithmic,
        settled=np.array([point.settled for _, point in pairs], dtype=bool),
    )


def learning_curves(
    champion: Tuned,
    train: Rows,
    held_out: Rows,
    metric: Metric,
    random_state: int,
    n_jobs: int | None,
    seconds: float,
    task: Task,
) -> LearningCurves:
    """Held-out score of the champion's setting against the number of train rows.

    After so many seconds the sizes that are left are skipped, and so are those that miss a
    class.
    """
    n, start = len(train.y), time.perf_counter()
    sizes, scores, seen = [], [], []
    for share in _SHARES:
        size = int(n * share)
        part = train.first(size)
        if size < _FEWEST or not task.complete(part.y, train.y):
            continue
        model = refit(
            champion.learner, champion.value, part, random_state=random_state, n_jobs=n_jobs,
            seconds=start + seconds - time.perf_counter(), begun=champion.estimator,
        )  # fmt: skip
        if time.perf_counter() - start >= seconds:
            break
        sizes.append(size)
        scores.append(metric(model, held_out.X, held_out.y))
        seen.append(metric(model, part.X, part.y))
    chosen = [point for point in champion.curve if point.value == champion.value]
    sizes.append(n)
    # The score over folds is not one of these rows.
    whole = champion.estimator
    scores.append(champion.held_out if whole is None else metric(whole, held_out.X, held_out.y))
    seen.append(chosen[0].train if chosen else float("nan"))
    curve = LearningCurve(
        champion.learner.name, np.array(sizes), np.array(scores), train=np.array(seen)
    )
    return LearningCurves((curve,), _message(scores, metric, task.units))


def _message(scores: Sequence[float], metric: Metric, units: str) -> str:
    if len(scores) < 2:
        return ""
    gain = metric.gain(scores[-1]) - metric.gain(scores[-2])
    unit = f"{metric.title} by {abs(scores[-1] - scores[-2]):.4f}"
    if gain > 0:
        return f"The last doubling of the {units} improved the {unit}: more {units} may help."
    return (
        f"The last doubling of the {units} did not improve the {unit}: more {units} may not help."
    )
