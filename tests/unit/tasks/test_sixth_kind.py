"""A kind of output that the library does not have: one class, and one line in the table."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pytest

from separatrix import Experiment, models
from separatrix.cli.app import main
from separatrix.data import Dataset
from separatrix.metrics import Metric
from separatrix.tasks import TASKS
from separatrix.tasks.classes import Classes

ORDER = ("low", "medium", "high")


def steps_apart(predictions, y):
    """By how many steps of the order each prediction is wrong."""
    places = {name: place for place, name in enumerate(ORDER)}
    return np.array(
        [abs(places[a] - places[b]) for a, b in zip(predictions, y, strict=True)], float
    )


class Ordered(Classes):
    """Classes in an order: a prediction is better the nearer it is."""

    kind = "ordered"
    names = ("multiclass",)
    aliases = ("ordered",)
    holds = "classes in an order"
    predicts = "a class of an order"
    metrics: ClassVar = {
        "steps": Metric("steps", "mean steps of the order", False, judge=steps_apart)
    }

    @classmethod
    def recognize(cls, data, wanted):
        """The labels low, medium and high."""
        if np.ndim(data.y) != 1 or not set(data.y.tolist()) <= set(ORDER):
            return None
        return cls("multiclass", "the target holds low, medium and high")


@pytest.fixture
def ordered():
    """The one line, before the kinds that would take such targets too."""
    line = {"ordered": f"{__name__}:Ordered"}
    before = dict(TASKS)
    TASKS.clear()
    TASKS.update(line | before)
    yield
    TASKS.clear()
    TASKS.update(before)


def test_it_is_compared_saved_opened_evaluated_and_shown(ordered, tmp_path, capsys):
    random = np.random.default_rng(0)
    x = random.normal(size=150)
    y = np.array(ORDER)[np.digitize(x + 0.2 * random.normal(size=150), [-0.5, 0.5])]
    data = Dataset("table", {"x": x}, y.astype(object), ("x",), "size")
    result = Experiment(data, learners=["logistic_regression"]).run()
    assert (result.task.kind, result.metric.name) == ("ordered", "steps")
    assert result.test_score < 0.5
    result.save(tmp_path / "size.sx")
    assert "mean steps of the order" in result.to_html()
    model = models.open(tmp_path / "size.sx")
    assert (model.info.task, model.task.predicts) == ("ordered", "a class of an order")
    assert model.predict([{"x": -3.0}, {"x": 3.0}]) == [{"label": "low"}, {"label": "high"}]
    rows = "\n".join(f"{a},{b}" for a, b in zip(x, y, strict=True))
    (tmp_path / "size.csv").write_text(f"x,size\n{rows}\n")
    assert main(["evaluate", str(tmp_path / "size.sx"), str(tmp_path / "size.csv")]) == 0
    assert "accuracy" in capsys.readouterr().out


def test_without_its_line_the_target_is_classes():
    data = Dataset("table", {"x": np.arange(6.0)}, np.array(["low", "high"] * 3, dtype=object))
    assert Experiment(data, learners=[]).run().task.kind == "classes"
