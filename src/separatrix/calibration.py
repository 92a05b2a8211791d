"""Calibration: probabilities that mean what they say, learned on held-out rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize, minimize_scalar
from scipy.special import expit, logsumexp, softmax
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.isotonic import IsotonicRegression
from sklearn.model_selection import train_test_split
from sklearn.utils import _safe_indexing, get_tags, indexable
from sklearn.utils.validation import (
    _check_sample_weight,
    _num_samples,
    check_is_fitted,
    has_fit_parameter,
)

from separatrix.errors import DataError, ParameterError
from separatrix.validation import check_choice, encode_known_labels, encode_labels

__all__ = ["Calibrated"]

FloatArray = npt.NDArray[np.float64]

#: What stands for the logarithm of a probability that an estimator says is exactly zero.
_FLOOR = float(np.log(np.finfo(np.float64).eps))

#: Bounds of the logarithm of 1 / T.
_COLDEST, _HOTTEST = 12.0, -12.0


class _Map(Protocol):
    """From scores of shape (n, K) to probabilities of shape (n, K)."""

    def __call__(self, scores: FloatArray) -> FloatArray: ...


@dataclass(frozen=True)
class _Temperature:
    """softmax(scores / T)."""

    temperature: float

    @classmethod
    def fit(cls, scores: FloatArray, codes: npt.NDArray[np.int64], weights: FloatArray) -> Self:
        own = scores[np.arange(len(codes)), codes]

        def loss(log_rate: float) -> float:
            rate = np.exp(log_rate)
            return float(weights @ (logsumexp(rate * scores, axis=1) - rate * own))

        # Convex in the rate, so that it falls and then rises in its logarithm too.
        found = minimize_scalar(
            loss, bounds=(_HOTTEST, _COLDEST), method="bounded", options={"xatol": 1e-10}
        )
        return cls(float(np.exp(-found.x)))

    def __call__(self, scores: FloatArray) -> FloatArray:
        probabilities: FloatArray = softmax(scores / self.temperature, axis=1)
        return probabilities


@dataclass(frozen=True, eq=False)
class _OneByOne:
    """A map of its own for the score of every class against the rest, shares made to sum to 1."""

    maps: tuple[Any, ...]
    raw: bool

    @classmethod
    def fit(
        cls,
        kind: Any,
        scores: FloatArray,
        codes: npt.NDArray[np.int64],
        weights: FloatArray,
        raw: bool,
    ) -> Self:
        margins = _margins(scores, raw)
        k = scores.shape[1]
        classes = [1] if k == 2 else range(k)
        maps = [
            kind(margins[:, at], (codes == c).astype(float), weights)
            for at, c in enumerate(classes)
        ]
        return cls(tuple(maps), raw)

    def __call__(self, scores: FloatArray) -> FloatArray:
        margins = _margins(scores, self.raw)
        shares = np.column_stack([one(margins[:, at]) for at, one in enumerate(self.maps)])
        if shares.shape[1] == 1:
            return np.hstack([1 - shares, shares])
        total = shares.sum(axis=1, keepdims=True)
        uniform = np.full_like(shares, 1 / shares.shape[1])
        normed: FloatArray = np.divide(shares, total, out=uniform, where=total > 0)
        return normed


def _margins(scores: FloatArray, raw: bool) -> FloatArray:
    """The score of each class against the rest: log-odds, or raw scores as they are."""
    if scores.shape[1] == 2:
        difference: FloatArray = scores[:, 1:] - scores[:, :1]
        return difference
    if raw:
        return scores
    columns = range(scores.shape[1])
    rest = [logsumexp(np.delete(scores, k, axis=1), axis=1) for k in columns]
    odds: FloatArray = scores - np.column_stack(rest)
    return odds


class _Sigmoid:
    """1 / (1 + exp(-(a s + b))), with the targets of Platt (1999) drawn in from 0 and 1."""

    def __init__(self, margins: FloatArray, hits: FloatArray, weights: FloatArray) -> None:
        above, below = float(weights @ hits), float(weights @ (1 - hits))
        targets = np.where(hits > 0, (above + 1) / (above + 2), 1 / (below + 2))
        center = float(np.average(margins, weights=weights))
        scale = float(np.sqrt(np.average((margins - center) ** 2, weights=weights))) or 1.0
        unit = (margins - center) / scale

        def loss(w: FloatArray) -> tuple[float, FloatArray]:
            s = w[0] * unit + w[1]
            away = weights * (expit(s) - targets)
            value = float(weights @ (np.logaddexp(0, s) - targets * s))
            return value, np.array([away @ unit, away.sum()])

        start = np.array([0.0, np.log((above + 1) / (below + 1))])
        found = minimize(loss, start, jac=True, method="BFGS", options={"gtol": 1e-9})
        self.slope = float(found.x[0]) / scale
        self.intercept = float(found.x[1]) - self.slope * center

    def __call__(self, margins: FloatArray) -> FloatArray:
        shares: FloatArray = expit(self.slope * margins + self.intercept)
        return shares


class _Isotonic:
    """The rising step function closest to what came true; level beyond the held-out scores."""

    def __init__(self, margins: FloatArray, hits: FloatArray, weights: FloatArray) -> None:
        self.steps = IsotonicRegression(y_min=0.0, y_max=1.0, out_of_bounds="clip")
        self.steps.fit(margins, hits, sample_weight=weights)

    def __call__(self, margins: FloatArray) -> FloatArray:
        return np.asarray(self.steps.predict(margins), dtype=np.float64)


class Calibrated(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    r"""A classifier with calibrated probabilities, ours or any of scikit-learn's kind.

    `fit` learns the estimator on one part of the rows and the calibration on the rest;
    `calibrate` takes an estimator that is fitted already. Scores are log-probabilities where the
    estimator has probabilities, its `decision_function` otherwise.

    Parameters
    ----------
    estimator : estimator
        Has `predict_proba` or `decision_function`.
    method : {"temperature", "sigmoid", "isotonic"}, default="temperature"
        :math:`\mathrm{softmax}(s / T)` with one number T, which never changes the label (Guo et
        al. 2017); :math:`1 / (1 + e^{-(a s + b)})` (Platt 1999); or any rising function (Zadrozny
        & Elkan 2002). The latter two see each class against the rest.
    held_out : float, default=0.25
        Share of the rows that `fit` keeps for the calibration, class by class.
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
    >>> from separatrix.calibration import Calibrated
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

    def __init__(
        self,
        estimator: Any,
        method: str = "temperature",
        *,
        held_out: float = 0.25,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.method = method
        self.held_out = held_out
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.input_tags.sparse = inner.input_tags.sparse
        tags.input_tags.allow_nan = inner.input_tags.allow_nan
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit a copy of the estimator on part of the rows, and the calibration on the others.

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
        check_choice("method", self.method, ("temperature", "sigmoid", "isotonic"))
        if not 0 < self.held_out < 1:
            raise ParameterError(f"held_out must lie between 0 and 1, got {self.held_out!r}")
        if y is None:
            raise DataError("Calibrated requires y to be passed, but the target y is None")
        (X,) = indexable(X)
        n = _num_samples(X)
        classes, codes = encode_labels(y, n)
        if np.bincount(codes).min() < 2:
            rare = classes[np.bincount(codes).argmin()]
            raise DataError(
                f"class {rare} has one row only; fitting and calibrating need a row of every "
                "class each"
            )
        weights = None if sample_weight is None else _check_sample_weight(sample_weight, X)
        share = max(round(self.held_out * n), len(classes))
        first, second = train_test_split(
            np.arange(n), test_size=share, stratify=codes, random_state=self.random_state
        )
        estimator = clone(self.estimator)
        arguments = {}
        if weights is not None and has_fit_parameter(estimator, "sample_weight"):
            arguments["sample_weight"] = weights[first]
        labels = classes[codes]
        estimator.fit(_safe_indexing(X, first), labels[first], **arguments)
        late = None if weights is None else weights[second]
        return self._calibrate(estimator, _safe_indexing(X, second), labels[second], late)

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
        check_choice("method", self.method, ("temperature", "sigmoid", "isotonic"))
        check_is_fitted(self.estimator)
        return self._calibrate(self.estimator, X, y, sample_weight)

    def _calibrate(self, estimator: Any, X: Any, y: Any, sample_weight: Any) -> Self:
        self.estimator_, self.classes_ = estimator, np.asarray(estimator.classes_)
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(estimator, name):
                setattr(self, name, getattr(estimator, name))
        codes = encode_known_labels(y, _num_samples(X), self.classes_)
        scores, raw = self._scores(X)
        # Zero probabilities, and what is below all that was seen here, count as the lowest seen.
        self._floor = min(_FLOOR, float(np.min(scores, where=np.isfinite(scores), initial=0.0)))
        scores = np.maximum(scores, self._floor)
        weights = _check_sample_weight(sample_weight, scores, ensure_non_negative=True)
        if weights.sum() <= 0:
            raise DataError("all sample weights of the held-out rows are zero")
        if self.method == "temperature":
            found = _Temperature.fit(scores, codes, weights)
            self._map: _Map = found
            self.temperature_ = found.temperature
        else:
            kind = _Sigmoid if self.method == "sigmoid" else _Isotonic
            self._map = _OneByOne.fit(kind, scores, codes, weights, raw)
        return self

    def _scores(self, X: Any) -> tuple[FloatArray, bool]:
        """Scores of shape (n, K), and whether they are no log-probabilities."""
        model, k = self.estimator_, len(self.classes_)
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
        scores = np.asarray(model.decision_function(X), dtype=np.float64)
        if scores.ndim == 1:
            scores = np.column_stack([-0.5 * scores, 0.5 * scores])
        if scores.shape[1] != k:
            raise ParameterError(
                f"{type(model).__name__} gives {scores.shape[1]} scores for {k} classes"
            )
        return scores, True

    def predict_proba(self, X: Any) -> FloatArray:
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
        return self._map(np.maximum(self._scores(X)[0], self._floor))

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
