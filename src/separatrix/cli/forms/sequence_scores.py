"""How good labels of sequences are, in words and tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from separatrix.experiment.families.sequences import tell_chunks
from separatrix.metrics import (
    ChunkReport,
    ClassReport,
    chunk_report,
    per_class_report,
    sequence_accuracy,
    token_accuracy,
)

__all__ = ["SequenceScores", "score_sequences"]


@dataclass(frozen=True, eq=False)
class SequenceScores:
    """Figures of a tagger on sequences with labels; prints itself.

    Attributes
    ----------
    n_sequences, n_tokens : int
    token_accuracy, sequence_accuracy : float
        Share of the tokens, and of the whole sequences, that are labeled right.
    chunks : ChunkReport or None
        Where the labels tell chunks.
    labels : ClassReport
        Precision, recall and F1 of each label.
    strange : tuple of str
        Labels in the file that the model does not know.
    """

    n_sequences: int
    n_tokens: int
    token_accuracy: float
    sequence_accuracy: float
    chunks: ChunkReport | None
    labels: ClassReport
    strange: tuple[str, ...]

    def headings(self) -> tuple[str, ...]:
        """Headings of `rows`."""
        what = ("label", "tokens") if self.chunks is None else ("type", "chunks")
        return (what[0], "precision", "recall", "F1", what[1])

    def rows(self) -> list[tuple[Any, ...]]:
        """One row per type of chunk, or per label."""
        if self.chunks is None:
            one = self.labels
            columns = (one.labels, one.precision, one.recall, one.f1, one.support)
        else:
            all_ = self.chunks
            columns = (np.array(all_.types), all_.precision, all_.recall, all_.f1, all_.n_true)
        return list(zip(*(np.asarray(column).tolist() for column in columns), strict=True))

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        kind = "labels" if self.chunks is None else "chunks"
        record: dict[str, Any] = {
            "n_sequences": self.n_sequences,
            "n_tokens": self.n_tokens,
            "token_accuracy": self.token_accuracy,
            "sequence_accuracy": self.sequence_accuracy,
        }
        if self.chunks is not None:
            names = ("chunk_precision", "chunk_recall", "chunk_f1")
            record |= dict(zip(names, self.chunks.overall, strict=True))
        rows = [dict(zip(self.headings(), row, strict=True)) for row in self.rows()]
        return {**record, kind: rows, "unknown_labels": list(self.strange)}

    def __str__(self) -> str:
        lines = [
            f"{self.n_sequences} sequences, {self.n_tokens} tokens",
            f"token accuracy {self.token_accuracy:.4f}",
            f"sequence accuracy {self.sequence_accuracy:.4f}",
        ]
        if self.strange:
            named = ", ".join(self.strange[:5]) + ", …" * (len(self.strange) > 5)
            lines.append(f"labels that the model does not know, counted as mistakes: {named}")
        # The report of the labels says the accuracy once more in its last line.
        table = str(self.labels).splitlines()[:-1] if self.chunks is None else [str(self.chunks)]
        return "\n".join([*lines, "", *table])


def score_sequences(
    truth: Sequence[Sequence[str]], said: Sequence[Sequence[Any]], classes: npt.NDArray[Any]
) -> SequenceScores:
    """Score predicted labels.

    Parameters
    ----------
    truth, said : sequences of sequences of labels
    classes : array of shape (K,)
        Labels of the model.
    """
    words = [[str(label) for label in labels] for labels in said]
    flat = np.array([label for labels in truth for label in labels], dtype=str)
    found = np.array([label for labels in words for label in labels], dtype=str)
    known = np.unique(np.concatenate([flat, found]))
    return SequenceScores(
        len(truth),
        len(flat),
        token_accuracy(truth, words),
        sequence_accuracy(truth, words),
        chunk_report(truth, words) if tell_chunks(known) else None,
        per_class_report(flat, found),
        tuple(np.setdiff1d(flat, classes.astype(str)).tolist()),
    )
