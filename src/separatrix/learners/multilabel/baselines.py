"""The label set that every row gets where features are ignored."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import _num_samples, validate_data

from separatrix.learners.baselines import Featureless
from separatrix.learners.multilabel.decisions import best_f1_sets, f1_tables
from separatrix.learners.multilabel.estimator import DECISIONS
from separatrix.learners.multilabel.targets import (
    Form,
    LabelSetTarget,
    encode_sets,
    given_back,
    read_sets,
    row_weights,
)
from separatrix.validation import (
    check_choice,
    check_given,
    refuse_dask,
)

__all__ = ["FrequentLabels"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


@dataclass(eq=False, repr=False)
class FrequentLabels(LabelSetTarget, Featureless, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Predicts one set of labels, whatever the features are.

    Parameters
    ----------
    decision : {"subset", "hamming", "f1"}
        Which: the most frequent set (the first among equals), the labels that more than half of the
        rows have, or the set of the highest mean F1.

    Attributes
    ----------
    classes_ : array of shape (L,)
        The labels.
    frequencies_ : array of shape (L,)
        Share of the rows that have a label.
    labels_ : int array of shape (L,)
        The set, as zeros and ones.

    Examples
    --------
    >>> Y = [["sea"], ["sea", "beach"], ["sea", "beach"], ["sea", "city"], ["city"]]
    >>> X = np.zeros((5, 1))
    >>> list(FrequentLabels().fit(X, Y).predict(X[:1]))
    [('beach', 'sea')]
    >>> list(FrequentLabels("hamming").fit(X, Y).predict(X[:1]))
    [('sea',)]
    """

    #: The kind of its output, for model files.
    __sx_task__: ClassVar[str] = "label_sets"
    #: Fitted attributes that a model file keeps.
    __sx_state__: ClassVar[tuple[str, ...]] = ("classes_", "form_", "frequencies_", "labels_")

    classes_: npt.NDArray[Any] = field(init=False)
    form_: Form = field(init=False)
    frequencies_: Floats = field(init=False)
    labels_: Integers = field(init=False)

    decision: str = "subset"

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Count the label sets.

        Parameters
        ----------
        X : array-like, sparse matrix, DataFrame or list of length n
            The examples; only their number matters.
        y : array or sparse matrix of shape (n, L), or sequence of n collections
            A binary matrix, or the labels of every row.
        sample_weight : array-like of shape (n,), optional
            Weights of the rows.
        """
        refuse_dask(self, X, y)
        check_choice("decision", self.decision, DECISIONS)
        check_given(self, y)
        validate_data(self, X, skip_check_array=True)
        matrix, self.classes_, self.form_ = read_sets(y, _num_samples(X))
        given = row_weights(sample_weight, X)
        weights = np.ones(len(matrix)) if given is None else given
        weights = weights / weights.sum()
        self.frequencies_ = weights @ matrix
        sets, codes = np.unique(matrix, axis=0, return_inverse=True)
        shares: Floats = np.bincount(codes.ravel(), weights=weights).astype(np.float64)
        if self.decision == "hamming":
            self.labels_ = (self.frequencies_ > 0.5).astype(np.int64)
        elif self.decision == "f1":
            self.labels_ = best_f1_sets(*f1_tables(shares[None], sets))[0]
        else:
            self.labels_ = sets[shares.argmax()]
        return self

    def predict(self, X: Any) -> Any:
        """The set, once per row, in the form of those that `fit` was given."""
        n_rows = self._count(X)
        rows = np.tile(self.labels_, (n_rows, 1))
        return given_back(rows, self.classes_, self.form_)

    def predict_proba(self, X: Any) -> Floats:
        """The frequencies of the labels, once per row, shape (n, L)."""
        n_rows = self._count(X)
        return np.tile(self.frequencies_, (n_rows, 1))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Share of the rows whose whole set is right."""
        truth = encode_sets(y, self._count(X), self.classes_)
        return float(np.average((truth == self.labels_).all(axis=1), weights=sample_weight))
