"""Learners of structures with an objective: taking examples in, holding some out, minimizing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from separatrix.errors import ParameterError
from separatrix.learners.structured.base import StructuredLearner
from separatrix.learners.structured.held_out import HeldOutMonitor, held_out_score, split_examples
from separatrix.objective.proof import judged
from separatrix.progress import fitting
from separatrix.protocols import Array, Solver
from separatrix.results import Solution, StopReason
from separatrix.solvers import make_structured_solver
from separatrix.structures.coded_labels import CodedLabels, example_weights
from separatrix.validation import (
    check_choice,
    check_positive,
    number_of_threads,
    refuse_dask,
    seed_from,
    starts_at_last_fit,
    warn_unused,
)

__all__ = ["Examples", "MinimizingLearner"]

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


@dataclass(eq=False, repr=False, kw_only=True)
class MinimizingLearner(StructuredLearner):
    """Base of the learners with an objective; subclasses say which."""

    C: float = 1.0
    solver: Any = "auto"
    tol: float = 1e-3
    max_iter: int = 1000
    early_stopping: bool = False
    validation_fraction: float = 0.1
    n_iter_no_change: int = 5
    scoring: str = "accuracy"

    def _objective(self, examples: Examples) -> Any:
        """P of these examples."""
        raise NotImplementedError

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        token_weight: Any = None,
        validation: tuple[Any, Any] | None = None,
    ) -> Self:
        """Fit the weights.

        Parameters
        ----------
        X : sequence of sequences of tokens, (matrix, lengths) or AttributeSequences
            Tokens as dicts or lists of str, as for sklearn-crfsuite, or as arrays. For other
            structures `FeatureGraphs`, graphs as (features, edges), images, or rows of features.
        y : sequence of sequences of labels
            Labels of any type; for a `CRF` with `partial`, None and sets too. For other structures
            the labels of the nodes of every graph, label images, or a matrix of 0 and 1.
        sample_weight : array-like of shape (n_sequences,), optional
            Weight c_i of every sequence.
        token_weight : sequence of arrays, optional
            Weight of every token; a sequence counts by their mean.
        validation : (X, y), optional
            Sequences to score after every pass; with `early_stopping` these decide.

        Returns
        -------
        self
        """
        refuse_dask(self, X, y)
        check_positive(C=self.C, tol=self.tol, max_iter=self.max_iter)
        examples = self._observe(X, y, sample_weight, token_weight, validation)
        objective = self._objective(examples)
        solver = make_structured_solver(self.solver, objective, seed=seed_from(self.random_state))
        solution = self._minimize(solver, objective, examples)
        w = objective.weights(solution.w)
        self._keep(examples.features, examples.labels.classes, w, solution)
        self._end(solution, objective)
        return self

    def _observe(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        token_weight: Any,
        validation: tuple[Any, Any] | None,
    ) -> Examples:
        """Read examples, and observe which features there are in those to train on."""
        structure = self._structure()
        partial = bool(getattr(self, "partial", False))
        if partial and not getattr(structure, "takes_partial", False):
            raise ParameterError("partial=True needs structure='chain'; others need all labels")
        check_choice("scoring", self.scoring, ("accuracy", "chunk_f1"))
        if self.scoring not in getattr(structure, "scorings", ("accuracy",)):
            raise ParameterError(f"scoring={self.scoring!r} needs structure='chain'")
        if not self.early_stopping:
            warn_unused(self, "early_stopping=True", "n_iter_no_change", "validation_fraction")
            if validation is None:
                warn_unused(self, "early_stopping=True, or validation=(X, y)", "scoring")
        elif validation is not None:
            warn_unused(self, "rows to split: validation was given", "validation_fraction")
        inputs = structure.read(X)
        options = {"partial": True} if partial else {}
        labels: CodedLabels = structure.codes(y, inputs, **options)
        weights = example_weights(labels, sample_weight, self.class_weight, token_weight)
        if self.early_stopping and validation is None:
            if labels.allowed is not None:
                raise ParameterError("early_stopping with partial labels needs validation=(X, y)")
            train, rest = split_examples(len(inputs), self.validation_fraction, self.random_state)
            held_out, truth = inputs.take(rest), labels.take(rest)
            validation = held_out, structure.labels(truth.codes, held_out, labels.classes)
            inputs, labels = inputs.take(train), labels.take(train)
            weights = None if weights is None else weights[train]
        features = structure.layout(inputs, labels)
        score = None
        if validation is not None:
            n_threads = number_of_threads(self.n_jobs)
            score = held_out_score(
                structure, features, labels.classes, *validation, self.scoring, n_threads
            )
        return Examples(
            structure, features, structure.read(inputs, features), labels, weights, score
        )

    def _start(self, examples: Examples) -> Floats | None:
        """The weights of the last fit, where the learner is to begin at them and they fit."""
        if not self.warm_start or not hasattr(self, "coef_"):
            return None
        old, new = self.features_, examples.features
        is_same = getattr(new, "is_same", lambda other: other.n_weights == new.n_weights)
        labels = (self.classes_, examples.labels.classes)
        same = self.coef_.shape == (new.n_weights,) and bool(is_same(old))
        fits = starts_at_last_fit(self, labels=labels, features=(True, same))
        return self.coef_ if fits else None

    def _minimize(self, solver: Solver, objective: Any, examples: Examples) -> Solution:
        """Minimize with progress and early stopping; FloatingPointError tells of overflow."""
        score: Callable[[Array], float] | None = None
        if examples.score is not None:
            of_weights = examples.score

            def score(variables: Array) -> float:
                return of_weights(objective.weights(variables))

        start = self._start(examples)
        w0 = None if start is None else objective.variables(start)
        with fitting(type(self).__name__, self.verbose, self.tol) as watch:
            monitor = HeldOutMonitor(
                tol=self.tol,
                max_passes=self.max_iter,
                report=watch.on_pass,
                score=score,
                patience=self.n_iter_no_change if self.early_stopping else None,
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
                solution = judged(solution, objective, self.tol)
        if not np.isfinite(solution.w).all():
            raise FloatingPointError(
                f"{solution.solver} ended with weights that are not finite; scale the features"
            )
        return solution

    def _end(self, solution: Solution, objective: Any) -> None:
        """Warn, or raise, by how the solver stopped."""
        self._finish(solution, self.tol)
