"""What the weights of a chain say: of each label, of transitions, and behind one labelling."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from separatrix.explanation.trellis import Step, Trellis
from separatrix.explanation.weights import Weights
from separatrix.inference.chain import ChainScores, k_best_labels, marginals

if TYPE_CHECKING:
    from separatrix.structured.base import BaseChainLearner

__all__ = ["explained", "label_weights", "transition_weights"]

Floats = npt.NDArray[np.float64]


def transition_weights(model: BaseChainLearner, top: int | None) -> Weights:
    """The pairs of consecutive labels that score most and least, starts and ends among them."""
    chain, labels = model.chain_, [str(label) for label in model.classes_]
    before, after = np.nonzero(chain.transitions)
    names = [f"{labels[i]} → {labels[j]}" for i, j in zip(before, after, strict=True)]
    if chain.boundaries:
        names += [f"start → {label}" for label in labels] + [f"{label} → end" for label in labels]
    parts = [model.coef_[chain.sections[name]] for name in ("transitions", "start", "end")]
    return _strongest(None, "", "transition weight", names, np.concatenate(parts), top)


def label_weights(model: BaseChainLearner, top: int | None) -> list[Weights]:
    """The attributes that speak most for and against each label."""
    chain, names = model.chain_, model.attributes_
    attributes, weights = chain.state.attributes, model.coef_[chain.sections["state"]]
    found = []
    for code, label in enumerate(model.classes_.tolist()):
        own = np.flatnonzero(chain.state.outputs == code)
        order = own[_ends(weights[own], top)]
        kept = attributes[order].tolist()
        shown = [f"x{j}" if names is None else names[j] for j in kept]
        found.append(Weights(label, "other labels", "weight", tuple(shown), weights[order]))
    return found


def _strongest(
    label: Any, rest: str, kind: str, names: list[str], values: Floats, top: int | None
) -> Weights:
    order = _ends(values, top)
    return Weights(label, rest, kind, tuple(names[j] for j in order.tolist()), values[order])


def _ends(values: Floats, top: int | None) -> npt.NDArray[np.intp]:
    """Places of the highest and the lowest values, falling; zeros speak for nothing."""
    order = np.argsort(-values, kind="stable")
    if top is not None and 2 * top < len(order):
        order = np.concatenate([order[:top], order[len(order) - top :]])
    kept: npt.NDArray[np.intp] = order[values[order] != 0]
    return kept


def explained(
    model: BaseChainLearner, X: Any, words: list[str], top: int, *, probabilities: bool
) -> Trellis:
    """The trellis of one sequence; see `separatrix.explain_sequence`."""
    encoded = model._encode(X)
    scores = model._score(encoded, None)
    ((paths, values),) = k_best_labels(scores, 2)
    best = paths[0]
    second = paths[1] if len(paths) > 1 else None
    shares, log_partition = _shares(scores, best, probabilities)
    terms = _terms(model, encoded, best)
    steps = []
    for place, word in enumerate(words):
        order = sorted(terms[place], key=lambda term: -abs(term[1]))
        steps.append(
            Step(
                word,
                model.classes_[best[place]].item(),
                float(shares[place]),
                None if second is None else model.classes_[second[place]].item(),
                tuple(order[:top]),
                sum(value for _, value in order[top:]),
            )
        )
    first = float(values[0])
    other = float(values[1]) if len(values) > 1 else math.nan
    return Trellis(tuple(steps), first, other, first - log_partition, other - log_partition)


def _shares(
    scores: ChainScores, best: npt.NDArray[Any], probabilities: bool
) -> tuple[Floats, float]:
    """Marginals of the labels of a path, and ln Z; NaN where scores mean no probabilities."""
    if not probabilities:
        return np.full(len(best), math.nan), math.nan
    found = marginals(scores)
    return found.nodes[np.arange(len(best)), best], float(found.log_partition[0])


def _terms(
    model: BaseChainLearner, X: Any, labels: npt.NDArray[Any]
) -> list[list[tuple[str, float]]]:
    """For every token the addends of its label's score: attributes, transition, start and end."""
    chain, names = model.chain_, model._parts()[1]
    w = model.coef_[chain.sections["state"]]
    shown = [str(label) for label in model.classes_]
    moves = chain.transition_matrix(model.coef_)
    starts, outputs, matrix = chain.state.starts, chain.state.outputs, X.matrix
    found: list[list[tuple[str, float]]] = []
    for place, label in enumerate(labels.tolist()):
        terms = []
        row = slice(matrix.indptr[place], matrix.indptr[place + 1])
        for attribute, value in zip(matrix.indices[row], matrix.data[row], strict=True):
            own = slice(starts[attribute], starts[attribute + 1])
            at = np.flatnonzero(outputs[own] == label)
            if len(at):
                name = f"x{attribute}" if names is None else names[int(attribute)]
                terms.append((name, float(value * w[own][at[0]])))
        if place:
            before = int(labels[place - 1])
            terms.append((f"{shown[before]} → {shown[label]}", float(moves[before, label])))
        if chain.boundaries and place == 0:
            terms.append((f"start → {shown[label]}", float(_boundary(model, "start")[label])))
        if chain.boundaries and place == len(labels) - 1:
            terms.append((f"{shown[label]} → end", float(_boundary(model, "end")[label])))
        found.append(terms)
    return found


def _boundary(model: BaseChainLearner, which: str) -> Floats:
    return model.coef_[model.chain_.sections[which]]
