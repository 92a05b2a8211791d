"""What a user is told: which column, which row, which file is what, and what to do."""

import json
import random
import sys

import pytest


def rows(n=60, gaps=0):
    rng = random.Random(2)
    for at in range(n):
        label = "" if at < gaps else "ny"[at % 2]
        yield f"{at % 2 + 0.1 * rng.random():.3f},{rng.choice('abc')},{label}"


@pytest.fixture
def model(run, file):
    name = file("train.csv", ["size,color,class", *rows()])
    done = run("train", name, "-l", "logistic_regression", "--save", "m.sx", "--quiet")
    assert done.code == 0, done.err
    return "m.sx"


def test_which_column(run, file):
    name = file("abc.csv", ["a,b,c", "1,2,3", "2,3,4"])
    done = run("compare", name)
    told = "which column is to be predicted? Name it by -t (target=): 'a', 'b', 'c'"
    assert (done.code, told in done.err) == (1, True)
    many = [f"column_{at}" for at in range(100)]
    name = file("wide.csv", [",".join(many), ",".join(["1"] * 100), ",".join(["2"] * 100)])
    assert "'column_7', … (100 columns)" in run("compare", name).err


def test_missing_targets(run, file):
    name = file("gaps.csv", ["size,color,class", *rows(60, 3)])
    done = run("compare", name, "-l", "logistic_regression")
    assert done.code == 1
    assert "target 'class' is missing in 3 rows, first in row 1; leave these out" in done.err
    assert "--drop-missing-target" in done.err
    done = run("compare", name, "-l", "logistic_regression", "--drop-missing-target")
    assert done.code == 0, done.err
    assert "3 rows without a target are left out" in done.err


def test_rows_are_counted_from_one(run, file, model):
    # Pieces are counted through; a row that is too short is told by its line.
    done = run("predict", model, file("odd.csv", ["size,color", "1,a", "much,b"]))
    assert (done.code, "row 2 holds 'much'" in done.err) == (1, True)
    done = run("predict", model, file("short.csv", ["size,color", "1,a", "2"]))
    assert (done.code, "short.csv:3: 1 fields, but 2 on line 1" in done.err) == (1, True)
    done = run("explain", model, "train.csv", "--row", "61")
    assert "--row 61: train.csv has fewer rows" in done.err


def test_what_a_file_is(run, file, model, tmp_path):
    done = run("predict", "train.csv", "train.csv")
    told = "train.csv: this is no model file of separatrix, but a text: is it data?"
    assert (done.code, told in done.err) == (1, True)
    done = run("compare", model)
    assert (done.code, "m.sx: this is a model of separatrix, not data" in done.err) == (1, True)
    (tmp_path / "table").write_bytes(b"PK\x03\x04" + b"\0" * 60)
    assert "name it .zip, or .xlsx if it is an Excel workbook" in run("compare", "table").err
    (tmp_path / "shop").write_bytes(b"SQLite format 3\0" + b"\0" * 60)
    assert "an SQLite database: write sqlite:FILE:TABLE" in run("compare", "shop").err


def test_excel_without_the_extra(run, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    (tmp_path / "book.xlsx").write_bytes(b"PK\x03\x04")
    done = run("compare", "book.xlsx")
    assert done.code == 1
    assert "book.xlsx is an Excel workbook, which needs python-calamine: pip install" in done.err


def test_predictions_as_json(run, model):
    told = json.loads(run("predict", model, "train.csv", "--json", "--proba").out)
    assert (len(told), set(told[0])) == (60, {"prediction", "P(n)", "P(y)"})
    lines = run("predict", model, "train.csv", "--jsonl", "--proba").out.splitlines()
    assert [json.loads(line) for line in lines] == told


def test_a_champion_that_loses_on_the_test_comes_with_advice(run, file):
    train = file("train.csv", ["size,color,class", *rows(200)])
    # There what is large is n, and nearly all are n.
    other = file("test.csv", ["size,color,class", *["1.05,a,n"] * 90, *["1.05,b,y"] * 10])
    done = run("compare", train, "--test", other, "--learners", "logistic_regression")
    assert done.code == 0, done.err
    assert "better with probability 0.00" in done.out
    assert "Look whether the test rows differ from the others" in done.out
