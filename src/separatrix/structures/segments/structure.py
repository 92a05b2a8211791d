"""Sequences cut into segments, such as chunks and names, as the structure of a learner."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from separatrix.data import AttributeSequences
from separatrix.errors import DataError, ParameterError
from separatrix.structures.chain.features import observed_chain
from separatrix.structures.chain.grammar import split_tag
from separatrix.structures.chain.structure import Chain
from separatrix.structures.coded_labels import CodedLabels, class_array, encode_tags
from separatrix.structures.segments.features import SegmentFeatures
from separatrix.validation import check_choice

__all__ = ["Segments"]

Integers = npt.NDArray[np.int64]
AnyArray = npt.NDArray[Any]


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
