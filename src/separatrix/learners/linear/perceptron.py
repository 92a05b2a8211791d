"""The perceptron: last, averaged or voted weights, for two and for many classes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

from separatrix.learners.linear.online import OnlineClassifier
from separatrix.validation import check_positive

__all__ = ["Perceptron"]


@dataclass(eq=False, repr=False)
class Perceptron(OnlineClassifier):
    r"""Linear classifier learned from its mistakes.

    A mistake on :math:`x` with label :math:`y`, where label :math:`k` scored as high or higher,
    moves :math:`w_y \leftarrow w_y + r x` and :math:`w_k \leftarrow w_k - r x`. Two classes share
    one vector :math:`w = w_1 - w_0`, moved by :math:`r y x` when :math:`y \, w \cdot x \le 0`. It
    does not minimize an objective; on separable data it makes at most :math:`(R / \delta)^2`
    mistakes (Novikoff 1962).

    Parameters
    ----------
    averaging : {"average", "none", "vote"}, default="average"
        Predict with the average of the weights after each row, with the last weights, or by a vote
        of all weight vectors, each counting the rows it survived (Freund & Schapire 1999). A vote
        keeps every mistaken row, and predicting a row costs a product with each of them.
    learning_rate : float, default=1.0
        The rate r.
    fit_intercept : bool, default=True
        Learn the weight of a constant feature 1.
    shuffle : bool, default=True
        Visit the rows in a new order in every pass.
    class_weight : dict, "balanced" or None, default=None
        Factors of the updates, by class.
    max_iter : int, default=20
        Largest number of passes.
    warm_start : bool, default=False
        Start from the last weights of the previous fit.
    on_interrupt : {"raise", "keep"}, default="raise"
        Upon Ctrl-C: raise KeyboardInterrupt, or keep the weights so far and return.
    n_jobs : int or None, default=None
        Threads. From two on, passes over more than two million stored values are shared by two
        learners, whose weights are averaged after each pass (iterative parameter mixing, McDonald
        et al. 2010); not with ``averaging="vote"`` or ``shuffle=False``. All else is sequential.
    random_state : int, RandomState or None, default=None
        Seed of the orders.
    verbose : int, default=0
        1 shows a progress bar, 2 prints a line per pass.

    Attributes
    ----------
    coef_ : ndarray of shape (1, d) or (K, d)
        Weights: averaged, or the last ones with ``averaging="none"`` and ``"vote"``.
    intercept_ : ndarray of shape (1,) or (K,)
        Weights of the constant feature.
    classes_ : ndarray of shape (K,)
        Labels, sorted.
    mistakes_ : ndarray of shape (n_iter_,)
        Mistakes of every pass.
    margin_ : float or None
        On separated data: smallest lead of the right label at the last weights, scaled to unit
        norm.
    radius_ : float or None
        On separated data: largest norm of a row with its bias feature, times sqrt(2) for K > 2.
    mistake_bound_ : float or None
        On separated data, from zero weights: (radius_ / margin_)^2, which the sum of `mistakes_`
        does not exceed (times the ratio of the largest to the smallest row weight; twice that where
        two learners shared the passes).
    n_iter_ : int
        Passes over the data.
    solution_ : Solution
        Record of the run; its objective and gap are the mistakes of the last pass.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from separatrix import Perceptron
    >>> X, y = load_iris(return_X_y=True)
    >>> model = Perceptron(max_iter=100, random_state=0).fit(X, y)
    >>> round(model.score(X, y), 1)
    1.0
    >>> separable = Perceptron(random_state=0).fit(X, y == 0)
    >>> bool(separable.mistakes_.sum() <= separable.mistake_bound_)
    True
    """

    _elsewhere: ClassVar[Mapping[str, str]] = {"eta0": "say learning_rate"}

    averaging: str = "average"
    _: KW_ONLY
    learning_rate: float = 1.0

    def _rule(self) -> tuple[str, float]:
        check_positive(learning_rate=self.learning_rate)
        return "perceptron", float(self.learning_rate)
