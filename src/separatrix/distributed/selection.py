"""Paths over C and cross-validation on rows that stay where they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from separatrix.distributed.flat import FlatData, read_flat, solve_flat
from separatrix.distributed.objective import added
from separatrix.distributed.partitions import partitions_of
from separatrix.distributed.problems import Problem
from separatrix.distributed.rows import aligned
from separatrix.distributed.run import Run
from separatrix.distributed.session import Session, active_client
from separatrix.errors import ParameterError
from separatrix.learners.linear.minimizer import MinimizingClassifier
from separatrix.learners.linear.path import RegularizationPath, check_grid
from separatrix.progress import fitting
from separatrix.protocols import Array
from separatrix.results import Solution
from separatrix.validation import seed_from

__all__ = ["CrossValidation", "cross_validate", "regularization_path"]

FloatArray = npt.NDArray[np.float64]


def regularization_path(
    estimator: MinimizingClassifier,
    X: Any,
    y: Any,
    Cs: Sequence[float] | FloatArray | None = None,
    *,
    sample_weight: Any = None,
    client: Any = None,
) -> RegularizationPath:
    """Fit `estimator` for every C of a grid, each from the solution of the next smaller C.

    The partitions are read once, and every pass of every fit is spread over the workers.

    Parameters
    ----------
    estimator : LogisticRegression, LinearSVM or LinearClassifier
        What to fit; its own C is ignored. It is left as it is.
    X, y, sample_weight : dask collections
        As for `fit`.
    Cs : sequence of float, optional
        The grid; by default 10^-3 … 10^4.
    client : distributed.Client, optional
        As for `fit`.

    Returns
    -------
    RegularizationPath
        A fitted estimator for every C, in the order of the grid.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from sklearn.datasets import load_iris
    >>> from separatrix import LogisticRegression
    >>> from separatrix.distributed import regularization_path
    >>> X, y = (da.from_array(part, chunks=50) for part in load_iris(return_X_y=True))
    >>> with Client(processes=False, dashboard_address=None) as client:
    ...     path = regularization_path(LogisticRegression(), X, y, [0.1, 10.0], client=client)
    >>> path.coefs.shape
    (2, 3, 4)
    """
    grid = check_grid(Cs)
    fitted: list[Any] = [None] * len(grid)
    for run, data in _reading(estimator, X, y, sample_weight, client):
        for index, model in _follow(run, estimator, data, grid):
            fitted[index] = model
    return RegularizationPath(grid, fitted)


class CrossValidation(NamedTuple):
    """Scores of a cross-validation.

    Attributes
    ----------
    Cs : ndarray of shape (m,)
        The grid.
    scores : ndarray of shape (m, folds)
        Accuracy on the rows that were held out, by weight.
    """

    Cs: FloatArray
    scores: FloatArray

    @property
    def best_C(self) -> float:
        """The C of the highest mean score; the smallest of equals."""
        order = np.argsort(self.Cs, kind="stable")
        return float(self.Cs[order[np.argmax(self.scores.mean(axis=1)[order])]])


def cross_validate(
    estimator: MinimizingClassifier,
    X: Any,
    y: Any,
    Cs: Sequence[float] | FloatArray | None = None,
    *,
    cv: int = 5,
    sample_weight: Any = None,
    random_state: Any = 0,
    client: Any = None,
) -> CrossValidation:
    """Accuracy of every C on rows that were held out, fold after fold.

    Each partition deals its own rows at random to the folds, so that none is moved; a fold follows
    the path over C on the rows of the others.

    Parameters
    ----------
    estimator : LogisticRegression, LinearSVM or LinearClassifier
        What to fit; it is left as it is.
    X, y, sample_weight : dask collections
        As for `fit`.
    Cs : sequence of float, optional
        The grid; by default 10^-3 … 10^4.
    cv : int, default=5
        Number of folds.
    random_state : int, RandomState or None, default=0
        Seed of the folds.
    client : distributed.Client, optional
        As for `fit`.

    Returns
    -------
    CrossValidation
        The scores, and the best C.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from sklearn.datasets import load_iris
    >>> from separatrix import LogisticRegression
    >>> from separatrix.distributed import cross_validate
    >>> X, y = (da.from_array(part, chunks=50) for part in load_iris(return_X_y=True))
    >>> with Client(processes=False, dashboard_address=None) as client:
    ...     found = cross_validate(LogisticRegression(), X, y, [0.001, 1.0], cv=2, client=client)
    >>> found.best_C
    1.0
    """
    if not isinstance(cv, int | np.integer) or cv < 2:
        raise ParameterError(f"cv must be a number of folds, at least 2, got {cv!r}")
    grid = check_grid(Cs)
    scores = np.empty((len(grid), cv))
    reading = _reading(estimator, X, y, sample_weight, client, cv, seed_from(random_state))
    for run, data in reading:
        for fold in range(cv):
            parts = [(problem, fold) for problem in data.problems]
            for index, model in _follow(run, estimator, data, grid, fold):
                w = np.vstack([model.coef_.T, model.intercept_[None]])
                if not model.fit_intercept:
                    w = w[:-1]
                right, total = run.session.reduce(_right, added, parts, np.ascontiguousarray(w))
                scores[index, fold] = right / total
    return CrossValidation(grid, scores)


def _reading(
    estimator: Any, X: Any, y: Any, weights: Any, client: Any, folds: int = 0, seed: int = 0
) -> Iterator[tuple[Run, FlatData]]:
    """The partitions, read once; they are let go when the loop over this ends."""
    if not isinstance(estimator, MinimizingClassifier):
        raise ParameterError(
            f"{type(estimator).__name__} has no C to follow; a path needs LogisticRegression, "
            "LinearSVM or LinearClassifier"
        )
    parts = partitions_of(X, y, weights)
    taker = clone(estimator)
    with (
        active_client(client) as found,
        fitting(type(estimator).__name__, taker.verbose, taker.tol) as watch,
        Session(found, watch.on_partition) as session,
    ):
        run = Run(session, taker, on_pass=watch.on_pass)
        yield run, read_flat(session, taker, parts, folds=folds, seed=seed)


def _follow(
    run: Run, estimator: Any, data: FlatData, grid: FloatArray, fold: int | None = None
) -> Iterator[tuple[int, Any]]:
    """Numbers and fitted models of a path, from the smallest C up."""
    before: Solution | None = None
    for index in np.argsort(grid, kind="stable").tolist():
        model = clone(estimator).set_params(C=float(grid[index]))
        state = () if fold is None else (fold,)
        before = solve_flat(run, model, data, model.C, before, state)
        data.survey.describe(model)
        model._store(before, data.training)
        model._finish(before, model.tol)
        yield index, model


def _right(problem: Problem, fold: int, w: Array) -> tuple[float, float]:
    """Weight of the rows of a fold that are labeled right, and of all of them."""
    weights: FloatArray = np.asarray(problem.fold == fold, dtype=np.float64)
    if problem.weights is not None:
        weights = weights * problem.weights
    X, w = problem.X, aligned(w)
    scores = np.asarray(X @ w[: X.shape[1]])
    if len(w) > X.shape[1]:
        scores = scores + w[-1]
    winners = scores[:, 0] > 0 if scores.shape[1] == 1 else scores.argmax(axis=1)
    return float(weights @ (winners == problem.codes)), float(weights.sum())
