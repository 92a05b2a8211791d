"""The linear support vector machine, binary and multiclass, with any cost matrix."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from separatrix.errors import ParameterError
from separatrix.learners.linear.base import TrainingData
from separatrix.learners.linear.minimizer import MinimizingClassifier
from separatrix.losses import Hinge, SquaredHinge, multiclass_hinge
from separatrix.penalties import penalty_named
from separatrix.protocols import Loss, Penalty
from separatrix.results import Solution
from separatrix.validation import check_choice, check_cost

__all__ = ["LinearSVM"]


@dataclass(eq=False, repr=False)
class LinearSVM(MinimizingClassifier):
    r"""Linear support vector machine for two classes or many.

    Two classes: minimizes :math:`\tfrac12 |w|^2 + C \sum_i c_i \max(0, 1 - y_i s_i)` (or the square
    of the hinge). More classes, or a cost matrix: minimizes :math:`\tfrac12 |W|^2 + C \sum_i c_i
    \max_k \bigl(\Delta(y_i, k) + s_{ik} - s_{i y_i}\bigr)` (Crammer & Singer 2001), where the cost
    :math:`\Delta` is the target margin over each wrong class; 0-1 by default. With two classes the
    cost :math:`\Delta(y, \bar y)` takes the place of the 1 in the hinge.

    Parameters
    ----------
    loss : {"hinge", "squared_hinge"}, default="hinge"
        Squared hinge is for two classes; with more use it in one-vs-all.
    penalty : {"l2", "l1"}, default="l2"
        L1 makes most weights exactly zero; it needs the squared hinge, as in LIBLINEAR.
    C : float, default=1.0
        Weight of the losses against the penalty; large C gives the hard margin on separable data.
    cost : array-like of shape (K, K) or None, default=None
        Cost of predicting column k when row y is right, labels sorted; zero diagonal, none
        negative. None stands for 0-1 cost.
    fit_intercept : bool, default=True
        Learn intercepts.
    penalize_intercept : bool, default=False
        Penalize the intercepts like the other weights, as LIBLINEAR does.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes.
    solver : str or Solver, default="auto"
        "auto" predicts the time of all that fit and picks the fastest: "exact_newton" for two
        classes and few features, "interior_point" for many classes on dense data, "row_space" for
        far fewer rows than columns, "dual" otherwise. The squared hinge can also use "newton" and
        "lbfgs".
    tol : float, default=1e-4
        Stop when the duality gap is at most tol * P.
    max_iter : int, default=1000
        Largest number of passes over the data.
    warm_start : bool, default=False
        Start from the dual variables of the last fit.
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
    support_ : ndarray of shape (n_support,)
        Rows with a non-zero dual variable: a fit on them alone gives the same weights. Only
        after solvers with dual variables.
    n_iter_ : int
        Passes over the data.
    solution_ : Solution
        Record of the solver: duality gap, trace, why it stopped, dual variables.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from separatrix import LinearSVM
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LinearSVM(random_state=0).fit(X, y)
    >>> round(model.score(X, y), 2)
    0.99
    >>> bool(model.solution_.gap <= 1e-4 * model.solution_.objective)
    True
    """

    __sx_state__: ClassVar[tuple[str, ...]] = ("support_",)

    support_: npt.NDArray[np.int64] = field(init=False)

    loss: str = "hinge"
    _: KW_ONLY
    penalty: str = "l2"
    cost: Any = None

    def _loss(self, n_classes: int) -> Loss:
        check_choice("loss", self.loss, ("hinge", "squared_hinge"))
        cost = check_cost(self.cost, n_classes)
        if self.loss == "hinge":
            binary = n_classes == 2 and cost is None
            return Hinge() if binary else multiclass_hinge(cost)
        if cost is not None:
            raise ParameterError("a cost matrix needs loss='hinge'")
        if n_classes > 2:
            raise ParameterError(
                f"loss='squared_hinge' is for two classes, y has {n_classes}; wrap the estimator "
                "in one-vs-all (separatrix.OneVsAll) or use loss='hinge'"
            )
        return SquaredHinge()

    def _penalty(self) -> Penalty:
        check_choice("penalty", self.penalty, ("l2", "l1"))
        if self.penalty == "l1" and self.loss == "hinge":
            raise ParameterError(
                "penalty='l1' needs loss='squared_hinge': with the hinge there is no smooth part "
                "to follow"
            )
        return penalty_named(self.penalty, None)

    def _unpenalized(self) -> Penalty:
        raise ParameterError(
            "C=inf is the hard margin, which only separable data have: say a large C, such as 1e6"
        )

    def _solve(self, data: TrainingData, C: float, start: Solution | None = None) -> Solution:
        if len(data.classes) != 2 or self.cost is None:
            return super()._solve(data, C, start)
        # Two classes with a cost matrix: at the optimum w0 = -w1, so 1/2 (|w0|^2 + |w1|^2) is
        # 1/4 |w1 - w0|^2, and half the C gives the binary problem in w = w1 - w0, halved.
        two = super()._solve(data, C / 2)
        w = two.w[:, 1:] - two.w[:, :1]
        return two._replace(w=w, objective=2 * two.objective, gap=2 * two.gap)

    def _store(self, solution: Solution, data: TrainingData) -> None:
        super()._store(solution, data)
        if solution.dual is not None:
            self.support_ = support_rows(solution.dual, data.codes)


def support_rows(dual: npt.NDArray[Any], codes: npt.NDArray[np.int64]) -> npt.NDArray[np.intp]:
    """Rows that hold a part of w: a positive dual, or dual mass on a wrong class."""
    if dual.ndim == 1:
        return np.flatnonzero(dual > 0)
    wrong = dual.copy()
    wrong[np.arange(len(codes)), codes] = 0
    return np.flatnonzero((wrong > 0).any(axis=1))
