"""`separatrix compare` and `separatrix train` on files of every kind."""

from __future__ import annotations

import csv
import gzip
import json
import subprocess
import sys

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file, load_digits

from separatrix import load
from separatrix.cli.compare import parse_seconds
from separatrix.errors import ParameterError
from separatrix.models import describe

FAST = ["--learners", "logistic_regression,naive_bayes"]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Files as a person would have them."""
    folder = tmp_path_factory.mktemp("files")
    random = np.random.default_rng(0)
    with open(folder / "visits.csv", "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["patient", "day", "age", "city", "code", "ill"])
        for row in range(240):
            age, city = int(random.integers(20, 80)), random.choice(["Rome", "Oslo"])
            ill = age + 20 * (city == "Rome") + 8 * random.normal() > 62
            code = random.choice(["007", "12", "x9"])
            shown = age if random.random() > 0.1 else ""
            day = f"2024-{1 + row // 20:02}-{1 + row % 20:02}"
            writer.writerow([f"p{row // 4}", day, shown, city, code, "yes" if ill else "no"])
    lines = (folder / "visits.csv").read_text(encoding="utf-8").splitlines()
    (folder / "new.csv").write_text(
        "\n".join([lines[0], *lines[-40:]]).replace("x9", "12") + "\n", encoding="utf-8"
    )
    (folder / "costs.csv").write_text("truth,no,yes\nno,0,1\nyes,10,0\n", encoding="utf-8")
    with gzip.open(folder / "prices.tsv.gz", "wt") as file:
        file.write("rooms\tdistance\tprice\n")
        for rooms, far, noise in random.normal(size=(150, 3)):
            file.write(f"{rooms:.4f}\t{far:.4f}\t{100 + 9 * rooms - 4 * far + noise:.4f}\n")
    X, y = load_digits(n_class=3, return_X_y=True)
    dump_svmlight_file(X[:300], y[:300], str(folder / "digits.svm"))
    dump_svmlight_file(X[300:400], y[300:400], str(folder / "more.svm"))
    head = np.array([0x801, 300], dtype=">i4").tobytes()
    (folder / "train-labels-idx1-ubyte").write_bytes(head + y[:300].astype(np.uint8).tobytes())
    head = np.array([0x803, 300, 8, 8], dtype=">i4").tobytes()
    pixels = (X[:300] * 15).astype(np.uint8).tobytes()
    (folder / "train-images-idx3-ubyte").write_bytes(head + pixels)
    with open(folder / "mail.jsonl", "w", encoding="utf-8") as file:
        words = {"spam": "free money win prize now", "ham": "lunch at home today with you"}
        for row in range(120):
            label = ("spam", "ham")[row % 2]
            body = " ".join(random.choice([*words[label].split(), "the", "and", "of"], 8))
            file.write(json.dumps({"label": label, "body": f"{body} {row}"}) + "\n")
    return folder


def record(run, *words):
    done = run(*words, "--json", "--quiet")
    assert (done.code, done.err) == (0, "")
    return json.loads(done.out)


def test_a_table_with_model_and_report(run, files, tmp_path):
    model, report = tmp_path / "model.sx", tmp_path / "report.html"
    words = [files / "visits.csv", "--target", "ill", "--save", model, "--report", report]
    done = run("compare", *words, *FAST)
    assert done.code == 0
    lines = done.out.splitlines()
    assert lines[0] == "Task: binary ('ill' holds 2 classes), decided by accuracy."
    assert any(line.startswith("Champion: ") for line in lines)
    assert lines[-2:] == [f"Model: {model}", f"Report: {report}"]
    assert [line.split(":")[0] for line in done.err.splitlines()] == [
        "majority_class",
        "prior_sampling",
        "naive_bayes",
        "logistic_regression",
    ]
    page = report.read_text(encoding="utf-8")
    assert page.startswith("<!")
    assert "visits.csv" in page
    # The model reads the file by itself, its words as words.
    said = run("predict", model, files / "new.csv")
    assert said.code == 0
    assert set(said.out.split()[1:]) <= {"yes", "no"}
    assert describe(model).summary["task"] == "binary"


@pytest.mark.parametrize(
    ("name", "options", "kind"),
    [
        ("mail.jsonl", ["--target", "label"], "text"),
        ("digits.svm", [], "matrix"),
        ("train-images-idx3-ubyte", [], "images"),
        ("visits.csv", ["--target", "ill", "--drop", "day"], "table"),
    ],
)
def test_every_kind_of_file(run, files, tmp_path, name, options, kind):
    model = tmp_path / "model.sx"
    found = record(run, "compare", files / name, *options, *FAST, "--save", model)
    assert found["test"][0]["score"] > 0.75
    assert found["source"] == str(files / name)
    assert describe(model).input["kind"] == kind
    # What compare found on its test rows, evaluate finds about everywhere.
    done = run("evaluate", model, files / name, "--json")
    assert done.code == 0
    score = json.loads(done.out)
    assert score["accuracy"] > 0.75


def test_a_regression(run, files, tmp_path):
    words = [files / "prices.tsv.gz", "-t", "price", "-l", "bayesian_regression"]
    found = record(run, "compare", *words, "--save", tmp_path / "model.sx")
    assert (found["task"], found["metric"]) == ("regression", "rmse")
    assert found["test"][0]["score"] == pytest.approx(1, rel=0.4)
    model = load(tmp_path / "model.sx")
    rows = {"rooms": np.array([0.0, 1.0]), "distance": np.zeros(2)}
    np.testing.assert_allclose(model.predict(rows), [100, 109], atol=1)


def test_standard_input(files):
    words = [sys.executable, "-m", "separatrix", "compare", "-", "-t", "ill", *FAST, "-q"]
    text = (files / "visits.csv").read_bytes()
    done = subprocess.run(words, input=text, capture_output=True, check=True)
    assert done.stdout.startswith(b"Champion: ")
    assert done.stdout.count(b"\n") == 1
    assert done.stderr == b""


@pytest.mark.parametrize(
    ("options", "split"),
    [
        (["--group", "patient"], "whole groups of 'patient' at random"),
        (["--time", "day"], "by the time in 'day': the latest rows test"),
    ],
)
def test_groups_and_times(run, files, options, split):
    found = record(run, "compare", files / "visits.csv", "-t", "ill", *options, *FAST)
    assert found["split"] == split
    assert sum(found["sizes"][part] for part in ("train", "held-out", "test")) == 240
    assert not any(options[1] in step for step in found["steps"])


def test_files_of_test_and_held_out_rows(run, files):
    words = ["compare", files / "visits.csv", "-t", "ill", *FAST, "--test", files / "new.csv"]
    found = record(run, *words)
    assert found["sizes"]["test"] == 40
    assert found["split"] == "test rows given"
    both = record(run, *words, "--held-out", files / "new.csv")
    assert (both["sizes"]["train"], both["sizes"]["held-out"]) == (240, 40)
    more = ["compare", files / "digits.svm", *FAST, "--test", files / "more.svm"]
    assert record(run, *more)["sizes"]["test"] == 100


def test_costs(run, files, tmp_path):
    words = [files / "visits.csv", "-t", "ill", *FAST, "--cost", files / "costs.csv"]
    found = record(run, "compare", *words, "--save", tmp_path / "model.sx")
    assert found["metric"] == "cost"
    assert found["test"][0]["score"] < 1
    done = run("predict", tmp_path / "model.sx", files / "visits.csv")
    plain = record(run, "compare", *words[:-2], "--save", tmp_path / "plain.sx")
    other = run("predict", tmp_path / "plain.sx", files / "visits.csv")
    assert plain["metric"] == "accuracy"
    assert done.out.count("yes") > other.out.count("yes")


def test_learner_metric_task_and_seed(run, files):
    words = ["compare", files / "visits.csv", "-t", "ill", *FAST]
    first, again, other = (record(run, *words, "--seed", seed) for seed in (3, 3, 4))
    for one in (first, again, other):
        one.pop("seconds")
        for tried in one["features"]:
            tried.pop("seconds")
        for row in one["leaderboard"]:
            row.pop("seconds")
    assert first == again
    assert first["random_state"] == 3
    assert first["leaderboard"] != other["leaderboard"]
    found = record(run, *words, "--metric", "log_loss", "--calibration", "sigmoid")
    assert found["metric"] == "log_loss"
    assert found["notes"] == ["Sigmoid calibration, fitted to the held-out scores."]
    few = record(run, "compare", files / "prices.tsv.gz", "-t", "price", "--task", "regression",
                 "-l", "bayesian_regression", "--metric", "log_density")  # fmt: skip
    assert few["task_reason"] == "requested"


def test_a_short_budget_leaves_time_for_what_was_asked_for(run, files):
    words = ["train", files / "visits.csv", "-t", "ill", "-l", "mira", "--save", files / "short.sx"]
    done = run(*words, "--budget", "0.001s", "--json", "--quiet")
    assert done.code == 0, done.err
    assert json.loads(done.out)["champion"] == "mira"


@pytest.mark.parametrize(
    ("words", "seconds"), [("90", 90), ("60s", 60), ("1.5m", 90), ("2h", 7200), ("0.5", 0.5)]
)
def test_times(words, seconds):
    assert parse_seconds(words) == seconds


@pytest.mark.parametrize("words", ["", "s", "soon", "-5s", "0", "nan", "inf", "5 days"])
def test_bad_times(words):
    with pytest.raises(ParameterError, match="--budget takes a time such as 60s, 5m or 1h"):
        parse_seconds(words)


def test_train_saves_the_learner_that_was_named(run, files, tmp_path):
    model = tmp_path / "model.sx"
    words = [files / "visits.csv", "-t", "ill", "--save", model]
    found = record(run, "train", *words, "-l", "mira")
    assert found["champion"] == "mira"
    assert found["runner_up"] in ("majority_class", "prior_sampling")
    assert describe(model).summary["learner"] == "mira"
    worse = record(run, "train", *words, "-l", "majority_class")
    assert worse["champion"] == "majority_class"
    assert describe(model).summary["learner"] == "majority_class"


def test_a_previous_model_takes_part(run, files, tmp_path):
    words = [files / "visits.csv", "-t", "ill", *FAST]
    record(run, "compare", *words, "--save", tmp_path / "old.sx")
    found = record(run, "compare", *words, "--previous", tmp_path / "old.sx")
    names = [row["learner"] for row in found["leaderboard"]]
    assert "previous_model" in names


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["--metric", "f2"], 2, "there is no metric 'f2'"),
        (["--metric", "rmse"], 2, "rmse scores quantities, but the target holds classes"),
        (["--task", "ranking"], 2, "there is no task 'ranking'"),
        (["--task", "regression"], 2, "regression needs quantities, but 'ill' holds classes"),
        (["--learners", "mira,svm"], 2, "there is no learner 'svm'"),
        (["--learners", "bayesian_regression"], 2, "learns regression tasks; this one is binary"),
        (["--budget", "soon"], 2, "--budget takes a time"),
        (["--calibration", "platt"], 2, "calibration must be one of"),
        (["--group", "patiend"], 2, "no column 'patiend'; did you mean 'patient'"),
        (["--group", "patient", "--time", "day"], 2, "exclude each other"),
        (["--held-out", "new.csv"], 2, "--held-out goes with --test"),
        (["--drop", "agee"], 2, "no column 'agee'; did you mean 'age'"),
        (["--metric", "cost"], 2, "the metric cost needs a cost matrix"),
        (["--test", "gone.csv"], 1, "there is no file gone.csv"),
        (["--cost", "gone.csv"], 1, "gone.csv: no such file or directory"),
        (["--previous", "gone.sx"], 1, "gone.sx: no such file or directory"),
        (["--save", "no/such/folder.sx"], 1, "there is no directory"),
        (["--nonsense"], 2, "No such option"),
    ],
)
def test_wrong_words_are_told_in_one_sentence(run, files, words, code, message):
    done = run("compare", files / "visits.csv", "--target", "ill", "--quiet", *words)
    assert (done.code, done.out) == (code, "")
    assert done.err.startswith("error: ")
    assert message in done.err
    assert len(done.err.splitlines()) == 1


@pytest.mark.parametrize(
    ("name", "content", "option", "message"),
    [
        ("t.csv", "age,city,ill\n30,Rome,yes\n", "--test", "no column 'patient'"),
        ("t.csv", "patient,day,age,city,code,ill\np,2024-01-01,3,Rome,12,maybe\n", "--test",
         "class 'maybe' is among the test rows, but not among the train rows"),
        ("c.csv", "truth,no\nno,0\nyes,1\n", "--cost", "costs need one column for each class"),
        ("c.csv", "truth,no,yes\nno,0,1\nyes,-3,0\n", "--cost", "cost"),
    ],
)  # fmt: skip
def test_files_that_do_not_fit(run, files, tmp_path, name, content, option, message):
    (tmp_path / name).write_text(content, encoding="utf-8")
    done = run("compare", files / "visits.csv", "-t", "ill", "-q", option, tmp_path / name)
    assert done.code in (1, 2)
    assert message in done.err
    assert len(done.err.splitlines()) == 1
    assert done.out == ""


def test_an_interruption_shows_what_was_done(run, files, monkeypatch):
    from separatrix.experiment import run as running

    genuine = running.tune

    def interrupted(learner, *args, **options):
        if learner.name == "bayesian_regression":
            raise KeyboardInterrupt
        return genuine(learner, *args, **options)

    monkeypatch.setattr(running, "tune", interrupted)
    done = run("compare", files / "prices.tsv.gz", "-t", "price", "-l", "bayesian_regression", "-q")
    assert done.code == 130
    assert [line.split()[0] for line in done.out.splitlines()] == [
        "learner",
        "mean_value",
        "median_value",
    ]
    assert "Interrupted; the test set stays sealed." in done.err
