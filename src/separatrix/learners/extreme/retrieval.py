"""Labels that are hard to tell from a row's own, found by an index or a tree."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from separatrix.errors import DataError
from separatrix.features.handles import sparse_handle
from separatrix.learners.extreme.counts import PairCounts, relative_rows
from separatrix.learners.extreme.crossed import arrays_of, new_tree
from separatrix.learners.extreme.examples import Examples
from separatrix.learners.extreme.inverted import InvertedIndex, fit_smoothing
from separatrix.learners.extreme.ranker import PairRanker

__all__ = ["rivals_of_beam", "rivals_of_index"]

Rivals = tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]


def rivals_of_index(
    rows: sp.csr_array,
    codes: npt.NDArray[np.uint32],
    n_labels: int,
    n_rivals: int,
    generator: Any,
    n_threads: int,
) -> Rivals:
    """Starts (n + 1) and label numbers of the `n_rivals` labels that an index ranks first."""
    if rows.nnz and rows.data.min() < 0:
        raise DataError("negatives='index' needs rows without negative values")
    counts = PairCounts.of(relative_rows(rows), codes.astype(np.int64), n_labels)
    smoothing = fit_smoothing(counts, rows, codes, generator, n_threads)
    index = InvertedIndex.of(counts, smoothing.mu, smoothing.alpha)
    n = min(n_rivals, n_labels)
    found, _, _ = index.handle().rank(
        Examples.none(rows.shape[1], n_labels).handle(),
        sparse_handle(rows),
        *PairRanker.unlearned(n_labels).weights,
        n,
        n,
        n_threads,
    )
    starts = np.arange(0, found.size + n, n, dtype=np.int64)
    return starts, found.astype(np.int32).ravel()


def rivals_of_beam(
    rows: sp.csr_array,
    codes: npt.NDArray[np.uint32],
    n_labels: int,
    n_rivals: int,
    generator: Any,
    n_threads: int,
) -> Rivals:
    """Starts (n + 1) and label numbers of the `n_rivals` labels that the beam of a tree reaches."""
    tree = new_tree(min(n_rivals, n_labels), int(generator.randint(2**31 - 1)), n_threads)
    tree.fit(rows, codes.astype(np.int64))
    starts, found, _ = arrays_of(tree.candidates(rows, n_rivals))
    return starts, found
