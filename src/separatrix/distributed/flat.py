"""Flat learners that minimize an objective: the solvers of one machine over partitions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from separatrix.distributed.multipliers import Multipliers
from separatrix.distributed.objective import DistributedObjective, RemoteScores
from separatrix.distributed.partitions import Partitions
from separatrix.distributed.problems import Setting, make_problem
from separatrix.distributed.rows import Survey, labels_facts, read_rows, rows_facts, survey
from separatrix.distributed.run import Run
from separatrix.distributed.session import Session
from separatrix.errors import DataError, ParameterError
from separatrix.learners.linear.base import TrainingData, is_small
from separatrix.learners.linear.minimizer import MinimizingClassifier, zero_sum
from separatrix.losses import kernel_of
from separatrix.penalties import L2
from separatrix.protocols import Solver
from separatrix.results import Solution
from separatrix.solvers import GradientDescent, Lbfgs, NewtonCG, OwlQn, check_needs
from separatrix.validation import check_positive

#: Weights up to which the Hessian is formed without being requested.
_FEW_WEIGHTS = 256

__all__ = ["FlatData", "choose_solver", "fit_flat", "read_flat"]

#: Solvers that need no more than values, gradients and products with the Hessian.
_SOLVERS: dict[str, Any] = {
    "lbfgs": Lbfgs(memory=20),
    "newton": NewtonCG(),
    "gradient_descent": GradientDescent(),
    "owlqn": OwlQn(),
}


@dataclass(frozen=True, eq=False)
class FlatData:
    """Partitions of labeled rows on the cluster.

    Attributes
    ----------
    problems : list of futures
        One for each partition that holds rows.
    survey : Survey
        What all together are.
    """

    problems: list[Any]
    survey: Survey

    @property
    def training(self) -> TrainingData:
        """What an estimator needs to keep a solution."""
        nothing: Any = None
        empty = np.empty(0, dtype=np.int64)
        survey = self.survey
        rows = survey.n_rows // max(1, len(survey.full))  # of a partition
        return TrainingData(
            nothing,
            survey.dtype,
            survey.classes,
            empty,
            None,
            1,
            made_dense=not survey.dense and is_small(rows, survey.n_columns),
        )


def read_flat(
    session: Session, estimator: Any, data: Partitions, *, folds: int = 0, seed: int = 0
) -> FlatData:
    """Check all partitions, agree on classes and precision, and leave the problems there."""
    rows, found = survey_rows(session, estimator, data)
    check_two_classes(found)
    setting = Setting(
        estimator,
        found.classes,
        found.dtype,
        class_weights(estimator.class_weight, found),
        folds,
        seed,
    )
    parts = [(rows[number],) for number in found.full]
    problems = session.keep(make_problem, parts, setting)
    session.release(rows)
    found.describe(estimator)
    return FlatData(problems, found)


def survey_rows(
    session: Session,
    estimator: Any,
    data: Partitions,
    *,
    classify: bool = True,
    finite: bool = True,
) -> tuple[list[Any], Survey]:
    """Futures of checked rows, and what they are."""
    question = labels_facts if classify else rows_facts
    rows, facts = session.keep_and_ask(
        read_rows, question, data.numbered(), estimator, classify, finite
    )
    return rows, survey(facts)


def check_two_classes(found: Survey) -> None:
    """Raise DataError unless rows of positive weight hold two classes."""
    if len(found.classes) < 2:
        raise DataError(
            "The training data holds one class only "
            f"({found.classes.tolist()}); a classifier needs at least two classes."
        )
    left = found.classes[found.weights > 0]
    if len(left) < 2:
        raise DataError(
            f"The rows of positive weight hold one class only ({left.tolist()}); a classifier "
            "needs at least two classes."
        )


def class_weights(given: Any, found: Survey) -> npt.NDArray[np.float64] | None:
    """Weights of the classes, as scikit-learn's `compute_class_weight` gives them."""
    if given is None:
        return None
    if isinstance(given, str):
        if given != "balanced":
            raise ParameterError(f"class_weight must be a dict, 'balanced' or None, got {given!r}")
        return found.n_rows / (len(found.classes) * found.counts.astype(np.float64))
    unknown = [label for label in given if label not in found.classes]
    if unknown:
        raise ParameterError(f"class_weight names {unknown[0]!r}, which is not a label")
    weights = np.array([given.get(label, 1.0) for label in found.classes.tolist()], dtype=float)
    if (weights < 0).any():
        raise ParameterError("class_weight must not be negative")
    return weights


def choose_solver(estimator: Any, objective: DistributedObjective) -> Solver:
    """The solver for an objective in partitions: the one named, or one that fits."""
    wanted = estimator.solver
    kernel = kernel_of(objective.loss)
    if kernel is not None and kernel.dual and not objective.loss.smooth:
        return _hinge_solver(wanted, objective)
    if isinstance(wanted, str) and wanted == "auto":
        few = objective.forms_hessian and np.prod(objective.weight_shape) <= _FEW_WEIGHTS
        smooth = "newton" if few else "lbfgs"
        solver: Solver = _SOLVERS[smooth if objective.penalty.smooth else "owlqn"]
        return solver
    if isinstance(wanted, str) and wanted in _SOLVERS:
        solver = _SOLVERS[wanted]
        return solver
    if isinstance(wanted, Lbfgs | NewtonCG | GradientDescent | OwlQn):
        return wanted
    raise ParameterError(
        f"solver={wanted!r} needs the rows themselves; on Dask use 'auto' or one of "
        f"{tuple(_SOLVERS)}"
    )


def _hinge_solver(wanted: Any, objective: DistributedObjective) -> Solver:
    if wanted not in ("auto", "multipliers"):
        raise ParameterError(
            f"solver={wanted!r} does not minimize the hinge on Dask; use 'auto' (the method of "
            "multipliers)"
        )
    if type(objective.penalty) is not L2:
        raise ParameterError("on Dask the hinge needs an L2 penalty")
    solver: Solver = Multipliers()
    return solver


def make_objective(
    session: Session, estimator: Any, data: FlatData, C: float, state: tuple[Any, ...] = ()
) -> DistributedObjective:
    """P for these partitions and this C."""
    check_positive(C=C)
    found = data.survey
    loss = estimator._loss(len(found.classes))
    columns = 1 if loss.n_scores == 1 else len(found.classes)
    shape = (found.n_columns + bool(estimator.fit_intercept), columns)
    return DistributedObjective(
        session,
        [(problem, *state) for problem in data.problems],
        RemoteScores(found.n_rows, shape, found.dtype),
        loss,
        estimator._penalty(),
        C=C,
        exempt=bool(estimator.fit_intercept and not estimator.penalize_intercept),
        dense=found.dense,
    )


def solve_flat(
    run: Run,
    estimator: MinimizingClassifier,
    data: FlatData,
    C: float,
    start: Solution | None = None,
    state: tuple[Any, ...] = (),
    stage: str = "fit",
) -> Solution:
    """Minimize P, from `start` where it fits the problem."""
    check_positive(tol=estimator.tol, max_iter=estimator.max_iter)
    halved = len(data.survey.classes) == 2 and getattr(estimator, "cost", None) is not None
    # As in LinearSVM: with a cost matrix two classes are two columns, at half the C.
    objective = make_objective(run.session, estimator, data, C / 2 if halved else C, state)
    solver = choose_solver(estimator, objective)
    check_needs(solver, objective)
    fits = start is not None and start.w.shape == objective.weight_shape
    w0 = start.w if fits and start is not None else None
    solution = run.minimize(
        solver, objective, w0, stage=stage, tol=estimator.tol, max_passes=estimator.max_iter
    )
    if not np.isfinite(solution.w).all():
        raise FloatingPointError(
            f"{solution.solver} ended with weights that are not finite; scale the features"
        )
    solution = zero_sum(solution, objective)
    if halved:
        w = solution.w[:, 1:] - solution.w[:, :1]
        solution = solution._replace(w=w, objective=2 * solution.objective, gap=2 * solution.gap)
    return solution


def fit_flat(run: Run, estimator: MinimizingClassifier, parts: Partitions) -> None:
    """Fit a learner with an objective."""
    data = read_flat(run.session, estimator, parts)
    fits = estimator._begins_at_last_fit(data.survey.classes, data.survey.n_columns)
    start = estimator.solution_ if fits else None
    solution = solve_flat(run, estimator, data, estimator.C, start)
    estimator._store(solution, data.training)
    estimator._finish(solution, estimator.tol)
