"""Chains of labels: which features there are, their scores, and inference with them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from separatrix._core import ChainScorer, observed_labels
from separatrix.data import AttributeSequences
from separatrix.inference import chain as inference
from separatrix.inference.chain import ChainMarginals, ChainScores, States
from separatrix.structures.encoded import EncodedChains, checked_csr, make_csr
from separatrix.structures.sections import sections_of

__all__ = ["Chain", "Pattern", "observed_chain"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


class Pattern(NamedTuple):
    """Outputs with a weight: those of attribute a are outputs[starts[a]:starts[a + 1]]."""

    starts: Integers
    outputs: Integers

    @classmethod
    def full(cls, n_attributes: int, n_outputs: int) -> Pattern:
        """A weight for every attribute and every output."""
        starts = np.arange(n_attributes + 1, dtype=np.int64) * n_outputs
        return cls(starts, np.tile(np.arange(n_outputs, dtype=np.int64), n_attributes))

    @property
    def attributes(self) -> Integers:
        """Attribute of every weight."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))


@dataclass(frozen=True, eq=False)
class Chain:
    """Features Psi(x, y) of a chain of K labels; h(x, y) = <w, Psi(x, y)>.

    The weights are one vector: those of (label before, label) by `transitions`; of triples by
    `triples`, for second order; of starts and of ends; of (attribute, label before, label) by
    `edges`; and of (attribute, label) by `state`. What is not among them scores zero.

    Attributes
    ----------
    n_labels : int
        K.
    state : Pattern
        Labels with a weight for every attribute.
    transitions : bool array of shape (K, K)
        Pairs (label before, label) with a weight.
    triples : bool array of shape (K, K, K) or None
        Triples with a weight; None for a chain of first order.
    boundaries : bool
        Whether the label that begins, and the one that ends a sequence has a weight.
    edges : Pattern or None
        Pairs of labels, as ``label * K + label before``, with a weight for attributes of edges.

    Examples
    --------
    >>> from separatrix.data import as_attribute_sequences
    >>> X = as_attribute_sequences([[["the"], ["cat"]]])
    >>> chain = Chain(2, Pattern.full(2, 2), np.ones((2, 2), dtype=bool), boundaries=False)
    >>> w = np.array([0.0, 2.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0])
    >>> chain.best(chain.scores(w, X))[0].tolist()
    [0, 1]
    """

    n_labels: int
    state: Pattern
    transitions: npt.NDArray[np.bool_]
    triples: npt.NDArray[np.bool_] | None = None
    boundaries: bool = True
    edges: Pattern | None = None

    @cached_property
    def states(self) -> States:
        """The states that inference runs over."""
        make = (
            inference.first_order_states if self.triples is None else inference.second_order_states
        )
        return make(self.n_labels)

    @cached_property
    def sections(self) -> dict[str, slice]:
        """Where the weights of every kind stand; those of (attribute, label) come last."""
        sizes = {
            "transitions": int(self.transitions.sum()),
            "triples": 0 if self.triples is None else int(self.triples.sum()),
            "start": self.n_labels if self.boundaries else 0,
            "end": self.n_labels if self.boundaries else 0,
            "edges": 0 if self.edges is None else len(self.edges.outputs),
            "state": len(self.state.outputs),
        }
        return sections_of(sizes)

    @property
    def n_weights(self) -> int:
        """Number of weights."""
        return int(self.sections["state"].stop)

    @cached_property
    def _triple_labels(self) -> tuple[Integers, Integers, Integers]:
        """Labels (before before, before, label) of every edge; -1 for none."""
        states = self.states
        return (
            states.before[states.edge_from],
            states.label_of[states.edge_from],
            states.label_of[states.edge_to],
        )

    def transition_matrix(self, w: Floats) -> Floats:
        """Weights of (label before, label), shape (K, K)."""
        matrix = np.zeros((self.n_labels, self.n_labels))
        matrix[self.transitions] = w[self.sections["transitions"]]
        return matrix

    def edge_scores(self, w: Floats) -> Floats:
        """Scores of the edges that do not depend on attributes, shape (n_edges,)."""
        matrix = self.transition_matrix(w)
        if self.triples is None:
            return np.ascontiguousarray(matrix.T).ravel()
        cube = np.zeros((self.n_labels,) * 3)
        cube[self.triples] = w[self.sections["triples"]]
        first, second, third = self._triple_labels
        return matrix[second, third] + np.where(first >= 0, cube[first, second, third], 0.0)

    def start_scores(self, w: Floats) -> Floats:
        """Scores of beginning in a state, shape (n_states,)."""
        labels = w[self.sections["start"]] if self.boundaries else np.zeros(self.n_labels)
        states = self.states
        scores: Floats = np.ascontiguousarray(labels[states.label_of])
        if self.triples is not None:
            scores[states.before >= 0] = -np.inf
        return scores

    def end_scores(self, w: Floats) -> Floats:
        """Scores of ending in a state, shape (n_states,)."""
        labels = w[self.sections["end"]] if self.boundaries else np.zeros(self.n_labels)
        return np.ascontiguousarray(labels[self.states.label_of])

    def gather(self, edges: Floats, start: Floats, end: Floats, edge_weights: Floats) -> Floats:
        """The adjoint of the scores of edges, starts and ends: all weights but the state's."""
        K, states = self.n_labels, self.states
        parts: list[Any] = [inference.label_pairs(states, edges)[self.transitions]]
        if self.triples is not None:
            first, second, third = self._triple_labels
            inner = first >= 0
            cells = (first[inner] * K + second[inner]) * K + third[inner]
            cube = np.bincount(cells, weights=edges[inner], minlength=K**3)
            parts.append(cube.reshape(K, K, K)[self.triples])
        if self.boundaries:
            begins = start if self.triples is None else np.where(states.before < 0, start, 0.0)
            parts.append(np.bincount(states.label_of, weights=begins, minlength=K))
            parts.append(np.bincount(states.label_of, weights=end, minlength=K))
        return np.concatenate([*parts, edge_weights])

    def encode(self, X: AttributeSequences, *, merge: bool = False) -> EncodedChains:
        """A handle on the tokens for passes over them."""
        edges = None if self.edges is None else (X.edge_matrix, *self.edges)
        return EncodedChains.of(X, self.state, self.n_labels, merge=merge, edges=edges)

    def scorer(self, w: Floats) -> ChainScorer:
        """The weights of (attribute, label), laid out for any number of calls."""
        state = np.ascontiguousarray(w[self.sections["state"]], dtype=np.float64)
        return ChainScorer(*self.state, state, self.n_labels)

    def best_from_attributes(
        self, w: Floats, X: AttributeSequences, scorer: ChainScorer, n_threads: int = 1
    ) -> Integers:
        """Labels of the best labellings of a first-order chain, without keeping the scores.

        `scorer` is that of w; attributes of edges are not for it.
        """
        bonds = (self.edge_scores(w), self.start_scores(w), self.end_scores(w))
        return scorer.best(checked_csr(X, n_threads), X.offsets, bonds, n_threads)

    def scores(
        self,
        w: Floats,
        X: AttributeSequences,
        n_threads: int = 1,
        *,
        scorer: ChainScorer | None = None,
    ) -> ChainScores:
        """Scores of all tokens; `scorer` is that of w where it is at hand."""
        scorer = self.scorer(w) if scorer is None else scorer
        nodes = scorer.scores(checked_csr(X, n_threads), n_threads)
        edges = self.edge_scores(w)
        if self.edges is not None:
            weights = np.zeros((len(self.edges.starts) - 1, self.n_labels**2))
            weights[self.edges.attributes, self.edges.outputs] = w[self.sections["edges"]]
            edges = np.ascontiguousarray(edges + X.edge_matrix @ weights)
        return ChainScores(
            self.states, nodes, edges, self.start_scores(w), self.end_scores(w), X.offsets
        )

    def adjoint(
        self, X: AttributeSequences, nodes: Floats, edges: Floats, start: Floats, end: Floats
    ) -> Floats:
        """Psi' of numbers per token and label, per token and edge, and per state."""
        products = X.matrix.T @ nodes
        state = products[self.state.attributes, self.state.outputs]
        edge_weights = np.zeros(0)
        if self.edges is not None:
            products = X.edge_matrix.T @ edges
            edge_weights = products[self.edges.attributes, self.edges.outputs]
        return np.concatenate([self.gather(edges.sum(axis=0), start, end, edge_weights), state])

    def features(self, X: AttributeSequences, labels: Integers) -> Floats:
        """The sum over the sequences of Psi(x, y)."""
        n, states, offsets = len(labels), self.states, X.offsets
        nodes = np.zeros((n, self.n_labels))
        nodes[np.arange(n), labels] = 1.0
        edges = np.zeros((n, len(states.edge_from)))
        found = inference.path_edges(states, labels, offsets)
        inner = found >= 0
        edges[np.flatnonzero(inner), found[inner]] = 1.0
        full = np.diff(offsets) > 0
        K = self.n_labels
        begins = np.bincount(labels[offsets[:-1][full]], minlength=K).astype(np.float64)
        ends = np.bincount(labels[offsets[1:][full] - 1], minlength=K).astype(np.float64)
        if self.triples is None:
            return self.adjoint(X, nodes, edges, begins, ends)
        # One state carries all of a label's starts or ends: only their sums are read.
        pad = np.zeros(K * K)
        return self.adjoint(X, nodes, edges, np.append(pad, begins), np.append(pad, ends))

    def best(self, scores: ChainScores, n_threads: int = 1) -> tuple[Integers, Floats]:
        """max over y of the score: labels and values."""
        return inference.best_labels(scores, n_threads)

    def cost_augmented_best(
        self, scores: ChainScores, labels: Integers, cost: Floats, n_threads: int = 1
    ) -> tuple[Integers, Floats]:
        """max over y' of score(y') + sum_t cost[y_t, y'_t]: labels and values."""
        return inference.best_labels(scores.augmented(labels, cost), n_threads)

    def log_sum_exp(
        self, scores: ChainScores, *, edges: bool = False, n_threads: int = 1
    ) -> ChainMarginals:
        """log sum over y of exp(score), with its gradient, the marginals."""
        return inference.marginals(scores, edges=edges, n_threads=n_threads)

    def k_best(
        self, scores: ChainScores, k: int, n_threads: int = 1
    ) -> list[tuple[Integers, Floats]]:
        """The k best labellings of every sequence."""
        return inference.k_best_labels(scores, k, n_threads)

    def sample(
        self, scores: ChainScores, n_draws: int, seed: int = 0, n_threads: int = 1
    ) -> Integers:
        """Draws from p(y) proportional to exp(score), shape (n_draws, n_tokens)."""
        return inference.sample_labels(scores, n_draws, seed, n_threads)


def observed_chain(
    X: AttributeSequences,
    n_labels: int,
    labels: Integers | None,
    allowed: npt.NDArray[np.bool_] | None = None,
    *,
    state_features: str = "observed",
    transitions: str = "all",
    order: int = 1,
    boundaries: bool = True,
) -> Chain:
    """The chain whose features were observed in training data.

    Parameters
    ----------
    X : AttributeSequences
        Training tokens.
    n_labels : int
        K.
    labels : array of shape (n_tokens,) or None
        Their labels; not read where `allowed` is given.
    allowed : bool array of shape (n_tokens, K), optional
        Labels that every token may have, where they are not known.
    state_features, transitions : {"observed", "all"}
        Whether (attribute, label) and (label, label) pairs that were not seen have a weight too.
    order : {1, 2}
        Whether triples of labels have weights.
    boundaries : bool
        Whether starts and ends have weights.
    """
    K = n_labels
    if allowed is not None:
        labels = None
    pattern: Pattern
    if state_features == "all":
        pattern = Pattern.full(X.matrix.shape[1], K)
    else:
        pattern = Pattern(*observed_labels(make_csr(X.matrix), K, labels, allowed))
    first = np.zeros(X.matrix.shape[0] + 1, dtype=bool)
    first[X.offsets[:-1]] = True
    inner = np.flatnonzero(~first[:-1])
    seen = _seen(labels, allowed, K)
    every = transitions == "all"
    pairs = np.ones((K, K), dtype=bool) if every else seen(inner - 1, inner)
    triples = None
    if order == 2:
        third = inner[~first[inner - 1]]
        triples = np.ones((K, K, K), dtype=bool) if every else seen(third - 2, third - 1, third)
    edges = None
    if X.edge_matrix is not None:
        edges = _edge_pattern(X, K, labels, allowed, inner, every)
    return Chain(K, pattern, pairs, triples, boundaries, edges)


def _seen(
    labels: Integers | None, allowed: npt.NDArray[np.bool_] | None, K: int
) -> Callable[..., npt.NDArray[np.bool_]]:
    def seen(*tokens: Integers) -> npt.NDArray[np.bool_]:
        """Which labels stood, or could stand, at so many tokens in a row."""
        if allowed is None:
            assert labels is not None
            cells = np.zeros(len(tokens[0]), dtype=np.int64)
            for token in tokens:
                cells = cells * K + labels[token]
            counts = np.bincount(cells, minlength=K ** len(tokens))
            return counts.reshape((K,) * len(tokens)) > 0
        letters = "abc"[: len(tokens)]
        subscripts = ",".join("t" + letter for letter in letters) + "->" + letters
        rows: list[Any] = [allowed[token].astype(np.float32) for token in tokens]
        counts = np.einsum(subscripts, *rows, optimize=True)
        return np.asarray(counts > 0)

    return seen


def _edge_pattern(
    X: AttributeSequences,
    K: int,
    labels: Integers | None,
    allowed: npt.NDArray[np.bool_] | None,
    inner: Integers,
    every: bool,
) -> Pattern:
    if every:
        return Pattern.full(X.edge_matrix.shape[1], K * K)
    tokens = X.edge_matrix[inner]
    if allowed is None:
        assert labels is not None
        pairs, pair_sets = labels[inner] * K + labels[inner - 1], None
    else:
        pairs = None
        pair_sets = (allowed[inner][:, :, None] & allowed[inner - 1][:, None, :]).reshape(-1, K * K)
    return Pattern(*observed_labels(make_csr(tokens), K * K, pairs, pair_sets))
