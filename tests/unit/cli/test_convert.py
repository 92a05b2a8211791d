"""`separatrix convert`, `separatrix datasets`."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pytest

from separatrix import load
from separatrix.cli.source import BUNDLED, open_source
from separatrix.cli.source import load as load_bundled
from separatrix.data import read


@pytest.mark.parametrize("name", ["x.jsonl", "x.tsv", "x.csv.gz", "x.parquet", "x.arrow"])
def test_there_and_back(run, home, tmp_path, name):
    done = run("convert", home / "people.csv", tmp_path / name)
    assert (done.code, done.out) == (0, "")
    assert f"200 rows of {home / 'people.csv'} written" in done.err
    assert run("convert", tmp_path / name, tmp_path / "back.csv", "--quiet").err == ""
    assert (tmp_path / "back.csv").read_text(encoding="utf-8") == (home / "people.csv").read_text(
        encoding="utf-8"
    )


def test_bundled_data_and_what_would_be_lost(run, tmp_path):
    assert run("convert", "iris", tmp_path / "iris.csv").code == 0
    assert read(tmp_path / "iris.csv").feature_names[0] == "sepal length"
    out = tmp_path / "wine.svm"
    words = ["convert", "wine", out, "--target", "alcohol"]
    done = run(*words)
    assert done.code == 1
    assert "svmlight holds numbers, column 'class' does not" in done.err
    assert not out.exists()


def test_lossy(run, home, tmp_path):
    out = tmp_path / "sugar.svm"
    done = run("convert", home / "sugar.csv", out)
    assert done.code == 1
    assert done.err == f"error: {out}: the names of the columns would be lost\n"
    assert run("convert", home / "sugar.csv", out, "--lossy").code == 0
    assert read(out).X.shape == (442, 10)


def test_a_model_to_onnx(run, home, tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime")
    out = tmp_path / "digits.onnx"
    assert run("convert", home / "digits.sx", out).code == 0
    digits = load_bundled("digits")
    rows = digits.X.reshape(len(digits), -1)
    labels, shares = onnxruntime.InferenceSession(out).run(None, {"X": rows})
    model = load(home / "digits.sx")
    assert list(labels) == model.predict(rows).tolist()
    np.testing.assert_allclose(shares, model.predict_proba(rows), atol=1e-10)
    # Texts go through the tokenizer of onnxruntime.
    assert run("convert", home / "mail.sx", tmp_path / "mail.onnx").code == 0
    texts = ["free money", "see you at lunch"]
    session = onnxruntime.InferenceSession(tmp_path / "mail.onnx")
    found = session.run(["label"], {"X": np.array(texts, dtype=object)})[0]
    assert list(found) == load(home / "mail.sx").predict(texts).tolist()


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["iris", "x.xyz"], 2, "the name matches no format that can be written"),
        (["iris", "/nowhere/x.csv"], 1, "there is no directory /nowhere"),
        (["iris", "/"], 1, "is a directory"),
        (["iris", "x.csv", "--target", "clas"], 2, "did you mean 'class'"),
        (["iris"], 2, "Missing argument"),
    ],
)
def test_what_is_wrong_is_said(run, tmp_path, monkeypatch, words, code, message):
    monkeypatch.chdir(tmp_path)
    done = run("convert", *words)
    assert (done.code, done.out) == (code, "")
    assert message in done.err
    assert len(done.err.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_datasets_are_told_as_they_are(run):
    head = run("datasets").out.splitlines()[0]
    assert head.split() == ["name", "rows", "columns", "classes", "what", "it", "is"]
    found = list(csv.DictReader(io.StringIO(run("datasets", "--format", "csv").out)))
    assert [row["name"] for row in found] == list(BUNDLED)
    for row in found:
        data = load_bundled(row["name"])
        width = data.X[0].size if data.kind == "images" else len(data.X)
        told = (int(row["rows"]), int(row["columns"]), int(row["classes"]))
        assert told == (len(data), width, len(set(data.y.tolist())))
    assert json.loads(run("datasets", "--json").out)[1]["name"] == "iris"
    lines = run("datasets", "--format", "jsonl").out.splitlines()
    assert [json.loads(line)["name"] for line in lines] == list(BUNDLED)


def test_a_file_of_a_bundled_name_is_meant_by_its_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "iris").write_text("a,class\n1,x\n2,y\n", encoding="utf-8")
    assert open_source("iris").format == "bundled"
    assert len(open_source("./iris").read()) == 2
