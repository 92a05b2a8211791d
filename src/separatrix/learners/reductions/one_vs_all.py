"""One-vs-all: a two-class problem for each class against the rest."""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix.learners.reductions.base import FloatArray, Reduction
from separatrix.learners.reductions.code_matrix import CodeMatrix
from separatrix.learners.reductions.codes import one_vs_all

__all__ = ["OneVsAll"]


class OneVsAll(Reduction):
    r"""Many classes from two: each class against all others, the highest score wins.

    Predicts :math:`\arg\max_k h_k(x)`, where :math:`h_k` is learned with +1 for class k and -1 for
    all others. Probabilities are those of the columns, scaled to sum to one. When the estimator
    is a linear learner of separatrix, all columns are trained in one pass over the same rows.

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

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from separatrix import LogisticRegression, OneVsAll
    >>> X, y = load_iris(return_X_y=True)
    >>> model = OneVsAll(LogisticRegression()).fit(X, y)
    >>> round(model.score(X, y), 2), model.predict_proba(X).shape
    (0.95, (150, 3))
    >>> OneVsAll(DecisionTreeClassifier(random_state=0)).fit(X, y).score(X, y)
    1.0
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        cost: Any = None,
        class_weight: Any = None,
        C: float | None = None,
        shared: bool = True,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.cost = cost
        self.class_weight = class_weight
        self.C = C
        self.shared = shared
        self.n_jobs = n_jobs

    def _code(self, n_classes: int, X: Any, codes: Any, weights: Any) -> CodeMatrix:
        return one_vs_all(n_classes)

    def _class_scores(self, margins: FloatArray) -> FloatArray:
        return np.hstack([-margins / 2, margins / 2]) if margins.shape[1] == 1 else margins

    def _class_shares(self, shares: FloatArray) -> FloatArray:
        total = shares.sum(axis=1, keepdims=True)
        uniform = np.full_like(shares, 1 / shares.shape[1])
        return np.asarray(np.divide(shares, total, out=uniform, where=total > 0))
