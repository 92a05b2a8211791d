"""Columns of our own linear learners, fitted together on one design.

The rows are checked and handed to the kernels once. Where the learner's solver is dual coordinate
descent, one call solves all columns, threads taking whole columns; least squares on dense rows
factors one matrix for all; other solvers run column after column on the same design.
"""

from __future__ import annotations

import warnings
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from separatrix._core import solve_columns
from separatrix.errors import ConvergenceWarning, DataError
from separatrix.learners.linear.base import MADE_DENSE, TrainingData, holds_dense
from separatrix.learners.linear.classifier import LinearClassifier
from separatrix.learners.linear.logistic import LogisticRegression
from separatrix.learners.linear.minimizer import MinimizingClassifier
from separatrix.learners.linear.svm import LinearSVM
from separatrix.learners.reductions.columns import ColumnReport, LinearColumns, SupportColumns
from separatrix.learners.reductions.least_squares import least_squares
from separatrix.learners.reductions.separate import Task
from separatrix.losses import Squared, kernel_of
from separatrix.objective import Objective
from separatrix.penalties import L2
from separatrix.results import StopReason
from separatrix.solvers import Auto, DualCoordinateDescent, make_solver
from separatrix.solvers.choose import choose
from separatrix.solvers.dual.coordinate_descent import STALL_PASSES
from separatrix.validation import (
    check_positive,
    check_weights,
    is_sparse,
    name_column,
    seed_from,
    validate_X,
)

__all__ = ["can_share", "fit_shared"]

#: Weights beyond which rows and duals are kept in their place, where that is smaller.
_MOST_WEIGHTS = 1 << 22
#: Features or rows up to which least squares factors a matrix of them.
_MOST_FEATURES = 4096
_LABELS = np.array([-1, 1])


def can_share(estimator: Any) -> bool:
    """Whether all columns of this estimator can be fitted on one design."""
    return (
        type(estimator) in (LinearSVM, LogisticRegression, LinearClassifier)
        and getattr(estimator, "cost", None) is None
        and not estimator.warm_start
        and not estimator.verbose
        and estimator.on_interrupt == "raise"
    )


def fit_shared(
    owner: Any, estimator: MinimizingClassifier, X: Any, task: Task, n_threads: int
) -> tuple[LinearColumns | SupportColumns, ColumnReport]:
    """Fit all columns of a linear learner.

    Parameters
    ----------
    owner : estimator
        The reduction; learns the number and names of the features.
    estimator : LinearSVM, LogisticRegression or LinearClassifier
        The base learner; it is left as it is.
    X : array-like, sparse matrix or DataFrame of shape (n, d)
        Training rows.
    task : Task
        Classes, table and weights.
    n_threads : int
        Threads; the answer does not depend on it.
    """
    X = validate_X(owner, X, reset=True)
    check_positive(C=estimator.C, tol=estimator.tol, max_iter=estimator.max_iter)
    fit = _Fit(owner, estimator, X, task, n_threads)
    dual = fit.dual_patience()
    if dual is not None:
        columns, report, left = fit.by_kernel(dual)
    elif fit.is_least_squares():
        columns, report, left = *fit.by_factoring(), 0
    else:
        columns, report, left = fit.one_by_one()
    if holds_dense(X, fit.design):
        report = report._replace(solver=report.solver + MADE_DENSE)
    if left:
        relative = (report.gap / np.abs(report.objective)).max()
        warnings.warn(
            f"{left} of {task.table.shape[1]} columns of {type(owner).__name__} used up max_iter="
            f"{estimator.max_iter}; their largest relative gap is {relative:.1e} (tol="
            f"{estimator.tol:.0e}). Raise max_iter, raise tol, scale the features, or lower C.",
            ConvergenceWarning,
            stacklevel=4,
        )
    return columns, report


class _Fit:
    """One fit: the design, and the ways to the weights."""

    def __init__(
        self, owner: Any, estimator: MinimizingClassifier, X: Any, task: Task, n_threads: int
    ) -> None:
        self.owner, self.estimator, self.X, self.task = owner, estimator, X, task
        self.n_threads = n_threads
        self.n_columns = task.table.shape[1]
        try:
            self.design = estimator._make_design(X, n_threads, two_classes=True)
        except DataError as error:
            raise name_column(error, owner) from None
        self.seed = seed_from(estimator.random_state)

    # -- what can be done --------------------------------------------------------------------

    def data_of(self, column: int) -> TrainingData:
        """The two-class problem of a column, its rows cut out unless it has all of them."""
        rows, labels, weights = self.task.column(column)
        design = self.design
        X = self.X
        if rows is not None:
            X = X[rows]
            design = self.estimator._make_design(X, self.n_threads, two_classes=True)
        codes = (labels > 0).astype(np.int64)
        weights = check_weights(
            weights, self.estimator.class_weight, X, _LABELS, codes, two_classes=True
        )
        return TrainingData(design, self.X.dtype, _LABELS, codes, weights, self.n_threads)

    @cached_property
    def _example(self) -> Objective:
        """P of a problem with all rows: what its parts are decides about the solver."""
        codes = (np.arange(len(self.task.codes)) % 2).astype(np.int64)
        data = TrainingData(self.design, self.X.dtype, _LABELS, codes, None, self.n_threads)
        return self.estimator._objective(data, self.estimator.C)

    def dual_patience(self) -> float | None:
        """None unless the learner's solver is dual coordinate descent; else its patience."""
        objective = self._example
        solver = make_solver(self.estimator.solver, seed=self.seed)
        if "dual" not in objective.can or objective.loss.n_scores != 1:
            return None
        if isinstance(solver, Auto) and solver.start is None:
            # One call for all columns of sparse rows beats any solver that sees them one by one.
            dual = "dense" not in objective.can
            dual = dual or isinstance(choose(objective), DualCoordinateDescent)
            can_hand_over = "hvp" in objective.can and not self._wants_duals()
            return (STALL_PASSES if can_hand_over else np.inf) if dual else None
        if isinstance(solver, DualCoordinateDescent) and solver.start is None:
            self.seed = solver.seed
            return STALL_PASSES if solver.give_up_when_stalled else np.inf
        return None

    def _wants_duals(self) -> bool:
        """Whether the weights of all columns take more room than the rows that hold them."""
        n_weights = self.X.shape[1] * self.n_columns
        stored = self.X.nnz if is_sparse(self.X) else self.X.size
        used = np.bincount(self.task.codes, minlength=len(self.task.table)) @ (self.task.table != 0)
        return bool(n_weights > _MOST_WEIGHTS and stored + used.sum() < n_weights // 8)

    def _intercept(self, objective: Objective) -> str:
        if not self.estimator.fit_intercept:
            return "none"
        return "free" if objective.exempt else "penalized"

    def _rates(self) -> npt.NDArray[np.float64]:
        """C times the weights of the rows."""
        rates = np.full(len(self.task.codes), float(self.estimator.C))
        return rates if self.task.weights is None else rates * self.task.weights

    # -- dual coordinate descent -------------------------------------------------------------

    def by_kernel(
        self, patience: float
    ) -> tuple[LinearColumns | SupportColumns, ColumnReport, int]:
        """One call for all columns; columns that stall are fitted as the learner would alone."""
        model = self.estimator
        objective = self._example
        kernel = kernel_of(objective.loss)
        assert kernel is not None  # "dual" is among its capabilities
        keep = not self._wants_duals()
        try:
            weights, support, (b, values, gaps, passes, endings) = solve_columns(
                self.design,
                self.task.codes,
                self._weighted_table(),
                self._rates(),
                kernel.name,
                self._intercept(objective),
                self.seed,
                float(model.tol),
                float(model.max_iter),
                float(patience),
                keep,
                self.n_threads,
            )
        except DataError as error:
            raise name_column(error, self.owner) from None
        dtype = self.X.dtype
        words = kernel.name.replace("_", " ")
        report = ColumnReport(values, gaps, passes, f"dual coordinate descent ({words})")
        left = int((endings == 1).sum())
        if weights is None:
            left += int((endings == 2).sum())
            return self._support(support, b.astype(dtype)), report, left
        for column in np.flatnonzero(endings == 2):
            weights[:, column], b[column], ended = self._alone(int(column), report)
            left += not ended
        return LinearColumns(weights, b.astype(dtype)), report, left

    def _weighted_table(self) -> npt.NDArray[np.float64]:
        """The table, times the class weights of the base learner (of -1 and of +1)."""
        table = np.ascontiguousarray(self.task.table, dtype=np.float64)
        if self.estimator.class_weight is None:
            return table
        table = table.copy()
        for column in range(self.n_columns):
            _, labels, _ = self.task.column(column)
            codes = (labels > 0).astype(np.int64)
            weights = check_weights(None, self.estimator.class_weight, None, _LABELS, codes)
            assert weights is not None
            for sign in _LABELS:
                per_sign = weights[np.argmax(labels == sign)]
                table[np.sign(table[:, column]) == sign, column] *= per_sign
        return table

    def _support(self, support: Any, b: npt.NDArray[Any]) -> SupportColumns:
        starts, rows, values = support
        used, places = np.unique(rows, return_inverse=True)
        duals = sp.csr_array(
            (values.astype(self.X.dtype), places.astype(np.int32), starts.astype(np.int32)),
            shape=(self.n_columns, len(used)),
        )
        held = self.X[used]
        return SupportColumns(sp.csr_array(held) if is_sparse(held) else held, duals, b)

    # -- least squares -----------------------------------------------------------------------

    def is_least_squares(self) -> bool:
        """Whether factored matrices solve the columns: squared loss on dense rows."""
        objective = self._example
        return bool(
            type(objective.loss) is Squared
            and type(objective.penalty) is L2
            and "dense" in objective.can
            and isinstance(make_solver(self.estimator.solver, seed=self.seed), Auto)
            and min(self.X.shape) <= _MOST_FEATURES
        )

    def by_factoring(self) -> tuple[LinearColumns, ColumnReport]:
        """A matrix factored once for all columns, or once for each where their rows differ."""
        model, dtype = self.estimator, self.X.dtype
        intercept = self._intercept(self._example)
        X, table = self.design.values, self.task.table
        if (np.abs(table) == 1).all() and model.class_weight is None:
            W, b, values = least_squares(X, table[self.task.codes], self._rates(), intercept)
            words = "Cholesky factors of one matrix"
        else:
            W = np.empty((X.shape[1], self.n_columns), dtype=dtype)
            b, values = np.empty((2, self.n_columns))
            for column in range(self.n_columns):
                data = self.data_of(column)
                rates = np.full(len(data.codes), float(model.C))
                if data.weights is not None:
                    rates *= data.weights
                own: Any = data.design.values  # type: ignore[union-attr]
                targets = data.signs[:, None]
                w, b[[column]], values[[column]] = least_squares(own, targets, rates, intercept)
                W[:, column] = w[:, 0]
            words = "Cholesky factors of a matrix per column"
        ones, zeros = np.ones(self.n_columns), np.zeros(self.n_columns)
        weights = np.ascontiguousarray(W, dtype=dtype)
        return LinearColumns(weights, b.astype(dtype)), ColumnReport(values, zeros, ones, words)

    # -- any solver --------------------------------------------------------------------------

    def _alone(self, column: int, report: ColumnReport) -> tuple[npt.NDArray[Any], float, bool]:
        """Weights, intercept and whether it converged, of a column by the learner's own solver."""
        model = self.estimator
        solution = model._solve(self.data_of(column), model.C)
        report.objective[column], report.gap[column] = solution.objective, solution.gap
        report.n_passes[column] = solution.n_passes
        w = solution.w[:, 0]
        weights, b = (w[:-1], float(w[-1])) if model.fit_intercept else (w, 0.0)
        self.solver = solution.solver
        return weights, b, solution.stopped is StopReason.CONVERGED

    def one_by_one(self) -> tuple[LinearColumns, ColumnReport, int]:
        """Column after column, by the learner's own solver."""
        shape = (self.X.shape[1], self.n_columns)
        weights, b = np.empty(shape, dtype=self.X.dtype), np.empty(self.n_columns)
        values, gaps, passes = np.empty((3, self.n_columns))
        report = ColumnReport(values, gaps, passes, "")
        left = 0
        for column in range(self.n_columns):
            weights[:, column], b[column], ended = self._alone(column, report)
            left += not ended
        report = report._replace(solver=self.solver)
        return LinearColumns(weights, b.astype(self.X.dtype)), report, left
