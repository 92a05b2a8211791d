"""What a report shows, as plain values.

A `Content` holds what every report has (title, verdict, data, leaderboard) and a tuple of parts
(`separatrix.report.parts`), each optional and at most one of a kind, in any order. A part says
itself under which heading it stands, at which place, by which template.

Scores stand in the unit of the metric: a share of 0.97 is shown as 97.0 % where
`Metric.percent` is set. A number that does not apply is NaN and shown as a dash.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Literal

from separatrix.errors import ParameterError
from separatrix.metrics import Metric
from separatrix.report.parts.overview import Leaderboard, Repeat
from separatrix.report.parts.part import NAN, Fact, Part

__all__ = ["HEADINGS", "ROLES", "Content", "DataSummary", "LeaderboardRow", "Role"]


Role = Literal["", "champion", "runner-up"]
#: Roles of the learners that are tested, the best first.
ROLES: tuple[Role, ...] = ("champion", "runner-up")
#: The metric of a report that names none.
ACCURACY = Metric("accuracy", "accuracy", percent=True)


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
    """One learner with its chosen setting.

    Attributes
    ----------
    learner, setting : str
        Its name in the registry, and the chosen setting in words.
    held_out : float
        Score on the held-out rows.
    seconds, passes : float
        Time and passes over the train rows of the whole search for the setting.
    gap : float
        Relative gap gap / |P| at the chosen setting; NaN where there is no objective.
    solver : str
        What fitted it.
    baseline : bool
        Whether it is a baseline.
    role : {"", "champion", "runner-up"}
        Its place in the test.
    note : str
        What else should be known.
    summary : str
        What the learner is, in a few words.
    standard_error : float
        Of the held-out score.
    value : float, Counted or None
        The chosen parameter, number of passes or setting of naive Bayes.
    converged : bool
        Whether the gap reached the tolerance, or an online learner made a pass without mistakes.
    settled : bool
        Whether the solver was not cut short; a score of one that was may still change.
    settings : tuple of CurvePoint
        All settings that were tried, with their scores.
    n_settings : int
        Settings tried.
    reference : bool
        Whether it is there to compare with only, and never champion.
    """

    learner: str
    setting: str
    held_out: float
    seconds: float = NAN
    passes: float = NAN
    gap: float = NAN
    solver: str = ""
    baseline: bool = False
    role: Role = field(default="", compare=False)  # known when all others are done
    note: str = ""
    summary: str = ""
    standard_error: float = NAN
    value: Any = None
    converged: bool = True
    settled: bool = True
    settings: tuple[Any, ...] = field(default=(), repr=False)
    n_settings: int = 1
    reference: bool = False

    def cells(self) -> tuple[str, ...]:
        """Return the row as text, in the order of `HEADINGS`."""
        gap = f"{self.gap:.1e}" if math.isfinite(self.gap) else "-"
        mark = "" if self.settled else "*"
        return (
            self.learner,
            self.setting,
            f"{self.held_out:.4f}{mark}",
            f"{self.seconds:.3f}",
            f"{self.passes:.0f}",
            gap + mark,
            self.solver,
        )


#: Headings of the leaderboard as text, and how each column is aligned.
HEADINGS = (
    ("learner", "left"),
    ("setting", "left"),
    ("held-out", "right"),
    ("seconds", "right"),
    ("passes", "right"),
    ("gap", "right"),
    ("solver", "left"),
)


def _whole(part: Part) -> bool:
    return hasattr(part, "section") and hasattr(part, "template")


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
    metric: Metric = ACCURACY
    summary: tuple[str, ...] = ()
    command: str = ""
    date: str = ""
    versions: tuple[tuple[str, str], ...] = ()
    seconds: float = NAN
    parts: tuple[Part, ...] = ()

    def __post_init__(self) -> None:
        kinds = [type(part).__name__ for part in self.parts]
        bare = [kind for kind, part in zip(kinds, self.parts, strict=True) if not _whole(part)]
        if bare:
            raise ParameterError(f"A part of a report needs a section and a template: {bare[0]}")
        twice = sorted({kind for kind in kinds if kinds.count(kind) > 1})
        if twice:
            raise ParameterError(f"A report has at most one part of a kind; twice: {twice}")

    def sections(self) -> list[Part]:
        """What every report has and the parts, in the order in which they are shown."""
        return sorted((Leaderboard(), Repeat(), *self.parts), key=lambda part: part.section.place)

    def facts(self) -> list[Fact]:
        """What stands at the head of the report."""
        order = sorted(self.sections(), key=lambda part: part.section.facts_last)
        return [fact for part in order for fact in part.facts(self)]
