"""Iterative parameter mixing: online passes over partitions, their weights averaged after each.

Every pass starts all partitions at the same weights, lets each make one online pass, and mixes what
they end with by their shares of the examples. On separable data the mistakes are bounded as those
of one perceptron are (McDonald, Hall & Mann 2010, theorem 3). The result depends on the partitions,
not on the workers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from separatrix.distributed.flat import read_flat
from separatrix.distributed.objective import added
from separatrix.distributed.partitions import Partitions
from separatrix.distributed.run import Run
from separatrix.errors import ParameterError
from separatrix.learners.linear.online import OnlineClassifier
from separatrix.protocols import Array
from separatrix.results import Monitor, Solution, StopReason
from separatrix.validation import check_choice, check_positive, seed_from

__all__ = ["Mixture", "fit_online", "mix"]


@dataclass(frozen=True)
class Mixture:
    """What passes of mixing hand back.

    Attributes
    ----------
    solution : Solution
        The record; `w` are the averaged or the last weights.
    last : ndarray
        The last weights.
    """

    solution: Solution
    last: Array


def mixed_epoch(
    problem: Any, w: Array, rule: tuple[str, float], seed: int | None, n_pass: int
) -> tuple[Array, Array, int, int]:
    """Last weights and average of a partition's pass, times its examples; mistakes, examples."""
    n = problem.n_examples
    own = None
    if seed is not None:
        own = int(np.random.default_rng([seed, n_pass, problem.number]).integers(2**31 - 1))
    last, average, mistakes = problem.epoch(w, *rule, own)
    return n * last.astype(np.float64), n * average.astype(np.float64), int(mistakes), n


def mix(
    run: Run,
    parts: Sequence[tuple[Any, ...]],
    start: npt.NDArray[Any],
    rule: tuple[str, float],
    seed: int | None,
    *,
    name: str,
    averaging: str,
    certificate: str,
    max_passes: int,
) -> Mixture:
    """Mix until a pass makes no mistake, or `max_passes` are done.

    The average is over the weights after every example of every partition and pass, which is
    what one averaged perceptron keeps.
    """
    w, mean = start, np.zeros(start.shape)
    monitor = Monitor(tol=0.0, max_passes=max_passes, report=run.on_pass)
    checkpoint = run.checkpoint("mixing", weights=start.shape, partitions=len(parts))
    state = None if checkpoint is None else checkpoint.load()
    done, last, stopped = 0, math.inf, None
    if state is not None:
        w, mean, done = state["w"].astype(start.dtype), state["mean"], int(state["n_passes"])
        last = float(state["mistakes"])
        stopped = StopReason.CONVERGED if last == 0 else None
        stopped = StopReason.BUDGET if stopped is None and done >= max_passes else stopped
    try:
        while stopped is None:
            total, average, mistakes, n = run.session.reduce(
                mixed_epoch, added, parts, w, rule, seed, done
            )
            w = (total / n).astype(start.dtype)
            mean = (mean * done + average / n) / (done + 1)
            done, last = done + 1, float(mistakes)
            kept = mean if averaging == "average" else w
            stopped = monitor.record(done, last, last, lambda: kept)  # noqa: B023
            if checkpoint is not None and (checkpoint.due(done) or stopped is not None):
                checkpoint.save({"w": w, "mean": mean, "n_passes": done, "mistakes": last})
    except KeyboardInterrupt:
        stopped = StopReason.INTERRUPTED
    kept = mean.astype(start.dtype) if averaging == "average" else w
    solution = Solution(
        w=kept,
        n_passes=float(done),
        gap=last,
        stopped=stopped,
        trace=monitor.trace,
        objective=last,
        certificate=certificate,
        solver=f"{name}, {averaging}, mixed over {len(parts)} partitions",
    )
    return Mixture(solution, w)


def fit_online(run: Run, estimator: OnlineClassifier, parts: Partitions) -> None:
    """Fit a perceptron or MIRA."""
    check_positive(max_iter=estimator.max_iter)
    check_choice("averaging on Dask", estimator.averaging, ("none", "average"))
    if estimator.warm_start:
        raise ParameterError("warm_start is not for perceptron and MIRA on Dask")
    rule = estimator._rule()
    data = read_flat(run.session, estimator, parts)
    found = data.survey
    k = 1 if len(found.classes) == 2 else len(found.classes)
    start = np.zeros((found.n_columns + bool(estimator.fit_intercept), k), dtype=found.dtype)
    mixture = mix(
        run,
        [(problem,) for problem in data.problems],
        start,
        rule,
        seed_from(estimator.random_state) if estimator.shuffle else None,
        name=rule[0],
        averaging=estimator.averaging,
        certificate="mistakes of the last pass",
        max_passes=estimator.max_iter,
    )
    solution = mixture.solution
    if not all(np.isfinite(w).all() for w in (mixture.last, solution.w)):
        raise FloatingPointError(
            f"{type(estimator).__name__} ended with weights that are not finite; scale the features"
        )
    estimator._store(solution, data.training)
    estimator._weights = mixture.last
    estimator._seen = int(solution.n_passes) * found.n_rows
    estimator._average = solution.w if estimator.averaging == "average" else None
    estimator.mistakes_ = np.array(solution.trace.objective, dtype=np.int64)
    estimator.margin_ = estimator.radius_ = estimator.mistake_bound_ = None
    estimator.__dict__.pop("vote_", None)
    if solution.stopped is StopReason.INTERRUPTED and estimator.on_interrupt == "raise":
        raise KeyboardInterrupt
