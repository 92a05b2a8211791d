"""Features that grow: an online learner meets new attributes, pairs and transitions."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from separatrix.data import AttributeSequences, Vocabulary
from separatrix.data.attributes import with_columns_of
from separatrix.errors import DataError
from separatrix.structures import Chain
from separatrix.structures.chain import Pattern

__all__ = ["joined_chains", "moved_weights", "with_new_columns"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


def with_new_columns(
    X: AttributeSequences, names: Vocabulary | None, n_columns: int
) -> AttributeSequences:
    """X with the columns known so far first, in their order, and its new ones after them."""
    if X.vocabulary is None or names is None:
        if (X.vocabulary is None) != (names is None):
            raise DataError("attributes have names in one call of partial_fit and none in another")
        with_columns_of(X.matrix, None, None, n_columns, "attributes")
        return X
    if X.vocabulary == names:
        return X
    index = names.numbers
    new = [name for name in X.vocabulary if name not in index]
    joined = Vocabulary.of([*names, *new]) if new else names
    matrix = with_columns_of(X.matrix, X.vocabulary, joined, len(joined), "attributes")
    return AttributeSequences(matrix, joined, X.offsets, X.edge_matrix, X.edge_vocabulary)


def _cells(pattern: Pattern, n_outputs: int) -> Integers:
    return pattern.attributes * n_outputs + pattern.outputs


def joined_chains(old: Chain, new: Chain) -> Chain:
    """The chain with the features of both; the new one may have more attributes."""
    K = old.n_labels
    same = _same_state(old, new) and np.array_equal(old.transitions, new.transitions)
    if same and old.triples is None:
        return old  # the same sequences again, say
    cells: Any = np.union1d(_cells(old.state, K), _cells(new.state, K))
    counts = np.bincount(cells // K, minlength=len(new.state.starts) - 1)
    pattern = Pattern(np.append(0, np.cumsum(counts)).astype(np.int64), cells % K)
    triples = None
    if old.triples is not None and new.triples is not None:
        triples = old.triples | new.triples
    return Chain(K, pattern, old.transitions | new.transitions, triples, old.boundaries)


def _same_state(old: Chain, new: Chain) -> bool:
    return all(np.array_equal(a, b) for a, b in zip(old.state, new.state, strict=True))


def moved_weights(w: Floats, old: Chain, new: Chain) -> Floats:
    """The weights w of `old` as weights of `new`, zero where a feature is new."""
    if old is new:
        return w
    K = old.n_labels
    result = np.zeros(new.n_weights)
    result[new.sections["transitions"]] = old.transition_matrix(w)[new.transitions]
    for name in ("start", "end"):
        result[new.sections[name]] = w[old.sections[name]]
    places = np.searchsorted(_cells(new.state, K), _cells(old.state, K))
    result[new.sections["state"].start + places] = w[old.sections["state"]]
    return result
