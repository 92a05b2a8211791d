"""Gaussian discriminant analysis: one normal distribution per class."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from separatrix._core import scores
from separatrix.errors import DataError, ParameterError
from separatrix.learners.generative.base import (
    FloatArray,
    GenerativeClassifier,
    align_classes,
    log_prior,
)
from separatrix.learners.generative.gaussian import whitener
from separatrix.learners.generative.moments import ClassMoments
from separatrix.learners.generative.solution import Solved, solve
from separatrix.learners.linear import LogisticRegression
from separatrix.structures.labels import make_design
from separatrix.validation import (
    check_choice,
    float_type,
    is_sparse,
    name_column,
    number_of_threads,
    refuse_dask,
    validate_X,
)

__all__ = ["GaussianDiscriminant"]

#: Sparse data of at most so many columns are taken, as dense data.
_WIDEST = 5000
_ROWS = 4096


@dataclass(eq=False, repr=False, kw_only=True)
class GaussianDiscriminant(ClassNamePrefixFeaturesOutMixin, TransformerMixin, GenerativeClassifier):  # type: ignore[misc]
    r"""Gaussian classes with a shared covariance (LDA) or one each (GDA, QDA).

    Models :math:`P(x \mid y = k) = N(x; \mu_k, \Sigma_k)`. With a shared covariance the posterior
    is a softmax of linear scores :math:`x' \Sigma^{-1} \mu_k - \frac12 \mu_k' \Sigma^{-1} \mu_k +
    \log P(k)`. Covariances are divided by n (shared) and by :math:`n_k` (own), which is maximum
    likelihood, as in scikit-learn 1.9.

    Parameters
    ----------
    shared_covariance : bool, default=True
        One covariance for all classes, or one for each.
    shrinkage : float, "auto" or None, default=None
        s in (1 - s) S + s tr(S)/d I; "auto" is Ledoit and Wolf's choice on standardized columns,
        class by class, which keeps three d x d matrices per class.
    priors : {"fit", "uniform"} or array-like of shape (K,), default="fit"
        P(y): relative frequencies, equal shares, or given.
    n_jobs : int or None, default=None
        Threads; None asks SEPARATRIX_NUM_THREADS, OMP_NUM_THREADS, then the CPUs.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
        Labels, sorted.
    means_ : ndarray of shape (K, d)
        Class means.
    covariance_ : ndarray of shape (d, d) or (K, d, d)
        The shared covariance, or those of the classes.
    class_log_prior_ : ndarray of shape (K,)
        log P(y).
    coef_, intercept_ : ndarray of shape (1, d) and (1,), or (K, d) and (K,)
        The linear scores, with a shared covariance.
    moments_ : ClassMoments
        Sufficient statistics.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from separatrix.learners.generative import GaussianDiscriminant
    >>> X, y = load_iris(return_X_y=True)
    >>> model = GaussianDiscriminant().fit(X, y)
    >>> round(model.score(X, y), 2)
    0.98
    >>> softmax = model.to_softmax()
    >>> bool(abs(softmax.predict_proba(X) - model.predict_proba(X)).max() < 1e-9)
    True
    """

    #: Fitted arrays that describe the model.
    __sx_state__: ClassVar[tuple[str, ...]] = ("classes_", "moments_", "_precision")

    _elsewhere: ClassVar[Mapping[str, str]] = {
        "covariance_estimator": "say shrinkage",
        "n_components": "`transform` gives all directions; take the first columns",
        "reg_param": "say shrinkage",
        "solver": "there is one way to the solution; shrinkage goes with it",
        "store_covariance": "covariance_ is always there",
        "tol": "columns without variance are left out by the precision of the data",
    }

    moments_: ClassMoments = field(init=False)
    n_features_in_: int = field(init=False)
    _precision: float = field(init=False)
    _solved: Solved | None = field(init=False)

    shared_covariance: bool = True
    shrinkage: float | str | None = None
    priors: Any = "fit"
    n_jobs: int | None = None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Take means and scatters of the classes, and invert the covariances.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n, d)
            Training rows; sparse ones are made dense.
        y : array-like of shape (n,)
            Labels of any type.
        sample_weight : array-like of shape (n,), optional
            Weight of every row; weight 2 counts a row twice.

        Returns
        -------
        self
            The fitted estimator.
        """
        refuse_dask(self, X, y)
        self._learn(X, y, None, sample_weight, first=True)
        self._solution()
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Add further rows: the result is that of one fit on all rows.

        Covariances are inverted when they are first needed, so that the first rows need not
        suffice.

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
        self._learn(X, y, classes, sample_weight, first=not hasattr(self, "classes_"))
        return self

    def merge(self, other: GaussianDiscriminant) -> GaussianDiscriminant:
        """Join two fitted models: what one fit on the rows of both gives, up to rounding.

        Parameters
        ----------
        other : GaussianDiscriminant
            A model of the same columns; its classes may differ.

        Returns
        -------
        GaussianDiscriminant
            A new model with the parameters of this one.
        """
        check_is_fitted(self)
        check_is_fitted(other)
        mine, theirs = self.moments_, other.moments_
        if mine.mean.shape[1] != theirs.mean.shape[1]:
            raise DataError(
                f"the models have {mine.mean.shape[1]} and {theirs.mean.shape[1]} columns"
            )
        if (len(mine.scatter) == 1) != (len(theirs.scatter) == 1) or (
            (mine.third is None) != (theirs.third is None)
        ):
            raise ParameterError(
                "the models keep different statistics; give both the same shared_covariance and "
                "shrinkage"
            )
        result = deepcopy(self)
        result.classes_, here, there = align_classes(self.classes_, other.classes_)
        k = len(result.classes_)
        result.moments_ = mine.spread(here, k).merge(theirs.spread(there, k))
        result._solved = None
        return result

    def _learn(self, X: Any, y: Any, classes: Any, sample_weight: Any, *, first: bool) -> None:
        self._check_parameters()
        n_threads = number_of_threads(self.n_jobs)
        X = _dense(validate_X(self, X, reset=first))
        found, codes, weights = self._labels(X, y, sample_weight, classes, first)
        try:
            make_design(X, n_threads)
        except DataError as error:
            raise name_column(error, self) from None
        moments = ClassMoments.of(
            X,
            codes,
            weights,
            len(found),
            shared=self.shared_covariance,
            higher=self.shrinkage == "auto",
            n_threads=n_threads,
        )
        eps = float(np.finfo(X.dtype).eps)
        if not first:
            moments = self.moments_.merge(moments)
            eps = max(eps, self._precision)
        self.classes_, self.moments_, self._precision = found, moments, eps
        self._solved = None

    def _check_parameters(self) -> None:
        check_choice("shared_covariance", self.shared_covariance, (True, False))
        s = self.shrinkage
        if s is None or (isinstance(s, str) and s == "auto"):
            return
        if isinstance(s, bool) or not isinstance(s, int | float | np.number) or not 0 <= s <= 1:
            raise ParameterError(f'shrinkage must be "auto", None or within [0, 1], got {s!r}')

    def _solution(self) -> Solved:
        check_is_fitted(self)
        solved: Solved | None = getattr(self, "_solved", None)
        if solved is None:
            solved = self._solved = solve(
                self.moments_,
                self.classes_,
                log_prior(self.priors, self.moments_.count),
                shared=self.shared_covariance,
                shrinkage=self.shrinkage,
                precision=self._precision,
            )
        return solved

    @property
    def means_(self) -> FloatArray:
        """Class means of shape (K, d)."""
        check_is_fitted(self)
        return self.moments_.mean

    @property
    def covariance_(self) -> FloatArray:
        """The shared covariance (d, d), or those of the classes (K, d, d)."""
        found = self._solution().covariances
        return found[0] if self.shared_covariance else found

    @property
    def class_log_prior_(self) -> FloatArray:
        """log P(y) of shape (K,)."""
        return self._solution().log_prior

    @property
    def coef_(self) -> FloatArray:
        """Weights of the linear scores: (1, d) for two classes, (K, d) otherwise."""
        return self._linear()[:-1].T

    @property
    def intercept_(self) -> FloatArray:
        """Intercepts of the linear scores: (1,) for two classes, (K,) otherwise."""
        intercepts: FloatArray = self._linear()[-1]
        return intercepts

    def _linear(self) -> FloatArray:
        linear = self._solution().linear
        if linear is None:
            raise AttributeError("there are linear scores only with shared_covariance=True")
        if linear.shape[1] != 2:
            return linear
        difference: FloatArray = linear[:, 1:] - linear[:, :1]
        return difference

    def to_softmax(self) -> LogisticRegression:
        """The logistic regression with the same probabilities, with a shared covariance.

        Returns
        -------
        LogisticRegression
            Fitted, with weights and intercepts of zero sum over the classes.
        """
        if not self.shared_covariance:
            raise ParameterError("only with shared_covariance=True are the scores linear")
        linear = self._linear()
        if not np.isfinite(linear).all():
            raise DataError("a class has prior probability zero: no softmax gives that")
        if linear.shape[1] > 1:
            linear = linear - linear.mean(axis=1, keepdims=True)
        model = LogisticRegression(n_jobs=self.n_jobs)
        model.classes_, model.n_features_in_ = self.classes_, self.n_features_in_
        if hasattr(self, "feature_names_in_"):
            model.feature_names_in_ = self.feature_names_in_
        model.coef_, model.intercept_ = linear[:-1].T.copy(), linear[-1].copy()
        model.n_iter_ = 0
        return model

    def decision_function(self, X: Any) -> npt.NDArray[Any]:
        """Scores: shape (n,) for two classes (positive means the second), (n, K) otherwise.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n, d)
            Rows to score.

        Returns
        -------
        ndarray of shape (n,) or (n, K)
            log P(x, y) up to a term that all classes share; of two classes the log-odds.
        """
        result = self._scores(X).astype(float_type(X), copy=False)
        return result[:, 1] - result[:, 0] if result.shape[1] == 2 else result

    def transform(self, X: Any) -> npt.NDArray[Any]:
        """Project rows to the directions in which the classes lie apart (Fisher's, LDA's).

        The space is scaled so that the covariance within the classes (their weighted mean, where
        each has its own) is the identity, and its directions are sorted by how far the weighted
        means of the classes lie apart in them.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n, d)
            Rows.

        Returns
        -------
        ndarray of shape (n, m)
            Coordinates; m is K - 1, or fewer where the means span fewer dimensions.
        """
        center, directions = self._discriminants(self._solution())
        rows = self._checked(X)
        return ((rows - center) @ directions).astype(float_type(X), copy=False)

    def _discriminants(self, solved: Solved) -> tuple[FloatArray, FloatArray]:
        """The weighted mean of the classes, and columns of shape (d, m)."""
        seen = self.moments_.count > 0
        shares, means = np.exp(solved.log_prior[seen]), self.moments_.mean[seen]
        center = shares @ means
        white = solved.whiteners[0]
        if len(solved.whiteners) > 1:
            within = np.einsum("k,kij->ij", shares, solved.covariances[seen])
            white = whitener(within, self._precision)
        spread = np.sqrt(shares)[:, None] * white.whiten(means - center)
        _, sizes, axes = np.linalg.svd(spread, full_matrices=False)
        kept = axes[: len(shares) - 1][sizes[: len(shares) - 1] > sizes[0] * self._precision]
        return center, np.asarray(white.weights(kept)).T

    @property
    def _n_features_out(self) -> int:
        """Number of directions, for their names."""
        return int(self._discriminants(self._solution())[1].shape[1])

    def _scores(self, X: Any) -> FloatArray:
        """log P(x, y) of shape (n, K), up to a term that all classes share."""
        solved = self._solution()
        X = self._checked(X)
        if solved.linear is None:
            return self._densities(X, solved)
        n_threads = number_of_threads(self.n_jobs) if X.size > 1 << 18 else 1
        finite = np.ascontiguousarray(np.where(np.isfinite(solved.linear), solved.linear, 0.0))
        result = scores(make_design(X.astype(np.float64, copy=False), 1), finite, n_threads)
        result[:, np.isneginf(solved.log_prior)] = -np.inf
        return np.asarray(result, dtype=np.float64)

    def _checked(self, X: Any) -> npt.NDArray[Any]:
        rows = _dense(validate_X(self, X, reset=False))
        try:
            make_design(rows, 1)
        except DataError as error:
            raise name_column(error, self) from None
        return rows

    def _densities(self, X: npt.NDArray[Any], solved: Solved) -> FloatArray:
        result = np.empty((len(X), len(self.classes_)))
        means = self.moments_.mean
        for k in range(len(self.classes_)):
            white = solved.whiteners[0 if len(solved.whiteners) == 1 else k]
            size = white.log_det + white.rank * np.log(2 * np.pi)
            constant = solved.log_prior[k] - 0.5 * size
            for first in range(0, len(X), _ROWS):
                away = white.whiten(X[first : first + _ROWS] - means[k])
                result[first : first + _ROWS, k] = constant - 0.5 * (away**2).sum(axis=1)
        return result

    def _joint(self, X: Any) -> FloatArray:
        return self._densities(self._checked(X), self._solution())


def _dense(X: Any) -> npt.NDArray[Any]:
    """Sparse rows as dense ones, where there are not too many columns."""
    if not is_sparse(X):
        rows: npt.NDArray[Any] = np.ascontiguousarray(X)
        return rows
    if X.shape[1] > _WIDEST:
        raise DataError(
            f"GaussianDiscriminant keeps d x d matrices and takes sparse data of at most {_WIDEST} "
            f"columns, got {X.shape[1]}; reduce them first (sklearn.decomposition.TruncatedSVD)"
        )
    dense: npt.NDArray[Any] = np.ascontiguousarray(X.toarray())
    return dense
