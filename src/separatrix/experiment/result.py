"""The result of an experiment: a leaderboard, one look at the test set, and the champion."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields
from html import escape
from typing import Any

from separatrix.experiment.event_models import Counted
from separatrix.experiment.repeating import Repeats
from separatrix.metrics import Metric
from separatrix.report.content import HEADINGS, LeaderboardRow
from separatrix.report.parts import Finding, Part, TestReport
from separatrix.tasks import Task
from separatrix.tasks.feature_search import Searched
from separatrix.tasks.inputs import Inputs

__all__ = ["FOOTNOTE", "LeaderboardRow", "Result", "format_rows"]


REFERENCE_NOTE = (
    "reference: scikit-learn's HistGradientBoosting, untuned, on the plain features; no linear "
    "model, so never champion: it shows what linearity costs"
)
FOOTNOTE = "* ran out of passes or time before the gap reached the tolerance: the score may change"


@dataclass(frozen=True)
class Result:
    """The learners by held-out score, and what the best two did on the test set.

    Attributes
    ----------
    leaderboard : tuple of LeaderboardRow
        Best first; a tie goes to the simpler learner.
    champion : LeaderboardRow
        The learner that was requested, or the first row; where its solver was cut short, the first
        that was not and is behind by no more than one standard error of the difference.
    runner_up : LeaderboardRow or None
        The best of the others; a baseline only where nothing else is there.
    metric : Metric
        What decided.
    task : Task
        What was learned.
    inputs : Inputs
        What of the data the model is fed.
    test : TestReport
        Scores of champion and runner-up on the test rows, which were opened once for both.
    sizes : dict of str to int
        Rows of train, held-out and test; features; classes.
    split : str
        How the rows were split, in words.
    steps : tuple of str
        What was done to the data before the learners saw it.
    notes : tuple of str
        What else should be known.
    findings : tuple of Finding
        What about the data or the result should make one suspicious, serious findings first.
    parts : tuple of Part
        The parts of the report: curves, confusion, calibration, profile, ….
    source, fingerprint : str
        Name and SHA-256 of the data.
    seconds : float
        Time of the whole experiment.
    random_state : int
        Seed of the split and the learners.
    model : estimator
        The champion, fitted again on train and held-out rows; takes raw rows.
    command : str
        What repeats the experiment, where it is known.
    features : tuple of Searched
        The sets of features that were tried, with their held-out scores; empty where none were.
    repeats : Repeats or None
        Test scores with several seeds, where they were asked for.
    """

    leaderboard: tuple[LeaderboardRow, ...]
    champion: LeaderboardRow
    runner_up: LeaderboardRow | None
    metric: Metric
    task: Task
    inputs: Inputs
    test: TestReport
    sizes: dict[str, int]
    split: str
    steps: tuple[str, ...]
    notes: tuple[str, ...]
    findings: tuple[Finding, ...]
    parts: tuple[Part, ...] = field(repr=False, compare=False)
    source: str
    fingerprint: str
    seconds: float
    random_state: int
    model: Any = field(repr=False, compare=False)
    command: str = ""
    features: tuple[Searched, ...] = ()
    repeats: Repeats | None = None

    @property
    def test_score(self) -> float:
        """Of the champion."""
        return self.test.scores[0].score

    def opening(self) -> tuple[str, ...]:
        """What was learned from what, a line each."""
        rows = ", ".join(f"{self.sizes[part]} {part}" for part in ("train", "held-out", "test"))
        classes = f", {self.sizes['classes']} classes" if "classes" in self.sizes else ""
        units, n_features = self.task.units, self.sizes["features"]
        # Learners of pictures make the features of pixels themselves.
        features = f", {n_features} features" if n_features else ""
        return (
            f"Task: {self.task.name} ({self.task.reason}), decided by {self.metric.title}.",
            f"{rows} {units} ({self.split}){features}{classes}.",
            *self.steps,
        )

    def remarks(self) -> tuple[str, ...]:
        """What else should be known, marks in the leaderboard explained first."""
        marks = () if all(row.settled for row in self.leaderboard) else (FOOTNOTE,)
        told = (REFERENCE_NOTE,) if any(row.reference for row in self.leaderboard) else ()
        return marks + told + self.notes

    @property
    def serious(self) -> tuple[Finding, ...]:
        """The findings that can make the result wrong."""
        return tuple(one for one in self.findings if one.serious)

    @property
    def is_worthless(self) -> bool:
        """Whether a baseline is the champion, although learners were to do better."""
        baselines = all(row.baseline or row.reference for row in self.leaderboard)
        return self.champion.baseline and self.champion.solver != "given" and not baselines

    def warnings(self) -> tuple[str, ...]:
        """The serious findings, a line each."""
        return tuple(f"Warning, {one.kind}: {one.message}" for one in self.serious)

    def verdict(self) -> str:
        """Name the champion and its test score in one line."""
        champion = self.test.scores[0]
        setting = "" if self.champion.value is None else f" ({self.champion.setting})"
        percent = f"{100 * self.test.level:g} %"
        interval = ""
        if math.isfinite(champion.low):
            ends = f"{champion.low:.4f} to {champion.high:.4f}"
            interval = f" ({ends}: {percent} {self.test.interval})"
        words = (
            f"Champion: {self.champion.learner}{setting}, {self.metric.title} "
            f"{champion.score:.4f}{interval} on {self.test.n_rows} test {self.task.units}."
        )
        if len(self.test.scores) > 1:
            other = self.test.scores[1]
            words += f" Runner-up: {other.learner}, {other.score:.4f}"
            if math.isfinite(self.test.probability_better):
                words += "; the champion is better with probability "
                words += f"{self.test.probability_better:.2f}"
            words += "."
        return words

    def __str__(self) -> str:
        table = format_rows(self.leaderboard)
        told = [*self.remarks(), *self.warnings()]
        return "\n".join([*self.opening(), "", *table, *told, "", self.verdict()])

    def _repr_html_(self) -> str:
        """The result in a notebook: leaderboard, findings, verdict."""
        heads = "".join(f"<th>{name}</th>" for name, _ in HEADINGS)
        rows = "".join(
            "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row.cells()) + "</tr>"
            for row in self.leaderboard
        )
        told = [*self.opening(), *self.remarks(), *self.warnings()]
        notes = "".join(f"<p>{escape(words)}</p>" for words in told)
        verdict = f"<p><b>{escape(self.verdict())}</b></p>"
        return f"<table><tr>{heads}</tr>{rows}</table>{notes}{verdict}"

    def to_dict(self) -> dict[str, Any]:
        """Everything but the model and the pictures, as plain values; NaN becomes None.

        Returns
        -------
        dict
            Strings, numbers, booleans, None, lists and dictionaries only.
        """
        scores = [_plain(asdict(score)) for score in self.test.scores]
        return {
            "source": self.source,
            "fingerprint": self.fingerprint,
            "task": self.task.name,
            "task_reason": self.task.reason,
            "metric": self.metric.name,
            "champion": self.champion.learner,
            "setting": self.champion.setting,
            "runner_up": None if self.runner_up is None else self.runner_up.learner,
            "test": scores,
            "interval": {"level": self.test.level, "kind": self.test.interval},
            "probability_better": _finite(self.test.probability_better),
            "sizes": dict(self.sizes),
            "split": self.split,
            "steps": list(self.steps),
            "features": [_plain(asdict(one)) for one in self.features],
            "notes": list(self.notes),
            "repeats": None if self.repeats is None else _plain(asdict(self.repeats)),
            "findings": [
                {
                    "kind": one.kind,
                    "severity": one.severity,
                    "message": one.message,
                    "details": list(one.details),
                }
                for one in self.findings
            ],
            "seconds": self.seconds,
            "random_state": self.random_state,
            "command": self.command,
            "leaderboard": [_row(row) for row in self.leaderboard],
        }

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the champion as a model file, with what its file needs to be used again.

        Parameters
        ----------
        path : str or path
            "model.sx" by custom.
        """
        from separatrix.models import save

        training = {
            "task": self.task.name,
            "learner": self.champion.learner,
            "setting": self.champion.setting,
            "metric": self.metric.name,
            "held_out": self.champion.held_out,
            "test": _finite(self.test_score),
            "n_rows": self.sizes["train"] + self.sizes["held-out"],
            "random_state": self.random_state,
            "command": self.command,
        }
        save(
            self.model, path, training=training, fingerprint=self.fingerprint,
            task=self.task.kind, inputs=self.inputs,
        )  # fmt: skip

    def to_html(self, path: str | os.PathLike[str] | None = None) -> str:
        """The report as one HTML page, written to `path` where one is given.

        Parameters
        ----------
        path : str or path, optional
            Where to; "report.html" by custom.

        Returns
        -------
        str
            The page.
        """
        # Needs jinja2 (extra `report`).
        from separatrix.atomic import replacing
        from separatrix.experiment.page import content_of
        from separatrix.report import render

        content = content_of(self)
        page = render(content)
        if path is not None:
            with replacing(path) as file:
                file.write(page.encode())
        return page


def format_rows(rows: Sequence[LeaderboardRow]) -> list[str]:
    """Format leaderboard rows as a plain text table, headings first."""
    table = [tuple(name for name, _ in HEADINGS), *(row.cells() for row in rows)]
    widths = [max(len(line[i]) for line in table) for i in range(len(HEADINGS))]
    lines = []
    for line in table:
        cells = [
            cell.ljust(width) if align == "left" else cell.rjust(width)
            for cell, width, (_, align) in zip(line, widths, HEADINGS, strict=True)
        ]
        lines.append("  ".join(cells).rstrip())
    return lines


def _row(row: LeaderboardRow) -> dict[str, Any]:
    """A row of the leaderboard as plain values."""
    kept = (one.name for one in fields(LeaderboardRow) if one.name not in ("settings", "summary"))
    plain = _plain({name: getattr(row, name) for name in kept})
    settings = [
        {
            "value": _plain_setting(point.value),
            "train": _finite(point.train),
            "held_out": _finite(point.held_out),
            "settled": point.settled,
        }
        for point in row.settings
    ]
    return plain | {"value": _plain_setting(row.value), "settings": settings}


def _plain_setting(value: float | Counted | None) -> Any:
    """A number, or the parts of a setting of naive Bayes by name."""
    if not isinstance(value, Counted):
        return value
    return ({"events": value.events} if value.events else {}) | value.parameters


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _plain(values: dict[str, Any]) -> dict[str, Any]:
    return {
        key: _finite(value) if isinstance(value, float) else _lists(value)
        for key, value in values.items()
    }


def _lists(value: Any) -> Any:
    return [_lists(item) for item in value] if isinstance(value, tuple) else value
