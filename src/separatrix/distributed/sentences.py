"""Partitions of labeled sequences on the workers, for the learners on chains."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from separatrix.data import AttributeSequences, Vocabulary, as_attribute_sequences
from separatrix.data.sequences.attributes import with_columns_of
from separatrix.distributed.rows import aligned, in_partition, size_of
from separatrix.errors import DataError, ParameterError
from separatrix.protocols import Array
from separatrix.structures import ChainFeatures, CodedLabels, structure_named
from separatrix.structures.chain.encoded import EncodedChains, checked_csr
from separatrix.structures.chain.passes import ChainPasses, ChainUpdates
from separatrix.structures.coded_labels import encode_tags, example_weights

__all__ = [
    "ChainProblem",
    "Sentences",
    "make_chain_problem",
    "merged_chains",
    "merged_words",
    "observed",
    "read_sentences",
    "words_of",
]

Floats = npt.NDArray[np.float64]


@dataclass(eq=False)
class Sentences:
    """One partition of sequences, with attributes numbered by itself.

    Attributes
    ----------
    number : int
        Which partition.
    X : AttributeSequences
        The tokens.
    y : list of sequences of labels
        As they came.
    weights : ndarray of shape (n_sequences,) or None
        Weights of the sequences.
    """

    number: int
    X: AttributeSequences
    y: Any
    weights: Any

    def __sizeof__(self) -> int:
        return size_of(self.X.matrix) + 64 * int(self.X.offsets[-1])


class Words(NamedTuple):
    """What partitions have to agree about.

    Attributes
    ----------
    names : dict of str to None, or None
        Attributes in the order of their first use, None where they have no names.
    n_columns : int
        Attributes without names.
    labels : dict of label to None
        Labels.
    n_sequences, n_tokens : int
        How many.
    single : bool
        Whether float32 holds all values.
    """

    names: dict[str, None] | None
    n_columns: int
    labels: dict[Any, None]
    n_sequences: int
    n_tokens: int
    single: bool


def read_sentences(number: int, X: Any, y: Any, weights: Any, partial: bool) -> Sentences:
    """Encode a partition: sequences and labels, or pairs of both."""
    with in_partition(number):
        items = list(X)
        if y is None:
            try:
                pairs = [(tokens, labels) for tokens, labels in items]
            except (TypeError, ValueError):
                raise DataError(
                    "without y, X must hold pairs (tokens, labels) of sequences"
                ) from None
            items, y = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
        found = as_attribute_sequences(items)
        if found.edge_matrix is not None:
            raise ParameterError("attributes of edges are not learned from on Dask")
        checked_csr(found)
        labels = list(y)
        if items:
            encode_tags(labels, found.offsets, partial=partial)
        return Sentences(number, found, labels, None if weights is None else list(weights))


def words_of(sentences: Sentences) -> Words:
    """What the client has to know about a partition."""
    X = sentences.X
    labels: dict[Any, None] = {}
    for row in sentences.y:
        for label in row:
            if isinstance(label, set | frozenset):
                labels |= dict.fromkeys(label)
            elif label is not None:
                labels[label] = None
    names = None if X.vocabulary is None else dict.fromkeys(X.vocabulary)
    single = X.matrix.dtype == np.float32
    return Words(names, X.matrix.shape[1], labels, len(X), int(X.offsets[-1]), single)


def merged_words(*parts: Words) -> Words:
    """Attributes and labels of all, in the order of their first use."""
    parts = tuple(part for part in parts if part.n_sequences) or parts[:1]
    named = [part.names is not None for part in parts]
    if any(named) and not all(named):
        raise DataError("attributes have names in some partitions and none in others")
    names: dict[str, None] | None = {} if named[0] else None
    labels: dict[Any, None] = {}
    for part in parts:
        labels |= part.labels
        if names is not None and part.names is not None:
            names |= part.names
    widths = {part.n_columns for part in parts}
    if names is None and len(widths) > 1:
        raise DataError(f"partitions have {sorted(widths)} attributes per token")
    return Words(
        names,
        max(widths),
        labels,
        sum(part.n_sequences for part in parts),
        sum(part.n_tokens for part in parts),
        all(part.single for part in parts),
    )


class Agreement(NamedTuple):
    """What all partitions share, once they agree.

    Attributes
    ----------
    estimator : CRF or StructuredPerceptron
        The learner.
    classes : ndarray of shape (K,)
        The labels, sorted.
    names : Vocabulary or None
        The attributes.
    n_columns : int
        Their number.
    dtype : dtype
        Precision.
    class_weight : dict or None
        Weights of the labels.
    """

    estimator: Any
    classes: npt.NDArray[Any]
    names: Vocabulary | None
    n_columns: int
    dtype: np.dtype[Any]
    class_weight: dict[Any, float] | None


def _encoded(sentences: Sentences, shared: Agreement) -> tuple[AttributeSequences, CodedLabels]:
    X = sentences.X
    matrix = with_columns_of(X.matrix, X.vocabulary, shared.names, shared.n_columns, "attributes")
    matrix = aligned(matrix.astype(shared.dtype, copy=False))
    whole = AttributeSequences(matrix, shared.names, X.offsets, None, None)
    partial = bool(getattr(shared.estimator, "partial", False))
    return whole, encode_tags(sentences.y, X.offsets, shared.classes, partial=partial)


def observed(sentences: Sentences, shared: Agreement) -> ChainFeatures:
    """The features that a partition shows."""
    with in_partition(sentences.number):
        X, tags = _encoded(sentences, shared)
        chain: ChainFeatures = structure_named(shared.estimator.structure).layout(X, tags)
        return chain


def merged_chains(*chains: ChainFeatures) -> ChainFeatures:
    """The features of all partitions."""
    result = chains[0]
    for chain in chains[1:]:
        result = result.joined(chain)
    return result


@dataclass(eq=False)
class ChainProblem:
    """The sequences of a partition with their features; sums are those for C = 1.

    Attributes
    ----------
    number : int
        Which partition.
    X : AttributeSequences
        The tokens, with the attributes of all partitions.
    tags : CodedLabels
        The labels.
    weights : ndarray of shape (n_sequences,) or None
        Weights of the sequences.
    chain : ChainFeatures
        The features of all partitions.
    """

    number: int
    X: AttributeSequences
    tags: CodedLabels
    weights: Floats | None
    chain: ChainFeatures
    _passes: ChainPasses | None = field(default=None, repr=False)
    _data: EncodedChains | None = field(default=None, repr=False)

    def __sizeof__(self) -> int:
        return size_of(self.X.matrix) + size_of(self.tags.codes) + size_of(self.X.offsets)

    def __getstate__(self) -> dict[str, Any]:
        # Handles of the kernels do not travel.
        return vars(self) | {"_passes": None, "_data": None}

    @property
    def passes(self) -> ChainPasses:
        """Passes over the partition; no attributes share a weight, since partitions differ."""
        if self._passes is None:
            self._align()
            self._passes = ChainPasses(self.chain, self.X, self.tags, self.weights)
        return self._passes

    def _align(self) -> None:
        X, tags = self.X, self.tags
        self.X = AttributeSequences(aligned(X.matrix), X.vocabulary, aligned(X.offsets), None, None)
        codes, allowed = aligned(tags.codes), aligned(tags.allowed)
        self.tags = CodedLabels(tags.classes, codes, self.X.offsets, allowed)
        self.weights = aligned(self.weights)

    def evaluate(self, w: Array, double: bool) -> tuple[float, float, Array]:
        """Sums over the sequences of c_i loss_i, of what its rounding is a multiple of, gradient.

        From the first call with `double` on, passes are in double precision.
        """
        passes = self.passes
        if double:
            passes.widen()
        value, size, grad = passes.evaluate(passes.variables(aligned(w)[:, 0]))
        return value, size, passes.weights(grad)[:, None]

    @property
    def reach(self) -> float:
        """Bound of |Psi(x, y) - Psi(x, y')| over the sequences and their labellings."""
        return self.passes.reach

    def epoch(
        self, w: Floats, update: str, step: float, seed: int | None
    ) -> tuple[Floats, Floats, int]:
        """Last weights, average and mistakes of an online pass from w."""
        if self._data is None:
            self._align()
            self._data = self.chain.encode(self.X, merge=False)
        updates = ChainUpdates(
            self.chain,
            self.X,
            self.tags,
            self.weights,
            mira=update == "mira",
            step=step,
            seed=seed,
            before=(aligned(w), None, 0),
            data=self._data,
        )
        mistakes = updates.run_epoch()
        return updates.w, updates.average, mistakes

    @property
    def n_examples(self) -> int:
        """Number of sequences."""
        return len(self.X)


def make_chain_problem(
    sentences: Sentences, shared: Agreement, chain: ChainFeatures
) -> ChainProblem:
    """Bring a partition to the attributes and labels of all."""
    with in_partition(sentences.number):
        X, tags = _encoded(sentences, shared)
        weights = example_weights(tags, sentences.weights, shared.class_weight)
    return ChainProblem(sentences.number, X, tags, weights, chain)
