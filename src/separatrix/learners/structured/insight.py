"""What the weights of a chain say: of each label, of transitions, and behind one labelling."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from separatrix.explanation.trellis import Step, Trellis
from separatrix.explanation.weights import Weights, strongest
from separatrix.structures.chain.inference import ChainScores, k_best_labels, marginals
from separatrix.structures.chain.structure import Pattern

if TYPE_CHECKING:
    from separatrix.learners.structured.base import StructuredLearner

__all__ = ["explained", "label_weights", "transition_weights"]

Floats = npt.NDArray[np.float64]


def transition_weights(model: StructuredLearner, top: int | None) -> Weights:
    """The pairs of consecutive labels that score most and least, starts and ends among them."""
    chain, labels = model.features_, [str(label) for label in model.classes_]
    before, after = np.nonzero(chain.transitions)
    names = [f"{labels[i]} → {labels[j]}" for i, j in zip(before, after, strict=True)]
    if chain.boundaries:
        names += [f"start → {label}" for label in labels] + [f"{label} → end" for label in labels]
    parts = [model.coef_[chain.sections[name]] for name in ("transitions", "start", "end")]
    return _strongest(None, "", "transition weight", names, np.concatenate(parts), top)


def label_weights(model: StructuredLearner, top: int | None) -> list[Weights]:
    """The attributes that speak most for and against each label."""
    chain, names = model.features_, model.attributes_
    attributes, weights = chain.state.attributes, model.coef_[chain.sections["state"]]
    found = []
    for code, label in enumerate(model.classes_.tolist()):
        own = np.flatnonzero(chain.state.outputs == code)
        order = own[strongest(weights[own], top)]
        kept = attributes[order].tolist()
        shown = [f"x{j}" if names is None else names[j] for j in kept]
        found.append(Weights(label, "other labels", "weight", tuple(shown), weights[order]))
    return found


def _strongest(
    label: Any, rest: str, kind: str, names: list[str], values: Floats, top: int | None
) -> Weights:
    order = strongest(values, top)
    return Weights(label, rest, kind, tuple(names[j] for j in order.tolist()), values[order])


def explained(
    model: StructuredLearner, X: Any, words: list[str], top: int, *, probabilities: bool
) -> Trellis:
    """The trellis of one sequence; see `separatrix.explain_sequence`."""
    encoded, _, scores = model._scores(X)
    ((paths, values),) = k_best_labels(scores, 2)
    best = paths[0]
    second = paths[1] if len(paths) > 1 else None
    proba, log_partition = _proba(scores, best, probabilities)
    terms = _terms(model, encoded, best)
    steps = []
    for place, word in enumerate(words):
        order = sorted(terms[place], key=lambda term: -abs(term[1]))
        steps.append(
            Step(
                word,
                model.classes_[best[place]].item(),
                float(proba[place]),
                None if second is None else model.classes_[second[place]].item(),
                tuple(order[:top]),
                sum(value for _, value in order[top:]),
            )
        )
    first = float(values[0])
    other = float(values[1]) if len(values) > 1 else math.nan
    return Trellis(tuple(steps), first, other, first - log_partition, other - log_partition)


def _proba(
    scores: ChainScores, best: npt.NDArray[Any], probabilities: bool
) -> tuple[Floats, float]:
    """Marginals of the labels of a path, and ln Z; NaN where scores mean no probabilities."""
    if not probabilities:
        return np.full(len(best), math.nan), math.nan
    found = marginals(scores)
    return found.nodes[np.arange(len(best)), best], float(found.log_partition[0])


def _terms(
    model: StructuredLearner, X: Any, labels: npt.NDArray[Any]
) -> list[list[tuple[str, float]]]:
    """For every token the addends of the score that end in its label.

    Attributes of the token, attributes of the edge to it, the transition (of second order too), and
    at the ends of the sequence the start and the end; all together they are the score of the path.
    """
    chain = model.features_
    names, edge_names = chain.names, chain.edge_names
    shown, K = [str(label) for label in model.classes_], chain.n_labels
    w, moves = model.coef_, chain.transition_matrix(model.coef_)
    cube = np.zeros((K, K, K) if chain.triples is not None else (0, 0, 0))
    if chain.triples is not None:
        cube[chain.triples] = w[chain.sections["triples"]]
    path = labels.tolist()
    found: list[list[tuple[str, float]]] = []
    for place, label in enumerate(path):
        state = w[chain.sections["state"]]
        terms = _attribute_terms(X.matrix, place, names, chain.state, label, state)
        if place:
            before = path[place - 1]
            arrow = f"{shown[before]} → {shown[label]}"
            terms.append((arrow, float(moves[before, label])))
            if chain.edges is not None:
                edges, cell = w[chain.sections["edges"]], label * K + before
                own = _attribute_terms(X.edge_matrix, place, edge_names, chain.edges, cell, edges)
                terms += [(f"{name} at {arrow}", value) for name, value in own]
            if chain.triples is not None and place > 1:
                first = path[place - 2]
                terms.append((f"{shown[first]} → {arrow}", float(cube[first, before, label])))
        for name, at, words in (
            ("start", 0, f"start → {shown[label]}"),
            ("end", len(path) - 1, f"{shown[label]} → end"),
        ):
            if chain.boundaries and place == at:
                terms.append((words, float(w[chain.sections[name]][label])))
        found.append(terms)
    return found


def _attribute_terms(
    matrix: Any, row: int, names: Any, pattern: Pattern, output: int, weights: Floats
) -> list[tuple[str, float]]:
    """Value times weight of the attributes in a row of the matrix, for one output."""
    terms = []
    stored = slice(matrix.indptr[row], matrix.indptr[row + 1])
    for attribute, value in zip(matrix.indices[stored], matrix.data[stored], strict=True):
        own = slice(pattern.starts[attribute], pattern.starts[attribute + 1])
        at = np.flatnonzero(pattern.outputs[own] == output)
        if len(at):
            name = f"x{attribute}" if names is None else names[int(attribute)]
            terms.append((name, float(value * weights[own][at[0]])))
    return terms
