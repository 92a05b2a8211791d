"""What a report shows, as plain values.

A `Content` holds what every report has (title, verdict, data, leaderboard) and a tuple of parts
(`separatrix.report.parts`), each optional and at most one of a kind, in any order.
`sections.SECTIONS` says in which order they are shown, under which heading, by which template.

Scores stand in the unit of the metric: a share of 0.97 is shown as 97.0 % where
`Metric.percent` is set. A number that does not apply is NaN and shown as a dash.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from separatrix.errors import ParameterError
from separatrix.report.parts.base import NAN, Part

__all__ = [
    "Content",
    "DataSummary",
    "LeaderboardRow",
    "Metric",
]


@dataclass(frozen=True)
class Metric:
    """By which score the learners were compared.

    Attributes
    ----------
    name : str
        In words: "accuracy", "mean cost", "RMSE".
    percent : bool
        Whether it is a share, shown in percent.
    higher_is_better : bool
        Its direction.
    unit : str
        Unit of the number, if it has one.
    digits : int
        Digits after the point, as shown.
    """

    name: str = "accuracy"
    percent: bool = True
    higher_is_better: bool = True
    unit: str = ""
    digits: int = 2


@dataclass(frozen=True)
class DataSummary:
    """What was learned from.

    Attributes
    ----------
    name : str
        Name or path.
    task : str
        In words: "classification into 10 classes", "regression".
    task_reason : str
        How the task was found, or that it was given.
    splits : tuple of (str, int)
        Names and rows of the splits: ("train", 1078), ("held-out", 359), ("test", 360).
    split_rule : str
        How the rows were split, in words.
    n_columns : int
        Columns of the source, the target not counted.
    n_features : int or None
        Features that the learners saw.
    target : str
        Name of the target column.
    fingerprint : str
        Checksum of the data.
    steps : tuple of str
        What was done to the data before the learners saw it, one sentence each.
    unit : str
        What a prediction is made for: "row", "sequence".
    """

    name: str
    task: str
    task_reason: str = ""
    splits: tuple[tuple[str, int], ...] = ()
    split_rule: str = ""
    n_columns: int = 0
    n_features: int | None = None
    target: str = ""
    fingerprint: str = ""
    steps: tuple[str, ...] = ()
    unit: str = "row"


@dataclass(frozen=True)
class LeaderboardRow:
    """One learner with its chosen setting, best first in `Content.leaderboard`.

    Attributes
    ----------
    learner, setting : str
        Name, and the chosen setting in words.
    score : float
        Held-out score.
    seconds, passes : float
        Time and passes over the train rows of the search for the setting.
    gap : float
        Relative gap of the chosen fit.
    solver : str
        What fitted it.
    baseline : bool
        Whether it is a baseline.
    role : {"", "champion", "runner-up"}
        Its place in the test.
    note : str
        What should be known about this line: "ran out of passes", "stopped by the budget".
    summary : str
        What the learner is, in a few words.
    standard_error : float
        Of the held-out score.
    """

    learner: str
    setting: str
    score: float
    seconds: float = NAN
    passes: float = NAN
    gap: float = NAN
    solver: str = ""
    baseline: bool = False
    role: Literal["", "champion", "runner-up"] = ""
    note: str = ""
    summary: str = ""
    standard_error: float = NAN


@dataclass(frozen=True)
class Content:
    """Everything that one report shows.

    Attributes
    ----------
    title : str
        Heading.
    verdict : str
        The result in one sentence.
    data : DataSummary
        What was learned from.
    leaderboard : tuple of LeaderboardRow
        The learners, best first.
    metric : Metric
        By which score.
    summary : tuple of str
        Sentences that go with the verdict, a paragraph each.
    command : str
        The exact command that repeats the experiment.
    date : str
        When it ran, as it is shown; the report has no other time stamp.
    versions : tuple of (str, str)
        Names and versions of the software.
    seconds : float
        Time of the whole experiment.
    parts : tuple of Part
        The optional parts, at most one of a kind, in any order.

    Examples
    --------
    >>> content = Content(
    ...     title="iris",
    ...     verdict="linear_svm is best: 96.67 % of the held-out rows are right.",
    ...     data=DataSummary("iris", "classification into 3 classes"),
    ...     leaderboard=(LeaderboardRow("linear_svm", "C = 1", 0.9667, role="champion"),),
    ... )
    >>> content.metric.name
    'accuracy'
    """

    title: str
    verdict: str
    data: DataSummary
    leaderboard: tuple[LeaderboardRow, ...]
    metric: Metric = field(default_factory=Metric)
    summary: tuple[str, ...] = ()
    command: str = ""
    date: str = ""
    versions: tuple[tuple[str, str], ...] = ()
    seconds: float = NAN
    parts: tuple[Part, ...] = ()

    def __post_init__(self) -> None:
        kinds = [type(part).__name__ for part in self.parts]
        twice = sorted({kind for kind in kinds if kinds.count(kind) > 1})
        if twice:
            raise ParameterError(f"A report has at most one part of a kind; twice: {twice}")
