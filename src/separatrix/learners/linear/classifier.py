"""Any loss of the zoo with any penalty and any solver that can handle them."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

from sklearn.utils.metaestimators import available_if

from separatrix.errors import ParameterError
from separatrix.learners.linear.likelihood import LikelihoodClassifier
from separatrix.learners.linear.minimizer import MinimizingClassifier
from separatrix.losses import MARGIN_LOSSES, MULTICLASS_LOSSES, kernel_of
from separatrix.penalties import penalty_named
from separatrix.protocols import Loss, Penalty

__all__ = ["LinearClassifier"]


def _has_likelihood(estimator: LinearClassifier) -> bool:
    loss = estimator.loss
    kernel = kernel_of(MARGIN_LOSSES.get(loss) if isinstance(loss, str) else loss)
    return kernel is not None and kernel.likelihood


@dataclass(eq=False, repr=False)
class LinearClassifier(MinimizingClassifier):
    r"""Linear classifier with a loss, a penalty and a solver of your choice.

    Minimizes :math:`R(w) + C \sum_i c_i \ell(s_i, y_i)` with scores :math:`s = W x + b`.

    Parameters
    ----------
    loss : str or Loss, default="logistic"
        "perceptron", "hinge", "squared_hinge", "exponential", "logistic", "squared", or any object
        that keeps the contract `separatrix.protocols.Loss`. With more than two classes:
        "perceptron", "hinge" and "logistic", or an object with ``n_scores = None``.
    penalty : str, None or Penalty, default="l2"
        "l2", "l1", "elasticnet", None, or any object that keeps the contract
        `separatrix.protocols.Penalty`.
    solver : str or Solver, default="auto"
        "auto" picks by problem and shape and says what it picked in ``solution_.solver``; or
        "dual", "newton", "lbfgs", "gradient_descent", "proximal", "proximal_newton", "sgd",
        "adagrad", "adadelta", "rmsprop", "adam", or an object of `separatrix.solvers`.
    C : float, default=1.0
        Weight of the losses against the penalty.
    l1_ratio : float or None, default=None
        Share of L1 in ``penalty="elasticnet"``, 0.5 where it is None; an error with another
        penalty.
    fit_intercept : bool, default=True
        Learn intercepts.
    penalize_intercept : bool, default=False
        Penalize the intercepts like the other weights.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes.
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
        Seed of the order of rows.
    verbose : int, default=0
        1 shows a progress bar, 2 prints a line per pass.

    Attributes
    ----------
    coef_ : ndarray of shape (1, d) or (K, d)
        Weights.
    intercept_ : ndarray of shape (1,) or (K,)
        Intercepts.
    classes_ : ndarray of shape (K,)
        Labels, sorted.
    n_iter_ : int
        Passes over the data.
    solution_ : Solution
        Record of the solver.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from separatrix import LinearClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = LinearClassifier("exponential", solver="lbfgs", C=0.1).fit(scale(X), y)
    >>> round(model.score(scale(X), y), 2)
    0.99
    """

    loss: Any = "logistic"
    penalty: Any = "l2"
    _: KW_ONLY
    l1_ratio: float | None = None

    def _loss(self, n_classes: int) -> Loss:
        if not isinstance(self.loss, str):
            if not hasattr(self.loss, "value_and_grad"):
                raise ParameterError(
                    f"loss must be a name or keep the contract protocols.Loss, got {self.loss!r}"
                )
            loss: Loss = self.loss
            if loss.n_scores == 1 and n_classes > 2:
                raise ParameterError(_two_classes_only(type(loss).__name__, n_classes))
            return loss
        if self.loss not in MARGIN_LOSSES or self.loss == "zero_one":
            names = tuple(name for name in MARGIN_LOSSES if name != "zero_one")
            raise ParameterError(f"loss must be one of {names} or an object, got {self.loss!r}")
        if n_classes == 2:
            return MARGIN_LOSSES[self.loss]
        if self.loss not in MULTICLASS_LOSSES:
            raise ParameterError(_two_classes_only(self.loss, n_classes))
        return MULTICLASS_LOSSES[self.loss]()

    def _penalty(self) -> Penalty:
        if self.penalty is None or isinstance(self.penalty, str):
            return penalty_named(self.penalty, self.l1_ratio)
        if not hasattr(self.penalty, "prox"):
            raise ParameterError(
                "penalty must be a name or keep the contract protocols.Penalty, "
                f"got {self.penalty!r}"
            )
        if self.l1_ratio is not None:
            raise ParameterError(
                f"l1_ratio={self.l1_ratio!r} needs penalty='elasticnet', got an object"
            )
        penalty: Penalty = self.penalty
        return penalty

    predict_proba = available_if(_has_likelihood)(LikelihoodClassifier.predict_proba)
    predict_log_proba = available_if(_has_likelihood)(LikelihoodClassifier.predict_log_proba)


def _two_classes_only(loss: str, n_classes: int) -> str:
    return (
        f"loss {loss!r} is for two classes, y has {n_classes}; wrap the estimator in one-vs-all "
        "(separatrix.OneVsAll) or use 'hinge', 'logistic' or 'perceptron'"
    )
