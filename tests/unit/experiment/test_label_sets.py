"""Label sets from data to champion: what is found, chosen and told, and what is refused."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.metrics import accuracy_score, f1_score, hamming_loss

from separatrix import LogisticRegression, MultiLabel, load
from separatrix.data import Dataset, LabelSets, read, write
from separatrix.errors import DataError, ParameterError
from separatrix.experiment import Experiment, Given
from separatrix.experiment.source import as_dataset, fingerprint
from separatrix.registry import get
from separatrix.report.parts import Findings, Mistakes, PerClass, Profile, Weights
from separatrix.tasks import all_metrics, find_task
from separatrix.tasks.inputs import Inputs
from separatrix.tasks.label_sets import SetsOfLabels, _chances, set_counts
from separatrix.tasks.rows import Rows

NAMES = np.array(["beach", "field", "sea", "town"])
CRFS = ["independent_labels", "label_crf", "label_pairs"]

METRICS = all_metrics()


def rows(n, seed=0):
    """Features, and sets of which two labels go together and two exclude each other."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 4))
    first = X[:, 0] + random.normal(0, 0.8, n) > 0
    third = X[:, 1] + random.normal(0, 0.8, n) > 0
    Y = np.column_stack([first & third, ~first & third, first, ~third & ~first])
    return X, Y.astype(int)


X, Y = rows(240)
SETS = [NAMES[row.astype(bool)].tolist() for row in Y]
DATA = as_dataset((X, SETS))


def part(result, kind):
    return next(one for one in result.parts if type(one) is kind)


@pytest.fixture(scope="module")
def result():
    return Experiment(DATA, learners=CRFS, name="made up").run()


def test_the_task_is_found_and_told(result):
    assert result.task.name == "label_sets"
    assert result.task.reason == "the target holds sets of 4 labels"
    assert result.metric.name == "subset_accuracy"
    assert result.sizes["classes"] == 4
    assert "stratified by the rarest label" in str(result)
    assert [row.learner for row in result.leaderboard][-1] == "frequent_labels"
    assert result.test_score > 0.5
    told = dict(result.test.scores[0].others)
    assert set(told) == {"share of wrong labels", "mean F1 of the rows"}


def test_the_report_shows_labels_mistakes_and_pairs(result, tmp_path):
    assert {one.label for one in part(result, PerClass).classes} == set(NAMES)
    mistakes = part(result, Mistakes)
    assert mistakes.n_rows == 48
    sure = [one.confidence for one in mistakes.mistakes]
    assert sure == sorted(sure, reverse=True)
    assert all(0 <= one.truth_probability <= one.confidence <= 1 for one in mistakes.mistakes)
    assert {name for name, _ in part(result, Profile).classes} == set(NAMES)
    assert part(result, Findings)
    (pairs,) = part(result, Weights).groups
    assert all(" + " in name for name in pairs.features)
    result.to_html(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "sets of 4 labels" in page
    assert "beach" in page


def test_the_champion_is_saved_and_loaded(result, tmp_path):
    result.save(tmp_path / "champion.sx")
    again = load(tmp_path / "champion.sx")
    assert list(again.predict(X)) == list(result.model.predict(X))


@pytest.mark.parametrize(
    ("metric", "decision"),
    [("subset_accuracy", "subset"), ("hamming_loss", "hamming"), ("example_f1", "f1")],
)
def test_predictions_are_best_for_the_metric(metric, decision):
    result = Experiment(DATA, learners=["label_crf"], metric=metric).run()
    assert result.model.steps[-1][1].decision == decision


def test_metrics_are_scikit_learns():
    random = np.random.default_rng(0)
    truth, said = random.integers(0, 2, (60, 4)), random.integers(0, 2, (60, 4))
    sets = [
        LabelSets.of([NAMES[row.astype(bool)].tolist() for row in one]) for one in (truth, said)
    ]
    found = {name: METRICS[name](None, None, *sets) for name in METRICS if "set" in name}
    assert found["subset_accuracy"] == pytest.approx(accuracy_score(truth, said))
    assert METRICS["hamming_loss"](None, None, *sets) == pytest.approx(hamming_loss(truth, said))
    expected = f1_score(truth, said, average="samples", zero_division=1)
    assert METRICS["example_f1"](None, None, *sets) == pytest.approx(expected)


def test_labels_that_were_not_predicted_count():
    truth = LabelSets.of([("a",)])
    said = LabelSets(np.array(["a"]), np.array([0, 1]), np.array(["a", "b", "c", "d"]))
    assert set_counts(said, truth).tolist() == [[1.0, 1.0, 1.0, 4.0]]


@pytest.mark.parametrize(
    "data",
    [
        (X, Y),
        (X, sp.csr_matrix(Y)),
        (X, SETS),
        (sp.csr_matrix(X), SETS),
        (X, LabelSets.of(SETS)),
        (pd.DataFrame(X, columns=list("abcd")), SETS),
        (X, pd.DataFrame(Y, columns=NAMES)),
        pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "labels": SETS}),
    ],
)
def test_forms_of_data(data):
    found = as_dataset(data)
    assert isinstance(found.y, LabelSets)
    assert find_task(found).name == "label_sets"
    assert found.y.matrix().toarray().tolist() == Y.tolist()


def test_texts_with_label_sets():
    texts = ["sun and sand", "corn and cows", "streets and cars"] * 10
    labels = [["beach", "sea"], ["field"], ["town"]] * 10
    found = as_dataset((texts, labels))
    assert found.kind == "text"
    result = Experiment(found, learners=["label_crf"]).run()
    assert result.test_score == 1.0
    assert list(result.model.predict(["sand"])) == [("beach", "sea")]


def test_files(tmp_path):
    path = tmp_path / "train.svm"
    numbered = LabelSets.of([np.flatnonzero(row).tolist() for row in Y])
    write(Dataset("matrix", sp.csr_matrix(X), numbered), path)
    data = read(path)
    assert data.y.labels.dtype.kind == "i"
    assert list(data.y) == list(numbered)
    table = tmp_path / "train.jsonl"
    with table.open("w") as lines:
        for row, labels in zip(X.tolist(), SETS, strict=True):
            lines.write(
                json.dumps({**dict(zip("abcd", row, strict=True)), "labels": labels}) + "\n"
            )
    for file in (path, table):
        result = Experiment(file, learners=["label_crf"]).run()
        assert result.task.name == "label_sets"
        assert result.test_score > 0.5


def test_further_rows_of_one_label_each_are_sets(tmp_path):
    train, test = tmp_path / "train.svm", tmp_path / "test.svm"
    train.write_text(
        "".join(f"{a} 1:{v}\n" for a, v in [("0,1", 1), ("0", -1), ("", 0.1)] * 10),
        encoding="utf-8",
    )
    test.write_text("0 1:-1\n1 1:1\n", encoding="utf-8")
    result = Experiment(read(train), split=Given(test), learners=["label_crf"]).run()
    assert result.test.n_rows == 2
    assert Inputs.from_dict(result.inputs.to_dict()).sets


def test_sets_with_unknown_labels_have_no_probability():
    model = MultiLabel().fit(X, SETS)
    sets = LabelSets.of([("sea",), ("moon", "sea"), (), ("beach", "sea"), ("moon",)])
    shares = _chances(model, X[:5], sets)
    assert (shares == 0).tolist() == [False, True, False, False, True]
    known = model.log_likelihood(X[[0, 2, 3]], sets.take([0, 2, 3]))
    np.testing.assert_allclose(shares[[0, 2, 3]], np.exp(known))
    assert np.isnan(_chances(MultiLabel("svm").fit(X, SETS), X[:5], sets)).all()


def test_parts_and_remarks():
    family = SetsOfLabels("label_sets")
    train = Dataset("matrix", np.zeros((3, 1)), LabelSets.of([("a", "b"), ("a",), ()]))
    more = Dataset("matrix", np.zeros((2, 1)), LabelSets.of([("a", "c"), ("a",)]))
    assert family.check_part("test", train, train, "") == ()
    (remark,) = family.check_part("test", more, train, "")
    assert "1 of the test rows have labels that no train row has (c)" in remark
    odd = Dataset("matrix", np.zeros((1, 1)), LabelSets.of([("z",)]))
    with pytest.raises(DataError, match="none of the labels of the test rows"):
        family.check_part("test", odd, train, "")
    with pytest.raises(DataError, match="have no sets of labels"):
        family.check_part("test", Dataset("matrix", np.zeros((1, 1)), np.array([1])), train, "")
    # The rarest label of a row; rows without labels are their own stratum.
    assert family.strata(train.y).tolist() == [1, 2, 0]


def test_what_is_refused():
    with pytest.raises(ParameterError, match="their task is label_sets"):
        find_task(DATA, "multiclass")
    with pytest.raises(ParameterError, match="needs sets of labels, but the target holds classes"):
        find_task(Dataset("matrix", X, Y[:, 0]), "label_sets")
    with pytest.raises(ParameterError, match="accuracy scores classes, but the target holds sets"):
        Experiment(DATA, metric="accuracy").run()
    with pytest.raises(ParameterError, match="subset_accuracy scores sets of labels"):
        Experiment((X, Y[:, 0]), metric="subset_accuracy").run()
    with pytest.raises(ParameterError, match="costs are for classes"):
        Experiment(DATA, cost=np.eye(2)).run()
    with pytest.raises(ParameterError, match="sigmoid calibration is for classes"):
        Experiment(DATA, calibration="sigmoid").run()
    other = LogisticRegression().fit(X, Y[:, 0])
    with pytest.raises(ParameterError, match="predicts classes, which is another task"):
        Experiment(DATA, learners=["label_crf"], previous=other).run()
    with pytest.raises(DataError, match="Y has no labels"):
        find_task(Dataset("matrix", X[:2], LabelSets.of([(), ()])))
    with pytest.raises(DataError, match=r"'labels' is missing in 1 rows, first in row 2"):
        read(b'{"a": 1, "labels": ["x"]}\n{"a": 2, "labels": null}\n', "jsonl")
    with pytest.raises(DataError, match=r"row 2 of the target is None"):
        as_dataset(pd.DataFrame({"a": [1.0, 2.0], "labels": [["x"], None]}))


def test_all_pairs_of_many_labels_are_not_tried_unasked():
    pairs = get("label_pairs")
    few, many = (LabelSets.of([tuple(range(n))]) for n in (14, 15))
    assert SetsOfLabels("label_sets").suits(pairs, Rows(None, few))
    assert not SetsOfLabels("label_sets").suits(pairs, Rows(None, many))
    assert SetsOfLabels("label_sets").suits(get("label_crf"), Rows(None, many))


def test_a_previous_model_takes_part():
    known = MultiLabel().fit(X, SETS)
    result = Experiment(DATA, learners=["independent_labels"], previous=known).run()
    assert "previous_model" in [row.learner for row in result.leaderboard]


def test_fingerprints_differ():
    other = as_dataset((X, [*SETS[1:], SETS[0]]))
    assert fingerprint(DATA) != fingerprint(other)
    assert fingerprint(DATA) == fingerprint(as_dataset((X, SETS)))
