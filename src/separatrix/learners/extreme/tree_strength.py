"""The weight of the data against the penalty of a label tree, chosen on rows held out."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import clone

from separatrix.errors import ConvergenceWarning
from separatrix.learners.extreme.tree_labels import RowLabels
from separatrix.validation import seed_from

if TYPE_CHECKING:
    from separatrix.learners.extreme.label_tree import LabelTree

__all__ = ["held_out_strength", "row_strengths"]

#: What is tried first, below it, and, where that is not better, above it.
_USUAL, _LOWER, _HIGHER = 3.0, 1.0, 10.0
#: The most rows that are looked at, the fewest of a trial, and the fewest for each of its labels.
_MOST, _FEWEST, _EACH = 5000, 1000, 10
#: Labels of a held-out row that count.
_TOP = 5


def held_out_strength(
    tree: LabelTree, X: sp.csr_array, rows: RowLabels, weights: npt.NDArray[np.float64] | None
) -> float:
    """C of a tree of label sets: the best of 1, 3 and 10 on a fifth of the rows, or of 5,000.

    Trees of the other rows rank the labels of those held out, and the discounted gains of the
    first five decide. Where rows are few, all in all or for each label, it is 3.

    Parameters
    ----------
    tree : LabelTree
        With the parameters of the trials.
    X : CSR array of shape (n, d)
        Training rows.
    rows : RowLabels
        Their labels.
    weights : ndarray of shape (n,) or None
        Their weights.
    """
    seed = seed_from(tree.random_state)
    useful = np.diff(X.indptr) > 0  # so that no label of a trial is without features
    if weights is not None:
        useful &= weights > 0
    order = np.random.default_rng(seed).permutation(np.flatnonzero(useful))[:_MOST]
    held, kept = np.split(order, [len(order) // 5])
    counts = np.bincount(rows.indicator[kept].indices, minlength=len(rows.classes))
    labels = np.flatnonzero(counts)
    if len(kept) < _FEWEST or counts.sum() < _EACH * len(labels):
        return _USUAL
    Y = rows.indicator[:, labels]
    names, part = rows.classes[labels], None if weights is None else weights[kept]

    def gain(C: float) -> float:
        trial = clone(tree).set_params(C=C, random_state=seed)
        with warnings.catch_warnings():  # the fit itself will tell
            warnings.simplefilter("ignore", ConvergenceWarning)
            trial.fit(X[kept], Y[kept], part, labels=names)
        return _gain(Y[held], trial.candidates(X[held], _TOP))

    usual = gain(_USUAL)
    if gain(_LOWER) > usual:
        return _LOWER
    return _HIGHER if gain(_HIGHER) > usual else _USUAL


def row_strengths(
    C: float, n_rows: int, weights: npt.NDArray[np.float64] | None
) -> npt.NDArray[np.float64]:
    """C times the weights of the rows."""
    return np.full(n_rows, C) if weights is None else C * weights


def _gain(Y: sp.csr_array, found: Any) -> float:
    """Sum of 1 / log2(1 + place) over the right labels found."""
    places = np.arange(len(found.indices)) - np.repeat(found.indptr[:-1], np.diff(found.indptr))
    gains = sp.csr_array((1 / np.log2(2.0 + places), found.indices, found.indptr), shape=Y.shape)
    return float(gains.multiply(Y).sum())
