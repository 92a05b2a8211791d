"""The commands on label sets: from a file to a model, and what it does with other files."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, f1_score, hamming_loss

from separatrix import FrequentLabels, LogisticRegression, MultiLabel, load, save
from separatrix.data import LabelSets, read


def lines(n, seed):
    random = np.random.default_rng(seed)
    for x in random.normal(size=(n, 3)).round(3):
        held = {0: x[0] > 0, 2: x[0] + x[1] > 0, 5: x[1] > 0}
        labels = [label for label, is_there in held.items() if is_there]
        yield ",".join(map(str, labels)) + "".join(f" {j + 1}:{v}" for j, v in enumerate(x))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Train and test rows, and a model of them."""
    from separatrix.cli.app import main

    folder = tmp_path_factory.mktemp("sets")
    for name, n in (("train", 200), ("test", 50)):
        (folder / f"{name}.svm").write_text("\n".join(lines(n, n)) + "\n", encoding="utf-8")
    words = ["train", folder / "train.svm", "--learner", "label_crf", "--save", folder / "m.sx"]
    assert main([*map(str, words), "--quiet"]) == 0
    return folder


def test_compare(run, folder, tmp_path):
    report = tmp_path / "report.html"
    done = run(
        "compare", folder / "train.svm", "--test", folder / "test.svm", "--metric", "example_f1",
        "--learners", "independent_labels,label_pairs", "--report", report,
    )  # fmt: skip
    assert done.code == 0, done.err
    assert "Task: label_sets" in done.out
    assert "mean F1 of the rows" in done.out
    assert "frequent_labels" in done.out
    assert "sets of 3 labels" in report.read_text(encoding="utf-8")


def test_predictions(run, folder):
    done = run("predict", folder / "m.sx", folder / "test.svm", "--quiet")
    rows = list(csv.reader(io.StringIO(done.out)))
    assert rows[0] == ["prediction"]
    model, data = load(folder / "m.sx"), read(folder / "test.svm")
    expected = [",".join(map(str, labels)) for labels in model.predict(data.X)]
    assert [row[0] for row in rows[1:]] == expected
    done = run("predict", folder / "m.sx", folder / "test.svm", "--jsonl", "--proba", "--quiet")
    first = json.loads(done.out.splitlines()[0])
    assert first["prediction"] == list(model.predict(data.X)[0])
    assert set(first) == {"prediction", "P(0)", "P(2)", "P(5)"}


def test_evaluate(run, folder):
    done = run("evaluate", folder / "m.sx", folder / "test.svm", "--json", "--quiet")
    told = json.loads(done.out)
    model, data = load(folder / "m.sx"), read(folder / "test.svm")
    labels = np.array([0, 2, 5])
    truth, said = (one.matrix(labels).toarray() for one in (data.y, model.predict(data.X)))
    assert told["subset_accuracy"] == pytest.approx(accuracy_score(truth, said))
    assert told["hamming_loss"] == pytest.approx(hamming_loss(truth, said))
    expected = f1_score(truth, said, average="samples", zero_division=1)
    assert told["example_f1"] == pytest.approx(expected)
    assert [row["label"] for row in told["labels"]] == ["0", "2", "5"]
    table = run("evaluate", folder / "m.sx", folder / "test.svm", "--quiet").out
    assert "share of whole label sets" in table
    assert run("evaluate", folder / "m.sx", folder / "test.svm", "--format", "csv").code == 0


def test_labels_that_the_model_does_not_know(run, folder, tmp_path):
    (tmp_path / "odd.svm").write_text("0,7 1:1\n2 2:1\n", encoding="utf-8")
    done = run("evaluate", folder / "m.sx", tmp_path / "odd.svm", "--quiet")
    assert done.code == 0, done.err
    assert "labels that the model does not know, counted as mistakes: 7" in done.out


def test_rows_of_at_most_one_label(run, tmp_path):
    path = tmp_path / "single.svm"
    path.write_text(
        "".join(f"{a} 1:{v}\n" for a, v in [("0", 1), ("1", -1), ("", 0.1)] * 20), encoding="utf-8"
    )
    words = ("compare", path, "--learners", "label_crf", "--quiet")
    assert run(*words).code != 0
    done = run(*words, "--task", "label_sets")
    assert done.code == 0, done.err


def test_models_of_matrices_and_constants(run, folder, tmp_path):
    data = read(folder / "train.svm")
    Y = data.y.matrix().toarray()
    save(MultiLabel().fit(data.X, Y), tmp_path / "plain.sx")
    done = run("predict", tmp_path / "plain.sx", folder / "test.svm", "--quiet")
    assert done.code == 0, done.err
    assert set(",".join(done.out.splitlines()[1:]).replace('"', "").split(",")) <= {
        "0",
        "1",
        "2",
        "",
    }
    save(FrequentLabels().fit(data.X, data.y), tmp_path / "constant.sx")
    done = run("predict", tmp_path / "constant.sx", folder / "test.svm", "--quiet")
    assert len(set(done.out.splitlines()[1:])) == 1


def test_other_models_refuse_sets(run, folder, tmp_path):
    data = read(folder / "train.svm")
    classes = (data.X[:, [0]].toarray() > 0).ravel()
    save(LogisticRegression().fit(data.X, classes), tmp_path / "classes.sx")
    done = run("evaluate", tmp_path / "classes.sx", folder / "test.svm", "--quiet")
    assert done.code != 0
    assert "rows have sets of labels, and the model predicts one" in done.err
    (tmp_path / "table.csv").write_text("x0,x1,x2,label\n1,2,3,a\n", encoding="utf-8")
    done = run("evaluate", folder / "m.sx", tmp_path / "table.csv", "--quiet")
    assert done.code != 0
    assert "there are no sets of labels" in done.err
    assert isinstance(data.y, LabelSets)
