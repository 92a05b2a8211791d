"""The comparison keeps its promises: held-out decides, the test set comes last and once."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits, load_iris

from separatrix import registry
from separatrix.experiment import Rows, SealedTest, compare, run, split_rows, tuning
from separatrix.registry import Learner

#: A peer with partial_fit, so that the procedure is tested apart from our own learners.
PEER = Learner(
    "peer",
    "sklearn.linear_model:SGDClassifier",
    "stochastic peer",
    "passes",
    parameter="passes",
    grid=(1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0),
)
TWIN = Learner("twin", PEER.target, "its twin", "passes", parameter="passes", grid=PEER.grid)


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)


def test_baselines_run_first_and_always(iris):
    seen = []
    compare(*iris, learners=[PEER], progress=lambda p: seen.append(p.learner))
    assert list(dict.fromkeys(seen)) == ["majority_class", "prior_sampling", "peer"]


def test_leaderboard_is_sorted_and_its_first_row_is_the_champion(iris):
    result = compare(*iris, learners=[PEER])
    scores = [row.held_out for row in result.leaderboard]
    assert scores == sorted(scores, reverse=True)
    assert result.champion is result.leaderboard[0]
    assert result.champion.learner == "peer"
    assert result.n_train + result.n_held_out + result.n_test == len(iris[1])


def test_test_accuracy_is_that_of_the_refitted_champion(iris):
    X, y = iris
    result = compare(X, y, learners=[PEER], random_state=3)
    test = split_rows(X, y, random_state=3).test.open("checking")
    right = np.count_nonzero(result.model.predict(test.X) == test.y)
    assert result.test_correct == right
    assert result.test_accuracy == right / len(test.y)
    low, high = result.test_interval
    assert low < result.test_accuracy < high


def test_the_test_set_is_opened_once_and_after_the_choice(iris, monkeypatch):
    events = []
    genuine = SealedTest.open

    def spy(self, chosen):
        events.append(("open", chosen))
        return genuine(self, chosen)

    monkeypatch.setattr(SealedTest, "open", spy)
    monkeypatch.setattr(
        run, "refit", lambda *args: events.append(("refit",)) or tuning.refit(*args)
    )
    result = compare(*iris, learners=[PEER], progress=lambda p: events.append(("tune", p.learner)))
    kinds = [event[0] for event in events]
    assert kinds.count("open") == kinds.count("refit") == 1
    assert kinds[-2:] == ["refit", "open"]
    assert events[-1] == ("open", result.champion.learner)


def test_labels_and_features_of_test_rows_cannot_change_the_choice(iris):
    X, y = iris
    result = compare(X, y, learners=[PEER], random_state=1)
    numbers = np.arange(len(y))[:, None]
    rows = split_rows(numbers, y, random_state=1).test.open("tampering").X.ravel()
    tampered = X.copy()
    tampered[rows] *= 1000
    again = compare(tampered, y, learners=[PEER], random_state=1)
    assert [r.held_out for r in again.leaderboard] == [r.held_out for r in result.leaderboard]
    assert again.champion.setting == result.champion.setting


def test_refit_uses_train_and_held_out_rows_and_the_chosen_setting(iris, monkeypatch):
    calls = []

    def spy(learner, value, rows, random_state):
        calls.append((learner.name, value, len(rows.y)))
        return tuning.refit(learner, value, rows, random_state)

    monkeypatch.setattr(run, "refit", spy)
    result = compare(*iris, learners=[PEER])
    assert calls == [("peer", result.champion.value, result.n_train + result.n_held_out)]


def test_ties_go_to_the_learner_that_comes_first(iris):
    result = compare(*iris, learners=[PEER, TWIN])
    names = [row.learner for row in result.leaderboard]
    assert names.index("peer") < names.index("twin")
    assert result.champion.learner == "peer"


class Fixed:
    """Right on the first n rows after n passes, up to a ceiling; records what it was given."""

    def __init__(self, scores=(0.5, 0.7, 0.7, 0.6, 0.6, 0.6, 0.6, 0.9)):
        self.scores = scores
        self.n_passes = 0

    def get_params(self):
        return {"scores": self.scores}

    def partial_fit(self, X, y, classes):
        self.n_passes += 1
        return self

    def predict(self, X):
        right = round(self.scores[self.n_passes - 1] * X.shape[0])
        return np.arange(X.shape[0]) >= right


def test_early_stopping_keeps_the_first_best_pass(monkeypatch):
    monkeypatch.setattr(tuning, "load", lambda learner: Fixed)
    rows = Rows(np.zeros((10, 1)), np.zeros(10, dtype=bool))
    steps = []
    row = tuning.tune(PEER, rows, rows, report=lambda *step: steps.append(step))
    assert (row.value, row.setting, row.held_out) == (2.0, "2 passes", 0.7)
    # Pass 2 was best; after PATIENCE passes without a better one the search ends.
    assert row.passes == 2 + tuning.PATIENCE == len(steps)
    assert tuning.refit(PEER, row.value, rows).n_passes == 2


def test_a_better_pass_within_the_patience_is_found(monkeypatch):
    monkeypatch.setattr(
        tuning, "load", lambda learner: lambda: Fixed((0.5, 0.7, 0.7, 0.6, 0.6, 0.8, 0.1, 0.1))
    )
    rows = Rows(np.zeros((10, 1)), np.zeros(10, dtype=bool))
    assert tuning.tune(PEER, rows, rows).value == 6.0


def test_same_seed_same_result(iris):
    first, again = (compare(*iris, learners=[PEER], random_state=5) for _ in range(2))
    for one, other in zip(first.leaderboard, again.leaderboard, strict=True):
        assert (one.learner, one.value, one.held_out) == (
            other.learner,
            other.value,
            other.held_out,
        )
    assert first.test_correct == again.test_correct


def test_scaling_comes_from_the_train_rows_alone(iris):
    X, y = iris
    result = compare(X, y, learners=[PEER], random_state=2)
    train = split_rows(X, y, random_state=2).train
    np.testing.assert_allclose(result.model[0].max_abs_, np.abs(train.X).max(axis=0))
    assert "train rows" in result.steps[0]


def test_dense_sparse_and_frames_agree():
    X, y = load_digits(n_class=3, return_X_y=True)
    names = np.array(["zero", "one", "two"])[y]
    # A learner with one optimum: SGDClassifier, for one, treats sparse intercepts differently.
    dense, sparse, frame = (
        compare(data, names, learners=["logistic_regression"])
        for data in (X, sp.csr_matrix(X), pd.DataFrame(X))
    )
    for other in (sparse, frame):
        assert other.champion.setting == dense.champion.setting
        assert other.champion.held_out == pytest.approx(dense.champion.held_out, abs=0.01)
        assert other.test_accuracy == pytest.approx(dense.test_accuracy, abs=0.01)
    assert set(dense.model.predict(X)) <= set(names)


def test_progress_counts_every_setting(iris):
    events = []
    result = compare(*iris, learners=[PEER], progress=events.append)
    peer = [event for event in events if event.learner == "peer"]
    assert peer[0].step == 0
    assert [event.step for event in peer[1:-1]] == list(range(1, len(peer) - 1))
    assert peer[-1].row in result.leaderboard
    assert all(event.n_steps == len(PEER.grid) for event in peer)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"learners": "all"}, '"auto" or a list'),
        ({"learners": ["nonsense"]}, "no learner 'nonsense'"),
        ({"learners": ["squared_hinge_svm"]}, "two classes only"),
        ({"split": (0.5, 0.5, 0.5)}, "three positive shares"),
    ],
)
def test_bad_parameters(iris, changes, words):
    with pytest.raises(ValueError, match=words):
        compare(*iris, **changes)


def test_bad_data(iris):
    X, y = iris
    with pytest.raises(ValueError, match="NaN"):
        compare(np.where(X > 7, np.nan, X), y)
    with pytest.raises(ValueError, match="inconsistent"):
        compare(X, y[:-1])
    with pytest.raises(ValueError, match="one class"):
        compare(X, np.zeros(len(y)))
    with pytest.raises(ValueError, match="dtype"):
        compare(pd.DataFrame({"color": ["red", "blue"] * 75}), y)


def test_every_flat_learner_takes_part():
    X, y = load_digits(n_class=4, return_X_y=True)
    result = compare(X[:400], y[:400])
    expected = {e.name for e in registry.LEARNERS if "multiclass" in e.tasks}
    assert {row.learner for row in result.leaderboard} == expected
    learned = [row for row in result.leaderboard if not row.baseline]
    chance = max(row.held_out for row in result.leaderboard if row.baseline)
    assert all(row.held_out > chance + 0.4 for row in learned)
    assert result.test_accuracy > 0.9
    for row in learned:
        entry = registry.get(row.learner)
        if entry.kind == "path":
            assert row.value in entry.grid
        if entry.kind == "path" and "solver" not in dict(entry.params):
            assert row.converged == (row.gap <= 1.001 * tuning.make(entry, 0).tol)


def test_path_ties_go_to_the_strongest_regularization():
    # Far apart clusters: every C of the grid is right on all rows.
    rng = np.random.default_rng(0)
    y = np.arange(90) % 2
    X = rng.normal(size=(90, 2)) * 0.01 + np.where(y == 1, 1.0, -1.0)[:, None]
    result = compare(X, y, learners=["logistic_regression"])
    assert result.champion.setting == "C = 0.001"
    assert result.test_accuracy == 1.0


def test_each_pass_visits_the_rows_in_its_own_order():
    first, second = (tuning.make(PEER, seed).random_state for seed in (0, 0))
    assert first.randint(10**6) == second.randint(10**6)
    assert first.randint(10**6) != tuning.make(PEER, 0).random_state.randint(10**6)


def test_slow_learners_run_on_request(iris):
    result = compare(*iris, learners=["sparse_logistic"])
    assert "sparse_logistic" in {row.learner for row in result.leaderboard}
