"""Segments: what labels mean, the example of a user's own segments, and named entities."""

import runpy
from pathlib import Path

import numpy as np
import pytest

from separatrix import CRF, Segments, StructuredSVM
from separatrix.data import as_attribute_sequences
from separatrix.errors import DataError, ParameterError
from separatrix.metrics import chunk_f1
from separatrix.structures import SegmentFeatures
from separatrix.structures.chain.structure import ChainFeatures, Pattern

OWN = runpy.run_path(str(Path(__file__).parents[3] / "examples" / "semi_markov.py"), run_name="own")


def names(n, seed, longest=3):
    """Places of two or three tokens among other words; tokens tell them with noise."""
    random = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n):
        tags = []
        for _ in range(4):
            size = int(random.integers(2, longest + 1))
            tags += ["B-LOC", *["I-LOC"] * (size - 1)] if random.random() < 0.5 else ["O"]
        truth = np.array([tag != "O" for tag in tags], dtype=float)
        noise = random.normal(scale=1.2, size=len(tags))
        X.append(np.stack([truth + noise, np.ones(len(tags))], axis=1))
        y.append(tags)
    return X, y


def test_it_is_the_semi_markov_model_of_the_example():
    random = np.random.default_rng(0)
    rows = [random.normal(size=(size, 3)) for size in (5, 1, 4)]
    X = as_attribute_sequences(rows)
    own = OWN["SegmentFeatures"](2, 3, longest=3)
    w = random.normal(size=own.n_weights)
    tokens, by_length = np.split(w.reshape(-1, 2), [3])
    # Tags 2 k + 1 begin and 2 k go on, with the same weights of features and none of transitions.
    none = np.zeros((4, 4), dtype=bool)
    chain = ChainFeatures(4, Pattern.full(3, 4), none, boundaries=False)
    ours = SegmentFeatures(chain, np.array([1, 3]), np.array([0, 2]), np.array([3, 3]))
    v = np.concatenate([by_length.T.ravel(), np.repeat(tokens, 2, axis=1).ravel()])
    theirs, mine = own.scores(w, X), ours.scores(v, X)
    np.testing.assert_allclose(own.best(theirs).scores, ours.best(mine).scores)
    np.testing.assert_array_equal(own.best(theirs).labels, ours.best(mine).labels)
    a, b = own.log_sum_exp(theirs), ours.log_sum_exp(mine)
    np.testing.assert_allclose(a.log_partition, b.log_partition)
    expected = own.adjoint(X, a.parts).reshape(-1, 2)
    found = ours.adjoint(X, b.parts)
    np.testing.assert_allclose(found[:6].reshape(2, 3).T, expected[3:])
    np.testing.assert_allclose(found[6:].reshape(3, 2, 2).sum(axis=2), expected[:3])


def test_lengths_help_where_they_tell_more_than_neighbors():
    X, y = names(150, seed=0)
    X_test, y_test = names(300, seed=1)
    segments = CRF(Segments(), C=10.0).fit(X, y)
    chain = CRF(C=10.0).fit(X, y)
    assert segments.solution_.stopped.value == "converged"
    # A chain may end a name after one token; no name of one token was ever seen.
    one = segments.features_.length_weights(segments.coef_)[0]
    assert one[0] < min(one[1:])
    found = chunk_f1(y_test, segments.predict(X_test))
    assert found > chunk_f1(y_test, chain.predict(X_test, constraints="BIO")) + 0.02


def test_labels_are_read_as_chunks():
    X = [[["a"], ["b"], ["c"], ["d"]], [["e"]]]
    segments = Segments()
    inputs = segments.read(X)
    y = [["I-x", "I-x", "I-y", "O"], ["I-x"]]
    labels = segments.codes(y, inputs)
    assert labels.classes.tolist() == ["B-x", "B-y", "I-x", "I-y", "O"]
    assert labels.classes[labels.codes].tolist() == ["B-x", "I-x", "B-y", "O", "B-x"]
    features = segments.layout(inputs, labels)
    assert features.longest.tolist() == [2, 1, 1]
    again = segments.codes(y, inputs, labels.classes)
    np.testing.assert_array_equal(again.codes, labels.codes)


def test_other_labels_are_segments_of_one_token():
    X, y = [[["a"], ["b"]], [["b"], ["a"]]], [["N", "V"], ["V", "N"]]
    assert CRF(Segments(), C=10.0).fit(X, y).predict(X) == y


def test_segments_that_are_too_long_are_named():
    X, y = [[["a"]], [["a"], ["b"], ["c"]]], [["O"], ["O", "B-x", "I-x"]]
    with pytest.raises(DataError, match="token 1 of sequence 1 has 2 tokens, but longest=1"):
        CRF(Segments(longest=1)).fit(X, y)
    model = CRF(Segments()).fit(X, y)
    longer = [["O"], ["B-x", "I-x", "I-x"]]
    assert model.log_likelihood(X, longer)[1] == -np.inf


@pytest.mark.parametrize(
    ("structure", "error", "message"),
    [
        (Segments(longest=0), ParameterError, "longest must be None or at least 1"),
        (Segments(state_features="none"), ParameterError, "state_features"),
    ],
)
def test_wrong_parameters(structure, error, message):
    with pytest.raises(error, match=message):
        CRF(structure).fit([[["a"]]], [["O"]])


def test_other_encodings_and_missing_offers_are_named():
    X = [[["a"], ["b"]]]
    with pytest.raises(DataError, match="'S-x' is not one of BIO"):
        CRF(Segments()).fit(X, [["S-x", "B-x"]])
    model = CRF(Segments()).fit(X, [["B-x", "I-x"]])
    for call in (
        lambda: model.predict(X, constraints="BIO"),
        lambda: model.predict_top(X, 2),
        lambda: model.predict_edge_marginals(X),
        lambda: model.explain_sequence(X, ["a", "b"]),
    ):
        with pytest.raises(ParameterError):
            call()
    assert model.top_weights(2)


def test_differences_are_those_of_the_adjoint():
    X, y = names(6, seed=3)
    segments = Segments()
    inputs = segments.read(X)
    labels = segments.codes(y, inputs)
    features = segments.layout(inputs, labels)
    w = np.random.default_rng(0).normal(size=features.n_weights)
    others = features.best(features.scores(w, inputs)).labels
    planes = features.differences(inputs, labels.codes, others)
    for i in range(len(inputs)):
        one, a, b = inputs.take([i]), *inputs.offsets[i : i + 2]
        own = [features.adjoint(one, features.parts(one, c[a:b])) for c in (labels.codes, others)]
        np.testing.assert_allclose(planes[i].toarray()[0], own[0] - own[1], atol=1e-12)


def test_a_margin_is_learned_too():
    X, y = names(40, seed=4)
    model = StructuredSVM(Segments(), C=0.5, tol=1e-2, random_state=0).fit(X, y)
    assert model.solution_.stopped.value == "converged"
    other = CRF(Segments()).fit(X, y)
    assert model.score(X, y) > other.score(X, y) - 0.1
