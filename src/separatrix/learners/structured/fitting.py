"""What fits of structures share: taking examples in, holding some out, running a solver."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from separatrix.errors import ParameterError
from separatrix.learners.structured.held_out import HeldOutMonitor, held_out_score, split_examples
from separatrix.objective.proof import judged
from separatrix.progress import fitting
from separatrix.protocols import Array, Solver
from separatrix.results import Solution, StopReason
from separatrix.structures.coded_labels import CodedLabels, example_weights
from separatrix.validation import check_choice, number_of_threads, starts_at_last_fit, warn_unused

__all__ = ["Examples", "minimize", "observe", "start_weights"]

Floats = npt.NDArray[np.float64]


class Examples(NamedTuple):
    """Examples to train on as a structure reads them.

    Attributes
    ----------
    structure : Structure
    features : Features
        Which weights there are, and inference with them.
    inputs : Inputs
    labels : CodedLabels
    weights : array of shape (n_examples,) or None
        c_i; None stands for ones.
    score : callable or None
        From weights of the features to the score of what is held out.
    """

    structure: Any
    features: Any
    inputs: Any
    labels: CodedLabels
    weights: Floats | None
    score: Callable[[Floats], float] | None = None


def observe(
    model: Any,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    token_weight: Any = None,
    validation: tuple[Any, Any] | None = None,
) -> Examples:
    """Read the examples of a fit, and observe which features there are in those to train on."""
    structure = model._structure()
    partial = bool(getattr(model, "partial", False))
    if partial and not getattr(structure, "takes_partial", False):
        raise ParameterError("partial=True needs structure='chain'; others need all labels")
    check_choice("scoring", model.scoring, ("accuracy", "chunk_f1"))
    if model.scoring not in getattr(structure, "scorings", ("accuracy",)):
        raise ParameterError(f"scoring={model.scoring!r} needs structure='chain'")
    if not model.early_stopping:
        warn_unused(model, "early_stopping=True", "n_iter_no_change", "validation_fraction")
        if validation is None:
            warn_unused(model, "early_stopping=True, or validation=(X, y)", "scoring")
    elif validation is not None:
        warn_unused(model, "rows to split: validation was given", "validation_fraction")
    inputs = structure.read(X)
    options = {"partial": True} if partial else {}
    labels: CodedLabels = structure.codes(y, inputs, **options)
    weights = example_weights(labels, sample_weight, model.class_weight, token_weight)
    if model.early_stopping and validation is None:
        if labels.allowed is not None:
            raise ParameterError("early_stopping with partial labels needs validation=(X, y)")
        train, rest = split_examples(len(inputs), model.validation_fraction, model.random_state)
        held_out, truth = inputs.take(rest), labels.take(rest)
        validation = held_out, structure.labels(truth.codes, held_out, labels.classes)
        inputs, labels = inputs.take(train), labels.take(train)
        weights = None if weights is None else weights[train]
    features = structure.layout(inputs, labels)
    score = None
    if validation is not None:
        n_threads = number_of_threads(model.n_jobs)
        score = held_out_score(
            structure, features, labels.classes, *validation, model.scoring, n_threads
        )
    return Examples(structure, features, structure.read(inputs, features), labels, weights, score)


def start_weights(model: Any, examples: Examples) -> Floats | None:
    """The weights of the last fit, where the model wants to begin at them and they fit."""
    if not model.warm_start or not hasattr(model, "coef_"):
        return None
    old, new = model.features_, examples.features
    is_same = getattr(new, "is_same", lambda other: other.n_weights == new.n_weights)
    labels = (model.classes_, examples.labels.classes)
    same = model.coef_.shape == (new.n_weights,) and bool(is_same(old))
    fits = starts_at_last_fit(model, labels=labels, features=(True, same))
    return model.coef_ if fits else None


def minimize(
    model: Any, solver: Solver, objective: Any, start: Floats | None, examples: Examples
) -> Solution:
    """Minimize the objective of a learner, with its progress and early stopping.

    Parameters
    ----------
    model : estimator
        With `tol`, `max_iter`, `verbose`, `early_stopping` and `n_iter_no_change`.
    solver : Solver
    objective : Objective or StructuredObjective
    start : array of shape (n_weights,) or None
        Weights of the features to begin at.
    examples : Examples
        Where some are held out, their score.

    Raises
    ------
    FloatingPointError
        The weights are not finite.
    """
    score: Callable[[Array], float] | None = None
    if examples.score is not None:
        of_weights = examples.score

        def score(variables: Array) -> float:
            return of_weights(objective.weights(variables))

    w0 = None if start is None else objective.variables(start)
    with fitting(type(model).__name__, model.verbose, model.tol) as watch:
        monitor = HeldOutMonitor(
            tol=model.tol,
            max_passes=model.max_iter,
            report=watch.on_pass,
            score=score,
            patience=model.n_iter_no_change if model.early_stopping else None,
        )
        solution = solver.minimize(objective, w0, monitor)
        in_single = getattr(objective, "is_single", False)
        if in_single and solution.stopped is StopReason.PRECISION:
            objective.widen()
            monitor.offset += solution.n_passes
            before, solution = solution, solver.minimize(objective, solution.w, monitor)
            solution = solution._replace(n_passes=solution.n_passes + before.n_passes)
        solution = monitor.best(solution)
        if "smooth_loss" in objective.can and hasattr(objective, "prove"):
            solution = judged(solution, objective, model.tol)
    if not np.isfinite(solution.w).all():
        raise FloatingPointError(
            f"{solution.solver} ended with weights that are not finite; scale the features"
        )
    return solution
