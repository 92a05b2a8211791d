"""Sequences behind each other are what they were alone."""

from __future__ import annotations

import numpy as np
import pytest

from separatrix.data import LabelSets, TokenColumn, TokenSequences, read
from separatrix.errors import DataError

FIRST = [["the", "cat"], [], ["sat"]]
SECOND = [["the", "dog", "sat"], ["ran"]]


def test_columns_of_different_words():
    first, second = TokenColumn.of(FIRST), TokenColumn.of(SECOND)
    joined = first.joined(second)
    assert joined.tolist() == FIRST + SECOND
    assert list(joined.vocabulary) == ["the", "cat", "sat", "dog", "ran"]
    assert joined.codes.dtype == np.int32
    assert second.joined(first).tolist() == SECOND + FIRST
    assert joined.classes.tolist() == ["cat", "dog", "ran", "sat", "the"]


def test_parts_of_one_column_share_their_words():
    whole = TokenColumn.of(FIRST + SECOND)
    parts = whole.take([3, 4]).joined(whole.take([0]))
    assert parts.tolist() == [*SECOND, FIRST[0]]
    assert parts.vocabulary is whole.vocabulary
    assert whole.take([0]).classes.tolist() == ["cat", "the"]


def test_a_missing_word_stays_missing():
    vocabulary = TokenColumn.of([["a"]]).vocabulary
    gap = TokenColumn(np.array([-1, 0], dtype=np.int32), vocabulary, np.array([0, 2]))
    joined = TokenColumn.of([["b"]]).joined(gap)
    assert joined.codes.tolist() == [0, -1, 1]
    assert joined.classes.tolist() == ["a", "b"]


def test_sequences_with_columns_and_comments():
    first = read(b"a DT\nb NN\n\nc NN\n", "conll", target=None).X
    second = read(b"d DT\n", "conll", target=None).X
    joined = first.joined(second)
    assert joined.tolist() == first.tolist() + second.tolist()
    noted = TokenSequences(second.columns, second.offsets, (("# text = d",),))
    assert first.joined(noted).comments == ((), (), ("# text = d",))
    assert noted.joined(first).comments == (("# text = d",), (), ())
    with pytest.raises(DataError, match="do not fit"):
        first.joined(TokenSequences({"0": second.columns["0"]}, second.offsets))


def test_label_sets():
    first, second = LabelSets.of([("a", "b"), ()]), LabelSets.of([("c",)])
    joined = first.joined(second)
    assert list(joined) == [("a", "b"), (), ("c",)]
    assert joined.known is None
    assert list(joined[np.array([2, 0])]) == [("c",), ("a", "b")]
    assert list(joined[np.array([False, True, True])]) == [(), ("c",)]
    told = LabelSets(second.labels, second.offsets, np.array(["c", "d"]))
    assert first.joined(told).classes.tolist() == ["a", "b", "c", "d"]
    assert told.take([0]).classes.tolist() == ["c", "d"]
    assert told.matrix().toarray().tolist() == [[1, 0]]
