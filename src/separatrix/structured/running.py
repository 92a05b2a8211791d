"""Running a solver, or passes of an online learner, as the parameters of a learner say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from separatrix.progress import fitting
from separatrix.protocols import Array, Solver
from separatrix.results import Monitor, Solution, StopReason
from separatrix.structured.held_out import HeldOutMonitor
from separatrix.structured.proof import judged

__all__ = ["minimize", "run_passes"]


def minimize(
    model: Any,
    solver: Solver,
    objective: Any,
    start: Array | None,
    score: Callable[[Array], float] | None,
) -> Solution:
    """Minimize the objective of a learner, with its progress and early stopping.

    Parameters
    ----------
    model : estimator
        With `tol`, `max_iter`, `verbose`, `early_stopping` and `n_iter_no_change`.
    solver : Solver
    objective : object
        What the solver minimizes.
    start : ndarray or None
        Weights to begin at.
    score : callable or None
        Score of weights on what was held out.

    Raises
    ------
    FloatingPointError
        The weights are not finite.
    """
    with fitting(type(model).__name__, model.verbose, model.tol) as watch:
        monitor = HeldOutMonitor(
            tol=model.tol,
            max_passes=model.max_iter,
            report=watch.on_pass,
            score=score,
            patience=model.n_iter_no_change if model.early_stopping else None,
        )
        solution = solver.minimize(objective, start, monitor)
        if getattr(objective, "is_single", False) and solution.stopped is StopReason.PRECISION:
            objective.widen()
            monitor.offset += solution.n_passes
            before, solution = solution, solver.minimize(objective, solution.w, monitor)
            solution = solution._replace(n_passes=solution.n_passes + before.n_passes)
        solution = monitor.best(solution)
        if hasattr(objective, "prove"):
            solution = judged(solution, objective, model.tol)
    if not np.isfinite(solution.w).all():
        raise FloatingPointError(
            f"{solution.solver} ended with weights that are not finite; scale the features"
        )
    return solution


def run_passes(
    model: Any,
    one_pass: Callable[[], int],
    weights: Callable[[], npt.NDArray[np.floating]],
    max_passes: int,
    *,
    counted: str,
) -> Solution:
    """Make passes until one has no mistake.

    Parameters
    ----------
    model : estimator
        With `verbose`, `update` and `averaging`.
    one_pass : callable
        Makes a pass and returns its mistakes.
    weights : callable
        The weights so far, of shape (n, 1).
    max_passes : int
        The most passes.
    counted : str
        What a mistake is counted by, "tokens" say.

    Raises
    ------
    FloatingPointError
        The weights are not finite.
    """
    passes, stopped = 0, None
    with fitting(type(model).__name__, model.verbose, 1e-3) as watch:
        monitor = Monitor(tol=0.0, max_passes=max_passes, report=watch.on_pass)
        try:
            while stopped is None:
                mistakes = one_pass()
                passes += 1
                stopped = monitor.record(passes, mistakes, mistakes, weights)
        except KeyboardInterrupt:
            stopped = StopReason.INTERRUPTED
    last = float(monitor.trace.rows[-1].objective) if len(monitor.trace) else float("inf")
    w = weights()
    if not np.isfinite(w).all():
        raise FloatingPointError(
            f"{type(model).__name__} ended with weights that are not finite; scale the features"
        )
    return Solution(
        w=w,
        n_passes=float(passes),
        gap=last,
        stopped=stopped,
        trace=monitor.trace,
        objective=last,
        certificate=f"mistaken {counted} of the last pass",
        solver=f"structured {model.update}, {model.averaging}",
    )
