"""Chunks as conlleval counts them, and accuracies of sequences."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from separatrix.errors import DataError
from separatrix.metrics import (
    chunk_counts,
    chunk_f1,
    chunk_report,
    chunks,
    sequence_accuracy,
    token_accuracy,
    token_counts,
)
from separatrix.structures.chain.constraints import grammar_of

TAGS = st.sampled_from(["O", "B-A", "I-A", "E-A", "S-A", "B-B", "I-B", "E-B", "S-B"])


def conlleval(tags):
    """Chunks by the rules of conlleval.pl (endOfChunk and startOfChunk), with S as its ports."""
    found, start = [], None
    before, kind_before = "O", ""
    for t, tag in enumerate([*tags, "O"]):
        prefix, _, kind = tag.partition("-")
        ends = before in ("E", "S") or (before in ("B", "I") and prefix in ("B", "S", "O"))
        ends |= before != "O" and kind_before != kind
        if start is not None and ends:
            found.append((start, t, kind_before))
            start = None
        begins = prefix in ("B", "S") or (before in ("E", "S", "O") and prefix in ("E", "I"))
        begins |= prefix != "O" and kind_before != kind
        if begins:
            start = t
        before, kind_before = prefix, kind
    return found


@given(st.lists(TAGS, max_size=12))
def test_chunks_are_those_of_conlleval(tags):
    assert chunks(tags) == conlleval(tags)


@given(st.lists(st.lists(st.tuples(TAGS, TAGS), max_size=8), min_size=1, max_size=5))
def test_the_report_counts_chunks(pairs):
    true = [[a for a, _ in row] for row in pairs]
    found = [[b for _, b in row] for row in pairs]
    report = chunk_report(true, found)
    gold = [(i, *c) for i, row in enumerate(true) for c in conlleval(row)]
    guess = [(i, *c) for i, row in enumerate(found) for c in conlleval(row)]
    right = set(gold) & set(guess)
    assert report.n_true.sum() == len(gold)
    assert report.n_predicted.sum() == len(guess)
    assert report.n_correct.sum() == len(right)
    for number, kind in enumerate(report.types):
        assert report.n_correct[number] == sum(c[3] == kind for c in right)
    p = len(right) / len(guess) if guess else 0.0
    r = len(right) / len(gold) if gold else 0.0
    f1 = 2 * p * r / (p + r) if p + r else 0.0
    assert report.overall == pytest.approx((p, r, f1))
    assert chunk_f1(true, found) == pytest.approx(f1)


def test_the_same_chunks_in_three_encodings():
    bio = ["B-A", "I-A", "B-A", "O", "B-B"]
    iob1 = ["I-A", "I-A", "B-A", "O", "I-B"]
    bioes = ["B-A", "E-A", "S-A", "O", "S-B"]
    assert chunks(bio) == chunks(iob1) == chunks(bioes) == [(0, 2, "A"), (2, 3, "A"), (4, 5, "B")]


def test_accuracies():
    true, found = [["A", "B"], ["A"], []], [["A", "A"], ["A"], []]
    assert token_accuracy(true, found) == pytest.approx(2 / 3)
    assert token_accuracy(true, found, sample_weight=[1, 2, 5]) == pytest.approx(3 / 4)
    assert sequence_accuracy(true, found) == pytest.approx(2 / 3)
    assert np.isnan(token_accuracy([], []))
    with pytest.raises(DataError, match="sequence 0 has 2 labels in y_true, 1 in y_pred"):
        token_accuracy(true, [["A"], ["A"], []])
    with pytest.raises(DataError, match="'X' does not encode a chunk"):
        chunk_report([["X"]], [["X"]])


def test_the_report_as_a_table():
    text = str(chunk_report([["B-NP", "O"]], [["B-NP", "B-VP"]]))
    assert "NP" in text
    assert "50.00%" in text


@pytest.mark.parametrize("encoding", ["BIO", "BIOES", "IOB1"])
def test_what_a_grammar_allows_reads_back(encoding):
    prefixes = "BIES" if encoding == "BIOES" else "BI"
    labels = ["O", *(f"{p}-{kind}" for p in prefixes for kind in ("A", "B"))]
    rules = grammar_of(encoding, labels)
    random = np.random.default_rng(0)
    for _ in range(300):
        path = random.integers(len(labels), size=4)
        allowed = (
            not rules.start[path[0]]
            and not rules.end[path[-1]]
            and not rules.pairs[path[:-1], path[1:]].any()
        )
        tags = [labels[i] for i in path]
        assert allowed == (encoded(chunks(tags), len(tags), encoding) == tags)


def encoded(found, length, encoding):
    """The one right way to write chunks in an encoding."""
    tags = ["O"] * length
    for number, (a, b, kind) in enumerate(found):
        if encoding == "BIOES":
            inner = ["S"] if b - a == 1 else ["B", *"I" * (b - a - 2), "E"]
        elif encoding == "BIO":
            inner = ["B", *"I" * (b - a - 1)]
        else:
            joins = number > 0 and found[number - 1][1] == a and found[number - 1][2] == kind
            inner = ["B" if joins else "I", *"I" * (b - a - 1)]
        tags[a:b] = [f"{prefix}-{kind}" for prefix in inner]
    return tags


def test_counts_of_sequences_are_those_of_each_alone():
    random = np.random.default_rng(1)
    labels = ["O", "B-A", "I-A", "B-B", "I-B"]
    sides = [
        [[str(tag) for tag in random.choice(labels, size)] for size in (3, 0, 5, 1, 7)]
        for _ in range(2)
    ]
    tokens, found = token_counts(*sides), chunk_counts(*sides)
    for row, (true, said) in enumerate(zip(*sides, strict=True)):
        right = sum(a == b for a, b in zip(true, said, strict=True))
        assert tokens[row].tolist() == [right, len(true)]
        both = set(chunks(true)) & set(chunks(said))
        assert found[row].tolist() == [len(both), len(chunks(true)), len(chunks(said))]
    report = chunk_report(*sides)
    totals = [report.n_correct.sum(), report.n_true.sum(), report.n_predicted.sum()]
    assert found.sum(axis=0).tolist() == [int(total) for total in totals]
