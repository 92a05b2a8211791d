"""Learners that minimize P(w) = R(w) + C sum_i c_i loss_i: from checked data to a solution."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from separatrix.errors import DataError, ParameterError
from separatrix.learners.linear.base import BaseLinearClassifier, TrainingData, is_narrow
from separatrix.objective import Objective
from separatrix.penalties import Unpenalized
from separatrix.progress import fitting
from separatrix.protocols import Array, Loss, Penalty, Solver
from separatrix.results import Monitor, Solution, StopReason
from separatrix.solvers import SOLVERS, Certifier, check_needs, make_solver
from separatrix.structures.labels import Design, FlatScores, far_from_zero, in_double, in_place
from separatrix.validation import (
    check_choice,
    check_positive,
    is_sparse,
    name_column,
    refuse_dask,
    seed_from,
    warn_unused,
)

__all__ = ["MinimizingClassifier", "zero_sum"]


#: Names of scikit-learn's solvers, and what serves here.
_SOLVERS_ELSEWHERE = {
    "liblinear": "solver='dual' with penalize_intercept=True",
    "newton-cg": "solver='newton'",
    "newton-cholesky": "solver='newton'",
    "sag": "solver='sgd'",
    "saga": "solver='proximal' (or 'proximal_newton') for an L1 penalty, 'sgd' for others",
}


@dataclass(eq=False, repr=False, kw_only=True)
class MinimizingClassifier(BaseLinearClassifier):
    """Base of the learners with an objective; subclasses name the loss and the penalty."""

    _elsewhere: ClassVar[Mapping[str, str]] = {
        "alpha": "say C = 1 / (alpha * number of rows) for that of SGDClassifier, and "
        "C = 1 / (2 * alpha) for that of RidgeClassifier",
        "dual": "say solver='dual', or solver='newton' for the primal; 'auto' chooses",
        "early_stopping": "tol ends a fit at a proven gap; a smaller C regularizes",
        "eta0": "say solver=separatrix.solvers.StochasticGradient(learning_rate=...)",
        "intercept_scaling": "say penalize_intercept=True, or leave the intercept free",
        "learning_rate": "say solver=separatrix.solvers.StochasticGradient(learning_rate=...)",
        "n_iter_no_change": "tol ends a fit at a proven gap",
    }
    C: float = 1.0
    penalize_intercept: bool = False
    solver: Any = "auto"
    tol: float = 1e-4
    max_iter: int = 1000

    def _loss(self, n_classes: int) -> Loss:
        """The loss for so many classes."""
        raise NotImplementedError

    def _penalty(self) -> Penalty:
        """The penalty."""
        raise NotImplementedError

    def _unpenalized(self) -> Penalty:
        """No penalty, for C = inf."""
        return Unpenalized()

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the weights.

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
        self._check_solver_name()
        if not self.fit_intercept:
            warn_unused(self, "fit_intercept=True", "penalize_intercept")
        data = self._take(X, y, sample_weight)
        fits = self._begins_at_last_fit(data.classes, data.design.shape[1])
        start = self.solution_ if fits else None
        solution = self._solve(data, self.C, start)
        self._store(solution, data)
        self._finish(solution, self.tol)
        return self

    def _check_solver_name(self) -> None:
        """Refuse scikit-learn's names of solvers with ours."""
        serves = _SOLVERS_ELSEWHERE.get(self.solver) if isinstance(self.solver, str) else None
        if serves:
            raise ParameterError(
                f"solver={self.solver!r} is scikit-learn's: say {serves}, or leave solver='auto', "
                "which chooses by problem and shape"
            )

    def _make_design(self, X: Any, n_threads: int, two_classes: bool) -> Any:
        solver = SOLVERS.get(self.solver) if isinstance(self.solver, str) else self.solver
        in_rows = is_sparse(X) and not is_narrow(X, two_classes=two_classes)
        if in_rows and getattr(solver, "reads_in_place", False):
            return in_place(X)
        return super()._make_design(X, n_threads, two_classes)

    def _objective(
        self, data: TrainingData, C: float, design: Design | None = None, dtype: Any = None
    ) -> Objective:
        """P for this data and this C; `design` and `dtype` stand in for those of the data."""
        if isinstance(C, float | np.floating) and np.isposinf(C):
            # The data outweigh any penalty: minimize the losses alone.
            C, penalty = 1.0, self._unpenalized()
        else:
            check_positive(C=C)
            penalty = self._penalty()
        loss = self._loss(len(data.classes))
        margin = loss.n_scores == 1
        score_map = FlatScores(
            data.design if design is None else design,
            1 if margin else len(data.classes),
            intercept=self.fit_intercept,
            dtype=data.dtype if dtype is None else dtype,
            n_threads=data.n_threads,
        )
        return Objective(
            score_map,
            loss,
            penalty,
            data.signs if margin else data.codes,
            C=C,
            sample_weight=data.weights,
            exempt=self.fit_intercept and not self.penalize_intercept,
        )

    def _solve(self, data: TrainingData, C: float, start: Solution | None = None) -> Solution:
        """Minimize P, from `start` where it fits the problem."""
        check_positive(tol=self.tol, max_iter=self.max_iter)
        check_choice("on_interrupt", self.on_interrupt, ("raise", "keep"))
        objective = self._objective(data, C)
        solver = self._solver(start, objective)
        check_needs(solver, objective)
        w0 = start.w if start is not None and start.w.shape == objective.weight_shape else None
        with fitting(type(self).__name__, self.verbose, self.tol) as watch:
            monitor = Monitor(tol=self.tol, max_passes=self.max_iter, report=watch.on_pass)
            if type(objective.penalty) is Unpenalized:
                monitor.scale = objective.value(np.zeros(objective.weight_shape))
            try:
                solution = self._minimize(data, objective, solver, w0, monitor)
            except DataError as error:  # rows that are read in place are checked on the way
                raise name_column(error, self) from None
        # The sum is the quicker look; it may overflow where all weights are finite.
        if not (np.isfinite(solution.w.sum()) or np.isfinite(solution.w).all()):
            raise FloatingPointError(
                f"{solution.solver} ended with weights that are not finite; scale the features"
            )
        return zero_sum(solution, objective)

    def _minimize(
        self,
        data: TrainingData,
        objective: Objective,
        solver: Solver,
        w0: Array | None,
        monitor: Monitor,
    ) -> Solution:
        """Minimize P on the data as they are where that goes well, else on better ones.

        Columns far from zero are centered first where intercepts are free: the optimum does not
        depend on where they lie, the precision of every product does. Where single precision ends
        before the gap is within the tolerance, the run goes on in double.
        """
        means = far_from_zero(data.design) if objective.exempt else None
        n_before = 0.0
        if means is None:
            solution = solver.minimize(objective, w0, monitor)
            short = solution.stopped is StopReason.PRECISION and data.dtype == np.float32
            if not short or not Certifier.fits(objective):
                return solution
            w0, n_before = solution.w, solution.n_passes
            monitor.offset += n_before
            solver = _begun_at(solver, solution.dual)
        design = in_double(data.design, means)
        inner = self._objective(data, objective.C, design, np.float64)
        if w0 is not None and means is not None:
            w0 = w0.astype(np.float64)
            w0[-1] += means @ w0[:-1]
        solution = solver.minimize(inner, w0, monitor)
        solution = solution._replace(n_passes=n_before + solution.n_passes)
        return self._proven(solution, objective, means, monitor)

    @staticmethod
    def _proven(
        solution: Solution, objective: Objective, means: Array | None, monitor: Monitor
    ) -> Solution:
        """A solution of centered columns or double precision, as one of the data themselves."""
        w = np.array(solution.w, dtype=np.float64)
        if means is not None:
            # The intercepts of weights as they will be stored.
            stored = w[:-1].astype(objective.score_map.dtype)  # type: ignore[attr-defined]
            w[-1] -= means @ stored.astype(np.float64)
        if not Certifier.fits(objective):
            return solution._replace(w=w)
        wanted = monitor.wanted(solution.objective)
        found = Certifier(objective).at(w, wanted, duals=solution.dual)
        stopped = solution.stopped
        if monitor.converged(found.value, found.gap):
            stopped = StopReason.CONVERGED
        elif stopped is StopReason.CONVERGED:
            stopped = StopReason.PRECISION
        return solution._replace(w=found.w, objective=found.value, gap=found.gap, stopped=stopped)

    def _store(self, solution: Solution, data: TrainingData) -> None:
        super()._store(solution, data)
        if len(data.classes) == 2 and solution.w.shape[1] == 2:
            # Only the difference of the two scores decides.
            w = solution.w.astype(data.dtype)
            self._set_weights(w[:, 1:] - w[:, :1])

    def _solver(self, start: Solution | None, objective: Objective) -> Solver:
        solver = make_solver(self.solver, seed=seed_from(self.random_state))
        if start is None or start.dual is None:
            return solver
        n = objective.score_map.n_rows
        columns = objective.weight_shape[1]
        if start.dual.shape != ((n,) if columns == 1 else (n, columns)):
            return solver
        return _begun_at(solver, start.dual)


def _begun_at(solver: Solver, dual: Array | None) -> Solver:
    """The solver that begins at these dual variables, where it can."""
    if dual is None or not hasattr(solver, "start"):
        return solver
    begun: Solver = replace(solver, start=dual)  # type: ignore[type-var]
    return begun


def zero_sum(solution: Solution, objective: Objective) -> Solution:
    """Shift exempt intercepts to zero sum over the classes: scores move together, P stays."""
    if solution.w.shape[1] == 1 or not objective.exempt or solution.certificate != "none":
        return solution  # one that was proven has them there
    w = solution.w.copy()
    w[-1] -= w[-1].mean()
    return solution._replace(w=w)
