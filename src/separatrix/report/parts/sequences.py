"""How good labels of sequences are: chunks, and the worst sequences."""

from __future__ import annotations

from dataclasses import dataclass

from separatrix.report.parts.base import NAN, Part
from separatrix.report.parts.classes import ClassReport

__all__ = ["ChunkReport", "Sentence", "Sentences", "Token"]


@dataclass(frozen=True)
class ChunkReport(ClassReport):
    """Scores per type of chunk, and of all chunks together."""


@dataclass(frozen=True)
class Token:
    """One token.

    Attributes
    ----------
    word : str
    truth, prediction : str
        Labels.
    probability : float
        Given to the prediction.
    """

    word: str
    truth: str
    prediction: str
    probability: float = NAN


@dataclass(frozen=True)
class Sentence:
    """One sequence that is labeled wrong.

    Attributes
    ----------
    row : str
        Which sequence of the source.
    tokens : tuple of Token
    log_probability : float
        Of the true labels, all together.
    """

    row: str
    tokens: tuple[Token, ...]
    log_probability: float = NAN


@dataclass(frozen=True)
class Sentences(Part):
    """The worst sequences, the worst first, and how many have mistakes in all."""

    sentences: tuple[Sentence, ...]
    n_wrong: int
    n_rows: int
    rows: str = "test"
