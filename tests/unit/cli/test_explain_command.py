"""`separatrix explain`."""

from __future__ import annotations

import json

import pytest

from separatrix import load


def test_a_text(run, home):
    done = run("explain", home / "mail.sx", "free money at my place")
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert [line.split()[0] for line in lines[1:5]] == ["(intercept)", "free", "money", "at"]
    share = load(home / "mail.sx").predict_proba(["free money at my place"])[0, 1]
    assert lines[-2] == f"P(spam | x) = {100 * share:.1f} %"
    assert lines[-1] == "unknown, left out: my, place"


def test_naive_bayes_shows_running_totals(run, home):
    done = run("explain", home / "bayes.sx", "free money")
    lines = done.out.splitlines()
    assert lines[0].split() == ["P(x|spam)", "P(x|ham)", "total", "spam", "total", "ham"]
    assert lines[1].startswith("(prior)")
    record = json.loads(run("explain", home / "bayes.sx", "free money", "--json").out)
    model = load(home / "bayes.sx")
    joint = model[-1].predict_joint_log_proba(model[:-1].transform(["free money"]))[0]
    assert record["terms"][-1]["total ham"] == pytest.approx(joint[0])
    assert record["terms"][-1]["total spam"] == pytest.approx(joint[1])


def test_a_row_of_a_file(run, home):
    done = run("explain", home / "people.sx", home / "people.csv", "--row", "3", "--json")
    record = json.loads(done.out)
    names = [term["term"] for term in record["terms"]]
    assert names[0] == "(intercept)"
    assert set(names[1:]) <= {
        "age",
        "age=<missing>",
        *(f"city={city}" for city in ("Rome", "Oslo")),
        *(f"code={code}" for code in ("007", "12", "x9")),
    }
    first = run("explain", home / "people.sx", home / "people.csv").out
    assert first == run("explain", home / "people.sx", home / "people.csv", "--row", "1").out


def test_every_row_as_json_lines(run, home):
    done = run("explain", home / "mail.sx", home / "mail.csv", "--format", "jsonl")
    records = [json.loads(line) for line in done.out.splitlines()]
    assert [record["prediction"] for record in records[:6]] == ["spam"] * 3 + ["ham"] * 3
    assert len(records) == 120


def test_images_show_the_two_best_or_all(run, home):
    two = json.loads(run("explain", home / "digits.sx", "digits", "--json").out)
    assert two["labels"][0] == "0"
    assert len(two["labels"]) == 2
    every = json.loads(run("explain", home / "digits.sx", "digits", "--json", "--all").out)
    assert every["labels"] == [str(digit) for digit in range(10)]
    # 30 terms and the rest by default; all of them with --top 0.
    assert two["terms"][-1]["term"].endswith("others)")
    whole = json.loads(run("explain", home / "digits.sx", "digits", "--json", "--top", "0").out)
    assert whole["terms"][-1]["total"] == pytest.approx(two["terms"][-1]["total"])
    assert len(whole["terms"]) > len(two["terms"])


def test_a_regression_and_csv(run, home):
    done = run("explain", home / "sugar.sx", home / "sugar.csv", "--format", "csv")
    assert done.out.splitlines()[0] == "term,value,weight,weight x value,total"
    shown = run("explain", home / "sugar.sx", home / "sugar.csv").out.splitlines()
    assert shown[-1].startswith("prediction: ")


@pytest.mark.parametrize(
    ("model", "what", "words", "code", "message"),
    [
        ("mail.sx", "nothing.csv", [], 1, "there is no file nothing.csv"),
        ("people.sx", "free money", [], 1, "there is no file free money"),
        ("people.sx", "people.csv", ["--row", "1000"], 2, "--row 1000: "),
        ("people.sx", "people.csv", ["--row", "0"], 2, "--row"),
        ("majority.sx", "iris", [], 2, "MajorityClass has no weights"),
    ],
)
def test_what_is_wrong_is_said(run, home, model, what, words, code, message):
    if model == "majority.sx":
        from sklearn.datasets import load_iris

        from separatrix import MajorityClass, save

        save(MajorityClass().fit(*load_iris(return_X_y=True)), home / model)
    done = run("explain", home / model, home / what if what == "people.csv" else what, *words)
    assert (done.code, done.out) == (code, "")
    assert message in done.err
    assert len(done.err.splitlines()) == 1


def test_words_that_are_no_file_are_a_text(run, home):
    """Also one longer than any file's name may be."""
    done = run("explain", home / "mail.sx", "money " * 1000)
    assert done.code == 0
    assert "money" in done.out
