"""Columns as people write them: what is understood, what is told, what is kept as it is."""

import json
import random

import numpy as np
import pytest

from separatrix.data import read

LEARNER = "logistic_regression"


def score(done):
    assert done.code == 0, done.err
    (tested,) = [one for one in json.loads(done.out)["test"] if one["learner"] == LEARNER]
    return tested["score"]


@pytest.mark.parametrize("form", ["%d/%m/%Y", "%m/%d/%Y", "%d %b %Y", "%Y-%m-%d"])
def test_time_sorts_dates_and_not_their_words(run, file, form):
    """The relation flips in the last fifth of time: a split by time must fail there."""
    rng = random.Random(0)
    days = np.datetime64("2019-01-01") + np.arange(400)
    lines = []
    for at, day in enumerate(days):
        x = rng.choice("ab")
        y = x if at < 320 else "ab"["ba".index(x)]
        lines.append(f"{day.item().strftime(form)},{x},{rng.random():.3f},{y}")
    rng.shuffle(lines)
    name = file("flip.csv", ["when,x,z,y", *lines])
    done = run("compare", name, "--time", "when", "--learners", "logistic_regression", "--json")
    assert score(done) < 0.1


def test_words_that_are_no_times_are_refused(run, file):
    lines = [f"Q{1 + at % 4} {2019 + at // 4},{at % 3},{'ab'[at % 2]}" for at in range(40)]
    name = file("quarters.csv", ["when,x,y", *lines])
    done = run("compare", name, "--time", "when")
    assert done.code == 1
    assert "holds 'Q1 2019', which is no time that is known" in done.err


def test_twins_in_a_header_are_numbered_and_told(run, file):
    name = file("twins.csv", ["size,size,churn", "1,2,yes", "3,4,no", "5,6,yes"])
    done = run("convert", name, "out.jsonl")
    assert done.code == 0
    assert "two columns are named 'size'; the later one is 'size.2'" in done.err
    rows = read("out.jsonl")
    assert (len(rows), rows.feature_names) == (3, ("size", "size.2", "churn"))


def test_names_that_are_numbers_are_names(run, file):
    name = file("years.csv", ["2019,2020,y", "1.5,2.5,a", "2.5,3,b", "1,2,a", "3,4,b"])
    done = run("convert", name, "out.jsonl")
    assert done.code == 0
    assert "the first row is taken for names" in done.err
    assert (len(read("out.jsonl")), read("out.jsonl").feature_names) == (4, ("2019", "2020"))
    assert run("convert", name, "all.jsonl", "--header", "no").code == 0
    assert len(read("all.jsonl")) == 5
    done = run("convert", name, "x.jsonl", "--header", "maybe")
    assert (done.code, "--header takes yes or no" in done.err) == (2, True)


def test_zip_codes_keep_their_zeros(run, file):
    lines = ["zip,card,y", "00501,4929123412341234,a", "10001,4929123412341235,b"]
    assert run("convert", file("z.csv", lines), "z.jsonl").code == 0
    with open("z.jsonl", encoding="utf-8") as rows:
        first = json.loads(rows.readline())
    assert first == {"zip": "00501", "card": "4929123412341234", "y": "a"}


SHOP = [
    "price,amount,rate,balance,weight,when,at,ok,stars,y",
    '$51.02,"3,402.43",20%,(12.50),12 kg,31/12/2019,13:30,yes,5,good',
    "$7,12.5,5.5%,1e3,7 kg,01/02/2020,9:05,no,-,bad",
    "-,?,NULL,N/A,nan,,13:00,yes,3,good",
]


def test_marks_units_dates_and_flags_are_understood(run, file):
    name = file("shop.csv", SHOP)
    done = run("schema", name, "--json")
    assert done.code == 0
    columns = {column["name"]: column for column in json.loads(done.out)["columns"]}
    kinds = {name: column["kind"] for name, column in columns.items()}
    assert kinds == {
        "price": "number", "amount": "number", "rate": "number", "balance": "number",
        "weight": "number", "when": "date", "at": "duration", "ok": "flag", "stars": "number",
        "y": "category",
    }  # fmt: skip
    assert columns["when"]["form"] == "dmy"
    assert columns["stars"]["missing"] == ["-"]
    assert columns["price"]["form"] == "1234.5 $"
    data = read(name)
    assert data.X["price"][0] == 51.02
    assert data.X["balance"].tolist()[:2] == [-12.5, 1000.0]
    assert data.X["at"].tolist() == [13.5 * 3600, 9 * 3600 + 300, 13 * 3600]
    assert data.X["ok"].tolist() == [True, False, True]


def test_decimal_commas(run, file):
    name = file("de.csv", ["preis;menge;y", "1.234,56;51,02;a", "7,5;3;b", "12;0,5;a"])
    data = read(name)
    assert data.X["preis"].tolist() == [1234.56, 7.5, 12.0]
    assert data.X["menge"].tolist() == [51.02, 3.0, 0.5]


def test_an_order_that_no_day_tells_is_told(run, file):
    name = file("unsure.csv", ["when,y", "01/02/2020,a", "03/04/2020,b", "05/06/2020,a"])
    done = run("schema", name)
    assert "no day is above 12: the month is taken to come first" in done.out
    assert "--kind 'when=date dmy'" in done.out
    assert str(read(name).X["when"][0])[:10] == "2020-01-02"
    done = run("schema", name, "--kind", "when=date dmy", "--json")
    assert json.loads(done.out)["columns"][0]["form"] == "dmy"


def people(n=60):
    rng = random.Random(1)
    for at in range(n):
        old = at % 2
        income = 20 + 30 * old + rng.random()
        yield f"{at},{rng.choice(['00501', '10001'])},${income:.2f},{'ny'[old]}"


def test_the_index_of_a_saved_frame_is_left_out_and_said_to_be(run, file):
    name = file("frame.csv", [",zip,income,class", *people()])
    done = run("compare", name, "--learners", "logistic_regression")
    assert done.code == 0
    assert "'0' (counts the rows)" in done.err + done.out


def test_a_schema_is_saved_edited_and_given_back(run, file, tmp_path):
    name = file("people.csv", [",zip,income,class", *people()])
    assert run("schema", name, "--out", "s.json").code == 0
    told = json.loads((tmp_path / "s.json").read_text(encoding="utf-8"))
    assert [column["role"] for column in told["columns"]] == [
        "left out", "input", "input", "target"
    ]  # fmt: skip
    told["columns"][1]["role"] = "left out"
    (tmp_path / "s.json").write_text(json.dumps(told), encoding="utf-8")
    train = ("train", name, "-l", "logistic_regression", "--save", "m.sx", "--schema", "s.json")
    done = run(*train, "--quiet")
    assert done.code == 0, done.err
    # The zip code is not asked for, income is understood as in training.
    new = file("new.csv", ["income", "$21.50", "$55"])
    assert run("predict", "m.sx", new).out.split() == ["prediction", "n", "y"]
    done = run("predict", "m.sx", file("bad.csv", ["income", "$21.50", "much"]))
    assert done.code == 1
    assert "column 'income' holds numbers" in done.err
    assert "'much'" in done.err


def test_classes_keep_their_words(run, file):
    name = file(
        "flags.csv", ["x,class", *(f"{at % 2},{['no', 'Yes'][at % 2]}" for at in range(40))]
    )
    assert set(read(name).y.tolist()) == {"no", "Yes"}
    train = ("train", name, "-l", "logistic_regression", "--save", "m.sx", "--quiet")
    assert run(*train).code == 0
    assert run("predict", "m.sx", name).out.split()[1:3] == ["no", "Yes"]


def test_kind_overrides_what_was_found(run, file):
    name = file("k.csv", ["level,y", "1,a", "2,b", "3,a"])
    done = run("schema", name, "--kind", "level=category", "--json")
    assert json.loads(done.out)["columns"][0]["kind"] == "category"
    done = run("schema", name, "--kind", "level=colour")
    assert (done.code, "there is no kind 'colour'" in done.err) == (2, True)
    done = run("schema", name, "--kind", "level")
    assert (done.code, "--kind takes COLUMN=KIND" in done.err) == (2, True)
