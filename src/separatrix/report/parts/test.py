"""The test set, opened once."""

from __future__ import annotations

from dataclasses import dataclass

from separatrix.report.parts.base import NAN, Part

__all__ = [
    "TestReport",
    "TestScore",
]


@dataclass(frozen=True)
class TestScore:
    """Score of one frozen model on the test rows, with its credible interval.

    Attributes
    ----------
    learner, role : str
        Name, and "champion", "runner-up" or "baseline".
    score, low, high : float
        Score and the ends of its credible interval.
    others : tuple of (str, float)
        Further scores, shown as they are: ("log loss", 0.113).
    """

    __test__ = False  # not for pytest

    learner: str
    role: str
    score: float
    low: float = NAN
    high: float = NAN
    others: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True)
class TestReport(Part):
    """The test set, opened once for champion and runner-up together.

    Attributes
    ----------
    scores : tuple of TestScore
        Champion first.
    n_rows : int
        Test rows.
    level : float
        Mass of the credible intervals.
    interval : str
        What intervals they are, in words.
    probability_better : float
        That the champion beats the runner-up.
    probability_equivalent : float
        That both are practically the same.
    method : str
        How these probabilities were computed, in words.
    """

    __test__ = False

    scores: tuple[TestScore, ...]
    n_rows: int
    level: float = 0.95
    probability_better: float = NAN
    probability_equivalent: float = NAN
    method: str = ""
    interval: str = "credible interval"
