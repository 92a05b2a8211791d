"""Every form in which sequences of tokens may come, and what is said about bad ones."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.model_selection import train_test_split

from separatrix.data import AttributeSequences, TokenColumn, TokenSequences, as_attribute_sequences
from separatrix.data.sequences.attributes import with_columns_of
from separatrix.data.sequences.containers import Vocabulary
from separatrix.errors import DataError

DENSE = [np.array([[1.0, 0.0], [0.5, 2.0]]), np.zeros((0, 2)), np.array([[0.0, 3.0]])]


def test_tokens_are_named_as_python_crfsuite_names_them():
    token = {
        "a": 2,
        "b": True,
        "c": False,
        "d": "x",
        "e": {"f": 0.5, "g": "y"},
        "h": {"i"},
        "j": ["k"],
    }
    X = as_attribute_sequences([[token], [["a", "d:x"]]])
    expected = {
        "a": 2.0,
        "b": 1.0,
        "c": 0.0,
        "d:x": 1.0,
        "e:f": 0.5,
        "e:g:y": 1.0,
        "h:i": 1.0,
        "j:k": 1.0,
    }
    assert X[0] == [expected]
    assert X[1] == [{"a": 1.0, "d:x": 1.0}]
    assert X.matrix.dtype == np.float32  # every value is exact in single precision
    assert as_attribute_sequences([[{"a": 0.1}]]).matrix.dtype == np.float64


def test_a_repeated_attribute_adds_up():
    assert as_attribute_sequences([[["a", "a"]]])[0] == [{"a": 2.0}]


def test_dense_sparse_and_pairs_agree():
    stacked = np.vstack(DENSE)
    forms = [
        DENSE,
        [part.tolist() for part in DENSE],
        [sp.csr_matrix(part) for part in DENSE],
        (stacked, [2, 0, 1]),
        (sp.csc_array(stacked), np.array([2, 0, 1])),
        AttributeSequences.of(stacked, [2, 0, 1]),
    ]
    for form in forms:
        X = as_attribute_sequences(form)
        np.testing.assert_array_equal(X.matrix.toarray(), stacked)
        assert X.lengths.tolist() == [2, 0, 1]
        assert X.vocabulary is None


def test_a_known_vocabulary_drops_unseen_attributes():
    known = as_attribute_sequences([[["a"], ["b"]]]).vocabulary
    X = as_attribute_sequences([[["b", "unseen"], []]], known)
    np.testing.assert_array_equal(X.matrix.toarray(), [[0, 1], [0, 0]])


def test_columns_follow_their_names():
    X = as_attribute_sequences([[{"b": 2.0, "c": 3.0, "a": 1.0}]])
    moved = with_columns_of(X.matrix, X.vocabulary, Vocabulary.of("ab"), 2, "attributes")
    np.testing.assert_array_equal(moved.toarray(), [[1, 2]])
    with pytest.raises(DataError, match="X has 2 attributes, but the model was fitted with 3"):
        with_columns_of(np.zeros((1, 2)), None, None, 3, "attributes")


def test_splits_of_scikit_learn_keep_the_encoded_form():
    X = AttributeSequences.of(sp.csr_matrix(np.eye(6)), [1, 2, 3], list("abcdef"), np.ones((6, 1)))
    train, test = train_test_split(X, test_size=1, random_state=0)
    assert isinstance(train, AttributeSequences)
    assert len(train) == 2
    assert train.edge_matrix.shape == (train.lengths.sum(), 1)
    assert sorted(train.tolist() + test.tolist(), key=len) == X.tolist()


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([[{"a": 1}], [{"a": 1}, {"a": None}]], "token 1 of sequence 1 cannot be read"),
        ([["the", "cat"]], "token 0 of sequence 0 cannot be read: a token must be a dict"),
        ([[[1.0, 2.0]], [[1.0]]], "sequence 1 has 1 attributes per token, others have 2"),
        ((np.eye(3), [1, 1]), "lengths add up to 2, but there are 3 tokens"),
        ((np.eye(3), [4, -1]), "sequence 1 has a negative length"),
        ((np.eye(3), [1.5, 1.5]), "whole numbers"),
        ("text", "expected a sequence of sequences"),
        (np.eye(3), r"or a pair \(matrix, lengths\)"),
        (TokenSequences({"word": TokenColumn.of([["a"]])}, np.array([0, 1])), "Templates"),
    ],
)
def test_bad_input_is_named(X, message):
    with pytest.raises(DataError, match=message):
        as_attribute_sequences(X)
