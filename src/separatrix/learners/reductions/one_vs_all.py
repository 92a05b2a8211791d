"""One-vs-all: a two-class problem for each class against the rest."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import _num_samples

from separatrix.errors import DataError, ParameterError
from separatrix.learners.reductions.base import FloatArray, Reduction
from separatrix.learners.reductions.code_matrix import CodeMatrix
from separatrix.learners.reductions.codes import one_vs_all
from separatrix.learners.reductions.separate import Task
from separatrix.validation import check_weights, indexable_rows, is_sparse, refuse_dask

__all__ = ["OneVsAll"]


class OneVsAll(Reduction):
    r"""Many classes from two: each class against all others, the highest score wins.

    Predicts :math:`\arg\max_k h_k(x)`, where :math:`h_k` is learned with +1 for class k and -1 for
    all others. Probabilities are those of the columns, scaled to sum to one. When the estimator
    is a linear learner of separatrix, all columns are trained in one pass over the same rows.

    Rows may have several labels: with a matrix of zeros and ones for y, of shape (n, L), column k
    learns label k, `predict` gives such a matrix, and scores and probabilities are those of the
    labels one by one. `separatrix.MultiLabel` takes sets of labels and learns which go together.

    Parameters
    ----------
    estimator : estimator or None, default=None
        Any classifier or regressor; None stands for
        ``LinearSVM("squared_hinge", random_state=0)``.
    cost : array-like of shape (K, K) or None, default=None
        Cost of predicting column k when row y is right. In each column a row weighs the mean cost
        of the classes on the other side; None stands for 0-1 cost, which weighs all alike.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes.
    C : float or None, default=None
        Sets the C of the estimator; None leaves it as it is.
    shared : bool, default=True
        Train all columns in one pass where the estimator allows it; False fits every column by
        itself, through joblib.
    n_jobs : int or None, default=None
        Threads of the shared pass (None: all CPUs), or processes of joblib (None: one).

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
        Labels, sorted.
    code_ : CodeMatrix
        The code; with two classes it has one column.
    estimators_ : list of estimators
        A fitted two-class estimator for every column.
    column_weights_ : ndarray of shape (L,)
        Sum of the weights of the rows that each column was trained on.
    report_ : ColumnReport
        Objective, gap and passes of every column, after a shared pass.
    solution_ : Solution
        Sums over the columns, after a shared pass.
    multilabel_ : bool
        Whether y was a matrix of labels; ``classes_`` are then its columns.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from separatrix import LogisticRegression, OneVsAll
    >>> X, y = load_iris(return_X_y=True)
    >>> model = OneVsAll(LogisticRegression()).fit(X, y)
    >>> round(model.score(X, y), 2), model.predict_proba(X).shape
    (0.95, (150, 3))
    >>> OneVsAll(DecisionTreeClassifier(random_state=0)).fit(X, y).score(X, y)
    1.0
    >>> sets = np.column_stack([y > 0, y < 2]).astype(int)  # 0: second, 1: both, 2: first
    >>> OneVsAll(LogisticRegression()).fit(X, sets).predict(X[[0, 75, 149]])
    array([[0, 1],
           [1, 1],
           [1, 0]])
    """

    #: Whether rows have several labels each.
    multilabel_: bool = False
    __sx_state__: ClassVar[tuple[str, ...]] = ("multilabel_",)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit every column.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n, d)
            Training rows; anything that the estimator takes.
        y : array-like of shape (n,), or matrix of zeros and ones of shape (n, L)
            Labels of any type, or which labels every row has.
        sample_weight : array-like of shape (n,), optional
            Weight of every row.

        Returns
        -------
        self
            The fitted estimator.
        """
        refuse_dask(self, X, y)
        given = y if is_sparse(y) or y is None else np.asarray(y)
        self.multilabel_ = given is not None and given.ndim == 2 and given.shape[1] > 1
        if not self.multilabel_:
            return super().fit(X, y, sample_weight)
        self._check_parameters()
        for name in ("cost", "class_weight"):
            if getattr(self, name) is not None:
                raise ParameterError(f"{name} is for rows of one label each; y has several")
        X = indexable_rows(X)
        signs, codes = _label_sets(given, _num_samples(X))
        weights = check_weights(sample_weight, None, X, codes, codes, two_classes=False)
        self._fit_columns(X, Task(codes, signs.astype(np.float64), weights))
        self.classes_ = np.arange(signs.shape[1])
        self.code_ = one_vs_all(signs.shape[1])
        return self

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The label of the highest score; with several labels, those of a positive score.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n, d)
            Rows to label.

        Returns
        -------
        ndarray of shape (n,), or (n, L) of zeros and ones
            Labels.
        """
        if not self.multilabel_:
            return super().predict(X)
        return (self.column_scores(X) > 0).astype(np.int64)

    def decision_function(self, X: Any) -> npt.NDArray[Any]:
        """Scores: (n,) for two classes (positive means the second), else (n, K) or (n, L).

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n, d)
            Rows to score.

        Returns
        -------
        ndarray of shape (n,), (n, K) or (n, L)
            The highest score wins; of several labels those of a positive score.
        """
        return self.column_scores(X) if self.multilabel_ else super().decision_function(X)

    def _probabilities(self, proba: FloatArray) -> FloatArray:
        return proba if self.multilabel_ else super()._probabilities(proba)

    def _code(self, n_classes: int, X: Any, codes: Any, weights: Any) -> CodeMatrix:
        return one_vs_all(n_classes)

    def _class_scores(self, margins: FloatArray) -> FloatArray:
        return np.hstack([-margins / 2, margins / 2]) if margins.shape[1] == 1 else margins

    def _class_proba(self, proba: FloatArray) -> FloatArray:
        total = proba.sum(axis=1, keepdims=True)
        uniform = np.full_like(proba, 1 / proba.shape[1])
        return np.asarray(np.divide(proba, total, out=uniform, where=total > 0))


def _label_sets(y: Any, n: int) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.int64]]:
    """The distinct sets of labels as rows of +1 and -1, and the number of that of every row."""
    table = np.asarray(y.toarray() if is_sparse(y) else y)
    if len(table) != n:
        raise DataError(f"X has {n} rows, y has {len(table)}")
    if not np.isin(table, (0, 1)).all():
        row, column = np.argwhere(~np.isin(table, (0, 1)))[0]
        raise DataError(
            f"y has {table[row, column]!r} in row {row}, column {column}: with several columns it "
            "says by zeros and ones which labels a row has"
        )
    for wanted, words in ((1, "in no row"), (0, "in every row")):
        absent = (table != wanted).all(axis=0)
        if absent.any():
            raise DataError(
                f"label {int(np.argmax(absent))} is {words}: there is nothing to tell apart"
            )
    sets, codes = np.unique(table.astype(np.int8), axis=0, return_inverse=True)
    return 2 * sets - 1, codes.reshape(-1).astype(np.int64)
