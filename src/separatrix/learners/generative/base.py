"""What the generative classifiers share: labels, priors, streaming, posteriors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from scipy.special import logsumexp
from sklearn.base import BaseEstimator, ClassifierMixin

from separatrix.errors import ParameterError
from separatrix.validation import (
    NamesElsewhere,
    check_given,
    check_weights,
    encode_known_labels,
    encode_labels,
    float_type,
    named_classes,
)

__all__ = ["GenerativeClassifier", "align_classes", "log_prior", "normalized"]

FloatArray = npt.NDArray[np.float64]

#: Log-probabilities above this are those of one, rounded to float32.
_CERTAIN = -(2.0**-25)


class GenerativeClassifier(NamesElsewhere, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Base of the classifiers that model P(x, y); subclasses give joint log-likelihoods."""

    _elsewhere: ClassVar[Mapping[str, str]] = {
        "class_prior": "say priors",
        "fit_prior": "say priors='fit' or priors='uniform'",
    }

    classes_: npt.NDArray[Any]
    n_jobs: int | None

    def _labels(
        self, X: Any, y: Any, sample_weight: Any, classes: Any, first: bool
    ) -> tuple[npt.NDArray[Any], npt.NDArray[np.int64], FloatArray | None]:
        """Classes, class numbers and weights of the rows; `classes` for partial_fit."""
        check_given(self, y)
        if classes is None and first:
            found, codes = encode_labels(y, X.shape[0])
        else:
            before = None if first else self.classes_
            found = self.classes_ if classes is None else named_classes(classes, before)
            codes = encode_known_labels(y, X.shape[0], found)
        whole = classes is None and first
        weights = check_weights(sample_weight, None, X, found, codes, two_classes=whole)
        return found, codes, weights

    def _joint(self, X: Any) -> FloatArray:
        """Joint log-likelihoods of shape (n, K)."""
        raise NotImplementedError

    def _scores(self, X: Any) -> FloatArray:
        """The same up to a term that all classes share, where that is cheaper."""
        return self._joint(X)

    def _log_posterior(self, X: Any) -> FloatArray:
        """log P(y | x), of shape (n, K)."""
        return normalized(self._scores(X))

    def _winners(self, X: Any) -> npt.NDArray[np.intp]:
        """Numbers of the most probable classes."""
        winners: npt.NDArray[np.intp] = self._scores(X).argmax(axis=1)
        return winners

    def predict_joint_log_proba(self, X: Any) -> npt.NDArray[Any]:
        """log P(x, y), of shape (n, K): the first of the three steps of inference.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n, d)
            Rows.

        Returns
        -------
        ndarray of shape (n, K)
            Joint log-likelihoods, columns in the order of `classes_`.
        """
        return self._joint(X).astype(float_type(X), copy=False)

    def predict_log_proba(self, X: Any) -> npt.NDArray[Any]:
        """log P(y | x), of shape (n, K): the joint less its log-sum-exp.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n, d)
            Rows.

        Returns
        -------
        ndarray of shape (n, K)
            Log-probabilities, columns in the order of `classes_`.
        """
        logs = self._log_posterior(X).astype(float_type(X), copy=False)
        if logs.dtype == np.float32:
            logs[logs > _CERTAIN] = 0.0  # as its probability is one, in this precision
        return logs

    def predict_proba(self, X: Any) -> npt.NDArray[Any]:
        """P(y | x), of shape (n, K).

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n, d)
            Rows.

        Returns
        -------
        ndarray of shape (n, K)
            Probabilities, columns in the order of `classes_`.
        """
        return np.exp(self._log_posterior(X)).astype(float_type(X), copy=False)

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The most probable label; the first label wins a tie.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n, d)
            Rows to label.

        Returns
        -------
        ndarray of shape (n,)
            Labels.
        """
        winners = self._winners(X)  # says in words where there are no classes yet
        labels: npt.NDArray[Any] = self.classes_[winners]
        return labels


def normalized(joint: FloatArray) -> FloatArray:
    """log P(y | x) from log P(x, y)."""
    result: FloatArray = joint - logsumexp(joint, axis=1, keepdims=True)
    return result


def log_prior(priors: Any, weights: FloatArray) -> FloatArray:
    """log P(y) of classes with these weights, for "fit", "uniform" or given probabilities."""
    k = len(weights)
    if isinstance(priors, str):
        if priors not in ("fit", "uniform"):
            raise ParameterError(f'priors must be "fit", "uniform" or an array, got {priors!r}')
        if priors == "uniform":
            return np.full(k, -np.log(k))
        given = weights / weights.sum()
    else:
        given = np.asarray(priors, dtype=np.float64)
        if given.shape != (k,):
            raise ParameterError(
                f"priors have shape {given.shape}, but {k} classes need one probability each"
            )
        if not ((given >= 0).all() and np.isclose(given.sum(), 1.0, rtol=0, atol=1e-8)):
            raise ParameterError("the probabilities in priors must not be negative and sum to 1")
    with np.errstate(divide="ignore"):
        logs: FloatArray = np.log(given)
    return logs


def align_classes(
    first: npt.NDArray[Any], second: npt.NDArray[Any]
) -> tuple[npt.NDArray[Any], npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """All classes of two models, and where those of each stand among them."""
    classes = np.union1d(first, second)
    return classes, np.searchsorted(classes, first), np.searchsorted(classes, second)
