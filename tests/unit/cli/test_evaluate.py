"""`separatrix evaluate`."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris
from sklearn.metrics import log_loss

from separatrix import load
from separatrix.bayes.comparison import accuracy_interval
from separatrix.cli import streaming
from separatrix.tasks.classes import match_labels


def test_classes(run, home):
    done = run("evaluate", home / "bare.sx", "iris", "--json")
    found = json.loads(done.out)
    iris = load_iris()
    y, model = iris.target_names[iris.target], load(home / "bare.sx")
    said = model.predict(iris.data)
    assert found["accuracy"] == np.mean(said == y)
    low, high = accuracy_interval(y, said).interval
    assert found["interval"] == [low, high]
    assert found["log_loss"] == pytest.approx(log_loss(y, model.predict_proba(iris.data)))
    counts = np.array(found["confusion"]["counts"])
    assert counts.trace() == np.sum(said == y)
    assert [row["class"] for row in found["classes"]] == model.classes_.tolist()


def test_the_table_for_people(run, home):
    done = run("evaluate", home / "mail.sx", home / "mail.csv")
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert lines[0].startswith(
        "accuracy 1.0000 (120 of 120; 95 % highest-density credible interval 0.97"
    )
    assert lines[1].startswith("log loss 0.")
    assert lines[2].startswith("calibration error 0.")
    assert lines[-1].split() == ["spam", "0", "60"]


def test_a_regression(run, home):
    done = run("evaluate", home / "sugar.sx", home / "sugar.csv", "--json")
    found = json.loads(done.out)
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    model = load(home / "sugar.sx")
    error = model.predict({name: X[name].to_numpy() for name in X}) - y
    assert found["rmse"] == pytest.approx(np.sqrt(np.mean(error**2)))
    assert found["mae"] == pytest.approx(np.mean(np.abs(error)))
    assert [row["level"] for row in found["coverage"]] == [0.5, 0.8, 0.95]
    for row in found["coverage"]:
        assert abs(row["observed"] - row["level"]) < 0.06
    assert -6 < found["log_density"] < -5
    shown = run("evaluate", home / "sugar.sx", home / "sugar.csv").out
    assert "of the rows in their 95 % interval" in shown


def test_pieces_do_not_change_the_figures(run, home, monkeypatch):
    names = [("people.sx", "people.csv"), ("sugar.sx", "sugar.csv")]
    whole = [json.loads(run("evaluate", home / a, home / b, "--json").out) for a, b in names]
    monkeypatch.setattr(streaming, "ROWS", 13)
    pieces = [json.loads(run("evaluate", home / a, home / b, "--json").out) for a, b in names]
    for before, after in zip(whole, pieces, strict=True):
        assert after.keys() == before.keys()
        for key in ("accuracy", "log_loss", "rmse", "log_density"):
            assert after.get(key) == pytest.approx(before.get(key))


def test_csv_has_a_row_per_class(run, home):
    done = run("evaluate", home / "mail.sx", home / "mail.csv", "--format", "csv")
    found = list(csv.DictReader(io.StringIO(done.out)))
    assert [row["class"] for row in found] == ["ham", "spam"]


def test_costs_are_told(run, home):
    found = json.loads(run("evaluate", home / "cost.sx", home / "mail.csv", "--json").out)
    (hams, false_alarms), (missed, _) = found["confusion"]["counts"]
    assert found["mean_cost"] == pytest.approx((false_alarms + 20 * missed) / 120)
    assert hams + false_alarms == 60
    assert "mean cost" in run("evaluate", home / "cost.sx", home / "mail.csv").out


def test_models_without_probabilities(run, home):
    found = json.loads(run("evaluate", home / "svm.sx", home / "mail.csv", "--json").out)
    assert found["log_loss"] is None
    assert found["accuracy"] == 1


def test_labels_may_stand_in_another_column(run, home, tmp_path):
    text = (
        (home / "mail.csv").read_text(encoding="utf-8").replace("label,message", "verdict,message")
    )
    (tmp_path / "x.csv").write_text(text, encoding="utf-8")
    done = run("evaluate", home / "mail.sx", tmp_path / "x.csv", "--target", "verdict")
    assert done.out.startswith("accuracy 1.0000")


def test_one_class_and_strange_labels(run, home, tmp_path):
    file = tmp_path / "x.csv"
    file.write_text("label,message\nspam,free money now\nspam,free offer\n", encoding="utf-8")
    assert run("evaluate", home / "mail.sx", file).out.startswith("accuracy 1.0000 (2 of 2")
    file.write_text("label,message\nspam,free money now\nmeat,free offer\n", encoding="utf-8")
    done = run("evaluate", home / "mail.sx", file)
    assert "does not know, counted as mistakes: 'meat'" in done.out
    assert done.out.startswith("accuracy 0.5000")


@pytest.mark.parametrize(
    ("model", "content", "words", "code", "message"),
    [
        ("mail.sx", "verdict,message\nspam,a b c\n", [], 2, "--target: there is no column 'label'"),
        ("mail.sx", "label,message\nspam,a b\n", ["--target", "labl"], 2, "did you mean 'label'"),
        ("sugar.sx", None, [], 2, "there is no column 'target'"),
        ("bare.sx", "a,b,c,d\n1,2,3,4\n", [], 1, "which column holds the true labels"),
        ("mail.sx", "label,message\n,free money\n", [], 1, "target 'label' is missing in 1 rows"),
    ],
)
def test_what_is_wrong_is_said(run, home, tmp_path, model, content, words, code, message):
    path = tmp_path / "x.csv"
    if content is None:
        text = (home / "sugar.csv").read_text(encoding="utf-8")
        path.write_text(text.replace("target", "progress", 1), encoding="utf-8")
    else:
        path.write_text(content, encoding="utf-8")
    done = run("evaluate", home / model, path, *words)
    assert (done.code, done.out) == (code, "")
    assert message in done.err
    assert len(done.err.splitlines()) == 1


@pytest.mark.parametrize(
    ("labels", "classes", "expected"),
    [
        ([1, 0], ["0", "1"], ["1", "0"]),
        ([1.0, 0.0], [0, 1], [1, 0]),
        ([True, False], ["false", "true"], ["true", "false"]),
        (["1", "0"], [0, 1], [1, 0]),
        (["b", "c"], ["a", "b"], ["b", "c"]),
    ],
)
def test_labels_are_matched_by_their_words(labels, classes, expected):
    assert match_labels(np.array(labels), np.array(classes)).tolist() == expected
