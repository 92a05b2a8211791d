"""Scorers of labeled sequences by name, for `cross_val_score`, `GridSearchCV` and their like."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from separatrix.metrics.sequences import chunk_f1, sequence_accuracy, token_accuracy
from separatrix.validation import check_choice

__all__ = ["SCORERS", "scorer"]

#: Name -> measure of (true labels, predicted labels); the larger, the better.
SCORERS: dict[str, Callable[..., float]] = {
    "chunk_f1": chunk_f1,
    "sequence_accuracy": sequence_accuracy,
    "token_accuracy": token_accuracy,
}


def scorer(name: str) -> Any:
    """What scikit-learn's tools take as `scoring` for labels of sequences.

    Parameters
    ----------
    name : {"chunk_f1", "sequence_accuracy", "token_accuracy"}
        F1 of chunks as conlleval counts them, the share of sequences that are labeled right from
        end to end, or the share of tokens.

    Examples
    --------
    >>> from sklearn.model_selection import cross_val_score
    >>> from separatrix import CRF
    >>> X = [[["the"], ["cat"]], [["a"], ["dog"]], [["the"], ["dog"]], [["a"], ["cat"]]]
    >>> y = [["B", "I"]] * 4
    >>> cross_val_score(CRF(), X, y, cv=2, scoring=scorer("chunk_f1")).tolist()
    [1.0, 1.0]
    """
    from sklearn.metrics import make_scorer

    check_choice("name", name, tuple(SCORERS))
    return make_scorer(SCORERS[name])
