"""The baselines on sequences count, and nothing else."""

from __future__ import annotations

import pickle
from collections import Counter, defaultdict

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from separatrix import LabelPerWord, MajorityLabel
from separatrix.data import TokenColumn, TokenSequences, read
from separatrix.errors import DataError
from tests.unit.experiment.problems import conll

DATA = read(conll(50).encode())
WORDS, TAGS = DATA.X.columns["0"].tolist(), DATA.y.tolist()


def test_majority_is_the_most_frequent_label():
    model = MajorityLabel().fit(WORDS, TAGS)
    label, count = Counter(tag for row in TAGS for tag in row).most_common(1)[0]
    assert model.predict([["any", "word"], []]) == [[label, label], []]
    assert model.label_prior_.max() == pytest.approx(count / sum(map(len, TAGS)))
    assert model.score(WORDS, TAGS) == pytest.approx(model.label_prior_.max())


def test_each_word_gets_its_own_most_frequent_label():
    model = LabelPerWord().fit(WORDS, TAGS)
    counts = defaultdict(Counter)
    for words, tags in zip(WORDS, TAGS, strict=True):
        for word, tag in zip(words, tags, strict=True):
            counts[word][tag] += 1
    for word, seen in counts.items():
        (tag,) = model.predict([[word]])[0]
        assert seen[tag] == max(seen.values())
    majority = MajorityLabel().fit(WORDS, TAGS).predict([["x"]])[0]
    assert model.predict([["never seen"]])[0] == majority


@pytest.mark.parametrize("cls", [MajorityLabel, LabelPerWord])
def test_any_form_of_input_gives_the_same(cls):
    dicts = [[{"word": word} for word in row] for row in WORDS]
    tuples = [[(word, "x") for word in row] for row in WORDS]
    said = cls().fit(WORDS, TAGS).predict(WORDS)
    for X in (dicts, tuples, DATA.X):
        assert cls().fit(X, DATA.y).predict(X) == said
    again = pickle.loads(pickle.dumps(cls().fit(WORDS, TAGS)))
    assert again.predict(WORDS) == said
    assert clone(cls()).get_params() == cls().get_params()


def test_tokens_without_a_word_get_the_majority():
    codes = TokenColumn(np.array([-1, 0], dtype=np.int32), TokenColumn.of([["the"]]).vocabulary,
                        np.array([0, 2]))  # fmt: skip
    X = TokenSequences({"word": codes}, codes.offsets)
    model = LabelPerWord().fit(WORDS, TAGS)
    assert model.predict(X)[0][0] == model.predict([["never seen"]])[0][0]
    assert model.predict(X)[0][1] == model.predict([["the"]])[0][0]


@pytest.mark.parametrize("cls", [MajorityLabel, LabelPerWord])
def test_bad_input(cls):
    with pytest.raises(NotFittedError):
        cls().predict(WORDS)
    with pytest.raises(DataError, match="holds no token"):
        cls().fit([[]], [[]])
    with pytest.raises(DataError, match="sequence 0 has 2 tokens, but 1 labels"):
        cls().fit([["a", "b"]], [["X"]])
    with pytest.raises(DataError, match="there is no column 'lemma'"):
        LabelPerWord("lemma").fit(WORDS, TAGS)
