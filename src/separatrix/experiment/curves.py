"""Curves of an experiment: scores against settings, and against the number of rows."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from separatrix.experiment.families import Family
from separatrix.experiment.metric import Metric
from separatrix.experiment.result import LeaderboardRow
from separatrix.experiment.rows import Rows
from separatrix.experiment.tuning import Tuned, refit
from separatrix.report.parts import LearningCurve, LearningCurves, TrainingCurve, TrainingCurves

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
        tuple(
            TrainingCurve(
                one.learner.name,
                one.learner.parameter,
                np.array([point.value for point in one.curve]),
                np.array([point.held_out for point in one.curve]),
                np.array([point.train for point in one.curve]),
                float("nan") if one.value is None else one.value,
                logarithmic=one.learner.kind != "passes" and one.learner.parameter != "degree",
            )
            for one in found
        )
    )


def learning_curves(
    champion: Tuned,
    train: Rows,
    held_out: Rows,
    metric: Metric,
    random_state: int,
    n_jobs: int | None,
    seconds: float,
    family: Family,
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
        if size < _FEWEST or not family.complete(part.y, train.y):
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
    scores.append(champion.held_out)
    seen.append(chosen[0].train if chosen else float("nan"))
    curve = LearningCurve(
        champion.learner.name, np.array(sizes), np.array(scores), train=np.array(seen)
    )
    return LearningCurves((curve,), _message(scores, metric, family.units))


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
