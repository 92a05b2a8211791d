"""Constraints by the name of an encoding: those of other labels than the training labels."""

import numpy as np
import pytest

from separatrix import CRF, StructuredPerceptron, StructuredSVM
from separatrix.errors import DataError, ParameterError
from separatrix.structures import Chain
from separatrix.structures.chain import Constraints

WORDS = ["the", "cat", "sat", "on", "mat", "dogs", "run"]


def sentences(n=40, seed=0):
    """Sentences of dicts with chunks in BIO labels."""
    random = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n):
        words = random.choice(WORDS, size=int(random.integers(2, 8)))
        labels, before = [], "O"
        for word in words:
            label = "O" if word in ("sat", "on", "run") else "B-X"
            if label == "B-X" and before != "O" and random.random() < 0.7:
                label = "I-X"
            labels.append(label)
            before = label
        X.append([{"word": word, "last": word[-1]} for word in words])
        y.append(labels)
    return X, y


@pytest.mark.parametrize("encoding", ["BIOES", "IOB1"])
@pytest.mark.parametrize("learner", [CRF, StructuredSVM, StructuredPerceptron])
def test_constraints_of_another_encoding_are_refused(learner, encoding):
    X, y = sentences()
    model = learner(random_state=0).fit(X, y)
    assert model.predict(X[:5], constraints="BIO")
    with pytest.raises(DataError, match=r"'B-X'.*encoding " + encoding):
        model.predict(X, constraints=encoding)


@pytest.mark.parametrize("learner", [CRF, StructuredSVM, StructuredPerceptron])
def test_constraints_of_the_structure_hold_for_all_predictions(learner):
    X, y = sentences()
    limits = Constraints(forbidden=[("O", "B-X")])
    plain = learner(random_state=0).fit(X, y)
    bound = learner(Chain(constraints=limits), random_state=0).fit(X, y)
    one = [[{"word": "sat"}, {"word": "cat"}]]
    assert plain.predict(one) == [["O", "B-X"]]
    assert bound.predict(one) != plain.predict(one)
    assert bound.predict(X + one) == plain.predict(X + one, constraints=limits)
    assert bound.predict_top(one, 2) == plain.predict_top(one, 2, constraints=limits)
    assert bound.predict(one, constraints=[["O", "B-X"]]) == [["O", "B-X"]]
    if learner is CRF:
        expected = plain.predict_proba(one, constraints=limits)[0]
        np.testing.assert_allclose(bound.predict_proba(one)[0], expected, atol=1e-12)


def test_constraints_of_a_structure_are_checked():
    X, y = sentences(5)
    with pytest.raises(ParameterError, match="constraints"):
        CRF(Chain(constraints="BILOU")).fit(X, y)
    with pytest.raises(ParameterError, match="labels of tokens are given to predict"):
        CRF(Chain(constraints=[["O"]])).fit(X, y)
