"""`separatrix predict`."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import subprocess
import sys

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris

from separatrix import load
from separatrix.cli import streaming


def rows(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_labels_of_texts(run, home):
    done = run("predict", home / "mail.sx", home / "mail.csv")
    assert (done.code, done.err) == (0, "")
    said = [row["prediction"] for row in rows(done.out)]
    assert said == ["spam"] * 3 + ["ham"] * 3 + said[6:]
    assert len(said) == 120


def test_probabilities_are_those_of_the_model(run, home):
    done = run("predict", home / "bare.sx", "iris", "--proba")
    X = load_iris().data
    expected = load(home / "bare.sx").predict_proba(X)
    found = rows(done.out)
    names = ["P(setosa)", "P(versicolor)", "P(virginica)"]
    assert list(found[0]) == ["prediction", *names]
    shares = np.array([[float(row[name]) for name in names] for row in found])
    np.testing.assert_array_equal(shares, expected)


def test_a_regression_has_intervals(run, home):
    done = run("predict", home / "sugar.sx", home / "sugar.csv", "--level", "0.5")
    found = [[float(cell) for cell in row.values()] for row in rows(done.out)]
    mean, low, high = np.array(found).T
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    model = load(home / "sugar.sx")
    np.testing.assert_array_equal(mean, model.predict({name: X[name].to_numpy() for name in X}))
    assert (low < mean).all()
    assert (mean < high).all()
    assert 0.4 < np.mean((low <= y) & (y <= high)) < 0.6


@pytest.mark.parametrize("words", [["--jsonl"], ["--format", "jsonl"]])
def test_json_lines(run, home, words):
    done = run("predict", home / "people.sx", home / "people.csv", "--proba", *words)
    records = [json.loads(line) for line in done.out.splitlines()]
    assert len(records) == 200
    assert set(records[0]) == {"prediction", "P(no)", "P(yes)"}
    done = run("predict", home / "people.sx", home / "people.csv", "--proba", "--json")
    assert json.loads(done.out) == records


def test_pieces_do_not_change_the_predictions(run, home, monkeypatch):
    whole = run("predict", home / "people.sx", home / "people.csv", "--proba")
    monkeypatch.setattr(streaming, "ROWS", 7)
    pieces = run("predict", home / "people.sx", home / "people.csv", "--proba")
    assert pieces.out == whole.out


def test_images_and_bundled_names(run, home):
    done = run("predict", home / "digits.sx", "digits", "--format", "table")
    lines = done.out.splitlines()
    assert lines[0] == "prediction"
    assert len(lines) == 1798


def test_out_is_written_whole_or_not_at_all(run, home, tmp_path):
    out = tmp_path / "said.csv"
    done = run("predict", home / "mail.sx", home / "mail.csv", "--out", out)
    assert (done.code, done.out) == (0, "")
    assert f"120 predictions in {out}" in done.err
    assert len(rows(out.read_text(encoding="utf-8"))) == 120
    broken = tmp_path / "broken.csv"
    broken.write_text("label,message\nspam,free money\nham\n", encoding="utf-8")
    before = out.read_text(encoding="utf-8")
    done = run("predict", home / "mail.sx", broken, "--out", out)
    assert done.code == 1
    assert f"{broken}:3: 1 fields, but 2 on line 1" in done.err
    assert out.read_text(encoding="utf-8") == before
    assert sorted(os.listdir(tmp_path)) == ["broken.csv", "said.csv"]
    run("predict", home / "mail.sx", home / "mail.csv", "--out", tmp_path / "a.jsonl", "--quiet")
    assert json.loads((tmp_path / "a.jsonl").read_text(encoding="utf-8").splitlines()[0]) == {
        "prediction": "spam"
    }


def test_other_formats_are_read_alike(run, home, tmp_path):
    expected = run("predict", home / "people.sx", home / "people.csv").out
    for name in ("people.jsonl", "people.parquet", "people.tsv"):
        assert run("convert", home / "people.csv", tmp_path / name).code == 0
        assert run("predict", home / "people.sx", tmp_path / name).out == expected
    packed = tmp_path / "people.csv.gz"
    packed.write_bytes(gzip.compress((home / "people.csv").read_bytes()))
    assert run("predict", home / "people.sx", packed).out == expected


def test_words_that_look_like_numbers_stay_words(run, home, tmp_path):
    """In training `code` held x9 too; here 007 alone must not become the number 7."""
    file = tmp_path / "few.csv"
    file.write_text("code,city,age\n007,Rome,45\n12,Rome,45\n", encoding="utf-8")
    found = rows(run("predict", home / "people.sx", file, "--proba").out)
    model = load(home / "people.sx")
    table = {"age": [45.0, 45.0], "city": ["Rome", "Rome"], "code": ["007", "12"]}
    expected = model.predict_proba(table)[:, 1]
    assert [float(row["P(yes)"]) for row in found] == expected.tolist()
    assert found[0]["P(yes)"] != found[1]["P(yes)"]


def test_standard_input(home):
    words = [sys.executable, "-m", "separatrix", "predict", str(home / "mail.sx"), "-"]
    text = (home / "mail.csv").read_bytes()
    done = subprocess.run(words, input=text, capture_output=True, check=True)
    assert done.stdout.splitlines()[:2] == [b"prediction", b"spam"]


def test_a_reader_that_leaves_ends_the_run_in_silence(home):
    big = home / "big.csv"
    lines = (home / "mail.csv").read_text(encoding="utf-8").splitlines()
    big.write_text("\n".join([lines[0], *lines[1:] * 500]) + "\n", encoding="utf-8")
    command = f"{sys.executable} -m separatrix predict {home / 'mail.sx'} {big} --proba | head -n 2"
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command}"], capture_output=True, text=True, check=False
    )
    assert done.stdout.splitlines()[0] == "prediction,P(ham),P(spam)"
    assert done.stderr == ""
    assert done.returncode == 141


@pytest.mark.parametrize("name", ["new.txt", "new"])
@pytest.mark.parametrize("head", ["", "message\n"])
def test_a_file_of_texts_has_one_a_line(run, home, tmp_path, name, head):
    file = tmp_path / name
    file.write_text(f"{head}free money now\n\nsee you at lunch", encoding="utf-8")
    nothing = load(home / "mail.sx").predict([""])[0]
    done = run("predict", home / "mail.sx", file)
    assert done.out.split() == ["prediction", "spam", nothing, "ham"]
    done = run("predict", home / "mail.sx", file, "--input-format", "lines")
    assert done.out.split() == ["prediction", "spam", nothing, "ham"]
    done = run("predict", home / "people.sx", file)
    assert done.code == 1
    assert run("predict", home / "people.sx", file, "--input-format", "lines").code == 2


@pytest.mark.parametrize(
    ("model", "file", "content", "code", "message"),
    [
        ("svm.sx", "mail.csv", None, 2, "--proba cannot be had: LinearSVM has no probabilities"),
        ("sugar.sx", "sugar.csv", None, 2, "--proba cannot be had: is for classes"),
        ("nothing.sx", "mail.csv", None, 1, "nothing.sx: no such file"),
        ("mail.csv", "mail.csv", None, 1, "no model file"),
        ("mail.sx", "none.csv", None, 1, "there is no file"),
        ("mail.sx", "empty.csv", "", 1, "empty.csv: the file is empty"),
        ("mail.sx", "head.csv", "label,message\n", 1, "head.csv: there are no rows"),
        ("people.sx", "x.csv", "age,town,code\n1,Rome,12\n2,Oslo,x9\n", 1, "no column 'city'"),
        ("people.sx", "x.csv", "age,city,code\n1,Rome,12\nold,Oslo,x9\n", 1, "row 2 holds 'old'"),
        ("mail.sx", "x.csv", b"label,message\nspam,caf\xe9 now\n", 1, "x.csv:2: byte 0xe9"),
        ("mail.sx", "x.csv", "label,message\nspam,a b\nham;c d\n", 1, "x.csv:3: 1 fields, but 2"),
        ("bare.sx", "x.csv", "a,b,c\n1,2,3\n", 1, "x.csv: X has 3 features"),
        ("mail.sx", "x.bin", b"\x00\x01\x02\x03", 1, "binary"),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence(
    run, home, tmp_path, model, file, content, code, message
):
    path = home / file
    if content is not None:
        path = tmp_path / file
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    done = run("predict", home / model, path, "--proba")
    assert done.code == code
    assert message in done.err
    assert done.err.startswith("error: ")
    assert len(done.err.splitlines()) == 1
    assert "Traceback" not in done.err
    assert "=" not in done.err  # advice is for the command line
