"""The parts are disjoint and keep to their rule, and the seal opens once."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from separatrix.data import Dataset
from separatrix.errors import DataError, ParameterError
from separatrix.experiment import (
    ByTime,
    Experiment,
    Given,
    Grouped,
    SealedTest,
    SealError,
    Stratified,
)
from separatrix.experiment.source import as_dataset
from separatrix.experiment.splitting import make_parts
from separatrix.tasks import find_task, task_named
from separatrix.tasks.rows import Rows
from tests.unit.experiment.problems import blobs, table

SHARES = [(0.6, 0.2, 0.2), (0.5, 0.25, 0.25), (0.8, 0.1, 0.1), (0.2, 0.4, 0.4)]


def matrix(y):
    return Dataset("matrix", np.arange(len(y), dtype=float)[:, None], np.asarray(y))


def columns(y, **others):
    return Dataset("table", {"row": np.arange(len(y)), **others}, np.asarray(y), target_name="y")


def parts_of(split, data, seed=0, **options):
    return split.rows(data, np.random.default_rng(seed), **options)


@given(
    st.lists(st.integers(0, 4), min_size=15, max_size=200),
    st.sampled_from(SHARES),
    st.integers(0, 3),
)
@settings(max_examples=100)
def test_parts_are_a_partition_in_the_right_shares(labels, shares, seed):
    y = np.array(labels)
    parts = parts_of(Stratified(shares), matrix(y), seed)
    assert sorted(np.concatenate(parts)) == list(range(len(y)))
    for part, share in zip(parts, shares, strict=True):
        for label in np.unique(y):
            expected = share * np.count_nonzero(y == label)
            assert abs(np.count_nonzero(y[part] == label) - expected) <= 1.5
    assert set(y[parts[0]]) == set(y)


@pytest.mark.parametrize("n_values", [1000, 450, 60, 25])
@pytest.mark.parametrize("n", [1000, 30])
def test_a_quantity_is_split_by_its_tenths(n_values, n):
    """Whatever the number of different values, all parts have the shares and the whole range."""
    y = np.random.default_rng(0).permutation(np.arange(n) * n_values // n).astype(float)
    parts = parts_of(Stratified(), matrix(y), strata=task_named("regression").strata(y))
    assert [len(part) for part in parts] == [n * 6 // 10, n // 5, n // 5]
    for part in parts:
        assert np.mean(y[part]) == pytest.approx(np.mean(y), rel=0.15)
    if n == 1000:
        assert max(y[parts[2]]) > 0.9 * max(y)
        assert min(y[parts[2]]) < 0.1 * max(y)


def test_the_seed_decides_the_split():
    data = matrix(np.arange(60) % 3)
    first, again, other = (parts_of(Stratified(), data, seed)[0] for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


@given(st.lists(st.integers(0, 9), min_size=10, max_size=100), st.integers(0, 3))
@settings(max_examples=50)
def test_no_group_is_in_two_parts(groups, seed):
    data = columns(np.arange(len(groups)) % 2, group=np.array(groups))
    if len(set(groups)) < 3:
        with pytest.raises(DataError, match="groups; a split needs three"):
            parts_of(Grouped("group"), data, seed)
        return
    parts = parts_of(Grouped("group"), data, seed)
    assert sorted(np.concatenate(parts)) == list(range(len(groups)))
    held = [set(data.X["group"][part]) for part in parts]
    assert all(held)
    assert sum(map(len, held)) == len(set(groups))


def test_many_groups_meet_the_shares():
    data = columns(np.zeros(1000), group=np.arange(1000) // 10)
    assert [len(part) for part in parts_of(Grouped("group"), data)] == [600, 200, 200]


@pytest.mark.parametrize("kind", ["numbers", "dates", "words"])
def test_time_runs_from_train_to_test(kind):
    hours = np.random.default_rng(0).permutation(100)
    times = {
        "numbers": hours * 1.0,
        "dates": np.datetime64("2024-01-01T00") + hours,
        "words": np.array([f"day {hour:03}" for hour in hours], dtype=object),
    }[kind]
    train, held_out, test = parts_of(ByTime("when"), columns(hours % 2, when=times))
    assert sorted(hours[train]) == list(range(60))
    assert sorted(hours[held_out]) == list(range(60, 80))
    assert sorted(hours[test]) == list(range(80, 100))
    # Online learners should not see the rows by time.
    assert list(hours[train]) != sorted(hours[train])


def test_a_row_without_time_is_named():
    data = columns(np.arange(9) % 2, when=np.where(np.arange(9) == 4, np.nan, 1.0))
    with pytest.raises(DataError, match=r"'when' has no time in row 5"):
        parts_of(ByTime("when"), data)


@pytest.mark.parametrize("split", [Grouped("when"), ByTime("when")])
def test_the_column_that_splits_is_no_feature(split):
    rows = table()
    rows["when"] = np.arange(200) // 4
    result = Experiment(rows, split=split, learners=[]).run()
    assert result.inputs.columns == ("age", "city", "noise")
    with pytest.raises(ParameterError, match=r"no column 'wen'; did you mean 'when'"):
        Experiment(rows, split=type(split)("wen"), learners=[]).run()
    with pytest.raises(ParameterError, match="needs a table"):
        Experiment(blobs(), split=split, learners=[]).run()


@pytest.mark.parametrize("metric", ["accuracy", "log_loss"])
@pytest.mark.parametrize(("first", "part"), [(0, "train"), (130, "held-out"), (165, "test")])
def test_a_class_without_train_rows_is_refused_before_the_search(metric, first, part):
    rows = table()
    rows["when"] = np.arange(200)
    rows["class"][first : first + 20] = "late"
    experiment = Experiment(rows, split=ByTime("when"), metric=metric, learners=[])
    if part == "train":
        rows["class"][190:] = "late"
        assert experiment.run().sizes["classes"] == 3
    else:
        with pytest.raises(DataError, match=f"'late' is among the {part} rows, but not"):
            experiment.run()


def test_files_of_test_and_held_out_rows(tmp_path):
    (tmp_path / "more.csv").write_text("code,age,class\n007,1.5,a\n12,9.5,b\n", encoding="utf-8")
    lines = [f"x{row % 5},{row}.5,{'a' if row < 30 else 'b'}" for row in range(60)]
    (tmp_path / "train.csv").write_text("\n".join(["code,age,class", *lines]), encoding="utf-8")
    path = str(tmp_path / "more.csv")
    result = Experiment(str(tmp_path / "train.csv"), split=Given(path), learners=[]).run()
    assert result.sizes["train"] + result.sizes["held-out"] == 60
    assert result.sizes["held-out"] == pytest.approx(15, abs=2)
    assert result.sizes["test"] == 2
    both = Experiment(str(tmp_path / "train.csv"), split=Given(path, path), learners=[]).run()
    assert [both.sizes[part] for part in ("train", "held-out", "test")] == [60, 2, 2]
    # Words of the training file stay words, even where they look like numbers.
    assert both.inputs.schema["code"].kind == "category"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("age,class\n1.5,a\n", "no column 'code'"),
        ("code,age\nx1,1.5\n", "no column 'class'"),
        ("code,age,class\nx1,1.5,z\n", "class 'z' is among the test rows, but not"),
        ("code,age,class\n", "there is a header and no row"),
    ],
)
def test_files_that_do_not_fit_are_refused_before_the_search(tmp_path, content, words):
    (tmp_path / "test.csv").write_text(content, encoding="utf-8")
    rows = {
        "code": np.array(["x1", "x2"] * 20, dtype=object),
        "age": np.arange(40.0),
        "class": np.array(["a", "b"] * 20, dtype=object),
    }
    seen = []
    with pytest.raises(ValueError, match=words):
        Experiment(rows, split=Given(str(tmp_path / "test.csv"))).run(seen.append)
    assert not any(progress.learner for progress in seen)


def test_given_data_sets():
    X, y = blobs()
    result = Experiment((X, y), split=Given((X[:40], y[:40])), learners=[]).run()
    assert result.sizes["test"] == 40
    with pytest.raises(DataError, match="rows have 3 features, the model was trained on 4"):
        Experiment((X, y), split=Given((X[:, :3], y)), learners=[]).run()
    with pytest.raises(DataError, match="class 0 is among the test rows"):
        Experiment((X, y), split=Given((X, np.zeros(len(y), int))), learners=[]).run()


def test_columns_are_chosen_by_the_train_rows_alone():
    """A column that differs only among the test rows is not used, whatever it holds there."""
    rows = table()
    rows["when"] = np.arange(200)
    rows["flat"] = np.where(np.arange(200) < 170, 1.0, 2.0)
    data = Dataset("table", {k: v for k, v in rows.items() if k != "class"}, rows["class"])
    _, inputs, _ = make_parts(data, ByTime("when"), find_task(data), (), 0)
    assert dict(inputs.left_out) == {"flat": "has one value only"}


def test_the_seal_opens_once():
    sealed = SealedTest(matrix([0, 1, 0]))
    assert (sealed.n_rows, sealed.opened_for) == (3, None)
    assert len(sealed.open("svm").y) == 3
    assert sealed.opened_for == "svm"
    for name in ("other", "svm"):
        with pytest.raises(SealError, match="opened before, for 'svm'"):
            sealed.open(name)


def test_the_seal_cannot_be_copied_around():
    sealed = SealedTest(matrix([0, 1, 0]))
    for attempt in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(SealError, match="copied"):
            attempt(sealed)
    assert not hasattr(sealed, "__dict__")


@pytest.mark.parametrize(
    "shares", [(0.5, 0.5), (0.6, 0.2, 0.3), (1.0, 0.0, 0.0), (1.2, -0.1, -0.1), 0.5]
)
def test_bad_shares(shares):
    with pytest.raises(ParameterError, match="three positive shares"):
        Experiment(blobs(), split=shares)


def test_too_few_rows():
    with pytest.raises(DataError, match="no held-out rows are left"):
        Experiment((np.zeros((4, 1)), [0, 0, 1, 1])).run()


def test_parts_of_a_table_are_views_and_join_without_a_copy():
    columns = {"x": np.arange(50.0), "y": np.array(list("ab") * 25, dtype=object)}
    data = as_dataset({**columns, "class": np.arange(50) % 2}, "class")
    parts, inputs, _ = make_parts(data, Stratified(), find_task(data), (), 0)
    train, held_out = (Rows(inputs.take(one), one.y) for one in (parts.train, parts.held_out))
    both = train.joined(held_out)
    for name in inputs.columns:
        assert np.shares_memory(both.X[name], train.X[name]), name
        joined = [*train.X[name], *held_out.X[name]]
        assert both.X[name].tolist() == joined
    # What does not follow is copied.
    other = held_out.joined(train)
    assert other.X["x"].tolist() == [*held_out.X["x"], *train.X["x"]]


def test_columns_that_are_reused_give_the_same_parts():
    def parts(reuse):
        columns = {"x": np.arange(40.0), "word": np.array(list("abcd") * 10, dtype=object)}
        data = as_dataset({**columns, "class": np.arange(40) % 2}, "class")
        found = make_parts(data, Stratified(), find_task(data), (), 0, reuse=reuse)[0]
        return found.train, found.held_out, found.test.open("this test")

    for one, other in zip(parts(False), parts(True), strict=True):
        assert one.y.tolist() == other.y.tolist()
        assert {n: v.tolist() for n, v in one.X.items()} == {
            n: v.tolist() for n, v in other.X.items()
        }
