"""What the test set tells about a tagger, for the report."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from separatrix.data import TokenColumn, TokenSequences
from separatrix.explanation import see_through
from separatrix.features.templates.columns import find_column
from separatrix.metrics import chunk_report, confusion_matrix, per_class_report, token_counts
from separatrix.report.parts import (
    ChunkReport,
    ClassReport,
    ClassScores,
    ClassWeights,
    Confusion,
    Part,
    Sentence,
    Sentences,
    Token,
    Weights,
)

__all__ = ["sentence_parts"]

#: Sequences that are shown; features of a label and transitions, at either end; labels.
_SHOWN, _TOP, _LABELS = 12, 8, 30


def sentence_parts(
    model: Any, learner: str, X: TokenSequences, y: TokenColumn, said: Any, chunks: bool
) -> tuple[Part, ...]:
    """Chunks per type or labels, confusion, the worst sequences, transitions and weights.

    Parameters
    ----------
    model : Pipeline or baseline
        The champion; takes tokens.
    learner : str
        Its name.
    X, y : TokenSequences, TokenColumn
        The test sequences and their labels.
    said : list of list
        Its labels for them.
    chunks : bool
        Whether labels tell chunks.
    """
    truth = y.flat.astype(str)
    found = np.array([label for labels in said for label in labels], dtype=str)
    names = np.unique(np.concatenate([truth, found]))
    parts: list[Part] = [
        Confusion(
            tuple(names.tolist()), confusion_matrix(truth, found, labels=names), units="tokens"
        ),
        _chunk_part(y, said) if chunks else _label_part(truth, found),
        _worst(model, X, y, said),
    ]
    weights = _weights(model, learner)
    return (*parts, weights) if weights is not None else tuple(parts)


def _chunk_part(y: TokenColumn, said: Any) -> ChunkReport:
    found = chunk_report(y, said)
    columns = (found.types, found.precision, found.recall, found.f1, found.n_true)
    types = zip(*(np.asarray(column).tolist() for column in columns), strict=True)
    overall = ClassScores("all chunks", *found.overall, int(found.n_true.sum()))
    return ChunkReport(
        tuple(ClassScores(name or "(no type)", p, r, f, n) for name, p, r, f, n in types),
        (overall,),
        units="chunks",
    )


def _label_part(truth: npt.NDArray[Any], said: npt.NDArray[Any]) -> ClassReport:
    found = per_class_report(truth, said)
    columns = (found.labels, found.precision, found.recall, found.f1, found.support)
    labels = zip(*(column.tolist() for column in columns), strict=True)
    averages = (("macro average", found.macro), ("weighted average", found.weighted))
    return ClassReport(
        tuple(ClassScores(str(name), p, r, f, n) for name, p, r, f, n in labels),
        tuple(ClassScores(name, a.precision, a.recall, a.f1, len(truth)) for name, a in averages),
        units="tokens",
    )


def _worst(model: Any, X: TokenSequences, y: TokenColumn, said: Any) -> Sentences:
    """Sequences with mistakes, the least probable truth first; else those with most mistakes."""
    right, lengths = token_counts(y, said).T
    wrong = np.flatnonzero(right < lengths)
    steps, learner = see_through(model)
    encoded: Any = None
    log_probabilities = np.full(len(y), np.nan)
    if hasattr(learner, "predict_log_proba") and len(wrong):
        encoded = X
        for step in steps:
            encoded = step.transform(encoded)
        known = np.isin(y.vocabulary.array.astype(str), learner.classes_.astype(str))
        strange = np.bincount(
            np.repeat(np.arange(len(y)), lengths), ~known[y.codes], minlength=len(y)
        )
        told = wrong[strange[wrong] == 0]
        if len(told):
            log_probabilities[told] = learner.predict_log_proba(encoded.take(told), y.take(told))
        # A label that the model does not know has no probability at all.
        log_probabilities[wrong[strange[wrong] > 0]] = -np.inf
    worst = wrong[np.lexsort((right[wrong] - lengths[wrong], log_probabilities[wrong]))][:_SHOWN]
    shares = None
    if encoded is not None:
        shares = learner.predict_marginals(encoded.take(worst))
    shown, column = [], find_column(X, "word")
    for at, row in enumerate(worst.tolist()):
        words = column[row]
        truth, labels = y[row], said[row]
        likely = np.full(len(words), np.nan)
        if shares is not None:
            codes = np.searchsorted(learner.classes_, labels)
            likely = shares[at][np.arange(len(words)), codes]
        tokens = zip(words, truth, map(str, labels), likely.tolist(), strict=True)
        shown.append(
            Sentence(
                f"test sequence {row}",
                tuple(Token(*token) for token in tokens),
                float(log_probabilities[row]),
            )
        )
    return Sentences(tuple(shown), len(wrong), len(y))


def _weights(model: Any, learner: str) -> Weights | None:
    _, final = see_through(model)
    if not hasattr(final, "top_weights"):
        return None
    found = final.top_weights(_TOP)
    groups = tuple(
        ClassWeights("transitions" if one.label is None else str(one.label), one.names, one.values)
        for one in found[: _LABELS + 1]
    )
    return Weights(
        learner,
        groups,
        n_features=int(final.n_attributes_in_),
        positive="speaks for the label or the transition",
        note="names tell the template, the place of the token that it reads, and what it finds",
    )
