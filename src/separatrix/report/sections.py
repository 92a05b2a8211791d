"""The sections of a report, in the order in which they are shown.

A new one needs a dataclass in `separatrix.report.parts`, a template in `templates/sections`, a
function that prepares what the template shows, and one line in `SECTIONS`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from separatrix.errors import ParameterError
from separatrix.report import parts
from separatrix.report.content import Content
from separatrix.report.views import classes, curves, data, model, overview, regression, sequences
from separatrix.report.views.common import Fact, View

__all__ = ["SECTIONS", "Filled", "Section", "filled"]


@dataclass(frozen=True)
class Section:
    """One section.

    Attributes
    ----------
    name : str
        Its address in the page, and its template: ``sections/{name}.html``.
    title : str
        Its heading.
    kind : type
        The part that it shows; `Content` for what every report has.
    view : callable
        ``view(part, content)`` gives what the template shows as `view`, beside `part` and
        `content`.
    facts : callable or None
        ``facts(part, content)`` gives what stands at the head of the report.
    """

    name: str
    title: str
    kind: type[Any]
    view: Callable[[Any, Content], View]
    facts: Callable[[Any, Content], Sequence[Fact]] | None = None


SECTIONS: tuple[Section, ...] = (
    Section("warnings", "Warnings", parts.Findings, data.findings, data.finding_facts),
    Section(
        "leaderboard", "Leaderboard", Content, overview.leaderboard, overview.leaderboard_facts
    ),
    Section("test", "Test", parts.TestReport, overview.test, overview.test_facts),
    Section(
        "regression",
        "Predictions and intervals",
        parts.RegressionReport,
        regression.regression,
        regression.regression_facts,
    ),
    Section("training", "Overtraining", parts.TrainingCurves, curves.training),
    Section("learning", "Learning curve", parts.LearningCurves, curves.learning),
    Section("confusion", "Confusion", parts.Confusion, classes.confusion),
    Section("chunks", "Chunks per type", parts.ChunkReport, classes.class_report),
    Section("classes", "Scores per class", parts.ClassReport, classes.class_report),
    Section("mistakes", "Most confident mistakes", parts.Mistakes, classes.mistakes),
    Section("sentences", "Worst sequences", parts.Sentences, sequences.sentences),
    Section("calibration", "Calibration", parts.Calibration, classes.calibration),
    Section("costs", "Costs", parts.CostMatrix, classes.costs),
    Section("weights", "What the champion looks at", parts.Weights, model.weights),
    Section("explanations", "Predictions explained", parts.Explanations, model.explanations),
    Section("efforts", "Time", parts.Efforts, overview.efforts),
    Section("profile", "Data", parts.Profile, data.profile),
    Section("repeat", "How to repeat this", Content, overview.repeat),
)

#: The order of the facts at the head differs from that of the sections.
FIRST_FACTS = ("leaderboard", "test", "regression", "warnings")


@dataclass(frozen=True, eq=False)
class Filled:
    """A section with its part, ready for the template."""

    section: Section
    part: Any
    view: View


def filled(content: Content) -> tuple[tuple[Filled, ...], tuple[Fact, ...]]:
    """The sections that `content` has something for, and the facts for the head.

    Raises
    ------
    ParameterError
        If a part has no section.
    """
    given: dict[type[Any], Any] = {type(part): part for part in content.parts}
    unknown = sorted(kind.__name__ for kind in given.keys() - {one.kind for one in SECTIONS})
    if unknown:
        raise ParameterError(f"No section of the report shows {', '.join(unknown)}; see SECTIONS")
    given[Content] = content
    found = tuple(
        Filled(section, given[section.kind], section.view(given[section.kind], content))
        for section in SECTIONS
        if section.kind in given
    )
    by_name = {one.section.name: one for one in found}
    facts: list[Fact] = []
    for name in dict.fromkeys((*FIRST_FACTS, *by_name)):
        one = by_name.get(name)
        if one is not None and one.section.facts is not None:
            facts.extend(one.section.facts(one.part, content))
    return found, tuple(facts)
