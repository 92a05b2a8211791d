"""Time is shared out and kept to, told by a clock that the tests move."""

from __future__ import annotations

import time

import numpy as np
import pytest

from separatrix.errors import ParameterError
from separatrix.experiment import Experiment
from separatrix.experiment.clock import Clock
from separatrix.experiment.thinning import PROBED
from tests.unit.experiment.problems import SLOW, Slow, Ticking, blobs


@pytest.fixture
def clock(monkeypatch):
    """A clock that stands still until it is moved."""
    found = Ticking()
    monkeypatch.setattr(time, "perf_counter", found)
    monkeypatch.setattr(Slow, "clock", found, raising=False)
    return found


def test_time_is_shared_out(clock):
    budget = Clock(100.0)
    assert budget.for_search(4) == pytest.approx(15)
    clock.now += 30
    assert budget.for_search(3) == pytest.approx(10)
    clock.now += 40
    assert budget.for_search(1) == 0
    assert budget.for_refit(2) == pytest.approx(10)
    assert budget.spare(20)
    assert not budget.spare(21)
    assert budget.seconds == 70


def test_without_a_budget_there_is_no_limit(clock):
    budget = Clock(None)
    clock.now += 1e9
    assert budget.for_search(3) == budget.for_refit(1) == np.inf
    assert budget.spare(1e9)


@pytest.mark.parametrize("budget", [0, -1.0, float("nan")])
def test_bad_budgets(budget):
    with pytest.raises(ParameterError, match="budget must be positive"):
        Experiment(blobs(), budget=budget).run()


@pytest.mark.parametrize("budget", [5.0, 12.0, 20.0])
def test_passes_end_with_the_time(clock, budget):
    result = Experiment(blobs(), learners=[SLOW], budget=budget).run()
    assert result.seconds <= 1.1 * budget + 1  # a pass that has begun is ended
    row = next(row for row in result.leaderboard if row.learner == "slow")
    if budget < 10:
        assert row.note == "stopped by the budget"
        assert f"slow tried {row.n_settings} settings before time was up." in result.notes
    assert row.n_settings <= 0.6 * budget + 1


@pytest.mark.parametrize(
    ("calibration", "share"), [("auto", 0.25), ("auto", 0.5), ("isotonic", 0.5)]
)
def test_solvers_end_with_the_time(monkeypatch, calibration, share):
    """Every look at the clock takes a millisecond; solvers look at it once a pass."""
    options = {
        "learners": ["linear_svm", "logistic_regression", "sparse_logistic"],
        "calibration": calibration,
        "features": "plain",
    }
    monkeypatch.setattr(time, "perf_counter", Ticking(1e-3))
    whole = Experiment(blobs(300, spread=2.0), **options).run()
    monkeypatch.setattr(time, "perf_counter", Ticking(1e-3))
    budget = share * whole.seconds
    result = Experiment(blobs(300, spread=2.0), budget=budget, **options).run()
    assert result.seconds <= 1.1 * budget + 7e-3  # a look too many in each of seven fits
    assert result.notes
    assert result.test_score > 0.5


def test_what_is_not_tried_is_said(clock):
    experiment = Experiment(blobs(), learners=[SLOW, "mira"], budget=1e-6)
    clock_of_run = Ticking(1e-3)
    time.perf_counter = clock_of_run  # undone by the fixture
    result = experiment.run()
    assert result.champion.learner == "mira"  # one is tried, whatever the budget
    assert result.notes[:2] == (
        "mira tried 1 settings before time was up.",
        "slow was not tried: the time was up.",
    )
    wanted = Experiment(blobs(), learners=["mira", SLOW], champion="slow", budget=1e-6)
    with pytest.raises(ParameterError, match="slow was not tried: the time was up"):
        wanted.run()


def test_the_dependable_learner_comes_first(clock):
    time.perf_counter = Ticking(1e-3)  # undone by the fixture
    result = Experiment(blobs(), budget=0.06).run()
    tried = [row.learner for row in result.leaderboard if not row.baseline]
    assert tried == ["logistic_regression"]
    assert result.test_score > 0.5


def test_rows_are_left_out_where_time_is_short(monkeypatch):
    data = blobs(6000)
    monkeypatch.setattr(time, "perf_counter", Ticking(1e-3))
    few = Experiment(data, learners=["mira"], budget=2e-2).run()
    assert few.sizes["train"] + few.sizes["held-out"] + few.sizes["test"] == PROBED
    assert any(note.startswith(f"Learned from {PROBED} of 6000 rows") for note in few.notes)
    monkeypatch.setattr(time, "perf_counter", Ticking(1e-3))
    all_rows = Experiment(data, learners=["mira"], budget=1e3).run()
    assert all_rows.sizes["train"] == 3600
    assert few.fingerprint == all_rows.fingerprint
