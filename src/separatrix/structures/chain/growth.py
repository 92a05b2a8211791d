"""Weights of a chain as those of another: more attributes, more labels, other pairs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from separatrix.data import Vocabulary

if TYPE_CHECKING:
    from separatrix.structures.chain.structure import ChainFeatures, Pattern

__all__ = ["joined", "moved", "renumbered"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


def joined(old: ChainFeatures, new: ChainFeatures) -> ChainFeatures:
    """The features of both; the new ones may have more attributes."""
    K = old.n_labels
    seen = None if old.seen is None or new.seen is None else old.seen + new.seen
    if old.is_same(new) and old.triples is None:
        return replace(old, names=new.names, seen=seen)  # the same sequences again, say
    cells: Any = np.union1d(_cells(old.state, K), _cells(new.state, K))
    counts = np.bincount(cells // K, minlength=new.n_attributes)
    starts = np.append(0, np.cumsum(counts)).astype(np.int64)
    triples = None
    if old.triples is not None and new.triples is not None:
        triples = old.triples | new.triples
    pairs = old.transitions | new.transitions
    state = type(new.state)(starts, cells % K)
    return replace(new, state=state, transitions=pairs, triples=triples, seen=seen)


def renumbered(old: ChainFeatures, numbers: Integers, n_labels: int) -> ChainFeatures:
    """The same features among more labels: `numbers`, which rise, are those of the labels there."""

    def spread(table: Any, rows: int) -> Any:
        shape = (rows, *(n_labels,) * (table.ndim - 1))
        wide = np.zeros(shape, dtype=table.dtype)
        first = numbers if rows == n_labels else np.append(numbers, n_labels)
        wide[np.ix_(first, *(numbers,) * (table.ndim - 1))] = table
        return wide

    edges = None
    if old.edges is not None:
        after, before = np.divmod(old.edges.outputs, old.n_labels)
        edges = old.edges._replace(outputs=numbers[after] * n_labels + numbers[before])
    return replace(
        old,
        n_labels=n_labels,
        state=old.state._replace(outputs=numbers[old.state.outputs]),
        transitions=spread(old.transitions, n_labels),
        triples=None if old.triples is None else spread(old.triples, n_labels),
        edges=edges,
        seen=None if old.seen is None else spread(old.seen, n_labels + 1),
    )


def moved(old: ChainFeatures, w: Floats, new: ChainFeatures, numbers: Integers | None) -> Floats:
    """The weights w of old features as weights of new ones; what only the new ones have is zero.

    `numbers` are those of the old labels among the new ones, -1 for labels that are not there.
    """
    K = new.n_labels
    numbers = np.arange(old.n_labels) if numbers is None else numbers
    kept = np.flatnonzero(numbers >= 0)
    there = numbers[kept]
    result = np.zeros(new.n_weights)
    matrix = np.zeros((K, K))
    matrix[np.ix_(there, there)] = old.transition_matrix(w)[np.ix_(kept, kept)]
    result[new.sections["transitions"]] = matrix[new.transitions]
    if old.triples is not None and new.triples is not None:
        cube = np.zeros(old.triples.shape)
        cube[old.triples] = w[old.sections["triples"]]
        wide = np.zeros((K, K, K))
        wide[np.ix_(there, there, there)] = cube[np.ix_(kept, kept, kept)]
        result[new.sections["triples"]] = wide[new.triples]
    if old.boundaries and new.boundaries:
        for name in ("start", "end"):
            result[new.sections[name].start + there] = w[old.sections[name]][kept]
    outputs, columns = numbers[old.state.outputs], _columns(old.names, new.names, old.n_attributes)
    part = result[new.sections["state"]]
    _copy(old.state, outputs, w[old.sections["state"]], new.state, K, part, columns)
    if old.edges is not None and new.edges is not None:
        after, before = (numbers[part] for part in np.divmod(old.edges.outputs, old.n_labels))
        outputs = np.where((after >= 0) & (before >= 0), after * K + before, -1)
        columns = _columns(old.edge_names, new.edge_names, old.n_edge_attributes)
        part = result[new.sections["edges"]]
        _copy(old.edges, outputs, w[old.sections["edges"]], new.edges, K * K, part, columns)
    return result


def _copy(
    old: Pattern, outputs: Integers, w: Floats, new: Pattern, n: int, result: Floats,
    columns: Integers,
) -> None:  # fmt: skip
    """Write the weights of old (attribute, output) pairs to the places of the same new ones."""
    attributes = columns[old.attributes]
    known = (attributes >= 0) & (outputs >= 0) & (attributes < len(new.starts) - 1)
    cells = attributes[known] * n + outputs[known]
    there = _cells(new, n)
    places = np.minimum(np.searchsorted(there, cells), max(len(there) - 1, 0))
    same = there[places] == cells if len(there) else np.zeros(len(cells), dtype=bool)
    result[places[same]] = w[known][same]


def _columns(old: Vocabulary | None, new: Vocabulary | None, n: int) -> Integers:
    """The new numbers of the old attributes, -1 for those that are not there any more."""
    same = np.arange(n)
    if old is None or new is None or new.data.startswith(old.data):
        begins = old is None or new is None or np.array_equal(old.offsets, new.offsets[: n + 1])
        if begins:
            return same
    assert old is not None
    assert new is not None
    numbers = new.numbers
    return np.array([numbers.get(name, -1) for name in old], dtype=np.int64)


def _cells(pattern: Pattern, n_outputs: int) -> Integers:
    return pattern.attributes * n_outputs + pattern.outputs
