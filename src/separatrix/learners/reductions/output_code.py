"""Output codes: a two-class problem for every column of a code."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone, is_regressor
from sklearn.model_selection import train_test_split
from sklearn.utils import _safe_indexing

from separatrix.errors import DataError, ParameterError
from separatrix.learners.reductions.base import FloatArray, Reduction
from separatrix.learners.reductions.code_matrix import CodeMatrix
from separatrix.learners.reductions.codes import confusion_code, make_code
from separatrix.learners.reductions.coupling import couple
from separatrix.learners.reductions.decoding import (
    DECODING_LOSSES,
    hamming_distances,
    loss_distances,
)
from separatrix.learners.reductions.one_vs_all import OneVsAll
from separatrix.validation import check_choice, warn_unused

__all__ = ["OutputCode"]

#: Share of the rows that a code learned from confusions is learned on.
_HELD_OUT = 0.25

#: The loss that scikit-learn's estimators minimize, by the name of the class.
_LOSS_OF = {
    "AdaBoostClassifier": "exponential",
    "GradientBoostingClassifier": "logistic",
    "LogisticRegression": "logistic",
    "LogisticRegressionCV": "logistic",
    "MLPClassifier": "logistic",
    "NuSVC": "hinge",
    "Perceptron": "hinge",
    "RidgeClassifier": "squared",
    "RidgeClassifierCV": "squared",
    "SVC": "hinge",
}
#: Names of losses in constructors of other libraries.
_NAMES = {"log_loss": "logistic", "modified_huber": "squared_hinge", "squared_error": "squared"}


@dataclass(eq=False, repr=False, kw_only=True)
class OutputCode(Reduction):
    r"""Many classes from two: a word over -1, 0 and +1 for every class, a problem per column.

    The class whose word is closest to the answers of the columns wins: in Hamming distance, or by
    the sum of losses :math:`\sum_l \phi(M_{kl} f_l(x))` (Allwein, Schapire & Singer 2000).
    One-vs-all and all pairs are special cases.

    Parameters
    ----------
    estimator : estimator or None, default=None
        Any classifier or regressor; None stands for
        ``LinearSVM("squared_hinge", random_state=0)``.
    code : str, CodeMatrix or array-like of shape (K, L), default="random_dense"
        "one_vs_all", "all_pairs", "minimal", "exhaustive", "random_dense", "random_sparse",
        "hadamard", "bch" (see `separatrix.learners.reductions.codes`), "confusion" (learned from
        the confusion of classes that one-vs-all makes on a quarter of the rows), or a code of
        your own, its rows in the order of the sorted labels.
    decode : {"loss", "hamming"}, default="loss"
        What the distance from a word is.
    loss : {"auto", "hinge", "squared_hinge", "logistic", "exponential", "squared"}, default="auto"
        The loss of ``decode="loss"``; "auto" takes the one that the estimator minimizes, "logistic"
        for estimators with probabilities and "hinge" for other ones.
    n_columns : int or None, default=None
        Length of random, BCH and learned codes; None leaves it to them.
    cost : array-like of shape (K, K) or None, default=None
        Cost of predicting column k when row y is right. In each column a row weighs the mean cost
        of the classes on the other side.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes.
    C : float or None, default=None
        Sets the C of the estimator; None leaves it as it is.
    shared : bool, default=True
        Train all columns in one pass where the estimator allows it; False fits every column by
        itself, through joblib.
    n_jobs : int or None, default=None
        Threads of the shared pass (None: all CPUs), or processes of joblib (None: one).
    random_state : int, RandomState or None, default=None
        Seed of random codes and of the rows that a learned code is learned on.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
        Labels, sorted.
    code_ : CodeMatrix
        The code; print it to see its distances.
    loss_ : str
        The loss of the decoding.
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
    >>> from sklearn.datasets import load_digits
    >>> from separatrix import OutputCode
    >>> X, y = load_digits(return_X_y=True)
    >>> model = OutputCode(code="bch", random_state=0).fit(X[:1200] / 16, y[:1200])
    >>> model.code_
    CodeMatrix(10 classes, 63 columns, minimum distance 31, corrects 15)
    >>> round(model.score(X[1200:] / 16, y[1200:]), 1)
    0.9
    """

    __sx_state__ = ("loss_",)

    loss_: str = field(init=False)

    code: Any = "random_dense"
    decode: str = "loss"
    loss: str = "auto"
    n_columns: int | None = None
    random_state: Any = None

    def _check_parameters(self) -> None:
        check_choice("decode", self.decode, ("loss", "hamming"))
        check_choice("loss", self.loss, ("auto", *DECODING_LOSSES))
        if self.decode != "loss":
            warn_unused(self, "decode='loss'", "loss")
        if self.decode == "loss" and not self._has_scores():
            raise ParameterError(
                f"{type(self._base()).__name__} gives labels only, and decoding by loss needs "
                "scores: take decode='hamming', or an estimator with decision_function or "
                "predict_proba"
            )
        self.loss_ = decoding_loss(self._base()) if self.loss == "auto" else self.loss

    def _code(self, n_classes: int, X: Any, codes: Any, weights: Any) -> CodeMatrix:
        if isinstance(self.code, str):
            if self.code == "confusion":
                return self._learned(X, codes, weights)
            return make_code(self.code, n_classes, self.n_columns, self.random_state)
        given = self.code if isinstance(self.code, CodeMatrix) else CodeMatrix(self.code)
        if given.n_classes != n_classes:
            raise ParameterError(
                f"the code has {given.n_classes} rows, but y has {n_classes} classes; a code needs "
                "a row for every class"
            )
        return given

    def _learned(self, X: Any, codes: npt.NDArray[np.int64], weights: Any) -> CodeMatrix:
        counts = np.bincount(codes)
        if counts.min() < 2:
            raise DataError(
                f"class number {int(counts.argmin())} has {int(counts.min())} row; "
                "code='confusion' needs two of every class, one of them held out"
            )
        held_out = max(round(_HELD_OUT * len(codes)), len(counts))
        first, second = train_test_split(
            np.arange(len(codes)),
            test_size=held_out,
            stratify=codes,
            random_state=self.random_state,
        )
        model = OneVsAll(clone(self._base()), shared=self.shared, n_jobs=self.n_jobs)
        own = None if weights is None else weights[first]
        model.fit(_safe_indexing(X, first), codes[first], sample_weight=own)
        taken = model.predict(_safe_indexing(X, second))
        confusion = np.zeros((len(counts), len(counts)))
        np.add.at(confusion, (codes[second], taken), 1.0)
        return confusion_code(confusion, self.n_columns)

    def _class_scores(self, margins: FloatArray) -> FloatArray:
        if self.decode == "hamming":
            return -hamming_distances(margins, self.code_)
        return -loss_distances(margins, self.code_, self.loss_)

    def _class_proba(self, proba: FloatArray) -> FloatArray:
        return couple(proba, self.code_, self.column_weights_)


def decoding_loss(estimator: Any) -> str:
    """The loss that an estimator minimizes, or the one that fits its scores.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> from separatrix import LinearSVM
    >>> decoding_loss(Ridge()), decoding_loss(LinearSVM("squared_hinge"))
    ('squared', 'squared_hinge')
    """
    if is_regressor(estimator):
        return "squared"
    named = getattr(estimator, "loss", None)
    named = _NAMES.get(named, named) if isinstance(named, str) else getattr(named, "name", None)
    if named in DECODING_LOSSES:
        return str(named)
    known = _LOSS_OF.get(type(estimator).__name__)
    if known is not None:
        return known
    return "logistic" if hasattr(estimator, "predict_proba") else "hinge"
