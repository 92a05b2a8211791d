"""The trellis adds up to the model's own scores and probabilities."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from tests.unit.experiment.problems import conll

from separatrix import (
    CRF,
    LabelPerWord,
    LogisticRegression,
    StructuredPerceptron,
    Templates,
    explain,
    explain_sequence,
)
from separatrix.data import read
from separatrix.errors import ParameterError
from separatrix.explanation import top_weights
from separatrix.structures import Chain

DATA = read(conll(60).encode())
CRF_MODEL = make_pipeline(Templates("chunking"), CRF(random_state=0)).fit(DATA.X, DATA.y)
PERCEPTRON = make_pipeline(Templates("pos"), StructuredPerceptron(random_state=0)).fit(
    DATA.X, DATA.y
)


@pytest.mark.parametrize("model", [CRF_MODEL, PERCEPTRON], ids=["crf", "perceptron"])
@pytest.mark.parametrize("row", [0, 5])
def test_labels_and_scores_are_those_of_the_two_best_paths(model, row):
    one = DATA.X.take([row])
    found = explain_sequence(model, one, top=2)
    encoded, learner = model[0].transform(one), model[-1]
    ((best, first), (second, other)) = learner.predict_top(encoded, 2)[0]
    assert [step.label for step in found.steps] == best == model.predict(one)[0]
    assert [step.second for step in found.steps] == second
    assert found.score == pytest.approx(first)
    assert found.second_score == pytest.approx(other)
    assert [step.token for step in found.steps] == DATA.X.columns["0"][row]


EDGES = make_pipeline(Templates("word\ntransitions: pos"), CRF(random_state=0, C=0.1)).fit(
    DATA.X, DATA.y
)
SECOND = make_pipeline(
    Templates("word"), CRF(Chain(order=2, boundaries=False), random_state=0)
).fit(DATA.X, DATA.y)


@pytest.mark.parametrize(
    "model", [CRF_MODEL, PERCEPTRON, EDGES, SECOND], ids=["crf", "perceptron", "edges", "second"]
)
def test_all_terms_add_up_to_the_score(model):
    for top in (1, 3, 1000):
        found = explain_sequence(model, DATA.X.take([3]), top=top)
        total = sum(sum(value for _, value in step.terms) + step.rest for step in found.steps)
        assert total == pytest.approx(found.score)
    for step in found.steps:
        sizes = [abs(value) for _, value in step.terms]
        assert sizes == sorted(sizes, reverse=True)


def test_probabilities_are_the_marginals():
    one = DATA.X.take([7])
    found = explain_sequence(CRF_MODEL, one)
    encoded, crf = CRF_MODEL[0].transform(one), CRF_MODEL[-1]
    shares = crf.predict_proba(encoded)[0]
    labels = [step.label for step in found.steps]
    codes = np.searchsorted(crf.classes_, labels)
    np.testing.assert_allclose(
        [step.probability for step in found.steps], shares[np.arange(len(codes)), codes]
    )
    assert found.log_probability == pytest.approx(crf.log_likelihood(encoded, [labels])[0])
    assert found.has_probabilities
    assert "probability" in found.headings
    assert len(str(found).splitlines()) == len(labels) + 2


def test_a_perceptron_shows_no_probabilities():
    found = explain_sequence(PERCEPTRON, ["the", "old", "cat1"])
    assert not found.has_probabilities
    assert "probability" not in str(found)
    assert [len(row) for row in found.rows] == [4, 4, 4]
    record = found.to_dict()
    assert [token["token"] for token in record["tokens"]] == ["the", "old", "cat1"]


def test_one_label_has_no_second_path():
    model = make_pipeline(Templates("word"), CRF()).fit([["a", "b"]], [["X", "X"]])
    found = explain_sequence(model, ["a"])
    assert found.steps[0].second is None
    assert np.isnan(found.second_score)
    assert "second path:" not in found.verdict()


def test_second_order_and_tokens_as_dicts():
    rows = [[{"word": word} for word in row] for row in DATA.X.columns["0"].tolist()]
    model = CRF(Chain(order=2), random_state=0).fit(rows, DATA.y)
    found = explain_sequence(model, rows[0])
    assert [step.token for step in found.steps] == DATA.X.columns["0"][0]
    assert [step.label for step in found.steps] == model.predict(rows[:1])[0]


def test_top_weights_of_a_chain():
    transitions, *labels = top_weights(CRF_MODEL, 3)
    assert transitions.label is None
    assert transitions.kind == "transition weight"
    crf = CRF_MODEL[-1]
    moves = crf.transition_weights_
    names = [str(label) for label in crf.classes_]
    for name, value in zip(transitions.names, transitions.values, strict=True):
        before, after = name.split(" → ")
        if before in names and after in names:
            assert value == moves[names.index(before), names.index(after)]
    assert [one.label for one in labels] == crf.classes_.tolist()
    for one in labels:
        assert len(one.names) <= 6
        assert list(one.values) == sorted(one.values, reverse=True)
    every = top_weights(CRF_MODEL, None)
    kept = sum(len(one.names) for one in every)
    assert kept == np.count_nonzero(crf.coef_)


def test_what_cannot_be_explained():
    flat = LogisticRegression().fit([[1.0], [2.0]], [0, 1])
    with pytest.raises(ParameterError, match="LogisticRegression has no trellis"):
        explain_sequence(flat, ["a"])
    with pytest.raises(ParameterError, match=r"use separatrix\.explain_sequence"):
        explain(CRF_MODEL, ["a"])
    with pytest.raises(ParameterError, match="takes one sequence, got 2"):
        explain_sequence(CRF_MODEL, DATA.X.take([0, 1]))
    with pytest.raises(ParameterError, match="top must be positive"):
        explain_sequence(CRF_MODEL, DATA.X.take([0]), top=0)
    with pytest.raises(ParameterError, match="LabelPerWord has no trellis"):
        explain_sequence(LabelPerWord().fit([["a"]], [["X"]]), ["a"])
