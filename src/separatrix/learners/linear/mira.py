"""MIRA: the smallest change of the weights that mends a mistake by margin 1."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

from separatrix.learners.linear.online import OnlineClassifier
from separatrix.validation import check_positive

__all__ = ["MIRA"]


@dataclass(eq=False, repr=False)
class MIRA(OnlineClassifier):
    r"""Margin infused relaxed algorithm (Crammer & Singer 2003), on mistakes only.

    A mistake on :math:`x` with label :math:`y`, where label :math:`k` scored as high or higher,
    moves :math:`w_y \leftarrow w_y + \tau x` and :math:`w_k \leftarrow w_k - \tau x` with

    .. math:: \tau = \min\left(\frac{(w_k - w_y) \cdot x + 1}{2 \, x \cdot x}, C\right).

    Two classes share one vector :math:`w = w_1 - w_0`, on which the step and its cap are twice as
    large. It does not minimize an objective.

    Parameters
    ----------
    C : float, default=1.0
        Largest step; it guards against rows with a wrong label.
    averaging : {"average", "none", "vote"}, default="average"
        Predict with the average of the weights after each row, with the last weights, or by a vote
        of all weight vectors, each counting the rows it survived.
    fit_intercept : bool, default=True
        Learn the weight of a constant feature 1.
    shuffle : bool, default=True
        Visit the rows in a new order in every pass.
    class_weight : dict, "balanced" or None, default=None
        Factors of C, by class; a sample weight is the factor of its row.
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
        On separated data, from zero weights: max(radius_^2, 1/C) / margin_^2 (1/(2C) for two
        classes, C the smallest of the rows), which the sum of `mistakes_` does not exceed; twice
        that where two learners shared the passes.
    n_iter_ : int
        Passes over the data.
    solution_ : Solution
        Record of the run; its objective and gap are the mistakes of the last pass.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from separatrix import MIRA
    >>> X, y = load_digits(return_X_y=True)
    >>> model = MIRA(C=0.01, random_state=0).fit(X[:1200] / 16, y[:1200])
    >>> bool(model.score(X[1200:] / 16, y[1200:]) > 0.9)
    True
    """

    C: float = 1.0
    _: KW_ONLY

    def _rule(self) -> tuple[str, float]:
        check_positive(C=self.C)
        return "mira", float(self.C)
