"""Sequences of tokens as a structure: which weights there are, their scores, and inference."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from separatrix._core import ChainScorer, observed_labels
from separatrix.data import AttributeSequences, Vocabulary, as_attribute_sequences
from separatrix.data.sequences.attributes import with_columns_of
from separatrix.data.sequences.containers import LabelLists
from separatrix.errors import DataError, ParameterError
from separatrix.structures.chain import growth, inference
from separatrix.structures.chain.constraints import GRAMMARS, Constraints
from separatrix.structures.chain.encoded import EncodedChains, checked_csr, make_csr
from separatrix.structures.chain.inference import ChainMarginals, ChainScores, States
from separatrix.structures.chain.passes import ChainMargins, ChainPasses, ChainUpdates
from separatrix.structures.coded_labels import CodedLabels, encode_tags, label_pairs
from separatrix.structures.inference import Best
from separatrix.structures.sections import sections_of
from separatrix.validation import check_choice

__all__ = ["Chain", "ChainFeatures", "Pattern", "observed_chain"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
AnyArray = npt.NDArray[Any]

#: Scores computed at a time in a prediction.
_SCORES = 1 << 25


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
class ChainFeatures:
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
    names, edge_names : Vocabulary or None
        Names of the attributes, and of those of edges, where they have any.
    seen : array of shape (K + 1, K) or None
        How often labels followed each other in training, the last row at starts of sequences; None
        where labels were not all known.

    Examples
    --------
    >>> from separatrix.data import as_attribute_sequences
    >>> X = as_attribute_sequences([[["the"], ["cat"]]])
    >>> chain = ChainFeatures(2, Pattern.full(2, 2), np.ones((2, 2), dtype=bool), boundaries=False)
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
    names: Vocabulary | None = None
    edge_names: Vocabulary | None = None
    seen: Integers | None = None

    #: All weights are penalized, and inference is exact.
    n_free: ClassVar[int] = 0
    is_exact: ClassVar[bool] = True

    def __getstate__(self) -> dict[str, Any]:
        # Arrays alone, for model files; what was made on the way holds handles of the kernels.
        state = {field.name: getattr(self, field.name) for field in fields(self)}
        return state | {
            "state": tuple(self.state),
            "edges": None if self.edges is None else tuple(self.edges),
            "names": _packed(self.names),
            "edge_names": _packed(self.edge_names),
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        # What comes over a wire or from a disk may begin at any byte of a buffer.
        tables = {name: _aligned(state[name]) for name in ("transitions", "triples", "seen")}
        patterns = {
            name: None if state[name] is None else Pattern(*map(_aligned, state[name]))
            for name in ("state", "edges")
        }
        names = {name: _unpacked(state[name]) for name in ("names", "edge_names")}
        vars(self).update(state | tables | patterns | names)

    def __sx_check__(self) -> None:
        """Raise DataError unless the arrays of a loaded model agree with each other."""
        K = self.n_labels
        starts, outputs = self.state
        good = (
            self.transitions.shape == (K, K)
            and (self.triples is None or self.triples.shape == (K, K, K))
            and int(starts[0]) == 0
            and int(starts[-1]) == len(outputs)
            and bool((np.diff(starts) >= 0).all())
            and (len(outputs) == 0 or (outputs.min() >= 0 and outputs.max() < K))
        )
        if not good:
            raise DataError("the features of the chain do not fit each other")

    @property
    def n_classes(self) -> int:
        """Number of labels that a token may have."""
        return self.n_labels

    @property
    def n_attributes(self) -> int:
        """Attributes of tokens."""
        return len(self.state.starts) - 1

    @property
    def n_edge_attributes(self) -> int:
        """Attributes of edges."""
        return 0 if self.edges is None else len(self.edges.starts) - 1

    def is_same(self, other: Any) -> bool:
        """Whether the weights of the other mean the same."""
        return (
            isinstance(other, ChainFeatures)
            and self.n_weights == other.n_weights
            and _same_pattern(self.state, other.state)
            and np.array_equal(self.transitions, other.transitions)
            and self.boundaries == other.boundaries
        )

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
        """The weights of (attribute, label), laid out for any number of calls; kept for the next.

        Equal weights find what was laid out before.
        """
        state = np.ascontiguousarray(w[self.sections["state"]], dtype=np.float64)
        made: tuple[Floats, ChainScorer] | None = vars(self).get("_laid_out")
        if made is None or not np.array_equal(made[0], state):
            made = state.copy(), ChainScorer(*self.state, state, self.n_labels)
            vars(self)["_laid_out"] = made
        return made[1]

    def scores(self, w: Floats, X: AttributeSequences, n_threads: int = 1) -> ChainScores:
        """Scores of all tokens."""
        nodes = self.scorer(w).scores(checked_csr(X, n_threads), n_threads)
        edges = self.edge_scores(w)
        if self.edges is not None:
            weights = np.zeros((len(self.edges.starts) - 1, self.n_labels**2))
            weights[self.edges.attributes, self.edges.outputs] = w[self.sections["edges"]]
            edges = np.ascontiguousarray(edges + X.edge_matrix @ weights)
        return ChainScores(
            self.states, nodes, edges, self.start_scores(w), self.end_scores(w), X.offsets
        )

    def restricted(
        self, scores: ChainScores, constraints: Any, classes: npt.NDArray[Any]
    ) -> ChainScores:
        """The scores with everything forbidden that the constraints forbid; see `Constraints`."""
        return Constraints.of(constraints).apply(scores, classes, self.seen)

    def adjoint(
        self,
        X: AttributeSequences,
        parts: tuple[Floats, Floats],
        weights: Floats | None = None,
    ) -> Floats:
        """Psi' of numbers per token and label, and per token and edge; times weights of sequences.

        Starts and ends are counted by the labels of the first and the last token.
        """
        nodes, edges = parts
        if weights is not None:
            of_token = np.repeat(weights, X.lengths)[:, None]
            nodes, edges = nodes * of_token, edges * of_token
        products = X.matrix.T @ nodes
        state = products[self.state.attributes, self.state.outputs]
        edge_weights = np.zeros(0)
        if self.edges is not None:
            products = X.edge_matrix.T @ edges
            edge_weights = products[self.edges.attributes, self.edges.outputs]
        full = X.lengths > 0
        begins = nodes[X.offsets[:-1][full]].sum(axis=0)
        ends = nodes[X.offsets[1:][full] - 1].sum(axis=0)
        if self.triples is not None:
            # One state carries all of a label's starts or ends: only their sums are read.
            pad = np.zeros(self.n_labels**2)
            begins, ends = np.append(pad, begins), np.append(pad, ends)
        return np.concatenate([self.gather(edges.sum(axis=0), begins, ends, edge_weights), state])

    def parts(self, X: AttributeSequences, labels: Integers) -> tuple[Floats, Floats]:
        """One at the label of every token and at the edge into it, as marginals have them."""
        n, states = len(labels), self.states
        nodes = np.zeros((n, self.n_labels))
        nodes[np.arange(n), labels] = 1.0
        edges = np.zeros((n, len(states.edge_from)))
        found = inference.path_edges(states, labels, X.offsets)
        inner = found >= 0
        edges[np.flatnonzero(inner), found[inner]] = 1.0
        return nodes, edges

    def features(self, X: AttributeSequences, labels: Integers) -> Floats:
        """The sum over the sequences of Psi(x, y)."""
        return self.adjoint(X, self.parts(X, labels))

    def values(self, scores: ChainScores, labels: Integers) -> Floats:
        """Score of a labelling of all tokens, shape (n_sequences,)."""
        return inference.path_scores(scores, labels)

    def augmented(
        self, scores: ChainScores, labels: Integers, cost: Floats, scale: Floats | None = None
    ) -> ChainScores:
        """The scores with scale_t cost[y_t, y'_t] added for every token."""
        return scores.augmented(labels, cost, scale)

    def best(self, scores: ChainScores, n_threads: int = 1) -> Best:
        """max over y of the score."""
        labels, values = inference.best_labels(scores, n_threads)
        return Best(labels, values)

    def best_at(
        self,
        w: Floats,
        X: AttributeSequences,
        n_threads: int = 1,
        constraints: Any = None,
        classes: npt.NDArray[Any] | None = None,
    ) -> Integers:
        """Labels of the best labellings, without keeping the scores of all."""
        if constraints is None and self.triples is None and self.edges is None:
            bonds = (self.edge_scores(w), self.start_scores(w), self.end_scores(w))
            return self.scorer(w).best(checked_csr(X, n_threads), X.offsets, bonds, n_threads)
        # What is given per token belongs to all sequences at once.
        whole = constraints is not None and Constraints.of(constraints).given is not None
        codes = []
        for part in [X] if whole else self._parts_of(X):
            scores = self.scores(w, part, n_threads)
            if constraints is not None:
                assert classes is not None
                scores = self.restricted(scores, constraints, classes)
            codes.append(self.best(scores, n_threads).labels)
        return np.concatenate(codes)

    def _parts_of(self, X: AttributeSequences) -> list[AttributeSequences]:
        """The sequences in parts whose scores do not take too much memory."""
        K = self.n_labels
        per_token = K + (K * K if X.edge_matrix is not None else 0)
        most = max(1, _SCORES // per_token)
        if X.offsets[-1] <= most:
            return [X]
        cuts = np.searchsorted(X.offsets, np.arange(most, X.offsets[-1], most), side="right") - 1
        bounds = np.unique([0, *cuts, len(X)]).tolist()
        return [X.take(np.arange(a, b)) for a, b in pairwise(bounds)]

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

    # -- what kernels do faster than the operations above ----------------------------------------

    def likelihood_passes(
        self,
        inputs: AttributeSequences,
        labels: CodedLabels,
        weights: Floats | None,
        **options: Any,
    ) -> ChainPasses:
        """Sums of log Z - score over sequences, by a kernel."""
        return ChainPasses(self, inputs, labels, weights, **options)

    def margin_passes(
        self,
        inputs: AttributeSequences,
        labels: CodedLabels,
        weights: Floats | None,
        **options: Any,
    ) -> ChainMargins:
        """Sums of margin losses over sequences, for kernels that solve their dual."""
        return ChainMargins(self, inputs, labels, weights, **options)

    def updates(
        self,
        inputs: AttributeSequences,
        labels: CodedLabels,
        weights: Floats | None,
        **options: Any,
    ) -> ChainUpdates | None:
        """Passes of the perceptron and MIRA by a kernel; None where that knows no such features."""
        if self.triples is not None or self.edges is not None:
            return None
        return ChainUpdates(self, inputs, labels, weights, **options)

    # -- features that grow ----------------------------------------------------------------------

    def joined(self, new: ChainFeatures) -> ChainFeatures:
        """The features of both; the new ones may have more attributes."""
        return growth.joined(self, new)

    def renumbered(self, numbers: Integers, n_labels: int) -> ChainFeatures:
        """The same features among more labels; `numbers` are those of its labels there, rising."""
        return growth.renumbered(self, numbers, n_labels)

    def shifted(self, w: Floats, label: int, amount: float) -> Floats:
        """The weights w with `amount` more for every token of a label.

        Every token has one label before it, or starts: added to all transitions to the label and to
        its start, the amount is counted once per token.
        """
        to_label = self.transitions[:, label]
        if not self.boundaries or not to_label.all():
            raise ParameterError(
                "scores of a label are shifted by weights of starts and of all transitions; fit "
                'with Chain(boundaries=True, transitions="all")'
            )
        result = np.array(w, dtype=np.float64)
        result[self.sections["transitions"]] += amount * (np.nonzero(self.transitions)[1] == label)
        result[self.sections["start"].start + label] += amount
        return result

    def moved(self, w: Floats, new: ChainFeatures, numbers: Integers | None = None) -> Floats:
        """The weights w as weights of `new`, zero for those that are not among these features.

        `numbers` are those of the labels there, -1 for labels that `new` lacks; without, the labels
        are the same.
        """
        return growth.moved(self, w, new, numbers)


def _same_pattern(one: Pattern, other: Pattern) -> bool:
    return all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


def _aligned(array: Any) -> Any:
    """The array where kernels can read it."""
    return None if array is None else np.require(array, None, ["C", "A"])


def _packed(names: Vocabulary | None) -> tuple[npt.NDArray[np.uint8], Integers] | None:
    """The words as arrays; None for attributes without names."""
    return None if names is None else (np.frombuffer(names.data, dtype=np.uint8), names.offsets)


def _unpacked(packed: tuple[npt.NDArray[np.uint8], Integers] | None) -> Vocabulary | None:
    return None if packed is None else Vocabulary(packed[0].tobytes(), packed[1])


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
) -> ChainFeatures:
    """The features that were observed in training data.

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
    return ChainFeatures(
        K, pattern, pairs, triples, boundaries, edges, X.vocabulary, X.edge_vocabulary
    )


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


@dataclass(frozen=True)
class Chain:
    """Sequences: a label per token, weights for attributes of tokens and for labels in a row.

    Parameters
    ----------
    order : {1, 2}
        Labels whose weights depend on each other: two, or three in a row.
    state_features : {"observed", "all"}
        Pairs of attribute and label with a weight: those seen in training, or all.
    transitions : {"observed", "all"}
        Pairs (and triples) of labels with a weight.
    boundaries : bool
        Whether the first and the last label of a sequence have weights.
    constraints : Constraints or {"BIO", "BIOES", "IOB1"}, optional
        What predictions must obey where a call says nothing else.

    Examples
    --------
    >>> from separatrix import CRF
    >>> X, y = [[["the"], ["cat"]], [["cats"], ["sleep"]]], [["D", "N"], ["N", "V"]]
    >>> crf = CRF(Chain(boundaries=False)).fit(X, y)
    >>> crf.predict([[["the"], ["cats"]]]), list(crf.features_.sections)[:2]
    ([['D', 'N']], ['transitions', 'triples'])
    """

    order: int = 1
    state_features: str = "observed"
    transitions: str = "all"
    boundaries: bool = True
    constraints: Any = None

    #: Labels may be known in part, and chunks of labels be scored.
    takes_partial: ClassVar[bool] = True
    scorings: ClassVar[tuple[str, ...]] = ("accuracy", "chunk_f1")

    def check(self) -> None:
        """Raise ParameterError where a parameter is not one of its values."""
        check_choice("order", self.order, (1, 2))
        check_choice("state_features", self.state_features, ("observed", "all"))
        check_choice("transitions", self.transitions, ("observed", "all"))
        if self.constraints is not None:
            limits = Constraints.of(self.constraints)
            if limits.given is not None:
                raise ParameterError(
                    "labels of tokens are given to predict; constraints of a Chain are for all "
                    "sequences"
                )
            if limits.grammar is not None:
                check_choice("constraints", limits.grammar, GRAMMARS)

    def read(self, X: Any, features: ChainFeatures | None = None) -> AttributeSequences:
        """The sequences of X, checked; with fitted features, their attributes."""
        if features is None:
            inputs = as_attribute_sequences(X)
            if len(inputs) == 0:
                raise DataError("Found array with 0 sample(s): X holds no sequence")
            return inputs
        names, edge_names = features.names, features.edge_names
        inputs = as_attribute_sequences(X, names)
        matrix = with_columns_of(
            inputs.matrix, inputs.vocabulary, names, features.n_attributes, "attributes"
        )
        edges = None
        if features.n_edge_attributes:
            if inputs.edge_matrix is None:
                raise DataError("the model was fitted with attributes of edges, X has none")
            edges = with_columns_of(
                inputs.edge_matrix,
                inputs.edge_vocabulary,
                edge_names,
                features.n_edge_attributes,
                "edge attributes",
            )
        return AttributeSequences(matrix, names, inputs.offsets, edges, edge_names)

    def codes(
        self,
        y: Any,
        inputs: AttributeSequences,
        classes: AnyArray | None = None,
        *,
        partial: bool = False,
    ) -> CodedLabels:
        """Labels of the tokens as numbers."""
        return encode_tags(y, inputs.offsets, classes, partial=partial)

    def layout(self, inputs: AttributeSequences, labels: CodedLabels) -> ChainFeatures:
        """The features that labelled sequences show."""
        if self.order == 2 and inputs.edge_matrix is not None:
            raise ParameterError("attributes of edges need order=1")
        found = observed_chain(
            inputs,
            len(labels.classes),
            labels.codes,
            labels.allowed,
            state_features=self.state_features,
            transitions=self.transitions,
            order=self.order,
            boundaries=self.boundaries,
        )
        return replace(found, seen=label_pairs(labels))

    def grown(
        self, features: ChainFeatures, X: Any, y: Any, classes: AnyArray
    ) -> tuple[ChainFeatures, AttributeSequences, CodedLabels]:
        """Features, sequences and labels where further attributes and pairs may be new."""
        inputs = _with_new_columns(as_attribute_sequences(X), features)
        labels = self.codes(y, inputs, classes)
        return features.joined(self.layout(inputs, labels)), inputs, labels

    def labels(self, codes: Integers, inputs: AttributeSequences, classes: AnyArray) -> LabelLists:
        """Labels as users have them: a list per sequence."""
        names = np.empty(len(classes), dtype=object)
        for number, name in enumerate(classes.tolist()):
            names[number] = name
        labels = names[codes].tolist()
        return LabelLists(labels[a:b] for a, b in pairwise(inputs.offsets.tolist()))

    def marginals(self, nodes: AnyArray, inputs: AttributeSequences) -> list[AnyArray]:
        """Probabilities of the labels of tokens: an array of shape (length, K) per sequence."""
        return np.split(nodes, inputs.offsets[1:-1]) if len(inputs) else []

    def edge_marginals(self, edges: AnyArray, inputs: AttributeSequences) -> list[AnyArray]:
        """Probabilities of labels in a row: an array of shape (length - 1, K, K) per sequence."""
        return [edges[a + 1 : b] for a, b in pairwise(inputs.offsets)]


def _with_new_columns(X: AttributeSequences, features: ChainFeatures) -> AttributeSequences:
    """X with the columns known so far first, in their order, and its new ones after them."""
    names = features.names
    if X.vocabulary is None or names is None:
        if (X.vocabulary is None) != (names is None):
            raise DataError("attributes have names in one call of partial_fit and none in another")
        with_columns_of(X.matrix, None, None, features.n_attributes, "attributes")
        return X
    if X.vocabulary == names:
        return X
    index = names.numbers
    new = [name for name in X.vocabulary if name not in index]
    joined = Vocabulary.of([*names, *new]) if new else names
    matrix = with_columns_of(X.matrix, X.vocabulary, joined, len(joined), "attributes")
    return AttributeSequences(matrix, joined, X.offsets, X.edge_matrix, X.edge_vocabulary)
