"""Settings chosen by folds of the train and held-out rows: every row is held out once."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from separatrix.errors import ParameterError
from separatrix.experiment.split import Stratified
from separatrix.experiment.tuning import Setting, Tuned, fitted_settings, refit
from separatrix.metrics import Metric, Outcome
from separatrix.results import Solution
from separatrix.tasks import Task
from separatrix.tasks.feature_search import Fold
from separatrix.tasks.rows import Rows

__all__ = [
    "N_FOLDS",
    "SMALL",
    "folds_of",
    "number_of_folds",
    "over_folds",
    "pooled_targets",
]

#: Train and held-out rows below which settings are chosen by folds without being asked.
SMALL, N_FOLDS = 2000, 5
#: Most settings of a learner that are tried on all folds.
_MOST = 3


def number_of_folds(
    wanted: int | None, n_rows: int, split: Any, task: Task, metric: Metric, limited: bool
) -> int:
    """How many folds there are, 1 for the held-out rows alone.

    Parameters
    ----------
    wanted : int or None
        What was asked for.
    n_rows : int
        Train and held-out rows.
    split : Stratified, Grouped, ByTime or Given
        Folds are dealt out at random, as `Stratified` parts rows.
    task, metric : Task, Metric
        Whether rows can be dealt out one by one, and scores pooled.
    limited : bool
        Whether there is a budget of time.
    """
    reasons = [
        (not isinstance(split, Stratified), "rows are not split at random, one by one"),
        (not task.folds, f"{task.units} are not dealt out one by one"),
        (metric.thresholded, f"{metric.name} chooses a threshold on the held-out rows"),
        (limited, "with a budget there may be no time for all of them"),
    ]
    against = [why for holds, why in reasons if holds]
    if wanted is None:
        return N_FOLDS if n_rows < SMALL and not against else 1
    if isinstance(wanted, bool) or not isinstance(wanted, int | np.integer) or wanted < 1:
        raise ParameterError(f"folds must be a number of 1 or more, got {wanted!r}")
    if wanted > 1 and against:
        raise ParameterError(f"folds={wanted}: {against[0]}")
    return int(wanted)


def folds_of(train: Rows, held_out: Rows, task: Task, n_folds: int, seed: int) -> list[Fold]:
    """The held-out rows, then the parts that the train rows are dealt out to, class by class.

    Only the first where some fold would lack a class.
    """
    first = Fold(train, held_out)
    n = len(train.y)
    if n_folds < 2 or n < n_folds - 1:
        return [first]
    order = np.random.default_rng(seed).permutation(n)
    by_stratum = order[np.argsort(task.strata(train.y)[order], kind="stable")]
    numbers = np.empty(n, dtype=np.intp)
    numbers[by_stratum] = np.arange(n) % (n_folds - 1)
    found = [first]
    for k in range(n_folds - 1):
        rest = train.take(np.flatnonzero(numbers != k)).joined(held_out)
        found.append(Fold(rest, train.take(np.flatnonzero(numbers == k))))
    return found if all(task.complete(fold.train.y, train.y) for fold in found) else [first]


def pooled_targets(folds: Sequence[Fold]) -> Any:
    """The targets of all held-out rows, fold after fold."""
    parts = [fold.held_out.y for fold in folds]
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def over_folds(
    one: Tuned,
    folds: Sequence[Fold],
    metric: Metric,
    *,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> Tuned:
    """A learner with the setting that is best over all folds.

    Only the best few settings of the first fold are tried on the others, and none that is behind
    there by more than the noise.

    Parameters
    ----------
    one : Tuned
        As tuned on the first fold.
    folds : sequence of Fold
        Rows as the learner takes them.
    metric : Metric
        What decides.
    random_state : int
        Seed of the learner.
    n_jobs : int, optional
        Threads.
    """
    if len(folds) == 1:
        return one
    start = time.perf_counter()
    first: dict[Setting | None, Outcome] = {
        point.value: point.outcome for point in one.curve if point.outcome is not None
    }
    first = first or {one.value: one.outcome}
    y = folds[0].held_out.y
    values = [v for v, outcome in first.items() if _keeps_up(outcome, one.outcome, metric, y)]
    ranked = sorted(values, key=lambda value: -metric.gain(first[value].score))
    values = [value for value in values if value in ranked[:_MOST]]
    outcomes = {value: [first[value]] for value in values}
    passes = 0.0
    for fold in folds[1:]:
        for value, model in fitted_settings(
            one.learner, values, fold.train, random_state=random_state, n_jobs=n_jobs
        ):
            outcomes[value].append(metric.outcome(model, fold.held_out.X, fold.held_out.y))
            passes += _passes(model)
    seen = pooled_targets(folds)
    pooled = {value: metric.pooled(own, seen) for value, own in outcomes.items()}
    settled = {point.value: point.settled for point in one.curve}
    best = _best(pooled, settled, metric, seen)
    estimator = one.estimator
    if best != one.value:
        estimator = refit(
            one.learner, best, folds[0].train, random_state=random_state, n_jobs=n_jobs
        )
    return replace(
        one,
        value=best,
        held_out=pooled[best].score,
        outcome=pooled[best],
        estimator=estimator,
        settled=settled.get(best, one.settled),
        seconds=one.seconds + time.perf_counter() - start,
        passes=one.passes + passes,
        curve=tuple(
            point._replace(held_out=pooled[point.value].score) if point.value in pooled else point
            for point in one.curve
        ),
    )


def _keeps_up(outcome: Outcome, best: Outcome, metric: Metric, y: npt.NDArray[Any]) -> bool:
    lag = metric.gain(best.score) - metric.gain(outcome.score)
    return lag <= 0 or lag <= metric.noise(outcome, best, y)


def _best(
    pooled: dict[Setting | None, Outcome],
    settled: dict[Any, bool],
    metric: Metric,
    y: npt.NDArray[Any],
) -> Setting | None:
    """The best, the first of equals; one that was cut short only where it leads by the noise."""
    top = max(pooled, key=lambda value: metric.gain(pooled[value].score))
    if settled.get(top, True):
        return top
    whole = [value for value in pooled if settled[value]]
    if not whole:
        return top
    other = max(whole, key=lambda value: metric.gain(pooled[value].score))
    lead = metric.gain(pooled[top].score) - metric.gain(pooled[other].score)
    return top if lead > metric.noise(pooled[top], pooled[other], y) else other


def _passes(model: Any) -> float:
    solution: Solution | None = getattr(model, "solution_", None)
    return 1.0 if solution is None else float(solution.n_passes)
