"""Columns fitted one by one, through joblib: for any estimator."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.base import clone, is_regressor
from sklearn.utils import _safe_indexing
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import has_fit_parameter

from separatrix.errors import DataError, ParameterError
from separatrix.learners.reductions.columns import FittedColumns

__all__ = ["Task", "check_sides", "column_weights", "fit_separately", "update_separately"]


class Task(NamedTuple):
    """What the columns are to learn.

    Attributes
    ----------
    codes : ndarray of shape (n,)
        Class numbers of the rows.
    table : ndarray of shape (K, L)
        Signed weight of each class in each column; zero leaves the class out.
    weights : ndarray of shape (n,) or None
        Row weights; None stands for ones.
    """

    codes: npt.NDArray[np.int64]
    table: npt.NDArray[np.float64]
    weights: npt.NDArray[np.float64] | None

    def column(
        self, index: int
    ) -> tuple[npt.NDArray[np.intp] | None, npt.NDArray[np.int64], npt.NDArray[np.float64] | None]:
        """Rows (None for all), labels -1 and +1, and weights (None for ones) of a column."""
        entries = self.table[self.codes, index]
        used = entries != 0
        rows = None if used.all() else np.flatnonzero(used)
        if rows is not None:
            entries = entries[rows]
        labels = np.where(entries > 0, 1, -1)
        size = np.abs(entries)
        own = self.weights if self.weights is None or rows is None else self.weights[rows]
        if own is None:
            return rows, labels, None if (size == 1).all() else size
        return rows, labels, size * own


def column_weights(task: Task) -> npt.NDArray[np.float64]:
    """Sums of the weights of the rows in every column."""
    sums = np.bincount(task.codes, weights=task.weights, minlength=len(task.table))
    return np.asarray(sums @ np.abs(task.table), dtype=np.float64)


def check_sides(task: Task, classes: npt.NDArray[Any]) -> None:
    """Raise DataError where a column has rows of positive weight on one side only."""
    sums = np.bincount(task.codes, weights=task.weights, minlength=len(task.table))
    for sign in (1, -1):
        empty = ((sign * task.table > 0) * sums[:, None]).sum(axis=0) <= 0
        if empty.any():
            column = int(np.argmax(empty))
            raise DataError(
                f"column {column} of the code has no rows of positive weight and cost at its "
                f"{sign:+d}; the weights of the classes {classes.tolist()} sum to {sums.tolist()}"
            )


def _arguments(estimator: Any, weights: Any) -> dict[str, Any]:
    if weights is None:
        return {}
    if not has_fit_parameter(estimator, "sample_weight"):
        raise ParameterError(
            f"{type(estimator).__name__} takes no sample_weight, which weights and costs of the "
            "classes need; leave them out or take another estimator"
        )
    return {"sample_weight": weights}


def _targets(estimator: Any, labels: npt.NDArray[np.int64]) -> npt.NDArray[Any]:
    return labels.astype(np.float64) if is_regressor(estimator) else labels


def _fit_one(estimator: Any, X: Any, task: Task, index: int) -> Any:
    rows, labels, weights = task.column(index)
    own = X if rows is None else _safe_indexing(X, rows)
    model = clone(estimator)
    model.fit(own, _targets(model, labels), **_arguments(model, weights))
    return model


def fit_separately(estimator: Any, X: Any, task: Task, n_jobs: int | None) -> FittedColumns:
    """Fit a copy of the estimator for every column, in parallel."""
    work = delayed(_fit_one)
    models = Parallel(n_jobs=n_jobs)(
        work(estimator, X, task, index) for index in range(task.table.shape[1])
    )
    return FittedColumns(list(models))


def _update_one(model: Any, estimator: Any, X: Any, task: Task, index: int) -> Any:
    rows, labels, weights = task.column(index)
    if len(labels) == 0:
        return model
    own = X if rows is None else _safe_indexing(X, rows)
    first = model is None
    model = clone(estimator) if first else model
    arguments = _arguments(model, weights)
    if first and not is_regressor(model):
        arguments["classes"] = np.array([-1, 1])
    model.partial_fit(own, _targets(model, labels), **arguments)
    return model


def update_separately(
    columns: FittedColumns | None, estimator: Any, X: Any, task: Task, n_jobs: int | None
) -> FittedColumns:
    """Go on fitting the columns with further rows, by `partial_fit` of their estimators."""
    n_columns = task.table.shape[1]
    before = [None] * n_columns if columns is None else columns.estimators
    work = delayed(_update_one)
    models = Parallel(n_jobs=n_jobs)(
        work(model, estimator, X, task, index) for index, model in enumerate(before)
    )
    return FittedColumns(list(models))
