"""What fits of graphs share: taking graphs in, holding some out, keeping what was learned."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from separatrix.errors import ConvergenceWarning, ParameterError
from separatrix.protocols import Array, Solver
from separatrix.results import Solution, StopReason
from separatrix.solvers.lbfgs import Lbfgs
from separatrix.solvers.owlqn import OwlQn
from separatrix.structured.graph_likelihood import GraphLikelihood
from separatrix.structured.held_out import split_sequences
from separatrix.structured.labels import Tags, sequence_weights
from separatrix.structured.running import minimize
from separatrix.structures.observed import Observed
from separatrix.validation import check_choice, number_of_threads, starts_at_last_fit

__all__ = ["GraphExamples", "fit_likelihood", "keep_graph", "take_graphs"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

#: Names of solvers for `CRF(solver=...)` on graphs.
_SOLVERS = ("auto", "lbfgs", "owlqn")
_MEMORY = 12
#: Edges for every node up to which forests that cover a graph are few, and their bound is good.
_FEW_EDGES = 4


class GraphExamples(NamedTuple):
    """Graphs to train on, their features, labels and weights; None stands for ones."""

    features: Any
    X: Any
    classes: npt.NDArray[Any]
    codes: Integers
    weights: Floats | None


def take_graphs(
    model: Any,
    structure: Any,
    X: Any,
    y: Any,
    sample_weight: Any,
    token_weight: Any,
    known: Any = None,
) -> GraphExamples:
    """Encode the graphs and labels of a fit.

    `known` are all labels there can be, or None for those of y; or what was observed already.
    """
    if getattr(model, "order", 1) != 1:
        raise ParameterError("order=2 needs structure='chain'")
    if getattr(model, "partial", False):
        raise ParameterError("partial=True needs structure='chain'; graphs need all labels")
    if getattr(model, "scoring", "accuracy") != "accuracy":
        raise ParameterError(f"scoring={model.scoring!r} needs structure='chain'")
    observed = known if isinstance(known, Observed) else structure.observe(X, y, known)
    features, X, classes, codes = observed
    kinds = classes if len(classes) == features.n_labels else np.arange(features.n_labels)
    tags = Tags(kinds, codes, None)
    offsets = X.graphs.node_offsets
    weights = sequence_weights(offsets, tags, sample_weight, model.class_weight, token_weight)
    return GraphExamples(features, X, classes, codes, weights)


def _split(examples: GraphExamples, model: Any) -> tuple[GraphExamples, tuple[Any, Integers]]:
    """Examples to train on, and graphs and labels that are held out."""
    features, X, classes, codes, weights = examples
    train, held_out = split_sequences(len(X), model.validation_fraction, model.random_state)
    owner = np.repeat(np.arange(len(X)), np.diff(X.graphs.node_offsets))
    weights = None if weights is None else weights[train]
    kept = GraphExamples(features, X.take(train), classes, codes[np.isin(owner, train)], weights)
    return kept, (X.take(held_out), codes[np.isin(owner, held_out)])


def held_out_graphs(
    model: Any, structure: Any, examples: GraphExamples, validation: Any
) -> tuple[GraphExamples, Callable[[Array], float] | None]:
    """The graphs to train on, and a function from weights to the accuracy on others."""
    if validation is not None:
        X = structure.encode(validation[0], examples.features)
        held_out = X, structure.codes(validation[1], X, examples.classes)
    elif getattr(model, "early_stopping", False):
        examples, held_out = _split(examples, model)
    else:
        return examples, None
    X, codes = held_out
    features = structure.features_for(examples.features, X)
    n_threads = number_of_threads(model.n_jobs)

    def score(w: Array) -> float:
        scores = features.scores(np.ascontiguousarray(w[:, 0]), X, n_threads)
        return float((features.best(scores, n_threads).labels == codes).mean())

    return examples, score


def start_weights(model: Any, examples: GraphExamples) -> Array | None:
    """The weights of the last fit, where the model wants to begin at them and they fit."""
    old, new = vars(model).get("_features"), examples.features
    if not model.warm_start or old is None:
        return None
    same = model.coef_.shape == (new.n_weights,) and old.sections == new.sections
    labels = (model.classes_, examples.classes)
    fits = starts_at_last_fit(model, labels=labels, features=(True, bool(same)))
    return model.coef_[:, None].copy() if fits else None


def keep_graph(model: Any, examples: GraphExamples, solution: Solution) -> None:
    """Make a fit of graphs the state of the model, in the place of any other."""
    model._forget()
    model._features = examples.features
    model.classes_ = examples.classes
    model.coef_ = np.ascontiguousarray(solution.w[:, 0], dtype=np.float64)
    model.solution_ = solution
    model.n_iter_ = max(1, int(np.ceil(solution.n_passes)))


def fit_likelihood(
    model: Any,
    structure: Any,
    X: Any,
    y: Any,
    *,
    sample_weight: Any = None,
    token_weight: Any = None,
    validation: Any = None,
) -> None:
    """Fit a `CRF` on graphs by L-BFGS or OWL-QN."""
    check_choice("loss", model.loss, ("auto", "likelihood", "forests", "pseudo"))
    regularizer = model._regularizer()
    examples = take_graphs(model, structure, X, y, sample_weight, token_weight)
    if model.loss == "pseudo" and getattr(examples.X, "factors", None) is not None:
        raise ParameterError("loss='pseudo' does not know factors; use loss='likelihood'")
    examples, score = held_out_graphs(model, structure, examples, validation)
    objective = GraphLikelihood(
        examples.features,
        examples.X,
        examples.codes,
        regularizer,
        C=model.C,
        graph_weight=examples.weights,
        loss=_loss_for(model, examples),
        n_threads=number_of_threads(model.n_jobs),
    )
    solver = model.solver
    if isinstance(solver, str):
        if solver == "dual":
            raise ParameterError("solver='dual' needs structure='chain'")
        check_choice("solver", solver, _SOLVERS)
        plain = solver == "lbfgs" or (solver == "auto" and regularizer.smooth)
        solver = Lbfgs(memory=_MEMORY) if plain else OwlQn(memory=_MEMORY)
    elif not isinstance(solver, Solver):
        raise ParameterError(
            f"solver must be one of {_SOLVERS} or keep the contract protocols.Solver, got "
            f"{solver!r}"
        )
    start = start_weights(model, examples)
    solution = minimize(model, solver, objective, start, score)
    keep_graph(model, examples, solution)
    if objective.convergence is not None:
        examples.features.warn(objective.convergence)
    stuck = solution.stopped is StopReason.PRECISION and solution.n_passes < model.max_iter
    if objective.estimated and stuck:
        _warn_of_estimate(model, solution)
    else:
        model._finish(solution, model.tol)


def _loss_for(model: Any, examples: GraphExamples) -> str:
    """The loss by name; for "auto" a convex one: the likelihood itself where sums are exact."""
    if model.loss != "auto":
        return str(model.loss)
    if examples.features.method != "loopy":
        return "likelihood"
    graphs = examples.X.graphs
    has_factors = getattr(examples.X, "factors", None) is not None
    few = np.diff(graphs.edge_offsets) <= _FEW_EDGES * np.diff(graphs.node_offsets)
    return "forests" if has_factors or few.all() else "pseudo"


def _warn_of_estimate(model: Any, solution: Solution) -> None:
    warnings.warn(
        f"CRF stopped after {solution.n_passes:.0f} passes (tol={model.tol:.0e}), since the "
        "estimate of log Z is no smooth function of the weights there. Lower C, raise tol, or take "
        "a bound that is convex: loss='forests', or inference='tree_reweighted' (slower).",
        ConvergenceWarning,
        stacklevel=4,
    )
