"""The features of sequences cut into segments: a chain of tags, and the lengths of the segments."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from separatrix._core import segments_best, segments_marginals
from separatrix.data import AttributeSequences, Vocabulary
from separatrix.errors import DataError
from separatrix.structures.chain.features import ChainFeatures, Pattern
from separatrix.structures.chain.inference import ChainScores, path_scores
from separatrix.structures.inference import Best, Sums
from separatrix.structures.sections import largest_square, sections_of

__all__ = ["SegmentFeatures", "SegmentScores"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


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
