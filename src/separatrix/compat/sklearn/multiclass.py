"""scikit-learn's reductions of many classes to two, fitted on shared rows.

Where the estimator is a linear learner of separatrix or the `LinearSVC` or `LogisticRegression` of
this package, all columns are fitted by `separatrix.OneVsAll`, `AllPairs` or `OutputCode`, which
read the rows once. With other estimators, with weights of rows or classes, and where a column has
rows on one side only, the fit is scikit-learn's own, and there is no ``native_``.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn import multiclass
from sklearn.base import clone
from sklearn.preprocessing import LabelBinarizer
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import column_or_1d, validate_data

from separatrix.compat.sklearn.linear import LinearSVC, LogisticRegression
from separatrix.learners.reductions import AllPairs, OneVsAll, OutputCode
from separatrix.learners.reductions.shared import can_share
from separatrix.validation import is_sparse

__all__ = ["OneVsOneClassifier", "OneVsRestClassifier", "OutputCodeClassifier"]


def _learner(estimator: Any) -> Any:
    """The learner whose columns can share the rows, or None."""
    if type(estimator) in (LinearSVC, LogisticRegression):
        estimator = estimator.two_class_learner()
    shared = can_share(estimator) and estimator.class_weight is None
    return estimator if shared else None


def _own_fit(model: Any) -> None:
    """Forget an earlier fit by separatrix."""
    model.__dict__.pop("native_", None)


def _columns(native: Any, estimator: Any, sign: int = 1) -> list[Any]:
    """A fitted estimator, of the labels 0 and 1, for every column of a reduction."""
    fits = []
    for column in native.estimators_:
        column.classes_ = np.array([0, 1])
        column.coef_, column.intercept_ = sign * column.coef_, sign * column.intercept_
        own = column
        if type(estimator) in (LinearSVC, LogisticRegression):
            own = clone(estimator)
            own.native_, own.classes_, own.n_iter_ = column, column.classes_, column.n_iter_
            own.coef_, own.intercept_ = column.coef_, column.intercept_
            own.n_features_in_ = native.n_features_in_
            if hasattr(native, "feature_names_in_"):
                own.feature_names_in_ = native.feature_names_in_
        fits.append(own)
    return fits


def _adopt(model: Any, native: Any) -> None:
    model.native_, model.n_features_in_ = native, native.n_features_in_
    model.__dict__.pop("feature_names_in_", None)
    if hasattr(native, "feature_names_in_"):
        model.feature_names_in_ = native.feature_names_in_


class OneVsRestClassifier(multiclass.OneVsRestClassifier):  # type: ignore[misc]
    """scikit-learn's `OneVsRestClassifier`; columns share the rows, as in `separatrix.OneVsAll`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from separatrix.compat.sklearn import LogisticRegression
    >>> X, y = load_iris(return_X_y=True)
    >>> model = OneVsRestClassifier(LogisticRegression()).fit(X, y)
    >>> round(model.score(X, y), 2), model.native_.solution_.stopped.value
    (0.95, 'converged')
    """

    def fit(self, X: Any, y: Any, **fit_params: Any) -> Self:
        """Fit a column for every class; see scikit-learn."""
        learner = None if fit_params else _learner(self.estimator)
        if learner is None or not _both_sides(y):
            _own_fit(self)
            return super().fit(X, y, **fit_params)  # type: ignore[no-any-return]
        self.label_binarizer_ = LabelBinarizer(sparse_output=True)
        columns = self.label_binarizer_.fit_transform(y)
        self.classes_ = self.label_binarizer_.classes_
        native = OneVsAll(learner, n_jobs=self.n_jobs)
        native.fit(X, columns if self.label_binarizer_.y_type_.startswith("multilabel") else y)
        _adopt(self, native)
        self.estimators_ = _columns(native, self.estimator)
        return self


def _both_sides(y: Any) -> bool:
    """Whether every column has rows of its class and rows of others."""
    if type_of_target(y).startswith("multilabel"):
        table = y.toarray() if is_sparse(y) else np.asarray(y)
        return bool(table.any(axis=0).all() and not table.all(axis=0).any())
    return np.ndim(y) == 1 and len(np.unique(y)) > 1


class OneVsOneClassifier(multiclass.OneVsOneClassifier):  # type: ignore[misc]
    """scikit-learn's `OneVsOneClassifier`; pairs share the rows, as in `separatrix.AllPairs`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from separatrix.compat.sklearn import LinearSVC
    >>> X, y = load_iris(return_X_y=True)
    >>> model = OneVsOneClassifier(LinearSVC(random_state=0)).fit(X, y)
    >>> round(model.score(X, y), 2), len(model.estimators_)
    (0.98, 3)
    """

    def fit(self, X: Any, y: Any, **fit_params: Any) -> Self:
        """Fit a column for every pair of classes; see scikit-learn."""
        learner = None if fit_params else _learner(self.estimator)
        if learner is None or np.ndim(y) != 1 or len(np.unique(y)) < 2:
            _own_fit(self)
            return super().fit(X, y, **fit_params)  # type: ignore[no-any-return]
        check_classification_targets(y)
        native = AllPairs(learner, n_jobs=self.n_jobs).fit(X, y)
        _adopt(self, native)
        self.classes_, self.pairwise_indices_ = native.classes_, None
        # There a pair speaks for its second class, here for its first.
        self.estimators_ = tuple(_columns(native, self.estimator, sign=-1))
        return self


class OutputCodeClassifier(multiclass.OutputCodeClassifier):  # type: ignore[misc]
    """scikit-learn's `OutputCodeClassifier`; columns share the rows, as in `separatrix.OutputCode`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from separatrix.compat.sklearn import LinearSVC
    >>> X, y = load_iris(return_X_y=True)
    >>> model = OutputCodeClassifier(LinearSVC(random_state=0), code_size=4, random_state=0)
    >>> model.fit(X, y).code_book_.shape
    (3, 12)
    """

    def fit(self, X: Any, y: Any, **fit_params: Any) -> Self:
        """Fit a column for every column of a random code; see scikit-learn."""
        learner = None if fit_params else _learner(self.estimator)
        code = self._drawn(y) if learner is not None else None
        if code is None:
            _own_fit(self)
            return super().fit(X, y, **fit_params)  # type: ignore[no-any-return]
        y = validate_data(self, X="no_validation", y=y)
        native = OutputCode(estimator=learner, code=code.astype(np.int8), n_jobs=self.n_jobs)
        native.fit(X, y)
        _adopt(self, native)
        self.classes_, self.code_book_ = native.classes_, code
        self.estimators_ = _columns(native, self.estimator)
        return self

    def _drawn(self, y: Any) -> npt.NDArray[np.float64] | None:
        """The code that scikit-learn draws, or None where it has no use or no meaning here."""
        if isinstance(self.random_state, np.random.RandomState) or np.ndim(y) != 1:
            return None  # a generator is drawn from once
        k = len(np.unique(column_or_1d(y)))
        n_columns = int(k * self.code_size)
        generator = check_random_state(self.random_state)
        code = np.where(generator.uniform(size=(k, max(n_columns, 0))) > 0.5, 1.0, -1.0)
        proper = n_columns > 0 and k > 1 and not (np.abs(code.sum(axis=0)) == k).any()
        return code if proper and len(np.unique(code, axis=0)) == k else None
