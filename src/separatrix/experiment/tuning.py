"""Choosing a learner's setting on held-out rows, and fitting it again with that setting."""

from __future__ import annotations

import copy
import math
import time
import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from sklearn.pipeline import make_pipeline

from separatrix.errors import ConvergenceWarning, ZeroProbabilityWarning
from separatrix.experiment.event_models import Counted, event_models
from separatrix.metrics import Metric, Outcome
from separatrix.registry import VARIANCE_GRID, Learner, load
from separatrix.results import Solution, StopReason, time_limit
from separatrix.tasks import Task
from separatrix.tasks.rows import Rows, labels_of

__all__ = [
    "PATIENCE",
    "ROUGH",
    "WORSE",
    "CurvePoint",
    "Rows",
    "StepReport",
    "Tuned",
    "describe",
    "fitted_settings",
    "refit",
    "tune",
]

#: Passes without a better held-out score after which an online learner stops.
PATIENCE = 5
#: Settings in a row, worse than the best or out of passes and no better, after which a grid of C is
#: left: from there on weaker regularization takes longer with every step and seldom helps.
WORSE = 2
#: Relative gap to which the settings of a path are fitted. Every setting begins where the one
#: before ended, and gets the passes of its learner: after fewer, a score may be far from its own.
ROUGH = 1e-3
#: Train rows that the train score of a setting is taken from.
_SCORED = 5000

#: Called after every setting: its number from 1, the setting in words, its held-out score.
StepReport = Callable[[int, str, float], None]


#: The parameter that is tuned, the number of passes, or a setting of naive Bayes.
Setting = float | Counted


class CurvePoint(NamedTuple):
    """Scores of one setting: its value, the scores on train and held-out rows, and their worth.

    `settled` is False where the solver ran out of passes or time: more would change the scores.
    `outcome` is what the held-out score was made of, where it was kept.
    """

    value: Any  # a Setting
    train: float
    held_out: float
    settled: bool
    outcome: Outcome | None = None


@dataclass(frozen=True)
class Tuned:
    """A learner with its chosen setting.

    Attributes
    ----------
    learner : Learner
        The line of the registry.
    value : float, Counted or None
        The chosen parameter, number of passes or setting of naive Bayes.
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
    settled : bool
        Whether the chosen fit was not cut short: more passes would not change its score. One that
        was is chosen only where it leads by more than one standard error of the difference.
    complete : bool
        Whether all settings were tried before the time ran out.
    estimator : estimator or None
        The chosen fit on the train rows, where it was kept.
    outcome : Outcome
        The held-out score, with what it was made of.
    decide : callable or None
        From a fit to one that decides otherwise, where that is better by the held-out score.
    decision : str
        What it changes, in words.
    """

    learner: Learner
    value: Setting | None
    held_out: float
    curve: tuple[CurvePoint, ...]
    seconds: float
    passes: float
    gap: float
    solver: str
    converged: bool
    settled: bool
    complete: bool
    estimator: Any
    outcome: Outcome
    decide: Callable[[Any], Any] | None = None
    decision: str = ""

    def decided(self, task: Task, held_out: Rows, metric: Metric) -> Tuned:
        """The same with the way to decide that suits the metric best, by held-out score."""
        if self.estimator is None or self.learner.baseline:
            return self
        found = task.decision(self.estimator, held_out, metric, self.outcome)
        if found is None:
            return self
        return replace(
            self,
            held_out=found.outcome.score,
            outcome=found.outcome,
            decide=found.change,
            decision=found.words,
        )


class _Trial(NamedTuple):
    """One fitted setting; `lasting` unless the next trial changes the same estimator."""

    value: Setting | None
    estimator: Any
    passes: float
    lasting: bool


class _Tried(NamedTuple):
    """A setting with its held-out score and the record of its solver."""

    trial: _Trial
    outcome: Outcome
    solution: Solution | None


def describe(learner: Learner, value: Setting | None) -> str:
    """Put a setting into words: "C = 10", "7 passes", "multinomial, smoothing = 1" or "-"."""
    if value is None:
        return "-"
    if isinstance(value, Counted):
        return str(value)
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
    keep: bool = False,
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
    keep : bool, default=False
        Keep the outcome of every setting, to be pooled with those of other rows.

    Returns
    -------
    Tuned
        The chosen setting, the simplest among equals, with the cost of the whole search.
    """
    load(learner.target)  # the import of a family is not the learner's time
    start = time.perf_counter()
    sample = train.first(_SCORED)
    curve: list[CurvePoint] = []
    tried: dict[bool, _Tried] = {}
    best_gain, at, step, worse, passes = -math.inf, 0, 0, 0, 0.0
    complete, most = True, most_settings(learner, train)
    trials = _TRIALS[learner.kind](learner, train, random_state, n_jobs)
    with _no_surprises(), time_limit(seconds):
        trial = next(trials, None)
        while trial is not None:
            step += 1
            passes += trial.passes
            outcome = metric.outcome(trial.estimator, held_out.X, held_out.y)
            gain = metric.gain(outcome.score)
            solution = getattr(trial.estimator, "solution_", None)
            # Online learners minimize nothing: their number of passes is the setting.
            settled = learner.kind == "passes" or _finished(solution)
            if trial.value is not None:
                seen = metric(trial.estimator, sample.X, sample.y)
                kept = outcome if keep else None
                curve.append(CurvePoint(trial.value, seen, outcome.score, settled, kept))
            # A later setting must be strictly better, so that ties stay simple.
            if settled not in tried or gain > metric.gain(tried[settled].outcome.score):
                tried[settled] = _Tried(trial, outcome, solution)
            better = gain > best_gain
            if better:
                best_gain, at = gain, step
            if report is not None:
                report(step, describe(learner, trial.value), outcome.score)
            worse = worse + 1 if gain < best_gain or not (settled or better) else 0
            if learner.kind == "passes" and step - at >= PATIENCE:
                break
            if learner.parameter == "C" and worse >= WORSE:
                break
            if time.perf_counter() - start >= seconds and step < most:
                complete = False
                break
            try:
                trial = trials.send(gain)
            except StopIteration:
                break
    best = _chosen(tried, metric, held_out.y)
    return Tuned(
        learner,
        best.trial.value,
        best.outcome.score,
        tuple(curve),
        time.perf_counter() - start,
        passes,
        complete=complete,
        estimator=best.trial.estimator if best.trial.lasting else None,
        outcome=best.outcome,
        **_certificate(learner, best.solution),
    )


def _finished(solution: Solution | None) -> bool:
    """Whether more passes would change nothing: no solver, or one that was not cut short."""
    return solution is None or solution.stopped not in (StopReason.BUDGET, StopReason.INTERRUPTED)


def _chosen(tried: dict[bool, _Tried], metric: Metric, y: Any) -> _Tried:
    """The best setting; one that was cut short only where it is better by more than the noise."""
    if len(tried) == 1:
        return next(iter(tried.values()))
    settled, cut_short = tried[True], tried[False]
    lead = metric.gain(cut_short.outcome.score) - metric.gain(settled.outcome.score)
    return cut_short if lead > metric.noise(cut_short.outcome, settled.outcome, y) else settled


def most_settings(learner: Learner, rows: Rows) -> int:
    """How many settings of `learner` are tried at most."""
    if learner.kind != "counts":
        return max(1, len(learner.grid))
    return len(event_models(rows)) * (len(learner.grid) + len(VARIANCE_GRID) - 1)


def _certificate(learner: Learner, solution: Solution | None) -> dict[str, Any]:
    if solution is None:
        # Without a solver there is nothing to converge: one pass gives the answer.
        closed = learner.tasks == ("regression",) and not learner.baseline
        solver = "closed form" if closed else "counting"
        return {"gap": math.nan, "solver": solver, "converged": True, "settled": True}
    # Online learners minimize nothing, so that they have no gap.
    gap = solution.relative_gap
    return {
        "gap": math.nan if learner.kind == "passes" else float(gap),
        "solver": solution.solver,
        "converged": solution.stopped is StopReason.CONVERGED,
        "settled": learner.kind == "passes" or _finished(solution),
    }


def _once(
    learner: Learner, rows: Rows, random_state: int, n_jobs: int | None
) -> Generator[_Trial, float]:
    yield _Trial(
        None, make(learner, len(rows.y), random_state, n_jobs).fit(rows.X, rows.y), 1, True
    )


def _each(
    learner: Learner, rows: Rows, random_state: int, n_jobs: int | None
) -> Generator[_Trial, float]:
    for value in learner.grid:
        estimator = make(learner, len(rows.y), random_state, n_jobs, **{learner.parameter: value})
        estimator.fit(rows.X, rows.y)
        found = getattr(estimator, "solution_", None)
        yield _Trial(value, estimator, 1 if found is None else float(found.n_passes), True)


def _counts(
    learner: Learner, rows: Rows, random_state: int, n_jobs: int | None
) -> Generator[_Trial, float]:
    for events, features in _event_models(learner, rows).items():
        counted = make(learner, len(rows.y), random_state, n_jobs, **features).fit(rows.X, rows.y)
        gaussian = counted.kinds_ == "gaussian"
        ks = (None,) if gaussian.all() else learner.grid
        shares = VARIANCE_GRID if gaussian.any() else (None,)
        # First the smoothing, then at the best of it the variances: one after the other, since they
        # belong to different columns.
        settings = [Counted(events, k, shares[0]) for k in ks]
        best, top, n_counted = settings[0], -math.inf, 1
        while settings:
            setting = settings.pop(0)
            # The counts are shared: another smoothing of them is estimated when it is requested.
            estimator = copy.copy(counted).set_params(**setting.parameters)
            gain = yield _Trial(setting, estimator, float(n_counted), True)
            n_counted = 0
            if gain > top:
                best, top = setting, gain
            if not settings and setting.var_smoothing == shares[0] and len(shares) > 1:
                settings = [best._replace(var_smoothing=share) for share in shares[1:]]


def _event_models(learner: Learner, rows: Rows) -> dict[str, dict[str, Any]]:
    """Arguments of naive Bayes for each model of the columns that is tried."""
    if "features" in dict(learner.params):
        return {"": {}}
    return {name: {"features": features} for name, features in event_models(rows).items()}


def _path(
    learner: Learner,
    rows: Rows,
    random_state: int,
    n_jobs: int | None,
    start: Solution | None = None,
) -> Generator[_Trial, float]:
    # Imported here so that a comparison of baselines alone needs no solver.
    from separatrix.learners.linear import follow_path

    template = make(learner, len(rows.y), random_state, n_jobs)
    if "tol" not in dict(learner.params):
        template.set_params(tol=ROUGH)
    for model in follow_path(template, rows.X, rows.y, learner.grid, start=start):
        value = float(getattr(model, learner.parameter))
        yield _Trial(value, model, float(model.solution_.n_passes), True)


def _passes(
    learner: Learner, rows: Rows, random_state: int, n_jobs: int | None
) -> Generator[_Trial, float]:
    estimator = make(learner, len(rows.y), random_state, n_jobs)
    classes = labels_of(rows.y)
    for value in learner.grid:
        estimator.partial_fit(rows.X, rows.y, classes=classes)
        yield _Trial(value, estimator, 1, False)


#: Kind of a learner -> its settings one after the other; each is told the gain of the one before.
_TRIALS: dict[str, Callable[[Learner, Rows, int, int | None], Generator[_Trial, float]]] = {
    "none": _once,
    "grid": _each,
    "counts": _counts,
    "path": _path,
    "passes": _passes,
}


def fitted_settings(
    learner: Learner,
    values: Sequence[Setting | None],
    rows: Rows,
    *,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> Iterator[tuple[Setting | None, Any]]:
    """The settings with their fits on `rows`, one after the other; each fit is used at once."""
    given: Any = {"random_state": random_state, "n_jobs": n_jobs}
    with _no_surprises():
        if learner.kind == "passes":
            last = max(float(value) for value in values if isinstance(value, float | int))
            grid = tuple(value for value in learner.grid if value <= last)
            trials = _passes(replace(learner, grid=grid), rows, random_state, n_jobs)
            yield from ((one.value, one.estimator) for one in trials if one.value in values)
        elif learner.kind == "path":
            grid = tuple(value for value in values if isinstance(value, float | int))
            trials = _path(replace(learner, grid=grid), rows, random_state, n_jobs)
            for value, one in zip(values, trials, strict=True):
                yield value, one.estimator
        else:
            for value in values:
                yield value, refit(learner, value, rows, **given)


def refit(
    learner: Learner,
    value: Setting | None,
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
    value : float, Counted or None
        The chosen parameter, number of passes or setting of naive Bayes.
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
        if isinstance(value, Counted):
            return _count_again(learner, value, rows, random_state, n_jobs)
        if learner.kind == "path" and value is not None:
            start = getattr(begun, "solution_", None)
            if start is not None and start.dual is None:
                start = None
            trials = _path(replace(learner, grid=(value,)), rows, random_state, n_jobs, start)
            return next(trials).estimator
        if learner.kind == "passes" and value is not None:
            trials = _passes(learner, rows, random_state, n_jobs)
            return list(islice(trials, int(value)))[-1].estimator
        settings = {} if value is None else {learner.parameter: value}
        return make(learner, len(rows.y), random_state, n_jobs, **settings).fit(rows.X, rows.y)


def _count_again(
    learner: Learner, value: Counted, rows: Rows, random_state: int, n_jobs: int | None
) -> Any:
    """Naive Bayes with a setting that was chosen on other rows."""
    features = _event_models(learner, rows)[value.events]
    counted = make(learner, len(rows.y), random_state, n_jobs, **features).fit(rows.X, rows.y)
    # Among other rows a column may not be constant, or not all zeros and ones.
    gaussian = counted.kinds_ == "gaussian"
    idle = {"smoothing"} if gaussian.all() else set() if gaussian.any() else {"var_smoothing"}
    known = {name: x for name, x in value.parameters.items() if name not in idle}
    return make(learner, len(rows.y), random_state, n_jobs, **features, **known).fit(rows.X, rows.y)
