"""Exact inference on chains: best labels, k best, sums with marginals, draws.

A labelling y of a sequence of T tokens scores
start[y_0] + sum_t nodes[t, y_t] + sum_{t > 0} transitions[y_{t-1}, y_t] + end[y_{T-1}];
minus infinity forbids a label or a transition.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from separatrix._core import (
    ChainGraph,
    chain_best,
    chain_k_best,
    chain_log_partition,
    chain_marginals,
    chain_sample,
)
from separatrix.errors import DataError

__all__ = [
    "ChainMarginals",
    "ChainScores",
    "States",
    "best_labels",
    "first_order_states",
    "k_best_labels",
    "log_partition",
    "marginals",
    "path_scores",
    "sample_labels",
    "second_order_states",
]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class States:
    """What the states of a chain stand for.

    Attributes
    ----------
    n_labels : int
        Number of labels K.
    label_of : array of shape (n_states,)
        The label that a state carries.
    before : array of shape (n_states,)
        The label before it, -1 for none; for first order, -1 throughout.
    edge_from, edge_to : arrays of shape (n_edges,)
        States that may follow each other, sorted by `edge_to`.
    graph : ChainGraph
        The same for the kernels.
    """

    n_labels: int
    label_of: Integers
    before: Integers
    edge_from: Integers
    edge_to: Integers
    graph: ChainGraph

    @property
    def order(self) -> int:
        """1 where states are labels, 2 where they are pairs of labels."""
        return 1 if len(self.label_of) == self.n_labels else 2


@lru_cache(maxsize=32)
def first_order_states(n_labels: int) -> States:
    """States that are labels; edge number ``to * n_labels + from``."""
    labels = np.arange(n_labels, dtype=np.int64)
    return States(
        n_labels,
        labels,
        np.full(n_labels, -1, dtype=np.int64),
        np.tile(labels, n_labels),
        np.repeat(labels, n_labels),
        ChainGraph.first_order(n_labels),
    )


@lru_cache(maxsize=32)
def second_order_states(n_labels: int) -> States:
    """States that are pairs (before, label): number ``before * K + label``, then (none, label).

    Examples
    --------
    >>> states = second_order_states(2)
    >>> states.label_of.tolist(), states.before.tolist()
    ([0, 1, 0, 1, 0, 1], [0, 0, 1, 1, -1, -1])
    """
    K = n_labels
    label_of = np.tile(np.arange(K, dtype=np.int64), K + 1)
    before = np.append(np.repeat(np.arange(K, dtype=np.int64), K), np.full(K, -1, dtype=np.int64))
    # Into (b, c) lead (a, b) for every a, and (none, b).
    sources = np.arange(K + 1, dtype=np.int64) * K
    edge_from = (sources[None, None, :] + np.arange(K)[:, None, None]).repeat(K, axis=1).ravel()
    edge_to = np.repeat(np.arange(K * K, dtype=np.int64), K + 1)
    return States(
        K, label_of, before, edge_from, edge_to, ChainGraph(K, label_of, edge_from, edge_to)
    )


@dataclass(frozen=True, eq=False)
class ChainScores:
    """The scores of many sequences.

    Attributes
    ----------
    states : States
        What the states stand for.
    nodes : array of shape (n_tokens, K)
        Scores of the labels.
    edges : array of shape (n_edges,) or (n_tokens, n_edges)
        Scores of the edges, one for all tokens or one per token (not read at a first token).
    start, end : arrays of shape (n_states,)
        Scores of beginning and of ending in a state.
    offsets : int64 array of shape (n_sequences + 1,)
        Where each sequence begins, and where the last ends.

    Examples
    --------
    >>> scores = ChainScores.of([[1.0, 0.0], [0.0, 0.5]], [[2.0, 0.0], [0.0, 0.0]])
    >>> labels, best = best_labels(scores)
    >>> labels.tolist(), best.tolist()
    ([0, 0], [3.0])
    """

    states: States
    nodes: Floats
    edges: Floats
    start: Floats
    end: Floats
    offsets: Integers

    @classmethod
    def of(
        cls,
        nodes: npt.ArrayLike,
        transitions: npt.ArrayLike,
        lengths: npt.ArrayLike | None = None,
        start: npt.ArrayLike | None = None,
        end: npt.ArrayLike | None = None,
    ) -> ChainScores:
        """Scores of a first-order chain.

        Parameters
        ----------
        nodes : array-like of shape (n_tokens, K)
        transitions : array-like of shape (K, K) or (n_tokens, K, K)
            ``transitions[a, b]`` for label b after label a, for all tokens or per token.
        lengths : array-like of shape (n_sequences,), optional
            Tokens of each sequence; one sequence without.
        start, end : array-like of shape (K,), optional
            Zeros without.
        """
        nodes = np.ascontiguousarray(nodes, dtype=np.float64)
        if nodes.ndim != 2 or nodes.shape[1] == 0:
            raise DataError(f"nodes must have shape (n_tokens, K), got {nodes.shape}")
        n, K = nodes.shape
        transitions = np.asarray(transitions, dtype=np.float64)
        if transitions.shape not in ((K, K), (n, K, K)):
            raise DataError(
                f"transitions must have shape {(K, K)} or {(n, K, K)}, got {transitions.shape}"
            )
        edges = np.ascontiguousarray(np.swapaxes(transitions, -1, -2))
        edges = edges.reshape((*edges.shape[:-2], K * K))
        zero = np.zeros(K)
        lengths = np.array([n]) if lengths is None else np.asarray(lengths)
        return cls(
            first_order_states(K),
            nodes,
            edges,
            zero if start is None else np.ascontiguousarray(start, dtype=np.float64),
            zero if end is None else np.ascontiguousarray(end, dtype=np.float64),
            np.append(0, np.cumsum(lengths)).astype(np.int64),
        )

    @property
    def arrays(self) -> tuple[Floats, Floats, Floats, Floats]:
        """(nodes, edges, start, end) for the kernels."""
        return self.nodes, self.edges, self.start, self.end

    def restricted(
        self,
        allowed: npt.NDArray[np.bool_] | None = None,
        forbidden: npt.NDArray[np.bool_] | None = None,
        forbidden_start: npt.NDArray[np.bool_] | None = None,
        forbidden_end: npt.NDArray[np.bool_] | None = None,
    ) -> ChainScores:
        """The same scores with labels or transitions forbidden.

        Parameters
        ----------
        allowed : bool array of shape (n_tokens, K), optional
            Labels that a token may have.
        forbidden : bool array of shape (K, K), optional
            Labels that may not follow each other, (from, to).
        forbidden_start, forbidden_end : bool arrays of shape (K,), optional
            Labels that may not begin or end a sequence.
        """
        states, result = self.states, self
        if allowed is not None:
            if allowed.shape != self.nodes.shape:
                raise DataError(
                    f"allowed labels must have shape {self.nodes.shape}, got {allowed.shape}"
                )
            result = replace(result, nodes=np.where(allowed, self.nodes, -np.inf))
        if forbidden is not None:
            pairs = forbidden[states.label_of[states.edge_from], states.label_of[states.edge_to]]
            result = replace(result, edges=np.where(pairs, -np.inf, self.edges))
        if forbidden_start is not None:
            start = np.where(forbidden_start[states.label_of], -np.inf, self.start)
            result = replace(result, start=start)
        if forbidden_end is not None:
            result = replace(
                result, end=np.where(forbidden_end[states.label_of], -np.inf, self.end)
            )
        return result

    def augmented(self, labels: Integers, cost: Floats, scale: Floats | None = None) -> ChainScores:
        """The same scores with cost[label, other] added, times the scale of the token."""
        costs = cost[labels] if scale is None else cost[labels] * scale[:, None]
        return replace(self, nodes=self.nodes + costs)


class ChainMarginals(NamedTuple):
    """Sums over all labellings.

    Attributes
    ----------
    log_partition : array of shape (n_sequences,)
        log Z.
    nodes : array of shape (n_tokens, K)
        p(label of a token).
    edges : array of shape (n_tokens, K, K) or None
        p(label before, label) of the token and the one before it; zero at the first of a sequence.
    parts : (array, array) or None
        The same with edges between states, as `ChainFeatures.adjoint` takes them.
    """

    log_partition: Floats
    nodes: Floats
    edges: Floats | None
    parts: tuple[Floats, Floats] | None = None


def best_labels(scores: ChainScores, n_threads: int = 1) -> tuple[Integers, Floats]:
    """The best labelling (Viterbi): labels of shape (n_tokens,), scores of shape (n_sequences,)."""
    return chain_best(scores.states.graph, scores.arrays, scores.offsets, n_threads)


def k_best_labels(scores: ChainScores, k: int, n_threads: int = 1) -> list[tuple[Integers, Floats]]:
    """For every sequence its k best labellings, shape (at most k, length), and their scores.

    Examples
    --------
    >>> scores = ChainScores.of([[1.0, 0.0], [0.0, 0.5]], np.zeros((2, 2)))
    >>> paths, values = k_best_labels(scores, 3)[0]
    >>> paths.tolist(), values.tolist()
    ([[0, 1], [0, 0], [1, 1]], [1.5, 1.0, 0.5])
    """
    return chain_k_best(scores.states.graph, scores.arrays, scores.offsets, k, n_threads)


def log_partition(scores: ChainScores, n_threads: int = 1) -> Floats:
    """log Z of every sequence, shape (n_sequences,)."""
    return chain_log_partition(scores.states.graph, scores.arrays, scores.offsets, n_threads)


def marginals(scores: ChainScores, *, edges: bool = False, n_threads: int = 1) -> ChainMarginals:
    """Node marginals and, on demand, edge marginals (forward–backward).

    Examples
    --------
    >>> scores = ChainScores.of(np.zeros((2, 2)), [[np.log(3.0), 0.0], [0.0, 0.0]])
    >>> found = marginals(scores, edges=True)
    >>> found.edges[1].round(3).tolist()
    [[0.5, 0.167], [0.167, 0.167]]
    """
    states = scores.states
    log_z, nodes, found = chain_marginals(
        states.graph, scores.arrays, scores.offsets, edges, n_threads
    )
    if found is None:
        return ChainMarginals(log_z, nodes, None)
    return ChainMarginals(log_z, nodes, label_pairs(states, found), (nodes, found))


def label_pairs(states: States, edges: Floats) -> Floats:
    """Numbers per edge, shape (..., n_edges), summed to pairs of labels, shape (..., K, K)."""
    K = states.n_labels
    if states.order == 1:
        return np.swapaxes(edges.reshape((*edges.shape[:-1], K, K)), -1, -2)
    pairs = states.label_of[states.edge_from] * K + states.label_of[states.edge_to]
    result = np.zeros((*edges.shape[:-1], K * K))
    for pair in range(K * K):
        result[..., pair] = edges[..., pairs == pair].sum(axis=-1)
    return result.reshape((*edges.shape[:-1], K, K))


def sample_labels(scores: ChainScores, n_draws: int, seed: int = 0, n_threads: int = 1) -> Integers:
    """Exact draws from p(y) = exp(score) / Z, shape (n_draws, n_tokens)."""
    return chain_sample(
        scores.states.graph, scores.arrays, scores.offsets, n_draws, seed, n_threads
    )


def path_edges(states: States, labels: Integers, offsets: Integers) -> Integers:
    """Number of the edge into every token under a labelling, -1 at the first of a sequence."""
    K, n = states.n_labels, len(labels)
    first = np.zeros(n, dtype=bool)
    first[offsets[:-1][np.diff(offsets) > 0]] = True
    before = np.where(first, -1, np.append(-1, labels[:-1])) if n else labels
    if states.order == 1:
        return np.where(first, -1, labels * K + before)
    second = np.append(False, first[:-1]) | first if n else first
    earlier = np.where(second, K, np.append([-1, -1], labels[:-2])[:n])
    return np.where(first, -1, (before * K + labels) * (K + 1) + earlier)


def path_scores(scores: ChainScores, labels: npt.ArrayLike) -> Floats:
    """Score of a labelling of all tokens, shape (n_sequences,).

    Examples
    --------
    >>> transitions, start = [[2.0, 0.0], [0.0, 0.0]], [4.0, 0.0]
    >>> scores = ChainScores.of([[1.0, 0.0], [0.0, 0.5]], transitions, start=start)
    >>> path_scores(scores, [0, 1]).tolist()
    [5.5]
    """
    states, offsets = scores.states, scores.offsets
    labels = np.asarray(labels, dtype=np.int64)
    n, K = scores.nodes.shape
    if labels.shape != (n,) or (n and not (labels.min() >= 0 and labels.max() < K)):
        raise DataError(f"expected {n} labels from 0 to {K - 1}")
    tokens = np.arange(n)
    values = scores.nodes[tokens, labels].copy()
    edges = path_edges(states, labels, offsets)
    inner = edges >= 0
    per_token = scores.edges.ndim == 2
    values[inner] += (
        scores.edges[tokens[inner], edges[inner]] if per_token else scores.edges[edges[inner]]
    )
    begin, length = offsets[:-1], np.diff(offsets)
    full = length > 0
    last = offsets[1:][full] - 1
    if states.order == 1:
        start_state, end_state = labels[begin[full]], labels[last]
    else:
        start_state = K * K + labels[begin[full]]
        before = np.where(length[full] > 1, labels[np.maximum(last - 1, 0)], K)
        end_state = before * K + labels[last]
    values[begin[full]] += scores.start[start_state]
    values[last] += scores.end[end_state]
    result: Any = np.zeros(len(length))
    result[full] = np.add.reduceat(values, begin[full]) if full.any() else 0.0
    total: Floats = result
    return total
