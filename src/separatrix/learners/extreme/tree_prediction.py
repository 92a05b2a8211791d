"""What a label tree says about rows: the best labels by beam search, and probabilities."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from separatrix.errors import ParameterError
from separatrix.features.handles import checked_matrix, sparse_handle
from separatrix.learners.extreme.candidates import Candidates
from separatrix.learners.extreme.top_labels import TopLabels
from separatrix.learners.extreme.tree_shape import TreeShape
from separatrix.learners.extreme.tree_weights import TreeWeights
from separatrix.validation import float_type, is_sparse, number_of_threads

__all__ = ["SCALES", "TreePrediction"]

FloatArray = npt.NDArray[np.floating[Any]]

#: Factor on the scores of each kind of node before they are read as logits.
SCALES = {"logistic": 1.0, "svm": 3.0, "perceptron": 1.0}


class TreePrediction:
    """Prediction by a fitted tree; see `LabelTree`."""

    beam: int | None
    loss: str
    n_jobs: int | None
    classes_: npt.NDArray[Any]
    shape_: TreeShape
    weights_: TreeWeights
    multilabel_: bool
    dense_labels_: bool

    def _beam(self) -> int:
        if self.beam is None:
            return 2**31
        if not isinstance(self.beam, int | np.integer) or self.beam < 1:
            raise ParameterError(f"beam must be None or a positive number, got {self.beam!r}")
        return int(self.beam)

    def _rows(self, X: Any, *, reset: bool) -> sp.csr_array:
        X = checked_matrix(self, X, number_of_threads(self.n_jobs), reset=reset)
        return X if is_sparse(X) else sp.csr_array(X)

    def _search(self, X: Any, n: int, least: float = -np.inf) -> Candidates:
        check_is_fitted(self, "weights_")
        X = self._rows(X, reset=False)
        return Candidates(
            *self._model().search(
                sparse_handle(X), self._beam(), n, least, number_of_threads(self.n_jobs)
            )
        )

    def _model(self) -> Any:
        scale = SCALES[self.loss]
        return self.weights_.model(self.shape_, single=not self.multilabel_, scale=scale)

    def candidates(self, X: Any, n: int = 10) -> Candidates:
        """The best labels that the beam reaches.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_rows, d)
            Rows.
        n : int, default=10
            Labels per row; a row has fewer where the beam reaches fewer.

        Returns
        -------
        Candidates
            For each row places in `classes_`, best first, and logarithms of probabilities.
        """
        if not isinstance(n, int | np.integer) or n < 1:
            raise ParameterError(f"n must be a positive number, got {n!r}")
        return self._search(X, min(int(n), 2**31))

    def predict_top(self, X: Any, k: int = 5) -> TopLabels:
        """The k most probable labels of every row with their probabilities.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n, d)
            Rows.
        k : int, default=5
            At most the number of labels that the beam reaches in every row.

        Returns
        -------
        TopLabels
            Labels and probabilities, best first.
        """
        found = self.candidates(X, k)
        if (np.diff(found.indptr) < k).any():
            row = int(np.argmax(np.diff(found.indptr) < k))
            raise ParameterError(
                f"the beam reaches {int(np.diff(found.indptr)[row])} labels of row {row}, fewer "
                f"than k={k}; raise beam"
            )
        labels = self.classes_[found.indices.reshape(-1, k)]
        return TopLabels(labels, np.exp(found.log_scores.reshape(-1, k)))

    def predict(self, X: Any) -> Any:
        """The most probable label, or all labels with a probability of at least one half.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n, d)
            Rows.

        Returns
        -------
        ndarray of shape (n,), or array or CSR array of shape (n, K)
            Labels; an indicator matrix, sparse where that of `fit` was, with several per row.
        """
        check_is_fitted(self, "weights_")
        if not self.multilabel_:
            labels: npt.NDArray[Any] = self.classes_[self._search(X, 1).indices]
            return labels
        found = self._search(X, len(self.classes_), math.log(0.5))
        Y = self._indicator(found, np.ones(len(found.indices), dtype=np.int64))
        return Y.toarray() if self.dense_labels_ else Y

    def _indicator(self, found: Candidates, values: npt.NDArray[Any]) -> sp.csr_array:
        shape = (len(found.indptr) - 1, len(self.classes_))
        Y = sp.csr_array((values, found.indices, found.indptr), shape=shape)
        Y.sort_indices()
        return Y

    def predict_proba(self, X: Any) -> npt.NDArray[Any]:
        """Probabilities of all labels, of shape (n, K).

        With one label per row they sum to one: what a node that the beam leaves out has is spread
        evenly over the labels below it. With several labels per row, labels that the beam does not
        reach have probability zero. For very many labels see `candidates`.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n, d)
            Rows.

        Returns
        -------
        ndarray of shape (n, K)
            P(y | x), or P(y in set | x), columns in the order of `classes_`.
        """
        check_is_fitted(self, "weights_")
        n_labels = len(self.classes_)
        if self.multilabel_:
            found = self._search(X, n_labels)
            shares = self._indicator(found, np.exp(found.log_scores)).toarray()
        else:
            rows = sparse_handle(self._rows(X, reset=False))
            n_threads = number_of_threads(self.n_jobs)
            shares = self._model().shares(rows, self._beam(), n_labels, n_threads)
        return np.asarray(shares, dtype=float_type(X))
