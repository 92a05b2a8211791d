"""Choosing a learner's setting on held-out rows, and fitting it again with that setting."""

from __future__ import annotations

import copy
import math
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from sklearn.pipeline import make_pipeline

from separatrix.errors import ConvergenceWarning, ZeroProbabilityWarning
from separatrix.experiment.metric import Metric
from separatrix.experiment.rows import Rows, labels_of
from separatrix.registry import Learner, load
from separatrix.results import Solution, StopReason, time_limit

__all__ = [
    "PATIENCE",
    "ROUGH",
    "STEPS",
    "WORSE",
    "CurvePoint",
    "Rows",
    "StepReport",
    "Tuned",
    "describe",
    "refit",
    "tune",
]

#: Passes without a better held-out score after which an online learner stops.
PATIENCE = 5
#: Settings in a row, worse than the best or out of passes, after which a grid of C is left: from
#: there on weaker regularization takes longer with every step and seldom helps.
WORSE = 2
#: Relative gap to which the settings of a path are fitted, and passes that each gets: every setting
#: begins where the one before ended, and what is left to gain moves no held-out score.
ROUGH, STEPS = 1e-3, 25
#: Train rows that the train score of a setting is taken from.
_SCORED = 5000

#: Called after every setting: its number from 1, the setting in words, its held-out score.
StepReport = Callable[[int, str, float], None]


class CurvePoint(NamedTuple):
    """Scores of one setting: its value, and the scores on train and held-out rows."""

    value: float
    train: float
    held_out: float


@dataclass(frozen=True)
class Tuned:
    """A learner with its chosen setting.

    Attributes
    ----------
    learner : Learner
        The line of the registry.
    value : float or None
        The chosen parameter or number of passes.
    held_out : float
        Its held-out score.
    curve : tuple of CurvePoint
        All settings that were tried.
    seconds, passes : float
        Time and passes over the train rows of the whole search.
    gap : float
        Relative gap at the chosen setting; NaN where there is no objective.
    solver : str
        What fitted it.
    converged : bool
        Whether the gap reached the tolerance.
    complete : bool
        Whether all settings were tried before the time ran out.
    estimator : estimator or None
        The chosen fit on the train rows, where it was kept.
    """

    learner: Learner
    value: float | None
    held_out: float
    curve: tuple[CurvePoint, ...]
    seconds: float
    passes: float
    gap: float
    solver: str
    converged: bool
    complete: bool
    estimator: Any


class _Trial(NamedTuple):
    """One fitted setting; `lasting` unless the next trial changes the same estimator."""

    value: float | None
    estimator: Any
    passes: float
    lasting: bool


def describe(learner: Learner, value: float | None) -> str:
    """Put a setting into words: "C = 10", "7 passes" or "-"."""
    if value is None:
        return "-"
    if learner.kind == "passes":
        return f"{value:g} pass" if value == 1 else f"{value:g} passes"
    return f"{learner.parameter} = {value:g}"


def make(
    learner: Learner, n_rows: int, random_state: int, n_jobs: int | None, **settings: Any
) -> Any:
    """Make an unfitted estimator of `learner` for so many rows, seeded where it takes a seed."""
    own = {} if learner.features else settings
    estimator = load(learner.target)(**dict(learner.params), **own)
    known = estimator.get_params()
    if "random_state" in known:
        # An online learner gets one pass per call; a generator gives each pass its own order.
        generator = np.random.RandomState(random_state)
        estimator.set_params(random_state=generator if learner.kind == "passes" else random_state)
    if "n_jobs" in known:
        estimator.set_params(n_jobs=n_jobs)
    if not learner.features:
        return estimator
    before = dict(learner.feature_params)
    if "n_components" in before:
        before["n_components"] = min(before["n_components"], n_rows)
    features = load(learner.features)(**before, **settings)
    return make_pipeline(features, estimator)


@contextmanager
def _no_surprises() -> Iterator[None]:
    # A fit that ran out of passes is marked in the leaderboard instead.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", ZeroProbabilityWarning)
        yield


def tune(
    learner: Learner,
    train: Rows,
    held_out: Rows,
    metric: Metric,
    *,
    random_state: int = 0,
    n_jobs: int | None = None,
    seconds: float = math.inf,
    report: StepReport | None = None,
) -> Tuned:
    """Fit the settings of `learner` on the train rows and choose by held-out score.

    Parameters
    ----------
    learner : Learner
        A line of the registry; its `kind` says how to search.
    train, held_out : Rows
        Where to fit and where to choose.
    metric : Metric
        What decides.
    random_state : int, default=0
        Seed of the learner.
    n_jobs : int, optional
        Threads.
    seconds : float, default=infinity
        Time for the search; what was tried until then is chosen from.
    report : callable, optional
        Called after every setting.

    Returns
    -------
    Tuned
        The chosen setting, the simplest among equals, with the cost of the whole search.
    """
    load(learner.target)  # the import of a family is not the learner's time
    start = time.perf_counter()
    sample = train.first(_SCORED)
    curve: list[CurvePoint] = []
    best_gain, best, solution, at, worse, passes = -math.inf, None, None, 0, 0, 0.0
    complete = True
    trials = _TRIALS[learner.kind](learner, train, random_state, n_jobs)
    with _no_surprises(), time_limit(seconds):
        for step, trial in enumerate(trials, start=1):
            passes += trial.passes
            score = metric(trial.estimator, held_out.X, held_out.y)
            if trial.value is not None:
                seen = metric(trial.estimator, sample.X, sample.y)
                curve.append(CurvePoint(trial.value, seen, score))
            # A later setting must be strictly better, so that ties stay simple.
            if best is None or metric.gain(score) > best_gain:
                best_gain, best, at = metric.gain(score), trial, step
                solution = getattr(trial.estimator, "solution_", None)
            if report is not None:
                report(step, describe(learner, trial.value), score)
            last = getattr(trial.estimator, "solution_", None)
            unfinished = last is not None and last.stopped is StopReason.BUDGET
            worse = worse + 1 if unfinished or metric.gain(score) < best_gain else 0
            if learner.kind == "passes" and step - at >= PATIENCE:
                break
            if learner.parameter == "C" and worse >= WORSE:
                break
            if time.perf_counter() - start >= seconds and step < max(1, len(learner.grid)):
                complete = False
                break
    assert best is not None  # every kind has at least one trial
    return Tuned(
        learner,
        best.value,
        metric.gain(best_gain),
        tuple(curve),
        time.perf_counter() - start,
        passes,
        complete=complete,
        estimator=best.estimator if best.lasting else None,
        **_certificate(learner, solution),
    )


def _certificate(learner: Learner, solution: Solution | None) -> dict[str, Any]:
    if solution is None:
        # Without a solver there is nothing to converge: one pass gives the answer.
        closed = learner.tasks == ("regression",) and not learner.baseline
        solver = "closed form" if closed else "counting"
        return {"gap": math.nan, "solver": solver, "converged": True}
    # Online learners minimize nothing, so that they have no gap.
    gap = solution.relative_gap
    return {
        "gap": math.nan if learner.kind == "passes" else float(gap),
        "solver": solution.solver,
        "converged": solution.stopped is not StopReason.BUDGET,
    }


def _once(learner: Learner, rows: Rows, random_state: int, n_jobs: int | None) -> Iterator[_Trial]:
    yield _Trial(
        None, make(learner, len(rows.y), random_state, n_jobs).fit(rows.X, rows.y), 1, True
    )


def _each(learner: Learner, rows: Rows, random_state: int, n_jobs: int | None) -> Iterator[_Trial]:
    for value in learner.grid:
        estimator = make(learner, len(rows.y), random_state, n_jobs, **{learner.parameter: value})
        estimator.fit(rows.X, rows.y)
        found = getattr(estimator, "solution_", None)
        yield _Trial(value, estimator, 1 if found is None else float(found.n_passes), True)


def _counts(
    learner: Learner, rows: Rows, random_state: int, n_jobs: int | None
) -> Iterator[_Trial]:
    counted = make(learner, len(rows.y), random_state, n_jobs).fit(rows.X, rows.y)
    for step, value in enumerate(learner.grid):
        # The counts are shared: another smoothing of them is estimated when it is asked for.
        estimator = copy.copy(counted).set_params(**{learner.parameter: value})
        yield _Trial(value, estimator, float(step == 0), True)


def _path(
    learner: Learner,
    rows: Rows,
    random_state: int,
    n_jobs: int | None,
    start: Solution | None = None,
) -> Iterator[_Trial]:
    # Imported here so that a comparison of baselines alone needs no solver.
    from separatrix.linear import follow_path

    template = make(learner, len(rows.y), random_state, n_jobs)
    rough = {"tol": ROUGH, "max_iter": STEPS}
    template.set_params(**{k: v for k, v in rough.items() if k not in dict(learner.params)})
    for model in follow_path(template, rows.X, rows.y, learner.grid, start=start):
        value = float(getattr(model, learner.parameter))
        yield _Trial(value, model, float(model.solution_.n_passes), True)


def _passes(
    learner: Learner, rows: Rows, random_state: int, n_jobs: int | None
) -> Iterator[_Trial]:
    estimator = make(learner, len(rows.y), random_state, n_jobs)
    classes = labels_of(rows.y)
    for value in learner.grid:
        estimator.partial_fit(rows.X, rows.y, classes=classes)
        yield _Trial(value, estimator, 1, False)


_TRIALS: dict[str, Callable[[Learner, Rows, int, int | None], Iterator[_Trial]]] = {
    "none": _once,
    "grid": _each,
    "counts": _counts,
    "path": _path,
    "passes": _passes,
}


def refit(
    learner: Learner,
    value: float | None,
    rows: Rows,
    *,
    random_state: int = 0,
    n_jobs: int | None = None,
    seconds: float = math.inf,
    begun: Any = None,
) -> Any:
    """Fit `learner` on `rows` with a setting that was chosen before.

    Parameters
    ----------
    learner : Learner
        A line of the registry.
    value : float or None
        The chosen parameter or number of passes.
    rows : Rows
        All rows to learn from.
    random_state : int, default=0
        Seed of the learner.
    n_jobs : int, optional
        Threads.
    seconds : float, default=infinity
        Time after which a solver stops where it is.
    begun : estimator, optional
        The fit with this setting on the first of the rows, or on these and more after them; where
        it has dual variables, a path goes on from there.

    Returns
    -------
    estimator
        The fitted estimator.
    """
    with _no_surprises(), time_limit(seconds):
        if learner.kind == "path" and value is not None:
            start = getattr(begun, "solution_", None)
            if start is not None and start.dual is None:
                start = None
            # Without a start along the same path as in the search, so that it is the same fit on
            # more rows; where time is short, straight to the setting.
            straight = start is not None or math.isfinite(seconds)
            grid = (value,) if straight else tuple(C for C in learner.grid if value >= C)
            trials = _path(replace(learner, grid=grid), rows, random_state, n_jobs, start)
            return list(trials)[-1].estimator
        if learner.kind == "passes" and value is not None:
            trials = _passes(learner, rows, random_state, n_jobs)
            return list(islice(trials, int(value)))[-1].estimator
        settings = {} if value is None else {learner.parameter: value}
        return make(learner, len(rows.y), random_state, n_jobs, **settings).fit(rows.X, rows.y)
