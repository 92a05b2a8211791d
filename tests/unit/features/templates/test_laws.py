"""Every kind of template against the plain reference, on generated sentences."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from separatrix.data import TokenColumn, TokenSequences
from separatrix.features.templates import Templates
from tests.unit.features.templates import reference
from tests.unit.features.templates.reference import VALUES

ALPHABET = "abAB12.|\\_é Σßǅ中٣😀-"
WORDS = st.one_of(
    st.text(ALPHABET, max_size=5),
    st.sampled_from(["the", "The", "U.S.", "B52", "_B-1", "a|b", "a\\", "1999", ""]),
)
SENTENCES = st.lists(
    st.lists(st.tuples(WORDS, st.sampled_from(["D", "N", "V", "|"])), max_size=6), max_size=5
)
PARTS = st.tuples(st.sampled_from(sorted(VALUES)), st.integers(-3, 3))
TEMPLATES = st.lists(
    st.one_of(
        st.lists(PARTS, max_size=4),
        st.sampled_from([("bag", "word", -2, 2), ("bag", "lower(word)", 0, 1)]),
    ),
    min_size=1,
    max_size=6,
)


def distinct(templates):
    """Templates without repeats, which count once."""
    return [t for i, t in enumerate(templates) if t not in templates[:i]]


@settings(max_examples=120)
@given(SENTENCES, SENTENCES, TEMPLATES, st.sampled_from(["omit", "mark"]), st.integers(1, 3))
def test_rows_are_those_of_the_reference(train, test, templates, padding, min_count):
    templates = distinct(templates)
    spec = reference.text([*templates, *templates[:2]])
    model = Templates(spec, padding=padding, min_count=min_count)
    encoded = model.fit_transform(train)
    options = {"padding": padding, "min_count": min_count}
    known, rows = reference.encode(train, train, templates, **options)
    names = model.get_feature_names_out().tolist()
    # A word that looks like the mark of a place outside makes the same attribute.
    assert set(names) == known
    assert len(names) == len(known)
    assert reference.rows_of(encoded) == rows
    assert encoded.lengths.tolist() == [len(sentence) for sentence in train]
    reference.check_canonical(encoded.matrix)
    _, rows = reference.encode(train, test, templates, **options)
    found = model.transform(test)
    assert reference.rows_of(found) == rows
    reference.check_canonical(found.matrix)


@pytest.mark.parametrize("value", sorted(VALUES))
@settings(max_examples=30)
@given(SENTENCES)
def test_every_value_alone(value, sentences):
    _, rows = reference.encode(sentences, sentences, [[(value, 0)]])
    assert reference.rows_of(Templates([value]).fit_transform(sentences)) == rows


@settings(max_examples=40)
@given(SENTENCES, TEMPLATES)
def test_hashing_merges_attributes_and_loses_none(sentences, templates):
    spec = reference.text(distinct(templates))
    plain = Templates(spec).fit_transform(sentences).matrix
    for n in (1, 7, 2**20):
        hashed = Templates(spec, hashing=n).transform(sentences).matrix
        assert hashed.shape == (plain.shape[0], n)
        np.testing.assert_array_equal(hashed.sum(axis=1), plain.sum(axis=1))
        reference.check_canonical(hashed)
    # With many columns no two of these few attributes meet: the matrices are the same up to order.
    if plain.shape[1] and len(np.unique(hashed.indices)) == plain.shape[1]:
        np.testing.assert_array_equal(
            np.sort(hashed.sum(axis=0).A1[np.unique(hashed.indices)]), np.sort(plain.sum(axis=0).A1)
        )


def test_a_hashed_column_is_the_same_everywhere():
    rows = Templates("word\nword[-1] & word", hashing=10**6).transform([["the", "cät"]])
    first = [reference.hashed(["word[0]=", ""], ["the"], 10**6)]
    second = [
        reference.hashed(["word[0]=", ""], ["cät"], 10**6),
        reference.hashed(["word[-1]|word[0]=", "|", ""], ["the", "cät"], 10**6),
    ]
    assert rows.matrix.indices.tolist() == first + sorted(second)


@settings(max_examples=30)
@given(SENTENCES, SENTENCES)
def test_every_form_of_input_gives_the_same(train, test):
    spec = "word[-1..1]\nsuffix(word, 2) & pos"
    expected = Templates(spec).fit(train)

    def columns(sentences):
        parts = [TokenColumn.of([[t[at] for t in s] for s in sentences]) for at in (0, 1)]
        named = dict(zip(("word", "pos"), parts, strict=True))
        return TokenSequences(named, parts[0].offsets)

    def dicts(sentences):
        return [[{"pos": pos, "word": word} for word, pos in s] for s in sentences]

    def lists(sentences):
        return [np.array(s, dtype=object).reshape(-1, 2) for s in sentences]

    for form in (columns, dicts, lists):
        model = Templates(spec).fit(form(train))
        assert model.get_feature_names_out().tolist() == expected.get_feature_names_out().tolist()
        found, wanted = model.transform(form(test)), expected.transform(test)
        assert (found.matrix != wanted.matrix).nnz == 0
        assert found.lengths.tolist() == wanted.lengths.tolist()


def many_sentences(n=3000, seed=0):
    random = np.random.default_rng(seed)
    words = np.array([f"w{i}" for i in range(400)], dtype=object)
    lengths = random.integers(0, 12, size=n)
    draws = (random.zipf(1.3, size=lengths.sum()) % 400).tolist()
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    return [words[draws[a:b]].tolist() for a, b in pairwise(offsets)]


@pytest.mark.parametrize("options", [{}, {"min_count": 3}, {"hashing": 1000}, {"padding": "mark"}])
def test_threads_change_nothing(options):
    spec = "bias\nword[-2..2]\nngrams(word[-2..2], 2..5)\nbag(word[-3..3])\nsuffix(word, 2)"
    sentences, fresh = many_sentences(), many_sentences(500, seed=1)
    one, *others = (Templates(spec, n_jobs=n, **options) for n in (1, 2, 3, 7))
    first, second = one.fit_transform(sentences).matrix, one.transform(fresh).matrix
    for model in others:
        for wanted, found in (
            (first, model.fit_transform(sentences).matrix),
            (first, model.transform(sentences).matrix),
            (second, model.transform(fresh).matrix),
        ):
            for part in ("indptr", "indices", "data"):
                assert getattr(wanted, part).tobytes() == getattr(found, part).tobytes()
        if "hashing" not in options:
            assert model.attributes_ == one.attributes_


def test_long_conjunctions_are_exact():
    # 400 words in seven places need more than 64 bits: the kernel packs them in stages.
    sentences = many_sentences(600)
    spec = "ngrams(word[-3..3], 7)\nngrams(lower(word)[-5..4], 10)"
    templates = [
        [("word", o) for o in range(-3, 4)],
        [("lower(word)", o) for o in range(-5, 5)],
    ]
    pairs = [[(word, "") for word in sentence] for sentence in sentences]
    known, rows = reference.encode(pairs, pairs, templates, padding="mark")
    model = Templates(spec, padding="mark")
    assert reference.rows_of(model.fit_transform(sentences)) == rows
    assert set(model.get_feature_names_out()) == known
    half = Templates(spec, padding="mark").fit(sentences[:300])
    _, rows = reference.encode(pairs[:300], pairs[300:], templates, padding="mark")
    assert reference.rows_of(half.transform(sentences[300:])) == rows
