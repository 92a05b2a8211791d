"""All pairs: a two-class problem for every two classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from separatrix.learners.reductions.base import FloatArray, Reduction
from separatrix.learners.reductions.code_matrix import CodeMatrix
from separatrix.learners.reductions.codes import all_pairs
from separatrix.learners.reductions.coupling import couple, couple_pairs
from separatrix.learners.reductions.decoding import pair_scores, tournament, vote
from separatrix.validation import check_choice

__all__ = ["AllPairs"]


@dataclass(eq=False, repr=False, kw_only=True)
class AllPairs(Reduction):
    r"""Many classes from two: every class against every other, on the rows of these two.

    Column (i, j), i < j, is learned with +1 for class i and -1 for class j. When the estimator is
    a linear learner of separatrix, all columns are trained on the same rows, sorted by class once;
    small sparse classes through the inner products of their rows, each computed once.

    Parameters
    ----------
    estimator : estimator or None, default=None
        Any classifier or regressor; None stands for
        ``LinearSVM("squared_hinge", random_state=0)``.
    decode : {"vote", "scores", "tournament"}, default="vote"
        The class that wins the most pairs, ties going to the larger sum of scores; the largest sum
        of signed scores, :math:`\sum_{j > i} h_{ij}(x) - \sum_{j < i} h_{ji}(x)`; or the winner
        of a knock-out in the order of the labels.
    coupling : {"wu_lin_weng", "hastie_tibshirani"}, default="wu_lin_weng"
        How `predict_proba` joins the probabilities of the pairs.
    cost : array-like of shape (K, K) or None, default=None
        Cost of predicting column k when row y is right: the weight of the rows of class y in the
        pair of y and k.
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
        The code: K (K - 1) / 2 columns.
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
    >>> from separatrix import AllPairs, LogisticRegression
    >>> X, y = load_iris(return_X_y=True)
    >>> model = AllPairs(LogisticRegression()).fit(X, y)
    >>> len(model.estimators_), round(model.score(X, y), 2)
    (3, 0.97)
    >>> model.predict_proba(X[:1]).round(2)
    array([[0.98, 0.02, 0.  ]])
    """

    decode: str = "vote"
    coupling: str = "wu_lin_weng"

    def _check_parameters(self) -> None:
        check_choice("decode", self.decode, ("vote", "scores", "tournament"))
        check_choice("coupling", self.coupling, ("wu_lin_weng", "hastie_tibshirani"))

    def _code(self, n_classes: int, X: Any, codes: Any, weights: Any) -> CodeMatrix:
        return all_pairs(n_classes)

    def _class_scores(self, margins: FloatArray) -> FloatArray:
        if self.decode == "scores" or len(self.classes_) == 2:
            return pair_scores(margins, self.code_)
        if self.decode == "vote":
            return vote(margins, self.code_)
        return tournament(margins, len(self.classes_))

    def _class_proba(self, proba: FloatArray) -> FloatArray:
        if self.coupling == "wu_lin_weng":
            return couple_pairs(proba, len(self.classes_))
        return couple(proba, self.code_, self.column_weights_)
