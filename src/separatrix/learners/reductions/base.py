"""What the reductions share: from many classes to the columns of a code, and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone, is_regressor
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _check_sample_weight, _num_samples, check_is_fitted

from separatrix.errors import DataError, ParameterError
from separatrix.learners.linear.svm import LinearSVM
from separatrix.learners.reductions.code_matrix import CodeMatrix
from separatrix.learners.reductions.columns import (
    ColumnReport,
    Columns,
    FittedColumns,
    LinearColumns,
    SupportColumns,
)
from separatrix.learners.reductions.separate import (
    Task,
    check_sides,
    column_weights,
    fit_separately,
    update_separately,
)
from separatrix.learners.reductions.shared import can_share, fit_shared
from separatrix.results import Solution, StopReason, Trace
from separatrix.validation import (
    NamesElsewhere,
    check_cost,
    check_weights,
    encode_known_labels,
    encode_labels,
    float_type,
    indexable_rows,
    number_of_threads,
    refuse_dask,
)

__all__ = ["Reduction"]

FloatArray = npt.NDArray[np.floating[Any]]


def _base_has(name: str) -> Any:
    def check(reduction: Reduction) -> bool:
        base = reduction._base()
        if hasattr(base, name):
            return True
        raise AttributeError(f"{type(base).__name__} has no {name}{_ADVICE.get(name, '')}")

    return check


_ADVICE = {
    "predict_proba": "; wrap it in separatrix.Calibrated, or take LogisticRegression",
    "partial_fit": "; take Perceptron, MIRA or another estimator that learns in parts",
}


@dataclass(eq=False, repr=False)
class Reduction(NamesElsewhere, ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """Base of the reductions; subclasses choose the code and decode the columns."""

    #: Fitted attributes that a model file keeps; subclasses add theirs.
    __sx_state__: ClassVar[tuple[str, ...]] = (
        "classes_",
        "code_",
        "columns_",
        "column_weights_",
        "report_",
    )

    _elsewhere: ClassVar[Mapping[str, str]] = {
        "code_size": "say n_columns of separatrix.OutputCode",
        "verbose": "say verbose of the estimator",
    }

    estimator: Any = None
    _: KW_ONLY
    cost: Any = None
    class_weight: Any = None
    C: float | None = None
    shared: bool = True
    n_jobs: int | None = None
    classes_: npt.NDArray[Any] = field(init=False)
    code_: CodeMatrix = field(init=False)
    columns_: Columns = field(init=False)
    column_weights_: npt.NDArray[np.float64] = field(init=False)
    report_: ColumnReport = field(init=False)

    def _base(self) -> Any:
        """The estimator of a column, unfitted."""
        base = self.estimator
        if base is None:
            base = LinearSVM("squared_hinge", random_state=0)
        if self.C is None:
            return base
        if "C" not in base.get_params():
            raise ParameterError(f"{type(base).__name__} has no C; leave C of the reduction None")
        return clone(base).set_params(C=self.C)

    def _code(self, n_classes: int, X: Any, codes: npt.NDArray[np.int64], weights: Any) -> Any:
        """The code for these classes."""
        raise NotImplementedError

    def _class_scores(self, margins: FloatArray) -> FloatArray:
        """Scores of shape (n, K) from margins of shape (n, L)."""
        raise NotImplementedError

    def _class_proba(self, proba: FloatArray) -> FloatArray:
        """Probabilities of shape (n, K) from those of the columns, of shape (n, L)."""
        raise NotImplementedError

    def _check_parameters(self) -> None:
        """Raise ParameterError before any work is done."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self._base())
        tags.input_tags.sparse = inner.input_tags.sparse
        tags.input_tags.allow_nan = inner.input_tags.allow_nan
        return tags

    def __sx_check__(self) -> None:
        """Raise DataError unless the arrays of a loaded model agree."""
        if hasattr(self, "code_") and self.code_.n_classes != len(self.classes_):
            raise DataError("the code does not have a row for every class")

    # -- learning ----------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit every column.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n, d)
            Training rows; anything that the estimator takes.
        y : array-like of shape (n,)
            Labels of any type.
        sample_weight : array-like of shape (n,), optional
            Weight of every row.

        Returns
        -------
        self
            The fitted estimator.
        """
        refuse_dask(self, X, y)
        self._check_parameters()
        if y is None:
            raise DataError(
                f"This {type(self).__name__} estimator requires y to be passed, "
                "but the target y is None."
            )
        X = indexable_rows(X)
        classes, codes = encode_labels(y, _num_samples(X))
        weights = self._weights(sample_weight, X, classes, codes, two_classes=True)
        code = self._code(len(classes), X, codes, weights)
        task = self._task(code, codes, weights)
        check_sides(task, classes)
        self._fit_columns(X, task)
        self.classes_, self.code_ = classes, code
        return self

    def _fit_columns(self, X: Any, task: Task) -> None:
        """Fit every column of the task, all of them in one pass where that is possible."""
        base = self._base()
        self.__dict__.pop("report_", None)
        if self.shared and can_share(base):
            self.columns_, self.report_ = fit_shared(
                self, base, X, task, number_of_threads(self.n_jobs)
            )
        else:
            self.columns_ = fit_separately(base, X, task, self.n_jobs)
            self._adopt(self.columns_)
        self.column_weights_ = column_weights(task)

    @available_if(_base_has("partial_fit"))  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Go on learning from further rows, by `partial_fit` of the estimator.

        A column none of whose classes has come yet scores 0.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n, d)
            Further rows.
        y : array-like of shape (n,)
            Their labels.
        classes : array-like of shape (K,), optional
            All labels that will ever come, in the first call; those of `y` when left out.
        sample_weight : array-like of shape (n,), optional
            Weight of every row.

        Returns
        -------
        self
            The estimator, fitted further.
        """
        refuse_dask(self, X, y)
        self._check_parameters()
        if isinstance(self.class_weight, str):
            raise ParameterError(
                f"class_weight={self.class_weight!r} needs all rows at once; give partial_fit a "
                "dict of weights, or sample_weight"
            )
        X = indexable_rows(X)
        first = not hasattr(self, "columns_")
        known = self._known_classes(y, classes, X)
        codes = encode_known_labels(y, _num_samples(X), known)
        weights = self._weights(sample_weight, X, known, codes, two_classes=False)
        if first:
            self.code_ = self._code(len(known), X, codes, weights)
        elif not isinstance(self.columns_, FittedColumns):
            raise ParameterError(
                "this model was fitted in one pass and cannot be fitted further; call partial_fit "
                "from the start"
            )
        task = self._task(self.code_, codes, weights)
        before = None if first else self.columns_
        self.columns_ = update_separately(before, self._base(), X, task, self.n_jobs)  # type: ignore[arg-type]
        self._adopt(self.columns_)
        earlier = 0 if first else self.column_weights_
        self.classes_, self.column_weights_ = known, earlier + column_weights(task)
        return self

    def _known_classes(self, y: Any, classes: Any, X: Any) -> npt.NDArray[Any]:
        if hasattr(self, "columns_"):
            if classes is not None and not np.array_equal(np.unique(classes), self.classes_):
                raise DataError(
                    f"classes={np.unique(classes).tolist()} is not the same as on the last call, "
                    f"{self.classes_.tolist()}; fit a new estimator to change them"
                )
            return self.classes_
        if classes is None:
            return encode_labels(y, _num_samples(X))[0]
        known: npt.NDArray[Any] = np.unique(classes)
        if len(known) < 2:
            raise DataError("classes must name at least two classes")
        return known

    def _weights(
        self, sample_weight: Any, X: Any, classes: Any, codes: Any, *, two_classes: bool
    ) -> Any:
        if sample_weight is not None:
            sample_weight = _check_sample_weight(sample_weight, X, dtype=np.float64)
        return check_weights(
            sample_weight,
            self.class_weight,
            X,
            classes,
            codes,
            two_classes=two_classes,
        )

    def _task(self, code: CodeMatrix, codes: npt.NDArray[np.int64], weights: Any) -> Task:
        """The table of signed weights: a row weighs what leaving its side costs on average."""
        M = code.values.astype(np.float64)
        cost = check_cost(self.cost, code.n_classes)
        if cost is None:
            return Task(codes, M, weights)
        plus, minus = (M > 0).astype(float), (M < 0).astype(float)
        to_plus, to_minus = cost @ plus / plus.sum(axis=0), cost @ minus / minus.sum(axis=0)
        return Task(codes, plus * to_minus - minus * to_plus, weights)

    def _adopt(self, columns: FittedColumns) -> None:
        """Take over what an estimator says about the features."""
        for name in ("n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)
            fitted = next((one for one in columns.estimators if one is not None), None)
            if hasattr(fitted, name):
                setattr(self, name, getattr(fitted, name))

    # -- what was learned --------------------------------------------------------------------

    @property
    def estimators_(self) -> list[Any]:
        """A fitted two-class estimator for every column, of the labels -1 and +1.

        Estimators of columns that were fitted in one pass are made when requested, without the
        record of the solver.
        """
        check_is_fitted(self, "columns_")
        columns = self.columns_
        if isinstance(columns, FittedColumns):
            return columns.estimators
        assert isinstance(columns, LinearColumns | SupportColumns)
        coef = columns.coef
        return [self._estimator(coef[[column]], column) for column in range(coef.shape[0])]

    @property
    def solution_(self) -> Solution:
        """The record of all columns as one problem: weights, and sums over the columns."""
        if not hasattr(self, "report_"):
            raise AttributeError("columns that were fitted one by one have records of their own")
        report = self.report_
        coef = self.columns_.coef  # type: ignore[attr-defined]
        left = report.gap > self._base().tol * np.abs(report.objective)
        return Solution(
            w=coef.T,
            n_passes=float(report.n_passes.mean()),
            gap=float(report.gap.sum()),
            stopped=StopReason.BUDGET if left.any() else StopReason.CONVERGED,
            trace=Trace(),
            objective=float(report.objective.sum()),
            certificate="sum of the gaps of the columns",
            solver=report.solver,
        )

    def _estimator(self, coef: Any, column: int) -> Any:
        model = clone(self._base())
        model.coef_ = np.asarray(coef.toarray() if hasattr(coef, "toarray") else coef)
        model.intercept_ = self.columns_.intercept[[column]]  # type: ignore[attr-defined]
        model.classes_ = np.array([-1, 1])
        model.n_iter_ = max(1, int(np.ceil(self.report_.n_passes[column])))
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self, name):
                setattr(model, name, getattr(self, name))
        return model

    def column_scores(self, X: Any) -> FloatArray:
        """Scores of the columns, of shape (n, L), positive for the side of +1.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n, d)
            Rows to score.

        Returns
        -------
        ndarray of shape (n, L)
            Decision values of the estimators, log-odds where they have probabilities only,
            predicted numbers of regressors, and labels where there is nothing else.
        """
        check_is_fitted(self, "columns_")
        return self.columns_.margins(self, X, number_of_threads(self.n_jobs))

    def decision_function(self, X: Any) -> FloatArray:
        """Scores: shape (n,) for two classes (positive means the second), (n, K) otherwise.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n, d)
            Rows to score.

        Returns
        -------
        ndarray of shape (n,) or (n, K)
            The highest score wins.
        """
        result = self._class_scores(self.column_scores(X)).astype(float_type(X), copy=False)
        return result[:, 1] - result[:, 0] if result.shape[1] == 2 else result

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
        winners = self._class_scores(self.column_scores(X)).argmax(axis=1)
        labels: npt.NDArray[Any] = self.classes_[winners]
        return labels

    @available_if(_base_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> FloatArray:
        """Class probabilities of shape (n, K), for estimators with `predict_proba`.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n, d)
            Rows.

        Returns
        -------
        ndarray of shape (n, K)
            P(y = k | x), columns in the order of `classes_`.
        """
        check_is_fitted(self, "columns_")
        proba = self.columns_.proba(self, X, number_of_threads(self.n_jobs))
        return self._probabilities(proba).astype(float_type(X), copy=False)

    def _probabilities(self, proba: FloatArray) -> FloatArray:
        """Probabilities of the classes from those of the columns."""
        if len(self.classes_) == 2 and proba.shape[1] == 1:
            second = proba if self.code_.values[1, 0] > 0 else 1 - proba
            return np.hstack([1 - second, second])
        return self._class_proba(proba)

    def _has_scores(self) -> bool:
        """Whether the columns give more than labels."""
        base = self._base()
        return is_regressor(base) or any(
            hasattr(base, name) for name in ("decision_function", "predict_proba")
        )
