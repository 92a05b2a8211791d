"""Class probabilities from scores: sigmoid of one score, softmax of many."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import expit, log_expit, log_softmax, softmax

from separatrix.learners.linear.minimizer import MinimizingClassifier
from separatrix.losses import Logistic, multiclass_logistic
from separatrix.protocols import Loss

__all__ = ["LikelihoodClassifier"]


class LikelihoodClassifier(MinimizingClassifier):
    """Base of the learners that minimize the negative log-likelihood."""

    def _loss(self, n_classes: int) -> Loss:
        return Logistic() if n_classes == 2 else multiclass_logistic()

    def predict_proba(self, X: Any) -> npt.NDArray[Any]:
        """Class probabilities of shape (n, K), under the logistic loss.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n, d)
            Rows.

        Returns
        -------
        ndarray of shape (n, K)
            P(y = k | x), columns in the order of `classes_`.
        """
        scores = self._scores(X)
        if scores.shape[1] == 1:
            return np.hstack([expit(-scores), expit(scores)])
        result: npt.NDArray[Any] = softmax(scores, axis=1)
        return result

    def predict_log_proba(self, X: Any) -> npt.NDArray[Any]:
        """Logarithms of the class probabilities, shape (n, K), without underflow.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n, d)
            Rows.

        Returns
        -------
        ndarray of shape (n, K)
            log P(y = k | x).
        """
        scores = self._scores(X)
        if scores.shape[1] == 1:
            return np.hstack([log_expit(-scores), log_expit(scores)])
        result: npt.NDArray[Any] = log_softmax(scores, axis=1)
        return result
