"""Reductions in partitions: every pass serves all columns of the code."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from separatrix.distributed.flat import (
    FlatData,
    check_two_classes,
    choose_solver,
    class_weights,
    solve_flat,
    survey_rows,
)
from separatrix.distributed.objective import DistributedObjective, RemoteScores, added
from separatrix.distributed.partitions import Partitions
from separatrix.distributed.problems import Problem, Setting, make_problem
from separatrix.distributed.rows import aligned
from separatrix.distributed.run import Run
from separatrix.errors import ConvergenceWarning, ParameterError
from separatrix.learners.linear.minimizer import MinimizingClassifier
from separatrix.learners.reductions.base import Reduction
from separatrix.learners.reductions.columns import ColumnReport, FittedColumns, LinearColumns
from separatrix.learners.reductions.separate import Task, check_sides, column_weights
from separatrix.objective import Objective
from separatrix.penalties import Unpenalized
from separatrix.protocols import Array
from separatrix.results import StopReason
from separatrix.structures.labels import FlatScores

__all__ = ["ColumnsLoss", "fit_reduction"]

_LABELS = np.array([-1, 1])


@dataclass(frozen=True, eq=False)
class ColumnsLoss:
    """The sum over columns of a margin loss: targets are signed weights of shape (n, L).

    Examples
    --------
    >>> from separatrix.losses import Hinge
    >>> loss = ColumnsLoss(Hinge())
    >>> loss.value_and_grad(np.array([[0.5, 2.0]]), np.array([[1.0, -2.0]]))
    (array([6.5]), array([[-1.,  2.]]))
    """

    inner: Any
    name: ClassVar[str] = "columns"
    n_scores: ClassVar[int | None] = None

    @property
    def convex(self) -> bool:
        """Whether the loss of a column is."""
        return bool(self.inner.convex)

    @property
    def smooth(self) -> bool:
        """Whether the loss of a column is."""
        return bool(self.inner.smooth)

    def values(self, scores: Array, targets: npt.NDArray[Any]) -> Array:
        """Losses of shape (n, L)."""
        losses: Array = np.abs(targets) * self.inner.value(np.sign(targets) * scores)
        return losses

    def value_and_grad(self, scores: Array, targets: npt.NDArray[Any]) -> tuple[Array, Array]:
        """Losses of shape (n,) and gradients of shape (n, L)."""
        grad = targets * self.inner.derivative(np.sign(targets) * scores)
        return self.values(scores, targets).sum(axis=1), grad

    def curvature_product(
        self, scores: Array, targets: npt.NDArray[Any], direction: Array
    ) -> Array:
        """Second derivatives times a direction."""
        second = np.abs(targets) * self.inner.second(np.sign(targets) * scores)
        product: Array = second * direction
        return product


class ColumnsObjective(DistributedObjective):
    """The sum of the objectives of all columns."""

    @cached_property
    def _sides(self) -> npt.NDArray[np.float64]:
        """C times the weight of negative and positive rows in every column, of shape (2, L)."""
        (sums,) = self.session.reduce(partial_sides, added, self.parts)
        return self.C * np.asarray(sums, dtype=np.float64)

    def imbalance(self, sums: Array) -> tuple[float, float]:
        """As for one margin loss; the column that needs most decides for all."""
        total = float(np.abs(sums).sum())
        if total == 0:
            return 0.0, 0.0
        loss: Any = self.loss
        slope = abs(float(loss.inner.derivative(np.zeros(1))[0]))
        room = slope * np.where(sums > 0, self._sides[1], self._sides[0])
        size = np.abs(sums)
        share = float(np.divide(size, size + room, out=np.zeros_like(size), where=size > 0).max())
        return share, total * self.longest_row


def partial_sides(problem: ColumnsProblem) -> tuple[npt.NDArray[np.float64]]:
    """Sums of the weights of negative and positive rows in every column of one partition."""
    own = problem.table[problem.codes]
    weights = np.ones(len(own)) if problem.weights is None else problem.weights
    return (np.stack([weights @ np.maximum(-own, 0), weights @ np.maximum(own, 0)]),)


class ColumnsProblem(Problem):
    """The rows of a partition with the losses of all columns.

    Attributes
    ----------
    table : ndarray of shape (K, L)
        Signed weight of every class in every column.
    """

    table: npt.NDArray[np.float64]

    def objective(self, held_out: int = -1) -> Objective:
        """The loss part with C = 1."""
        made = self._objectives.get(held_out)
        if made is None:
            base = self.setting.estimator
            score_map = FlatScores(
                self.design,
                self.table.shape[1],
                intercept=base.fit_intercept,
                dtype=self.setting.dtype,
            )
            made = Objective(
                score_map,
                ColumnsLoss(base._loss(2)),
                Unpenalized(),
                self.table[self.codes],
                sample_weight=self.row_weights(held_out),
            )
            self._objectives[held_out] = made
        return made


def columns_problem(problem: Problem, table: npt.NDArray[np.float64], base: Any) -> ColumnsProblem:
    """The same rows for all columns."""
    result = ColumnsProblem(
        problem.number,
        problem.X,
        problem.codes,
        problem.weights,
        problem.setting._replace(estimator=base),
    )
    result.table = aligned(table)
    return result


def column_problem(problem: Problem, entries: npt.NDArray[np.float64], base: Any) -> Problem:
    """The same rows for one column: classes -1 and +1, and nothing for classes left out."""
    own = entries[problem.codes]
    weights = np.abs(own) if problem.weights is None else np.abs(own) * problem.weights
    setting = Setting(base, _LABELS, problem.setting.dtype)
    return Problem(problem.number, problem.X, (own > 0).astype(np.int64), weights, setting)


def column_losses(problem: ColumnsProblem, w: Array) -> tuple[npt.NDArray[np.float64]]:
    """Sums of the losses of every column, with C = 1."""
    objective = problem.objective()
    loss: Any = objective.loss
    losses = loss.values(objective.score_map(aligned(w)), objective.targets)
    weights = problem.weights
    total = losses.sum(axis=0) if weights is None else weights @ losses
    return (np.asarray(total, dtype=np.float64),)


def fit_reduction(run: Run, reduction: Reduction, parts: Partitions) -> None:
    """Fit one-vs-all, all pairs or an output code around a linear learner."""
    reduction._check_parameters()
    base = clone(reduction._base())
    if not isinstance(base, MinimizingClassifier) or base.class_weight is not None:
        raise ParameterError(
            f"on Dask {type(reduction).__name__} takes LinearSVM, LogisticRegression or "
            "LinearClassifier without class_weight"
        )
    if getattr(reduction, "code", None) == "confusion":
        raise ParameterError("code='confusion' is learned from rows at hand; name another code")
    session = run.session
    rows, found = survey_rows(session, reduction, parts)
    check_two_classes(found)
    own = class_weights(reduction.class_weight, found)
    setting = Setting(base, found.classes, found.dtype, own)
    problems = session.keep(make_problem, [(rows[n],) for n in found.full], setting)
    session.release(rows)
    classes = np.arange(len(found.classes))
    sums = found.weights if own is None else own * found.weights
    code = reduction._code(len(classes), None, classes, None)
    task = Task(classes, reduction._task(code, classes, None).table, sums)
    check_sides(task, found.classes)
    data = FlatData(problems, found)
    found.describe(reduction)
    reduction.__dict__.pop("report_", None)
    if base._loss(2).smooth:
        reduction.columns_, reduction.report_ = _together(run, base, data, task.table)
    else:
        reduction.columns_ = _one_by_one(run, base, data, task.table)
    reduction.classes_, reduction.code_ = found.classes, code
    reduction.column_weights_ = column_weights(task)


def _together(
    run: Run, base: Any, data: FlatData, table: npt.NDArray[np.float64]
) -> tuple[LinearColumns, ColumnReport]:
    """Minimize the sum of all columns: they share no weight, so each ends at its own optimum."""
    session, found, n_columns = run.session, data.survey, table.shape[1]
    problems = session.keep(columns_problem, [(p,) for p in data.problems], table, base)
    session.release(data.problems)
    objective = ColumnsObjective(
        session,
        [(problem,) for problem in problems],
        RemoteScores(
            found.n_rows, (found.n_columns + bool(base.fit_intercept), n_columns), found.dtype
        ),
        ColumnsLoss(base._loss(2)),
        base._penalty(),
        C=base.C,
        exempt=bool(base.fit_intercept and not base.penalize_intercept),
    )
    solution = run.minimize(
        choose_solver(base, objective), objective, None, tol=base.tol, max_passes=base.max_iter
    )
    if solution.stopped is StopReason.INTERRUPTED:
        raise KeyboardInterrupt
    if solution.stopped is StopReason.BUDGET:
        warnings.warn(
            f"the columns stopped after {solution.n_passes:.0f} passes with a relative gap of "
            f"{solution.relative_gap:.1e} (tol={base.tol:.0e}). "
            "Raise max_iter, raise tol, or lower C.",
            ConvergenceWarning,
            stacklevel=3,
        )
    (losses,) = session.reduce(column_losses, added, objective.parts, solution.w)
    penalties = [objective.penalty.value(objective.penalized(w)) for w in solution.w.T[:, :, None]]
    ones = np.ones(n_columns)
    report = ColumnReport(
        base.C * losses + np.array(penalties),
        # What all together have left bounds what one has.
        solution.gap * ones,
        solution.n_passes * ones,
        f"{solution.solver}, all columns together",
    )
    w = solution.w.astype(found.dtype)
    weights, b = (w[:-1], w[-1]) if base.fit_intercept else (w, np.zeros(n_columns, w.dtype))
    return LinearColumns(np.ascontiguousarray(weights), b.copy()), report


def _one_by_one(
    run: Run, base: Any, data: FlatData, table: npt.NDArray[np.float64]
) -> FittedColumns:
    """A fit for every column, on the same rows."""
    models = []
    survey = data.survey._replace(classes=_LABELS)
    for number, entries in enumerate(table.T):
        session, model = run.session, clone(base)
        parts = [(problem,) for problem in data.problems]
        problems = session.keep(column_problem, parts, entries.copy(), model)
        own = FlatData(problems, survey)
        solution = solve_flat(run, model, own, model.C, stage=f"column-{number}")
        session.release(problems)
        survey.describe(model)
        model._store(solution, own.training)
        model._finish(solution, model.tol)
        models.append(model)
    return FittedColumns(models)
