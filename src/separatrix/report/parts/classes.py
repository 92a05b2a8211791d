"""How good a classification is, class by class."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from separatrix.errors import ParameterError
from separatrix.report.parts.base import NAN, Array, Part, check_lengths

__all__ = [
    "Calibration",
    "ClassReport",
    "ClassScores",
    "Confusion",
    "CostMatrix",
    "Mistake",
    "Mistakes",
    "Reliability",
]


@dataclass(frozen=True, eq=False)
class Confusion(Part):
    """Truth against prediction.

    Attributes
    ----------
    labels : tuple of str
        Class names.
    counts : ndarray of shape (K, K)
        Rows are the truth, columns the prediction.
    rows : str
        Which rows were counted: "test".
    units : str
        What was counted: "rows", "tokens".
    """

    labels: tuple[str, ...]
    counts: Array
    rows: str = "test"
    units: str = "rows"

    def __post_init__(self) -> None:
        size = len(self.labels)
        if np.shape(self.counts) != (size, size):
            raise ParameterError(
                f"Confusion has {size} labels, so counts must have the shape ({size}, {size}), "
                f"got {np.shape(self.counts)}"
            )


@dataclass(frozen=True)
class ClassScores:
    """Precision, recall and F1 of one class, and its number of rows."""

    label: str
    precision: float
    recall: float
    f1: float
    support: int


@dataclass(frozen=True)
class ClassReport(Part):
    """Scores per class, and averages over them ("macro average", "weighted average").

    `rows` says which rows were looked at, `units` what was counted: "rows", "tokens".
    """

    classes: tuple[ClassScores, ...]
    averages: tuple[ClassScores, ...] = ()
    rows: str = "test"
    units: str = "rows"


@dataclass(frozen=True, eq=False)
class Mistake:
    """One wrong prediction.

    Attributes
    ----------
    row : str
        Which row or line of the source.
    text : str
        The text, or the row in short.
    truth, prediction : str
        Classes.
    confidence : float
        Probability given to the prediction.
    truth_probability : float
        Probability given to the truth.
    picture : ndarray of shape (height, width) or None
        The example as an image, if it is one: 0 is paper, the largest value ink.
    """

    row: str
    text: str
    truth: str
    prediction: str
    confidence: float = NAN
    truth_probability: float = NAN
    picture: Array | None = None


@dataclass(frozen=True)
class Mistakes(Part):
    """The most confident mistakes, the surest first, and how many there are in all."""

    mistakes: tuple[Mistake, ...]
    n_mistakes: int
    n_rows: int
    rows: str = "test"


@dataclass(frozen=True, eq=False)
class Reliability:
    """Reliability bins of one set of probabilities.

    Attributes
    ----------
    name : str
        "before calibration", "after isotonic calibration".
    confidence, frequency, mass : ndarray of shape (m,)
        Mean probability, observed frequency and share of the rows of each bin.
    error : float
        Expected calibration error.
    log_loss : float
        Mean negative log probability of the truth.
    """

    name: str
    confidence: Array
    frequency: Array
    mass: Array
    error: float
    log_loss: float = NAN

    def __post_init__(self) -> None:
        check_lengths(self, "confidence", "frequency", "mass")


@dataclass(frozen=True)
class Calibration(Part):
    """Do the probabilities mean what they say, before and after calibration.

    Attributes
    ----------
    curves : tuple of Reliability
        Before, then after, as far as there are both.
    event : str
        What the probability is of.
    method : str
        How the calibration was fitted, in one sentence.
    rows : str
        Which rows were looked at.
    """

    curves: tuple[Reliability, ...]
    event: str = "the predicted class"
    method: str = ""
    rows: str = "test"


@dataclass(frozen=True, eq=False)
class CostMatrix(Part):
    """What each decision costs.

    Attributes
    ----------
    labels : tuple of str
        The true classes, one per row.
    actions : tuple of str
        The decisions, one per column: the classes, and "reject" if it is one.
    costs : ndarray of shape (K, A)
        Cost of each decision for each truth.
    """

    labels: tuple[str, ...]
    actions: tuple[str, ...]
    costs: Array

    def __post_init__(self) -> None:
        wanted = (len(self.labels), len(self.actions))
        if np.shape(self.costs) != wanted:
            raise ParameterError(
                f"CostMatrix has {wanted[0]} labels and {wanted[1]} actions, but costs of the "
                f"shape {np.shape(self.costs)}"
            )
