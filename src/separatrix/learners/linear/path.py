"""One warm-started run over a grid of C."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from separatrix.errors import ParameterError
from separatrix.learners.linear.base import TrainingData
from separatrix.learners.linear.minimizer import MinimizingClassifier
from separatrix.results import Solution

__all__ = ["RegularizationPath", "check_grid", "follow_path", "regularization_path"]


@dataclass(frozen=True)
class RegularizationPath:
    """Solutions along a grid of C, in the order the grid was given.

    Attributes
    ----------
    Cs : ndarray of shape (m,)
        The grid.
    estimators : list of estimators
        A fitted estimator for every C.
    """

    Cs: npt.NDArray[np.float64]
    estimators: list[Any]

    @property
    def solutions(self) -> list[Solution]:
        """Record of the solver for every C."""
        return [model.solution_ for model in self.estimators]

    @property
    def coefs(self) -> npt.NDArray[Any]:
        """Weights of shape (m, 1, d) or (m, K, d)."""
        return np.stack([model.coef_ for model in self.estimators])

    @property
    def intercepts(self) -> npt.NDArray[Any]:
        """Intercepts of shape (m, 1) or (m, K)."""
        return np.stack([model.intercept_ for model in self.estimators])

    @property
    def objectives(self) -> npt.NDArray[np.float64]:
        """P(w) for every C."""
        return np.array([solution.objective for solution in self.solutions])

    def estimator(self, index: int) -> Any:
        """The fitted estimator for ``Cs[index]``."""
        return self.estimators[index]


def regularization_path(
    estimator: MinimizingClassifier,
    X: Any,
    y: Any,
    Cs: Sequence[float] | npt.NDArray[np.float64] | None = None,
    *,
    sample_weight: Any = None,
    callback: Callable[[Any], None] | None = None,
) -> RegularizationPath:
    """Fit `estimator` for every C of a grid, each from the solution of the next smaller C.

    The data is checked and handed over once, and dual variables are kept from one C to the next.

    Parameters
    ----------
    estimator : LogisticRegression, LinearSVM or LinearClassifier
        What to fit; its own C is ignored. It is left as it is.
    X : array-like, sparse matrix or DataFrame of shape (n, d)
        Training rows.
    y : array-like of shape (n,)
        Labels.
    Cs : sequence of float, optional
        The grid; by default 10^-3 … 10^4, which is gamma = 1/C = 10^3 … 10^-4.
    sample_weight : array-like of shape (n,), optional
        Weight of every row.
    callback : callable, optional
        Called with the fitted estimator after every C.

    Returns
    -------
    RegularizationPath
        A fitted estimator for every C.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from separatrix import LogisticRegression, regularization_path
    >>> X, y = load_iris(return_X_y=True)
    >>> path = regularization_path(LogisticRegression(), X, y, [0.01, 1.0, 100.0])
    >>> path.coefs.shape
    (3, 3, 4)
    """
    grid = check_grid(Cs)
    fitted: list[Any] = [None] * len(grid)
    models = follow_path(estimator, X, y, grid, sample_weight=sample_weight)
    for index, model in zip(np.argsort(grid, kind="stable"), models, strict=True):
        fitted[index] = model
        if callback is not None:
            callback(model)
    return RegularizationPath(grid, fitted)


def follow_path(
    estimator: MinimizingClassifier,
    X: Any,
    y: Any,
    Cs: Sequence[float] | npt.NDArray[np.float64] | None = None,
    *,
    sample_weight: Any = None,
    start: Solution | None = None,
) -> Iterator[Any]:
    """The estimators of `regularization_path` one by one, from the smallest C up.

    A search that has seen enough stops asking, and the rest of the path costs nothing. The first
    fit begins at `start`, the solution of a problem that had the first of these rows, or these and
    more after them; its columns may have been others.
    """
    if not isinstance(estimator, MinimizingClassifier):
        raise ParameterError(
            f"{type(estimator).__name__} has no C to follow; a path needs LogisticRegression, "
            "LinearSVM or LinearClassifier"
        )
    grid = check_grid(Cs)
    taker = clone(estimator)
    data = taker._take(X, y, sample_weight)
    previous = None if start is None else _carried_over(start, data, taker.fit_intercept)
    for C in np.sort(grid):
        model, previous = _fit_one(taker, data, float(C), previous)
        yield model


def _carried_over(solution: Solution, data: TrainingData, intercept: bool) -> Solution:
    """A start for these rows: new ones have no dual yet, and new columns no weight."""
    n, dual, w = len(data.codes), solution.dual, solution.w
    if dual is not None:
        new = np.zeros((max(0, n - len(dual)), *dual.shape[1:]))
        dual = np.concatenate([dual[:n], new])
    shape = (data.design.shape[1] + int(intercept), w.shape[1])
    if w.shape != shape:
        w = np.zeros(shape)
        if intercept:
            w[-1] = solution.w[-1]
    return solution._replace(w=w, dual=dual)


def check_grid(Cs: Any) -> npt.NDArray[np.float64]:
    """The grid as an array; the default one for None."""
    grid = np.logspace(-3, 4, 8) if Cs is None else np.asarray(Cs, dtype=np.float64)
    if grid.ndim != 1 or len(grid) == 0:
        raise ParameterError(f"Cs must be a non-empty list of numbers, got shape {grid.shape}")
    return grid


def _fit_one(
    taker: MinimizingClassifier, data: TrainingData, C: float, start: Solution | None
) -> tuple[MinimizingClassifier, Solution]:
    model: MinimizingClassifier = clone(taker).set_params(C=C)
    for name in ("n_features_in_", "feature_names_in_"):
        if hasattr(taker, name):
            setattr(model, name, getattr(taker, name))
    solution = model._solve(data, C, start)
    model._store(solution, data)
    model._finish(solution, model.tol)
    return model, solution
