"""Candidates of training rows from a tree that did not see them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from separatrix.learners.extreme.candidates import Candidates
from separatrix.learners.extreme.label_tree import LabelTree

__all__ = ["Crossed", "arrays_of", "crossed_candidates", "new_tree"]

GivenArrays = tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], npt.NDArray[np.float32]]


def new_tree(n_candidates: int, seed: int, n_jobs: int | None) -> LabelTree:
    """A tree whose beam reaches so many labels."""
    return LabelTree(beam=max(10, n_candidates // 4), random_state=seed, n_jobs=n_jobs)


class Crossed(NamedTuple):
    """Candidates of all rows in their order, and the share of rows whose label they miss."""

    arrays: GivenArrays
    missed: float


def arrays_of(candidates: Candidates) -> GivenArrays:
    """The three arrays as the kernels take them."""
    return (
        np.asarray(candidates.indptr, dtype=np.int64),
        np.asarray(candidates.indices, dtype=np.int32),
        np.asarray(candidates.log_scores, dtype=np.float32),
    )


def crossed_candidates(
    rows: sp.csr_array,
    codes: npt.NDArray[np.int64],
    n_candidates: int,
    generator: np.random.RandomState,
    n_jobs: int | None,
) -> Crossed:
    """Two trees, each grown on half of the rows, propose the candidates of the other half.

    Scores of rows that a tree was grown on would be too good to learn from.
    """
    n = len(codes)
    half = generator.permutation(n) < n // 2
    owners, labels, scores = [], [], []
    for side in (half, ~half):
        numbers = np.flatnonzero(side)
        if len(np.unique(codes[~side])) < 2:
            continue
        tree = new_tree(n_candidates, int(generator.randint(2**31 - 1)), n_jobs)
        tree.fit(rows[~side], codes[~side])
        starts, places, logs = arrays_of(tree.candidates(rows[numbers], n_candidates))
        owners.append(np.repeat(numbers, np.diff(starts)))
        labels.append(tree.classes_[places])
        scores.append(logs)
    if not owners:
        nothing = np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.float32)
        return Crossed((np.zeros(n + 1, dtype=np.int64), *nothing), 1.0)
    owner, label = np.concatenate(owners), np.concatenate(labels).astype(np.int32)
    order = np.argsort(owner, kind="stable")
    all_starts = np.searchsorted(owner[order], np.arange(n + 1)).astype(np.int64)
    hits = np.bincount(owner, label == codes[owner], n)
    arrays = (all_starts, label[order], np.concatenate(scores)[order])
    return Crossed(arrays, float(1.0 - hits.mean()))
