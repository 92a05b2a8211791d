"""The fitted two-class models of a reduction, one per column of its code."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.special import expit, logit
from sklearn.base import is_regressor

from separatrix._core import scores
from separatrix.errors import DataError, ParameterError
from separatrix.learners.linear.base import checked_design
from separatrix.validation import is_sparse, validate_X

__all__ = ["ColumnReport", "Columns", "FittedColumns", "LinearColumns", "SupportColumns"]

FloatArray = npt.NDArray[np.floating[Any]]

#: Products of rows that are kept at a time.
_PRODUCTS = 1 << 24
#: Largest log-odds of a column: probabilities of exactly 0 and 1 have none.
_LARGEST_ODDS = 36.0


class ColumnReport(NamedTuple):
    """How the solver ended, column by column.

    Attributes
    ----------
    objective : ndarray of shape (L,)
        P(w) of every column.
    gap : ndarray of shape (L,)
        Bound or estimate of P(w) - min P.
    n_passes : ndarray of shape (L,)
        Passes over the rows of the column.
    solver : str
        The solver, in words.
    """

    objective: npt.NDArray[np.float64]
    gap: npt.NDArray[np.float64]
    n_passes: npt.NDArray[np.float64]
    solver: str


class Columns(Protocol):
    """What a reduction asks of its fitted columns."""

    def margins(self, owner: Any, X: Any, n_threads: int) -> FloatArray:
        """Scores of shape (n, L), positive for the side of +1."""
        ...

    def proba(self, owner: Any, X: Any, n_threads: int) -> FloatArray:
        """Probabilities of +1, of shape (n, L)."""
        ...


@dataclass(frozen=True, eq=False)
class LinearColumns:
    """Linear scores of all columns: X W + 1 b'.

    Attributes
    ----------
    weights : ndarray of shape (d, L)
        W, feature by feature.
    intercept : ndarray of shape (L,)
        b
    """

    weights: FloatArray
    intercept: FloatArray

    def __sx_check__(self) -> None:
        """Raise DataError unless the arrays of a loaded model agree."""
        if self.weights.ndim != 2 or self.intercept.shape != self.weights.shape[1:]:
            raise DataError(
                f"weights {self.weights.shape} and intercepts {self.intercept.shape} do not agree"
            )

    @property
    def coef(self) -> FloatArray:
        """Weights of shape (L, d)."""
        return self.weights.T

    def margins(self, owner: Any, X: Any, n_threads: int) -> FloatArray:
        """Scores of shape (n, L)."""
        X = validate_X(owner, X, reset=False)
        dtype = np.result_type(X.dtype, self.weights.dtype)
        design = checked_design(owner, X.astype(dtype, copy=False), 1)
        weights = np.ascontiguousarray(self.weights, dtype=dtype)
        work = (X.nnz if is_sparse(X) else X.size) * weights.shape[1]
        result = scores(design, weights, n_threads if work > 1 << 20 else 1)
        result += self.intercept
        return result

    def proba(self, owner: Any, X: Any, n_threads: int) -> FloatArray:
        """Probabilities of +1, for columns fitted with the logistic loss."""
        return np.asarray(expit(self.margins(owner, X, n_threads)))


@dataclass(frozen=True, eq=False)
class SupportColumns:
    """Linear scores through the rows that hold the weights: W = S' A, with more columns than rows.

    Attributes
    ----------
    rows : csr_array or ndarray of shape (m, d)
        S, the training rows with a dual in some column.
    duals : csr_array of shape (L, m)
        A', what each row adds to the weights of each column.
    intercept : ndarray of shape (L,)
        b
    """

    rows: Any
    duals: Any
    intercept: FloatArray

    def __sx_check__(self) -> None:
        """Raise DataError unless the arrays of a loaded model agree."""
        sparse = isinstance(self.duals, sp.csr_array | sp.csr_matrix)
        if not sparse or self.duals.shape != (*self.intercept.shape, self.rows.shape[0]):
            raise DataError("rows, duals and intercepts do not agree")

    @property
    def coef(self) -> Any:
        """Weights of shape (L, d), sparse where the rows are."""
        return self.duals @ self.rows

    def margins(self, owner: Any, X: Any, n_threads: int) -> FloatArray:
        """Scores of shape (n, L)."""
        X = validate_X(owner, X, reset=False)
        checked_design(owner, X, 1)
        n_columns, m = self.duals.shape
        dtype = np.result_type(X.dtype, self.duals.dtype)
        result = np.empty((X.shape[0], n_columns), dtype=dtype)
        block = max(1, _PRODUCTS // max(1, m))
        for first in range(0, X.shape[0], block):
            products = self.rows @ X[first : first + block].T
            products = products.toarray() if is_sparse(products) else np.asarray(products)
            result[first : first + block] = (self.duals @ products).T
        result += self.intercept.astype(dtype)
        return result

    def proba(self, owner: Any, X: Any, n_threads: int) -> FloatArray:
        """Probabilities of +1, for columns fitted with the logistic loss."""
        return np.asarray(expit(self.margins(owner, X, n_threads)))


@dataclass(frozen=True, eq=False)
class FittedColumns:
    """An estimator for every column.

    Attributes
    ----------
    estimators : list of estimators
        Fitted to the labels -1 and +1 (regressors: to these numbers); None for a column without
        rows so far, whose score is 0.
    """

    estimators: list[Any]

    def margins(self, owner: Any, X: Any, n_threads: int) -> FloatArray:
        """Scores of shape (n, L): decision values, log-odds, predicted numbers, or labels."""
        return self._answers(X, _margin, 0.0)

    def proba(self, owner: Any, X: Any, n_threads: int) -> FloatArray:
        """Probabilities of +1, of shape (n, L)."""
        return self._answers(X, _share, 0.5)

    def _answers(self, X: Any, ask: Any, unknown: float) -> FloatArray:
        answers: list[Any] = []
        with warnings.catch_warnings():
            for one in self.estimators:
                answers.append(None if one is None else ask(one, X))
                if one is not None:
                    # The first estimator has told of names that are missing.
                    warnings.filterwarnings("ignore", ".*valid feature names", UserWarning)
        n = len(next(answer for answer in answers if answer is not None))
        plain = np.full(n, unknown)
        return np.column_stack([plain if answer is None else answer for answer in answers])


def _share(estimator: Any, X: Any) -> FloatArray:
    positive = list(estimator.classes_).index(1)
    return np.asarray(estimator.predict_proba(X), dtype=np.float64)[:, positive]


def _margin(estimator: Any, X: Any) -> FloatArray:
    if is_regressor(estimator):
        margin = np.asarray(estimator.predict(X), dtype=np.float64)
    elif hasattr(estimator, "decision_function"):
        margin = np.asarray(estimator.decision_function(X), dtype=np.float64)
    elif hasattr(estimator, "predict_proba"):
        with np.errstate(divide="ignore"):
            margin = np.clip(logit(_share(estimator, X)), -_LARGEST_ODDS, _LARGEST_ODDS)
    else:
        margin = np.asarray(estimator.predict(X), dtype=np.float64)
    if margin.ndim == 2 and margin.shape[1] == 1:
        margin = margin[:, 0]
    if margin.ndim != 1:
        raise ParameterError(
            f"{type(estimator).__name__} gives scores of shape {margin.shape} for two classes; "
            "expected one score per row"
        )
    return margin
