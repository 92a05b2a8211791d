"""Learners of structures with an objective: conditional random fields and structured SVMs."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from separatrix.errors import ConvergenceWarning, ParameterError
from separatrix.learners.structured.base import StructuredLearner
from separatrix.learners.structured.crfsuite_model import CrfsuiteFormat
from separatrix.learners.structured.held_out import HeldOutMonitor, held_out_score, split_examples
from separatrix.losses import CostAugmentedMax, LogSumExp
from separatrix.objective import PseudoLikelihood, objective_for
from separatrix.objective.passes import best_or_bound
from separatrix.objective.proof import judged
from separatrix.penalties import L2, penalty_named
from separatrix.progress import fitting
from separatrix.protocols import Array, Penalty, Solver
from separatrix.results import Solution, StopReason
from separatrix.solvers import make_structured_solver
from separatrix.structures import structure_named
from separatrix.structures.coded_labels import CodedLabels, example_weights
from separatrix.structures.graph.operations import COVER
from separatrix.validation import (
    check_choice,
    check_cost,
    check_positive,
    number_of_threads,
    refuse_dask,
    seed_from,
    starts_at_last_fit,
    warn_unused,
)

__all__ = ["CRF", "Examples", "MinimizingLearner", "StructuredSVM"]

Floats = npt.NDArray[np.float64]

#: Edges for every node up to which forests that cover a graph are few, and their bound is good.
_FEW_EDGES = 4


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
        """The weights of the last fit, where the learner is to begin at them and they fit.

        Those of chains grow with labels and attributes: what is new begins at zero.
        """
        if not self.warm_start or not hasattr(self, "coef_"):
            return None
        old, new = self.features_, examples.features
        if hasattr(old, "moved") and isinstance(new, type(old)):
            index = {label: number for number, label in enumerate(examples.labels.classes.tolist())}
            numbers = np.array([index.get(label, -1) for label in self.classes_.tolist()])
            if (numbers >= 0).any():
                start: Floats = old.moved(self.coef_, new, numbers)
                return start
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


@dataclass(eq=False, repr=False, kw_only=True)
class CRF(CrfsuiteFormat, MinimizingLearner):
    """Conditional random field: p(y | x) = exp(h(x, y)) / Z(x).

    Minimizes P(w) = R(w) + C sum_i c_i (log Z(x_i) - h(x_i, y_i)) with R(w) = 1/2 |w|^2 for "l2",
    |w|_1 for "l1", and l1_ratio |w|_1 + (1 - l1_ratio)/2 |w|^2 for "elasticnet". On graphs, biases
    of labels are not penalized, and where inference is not exact `loss` says what stands for the
    likelihood.

    Parameters
    ----------
    structure : {"chain", "segments", "forest", "graph", "grid", "label_set", "labels"} or object
        Structure of the outputs; names stand for `Chain()`, `Segments()`, `Forest()`, `Graph()`,
        `Grid()`, `LabelSet()` and `Labels()`, which have parameters of their own; any class that
        keeps `protocols.Structure` will do.
    C : float
        Weight of the losses; CRFsuite's c2 is 1 / (2 C).
    loss : {"auto", "likelihood", "forests", "pseudo"}
        On graphs, where sums over all labellings are not exact, what is minimized in the place of
        the negative log-likelihood: with "likelihood" log Z is the bound of
        ``inference="tree_reweighted"``, or the estimate of belief propagation, which is not convex;
        with "forests" the bound of forests that cover the graph (Wainwright et al. 2005, at a
        fixed split), convex and exact to compute. "pseudo" is the negative log of the
        pseudo-likelihood, the sum over the nodes of -log p(label | labels of its neighbors):
        convex, no inference (Besag 1975). "auto" is the likelihood where its sums are exact or
        "tree_reweighted"; else "forests", and "pseudo" where nodes have many edges.
    penalty : {"l2", "l1", "elasticnet"}
        R.
    l1_ratio : float
        Share of |w|_1 in the elastic net.
    partial : bool
        Whether labels may be missing: None for an unknown label, a set for one of its members. The
        likelihood is then that of all labellings that are allowed.
    solver : {"auto", "lbfgs", "dual", "owlqn"} or Solver
        "dual" is dual coordinate ascent, finished by L-BFGS, or by OWL-QN under an elastic net;
        "auto" takes it where it applies (L2 or elastic net, first order, all labels known, no
        attributes of edges), OWL-QN for other penalties with |w|_1, and L-BFGS otherwise.
    tol : float
        Stop when P(w) - min P is proven to be at most tol P(w): the record says "converged". With
        `partial`, and where log Z is an estimate, nothing can be proven: it says "stationary" where
        no more progress is seen. See the guide on certificates.
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
        Whether `fit` begins at the weights of the last one; those of chains grow with labels and
        attributes, where some of the labels stay.
    n_jobs : int or None
        Threads; the result does not depend on them.
    random_state : int, RandomState or None
        Order of the sequences in the dual solver, and the split.
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
        Record of the solver.

    References
    ----------
    Lafferty, McCallum & Pereira (2001), Conditional random fields.
    Besag (1975), Statistical analysis of non-lattice data.
    Wainwright, Jaakkola & Willsky (2005), A new class of upper bounds on the log partition
    function.

    Examples
    --------
    >>> X = [[{"word": "the"}, {"word": "cat"}], [{"word": "cats"}, {"word": "sleep"}]]
    >>> y = [["D", "N"], ["N", "V"]]
    >>> crf = CRF().fit(X, y)
    >>> crf.predict([[{"word": "the"}, {"word": "cats"}]])
    [['D', 'N']]
    >>> crf.predict_proba(X)[0].round(2).shape
    (2, 3)
    """

    loss: str = "auto"
    penalty: str = "l2"
    l1_ratio: float | None = None
    partial: bool = False

    def _objective(self, examples: Examples) -> Any:
        features, operator = self._loss(examples)
        return objective_for(
            features,
            examples.inputs,
            examples.labels,
            operator,
            self._penalty(),
            weights=examples.weights,
            C=self.C,
            tol=self.tol,
            n_threads=number_of_threads(self.n_jobs),
        )

    def _end(self, solution: Solution, objective: Any) -> None:
        convergence = getattr(objective, "convergence", None)
        if convergence is not None:
            self.features_.warn(convergence)
        stuck = solution.stopped is StopReason.PRECISION and solution.n_passes < self.max_iter
        if getattr(objective, "estimated", False) and stuck:
            _warn_of_estimate(self, solution)
        else:
            super()._end(solution, objective)

    def _loss(self, examples: Examples) -> tuple[Any, Any]:
        """Features and what stands in for the maximum: for "auto" convex, exact where that is."""
        features, loss = examples.features, self.loss
        check_choice("loss", loss, ("auto", "likelihood", "forests", "pseudo"))
        if not hasattr(features, "method"):
            if loss not in ("auto", "likelihood"):
                raise ParameterError(f"loss={loss!r} needs another structure than a chain")
            return features, LogSumExp()
        has_factors = getattr(examples.inputs, "factors", None) is not None
        if loss == "auto" and features.method == "loopy":
            graphs = examples.inputs.graphs
            few = np.diff(graphs.edge_offsets) <= _FEW_EDGES * np.diff(graphs.node_offsets)
            loss = "forests" if has_factors or few.all() else "pseudo"
        if loss == "forests":
            return replace(features, method=COVER), LogSumExp()
        if loss == "pseudo":
            if has_factors:
                raise ParameterError("loss='pseudo' does not know factors; use loss='likelihood'")
            return features, PseudoLikelihood()
        return features, LogSumExp()

    def _penalty(self) -> Penalty:
        check_choice("penalty", self.penalty, ("l2", "l1", "elasticnet"))
        return penalty_named(self.penalty, self.l1_ratio)

    def _sums(self, X: Any, constraints: Any = None, edges: bool = False) -> tuple[Any, Any, Any]:
        """X as the structure reads it, its scores, and log Z with marginals."""
        inputs, features, scores = self._scores(X, constraints)
        options: dict[str, Any] = {"edges": edges, "n_threads": number_of_threads(self.n_jobs)}
        if not getattr(features, "is_exact", True):
            # Four digits of a marginal are enough for images, and cost a tenth of five.
            options["tol"] = 1e-5 if inputs.graphs.shapes is None else 1e-4
        return inputs, scores, features.log_sum_exp(scores, **options)

    def _shown(self, name: str, values: Any, inputs: Any) -> Any:
        """Marginals as the structure shows them; ParameterError where it does not."""
        structure = structure_named(self.structure)
        show = getattr(structure, name, None)
        if show is None:
            raise ParameterError(f"{type(structure).__name__} shows no {name.replace('_', ' ')}")
        return show(values, inputs)

    def predict_proba(self, X: Any, constraints: Any = None) -> Any:
        """p(label of a token | x) of every sequence, arrays of shape (length, K).

        Of graphs, arrays of shape (n_nodes, K); of images (height, width, K); of label sets one
        array of shape (n, L), the probabilities that labels are present. Estimates where inference
        is not exact.
        """
        inputs, _, found = self._sums(X, self._limits(constraints))
        return self._shown("marginals", found.nodes, inputs)

    def predict_log_proba(self, X: Any, constraints: Any = None) -> Any:
        """log p(label of a token | x), in the shapes of `predict_proba`."""
        found = self.predict_proba(X, constraints)
        with np.errstate(divide="ignore"):
            return np.log(found) if isinstance(found, np.ndarray) else [np.log(p) for p in found]

    def predict_edge_marginals(self, X: Any, constraints: Any = None) -> list[Floats]:
        """p(label, next label | x) of every sequence, arrays of shape (length - 1, K, K).

        Of graphs, arrays of shape (n_edges, K, K).
        """
        inputs, _, found = self._sums(X, self._limits(constraints), edges=True)
        shown: list[Floats] = self._shown("edge_marginals", getattr(found, "edges", None), inputs)
        return shown

    def log_likelihood(self, X: Any, y: Any) -> Floats:
        """log p(y | x) of given labellings, shape (n_examples,).

        Where inference on graphs is not exact this is an estimate, or with "tree_reweighted" a
        lower bound.
        """
        inputs, scores, found = self._sums(X)
        values: Floats = self.features_.values(scores, self._codes(y, inputs)) - found[0]
        return values

    def predict_minimum_risk(
        self, X: Any, cost: npt.ArrayLike | None = None, constraints: Any = None
    ) -> Any:
        """For every token or node the label of the smallest expected cost.

        Parameters
        ----------
        X : sequence of sequences of tokens
        cost : array-like of shape (K, K), optional
            ``cost[true, predicted]``, zero on the diagonal; without, every mistake costs one, so
            that the label of the highest marginal wins.
        constraints : optional
            As in `predict`; they shape the marginals.

        Returns
        -------
        list of list
            Labels; as a sequence they may break a grammar.
        """
        inputs, _, found = self._sums(X, self._limits(constraints))
        matrix = check_cost(cost, self.features_.n_labels) if cost is not None else None
        risk = -found.nodes if matrix is None else found.nodes @ matrix
        return self._labels(risk.argmin(axis=1).astype(np.int64), inputs)

    def sample(
        self, X: Any, n: int = 1, *, random_state: Any = None, constraints: Any = None
    ) -> Any:
        """Draws from p(y | x): n times the labels of all sequences.

        On graphs where inference is not exact, draws are those of Gibbs sampling: approximate, each
        a few sweeps from the one before. Of label sets the result is one array (n, rows, L).
        """
        self._offered("sample", "draws")
        inputs, features, scores = self._scores(X, self._limits(constraints))
        n_threads = number_of_threads(self.n_jobs)
        draws = features.sample(scores, n, seed_from(random_state), n_threads)
        labels = [self._labels(draw, inputs) for draw in draws]
        return np.stack(labels) if labels and isinstance(labels[0], np.ndarray) else labels


def _warn_of_estimate(model: CRF, solution: Solution) -> None:
    warnings.warn(
        f"CRF stopped after {solution.n_passes:.0f} passes (tol={model.tol:.0e}), since the "
        "estimate of log Z is no smooth function of the weights there. Lower C, raise tol, or take "
        "a bound that is convex: loss='forests', or inference='tree_reweighted' (slower).",
        ConvergenceWarning,
        stacklevel=3,
    )


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
