"""Learners that minimize P(w) = R(w) + C sum_i c_i loss_i: from checked data to a solution."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from separatrix.errors import DataError
from separatrix.linear.base import BaseLinearClassifier, TrainingData, is_narrow
from separatrix.objective import Objective
from separatrix.protocols import Loss, Regularizer, Solver
from separatrix.results import Monitor, Solution
from separatrix.scores import FlatScores, in_place
from separatrix.solvers import SOLVERS, check_needs, make_solver
from separatrix.solvers.progress import progress
from separatrix.validation import (
    check_choice,
    check_positive,
    is_sparse,
    name_column,
    refuse_dask,
    seed_from,
)

__all__ = ["MinimizingClassifier", "zero_sum"]


class MinimizingClassifier(BaseLinearClassifier):
    """Base of the learners with an objective; subclasses name the loss and the regularizer."""

    C: float
    penalize_intercept: bool
    solver: Any
    tol: float
    max_iter: int
    random_state: Any
    verbose: int

    def _loss(self, n_classes: int) -> Loss:
        """The loss for so many classes."""
        raise NotImplementedError

    def _regularizer(self) -> Regularizer:
        """The penalty."""
        raise NotImplementedError

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Fit the weights.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n, d)
            Training rows.
        y : array-like of shape (n,)
            Labels of any type.
        sample_weight : array-like of shape (n,), optional
            Weight c_i of every row.

        Returns
        -------
        self
            The fitted estimator.
        """
        refuse_dask(self, X, y)
        data = self._take(X, y, sample_weight)
        fits = self._begins_at_last_fit(data.classes, data.design.shape[1])
        start = self.solution_ if fits else None
        solution = self._solve(data, self.C, start)
        self._store(solution, data)
        self._finish(solution, self.tol)
        return self

    def _make_design(self, X: Any, n_threads: int) -> Any:
        solver = SOLVERS.get(self.solver) if isinstance(self.solver, str) else self.solver
        if is_sparse(X) and not is_narrow(X) and getattr(solver, "reads_in_place", False):
            return in_place(X)
        return super()._make_design(X, n_threads)

    def _objective(self, data: TrainingData, C: float) -> Objective:
        """P for this data and this C."""
        check_positive(C=C)
        loss = self._loss(len(data.classes))
        margin = loss.n_scores == 1
        score_map = FlatScores(
            data.design,
            1 if margin else len(data.classes),
            intercept=self.fit_intercept,
            dtype=data.dtype,
            n_threads=data.n_threads,
        )
        return Objective(
            score_map,
            loss,
            self._regularizer(),
            data.signs if margin else data.codes,
            C=C,
            sample_weight=data.weights,
            exempt=self.fit_intercept and not self.penalize_intercept,
        )

    def _solve(self, data: TrainingData, C: float, start: Solution | None = None) -> Solution:
        """Minimize P, from `start` where it fits the problem."""
        check_positive(tol=self.tol, max_iter=self.max_iter)
        check_choice("on_interrupt", self.on_interrupt, ("raise", "keep"))
        objective = self._objective(data, C)
        solver = self._solver(start, objective)
        check_needs(solver, objective)
        w0 = start.w if start is not None and start.w.shape == objective.weight_shape else None
        with progress(type(self).__name__, self.verbose, self.tol) as report:
            monitor = Monitor(tol=self.tol, max_passes=self.max_iter, report=report)
            try:
                solution = solver.minimize(objective, w0, monitor)
            except DataError as error:  # rows that are read in place are checked on the way
                raise name_column(error, self) from None
        # The sum is the quicker look; it may overflow where all weights are finite.
        if not (np.isfinite(solution.w.sum()) or np.isfinite(solution.w).all()):
            raise FloatingPointError(
                f"{solution.solver} ended with weights that are not finite; scale the features"
            )
        return zero_sum(solution, objective)

    def _store(self, solution: Solution, data: TrainingData) -> None:
        super()._store(solution, data)
        if len(data.classes) == 2 and solution.w.shape[1] == 2:
            # Only the difference of the two scores decides.
            w = solution.w.astype(data.dtype)
            self._set_weights(w[:, 1:] - w[:, :1])

    def _solver(self, start: Solution | None, objective: Objective) -> Solver:
        solver = make_solver(self.solver, seed=seed_from(self.random_state))
        if start is None or start.dual is None or not hasattr(solver, "start"):
            return solver
        n = objective.score_map.n_rows
        columns = objective.weight_shape[1]
        if start.dual.shape != ((n,) if columns == 1 else (n, columns)):
            return solver
        warm: Solver = replace(solver, start=start.dual)  # type: ignore[type-var]
        return warm


def zero_sum(solution: Solution, objective: Objective) -> Solution:
    """Shift exempt intercepts to zero sum over the classes: scores move together, P stays."""
    if solution.w.shape[1] == 1 or not objective.exempt:
        return solution
    w = solution.w.copy()
    w[-1] -= w[-1].mean()
    return solution._replace(w=w)
