"""Sequences of tokens as the structure of a learner."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from separatrix.data import AttributeSequences, Vocabulary, as_attribute_sequences
from separatrix.data.sequences.attributes import with_columns_of
from separatrix.data.sequences.containers import LabelLists
from separatrix.errors import DataError, ParameterError
from separatrix.structures.chain.constraints import Constraints
from separatrix.structures.chain.features import ChainFeatures, observed_chain
from separatrix.structures.chain.grammar import GRAMMARS
from separatrix.structures.coded_labels import CodedLabels, encode_tags, label_pairs
from separatrix.validation import check_choice

__all__ = ["Chain"]

Integers = npt.NDArray[np.int64]
AnyArray = npt.NDArray[Any]


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
