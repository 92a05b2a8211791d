"""The experiment keeps its promises: held-out decides, the test set comes last and once."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from separatrix import registry
from separatrix.data import Dataset
from separatrix.errors import DataError, ParameterError
from separatrix.experiment import Experiment, SealedTest, Stratified, run, tuning
from separatrix.experiment.source import as_dataset
from separatrix.experiment.tuning import Rows
from separatrix.learners.baselines import MajorityClass, MeanValue
from separatrix.tasks import task_named
from tests.unit.experiment.problems import PEER, QUICK, TWIN, blobs, line, table, texts

DATA = blobs(200, spread=2.0)


def part_rows(data, seed=0, regression=False):
    """Row numbers of the parts that an experiment with this seed makes."""
    generator = np.random.default_rng(seed)
    found = as_dataset(data)
    task = "regression" if regression else "multiclass"
    return Stratified().rows(found, generator, task_named(task).strata(found.y))


def board(result):
    return [(row.learner, row.setting, row.held_out) for row in result.leaderboard]


def test_baselines_run_first_and_always():
    seen = []
    Experiment(DATA, learners=[PEER]).run(lambda p: seen.append(p.learner))
    order = [name for name in dict.fromkeys(seen) if name]
    assert order == ["majority_class", "prior_sampling", "peer"]


def test_the_leaderboard_is_sorted_and_its_first_row_is_the_champion():
    result = Experiment(DATA, learners=QUICK).run()
    scores = [row.held_out for row in result.leaderboard]
    assert scores == sorted(scores, reverse=True)
    assert result.champion is result.leaderboard[0]
    assert result.runner_up is result.leaderboard[1]
    assert {result.champion.learner, result.runner_up.learner} == set(QUICK)


def test_held_out_rows_decide_and_not_the_test():
    """The one that knows the held-out rows wins, though it fails on the test rows."""
    X, y = blobs(200, n_classes=2, spread=2.0)
    train, held_out, test = part_rows((X, y))
    tell = np.full(200, 0.0)
    truth = np.where(y == "a", -1.0, 1.0)
    tell[train], tell[held_out], tell[test] = truth[train], truth[held_out], -truth[test]
    data = (np.column_stack([10 * tell, X]), y)
    result = Experiment(data, learners=["logistic_regression"]).run()
    assert result.champion.held_out > 0.99
    assert result.test_score < 0.1
    assert result.champion.learner == "logistic_regression"


def test_ties_go_to_the_learner_that_comes_first():
    result = Experiment(DATA, learners=[PEER, TWIN]).run()
    names = [row.learner for row in result.leaderboard]
    assert result.leaderboard[names.index("peer")].held_out == result.champion.held_out
    assert names.index("peer") < names.index("twin")
    assert result.champion.learner == "peer"
    assert result.runner_up.learner == "twin"
    assert result.test.probability_better == pytest.approx(0.5)


def test_the_test_set_is_opened_once_after_the_last_fits_for_both(monkeypatch):
    events = []
    genuine = SealedTest.open

    def opening(self, chosen):
        events.append(("open", chosen))
        return genuine(self, chosen)

    def fitting(learner, *args, **options):
        events.append(("refit", learner.name))
        return tuning.refit(learner, *args, **options)

    monkeypatch.setattr(SealedTest, "open", opening)
    monkeypatch.setattr(run, "refit", fitting)
    result = Experiment(DATA, learners=QUICK).run(
        lambda p: events.append(("tune", p.learner)) if p.learner else None
    )
    kinds = [event[0] for event in events]
    assert kinds.count("open") == 1
    assert kinds[-1] == "open"
    assert kinds.index("refit") > max(at for at, kind in enumerate(kinds) if kind == "tune")
    champion, runner_up = result.champion.learner, result.runner_up.learner
    assert events[-1] == ("open", f"{champion!r} and {runner_up!r}")
    assert {name for kind, name in events if kind == "refit"} == {champion, runner_up}


@pytest.mark.parametrize("kind", ["matrix", "table", "text", "regression"])
def test_nothing_of_the_test_rows_reaches_the_models(kind):
    """Test rows full of poison give the same leaderboard and the same model."""
    made = {"matrix": DATA, "table": table(), "text": texts(), "regression": line()}[kind]
    data = as_dataset(made, "price" if kind == "regression" else "auto")
    test = part_rows(data, regression=kind == "regression")[2]
    learners = ["bayesian_regression"] if kind == "regression" else QUICK
    before = Experiment(data, learners=learners).run()
    if kind == "matrix":
        poisoned = data.X.copy()
        poisoned[test] = 1e6 * (1 + np.arange(len(test)))[:, None]
    elif kind == "text":
        poisoned = data.X.copy()
        poisoned[test] = [f"poison{row} venom" for row in test]
    else:
        poisoned = {name: values.copy() for name, values in data.X.items()}
        for values in poisoned.values():
            values[test] = "poison" if values.dtype == object else 1e6
    other = Dataset(
        data.kind, poisoned, data.y, data.feature_names, data.target_name, data.text_names
    )
    after = Experiment(other, learners=learners).run()
    assert board(after) == board(before)
    train = before.inputs.take(data.take(part_rows(data, regression=kind == "regression")[0]))
    for method in ("predict", "predict_proba"):
        if hasattr(before.model, method):
            np.testing.assert_array_equal(
                getattr(before.model, method)(train), getattr(after.model, method)(train)
            )


def test_test_labels_cannot_change_anything_but_the_test_scores():
    X, y = DATA
    test = part_rows(DATA)[2]
    exchanged = y.copy()
    exchanged[test] = np.random.default_rng(0).permutation(y[test])
    before = Experiment((X, y), learners=QUICK, split=Fixed(*part_rows(DATA))).run()
    after = Experiment((X, exchanged), learners=QUICK, split=Fixed(*part_rows(DATA))).run()
    assert board(after) == board(before)
    np.testing.assert_array_equal(before.model.predict_proba(X), after.model.predict_proba(X))
    assert after.test_score != before.test_score


class Fixed:
    """A split of somebody else's making."""

    column = None

    def __init__(self, *parts):
        self.parts = parts

    def rows(self, data, generator, strata):
        return self.parts

    def describe(self, units, evenly):
        return "as given"


def test_a_split_of_somebody_elses_making():
    split = Fixed(*np.split(np.arange(200), [100, 150]))
    result = Experiment(DATA, learners=[], split=split).run()
    assert result.split == "as given"
    assert [result.sizes[part] for part in ("train", "held-out", "test")] == [100, 50, 50]


def test_the_test_score_is_that_of_the_refitted_champion():
    X, y = DATA
    result = Experiment(DATA, learners=[PEER], random_state=3).run()
    test = part_rows(DATA, 3)[2]
    right = np.count_nonzero(result.model.predict(X[test]) == y[test])
    assert result.test_score == right / len(test)
    assert result.test.n_rows == len(test)
    score = result.test.scores[0]
    assert score.low < result.test_score < score.high


def test_refits_use_train_and_held_out_rows_and_the_chosen_setting(monkeypatch):
    calls = []

    def spy(learner, value, rows, **options):
        calls.append((learner.name, value, len(rows.y)))
        return tuning.refit(learner, value, rows, **options)

    monkeypatch.setattr(run, "refit", spy)
    result = Experiment(DATA, learners=[PEER, TWIN]).run()
    n = result.sizes["train"] + result.sizes["held-out"]
    for row in (result.champion, result.runner_up):
        assert (row.learner, row.value, n) in calls
    # Passes are counted as they were, and the order of the rows is that of the seed.
    numbers = np.concatenate(part_rows(DATA)[:2])
    X, y = DATA[0][numbers], DATA[1][numbers]
    scaled = X / np.abs(X).max(axis=0)
    again = tuning.refit(PEER, result.champion.value, Rows(scaled, y))
    final = result.model[-1]
    np.testing.assert_array_equal(getattr(final, "estimator_", final).coef_, again.coef_)


def test_scaling_comes_from_the_rows_that_are_learned_from():
    X, _ = DATA
    result = Experiment(DATA, learners=[PEER], random_state=2).run()
    rows = np.concatenate(part_rows(DATA, 2)[:2])
    np.testing.assert_array_equal(result.model[0].max_abs_, np.abs(X[rows]).max(axis=0))


def test_the_same_seed_gives_the_same_result():
    first, again = (Experiment(DATA, learners=[PEER, *QUICK], random_state=5).run() for _ in "ab")
    other = Experiment(DATA, learners=[PEER, *QUICK], random_state=6).run()
    assert board(first) == board(again)
    assert first.test == again.test
    np.testing.assert_array_equal(
        first.model.predict_proba(DATA[0]), again.model.predict_proba(DATA[0])
    )
    assert board(first) != board(other)


def test_dense_sparse_and_frames_agree():
    X, y = blobs(200)
    # A learner with one optimum.
    dense, sparse = (
        Experiment((data, y), learners=["logistic_regression"]).run()
        for data in (X, sp.csr_matrix(X))
    )
    assert board(dense) == board(sparse)
    assert sparse.test_score == dense.test_score
    frame = Experiment((pd.DataFrame(X), y), learners=["logistic_regression"]).run()
    assert frame.inputs.kind == "table"
    assert frame.test_score == pytest.approx(dense.test_score, abs=0.1)


def test_progress_counts_every_setting():
    events = []
    result = Experiment(DATA, learners=[PEER], folds=1).run(events.append)
    peer = [event for event in events if event.learner == "peer"]
    assert peer[0].step == 0
    assert [event.step for event in peer[1:-1]] == list(range(1, len(peer) - 1))
    assert peer[-1].row in result.leaderboard
    assert all(event.n_steps == len(PEER.grid) for event in peer)
    assert [event.stage for event in events if event.stage] == [
        "looking at the data",
        "preparing the features",
        "learning from fewer rows",
        "fitting the best again",
        "testing",
    ]


def test_an_interruption_leaves_the_seal_closed(monkeypatch):
    opened, rows = [], []
    monkeypatch.setattr(SealedTest, "open", lambda self, chosen: opened.append(chosen))

    def stop(progress):
        if progress.row is not None:
            rows.append(progress.row.learner)
        if progress.learner == "prior_sampling" and progress.step == 0:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Experiment(DATA, learners=[PEER]).run(stop)
    assert rows == ["majority_class"]
    assert opened == []


@pytest.mark.parametrize("task", ["binary", "multiclass"])
def test_every_learner_takes_part(task):
    data = blobs(240, n_classes=2 if task == "binary" else 4)
    result = Experiment(data, reference=False).run()
    assert result.task.name == task
    usual = {name for name in registry.names(task) if not registry.get(name).many}
    assert {row.learner for row in result.leaderboard} == usual
    chance = max(row.held_out for row in result.leaderboard if row.baseline)
    assert all(row.held_out > chance + 0.2 for row in result.leaderboard if not row.baseline)
    for row in result.leaderboard:
        entry = registry.get(row.learner)
        if entry.kind == "path" and "solver" not in dict(entry.params):
            assert row.converged == (row.gap <= 1.001 * tuning.ROUGH)


def test_a_learner_that_fails_is_noted_and_the_others_go_on(monkeypatch):
    def failing(learner, *args, **options):
        if learner.name != "naive_bayes" and not learner.baseline:
            raise DataError("no")
        return tuning.tune(learner, *args, **options)

    monkeypatch.setattr(run, "tune", failing)
    result = Experiment(DATA).run()
    assert result.champion.learner == "naive_bayes"
    assert "mira cannot learn from these rows: no" in result.notes
    with pytest.raises(DataError, match="no"):
        Experiment(DATA, learners=["mira"]).run()


def test_where_every_learner_fails_no_baseline_is_crowned(monkeypatch):
    def failing(learner, *args, **options):
        if not learner.baseline:
            raise DataError("these rows are bad")
        return tuning.tune(learner, *args, **options)

    monkeypatch.setattr(run, "tune", failing)
    with pytest.raises(DataError, match="these rows are bad"):
        Experiment(DATA).run()


def test_a_learner_that_is_wanted_as_champion():
    result = Experiment(DATA, learners=["naive_bayes", "mira"], champion="majority_class").run()
    assert result.champion.learner == "majority_class"
    assert result.leaderboard[0] is not result.champion
    assert any("does better on the held-out rows" in note for note in result.notes)
    np.testing.assert_array_equal(result.model.predict(DATA[0]), result.model.predict(DATA[0])[0])
    with pytest.raises(ValueError, match="'svm' is not among the learners"):
        Experiment(DATA, learners=[], champion="svm").run()


def test_a_previous_model_is_a_strong_baseline():
    X, y = DATA
    strong = Experiment(DATA, learners=QUICK).run().model
    result = Experiment(DATA, learners=["mira"], previous=strong, folds=1).run()
    row = next(row for row in result.leaderboard if row.learner == "previous_model")
    assert row.baseline
    assert "may have seen" in row.note
    held_out = part_rows(DATA)[1]
    assert row.held_out == np.mean(strong.predict(X[held_out]) == y[held_out])
    weak = MajorityClass().fit(X, y)
    assert Experiment(DATA, learners=["mira"], previous=weak).run().champion.learner == "mira"
    for other, words in (
        (MajorityClass().fit(X, np.full(len(y), "a")), "does not know class 'b'"),
        (MeanValue().fit(X, X[:, 0]), "predicts a quantity, which is another task"),
    ):
        with pytest.raises(ParameterError, match=words):
            Experiment(DATA, learners=[], previous=other, metric="log_loss").run()
    kept = Experiment(DATA, learners=[], previous=strong).run()
    assert kept.champion.learner == "previous_model"
    assert kept.model is strong


def test_generative_learners_are_compared():
    names = ("naive_bayes", "gaussian_discriminant", "quadratic_discriminant")
    result = Experiment(DATA, learners=names, folds=1).run()
    rows = {row.learner: row for row in result.leaderboard}
    # Its columns are numbers, which have variances and nothing to count.
    assert rows["naive_bayes"].setting.startswith("var_smoothing = ")
    assert (rows["naive_bayes"].passes, rows["naive_bayes"].solver) == (1, "counting")
    assert all(rows[name].converged for name in names)


def test_smoothing_is_chosen_on_held_out_rows_and_kept():
    random = np.random.default_rng(0)
    y = random.integers(2, size=400)
    rates = random.gamma(0.3, size=(2, 300))
    X = sp.csr_array(random.poisson(rates[y] * 0.2).astype(float))
    result = Experiment((X, y), learners=["naive_bayes"], calibration="none").run()
    chosen = result.champion.value
    assert chosen.smoothing in registry.K_GRID
    assert chosen.var_smoothing is None
    assert (result.model[-1].features, result.model[-1].smoothing) == chosen[:2]
    assert result.test_score > 0.8


@pytest.mark.parametrize("metric", ["balanced_accuracy", "macro_f1", "log_loss"])
def test_other_metrics_decide(metric):
    result = Experiment(DATA, learners=QUICK, metric=metric).run()
    scores = [result.metric.gain(row.held_out) for row in result.leaderboard]
    assert scores == sorted(scores, reverse=True)
    score = result.test.scores[0]
    if metric == "log_loss":
        assert score.low < score.score < score.high
        assert 0 <= result.test.probability_better <= 1
    assert dict(score.others)["accuracy"] > 0.4


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ((DATA[0], np.zeros(200)), "same label"),
        ((DATA[0], DATA[1][:-1]), "X has 200 rows, y has 199"),
        ((np.where(DATA[0] > 3, np.nan, DATA[0]), DATA[1]), "NaN"),
        ({"x": DATA[0][:, 0], "color": DATA[1]}, "which column is to be predicted"),
    ],
)
def test_bad_data(data, words):
    with pytest.raises(DataError, match=words):
        Experiment(data).run()
