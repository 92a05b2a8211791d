"""Choosing a learner's setting on held-out rows, and fitting it again with that setting."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from separatrix.errors import ConvergenceWarning
from separatrix.experiment.comparison import LeaderboardRow
from separatrix.experiment.split import Rows
from separatrix.metrics import accuracy
from separatrix.registry import Learner, load
from separatrix.results import Solution, StopReason

__all__ = ["PATIENCE", "StepReport", "describe", "make", "refit", "tune"]

#: Passes without a better held-out accuracy after which an online learner stops.
PATIENCE = 5

#: Called after every setting: its number from 1, the setting in words, its held-out accuracy.
StepReport = Callable[[int, str, float], None]


@dataclass
class _Best:
    """The best setting so far; a later one must be strictly better, so ties stay simple."""

    held_out: float = -math.inf
    value: float | None = None
    solution: Solution | None = None
    step: int = 0

    def offer(
        self, step: int, value: float | None, held_out: float, solution: Solution | None
    ) -> None:
        if held_out > self.held_out:
            self.held_out, self.value = held_out, value
            self.solution, self.step = solution, step


def describe(learner: Learner, value: float | None) -> str:
    """Put a setting into words: "C = 10", "7 passes" or "-"."""
    if value is None:
        return "-"
    if learner.kind == "passes":
        return f"{value:g} pass" if value == 1 else f"{value:g} passes"
    return f"{learner.parameter} = {value:g}"


def make(learner: Learner, random_state: int, **settings: Any) -> Any:
    """Make an unfitted estimator of `learner`, seeded where it takes a seed."""
    estimator = load(learner)(**dict(learner.params), **settings)
    if "random_state" in estimator.get_params():
        # An online learner gets one pass per call; a generator gives each pass its own order.
        generator = np.random.RandomState(random_state)
        estimator.set_params(random_state=generator if learner.kind == "passes" else random_state)
    return estimator


@contextmanager
def _budget_is_no_surprise() -> Iterator[None]:
    # A fit that ran out of passes is marked in its leaderboard row instead.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield


def tune(
    learner: Learner,
    train: Rows,
    held_out: Rows,
    random_state: int = 0,
    report: StepReport | None = None,
) -> LeaderboardRow:
    """Fit every setting of `learner` on the train rows and choose by held-out accuracy.

    Parameters
    ----------
    learner : Learner
        A line of the registry; its `kind` says how to search.
    train, held_out : Rows
        Where to fit and where to choose.
    random_state : int, default=0
        Seed of the learner.
    report : callable, optional
        Called after every setting.

    Returns
    -------
    LeaderboardRow
        The chosen setting, the simplest among equals, with the cost of the whole search.
    """
    search = {
        "none": _fit_once,
        "passes": _follow_passes,
        "path": _follow_path,
        "counts": _count_once,
        "grid": _fit_each,
    }[learner.kind]
    best = _Best()
    load(learner)  # the import of a family is not the learner's time
    start = time.perf_counter()
    with _budget_is_no_surprise():
        passes = search(learner, train, held_out, random_state, best, report)
    seconds = time.perf_counter() - start
    return LeaderboardRow(
        learner=learner.name,
        setting=describe(learner, best.value),
        value=best.value,
        held_out=best.held_out,
        seconds=seconds,
        passes=passes,
        baseline=learner.baseline,
        **_certificate(learner, best.solution),
    )


def _certificate(learner: Learner, solution: Solution | None) -> dict[str, Any]:
    if solution is None:
        # Without a solver there is nothing to converge: one pass gives the answer.
        return {"gap": math.nan, "solver": "counting", "converged": True}
    # Online learners minimize nothing, so that they have no gap.
    gap = solution.gap / max(1.0, abs(solution.objective))
    return {
        "gap": float(gap) if learner.kind == "path" else math.nan,
        "solver": solution.solver,
        "converged": solution.stopped is StopReason.CONVERGED,
    }


def _fit_once(
    learner: Learner,
    train: Rows,
    held_out: Rows,
    random_state: int,
    best: _Best,
    report: StepReport | None,
) -> float:
    estimator = make(learner, random_state).fit(train.X, train.y)
    score = accuracy(held_out.y, estimator.predict(held_out.X))
    best.offer(1, None, score, getattr(estimator, "solution_", None))
    if report is not None:
        report(1, describe(learner, None), score)
    return 1.0


def _fit_each(
    learner: Learner,
    train: Rows,
    held_out: Rows,
    random_state: int,
    best: _Best,
    report: StepReport | None,
) -> float:
    for step, value in enumerate(learner.grid, start=1):
        estimator = make(learner, random_state, **{learner.parameter: value})
        score = accuracy(held_out.y, estimator.fit(train.X, train.y).predict(held_out.X))
        best.offer(step, value, score, getattr(estimator, "solution_", None))
        if report is not None:
            report(step, describe(learner, value), score)
    return float(len(learner.grid))


def _count_once(
    learner: Learner,
    train: Rows,
    held_out: Rows,
    random_state: int,
    best: _Best,
    report: StepReport | None,
) -> float:
    estimator = make(learner, random_state).fit(train.X, train.y)
    estimator.tune(held_out.X, held_out.y, learner.grid)
    for step, (value, score) in enumerate(
        zip(learner.grid, estimator.tuning_["accuracy"], strict=True), start=1
    ):
        best.offer(step, value, score, None)
        if report is not None:
            report(step, describe(learner, value), score)
    return 1.0


def _follow_path(
    learner: Learner,
    train: Rows,
    held_out: Rows,
    random_state: int,
    best: _Best,
    report: StepReport | None,
) -> float:
    # Imported here so that a comparison of baselines alone needs no solver.
    from separatrix.linear import regularization_path

    steps = 0

    def look(estimator: Any) -> None:
        nonlocal steps
        steps += 1
        value = float(getattr(estimator, learner.parameter))
        score = accuracy(held_out.y, estimator.predict(held_out.X))
        best.offer(steps, value, score, estimator.solution_)
        if report is not None:
            report(steps, describe(learner, value), score)

    path = regularization_path(
        make(learner, random_state), train.X, train.y, learner.grid, callback=look
    )
    return float(sum(solution.n_passes for solution in path.solutions))


def _follow_passes(
    learner: Learner,
    train: Rows,
    held_out: Rows,
    random_state: int,
    best: _Best,
    report: StepReport | None,
) -> float:
    estimator = make(learner, random_state)
    classes = np.unique(train.y)
    passes = 0
    for value in learner.grid:
        estimator.partial_fit(train.X, train.y, classes=classes)
        passes += 1
        score = accuracy(held_out.y, estimator.predict(held_out.X))
        best.offer(passes, value, score, getattr(estimator, "solution_", None))
        if report is not None:
            report(passes, describe(learner, value), score)
        if passes - best.step >= PATIENCE:
            break
    return float(passes)


def refit(learner: Learner, value: float | None, rows: Rows, random_state: int = 0) -> Any:
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

    Returns
    -------
    estimator
        The fitted estimator.
    """
    with _budget_is_no_surprise():
        if learner.kind in ("path", "counts", "grid"):
            return make(learner, random_state, **{learner.parameter: value}).fit(rows.X, rows.y)
        estimator = make(learner, random_state)
        if learner.kind == "none" or value is None:
            return estimator.fit(rows.X, rows.y)
        classes: npt.NDArray[Any] = np.unique(rows.y)
        for _ in range(int(value)):
            estimator.partial_fit(rows.X, rows.y, classes=classes)
        return estimator
