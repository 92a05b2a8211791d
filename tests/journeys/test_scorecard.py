"""A model of a table as a scorecard, on the terminal and in the report."""

import json
import random


def lines(n=400):
    rng = random.Random(0)
    for _ in range(n):
        age, city = rng.gammavariate(3, 12), rng.choice(["Rome", "Oslo", "Lima"])
        yes = (25 < age < 45) + (city == "Rome") + rng.random() > 1.3
        yield f"{age:.1f},{city},{'yes' if yes else 'no'}"


def test_a_scorecard_is_shown(run, file, tmp_path):
    name = file("rows.csv", ["age,city,class", *lines()])
    train = ("train", name, "-l", "logistic_regression", "--save", "m.sx", "--quiet")
    done = run(*train, "--report", "r.html")
    assert done.code == 0, done.err
    told = run("explain", "m.sx")
    assert told.code == 0, told.err
    assert told.out.splitlines()[0].split() == ["column", "value", "points"]
    assert "(intercept)" in told.out
    assert "\nage" in told.out
    assert "Rome" in told.out
    assert "positive speaks for yes" in told.out
    card = json.loads(run("explain", "m.sx", "--json").out)
    assert {one["column"] for one in card["columns"]} == {"age", "city"}
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "Scorecard" in page
    assert "Points of age" in page


def test_texts_have_none(run, file):
    name = file(
        "t.csv", ["text,class", *[f"free money {at} now,s\nsee you at {at},h" for at in range(30)]]
    )
    assert run("train", name, "-l", "naive_bayes", "--save", "t.sx", "--quiet").code == 0
    done = run("explain", "t.sx")
    assert (done.code, "a scorecard is for linear models of tables" in done.err) == (2, True)


def test_folds_are_an_option(run, file):
    name = file("rows.csv", ["age,city,class", *lines(200)])
    done = run("compare", name, "-l", "logistic_regression", "--folds", "3")
    assert "Settings: by 3 folds" in done.out
    done = run("compare", name, "-l", "logistic_regression", "--folds", "3", "--budget", "9s")
    assert (done.code, "folds=3: with a budget" in done.err) == (2, True)
