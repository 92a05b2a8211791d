"""`separatrix inspect`."""

from __future__ import annotations

import json

import numpy as np

from separatrix import load
from separatrix.cli.inspect import _size


def test_a_model_of_texts(run, home):
    done = run("inspect", home / "mail.sx", "--top", "3")
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert lines[0].startswith(f"{home / 'mail.sx'}: Pipeline, ")
    assert lines[1].startswith("checksum ok")
    assert "classes: ham, spam" in lines
    assert "input: text (message), target label" in lines
    assert "command: separatrix compare …" in lines
    assert "step 1: TextVectorizer(norm=None, use_idf=False)" in lines
    assert "step 2: LogisticRegression()" in lines
    weights = lines[lines.index("weights for spam against ham") + 1 :]
    assert len(weights) == 6
    assert weights[0].split()[0] == "free"


def test_the_record(run, home):
    record = json.loads(run("inspect", home / "people.sx", "--json", "--top", "100").out)
    assert record["checksum_ok"] is True
    assert record["input"]["columns"] == ["age", "city", "code"]
    weights = record["weights"][0]["features"]
    model = load(home / "people.sx")
    names = model[0].get_feature_names_out()
    assert weights == dict(
        sorted(zip(names, model[1].coef_[0].tolist(), strict=True), key=lambda pair: -pair[1])
    )
    shapes = {part["name"]: part["shape"] for part in record["arrays"]}
    assert shapes["model.steps[1][1].coef_"] == [1, len(names)]


def test_bayes_costs_and_quantities(run, home):
    odds = json.loads(run("inspect", home / "bayes.sx", "--json").out)["weights"][0]
    assert odds["kind"] == "log odds"
    assert odds["label"] == "spam"
    steps = json.loads(run("inspect", home / "cost.sx", "--json").out)["steps"]
    assert [step["class"] for step in steps] == [
        "TextVectorizer",
        "BayesDecision",
        "LogisticRegression",
    ]
    shown = run("inspect", home / "sugar.sx").out
    assert "\nweights\n" in shown
    assert "log odds for spam against ham" in run("inspect", home / "bayes.sx").out


def test_a_damaged_file_shows_its_header_and_ends_with_1(run, home, tmp_path):
    raw = bytearray((home / "mail.sx").read_bytes())
    raw[-3] ^= 1
    (tmp_path / "broken.sx").write_bytes(raw)
    done = run("inspect", tmp_path / "broken.sx")
    assert done.code == 1
    assert "checksum WRONG" in done.out
    assert "classes: ham, spam" in done.out
    record = json.loads(run("inspect", tmp_path / "broken.sx", "--json").out)
    assert record["checksum_ok"] is False
    assert "weights" not in record


def test_no_model_file(run, home):
    done = run("inspect", home / "mail.csv")
    assert done.code == 1
    assert "no model file of separatrix" in done.err


def test_sizes():
    sizes = [0, 999, 1000, 1500, 10**6, 2 * 10**9, 3 * 10**12]
    assert [_size(n) for n in sizes] == [
        "0 B",
        "999 B",
        "1.0 kB",
        "1.5 kB",
        "1.0 MB",
        "2.0 GB",
        "3000.0 GB",
    ]
    assert np.all([isinstance(_size(n), str) for n in sizes])
