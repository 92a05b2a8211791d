"""Sequences cut into segments, such as chunks and names: tags in a row, and lengths of segments."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from separatrix._core import segments_best, segments_marginals
from separatrix.data import AttributeSequences, Vocabulary
from separatrix.errors import DataError, ParameterError
from separatrix.structures.chain.constraints import split_tag
from separatrix.structures.chain.inference import ChainScores, path_scores
from separatrix.structures.chain.structure import Chain, ChainFeatures, Pattern, observed_chain
from separatrix.structures.coded_labels import CodedLabels, class_array, encode_tags
from separatrix.structures.inference import Best, Sums
from separatrix.structures.sections import largest_square, sections_of
from separatrix.validation import check_choice

__all__ = ["SegmentFeatures", "SegmentScores", "Segments"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
AnyArray = npt.NDArray[Any]


class SegmentScores(NamedTuple):
    """Scores of the tags as a chain has them, and of lengths, those of each kind in a row."""

    chain: ChainScores
    lengths: Floats

    @property
    def arrays(self) -> tuple[Floats, Floats, Floats, Floats, Floats]:
        """For the kernels."""
        return (*self.chain.arrays, self.lengths)


@dataclass(frozen=True, eq=False)
class SegmentFeatures:
    """Features Psi(x, y) of a sequence cut into segments; h(x, y) = <w, Psi(x, y)>.

    A segment of kind k has the tag ``first[k]`` at its first token and ``inside[k]`` at the others.
    The weights are those of (kind, length), then those of the chain of tags. Parts are numbers per
    token and tag, per sequence and pair of tags, and per sequence and length.

    Attributes
    ----------
    chain : ChainFeatures
        Of the tags; first order, without attributes of edges.
    first, inside : arrays of shape (n_kinds,)
        Tags of the first token and of the others; -1 where segments have one token.
    longest : array of shape (n_kinds,)
        The most tokens of a segment.

    Examples
    --------
    >>> from separatrix.data import as_attribute_sequences
    >>> X = as_attribute_sequences([np.eye(2)])
    >>> tags = ChainFeatures(2, Pattern.full(2, 2), np.ones((2, 2), dtype=bool), boundaries=False)
    >>> kind = np.array([0]), np.array([1]), np.array([2])
    >>> features = SegmentFeatures(tags, *kind)  # one kind: its tokens have the tags 0 and 1
    >>> w = np.zeros(features.n_weights)
    >>> w[1] = 3.0  # of segments of two tokens
    >>> features.best(features.scores(w, X)).labels.tolist()
    [0, 1]
    """

    chain: ChainFeatures
    first: Integers
    inside: Integers
    longest: Integers

    #: All weights are penalized, and inference is exact.
    n_free: ClassVar[int] = 0
    is_exact: ClassVar[bool] = True
    #: As chains have them: neither triples of tags nor attributes of edges.
    triples: ClassVar[None] = None
    edges: ClassVar[None] = None
    edge_names: ClassVar[None] = None
    n_edge_attributes: ClassVar[int] = 0

    def __sx_check__(self) -> None:
        """Raise DataError unless the arrays of a loaded model agree with each other."""
        tags = np.concatenate([self.first, self.inside[self.inside >= 0]])
        good = (
            self.first.shape == self.inside.shape == self.longest.shape
            and np.array_equal(np.sort(tags), np.arange(self.n_labels))
            and bool((self.longest >= 1).all())
            and bool((self.longest[self.inside < 0] == 1).all())
        )
        if not good:
            raise DataError("the kinds of segments do not fit the labels")

    # -- which weights there are -----------------------------------------------------------------

    @property
    def n_labels(self) -> int:
        """Tags that a token may have."""
        return self.chain.n_labels

    @property
    def n_classes(self) -> int:
        """Number of tags."""
        return self.chain.n_labels

    @property
    def n_attributes(self) -> int:
        """Attributes of tokens."""
        return self.chain.n_attributes

    @property
    def names(self) -> Vocabulary | None:
        """Names of the attributes, where they have any."""
        return self.chain.names

    @property
    def state(self) -> Pattern:
        """Tags with a weight for every attribute."""
        return self.chain.state

    @property
    def transitions(self) -> npt.NDArray[np.bool_]:
        """Pairs (tag before, tag) with a weight."""
        return self.chain.transitions

    @property
    def boundaries(self) -> bool:
        """Whether the tags that begin and end a sequence have weights."""
        return self.chain.boundaries

    @cached_property
    def sections(self) -> dict[str, slice]:
        """Where the weights of every kind stand; those of (attribute, tag) come last."""
        sizes = {name: place.stop - place.start for name, place in self.chain.sections.items()}
        return sections_of({"lengths": int(self.longest.sum()), **sizes})

    @property
    def n_weights(self) -> int:
        """Number of weights."""
        return int(self.sections["state"].stop)

    def is_same(self, other: Any) -> bool:
        """Whether the weights of the other mean the same."""
        return (
            isinstance(other, SegmentFeatures)
            and self.chain.is_same(other.chain)
            and np.array_equal(self.longest, other.longest)
        )

    def transition_matrix(self, w: Floats) -> Floats:
        """Weights of (tag before, tag), shape (K, K)."""
        return self.chain.transition_matrix(self._of_chain(w))

    def length_weights(self, w: Floats) -> list[Floats]:
        """Weights of the lengths 1, 2, ... of every kind of segment."""
        return np.split(w[self.sections["lengths"]], np.cumsum(self.longest)[:-1])

    def _of_chain(self, w: Floats) -> Floats:
        return w[self.sections["lengths"].stop :]

    # -- scores and their adjoint ----------------------------------------------------------------

    def scores(self, w: Floats, X: AttributeSequences, n_threads: int = 1) -> SegmentScores:
        """Scores of all tokens, and of the lengths."""
        lengths = np.ascontiguousarray(w[self.sections["lengths"]])
        return SegmentScores(self.chain.scores(self._of_chain(w), X, n_threads), lengths)

    def _lengths(self, labels: Integers, offsets: Integers) -> tuple[Integers, Integers]:
        """Sequence, and number of the weight of its length, of every segment; -1 if too long."""
        kind_of = np.zeros(self.n_labels, dtype=np.int64)
        kind_of[self.first] = np.arange(len(self.first))
        begins = np.flatnonzero(np.isin(labels, self.first))
        sizes = np.diff(np.append(begins, len(labels)))
        kinds = kind_of[labels[begins]]
        places = np.append(0, np.cumsum(self.longest))[kinds] + sizes - 1
        owner = np.searchsorted(offsets, begins, side="right") - 1
        return owner, np.where(sizes <= self.longest[kinds], places, -1)

    def _counts(self, labels: Integers, offsets: Integers) -> tuple[Floats, Floats]:
        """By sequence, how often pairs of tags and lengths occur in a segmentation."""
        n, K, L = len(offsets) - 1, self.n_labels, int(self.longest.sum())
        owner, places = self._lengths(labels, offsets)
        if (places < 0).any():
            sequence = int(owner[np.argmax(places < 0)])
            raise DataError(f"sequence {sequence} has a segment that is longer than the longest")
        lengths = np.bincount(owner * L + places, minlength=n * L)
        inner = np.ones(len(labels), dtype=bool)
        inner[offsets[:-1][np.diff(offsets) > 0]] = False
        at = np.flatnonzero(inner)
        of_token = np.repeat(np.arange(n), np.diff(offsets))
        cells = (of_token[at] * K + labels[at]) * K + labels[at - 1]
        edges = np.bincount(cells, minlength=n * K * K)
        return edges.reshape(n, K * K).astype(float), lengths.reshape(n, L).astype(float)

    def parts(self, X: AttributeSequences, labels: Integers) -> tuple[Floats, Floats, Floats]:
        """One at the tags of tokens, and how often pairs of tags and lengths occur."""
        nodes = np.zeros((len(labels), self.n_labels))
        nodes[np.arange(len(labels)), labels] = 1.0
        return (nodes, *self._counts(labels, X.offsets))

    def adjoint(
        self,
        X: AttributeSequences,
        parts: tuple[Floats, Floats, Floats],
        weights: Floats | None = None,
    ) -> Floats:
        """Psi' parts, shape (n_weights,)."""
        nodes, edges, lengths = parts
        ones = np.ones(len(X)) if weights is None else weights
        if weights is not None:
            nodes = nodes * np.repeat(weights, X.lengths)[:, None]
        state = self.chain.state
        products = X.matrix.T @ nodes
        full = X.lengths > 0
        begins = nodes[X.offsets[:-1][full]].sum(axis=0)
        ends = nodes[X.offsets[1:][full] - 1].sum(axis=0)
        bonds = self.chain.gather(ones @ edges, begins, ends, np.zeros(0))
        return np.concatenate([ones @ lengths, bonds, products[state.attributes, state.outputs]])

    @cached_property
    def _cells(self) -> Integers:
        """Attribute and tag of every weight of the state as one number, rising."""
        return self.chain.state.attributes * self.n_labels + self.chain.state.outputs

    def differences(
        self, X: AttributeSequences, labels: Integers, others: Integers
    ) -> sp.csr_matrix:
        """Psi(x, y) - Psi(x, y') of every sequence as rows of a CSR matrix."""
        n, K, chain = len(X), self.n_labels, self.chain
        of_token = np.repeat(np.arange(n), X.lengths)
        changed = np.flatnonzero(labels != others)
        rows = sp.csr_matrix(X.matrix[changed])
        owner = np.repeat(of_token[changed], np.diff(rows.indptr))
        entries, blocks = [], []
        first, last = X.offsets[:-1], X.offsets[1:] - 1
        full = np.flatnonzero(X.lengths > 0)
        for sign, own in ((1.0, labels), (-1.0, others)):
            tags = np.repeat(own[changed], np.diff(rows.indptr))
            cells = rows.indices.astype(np.int64) * K + tags
            places = np.minimum(np.searchsorted(self._cells, cells), len(self._cells) - 1)
            known = np.flatnonzero(self._cells[places] == cells)
            entries.append((sign * rows.data[known], owner[known], places[known]))
            pairs, lengths = self._counts(own, X.offsets)
            by_label = pairs.reshape(n, K, K).swapaxes(1, 2)[:, chain.transitions]
            ends = np.zeros((n, 2 * K if chain.boundaries else 0))
            if chain.boundaries:
                ends[full, own[first[full]]] = 1.0
                ends[full, K + own[last[full]]] = 1.0
            blocks.append(sign * np.concatenate([lengths, by_label, ends], axis=1))
        data, at, columns = (np.concatenate(part) for part in zip(*entries, strict=True))
        state = sp.csr_matrix((data, (at, columns)), shape=(n, len(self._cells)))
        return sp.csr_matrix(sp.hstack([sp.csr_matrix(blocks[0] + blocks[1]), state], format="csr"))

    # -- inference -------------------------------------------------------------------------------

    @property
    def _kinds(self) -> tuple[Integers, Integers, Integers]:
        return self.first, self.inside, self.longest

    def values(self, scores: SegmentScores, labels: Integers) -> Floats:
        """Scores of segmentations, shape (n_sequences,); minus infinity for longer segments."""
        offsets = scores.chain.offsets
        owner, places = self._lengths(labels, offsets)
        known = places >= 0
        by_length = np.bincount(owner[known], scores.lengths[places[known]], len(offsets) - 1)
        total: Floats = path_scores(scores.chain, labels) + by_length
        total[owner[~known]] = -np.inf
        return total

    def augmented(
        self, scores: SegmentScores, labels: Integers, cost: Floats, scale: Floats | None = None
    ) -> SegmentScores:
        """The scores with scale_t cost[y_t, y'_t] added for every token."""
        return scores._replace(chain=scores.chain.augmented(labels, cost, scale))

    def best(self, scores: SegmentScores, n_threads: int = 1) -> Best:
        """max over y of the score (Viterbi over segments)."""
        return Best(*segments_best(self._kinds, scores.arrays, scores.chain.offsets, n_threads))

    def log_sum_exp(
        self, scores: SegmentScores, *, edges: bool = False, n_threads: int = 1
    ) -> Sums:
        """log sum over y of exp(score), with its gradient, the marginals (forward–backward)."""
        log_z, *parts = segments_marginals(
            self._kinds, scores.arrays, scores.chain.offsets, n_threads
        )
        return Sums(log_z, tuple(parts), parts[0])

    def reach(self, X: AttributeSequences) -> float:
        """Bound of |Psi(x, y) - Psi(x, y')|."""
        # A transition, a length and the boundaries add ones.
        longest = float(X.lengths.max(initial=0))
        return 2.0 * longest * float(np.sqrt(largest_square(X.matrix) + 5.0))


@dataclass(frozen=True)
class Segments:
    """Sequences of tokens cut into segments with a label each: chunks, names.

    Labels of the tokens are those of BIO: a segment begins with B-x and goes on with I-x (an I-x
    that begins one is read as B-x). All others, such as O, are segments of one token. Besides the
    weights of a chain of such labels there are weights of (kind of segment, length), which no chain
    has, and only segmentations are ever predicted: a semi-Markov model.

    Parameters
    ----------
    longest : int or None
        The most tokens of a segment; None stands for the longest of each kind in training.
    state_features : {"observed", "all"}
        Pairs of attribute and label with a weight: those seen in training, or all.
    boundaries : bool
        Whether the first and the last label of a sequence have weights.

    References
    ----------
    Sarawagi & Cohen (2004), Semi-Markov conditional random fields for information extraction.

    Examples
    --------
    >>> from separatrix import CRF
    >>> X = [[["New"], ["York"], ["is"]], [["in"], ["New"], ["York"]]]
    >>> y = [["B-LOC", "I-LOC", "O"], ["O", "B-LOC", "I-LOC"]]
    >>> crf = CRF(Segments(), C=10.0).fit(X, y)
    >>> crf.predict([[["in"], ["New"], ["York"], ["is"]]])
    [['O', 'B-LOC', 'I-LOC', 'O']]
    """

    longest: int | None = None
    state_features: str = "observed"
    boundaries: bool = True

    #: Chunks of labels can be scored.
    scorings: ClassVar[tuple[str, ...]] = ("accuracy", "chunk_f1")

    def check(self) -> None:
        """Raise ParameterError where a parameter is not one of its values."""
        check_choice("state_features", self.state_features, ("observed", "all"))
        if self.longest is not None and (not isinstance(self.longest, int) or self.longest < 1):
            raise ParameterError(f"longest must be None or at least 1, got {self.longest!r}")

    def read(self, X: Any, features: SegmentFeatures | None = None) -> AttributeSequences:
        """The sequences of X, checked; with fitted features, their attributes."""
        inputs = Chain().read(X, None if features is None else features.chain)
        if inputs.edge_matrix is not None:
            raise ParameterError("attributes of edges need structure='chain'")
        return inputs

    def codes(
        self, y: Any, inputs: AttributeSequences, classes: AnyArray | None = None
    ) -> CodedLabels:
        """Labels of the tokens as numbers, every segment beginning with its B."""
        found = encode_tags(y, inputs.offsets, classes)
        labels, codes = found.classes.tolist(), found.codes
        tags = [split_tag(label) for label in labels]
        kinds = {kind for prefix, kind in tags if prefix in ("B", "I")}
        for label, (prefix, kind) in zip(labels, tags, strict=True):
            if prefix in ("E", "S", "L", "U") and kind in kinds:
                raise DataError(
                    f"label {label!r} is not one of BIO, but of another encoding; Segments reads "
                    "B-x, I-x and labels of single tokens such as O"
                )
        number = {tag: code for code, tag in enumerate(tags)}
        lacking = [kind for kind in kinds if ("B", kind) not in number]
        if lacking:
            joined = class_array([*labels, *(f"B-{kind}" if kind else "B" for kind in lacking)])
            index = {label: code for code, label in enumerate(joined.tolist())}
            codes = np.array([index[label] for label in labels], dtype=np.int64)[codes]
            found = replace(found, classes=joined)
            tags = [split_tag(label) for label in joined.tolist()]
            number = {tag: code for code, tag in enumerate(tags)}
        # An I goes on where the token before has its B or I.
        kind_of = np.array([number.get(("B", kind), -1) if p in "BI" else -1 for p, kind in tags])
        inside = np.array([prefix == "I" for prefix, _ in tags])
        before = np.append(-1, kind_of[codes[:-1]]) if len(codes) else codes
        before[found.offsets[:-1][np.diff(found.offsets) > 0]] = -1
        begins = inside[codes] & (before != kind_of[codes])
        return replace(found, codes=np.where(begins, kind_of[codes], codes))

    def layout(self, inputs: AttributeSequences, labels: CodedLabels) -> SegmentFeatures:
        """The features that labelled sequences show."""
        K = len(labels.classes)
        tags = [split_tag(label) for label in labels.classes.tolist()]
        number = {tag: code for code, tag in enumerate(tags)}
        firsts = [code for code, (prefix, _) in enumerate(tags) if prefix != "I"]
        insides = [number.get(("I", tags[c][1]), -1) if tags[c][0] == "B" else -1 for c in firsts]
        first, inside = np.array(firsts, dtype=np.int64), np.array(insides, dtype=np.int64)
        longest = self._longest(labels, first, inside)
        chain = observed_chain(
            inputs,
            K,
            labels.codes,
            state_features=self.state_features,
            boundaries=self.boundaries,
        )
        pairs = np.zeros((K, K), dtype=bool)
        pairs[:, first] = True
        several = np.flatnonzero(inside >= 0)
        pairs[first[several], inside[several]] = pairs[inside[several], inside[several]] = True
        return SegmentFeatures(replace(chain, transitions=pairs), first, inside, longest)

    def _longest(self, labels: CodedLabels, first: Integers, inside: Integers) -> Integers:
        """The most tokens of each kind of segment."""
        begins = np.flatnonzero(np.isin(labels.codes, first))
        sizes = np.diff(np.append(begins, len(labels.codes)))
        seen = np.ones(len(labels.classes), dtype=np.int64)
        np.maximum.at(seen, labels.codes[begins], sizes)
        if self.longest is None:
            return seen[first]
        if (sizes > self.longest).any():
            at = int(np.argmax(sizes > self.longest))
            sequence = int(np.searchsorted(labels.offsets, begins[at], side="right")) - 1
            raise DataError(
                f"the segment at token {int(begins[at] - labels.offsets[sequence])} of sequence "
                f"{sequence} has {int(sizes[at])} tokens, but longest={self.longest}; raise "
                "longest, or leave it out"
            )
        return np.where(inside >= 0, self.longest, 1).astype(np.int64)

    def labels(
        self, codes: Integers, inputs: AttributeSequences, classes: AnyArray
    ) -> list[list[Any]]:
        """Labels as users have them: a list per sequence."""
        return Chain().labels(codes, inputs, classes)

    def marginals(self, nodes: AnyArray, inputs: AttributeSequences) -> list[AnyArray]:
        """Probabilities of the labels of tokens: an array of shape (length, K) per sequence."""
        return Chain().marginals(nodes, inputs)
