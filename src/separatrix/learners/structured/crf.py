"""Conditional random fields on any structure."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from separatrix.errors import ConvergenceWarning, ParameterError
from separatrix.learners.structured.crfsuite_model import CrfsuiteFormat
from separatrix.learners.structured.minimizer import Examples, MinimizingLearner
from separatrix.losses import LogSumExp
from separatrix.objective import PseudoLikelihood, objective_for
from separatrix.penalties import penalty_named
from separatrix.protocols import Penalty
from separatrix.results import Solution, StopReason
from separatrix.structures import structure_named
from separatrix.structures.graph.operations import COVER
from separatrix.validation import (
    check_choice,
    check_cost,
    number_of_threads,
    seed_from,
)

__all__ = ["CRF"]

Floats = npt.NDArray[np.float64]

#: Edges for every node up to which forests that cover a graph are few, and their bound is good.
_FEW_EDGES = 4


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
        Whether `fit` begins at the weights of the last one, where they fit.
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

        On graphs inference must be exact; of label sets the result is one array (n, rows, L).
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
