"""The naive way: one regression on the class numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.linear_model import LinearRegression
from sklearn.utils import get_tags
from sklearn.utils.validation import _num_samples, check_is_fitted

from separatrix.errors import DataError
from separatrix.validation import encode_labels, indexable_rows, refuse_dask

__all__ = ["ClassNumbers"]


@dataclass(eq=False, repr=False)
class ClassNumbers(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """One regression on the numbers 0 … K-1 of the classes, rounded: for comparison only.

    It takes the order of the labels for a fact about the world, so that a class between two
    others on this line is hard to reach and hard to avoid. Use `OneVsAll`.

    Parameters
    ----------
    estimator : estimator or None, default=None
        A regressor; None stands for scikit-learn's LinearRegression.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
        Labels, sorted.
    estimator_ : estimator
        The fitted regressor.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from separatrix.learners.reductions import ClassNumbers, OneVsAll
    >>> X, y = load_digits(return_X_y=True)
    >>> naive, better = (m.fit(X, y).score(X, y) for m in (ClassNumbers(), OneVsAll()))
    >>> naive < 0.3 < 0.9 < better
    True
    """

    __sx_state__: ClassVar[tuple[str, ...]] = ("classes_", "estimator_")

    estimator: Any = None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(LinearRegression() if self.estimator is None else self.estimator)
        tags.input_tags.sparse = inner.input_tags.sparse
        tags.input_tags.allow_nan = inner.input_tags.allow_nan
        tags.classifier_tags.poor_score = True
        return tags

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the regressor to the class numbers.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n, d)
            Training rows.
        y : array-like of shape (n,)
            Labels of any type.

        Returns
        -------
        self
            The fitted estimator.
        """
        refuse_dask(self, X, y)
        if y is None:
            raise DataError("ClassNumbers requires y to be passed, but the target y is None")
        X = indexable_rows(X)
        self.classes_, codes = encode_labels(y, _num_samples(X))
        base = LinearRegression() if self.estimator is None else clone(self.estimator)
        self.estimator_ = base.fit(X, codes.astype(np.float64))
        for name in ("n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
        return self

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The label whose number is nearest to the predicted one.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n, d)
            Rows to label.

        Returns
        -------
        ndarray of shape (n,)
            Labels.
        """
        check_is_fitted(self)
        numbers = np.rint(np.asarray(self.estimator_.predict(X)).ravel())
        codes = np.clip(numbers, 0, len(self.classes_) - 1).astype(np.intp)
        labels: npt.NDArray[Any] = self.classes_[codes]
        return labels
