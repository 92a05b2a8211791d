"""What a result says in words, as values and as a file; a saved champion predicts the same."""

from __future__ import annotations

import json
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import beta

from separatrix import load
from separatrix.data import Dataset
from separatrix.experiment import Experiment
from separatrix.experiment.ranking import preferred
from separatrix.experiment.result import FOOTNOTE, LeaderboardRow
from separatrix.experiment.source import as_dataset
from separatrix.metrics import Outcome
from separatrix.models import describe
from separatrix.report.content import HEADINGS
from separatrix.tasks import all_metrics
from separatrix.tasks.inputs import Inputs
from tests.unit.experiment.problems import QUICK, blobs, line, table, texts


@pytest.fixture(scope="module")
def result():
    return Experiment(blobs(300, spread=2.0), learners=QUICK, name="blobs", command="do it").run()


def test_the_text_has_a_line_per_learner_and_ends_with_the_verdict(result):
    lines = str(result).splitlines()
    assert lines[0] == "Task: multiclass (the target holds 3 classes), decided by accuracy."
    assert lines[1].startswith(
        "180 train, 60 held-out, 60 test rows (rows at random, stratified by"
    )
    assert lines[1].endswith("4 features, 3 classes.")
    heading = lines.index(next(line for line in lines if line.startswith("learner")))
    assert lines[heading].split() == [name for name, _ in HEADINGS]
    names = [line.split()[0] for line in lines[heading + 1 : heading + 5]]
    assert names == [row.learner for row in result.leaderboard]
    assert lines[-1] == result.verdict()
    assert lines[-1].startswith(
        f"Champion: {result.champion.learner} ({result.champion.setting}), "
    )
    assert f"accuracy {result.test_score:.4f} (" in lines[-1]
    assert f"Runner-up: {result.runner_up.learner}, {result.test.scores[1].score:.4f}" in lines[-1]
    assert "the champion is better with probability 0." in lines[-1]


def test_the_interval_is_that_of_the_beta_posterior(result):
    right = round(result.test_score * 60)
    score = result.test.scores[0]
    belief = beta(1 + right, 61 - right)
    assert belief.cdf(score.high) - belief.cdf(score.low) == pytest.approx(0.95)
    assert belief.pdf(score.high) == pytest.approx(belief.pdf(score.low))
    kind = "highest-density credible interval, uniform prior"
    assert result.to_dict()["interval"] == {"level": 0.95, "kind": kind}
    assert f"95 % {kind}" in result.verdict()


def test_a_dictionary_is_strict_json(result):
    record = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert record["champion"] == result.champion.learner
    assert record["runner_up"] == result.runner_up.learner
    assert (record["source"], record["command"]) == ("blobs", "do it")
    assert record["sizes"]["train"] == 180
    baselines = [row for row in record["leaderboard"] if row["baseline"]]
    assert all(row["gap"] is None for row in baselines)
    assert [row["held_out"] for row in record["leaderboard"]] == [
        row.held_out for row in result.leaderboard
    ]
    assert record["test"][0]["score"] == result.test_score
    assert len(record["fingerprint"]) == 64
    assert "model" not in record


def test_a_fit_that_ran_out_of_passes_is_marked():
    from separatrix.registry import Learner

    hasty = Learner(
        "hasty", "separatrix.learners.linear:LogisticRegression", "one pass", "path", parameter="C",
        grid=(1.0,), params=(("max_iter", 1), ("solver", "gradient_descent")),
    )  # fmt: skip
    found = Experiment(blobs(), learners=[hasty]).run()
    row = next(row for row in found.leaderboard if row.learner == "hasty")
    assert not row.settled
    assert row.cells()[2].endswith("*")
    assert row.cells()[5].endswith("*")
    assert FOOTNOTE in str(found)
    (told,) = [row for row in found.to_dict()["leaderboard"] if row["learner"] == "hasty"]
    assert told["settled"] is told["settings"][0]["settled"] is False
    assert "ran out of passes or time: the score may change" in found.to_html()


@pytest.mark.parametrize(("right", "champion"), [(74, "patient"), (90, "hasty")])
def test_a_champion_that_was_cut_short_must_lead_by_more_than_the_noise(right, champion):
    def one(name, n_right, shift, settled):
        values = np.roll(np.arange(100) < n_right, shift).astype(float)
        row = LeaderboardRow(name, "-", n_right / 100, settled=settled)
        return row, SimpleNamespace(outcome=Outcome(n_right / 100, values, None))

    found = [one("hasty", right, 0, False), one("patient", 72, 5, True)]
    tuned = {row.learner: fit for row, fit in found}
    board = tuple(row for row, _ in found)
    assert preferred(board, tuned, all_metrics()["accuracy"], None).learner == champion


def pictures():
    random = np.random.default_rng(0)
    y = np.arange(120) % 2
    images = random.random((120, 5, 4))
    images[y == 1, 1:3, 1:3] += 1.0
    return Dataset("images", images, y, target_name="class")


def mixed():
    """A table with numbers, categories, gaps and a text."""
    rows = table()
    told = texts(200)
    rows["remark"] = told.X
    rows["class"] = told.y
    data = as_dataset(rows)
    return Dataset("table", data.X, data.y, data.feature_names, "class", ("remark",))


CASES = {
    "table": (table(), {}),
    "table with text": (mixed(), {}),
    "text": (texts(), {}),
    "matrix": (blobs(), {}),
    "sparse": ((sp.csr_array(blobs()[0]), blobs()[1]), {"calibration": "isotonic"}),
    "images": (pictures(), {}),
    "regression": (line(), {"target": "price", "learners": ["bayesian_regression"]}),
    "polynomial": (line(), {"target": "price", "learners": ["polynomial_regression"]}),
    "radial": (line(60), {"target": "price", "learners": ["radial_regression"]}),
    "cost": (table(), {"cost": [[0, 5], [1, 0]]}),
    "svm": (table(), {"learners": ["linear_svm"], "calibration": "sigmoid"}),
    "online": (texts(), {"learners": ["mira"]}),
    "baseline": (table(), {"learners": []}),
    "median": (line(), {"target": "price", "learners": []}),
}


@pytest.mark.parametrize("case", CASES)
def test_a_saved_champion_predicts_the_same_from_raw_rows(case, tmp_path):
    made, options = CASES[case]
    options = {"learners": QUICK, **options}
    found = Experiment(made, **options).run()
    path = tmp_path / "model.sx"
    found.save(path)
    data = as_dataset(made, options.get("target", "auto"))
    inputs = Inputs.from_dict(describe(path).input)
    rows = inputs.take(data)
    again = load(path)
    np.testing.assert_array_equal(again.predict(rows), found.model.predict(rows))
    if hasattr(found.model, "predict_proba"):
        shares = again.predict_proba(rows)
        np.testing.assert_array_equal(shares, found.model.predict_proba(rows))
        assert list(again.classes_) == sorted(set(data.y))
    if not found.champion.baseline and found.task.name != "regression":
        assert np.mean(again.predict(rows) == data.y) > 0.7


def test_the_file_tells_where_it_comes_from(result, tmp_path):
    result.save(tmp_path / "model.sx")
    header = describe(tmp_path / "model.sx")
    training = header.summary
    assert training["learner"] == result.champion.learner
    assert training["setting"] == result.champion.setting
    assert training["task"] == "multiclass"
    assert training["n_rows"] == 240
    assert training["test"] == result.test_score
    assert training["command"] == "do it"
    assert header.fingerprint == result.fingerprint


def test_notebooks_show_data_experiment_and_result():
    data = as_dataset({"x": np.arange(40.0), "a<b": ["u", "v"] * 20, "class": ["<i>", "k"] * 20})
    experiment = Experiment(data, learners=["logistic_regression"])
    result = experiment.run()
    for shown in (data, experiment, result):
        page = shown._repr_html_()
        assert "<table>" in page
        assert "<i>" not in page
    assert "logistic_regression" in result._repr_html_()
    assert "leak suspect" in result._repr_html_()
