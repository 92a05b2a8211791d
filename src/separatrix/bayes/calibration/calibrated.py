"""A classifier whose probabilities mean what they say, learned on held-out rows."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils.validation import (
    _check_sample_weight,
    _num_samples,
    check_is_fitted,
    has_fit_parameter,
)

from separatrix.bayes.calibration.maps import METHODS, FloatArray, Map, fit_map
from separatrix.errors import DataError, ParameterError
from separatrix.validation import (
    NamesElsewhere,
    check_choice,
    encode_known_labels,
    encode_labels,
    float_type,
    indexable_rows,
    refuse_dask,
)

__all__ = ["Calibrated"]

#: What stands for the logarithm of a probability that an estimator says is exactly zero.
_FLOOR = float(np.log(np.finfo(np.float64).eps))


@dataclass(eq=False, repr=False)
class Calibrated(NamesElsewhere, ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    r"""A classifier with calibrated probabilities, ours or any of scikit-learn's kind.

    `fit` learns the calibration from the scores of rows that the estimator had not seen, fold by
    fold, and then the estimator from all rows; or, with `held_out`, the estimator from one part of
    the rows and the calibration from the rest. `calibrate` takes an estimator that is fitted
    already. Scores are log-probabilities where the estimator has probabilities, its
    `decision_function` otherwise.

    Parameters
    ----------
    estimator : estimator
        Has `predict_proba` or `decision_function`.
    method : {"temperature", "sigmoid", "isotonic"}, default="temperature"
        :math:`\mathrm{softmax}(s / T)` with one number T, which never changes the label (Guo et
        al. 2017); :math:`1 / (1 + e^{-(a s + b)})` (Platt 1999); or any rising function (Zadrozny
        & Elkan 2002). The latter two see each class against the rest.
    folds : int, default=5
        Number of folds; the estimator is fitted once for each, and once to all rows.
    held_out : float or None, default=None
        Share of the rows that `fit` keeps for the calibration, class by class, in place of folds:
        one fit only, for large data.
    random_state : int, RandomState or None, default=None
        Seed of that choice.

    Attributes
    ----------
    estimator_ : estimator
        The fitted estimator.
    classes_ : ndarray of shape (K,)
        Labels, sorted.
    temperature_ : float
        T, for ``method="temperature"``.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from separatrix import NaiveBayes
    >>> from separatrix.bayes.calibration import Calibrated
    >>> from separatrix.metrics import log_loss
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> plain = NaiveBayes().fit(X[:400], y[:400])
    >>> calibrated = Calibrated(NaiveBayes(), random_state=0).fit(X[:400], y[:400])
    >>> calibrated.temperature_ > 1  # naive Bayes is too sure of itself
    True
    >>> losses = [log_loss(y[400:], m.predict_proba(X[400:])) for m in (plain, calibrated)]
    >>> losses[1] < losses[0]
    True
    """

    __sx_state__: ClassVar[tuple[str, ...]] = ("estimator_", "classes_", "_map", "_floor")

    _elsewhere: ClassVar[Mapping[str, str]] = {
        "cv": "say folds, or held_out for one split; `calibrate` takes a fitted estimator",
        "ensemble": "one estimator is fitted to all rows, as with ensemble=False",
    }

    estimator_: Any = field(init=False)
    classes_: npt.NDArray[Any] = field(init=False)

    estimator: Any
    method: str = "temperature"
    _: KW_ONLY
    folds: int = 5
    held_out: float | None = None
    random_state: Any = None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.input_tags.sparse = inner.input_tags.sparse
        tags.input_tags.allow_nan = inner.input_tags.allow_nan
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit a copy of the estimator, and the calibration on rows that it had not seen.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n, d)
            Training rows.
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
        check_choice("method", self.method, METHODS)
        if self.held_out is not None and not 0 < self.held_out < 1:
            raise ParameterError(f"held_out must lie between 0 and 1, got {self.held_out!r}")
        if isinstance(self.folds, bool) or not isinstance(self.folds, Integral) or self.folds < 2:
            raise ParameterError(f"folds must be a whole number from 2 on, got {self.folds!r}")
        if y is None:
            raise DataError("Calibrated requires y to be passed, but the target y is None")
        X = indexable_rows(X)
        n = _num_samples(X)
        classes, codes = encode_labels(y, n)
        if np.bincount(codes).min() < 2:
            rare = classes[np.bincount(codes).argmin()]
            raise DataError(
                f"class {rare} has one row only; fitting and calibrating need a row of every "
                "class each"
            )
        weights = None if sample_weight is None else _check_sample_weight(sample_weight, X)
        labels = classes[codes]
        if self.held_out is None:
            return self._cross_fit(X, labels, codes, weights)
        share = max(round(self.held_out * n), len(classes))
        first, second = train_test_split(
            np.arange(n), test_size=share, stratify=codes, random_state=self.random_state
        )
        estimator = self._fitted(X, labels, weights, first)
        late = None if weights is None else weights[second]
        return self._calibrate(estimator, _safe_indexing(X, second), labels[second], late)

    def _fitted(self, X: Any, labels: Any, weights: Any, rows: Any = None) -> Any:
        """A copy of the estimator, fitted to these rows, or to all."""
        estimator = clone(self.estimator)
        if rows is not None:
            X, labels = _safe_indexing(X, rows), labels[rows]
            weights = None if weights is None else weights[rows]
        arguments = {}
        if weights is not None and has_fit_parameter(estimator, "sample_weight"):
            arguments["sample_weight"] = weights
        return estimator.fit(X, labels, **arguments)

    def _cross_fit(self, X: Any, labels: Any, codes: Any, weights: Any) -> Self:
        """Calibrate on scores of rows that the estimator of their fold had not seen."""
        counts = np.bincount(codes)
        # No more folds than rows of the largest class; a class of two rows is in two of them.
        folds = StratifiedKFold(
            int(min(self.folds, counts.max())), shuffle=True, random_state=self.random_state
        )
        scores, raw = np.empty((len(codes), len(counts))), False
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "The least populated class", UserWarning)
            parts = list(folds.split(codes, codes))
        for first, second in parts:
            estimator = self._fitted(X, labels, weights, first)
            scores[second], raw = _scores_of(estimator, _safe_indexing(X, second), len(counts))
        self._adopt(self._fitted(X, labels, weights))
        return self._learn(scores, raw, labels, weights)

    def calibrate(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Calibrate the estimator, which is fitted already, on held-out rows.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n, d)
            Rows that the estimator was not fitted on.
        y : array-like of shape (n,)
            Their labels.
        sample_weight : array-like of shape (n,), optional
            Weight of every row.

        Returns
        -------
        self
            The calibrated estimator.
        """
        check_choice("method", self.method, METHODS)
        check_is_fitted(self.estimator)
        return self._calibrate(self.estimator, X, y, sample_weight)

    def _calibrate(self, estimator: Any, X: Any, y: Any, sample_weight: Any) -> Self:
        self._adopt(estimator)
        return self._learn(*self._scores(X), y, sample_weight)

    def _adopt(self, estimator: Any) -> None:
        """Predict with this estimator."""
        self.estimator_, self.classes_ = estimator, np.asarray(estimator.classes_)
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(estimator, name):
                setattr(self, name, getattr(estimator, name))

    def calibrate_scores(
        self, scores: Any, y: Any, classes: Any, *, log_probabilities: bool
    ) -> Self:
        """Learn the calibration from scores alone, such as those of cross-validation.

        There is no estimator to predict with until the calibration is carried over to one.

        Parameters
        ----------
        scores : array-like of shape (n, K), or (n,) for two classes
            Scores of rows that were not seen in training.
        y : array-like of shape (n,)
            Their labels.
        classes : array-like of shape (K,)
            The labels, sorted.
        log_probabilities : bool
            Whether the scores are logarithms of probabilities.

        Returns
        -------
        self
            To be `carried_over`.
        """
        check_choice("method", self.method, METHODS)
        self.classes_ = np.asarray(classes)
        return self._learn(_two_columns(scores), not log_probabilities, y, None)

    def _learn(self, scores: FloatArray, raw: bool, y: Any, sample_weight: Any) -> Self:
        codes = encode_known_labels(y, len(scores), self.classes_)
        # Zero probabilities, and what is below all that was seen here, count as the lowest seen.
        self._floor = min(_FLOOR, float(np.min(scores, where=np.isfinite(scores), initial=0.0)))
        scores = np.maximum(scores, self._floor)
        weights = _check_sample_weight(sample_weight, scores, ensure_non_negative=True)
        if weights.sum() <= 0:
            raise DataError("all sample weights of the held-out rows are zero")
        self._map: Map = fit_map(self.method, scores, codes, weights, raw)
        return self

    @property
    def temperature_(self) -> float:
        """T, for ``method="temperature"``."""
        check_is_fitted(self, "_map")
        if not hasattr(self._map, "temperature"):
            raise AttributeError(f'method="{self.method}" has no temperature')
        return float(self._map.temperature)

    def carried_over(self, estimator: Any) -> Self:
        """The same calibration around another fitted estimator.

        For a model that was calibrated on held-out rows and then fitted again on all of them: the
        scores of both mean nearly the same, and no rows are left to calibrate the new one on.

        Parameters
        ----------
        estimator : estimator
            Fitted, with the same classes.

        Returns
        -------
        Calibrated
            A new one; this one stays as it is.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from separatrix import LinearSVM
        >>> X, y = load_breast_cancer(return_X_y=True)
        >>> first = Calibrated(LinearSVM().fit(X[:300], y[:300])).calibrate(X[300:], y[300:])
        >>> final = first.carried_over(LinearSVM().fit(X, y))
        >>> final.temperature_ == first.temperature_
        True
        """
        check_is_fitted(self, "_map")
        check_is_fitted(estimator)
        if not np.array_equal(self.classes_, estimator.classes_):
            raise ParameterError("the other estimator has learned other classes")
        other = type(self)(
            clone(estimator),
            self.method,
            folds=self.folds,
            held_out=self.held_out,
            random_state=self.random_state,
        )
        other.estimator_, other.classes_ = estimator, self.classes_
        other._map, other._floor = self._map, self._floor
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(estimator, name):
                setattr(other, name, getattr(estimator, name))
        return other

    def _scores(self, X: Any) -> tuple[FloatArray, bool]:
        """Scores of shape (n, K), and whether they are no log-probabilities."""
        return _scores_of(self.estimator_, X, len(self.classes_))

    def predict_proba(self, X: Any) -> npt.NDArray[Any]:
        """Calibrated probabilities of shape (n, K).

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n, d)
            Rows.

        Returns
        -------
        ndarray of shape (n, K)
            P(y = k | x), columns in the order of `classes_`.
        """
        check_is_fitted(self)
        proba = self._map(np.maximum(self._scores(X)[0], self._floor))
        return proba.astype(float_type(X), copy=False)

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The label of the highest calibrated probability; the first label wins a tie.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n, d)
            Rows to label.

        Returns
        -------
        ndarray of shape (n,)
            Labels.
        """
        winners = self.predict_proba(X).argmax(axis=1)
        labels: npt.NDArray[Any] = self.classes_[winners]
        return labels


def _scores_of(model: Any, X: Any, k: int) -> tuple[FloatArray, bool]:
    """Scores of a fitted model of shape (n, k), and whether they are no log-probabilities."""
    if hasattr(model, "predict_proba") or hasattr(model, "predict_log_proba"):
        with np.errstate(divide="ignore"):  # a probability of zero is no surprise
            if hasattr(model, "predict_log_proba"):
                logs = np.asarray(model.predict_log_proba(X), dtype=np.float64)
            else:
                logs = np.log(np.asarray(model.predict_proba(X), dtype=np.float64))
        return logs, False
    if not hasattr(model, "decision_function"):
        raise ParameterError(
            f"{type(model).__name__} has neither predict_proba nor decision_function"
        )
    scores = _two_columns(model.decision_function(X))
    if scores.shape[1] != k:
        raise ParameterError(
            f"{type(model).__name__} gives {scores.shape[1]} scores for {k} classes"
        )
    return scores, True


def _two_columns(scores: Any) -> FloatArray:
    """Scores of shape (n, K), where two classes may have one score together."""
    scores = np.asarray(scores, dtype=np.float64)
    return np.column_stack([-0.5 * scores, 0.5 * scores]) if scores.ndim == 1 else scores
