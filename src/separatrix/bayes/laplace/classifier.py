"""Logistic regression with a Gaussian posterior of its weights (Laplace's approximation)."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field, fields
from typing import Any, ClassVar, Self

import numpy as np
from scipy.optimize import minimize_scalar
from sklearn.utils.validation import check_is_fitted

from separatrix.bayes.laplace.inference import LaplaceInference
from separatrix.bayes.laplace.moderation import normal_points
from separatrix.bayes.laplace.posterior import LaplacePosterior
from separatrix.bayes.laplace.results import EvidencePath
from separatrix.errors import DataError, ParameterError
from separatrix.learners.linear.base import TrainingData
from separatrix.learners.linear.likelihood import LikelihoodClassifier
from separatrix.penalties import L2
from separatrix.protocols import Penalty
from separatrix.results import Solution
from separatrix.validation import check_choice, check_positive, refuse_dask, seed_from, warn_unused

__all__ = ["LaplaceLogisticRegression"]

#: The grid on which evidence looks for the best C before it refines: gamma = 10^4 … 10^-5.
_GRID = np.logspace(-4, 5, 10)
#: What `from_estimator` may set.
_OPTIONS = ("covariance", "rank", "prediction", "n_draws", "random_state")


@dataclass(frozen=True)
class _Rows(TrainingData):
    """Training data with the rows themselves, which a diagonal covariance has to square."""

    X: Any = None


@dataclass(eq=False, repr=False)
class LaplaceLogisticRegression(LaplaceInference):
    r"""Logistic regression (softmax for many classes) with uncertainty of weights and predictions.

    The prior is :math:`w \sim N(0, C\,I)`, flat on the intercepts; around the optimum of
    `LogisticRegression` the posterior is approximately normal (MacKay 1992):

    .. math:: w \mid D \sim N(\hat w, H^{-1}), \quad
       H = \tfrac1C I + \sum_i c_i \nabla^2 \ell_i(\hat w).

    With more than two classes the weights are held to sum zero over the classes; otherwise the
    softmax would leave a direction undetermined.

    Parameters
    ----------
    C : float or "evidence", default=1.0
        Variance of the prior, 1 / gamma. "evidence" takes the one under which the labels are most
        likely, without held-out data: a warm-started grid, then a search between its points.
    covariance : {"auto", "full", "diagonal", "low_rank"}, default="auto"
        All of :math:`H^{-1}`; or independent features; or the leading directions of the data with
        the prior elsewhere, which never claims too much. "auto" is "full" up to 4096 parameters and
        "diagonal" beyond. The evidence is exact only for "full", as far as Laplace's approximation
        is.
    rank : int, default=64
        Number of leading directions for ``covariance="low_rank"``.
    prediction : {"probit", "monte_carlo"}, default="probit"
        How `predict_proba` averages over the posterior.
    n_draws : int, default=2000
        Draws for ``prediction="monte_carlo"`` and for intervals of more than two probabilities.
    fit_intercept : bool, default=True
        Learn intercepts.
    penalize_intercept : bool, default=False
        Give the intercepts the prior of the other weights, in place of a flat one.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes.
    solver : str or Solver, default="auto"
        As for `LogisticRegression`.
    tol : float, default=1e-8
        Stop when gap <= tol * P.
    max_iter : int, default=1000
        Largest number of passes over the data.
    warm_start : bool, default=False
        Start from the solution of the last fit.
    on_interrupt : {"raise", "keep"}, default="raise"
        Upon Ctrl-C: raise KeyboardInterrupt, or keep the best weights so far and return.
    n_jobs : int or None, default=None
        Threads; None asks SEPARATRIX_NUM_THREADS, OMP_NUM_THREADS, then the CPUs.
    random_state : int, RandomState or None, default=None
        Seed of the solver and of the draws, which are the same for every row and call.
    verbose : int, default=0
        1 shows a progress bar, 2 prints a line per pass.

    Attributes
    ----------
    coef_ : ndarray of shape (1, d) or (K, d)
        Mode of the posterior.
    intercept_ : ndarray of shape (1,) or (K,)
        Mode of the intercepts.
    classes_ : ndarray of shape (K,)
        Labels, sorted.
    C_ : float
        The C in use.
    evidence_path_ : EvidencePath
        What was tried, for ``C="evidence"``.
    posterior_ : LaplacePosterior
        The Gaussian.
    n_iter_, solution_
        As for `LogisticRegression`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from separatrix import LaplaceLogisticRegression
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = scale(X[:, :3])
    >>> model = LaplaceLogisticRegression(C="evidence").fit(X, y)
    >>> model.predict_proba(X[3:4]).round(2)
    array([[0.59, 0.41]])
    >>> model.probability_interval(X[3:4])[0, 1].round(2)
    array([0.18, 0.67])
    """

    __sx_state__: ClassVar[tuple[str, ...]] = ("C_", "posterior_", "evidence_path_", "_points")

    C_: float = field(init=False)

    C: Any = 1.0
    _: KW_ONLY
    covariance: str = "auto"
    rank: int = 64
    prediction: str = "probit"
    n_draws: int = 2000
    tol: float = 1e-8

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, sample_weight: Any = None, **options: Any
    ) -> Self:
        """The posterior around a fitted `LogisticRegression`, without fitting it again.

        Parameters
        ----------
        estimator : LogisticRegression
            Fitted with an L2 penalty. It should have converged: give it a small `tol`.
        X : array-like, sparse matrix or DataFrame of shape (n, d)
            The rows it was fitted on.
        y : array-like of shape (n,)
            Their labels.
        sample_weight : array-like of shape (n,), optional
            Their weights.
        **options
            `covariance`, `rank`, `prediction`, `n_draws` or `random_state`.

        Returns
        -------
        LaplaceLogisticRegression
            With the weights of `estimator`.
        """
        if not isinstance(estimator, LikelihoodClassifier):
            raise ParameterError(
                f"from_estimator takes a LogisticRegression, got {type(estimator).__name__}"
            )
        check_is_fitted(estimator)
        if estimator.get_params().get("penalty", "l2") != "l2":
            raise ParameterError(
                f"Laplace's approximation needs a smooth prior, penalty='l2'; the estimator has "
                f"penalty={estimator.penalty!r}"
            )
        for name in options:
            check_choice("each option of from_estimator", name, _OPTIONS)
        params = estimator.get_params()
        params = {name: params[name] for name in params if name not in ("penalty", "l1_ratio")}
        model = cls(**(params | options))
        data = model._take(X, y, sample_weight)
        if not np.array_equal(data.classes, estimator.classes_):
            raise DataError("y does not hold the classes that the estimator was fitted on")
        if data.design.shape[1] != estimator.n_features_in_:
            raise DataError(
                f"X has {data.design.shape[1]} features, the estimator was fitted on "
                f"{estimator.n_features_in_}"
            )
        model.C_ = float(getattr(estimator, "C_", estimator.C))
        model._store(estimator.solution_, data)
        return model

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the optimum and the curvature there.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n, d)
            Training rows.
        y : array-like of shape (n,)
            Labels of any type.
        sample_weight : array-like of shape (n,), optional
            Weight c_i of every row.

        Returns
        -------
        self
            The fitted estimator.
        """
        refuse_dask(self, X, y)
        self._check_parameters()
        data = self._take(X, y, sample_weight)
        fits = self._begins_at_last_fit(data.classes, data.design.shape[1])
        start = self.solution_ if fits else None
        if isinstance(self.C, str):
            solution = self._search(data, start)
        else:
            self.C_ = float(self.C)
            solution = self._solve(data, self.C_, start)
        self._store(solution, data)
        self._finish(solution, self.tol)
        return self

    def _check_parameters(self) -> None:
        if isinstance(self.C, str):
            check_choice("C, where it is no number,", self.C, ("evidence",))
        else:
            check_positive(C=self.C)
        check_choice("covariance", self.covariance, ("auto", "full", "diagonal", "low_rank"))
        check_choice("prediction", self.prediction, ("probit", "monte_carlo"))
        check_positive(rank=self.rank, n_draws=self.n_draws)
        if self.covariance != "low_rank":
            warn_unused(self, "covariance='low_rank'", "rank")
        if not self.fit_intercept:
            warn_unused(self, "fit_intercept=True", "penalize_intercept")

    def _penalty(self) -> Penalty:
        return L2()

    def _make_design(self, X: Any, n_threads: int, two_classes: bool) -> Any:
        self._rows: Any = X
        return super()._make_design(X, n_threads, two_classes)

    def _take(
        self, X: Any, y: Any, sample_weight: Any, *, classes: Any = None, reset: bool = True
    ) -> TrainingData:
        data = super()._take(X, y, sample_weight, classes=classes, reset=reset)
        shared = {field.name: getattr(data, field.name) for field in fields(TrainingData)}
        rows = self._rows
        del self._rows
        return _Rows(**shared, X=rows)

    def _expand(self, data: TrainingData, C: float, w: Any) -> LaplacePosterior:
        objective = self._objective(data, C)
        rows = getattr(data, "X", None)
        return LaplacePosterior.of(objective, w, self.covariance, int(self.rank), rows)

    def _store(self, solution: Solution, data: TrainingData) -> None:
        # A path hands solutions in directly, each to an estimator with its own C.
        if not isinstance(self.C, str):
            self.C_ = float(self.C)
        super()._store(solution, data)
        self.posterior_ = self._expand(data, self.C_, solution.w)
        self._points = normal_points(
            int(self.n_draws), self.posterior_.center.shape[1], seed_from(self.random_state)
        )

    def _search(self, data: TrainingData, start: Solution | None) -> Solution:
        """The solution at the C of the highest evidence, each C started from the last."""
        tried: dict[float, float] = {}
        last = start

        def loss(log_C: float) -> float:
            nonlocal last
            C = float(np.exp(log_C))
            last = self._solve(data, C, last)
            tried[C] = self._expand(data, C, last.w).log_evidence
            return -tried[C]

        grid = np.log(_GRID)
        losses = [loss(log_C) for log_C in grid]
        best = int(np.argmin(losses))
        ends = (grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)])
        minimize_scalar(loss, bounds=ends, method="bounded", options={"xatol": 1e-2})
        Cs = np.array(sorted(tried))
        self.evidence_path_ = EvidencePath(Cs, np.array([tried[C] for C in Cs]))
        self.C_ = float(Cs[self.evidence_path_.log_evidences.argmax()])
        return self._solve(data, self.C_, last)
