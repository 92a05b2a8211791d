"""Leaks, duplicates and imbalance are found where they are made, and not in clean data."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from separatrix.data import read
from separatrix.experiment import Experiment
from separatrix.report.parts import Findings, Profile
from tests.unit.experiment.problems import blobs, line, table, texts


def part_of(kind, data, target="auto", **options):
    result = Experiment(data, target, learners=[], **options).run()
    return next(part for part in result.parts if isinstance(part, kind))


def found(data, target="auto", **options):
    return {one.kind: one for one in part_of(Findings, data, target, **options).findings}


@pytest.mark.parametrize(
    ("data", "target"),
    [
        (blobs(spread=2.0), "auto"),
        ((sp.csr_array(blobs(spread=2.0)[0]), blobs()[1]), "auto"),
        (line(), "price"),
        ({**table(), "age": np.arange(200.0) % 71}, "class"),
    ],
    ids=["matrix", "sparse", "regression", "table"],
)
def test_nothing_is_said_of_clean_data(data, target):
    # Who of two equals does better on the test is luck.
    luck = {"missing values", "runner-up better on the test"}
    assert set(found(data, target)) <= luck


def test_clean_text():
    data = texts()
    data.X[:] = [f"{text} {row}" for row, text in enumerate(data.X)]
    assert found(data) == {}


@pytest.mark.parametrize("kind", ["category", "number", "flag"])
def test_a_column_that_tells_the_class_alone_is_a_suspect(kind):
    rows = table()
    truth = rows["class"] == "old"
    rows["outcome"] = {
        "category": np.where(truth, "yes", "no").astype(object),
        "number": np.where(truth, 5.0, 1.0) + np.random.default_rng(0).random(200),
        "flag": truth,
    }[kind]
    one = found(rows)["leak suspect"]
    assert one.serious
    assert one.message.startswith("column 'outcome' alone predicts the class of 100.0 %")
    assert "drop it" in one.message
    assert "leak suspect" not in found(rows, drop=["outcome"])


@pytest.mark.parametrize("sparse", [False, True])
def test_leaks_in_matrices(sparse):
    X, y = blobs(spread=3.0)
    X[:, 2] = np.searchsorted(["a", "b", "c"], y)
    one = found((sp.csr_array(X) if sparse else X, y))["leak suspect"]
    assert one.message.startswith("column 2 alone")


@pytest.mark.parametrize("shape", ["normal", "skewed"])
def test_leaks_in_regressions(shape):
    rows = line()
    if shape == "skewed":
        rows["price"] = np.exp(rows["price"])
    noise = np.random.default_rng(0).normal(size=300) * 0.01
    rows["tax"] = 0.2 * rows["price"] * (1 + noise)
    one = found(rows, "price")["leak suspect"]
    assert one.message.startswith("column 'tax' alone explains ")
    rows["tax"][::3] = np.nan  # known for some rows only: no longer enough
    assert "leak suspect" not in found(rows, "price")


def test_what_the_most_frequent_class_says_is_no_leak():
    rows = table()
    rows["class"] = np.where(np.arange(200) % 100 == 0, "rare", "usual").astype(object)
    assert "leak suspect" not in found(rows)


@pytest.mark.parametrize("kind", ["table", "matrix", "sparse", "text"])
def test_rows_that_stand_in_two_splits(kind):
    X, y = blobs(100)
    twice = np.concatenate([np.arange(100), np.arange(30)])
    if kind == "table":
        rows = {f"x{at}": X[twice, at] for at in range(4)} | {"class": y[twice].astype(object)}
        data = rows
    elif kind == "text":
        data = ([f"word{row} other{row}" for row in twice], y[twice])
    else:
        data = (sp.csr_array(X[twice]) if kind == "sparse" else X[twice], y[twice])
    findings = part_of(Findings, data).findings
    messages = [one.message for one in findings if one.kind == "duplicates"]
    assert len(messages) == 2
    assert "held-out rows" in messages[0]
    assert "stand among the train rows too" in messages[0]
    assert "test rows" in messages[1]
    assert "stand among the train or held-out rows too" in messages[1]


def test_rare_classes():
    rows = table()
    rows["class"] = np.where(np.arange(200) < 8, "rare", rows["class"]).astype(object)
    one = found(rows)["imbalance"]
    assert "1 of 3 classes are rare" in one.message
    assert one.details == ("rare: 4 of 120",)


def test_missing_values_are_told_by_column():
    one = found(table())["missing values"]
    assert one.message.startswith("2 columns have missing values")
    assert {detail.split(":")[0] for detail in one.details} == {"age", "city"}


def test_the_checks_that_ran_are_told():
    assert "rare classes" in part_of(Findings, table()).checks
    assert "rare classes" not in part_of(Findings, line(), "price").checks


def test_the_profile_sums_up_every_column():
    rows = table()
    rows["id"] = np.arange(200)
    profile = part_of(Profile, rows)
    columns = {column.name: column for column in profile.columns}
    assert profile.n_rows == 200
    assert columns["age"].n_missing == np.isnan(rows["age"]).sum()
    assert columns["age"].middle == np.nanmedian(rows["age"])
    assert sum(columns["age"].histogram) + columns["age"].n_missing == 200
    assert columns["city"].kind == "category"
    assert dict(columns["city"].frequent)["Rome"] == np.sum(rows["city"] == "Rome")
    assert not columns["id"].used
    assert columns["id"].note == "counts the rows"
    assert dict(profile.classes)["old"] == np.sum(rows["class"] == "old")
    target = part_of(Profile, line(), "price").target
    assert (target.name, target.n_missing) == ("price", 0)


def test_a_rare_class_that_nobody_learns_is_told():
    random = np.random.default_rng(0)
    X, y = random.normal(size=(1500, 2)), np.array(["usual"] * 1500, dtype=object)
    y[:9] = "rare"
    result = Experiment((X, y), learners=["logistic_regression"]).run()
    kinds = {one.kind: one for one in result.findings}
    assert kinds["no better than a baseline"].serious
    assert {"imbalance"} <= set(kinds)
    assert any("no better than a baseline" in line for line in str(result).splitlines())
    assert result.to_dict()["findings"][0]["severity"] == "serious"


def test_classes_with_few_rows_mixed_columns_and_columns_left_out():
    n = 60
    random = np.random.default_rng(0)
    code = np.array([str(k) for k in range(n)], dtype=object)
    code[::5] = "none"
    rows = {
        "x": random.normal(size=n),
        "same": np.ones(n),
        "code": code,
        "class": np.array(["a", "b"] * 29 + ["c", "c"], dtype=object),
    }
    told = found(rows)
    assert told["few rows"].details == ("c: 2",)
    assert "numbers (80" in told["mixed kinds"].message
    assert told["unused columns"].details[0].startswith("same: ")
    assert not any(one.serious for one in told.values())


def test_clean_data_with_a_good_champion_has_no_serious_finding():
    X, y = blobs(300)
    X = X + np.random.default_rng(0).normal(size=X.shape) / 9
    result = Experiment((X, y), learners=["logistic_regression"]).run()
    assert result.serious == ()


def test_dates_that_may_be_read_in_two_ways():
    lines = [
        f"0{day}/0{month}/2020,{'ab'[day % 2]}" for day in range(1, 9) for month in range(1, 9)
    ]
    data = read(("when,class\n" + "\n".join(lines) + "\n").encode())
    assert "month is taken to come first" in found(data)["dates as text"].message
