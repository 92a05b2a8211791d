"""The baselines that every comparison runs first: they see the labels and ignore the features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from scipy import stats
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import check_random_state, column_or_1d
from sklearn.utils.validation import (
    _check_sample_weight,
    _num_samples,
    assert_all_finite,
    check_consistent_length,
    check_is_fitted,
    validate_data,
)

from separatrix.errors import DataError
from separatrix.validation import check_targets, distinct_values, float_type, refuse_dask

__all__ = ["Featureless", "MajorityClass", "MeanValue", "MedianValue", "PriorSampling"]


class Featureless:
    """Base of what looks at no feature: it takes rows of any kind and counts them."""

    def _targets(
        self, X: Any, y: Any, sample_weight: Any
    ) -> tuple[npt.NDArray[Any], npt.NDArray[np.float64]]:
        """Checked targets, and the weights of the rows."""
        refuse_dask(self, X, y)
        validate_data(self, X, y, skip_check_array=True)
        y = column_or_1d(y, warn=True)
        assert_all_finite(y, input_name="y")
        check_consistent_length(X, y)
        if len(y) == 0:
            raise DataError("Found array with 0 sample(s) while a minimum of 1 is required.")
        if sample_weight is None:
            return y, np.ones(len(y))
        weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        if weights.sum() <= 0:
            raise DataError("All sample weights are zero; at least one must be positive.")
        return y, weights

    def _count(self, X: Any) -> int:
        check_is_fitted(self)
        validate_data(self, X, reset=False, skip_check_array=True)
        return int(_num_samples(X))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.sparse = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = True
        (tags.classifier_tags or tags.regressor_tags).poor_score = True
        tags.no_validation = True
        return tags


class _PriorClassifier(Featureless, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Learns the class prior P(y) and nothing else."""

    #: Fitted arrays that describe the model.
    __sx_state__: ClassVar[tuple[str, ...]] = ("classes_", "class_prior_")

    classes_: npt.NDArray[Any]
    class_prior_: npt.NDArray[np.float64]

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Estimate the class prior by (weighted) relative frequency.

        Parameters
        ----------
        X : array-like, sparse matrix, DataFrame or list of length n
            The examples; only their number matters, so strings are welcome.
        y : array-like of shape (n,)
            Labels of any type.
        sample_weight : array-like of shape (n,), optional
            Weight of each example, not negative.

        Returns
        -------
        self
            The fitted baseline.
        """
        y, weights = self._targets(X, y, sample_weight)
        check_targets(y)
        self.classes_, codes = distinct_values(y)
        counts = np.bincount(codes, weights=weights, minlength=len(self.classes_))
        self.class_prior_ = counts / float(counts.sum())
        return self

    def predict_proba(self, X: Any) -> npt.NDArray[Any]:
        """Class prior, once per row.

        Parameters
        ----------
        X : array-like, sparse matrix, DataFrame or list of length n
            The examples.

        Returns
        -------
        ndarray of shape (n, K)
            Rows that are all equal to `class_prior_`.
        """
        n_rows = self._count(X)
        return np.tile(self.class_prior_.astype(float_type(X)), (n_rows, 1))

    def predict_log_proba(self, X: Any) -> npt.NDArray[Any]:
        """Logarithm of `predict_proba`; minus infinity for a class of weight zero.

        Parameters
        ----------
        X : array-like, sparse matrix, DataFrame or list of length n
            The examples.

        Returns
        -------
        ndarray of shape (n, K)
            Log-probabilities.
        """
        probabilities = self.predict_proba(X)
        with np.errstate(divide="ignore"):
            logs: npt.NDArray[Any] = np.log(probabilities)
            return logs


class MajorityClass(_PriorClassifier):
    """Predicts the most frequent class, whatever the features are.

    The prediction is argmax_y P(y); the first of `classes_` wins a tie. `predict_proba` gives P(y),
    the best constant under the log loss.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
        The labels, sorted.
    class_prior_ : ndarray of shape (K,)
        P(y), the weighted relative frequency of each label.

    Examples
    --------
    >>> from separatrix.learners.baselines import MajorityClass
    >>> baseline = MajorityClass().fit(["cheap pills", "hello", "see you"], ["spam", "ham", "ham"])
    >>> baseline.predict(["cheap", "see"])
    array(['ham', 'ham'], dtype='<U4')
    >>> baseline.predict_proba(["cheap"]).round(2)
    array([[0.67, 0.33]])
    """

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Predict the most frequent class for every row.

        Parameters
        ----------
        X : array-like, sparse matrix, DataFrame or list of length n
            The examples.

        Returns
        -------
        ndarray of shape (n,)
            The same label n times.
        """
        n_rows = self._count(X)
        labels: npt.NDArray[Any] = np.repeat(self.classes_[[self.class_prior_.argmax()]], n_rows)
        return labels


@dataclass(eq=False, repr=False, kw_only=True)
class PriorSampling(_PriorClassifier):
    """Predicts a label drawn from the class prior, independently for every row.

    The expected accuracy on data with the same prior is sum_y P(y)^2.

    Parameters
    ----------
    random_state : int, RandomState instance or None, default=None
        Source of the draws of `predict`. With an integer, predictions for the same number of rows
        are the same at every call.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
        The labels, sorted.
    class_prior_ : ndarray of shape (K,)
        P(y), the weighted relative frequency of each label.

    Examples
    --------
    >>> import numpy as np
    >>> from separatrix.learners.baselines import PriorSampling
    >>> baseline = PriorSampling(random_state=0).fit(np.zeros((4, 1)), [0, 1, 1, 1])
    >>> draws = baseline.predict(np.zeros((1000, 1)))
    >>> bool(abs(draws.mean() - 0.75) < 0.05)
    True
    """

    random_state: int | np.random.RandomState | None = None

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Draw a label for every row.

        Parameters
        ----------
        X : array-like, sparse matrix, DataFrame or list of length n
            The examples.

        Returns
        -------
        ndarray of shape (n,)
            Labels drawn from `class_prior_`.
        """
        n_rows = self._count(X)
        generator = check_random_state(self.random_state)
        codes = generator.choice(len(self.classes_), size=n_rows, p=self.class_prior_)
        labels: npt.NDArray[Any] = self.classes_[codes]
        return labels

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # The draw of a row depends on its position, so a subset of rows gets other draws.
        tags.non_deterministic = True
        return tags


class _ConstantRegressor(Featureless, RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Learns one center and one spread of the target, and nothing else."""

    #: Fitted values that describe the model.
    __sx_state__: ClassVar[tuple[str, ...]] = ("center_", "spread_")

    center_: float
    spread_: float

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Estimate center and spread of the target.

        Parameters
        ----------
        X : array-like, sparse matrix, DataFrame or list of length n
            The examples; only their number matters.
        y : array-like of shape (n,)
            Numbers.
        sample_weight : array-like of shape (n,), optional
            Weight of each example, not negative.

        Returns
        -------
        self
            The fitted baseline.
        """
        y, weights = self._targets(X, y, sample_weight)
        self.center_, self.spread_ = self._summarize(np.asarray(y, dtype=np.float64), weights)
        return self

    def _summarize(
        self, y: npt.NDArray[np.float64], weights: npt.NDArray[np.float64]
    ) -> tuple[float, float]:
        raise NotImplementedError

    def predict(self, X: Any) -> npt.NDArray[np.float64]:
        """The center, for every row.

        Parameters
        ----------
        X : array-like, sparse matrix, DataFrame or list of length n
            The examples.

        Returns
        -------
        ndarray of shape (n,)
            The same number n times.
        """
        check_is_fitted(self)
        return np.full(_num_samples(X), self.center_)


class MeanValue(_ConstantRegressor):
    """The mean of the target, whatever the features.

    Attributes
    ----------
    center_, spread_ : float
        Mean and standard deviation.

    Examples
    --------
    >>> from separatrix.learners.baselines import MeanValue
    >>> model = MeanValue().fit([[0], [0], [0]], [1.0, 2.0, 6.0])
    >>> model.predict([[5]])
    array([3.])
    """

    def _summarize(
        self, y: npt.NDArray[np.float64], weights: npt.NDArray[np.float64]
    ) -> tuple[float, float]:
        mean = float(np.average(y, weights=weights))
        return mean, float(np.sqrt(np.average((y - mean) ** 2, weights=weights)))

    def predictive(self, X: Any) -> Any:
        """The normal distribution of the training target, for every row (scipy, frozen)."""
        return stats.norm(self.predict(X), max(self.spread_, np.finfo(np.float64).tiny))


class MedianValue(_ConstantRegressor):
    """The median of the target, whatever the features.

    Attributes
    ----------
    center_, spread_ : float
        Median, and mean absolute distance from it.

    Examples
    --------
    >>> from separatrix.learners.baselines import MedianValue
    >>> MedianValue().fit([[0], [0], [0]], [1.0, 2.0, 6.0]).predict([[5]])
    array([2.])
    """

    def _summarize(
        self, y: npt.NDArray[np.float64], weights: npt.NDArray[np.float64]
    ) -> tuple[float, float]:
        order = np.argsort(y, kind="stable")
        total = np.cumsum(weights[order])
        # Both middle values where the weight splits evenly between them.
        low = int(np.searchsorted(total, total[-1] / 2))
        high = int(np.searchsorted(total, total[-1] / 2, side="right"))
        median = float((y[order[low]] + y[order[min(high, len(y) - 1)]]) / 2)
        return median, float(np.average(np.abs(y - median), weights=weights))

    def predictive(self, X: Any) -> Any:
        """The Laplace distribution whose center is the median, for every row (scipy, frozen)."""
        return stats.laplace(self.predict(X), max(self.spread_, np.finfo(np.float64).tiny))
