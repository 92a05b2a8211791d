"""Candidates, ranked: what every learner of very many labels answers, out of one method."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from separatrix.errors import ParameterError
from separatrix.solvers.blas import blas_threads
from separatrix.validation import float_type

__all__ = ["LabelRanking", "Ranked", "TopLabels", "best_of", "score_blocks"]

Floats = npt.NDArray[np.floating[Any]]
Integers = npt.NDArray[np.int64]


class TopLabels(NamedTuple):
    """The best labels of every row.

    Attributes
    ----------
    labels : ndarray of shape (n, k)
        Labels, best first.
    probabilities : ndarray of shape (n, k)
        Their probabilities.
    """

    labels: npt.NDArray[Any]
    probabilities: npt.NDArray[np.float64]


class Ranked(NamedTuple):
    """Candidates of every row: places in `classes_` (n, m), best first, and log-probabilities."""

    numbers: Integers
    log_probabilities: npt.NDArray[np.float64]


class LabelRanking(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Predictions of a learner that finds candidates among its labels and ranks them.

    A learner has `classes_` and `_ranked(X, n)`, the n best labels of every row.
    """

    #: The most candidates that there can be.
    _MOST: ClassVar[int] = 2**31
    classes_: npt.NDArray[Any]
    n_features_in_: int
    candidates: int | str

    def _ranked(self, X: Any, n: int) -> Ranked:
        raise NotImplementedError

    def _best(self, X: Any, n: int) -> Ranked:
        """The n best labels, with their probabilities among the candidates."""
        most = self._n_candidates()
        if most == len(self.classes_):
            return self._ranked(X, n)
        numbers, logs = self._ranked(X, most)
        logs -= np.logaddexp.reduce(logs, axis=1, keepdims=True)
        return Ranked(numbers[:, :n], logs[:, :n])

    def _n_candidates(self) -> int:
        """How many labels of a row are ranked."""
        wanted = self._MOST if isinstance(self.candidates, str) else self.candidates
        return min(wanted, self._MOST, len(self.classes_))

    def _check_candidates(self) -> None:
        wanted = self.candidates
        if wanted != "all" and (not isinstance(wanted, int | np.integer) or wanted < 1):
            raise ParameterError(f'candidates must be "all" or a positive number, got {wanted!r}')
        if not isinstance(wanted, str) and wanted > self._MOST:
            raise ParameterError(f"candidates must be at most {self._MOST}, got {wanted}")

    def predict(self, X: Any) -> Any:
        """The most probable label of every row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            Rows.

        Returns
        -------
        ndarray of shape (n,)
            Labels.
        """
        check_is_fitted(self)
        labels: npt.NDArray[Any] = self.classes_[self._ranked(X, 1).numbers[:, 0]]
        return labels

    def predict_top(self, X: Any, k: int = 5) -> TopLabels:
        """The k best labels of every row with their probabilities.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            Rows.
        k : int, default=5
            How many, at most the candidates of a row.

        Returns
        -------
        TopLabels
            Labels and probabilities, best first.
        """
        check_is_fitted(self)
        most = self._n_candidates()
        if not isinstance(k, int | np.integer) or not 1 <= k <= most:
            raise ParameterError(f"k must be from 1 to {most} (the candidates), got {k!r}")
        ranked = self._best(X, int(k))
        return TopLabels(self.classes_[ranked.numbers], np.exp(ranked.log_probabilities))

    def predict_proba(self, X: Any) -> Floats:
        """Probabilities of the candidates of every row, in a full matrix of all labels.

        Ask for few rows at a time.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            Rows.

        Returns
        -------
        ndarray of shape (n, K)
            Columns in the order of `classes_`; each row sums to one.
        """
        check_is_fitted(self)
        ranked = self._best(X, self._n_candidates())
        result = np.zeros((len(ranked.numbers), len(self.classes_)))
        np.put_along_axis(result, ranked.numbers, np.exp(ranked.log_probabilities), axis=1)
        # Log-sums come in single precision.
        result /= result.sum(axis=1, keepdims=True)
        return result.astype(float_type(X), copy=False)


def score_blocks(
    X: Any, weights: Floats, intercepts: Floats, memory: float, n_threads: int
) -> Iterator[Floats]:
    """X @ weights + intercepts, as many rows at a time as scores fit into `memory` megabytes."""
    size = max(1, int(memory * 2**20 / (4 * len(intercepts))))
    with blas_threads(n_threads):
        for first in range(0, X.shape[0], size):
            scores = np.asarray(X[first : first + size] @ weights)
            scores += intercepts
            yield scores


def best_of(scores: Floats, k: int) -> tuple[Integers, Floats]:
    """Columns of the k highest scores of every row, best first, and these scores.

    Examples
    --------
    >>> best_of(np.array([[1.0, 3.0, 2.0]]), 2)
    (array([[1, 2]]), array([[3., 2.]]))
    """
    if k == 1:  # a partition takes thrice the memory of the scores
        best = scores.argmax(axis=1)[:, None]
        return best, np.take_along_axis(scores, best, axis=1)
    top = np.argpartition(-scores, k - 1, axis=1)[:, :k]
    values = np.take_along_axis(scores, top, axis=1)
    order = np.argsort(-values, axis=1, kind="stable")
    return np.take_along_axis(top, order, axis=1), np.take_along_axis(values, order, axis=1)
