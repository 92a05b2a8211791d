"""Structured support vector machines on any structure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from separatrix.errors import ParameterError
from separatrix.learners.structured.minimizer import Examples, MinimizingLearner
from separatrix.losses import CostAugmentedMax
from separatrix.objective import objective_for
from separatrix.objective.passes import best_or_bound
from separatrix.penalties import L2
from separatrix.protocols import Solver
from separatrix.results import Solution
from separatrix.validation import (
    check_choice,
    check_cost,
    number_of_threads,
)

__all__ = ["StructuredSVM"]

Floats = npt.NDArray[np.float64]


@dataclass(eq=False, repr=False, kw_only=True)
class StructuredSVM(MinimizingLearner):
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

    cost: Any = "hamming"
    C: float = 0.1

    def _objective(self, examples: Examples) -> Any:
        return objective_for(
            examples.features,
            examples.inputs,
            examples.labels,
            CostAugmentedMax(self._cost_matrix(examples.features.n_labels)),
            L2(),
            weights=examples.weights,
            scale=self._scale(examples.labels.offsets),
            C=self.C,
            tol=self.tol,
            n_threads=number_of_threads(self.n_jobs),
        )

    def _minimize(self, solver: Solver, objective: Any, examples: Examples) -> Solution:
        passes: Any = getattr(objective, "passes", None)
        if self.warm_start and hasattr(passes, "planes"):
            passes.planes = getattr(self, "_planes", None)
        solution = super()._minimize(solver, objective, examples)
        # Dual variables, for a warm start.
        self._planes = getattr(passes, "planes", None) if self.warm_start else None
        return self._certified(solution, objective) if self.early_stopping else solution

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
