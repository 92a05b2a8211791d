"""The harness with stand-in contenders: ladder, ratios, caps, verdicts, merging of results."""

import json
from functools import partial

import pytest
from benchmarks import analysis, child, harness, ladder, ours, peers, report
from benchmarks.cases import CASES, select
from benchmarks.objectives import Objective, softmax
from benchmarks.spec import Bound, Case, Contender, Run, Setting

MACHINE = {
    "cpu": "Stand-in 3000",
    "cores": 2,
    "load": 0.0,
    "system": "Linux",
    "python": "3.11",
    "versions": {"numpy": "2"},
    "commit": None,
    "date": "2026-01-01",
}


def contender(name, rungs, default=None, mine=False, rival=True):
    """A contender whose rungs are (seconds, objective) or a ready Run."""
    settings = tuple(
        Setting(f"rung{i}", {"result": rung}, default=i == default) for i, rung in enumerate(rungs)
    )
    return Contender(name, None, None, None, settings, ours=mine, rival=rival)


class Runner:
    """Plays the runs written into the settings and keeps a log."""

    def __init__(self):
        self.log = []

    def __call__(self, case, contender, setting):
        self.log.append((contender.name, setting.label))
        result = setting.params["result"]
        return result if isinstance(result, Run) else Run(result[0], (result[1],), 0.9, 10.0, 3.0)


def case_of(*contenders, **options):
    return Case("x1", "stand-in", "iris", contenders, (Objective(softmax),), **options)


def run(case, repetitions=3, known=(100.0,)):
    runner = Runner()
    race = harness.race(case, repetitions, runner=runner, known=() if case.throughput else known)
    return analysis.summarize(race, MACHINE), runner.log


def column(record, label):
    return next(c for c in record["columns"] if c["label"] == label)


OURS = [(0.1, 101.0), (0.2, 100.009), (0.4, 100.0)]
PEER = [(1.0, 100.05), (2.0, 100.005), (4.0, 100.0)]


def test_loosest_rung_that_reaches_the_target_counts():
    record, _ = run(case_of(contender("us", OURS, mine=True), contender("peer", PEER, default=1)))
    ours_seconds = {c["label"]: c["cells"]["us"]["seconds"] for c in record["columns"][:-1]}
    assert ours_seconds == {"0.001": 0.2, "0.0001": 0.2, "1e-06": 0.4}
    assert column(record, "0.001")["ratio"] == pytest.approx(1.0 / 0.2)
    assert column(record, "1e-06")["ratio"] == pytest.approx(4.0 / 0.4)
    assert not column(record, "1e-06")["at_least"]
    assert record["optima"] == [100.0]


def test_column_at_the_default_of_the_peer():
    record, _ = run(case_of(contender("us", OURS, mine=True), contender("peer", PEER, default=1)))
    default = column(record, "default")
    assert default["cells"]["peer"]["gap"] == pytest.approx(5e-5)
    assert default["ratio"] == pytest.approx(2.0 / 0.4)  # 100.009 is not as good as 100.005


def test_default_column_takes_the_peer_closest_to_us():
    slow = contender("slow but good", [(10.0, 100.0)], default=0)
    fast = contender("fast but bad", [(0.3, 101.5)], default=0)
    record, _ = run(case_of(contender("us", OURS, mine=True), slow, fast))
    default = column(record, "default")
    assert default["best_peer"] == "fast but bad"
    assert default["ratio"] == pytest.approx(0.3 / 0.1)


def test_ladder_stops_once_the_tightest_target_is_reached():
    rungs = [*PEER, (100.0, 100.0)]
    _, log = run(case_of(contender("us", OURS, mine=True), contender("peer", rungs)))
    assert ("peer", "rung3") not in log


def test_ladder_goes_on_when_the_optimum_falls_later():
    early = contender("early", [(1.0, 100.0), (2.0, 99.0)])
    late = contender("late", [(1.0, 120.0), (1.0, 110.0), (1.0, 99.0)])
    record, _ = run(case_of(early, late), known=(100.0,))
    assert not record["trusted"]
    assert column(record, "1e-06")["cells"]["early"]["seconds"] == 2.0


def test_every_ladder_is_climbed_where_the_optimum_is_unknown():
    _, log = run(case_of(contender("us", OURS, mine=True)), known=())
    assert {label for _, label in log} == {"rung0", "rung1", "rung2"}
    failed = Setting("tight", {"result": Run(0.0, error="no")})
    case = case_of(contender("us", OURS, mine=True), reference=("us", failed))
    record, log = run(case, known=())
    assert not record["trusted"]
    assert ("us", "rung2") in log


def test_contenders_are_interleaved_and_counting_rungs_repeated():
    _, log = run(case_of(contender("us", OURS, mine=True), contender("peer", PEER)))
    assert [name for name, _ in log[:4]] == ["us", "peer", "us", "peer"]
    assert log.count(("us", "rung2")) == 3
    assert log.count(("us", "rung0")) == 1  # decides nothing
    assert log.count(("peer", "rung0")) == 3


def test_quick_runs_nothing_twice():
    _, log = run(case_of(contender("us", OURS, mine=True), contender("peer", PEER)), repetitions=1)
    assert len(log) == len(set(log))


def test_medians_of_seconds_and_objectives():
    track = ladder.Track(contender("us", OURS))
    for seconds, value in ((3.0, 100.0), (1.0, 104.0), (2.0, 101.0)):
        track.add(0, Run(seconds, (value,)))
    assert track.seconds(0) == 2.0
    assert track.gap(0, [100.0]) == pytest.approx(0.01)


def test_not_reached_gives_a_lower_bound():
    stopped = Run(60.0, stopped=True)
    peer = contender("peer", [(10.0, 101.7), stopped, (999.0, 100.0)], default=0)
    record, log = run(case_of(contender("us", OURS, mine=True), peer))
    assert log.count(("peer", "rung1")) == 1  # a capped run is not repeated
    assert ("peer", "rung2") not in log
    tight = column(record, "1e-06")
    assert tight["at_least"]
    assert tight["ratio"] == pytest.approx(60.0 / 0.4)
    assert "not reached (best gap 1.7e-02, 60.0 s)" in report.section(record)
    assert ">= 150.00x" in report.section(record)


def test_a_peer_that_reaches_it_beats_one_that_does_not():
    weak = contender("weak", [(1.0, 150.0)])
    strong = contender("strong", [(8.0, 100.0)])
    record, _ = run(case_of(contender("us", OURS, mine=True), weak, strong))
    assert column(record, "1e-06")["best_peer"] == "strong"
    assert column(record, "1e-06")["ratio"] == pytest.approx(8.0 / 0.4)


def test_no_ratio_where_ours_does_not_reach():
    us = contender("us", [(0.1, 101.0)], mine=True)
    case = case_of(us, contender("peer", PEER, default=2), bounds=(Bound(1e-6, 2, 4),))
    record, _ = run(case)
    assert column(record, "1e-06")["ratio"] is None
    assert column(record, "default")["ratio"] is None
    assert record["bounds"][0]["must_met"] is False


def test_errors_are_shown_and_do_not_stop_the_case():
    us = contender("us", [Run(0.0, error="ModuleNotFoundError: separatrix")], mine=True)
    record, _ = run(case_of(us, contender("peer", PEER, default=0), bounds=(Bound(1e-6, 2, 4),)))
    assert "not run: rung0: ModuleNotFoundError" in report.section(record)
    assert column(record, "1e-06")["cells"]["peer"]["seconds"] == 4.0
    assert record["bounds"][0]["must_met"] is None
    report.terminal_table(record)


def test_what_was_reached_before_an_error_stands():
    peer = contender("peer", [(1.0, 100.05), Run(0.0, error="ValueError: no"), (2.0, 100.0)])
    record, log = run(case_of(contender("us", OURS, mine=True), peer))
    assert ("peer", "rung2") not in log
    assert column(record, "0.001")["ratio"] == pytest.approx(1.0 / 0.2)
    assert column(record, "1e-06")["at_least"]
    assert "peer failed at rung1: ValueError: no" in report.section(record)


def test_reference_run_goes_first_unless_the_optimum_is_known():
    tight = Setting("tight", {"result": (50.0, 99.9999999)})
    case = case_of(contender("us", OURS, mine=True), contender("peer", PEER))
    case = Case(**{**vars(case), "reference": ("peer", tight)})
    record, log = run(case, repetitions=1, known=())
    assert record["trusted"]
    assert log[0] == ("peer", "tight")
    assert record["optima"] == [99.9999999]
    runner = Runner()
    harness.race(case, 1, runner=runner, known=(99.0,))
    assert ("peer", "tight") not in runner.log


def test_several_objectives_are_judged_by_the_worst():
    assert ladder.relative_gap([101.0, 20.0], [100.0, 10.0]) == pytest.approx(1.0)
    assert ladder.relative_gap([99.0], [100.0]) == 0.0
    assert ladder.lower((1.0, 5.0), (2.0, 3.0)) == (1.0, 3.0)
    assert ladder.lower((), (2.0,)) == (2.0,)
    assert ladder.lower((2.0,), ()) == (2.0,)


def test_throughput_compares_time_of_rivals_only():
    us = contender("us", [(0.5, 0.0)], mine=True)
    peer = contender("peer", [(2.0, 0.0)])
    other = contender("other problem", [(0.1, 0.0)], rival=False)
    case = Case("x2", "t", "iris", (us, peer, other), bounds=(Bound("time", 2, 5),))
    record, log = run(case)
    assert len(log) == 9
    assert record["bounds"][0]["ratio"] == pytest.approx(4.0)
    assert record["bounds"][0]["must_met"]
    assert not record["bounds"][0]["goal_met"]
    assert "other problem (not in the ratio)" in report.section(record)


def test_memory_is_compared_where_a_bound_asks_for_it():
    us = contender("us", [Run(0.5, (), 0.9, 25.0)], mine=True)
    peer = contender("peer", [Run(0.4, (), 0.9, 100.0)])
    case = Case("x3", "t", "iris", (us, peer), bounds=(Bound("memory", 2, 5),))
    record, _ = run(case)
    assert [c["label"] for c in record["columns"]] == ["time", "memory"]
    assert record["bounds"][0]["ratio"] == pytest.approx(4.0)
    assert "| 25 MB |" in report.section(record)


def test_accuracy_is_that_of_the_best_peer_in_the_ratio_of_time_or_not():
    us = contender("us", [Run(0.5, (), 0.6, 25.0)], mine=True)
    peer = contender("peer", [Run(0.4, (), 0.5, 100.0)])
    better = contender("better", [Run(0.4, (), 0.8, 100.0)], rival=False)
    case = Case("x4", "t", "iris", (us, peer, better), bounds=(Bound("accuracy", 1, 1),))
    record, _ = run(case)
    assert [c["label"] for c in record["columns"]] == ["time", "accuracy"]
    assert record["bounds"][0]["best_peer"] == "better"
    assert record["bounds"][0]["ratio"] == pytest.approx(0.75)
    assert record["bounds"][0]["must_met"] is False
    assert "- accuracy: ratio 0.75x; must 1x **not met**" in report.section(record)
    assert "| 0.6000 |" in report.section(record)


def test_results_are_merged(tmp_path):
    results, page = tmp_path / "results.json", tmp_path / "RESULTS.md"
    bounds = (Bound(1e-6, must=3, goal=20),)
    case = case_of(contender("us", OURS, mine=True), contender("peer", PEER), bounds=bounds)
    first, _ = run(case)
    report.merge(first, results, page)
    report.merge({**first, "name": "x0", "title": "another"}, results, page)
    slower = {**first, "title": "run again"}
    report.merge(slower, results, page)

    text = page.read_text(encoding="utf-8")
    assert set(json.loads(results.read_text(encoding="utf-8"))) == {"x0", "x1"}
    assert "## x0: another" in text
    assert "## x1: run again" in text
    assert "stand-in" not in text
    begin, end = (text.index(marker) for marker in report.SUMMARY)
    rows = [line for line in text[begin:end].splitlines() if line.startswith("| x")]
    assert len(rows) == 2
    assert "| peer | 0.400 s | 10.00x | 3x met | 20x **not met** |" in rows[1]
    assert "Stand-in 3000, 2 cores" in text
    assert sorted(path.name for path in tmp_path.iterdir()) == ["RESULTS.md", "results.json"]


def test_optima_are_remembered_per_problem(tmp_path):
    path = tmp_path / "optima.json"
    case = case_of()
    assert harness.known_optima(case, path) == ()
    harness.remember_optima(case, (100.0,), path)
    harness.remember_optima(case, (101.0,), path)
    assert harness.known_optima(case, path) == (100.0,)
    other = Case("x1", "stand-in", "iris", (), (Objective(softmax, C=2.0),))
    assert harness.known_optima(other, path) == ()


def sklearn_on_iris(**params):
    run = partial(peers.fit_estimator, cls="sklearn.linear_model:LogisticRegression", **params)
    return Contender("sklearn", peers.prepare_float32, run, peers.read_estimator)


def test_a_child_measures_a_real_fit():
    peer = sklearn_on_iris(max_iter=1000)
    result = child.measure(case_of(peer), peer, Setting("tol", {"tol": 1e-6}))
    assert result.error is None
    assert 0 < result.seconds < 60
    assert result.accuracy > 0.8
    assert result.peak_mb >= 0
    assert result.passes > 1
    assert 0 < result.objectives[0] < 112


def test_a_child_reports_errors_and_is_stopped_at_the_cap():
    peer = sklearn_on_iris(no_such_parameter=1)
    result = child.measure(case_of(peer), peer, Setting("one"))
    assert "no_such_parameter" in result.error
    slow = Contender("slow", peers.prepare_float32, peers.stall, peers.read_estimator)
    result = child.measure(case_of(slow, cap=0.3), slow, Setting("one"))
    assert result.stopped
    assert 0.3 <= result.seconds < 5


def test_names_on_the_command_line():
    assert [case.name for case in select(["f1"])] == ["f1"]
    assert {case.name[:3] for case in select(["f7"])} == {"f7a", "f7b", "f7c", "f7d", "f7e"}
    assert len(select([])) == len(CASES)
    with pytest.raises(SystemExit, match="no case 'zz'"):
        select(["zz"])


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_case_is_well_formed(case):
    names = [c.name for c in case.contenders]
    assert len(set(names)) == len(names)
    assert sum(c.ours for c in case.contenders) == 1
    assert list(case.targets) == sorted(case.targets, reverse=True)
    for bound in case.bounds:
        assert bound.must <= bound.goal
        allowed = ("time", "memory", "accuracy") if case.throughput else ("default", *case.targets)
        assert bound.at in allowed
    if case.reference:
        assert case.reference[0] in names
    if not case.throughput:
        assert all(any(s.default for s in c.ladder) for c in case.contenders)


def test_a_debug_build_is_refused(monkeypatch):
    import sys
    import types

    core = types.ModuleType("separatrix._core")
    core.build_profile = "debug"
    monkeypatch.setitem(sys.modules, "separatrix", types.ModuleType("separatrix"))
    monkeypatch.setitem(sys.modules, "separatrix._core", core)
    with pytest.raises(SystemExit, match="debug build"):
        ours.check_build()
    core.build_profile = "release"
    assert ours.check_build() is None
