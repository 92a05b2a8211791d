"""scikit-learn's naive Bayes classes over the counting kernel.

Fits and `partial_fit` of the discrete classes count through `separatrix.NaiveBayes`; what becomes
of the counts (`alpha`, `fit_prior`, `class_prior`, `norm`) is scikit-learn's own code. `fit` of
`GaussianNB` is one pass for all classes; its `partial_fit` is scikit-learn's.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn import naive_bayes
from sklearn.utils.validation import _check_sample_weight, check_non_negative, validate_data

from separatrix.errors import ParameterError
from separatrix.learners.generative import NaiveBayes

__all__ = ["BernoulliNB", "ComplementNB", "GaussianNB", "MultinomialNB"]


def _sums(X: Any, shares: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Sums of the columns in every class, (K, d), and weights of the classes, (K,).

    `shares` has in each row the weight of that row in the column of its class, and zeros.
    """
    weights = shares.sum(axis=1).astype(np.float64)
    k = shares.shape[1]
    if not weights.any():
        return np.zeros((k, X.shape[1])), np.zeros(k)
    # One class alone, which scikit-learn allows, is counted beside an empty one.
    counts = NaiveBayes("multinomial").partial_fit(
        X, shares.argmax(axis=1), classes=np.arange(max(k, 2)), sample_weight=weights
    )
    return counts.counts_.value[:k], counts.counts_.classes[:k]


def _shares(priors: Any, n_classes: int) -> bool:
    """Whether `priors` are shares of one for all classes, or not given."""
    if priors is None:
        return True
    values = np.asarray(priors, dtype=np.float64)
    return bool(len(values) == n_classes and (values >= 0).all() and np.isclose(values.sum(), 1.0))


class MultinomialNB(naive_bayes.MultinomialNB):  # type: ignore[misc]
    """scikit-learn's `MultinomialNB`; rows are counted by the kernel of `separatrix.NaiveBayes`.

    Examples
    --------
    >>> MultinomialNB().fit([[2, 0], [0, 3]], ["a", "b"]).feature_count_
    array([[2., 0.],
           [0., 3.]])
    """

    def _count(self, X: Any, Y: npt.NDArray[Any]) -> None:
        check_non_negative(X, "MultinomialNB (input X)")
        sums, classes = _sums(X, Y)
        self.feature_count_ += sums
        self.class_count_ += classes


class ComplementNB(naive_bayes.ComplementNB):  # type: ignore[misc]
    """scikit-learn's `ComplementNB`; rows are counted by the kernel of `separatrix.NaiveBayes`.

    Examples
    --------
    >>> ComplementNB().fit([[2, 0], [0, 3]], ["a", "b"]).predict([[1, 0]])
    array(['a'], dtype='<U1')
    """

    def _count(self, X: Any, Y: npt.NDArray[Any]) -> None:
        check_non_negative(X, "ComplementNB (input X)")
        sums, classes = _sums(X, Y)
        self.feature_count_ += sums
        self.class_count_ += classes
        self.feature_all_ = self.feature_count_.sum(axis=0)


class BernoulliNB(naive_bayes.BernoulliNB):  # type: ignore[misc]
    """scikit-learn's `BernoulliNB`; rows are counted by the kernel of `separatrix.NaiveBayes`.

    Examples
    --------
    >>> BernoulliNB().fit([[2, 0], [0, 3]], ["a", "b"]).feature_count_
    array([[1., 0.],
           [0., 1.]])
    """

    def _count(self, X: Any, Y: npt.NDArray[Any]) -> None:
        if X.size and X.min() < 0:
            raise ParameterError(
                "negative values need a threshold: binarize=0.0, not binarize=None"
            )
        sums, classes = _sums(X, Y)
        self.feature_count_ += sums
        self.class_count_ += classes


class GaussianNB(naive_bayes.GaussianNB):  # type: ignore[misc]
    """scikit-learn's `GaussianNB`, fitted by `separatrix.NaiveBayes("gaussian")`.

    Examples
    --------
    >>> GaussianNB().fit([[1.0], [2.0], [5.0], [7.0]], [0, 0, 1, 1]).theta_
    array([[1.5],
           [6. ]])
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Means and variances of every class in one pass; see scikit-learn."""
        self._validate_params()
        X, y = validate_data(self, X, y, dtype=[np.float64, np.float32])
        weighted = y
        if sample_weight is not None:
            weighted = y[_check_sample_weight(sample_weight, X, dtype=np.float64) > 0]
        # One class alone, and priors that are none, are scikit-learn's to take or to refuse.
        if len(np.unique(weighted)) == 1 or not _shares(self.priors, len(np.unique(y))):
            self.__dict__.pop("native_", None)
            return super().fit(X, y, sample_weight)  # type: ignore[no-any-return]
        native = NaiveBayes(
            "gaussian",
            priors="fit" if self.priors is None else self.priors,
            var_smoothing=self.var_smoothing,
        ).fit(X, y, sample_weight)
        counts = native.counts_
        self.native_, self.classes_ = native, native.classes_
        # Copies: scikit-learn's partial_fit goes on in place.
        self.class_count_, self.theta_ = counts.classes.copy(), counts.value.copy()
        self.class_prior_ = np.exp(native.class_log_prior_)
        # The variance of all rows, not weighted, as in scikit-learn.
        self.epsilon_ = self.var_smoothing * float(np.var(X, axis=0, dtype=np.float64).max())
        self.var_ = counts.scatter / counts.classes[:, None] + self.epsilon_
        return self
