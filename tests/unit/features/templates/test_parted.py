"""Templates on transitions become attributes of edges: the columns are parted, and used."""

import pickle

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

from separatrix import CRF, Templates
from separatrix.data import AttributeSequences, as_attribute_sequences
from separatrix.features.templates import EncodedSequences, both, column, transitions

SENTENCES = [["the", "cat", "sat"], [], ["the", "Dog", "ran", "home"], ["cat"]]
SPEC = ["bias", "word[-1..0]", transitions(column("word")), both(column("word").suffix(1))]


@pytest.fixture
def rows():
    return Templates(SPEC).fit_transform(SENTENCES)


def test_plain_sequences_stay_as_they_are():
    X = AttributeSequences.of(np.eye(3), [2, 1], list("abc"), np.eye(3)[:, :2], list("xy"))
    assert X.parted() is X
    assert as_attribute_sequences(X) is X


def test_without_transitions_nothing_is_parted():
    rows = Templates("word").fit_transform(SENTENCES)
    assert rows.parted() is rows
    assert rows.edge_matrix is None


def test_columns_go_where_their_templates_say(rows):
    parted = rows.parted()
    assert type(parted) is AttributeSequences
    names = np.array(rows.vocabulary[:])
    dense = rows.matrix.toarray()
    for matrix, vocabulary, mask in (
        (parted.matrix, parted.vocabulary, rows.on_states),
        (parted.edge_matrix, parted.edge_vocabulary, rows.on_transitions),
    ):
        assert vocabulary[:] == names[mask].tolist()
        np.testing.assert_array_equal(matrix.toarray(), dense[:, mask])
    np.testing.assert_array_equal(parted.offsets, rows.offsets)
    # A template of both kinds stands on both sides, the others on one.
    shared = set(parted.vocabulary) & set(parted.edge_vocabulary)
    assert shared == {name for name in names if name.startswith("both:")}
    assert not any(name.startswith("transitions:") for name in parted.vocabulary)
    assert "transitions:word[0]=cat" in parted.edge_vocabulary[:]
    assert "bias" not in parted.edge_vocabulary[:]


def test_parting_and_taking_commute(rows):
    one, other = rows.take([2, 0]).parted(), rows.parted().take([2, 0])
    assert isinstance(rows.take([2]), EncodedSequences)
    for a, b in ((one.matrix, other.matrix), (one.edge_matrix, other.edge_matrix)):
        np.testing.assert_array_equal(a.toarray(), b.toarray())
    np.testing.assert_array_equal(one.offsets, other.offsets)
    again = pickle.loads(pickle.dumps(rows)).parted()
    assert again.edge_vocabulary == rows.parted().edge_vocabulary


def test_a_model_reads_them_as_attributes_of_edges(rows):
    y = [["D", "N", "V"], [], ["D", "N", "V", "N"], ["N"]]
    by_hand = rows.parted()
    a = CRF(tol=1e-9).fit(rows, y)
    b = CRF(tol=1e-9).fit(by_hand, y)
    np.testing.assert_array_equal(a.coef_, b.coef_)
    assert a.features_.n_edge_attributes == int(rows.on_transitions.sum())
    assert a.features_.edges is not None
    assert a.predict(rows) == b.predict(by_hand)
    for p, q in zip(a.predict_proba(rows), b.predict_proba(by_hand), strict=True):
        np.testing.assert_array_equal(p, q)


def flips(n, seed):
    """Labels that a word turns over or keeps: only a pair of labels and the word tell them."""
    random = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n):
        words = random.choice(["flip", "keep"], size=8).tolist()
        words[0] = str(random.choice(["up", "down"]))
        state = words[0]
        tags = [state]
        for word in words[1:]:
            if word == "flip":
                state = "down" if state == "up" else "up"
            tags.append(state)
        X.append(words)
        y.append(tags)
    return X, y


def test_what_only_edges_can_tell():
    X, y = flips(120, 0)
    new, labels = flips(60, 1)
    plain = make_pipeline(Templates("word[-2..2]"), CRF()).fit(X, y)
    edges = make_pipeline(Templates("word\ntransitions: word"), CRF(C=10.0)).fit(X, y)
    assert plain.score(new, labels) < 0.9
    assert edges.score(new, labels) == 1.0
    # A word that was not seen has no attribute, on either side.
    assert len(edges.predict([["up", "never", "keep"]])[0]) == 3
