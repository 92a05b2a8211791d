"""The report shows what the result holds, as one page that needs nothing else."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import ClassVar

import numpy as np
import pytest

from separatrix.experiment import Experiment, Given
from separatrix.experiment.page import content_of
from separatrix.registry import LEARNERS
from separatrix.report.parts import (
    Calibration,
    Confusion,
    Costs,
    Explanations,
    LearningCurves,
    Mistakes,
    RegressionReport,
    TrainingCurves,
    Weights,
)
from tests.unit.experiment.problems import QUICK, blobs, line, table, texts


def part_of(result, kind):
    return next(part for part in result.parts if isinstance(part, kind))


@pytest.fixture(scope="module")
def result():
    X, y = blobs(300, spread=2.0)
    return Experiment((X, y), learners=QUICK, cost=1 - np.eye(3), name="blobs <b>").run()


def test_the_page_holds_the_verdict_and_every_learner(result, tmp_path):
    page = result.to_html(tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == page
    text = re.sub(r"<[^>]+>", "", page)
    for row in result.leaderboard:
        assert row.learner in text
        assert next(one.summary for one in LEARNERS if one.name == row.learner) in page
    assert "blobs &lt;b&gt;" in page
    assert "blobs <b>" not in page
    assert not re.search(r"(src|href)=[\"']https?:", page)
    assert "<script" not in page
    assert len(page) < 2_000_000


def test_tags_are_closed(result):
    class Tags(HTMLParser):
        open: ClassVar[list[str]] = []

        def handle_starttag(self, tag, attrs):
            if tag not in ("meta", "link", "br", "hr", "img", "input", "wbr", "col"):
                self.open.append(tag)

        def handle_endtag(self, tag):
            assert self.open.pop() == tag

        def handle_startendtag(self, tag, attrs):
            pass

    tags = Tags()
    tags.feed(result.to_html())
    assert tags.open == []


def test_the_content_is_that_of_the_result(result):
    content = content_of(result)
    assert content.verdict == result.verdict()
    roles = {row.learner: row.role for row in content.leaderboard}
    assert roles[result.champion.learner] == "champion"
    assert roles[result.runner_up.learner] == "runner-up"
    assert dict(content.data.splits) == {"train": 180, "held-out": 60, "test": 60}
    assert content.metric.higher_is_better is False
    assert ("numpy", np.__version__) in content.versions


def test_the_parts_of_a_classification():
    fresh, truth = blobs(100, seed=1, spread=2.0)
    found = Experiment(blobs(300, spread=2.0), learners=QUICK, split=Given((fresh, truth))).run()
    said = found.model.predict(fresh)
    confusion = part_of(found, Confusion)
    assert confusion.counts.sum() == 100
    assert np.trace(confusion.counts) == np.sum(said == truth)
    mistakes = part_of(found, Mistakes)
    assert mistakes.n_mistakes == np.sum(said != truth)
    sure = [one.confidence for one in mistakes.mistakes]
    assert sure == sorted(sure, reverse=True)
    curve = next(
        c for c in part_of(found, TrainingCurves).curves if c.learner == found.champion.learner
    )
    assert np.max(curve.held_out) == found.champion.held_out
    growth = part_of(found, LearningCurves).curves[0]
    assert growth.score[-1] == found.champion.held_out
    assert list(growth.n_rows) == sorted(growth.n_rows)
    assert part_of(found, Calibration).curves
    assert part_of(found, Weights).groups
    shown = part_of(found, Explanations).examples
    assert [one.prediction == one.truth for one in shown].count(False) <= 2


def test_costs_and_quantities_are_shown(result):
    assert part_of(result, Costs).costs.shape == (3, 3)
    found = Experiment(line(), "price", learners=["bayesian_regression"]).run()
    report = part_of(found, RegressionReport)
    assert len(report.coverage) == 3
    assert (report.band.low <= report.band.high).all()
    assert found.test_score == report.rmse
    assert "price" in found.to_html()


@pytest.mark.parametrize("kind", ["table", "text", "images", "baseline", "binary"])
def test_every_kind_of_input_has_a_page(kind):
    random = np.random.default_rng(0)
    data, options = {
        "table": (table(), {}),
        "text": (texts(), {}),
        "images": ((random.random((90, 5, 4)), np.arange(90) % 3), {}),
        "baseline": (table(), {"learners": []}),
        "binary": (blobs(n_classes=2), {"learners": ["linear_svm"]}),
    }[kind]
    page = Experiment(data, **{"learners": QUICK, **options}).run().to_html()
    assert page.count("<svg") >= 2
