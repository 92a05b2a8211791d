"""Logistic regression: the sigmoid model for two classes, the softmax for many."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

from separatrix.learners.linear.likelihood import LikelihoodClassifier
from separatrix.penalties import penalty_named
from separatrix.protocols import Penalty

__all__ = ["LogisticRegression"]


@dataclass(eq=False, repr=False)
class LogisticRegression(LikelihoodClassifier):
    r"""Logistic regression for two classes or many (softmax, multinomial regression).

    Minimizes :math:`R(w) + C \sum_i c_i \log\bigl(1 + e^{-y_i s_i}\bigr)` for two classes and
    :math:`R(W) + C \sum_i c_i \bigl(\log \sum_k e^{s_{ik}} - s_{i y_i}\bigr)` for more, with scores
    :math:`s = W x + b` and :math:`R(w) = \tfrac12 |w|^2` for ``penalty="l2"``.

    Parameters
    ----------
    penalty : {"l2", "l1", "elasticnet", None}, default="l2"
        Penalty on the weights; None gives maximum likelihood.
    C : float, default=1.0
        Weight of the data against the penalty; the variance of a Gaussian prior on each weight.
        ``np.inf`` leaves the penalty out, as in scikit-learn.
        Other names for it: ridge-type gamma = 1 / C; gamma of ACE + gamma |W|^2 = 1 / (2 n C);
        lambda of (1/n) NLL + lambda/2 |w|^2 = 1 / (n C); c2 of NLL + c2 |w|^2 = 1 / (2 C).
    l1_ratio : float or None, default=None
        Share of L1 in ``penalty="elasticnet"``, 0.5 where it is None; an error with another
        penalty.
    fit_intercept : bool, default=True
        Learn intercepts.
    penalize_intercept : bool, default=False
        Penalize the intercepts like the other weights.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes.
    solver : str or Solver, default="auto"
        "auto" picks by problem and shape and says what it picked in ``solution_.solver``; or
        "dual", "newton", "lbfgs", "gradient_descent", "proximal", "proximal_newton", "sgd",
        "adagrad", "adadelta", "rmsprop", "adam", or an object of `separatrix.solvers`.
    tol : float, default=1e-4
        Stop when the gap is proven to be at most tol * P; see the guide on certificates.
    max_iter : int, default=1000
        Largest number of passes over the data.
    warm_start : bool, default=False
        Start from the solution of the last fit.
    on_interrupt : {"raise", "keep"}, default="raise"
        Upon Ctrl-C: raise KeyboardInterrupt, or keep the best weights so far and return.
    n_jobs : int or None, default=None
        Threads; None asks SEPARATRIX_NUM_THREADS, OMP_NUM_THREADS, then the CPUs.
    random_state : int, RandomState or None, default=None
        Seed of the order of rows in dual and stochastic solvers.
    verbose : int, default=0
        1 shows a progress bar, 2 prints a line per pass.

    Attributes
    ----------
    coef_ : ndarray of shape (1, d) or (K, d)
        Weights; of zero sum over the classes under an L2 penalty.
    intercept_ : ndarray of shape (1,) or (K,)
        Intercepts, of zero sum over the classes when they are not penalized.
    classes_ : ndarray of shape (K,)
        Labels, sorted.
    n_iter_ : int
        Passes over the data.
    solution_ : Solution
        Record of the solver: gap, trace, why it stopped.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from separatrix import LogisticRegression
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LogisticRegression(C=10.0).fit(X, y)
    >>> round(model.score(X, y), 2)
    0.98
    >>> model.predict_proba(X[50:51]).round(2)
    array([[0.  , 0.99, 0.01]])
    """

    penalty: str | None = "l2"
    _: KW_ONLY
    l1_ratio: float | None = None

    def _penalty(self) -> Penalty:
        return penalty_named(self.penalty, self.l1_ratio)
