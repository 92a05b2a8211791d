"""Structured support vector machines on any structure."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from separatrix.errors import ParameterError
from separatrix.learners.structured.base import StructuredLearner
from separatrix.learners.structured.fitting import minimize, observe, start_weights
from separatrix.losses import CostAugmentedMax
from separatrix.objective import objective_for
from separatrix.objective.passes import best_or_bound
from separatrix.regularizers import L2
from separatrix.results import Solution
from separatrix.solvers import make_structured_solver
from separatrix.validation import (
    check_choice,
    check_cost,
    check_positive,
    number_of_threads,
    refuse_dask,
    seed_from,
)

__all__ = ["StructuredSVM"]

Floats = npt.NDArray[np.float64]


class StructuredSVM(StructuredLearner):
    """Large-margin labelling: the right one wins by the cost of any other.

    Minimizes P(w) = 1/2 |w|^2 + C sum_i c_i H_i(w) with margin rescaling,
    H_i(w) = max over y' of Delta(y_i, y') + h(x_i, y') - h(x_i, y_i) >= Delta(y_i, y'_best), where
    Delta adds up the costs of the tokens. On sequences of one token without boundaries it is
    `LinearSVM` for many classes, without an intercept.

    Parameters
    ----------
    structure : {"chain", "segments", "forest", "graph", "grid", "label_set", "labels"} or object
        Structure of the outputs; names stand for `Chain()`, `Segments()`, `Forest()`, `Graph()`,
        `Grid()`, `LabelSet()` and `Labels()`, which have parameters of their own; any class that
        keeps `protocols.Structure` will do.
        On graphs biases are penalized like other weights. Where maxima are not exact, the duality
        gap holds with `Graph(inference="tree_reweighted")`, and else only as far as the labellings
        found are the best.
    cost : {"hamming", "hamming_mean"} or array-like of shape (K, K)
        Delta: the number of wrong tokens; their share of the sequence; or the sum of
        ``cost[true, other]`` over the tokens, labels in sorted order, zero on the diagonal.
    C : float
        Weight of the losses. With "hamming_mean" a sequence counts by the share of its tokens that
        are wrong, so C is to be larger, about by the number of tokens in a sequence. For an
        objective |w|^2 c2 + sum H, as CRFsuite writes penalties, C is 1 / (2 c2).
    solver : {"auto", "dual", "frank_wolfe", "subgradient"} or Solver
        "dual" is coordinate ascent on segment planes, "frank_wolfe" the block-coordinate method
        with line search, "subgradient" the stochastic one; the last two return an average of their
        weights. "auto" takes "dual".
    tol : float
        Stop when the duality gap, a bound of P(w) - min P, is at most tol * P(w).
    max_iter : int
        The most passes over the data.
    class_weight : dict, "balanced" or None
        Weights of the labels. A sequence counts by the mean weight of its tokens.
    early_stopping : bool
        Whether to stop when the score of held-out sequences no longer rises, and keep the best.
    validation_fraction : float
        Share of the sequences held out, where `fit` is given no others.
    n_iter_no_change : int
        Passes without a better score before an early stop.
    scoring : {"accuracy", "chunk_f1"}
        Score of held-out sequences.
    warm_start : bool
        Whether `fit` uses the last one, as for another C or more sequences after the same ones: the
        dual solver begins at its dual variables; for the others its weights, where they fit, are
        what the result must not be worse than.
    n_jobs : int or None
        Threads; the result does not depend on them.
    random_state : int, RandomState or None
        Order of the sequences, and the split.
    verbose : int
        0 nothing, 1 a progress bar, 2 a line per pass.
    on_interrupt : {"raise", "keep"}
        After Ctrl-C the best weights so far are kept; "raise" raises KeyboardInterrupt then.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
        The labels, sorted.
    coef_ : ndarray of shape (n_weights,)
        All weights; `features_` says which is which.
    transition_weights_ : ndarray of shape (K, K)
        Weights of (label before, label).
    solution_ : Solution
        Record of the solver: P(w) and the duality gap.
    dual_bound_ : float
        A number that min P is not below.

    References
    ----------
    Tsochantaridis, Joachims, Hofmann & Altun (2005), Large margin methods for structured and
    interdependent output variables.
    Taskar, Guestrin & Koller (2004), Max-margin Markov networks.
    Lacoste-Julien, Jaggi, Schmidt & Pletscher (2013), Block-coordinate Frank-Wolfe optimization for
    structural SVMs.

    Examples
    --------
    >>> X = [[{"word": "the"}, {"word": "cat"}], [{"word": "cats"}, {"word": "sleep"}]]
    >>> y = [["D", "N"], ["N", "V"]]
    >>> svm = StructuredSVM(random_state=0).fit(X, y)
    >>> svm.predict([[{"word": "the"}, {"word": "cats"}]])
    [['D', 'N']]
    >>> bool(svm.dual_bound_ <= svm.solution_.objective)
    True
    """

    __sx_state__: ClassVar[tuple[str, ...]] = ("_planes",)

    def __init__(
        self,
        structure: Any = "chain",
        *,
        cost: Any = "hamming",
        C: float = 0.1,
        solver: Any = "auto",
        tol: float = 1e-3,
        max_iter: int = 1000,
        class_weight: Any = None,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        scoring: str = "accuracy",
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        on_interrupt: str = "raise",
    ) -> None:
        self.structure = structure
        self.cost = cost
        self.C = C
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.scoring = scoring
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.on_interrupt = on_interrupt

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
            Labels of any type. For other structures the labels of the nodes of every graph, label
            images, or a matrix of 0 and 1.
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
        examples = observe(self, X, y, sample_weight, token_weight, validation)
        cost = self._cost_matrix(examples.features.n_labels)
        objective = objective_for(
            examples.features,
            examples.inputs,
            examples.labels,
            CostAugmentedMax(cost),
            L2(),
            weights=examples.weights,
            scale=self._scale(examples.labels.offsets),
            C=self.C,
            tol=self.tol,
            n_threads=number_of_threads(self.n_jobs),
        )
        passes: Any = getattr(objective, "passes", None)
        solver = make_structured_solver(self.solver, objective, seed=seed_from(self.random_state))
        if self.warm_start and hasattr(passes, "planes"):
            passes.planes = getattr(self, "_planes", None)
        solution = minimize(self, solver, objective, start_weights(self, examples), examples)
        # Dual variables, for a warm start.
        self._planes = getattr(passes, "planes", None) if self.warm_start else None
        if self.early_stopping:
            solution = self._certified(solution, objective)
        w = objective.weights(solution.w)
        self._keep(examples.features, examples.labels.classes, w, solution)
        self._finish(solution, self.tol)
        return self

    def _scale(self, offsets: npt.NDArray[np.int64]) -> Floats:
        """Factors of the costs of every example."""
        sizes = np.diff(offsets)
        mean = isinstance(self.cost, str) and self.cost == "hamming_mean"
        return 1.0 / np.maximum(sizes, 1) if mean else np.ones(len(sizes))

    def _cost_matrix(self, n_labels: int) -> Floats:
        if isinstance(self.cost, str):
            check_choice("cost", self.cost, ("hamming", "hamming_mean"))
            return 1.0 - np.eye(n_labels)
        matrix = check_cost(self.cost, n_labels)
        if matrix is None:
            raise ParameterError("cost must be 'hamming', 'hamming_mean' or a matrix, got None")
        return matrix

    @property
    def dual_bound_(self) -> float:
        """A lower bound of min P: P(w) less the duality gap."""
        return self.solution_.objective - self.solution_.gap

    def loss(self, X: Any, y: Any) -> Floats:
        """Hinge loss H of given labellings, shape (n_sequences,): not below the cost of `predict`.

        Examples
        --------
        >>> X, y = [[["a"], ["b"]]], [["A", "B"]]
        >>> StructuredSVM(C=10.0, random_state=0).fit(X, y).loss(X, y).round(6).tolist()
        [0.0]
        """
        inputs, features, scores = self._scores(X)
        codes = self._codes(y, inputs)
        cost = self._cost_matrix(features.n_labels)
        scale = np.repeat(self._scale(inputs.offsets), np.diff(inputs.offsets))
        augmented = features.augmented(scores, codes, cost, scale)
        best = features.best(augmented, number_of_threads(self.n_jobs))
        own = features.values(scores, codes)
        losses: Floats = np.maximum(best_or_bound(best) - own, 0.0)
        return losses

    @staticmethod
    def _certified(solution: Solution, objective: Any) -> Solution:
        """The solution with P at its weights, which a held-out score chose, and the best bound."""
        value, off = objective.measure(solution.w)
        bounds = [row.objective - row.gap for row in solution.trace.rows if np.isfinite(row.gap)]
        gap = max(off, value + off - max(bounds)) if bounds else float("inf")
        return solution._replace(objective=value, gap=gap)
