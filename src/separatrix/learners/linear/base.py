"""What every flat linear classifier shares: taking data in, scoring, predicting."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from separatrix._core import scores
from separatrix.errors import ConvergenceWarning, DataError
from separatrix.protocols import Array
from separatrix.results import Solution, StopReason
from separatrix.structures.labels import Design, make_design
from separatrix.validation import (
    NamesElsewhere,
    check_choice,
    check_given,
    check_weights,
    encode_known_labels,
    encode_labels,
    is_sparse,
    name_column,
    number_of_threads,
    starts_at_last_fit,
    validate_X,
)

__all__ = [
    "BaseLinearClassifier",
    "TrainingData",
    "checked_design",
    "is_narrow",
    "warn_unless_converged",
]

#: Sparse data of at most so many columns and cells are trained on as dense data, those of two
#: classes where this share of the cells is filled: Hessians of sparse rows are cheap there.
_NARROW, _SMALL, _FILLED = 256, 1 << 23, 0.4
#: What the record of a solver says then.
MADE_DENSE = ", sparse rows made dense"


@dataclass(frozen=True)
class TrainingData:
    """Checked data on its way to a solver.

    Attributes
    ----------
    design : Csr or Dense
        Handle on X.
    dtype : dtype
        float32 or float64, as X came.
    classes : ndarray of shape (K,)
        The labels, sorted.
    codes : ndarray of shape (n,)
        Class numbers.
    weights : ndarray of shape (n,) or None
        Row weights; None stands for ones.
    n_threads : int
        Threads to use.
    made_dense : bool
        Whether sparse rows are held as dense ones, which the record of the solver then says.
    """

    design: Design
    dtype: np.dtype[Any]
    classes: npt.NDArray[Any]
    codes: npt.NDArray[np.int64]
    weights: npt.NDArray[np.float64] | None
    n_threads: int
    made_dense: bool = field(default=False, kw_only=True)

    @property
    def signs(self) -> npt.NDArray[np.float64]:
        """+1 for the second class, -1 for the first."""
        signs = self.codes.astype(np.float64)
        signs *= 2.0
        signs -= 1.0
        return signs


def checked_design(estimator: Any, X: Any, n_threads: int) -> Design:
    """A handle on X; DataError names the first cell that is not finite."""
    try:
        return make_design(X, n_threads)
    except DataError as error:
        raise name_column(error, estimator) from None


def is_narrow(X: Any, *, two_classes: bool = False) -> bool:
    """Whether sparse data is better trained on as dense data."""
    if not is_small(*X.shape):
        return False
    return bool(not two_classes or X.nnz >= _FILLED * X.shape[0] * X.shape[1])


def holds_dense(X: Any, design: Design) -> bool:
    """Whether the handle on sparse rows holds them as dense ones."""
    return is_sparse(X) and hasattr(design, "values")


def is_small(n_rows: int, n_columns: int) -> bool:
    """Whether so many cells and columns may be held as dense data."""
    return n_columns <= _NARROW and n_rows * n_columns <= _SMALL


def warn_unless_converged(name: str, solution: Solution, tol: float, advice: str) -> None:
    """Warn where a run ended without the promise of `tol`, though there is one to be had.

    Parameters
    ----------
    name : str
        What was fitted.
    solution : Solution
        How the run ended. Stationary points warn of nothing: no bound is known for them.
    tol : float
        What was requested.
    advice : str
        What else may help, after raising max_iter and tol.
    """
    found = f"a relative gap of {solution.relative_gap:.1e} (tol={tol:.0e}, {solution.solver})"
    if solution.stopped is StopReason.BUDGET:
        message = (
            f"{name} stopped after {solution.n_passes:.0f} passes with {found}. "
            f"Raise max_iter, raise tol, {advice}."
        )
    elif solution.stopped is StopReason.PRECISION:
        message = f"{name} came as far as floating point allows, to {found}. Raise tol, {advice}."
    else:
        return
    warnings.warn(message, ConvergenceWarning, stacklevel=4)


@dataclass(eq=False, repr=False, kw_only=True)
class BaseLinearClassifier(NamesElsewhere, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Base of the flat learners: s(x) = W x + b, the label of the highest score wins.

    Subclasses fit and call `_store`; with two classes there is one score, positive for the second.
    """

    #: Fitted attributes that a model file keeps; subclasses add theirs.
    __sx_state__: ClassVar[tuple[str, ...]] = (
        "coef_",
        "intercept_",
        "classes_",
        "n_iter_",
        "solution_",
    )

    _elsewhere: ClassVar[Mapping[str, str]] = {
        "multi_class": "many classes are learned together; separatrix.OneVsAll(estimator) learns "
        "each against the rest",
        "n_iter": "say max_iter",
        "validation_fraction": "`separatrix compare` tunes on held-out rows",
    }

    coef_: npt.NDArray[Any] = field(init=False)
    intercept_: npt.NDArray[Any] = field(init=False)
    classes_: npt.NDArray[Any] = field(init=False)
    solution_: Solution = field(init=False)
    n_iter_: int = field(init=False)
    n_features_in_: int = field(init=False)
    fit_intercept: bool = True
    class_weight: Any = None
    warm_start: bool = False
    on_interrupt: str = "raise"
    n_jobs: int | None = None
    random_state: Any = None
    verbose: int = 0

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def __sx_check__(self) -> None:
        """Raise DataError unless the arrays of a loaded model agree with each other."""
        if not hasattr(self, "coef_"):
            return
        k = len(self.classes_)
        shape = (1 if k == 2 else k, self.n_features_in_)
        if self.classes_.ndim != 1 or self.coef_.shape != shape:
            raise DataError(f"coef_ has shape {self.coef_.shape}, expected {shape}")
        if self.intercept_.shape != shape[:1]:
            raise DataError(f"intercept_ has shape {self.intercept_.shape}, expected {shape[:1]}")
        if self.coef_.dtype not in (np.float64, np.float32):
            raise DataError(f"coef_ has dtype {self.coef_.dtype}")

    def _take(
        self, X: Any, y: Any, sample_weight: Any, *, classes: Any = None, reset: bool = True
    ) -> TrainingData:
        """Check X, y and the weights, and hand X to the kernels.

        With `classes` given (partial_fit), y may hold any of them and needs not hold two.
        """
        check_given(self, y)
        n_threads = number_of_threads(self.n_jobs)
        X = validate_X(self, X, reset=reset)
        two_classes = classes is None
        if classes is None:
            classes, codes = encode_labels(y, X.shape[0])
        else:
            classes = np.asarray(classes)
            codes = encode_known_labels(y, X.shape[0], classes)
        weights = check_weights(
            sample_weight,
            self.class_weight,
            X,
            classes,
            codes,
            two_classes=two_classes,
        )
        design = self._make_design(X, n_threads, len(classes) == 2)
        return TrainingData(
            design,
            X.dtype,
            classes,
            codes,
            weights,
            n_threads,
            made_dense=holds_dense(X, design),
        )

    def _make_design(self, X: Any, n_threads: int, two_classes: bool) -> Any:
        """A handle on X for the solver."""
        design = checked_design(self, X, n_threads)
        if is_sparse(X) and is_narrow(X, two_classes=two_classes):
            # Exact methods for dense data are both faster and more accurate on narrow data.
            design = make_design(X.toarray(), n_threads)
        return design

    def _begins_at_last_fit(self, classes: npt.NDArray[Any], n_features: int) -> bool:
        """Whether to start at the weights of the last fit; says so where they are of no use."""
        if not self.warm_start or not hasattr(self, "coef_"):
            return False
        return starts_at_last_fit(
            self,
            labels=(self.classes_, classes),
            features=(self.coef_.shape[1], n_features),
            intercepts=(self._learned_intercept(), bool(self.fit_intercept)),
        )

    def _learned_intercept(self) -> bool:
        """Whether the last fit learned intercepts, whatever `fit_intercept` is by now."""
        return bool(len(self.solution_.w) > self.coef_.shape[1])

    def _store(self, solution: Solution, data: TrainingData) -> None:
        """Keep a solution: `coef_`, `intercept_`, `classes_`, `n_iter_`, `solution_`."""
        if data.made_dense and not solution.solver.endswith(MADE_DENSE):
            solution = solution._replace(solver=solution.solver + MADE_DENSE)
        self.solution_ = solution
        self.classes_ = data.classes
        self.n_iter_ = max(1, int(np.ceil(solution.n_passes)))
        w = solution.w.astype(data.dtype, copy=False)
        self._set_weights(w)

    def _set_weights(self, w: Array) -> None:
        # coef_ is a transposed view, so that coef_.T is feature-major without a copy.
        if self.fit_intercept:
            self.coef_, self.intercept_ = w[:-1].T, w[-1].copy()
        else:
            self.coef_, self.intercept_ = w.T, np.zeros(w.shape[1], dtype=w.dtype)

    def _finish(self, solution: Solution, tol: float) -> None:
        """Raise KeyboardInterrupt or warn, according to how the solver stopped."""
        check_choice("on_interrupt", self.on_interrupt, ("raise", "keep"))
        if solution.stopped is StopReason.INTERRUPTED and self.on_interrupt == "raise":
            raise KeyboardInterrupt
        warn_unless_converged(type(self).__name__, solution, tol, "scale the features, or lower C")

    def _scores(self, X: Any) -> Array:
        """Scores of shape (n, K), or (n, 1) for two classes."""
        if not hasattr(self, "coef_"):
            check_is_fitted(self)
        if not self._usable_as_it_is(X):
            X = validate_X(self, X, reset=False)
        coef = self.coef_.T
        dtype = np.result_type(X.dtype, coef.dtype)
        design = checked_design(self, X.astype(dtype, copy=False), 1)
        work = (X.nnz if is_sparse(X) else X.size) * coef.shape[1]
        n_threads = number_of_threads(self.n_jobs) if work > 1 << 20 else 1
        weights = np.ascontiguousarray(coef, dtype=dtype)
        result = scores(design, weights, n_threads)
        result += self.intercept_
        return result

    def _usable_as_it_is(self, X: Any) -> bool:
        """Whether X needs no checks but finiteness: the fast way for single rows."""
        if isinstance(X, np.ndarray):
            layout = X.ndim == 2 and X.flags.c_contiguous
        else:
            layout = isinstance(X, sp.csr_array | sp.csr_matrix)
        return bool(
            layout
            and X.dtype in (np.float64, np.float32)
            and X.shape[0] > 0
            and X.shape[1] == self.n_features_in_
            and not hasattr(self, "feature_names_in_")
        )

    def decision_function(self, X: Any) -> Array:
        """Scores: shape (n,) for two classes (positive means the second), (n, K) otherwise.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n, d)
            Rows to score.

        Returns
        -------
        ndarray of shape (n,) or (n, K)
            The scores W x + b.
        """
        result = self._scores(X)
        return result[:, 0] if result.shape[1] == 1 else result

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The label of the highest score; the first label wins a tie.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n, d)
            Rows to label.

        Returns
        -------
        ndarray of shape (n,)
            Labels.
        """
        result = self._scores(X)
        if result.shape[1] == 1:
            winners = (result[:, 0] > 0).astype(np.intp)
        else:
            winners = result.argmax(axis=1)
        labels: npt.NDArray[Any] = self.classes_[winners]
        return labels
