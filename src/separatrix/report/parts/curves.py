"""Curves: overtraining and learning."""

from __future__ import annotations

from dataclasses import dataclass

from separatrix.report.parts.base import NAN, Array, Part, check_lengths

__all__ = [
    "LearningCurve",
    "LearningCurves",
    "TrainingCurve",
    "TrainingCurves",
]


@dataclass(frozen=True, eq=False)
class TrainingCurve:
    """Train and held-out score of one learner against passes or C.

    Attributes
    ----------
    learner : str
        Name.
    axis : str
        What x is: "passes", "C".
    x, train, held_out : ndarray of shape (m,)
        Settings in rising order and the scores at each; train may be None.
    chosen : float
        The chosen setting.
    logarithmic : bool
        Whether x is drawn on a logarithmic scale.
    settled : ndarray of bool of shape (m,) or None
        Where the fit was not cut short; None: everywhere. Scores of the others are marked.
    """

    learner: str
    axis: str
    x: Array
    held_out: Array
    train: Array | None = None
    chosen: float = NAN
    logarithmic: bool = False
    settled: Array | None = None

    def __post_init__(self) -> None:
        check_lengths(self, "x", "held_out", "train", "settled")


@dataclass(frozen=True)
class TrainingCurves(Part):
    """Overtraining: one picture per learner, the champion first."""

    curves: tuple[TrainingCurve, ...]


@dataclass(frozen=True, eq=False)
class LearningCurve:
    """Held-out score of one learner against the number of train rows.

    Attributes
    ----------
    learner : str
        Name.
    n_rows, score : ndarray of shape (m,)
        Train rows, rising, and the held-out score with them.
    low, high : ndarray of shape (m,) or None
        Ends of a band around the score.
    train : ndarray of shape (m,) or None
        Score on the rows trained on.
    """

    learner: str
    n_rows: Array
    score: Array
    low: Array | None = None
    high: Array | None = None
    train: Array | None = None

    def __post_init__(self) -> None:
        check_lengths(self, "n_rows", "score", "low", "high", "train")


@dataclass(frozen=True)
class LearningCurves(Part):
    """Learning curves of some learners in one picture, and what they say."""

    curves: tuple[LearningCurve, ...]
    message: str = ""
