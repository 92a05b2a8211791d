"""Text features give scikit-learn's matrices: the same columns, the same values to 1e-12."""

import gzip
import json

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction import FeatureHasher
from sklearn.feature_extraction.text import (
    CountVectorizer,
    HashingVectorizer,
    TfidfTransformer,
    TfidfVectorizer,
)

from separatrix.features import Hasher, TextVectorizer
from tests.conftest import require_data

CORPUS = [
    "The quick brown fox jumps over the lazy dog; the dog sleeps.",
    "NAÏVE café — Ærøskøbing, İstanbul, ǅungla, ŐSZI",
    "ΟΔΥΣΣΕΥΣ ΣΑΣ Σ ΑΣ'Α ΑΣ. ΌΣΟΣ σς",
    "l'été à la plage: 3.14 x_1 __init__ a b c",
    "",
    "   \t\n  \u00a0 \u2003 ",
    "e\u0301te\u0301 ñandu\u0303 क्षत्रिय हिन्दी",
    "\u0130\u0131iI ﬁne ½ ② Ⅷ ﷺ 한국어 漢字かな交じり",
    "nul\x00byte \x00 \x1c\x1d\x85 tabs\t\ttwo  spaces\n\nend\n",
    "👩‍👩‍👧 emoji🎉🎉 🎉 🇳🇴",
    "x" * 5000 + " " + "y" * 13 + " " + "é" * 700,
    "the the the THE The fox fox _ __ ___",
    "of and the in to a is it",
]
PROSE = [CORPUS[0], CORPUS[3], CORPUS[11], "the dog is not the fox", "over and over the plage"]


def assert_equal(ours, theirs, *, rtol=1e-12):
    assert ours.shape == theirs.shape
    theirs = theirs.tocsr().copy()
    theirs.sort_indices()
    np.testing.assert_array_equal(ours.indptr, theirs.indptr)
    np.testing.assert_array_equal(ours.indices, theirs.indices)
    np.testing.assert_allclose(ours.data, theirs.data, rtol=rtol, atol=0)
    assert ours.indices.dtype == ours.indptr.dtype == np.int32
    assert ours.has_sorted_indices


def compare(ours, theirs, train, test, rtol=1e-12):
    """Fit both, compare matrices, names and weights; or find that both refuse."""
    try:
        expected = theirs.fit_transform(train)
    except ValueError as error:
        with pytest.raises(ValueError, match=str(error)[:20]):
            ours.fit_transform(train)
        return
    assert_equal(ours.fit_transform(train), expected, rtol=rtol)
    assert list(ours.get_feature_names_out()) == list(theirs.get_feature_names_out())
    assert ours.vocabulary_ == theirs.vocabulary_
    assert_equal(ours.transform(test), theirs.transform(test), rtol=rtol)


SHAPES = [
    {},
    {"ngram_range": (1, 2)},
    {"ngram_range": (2, 2)},
    {"ngram_range": (1, 3)},
    {"ngram_range": (3, 3)},
    {"ngram_range": (2, 6)},
    {"analyzer": "char", "ngram_range": (1, 3)},
    {"analyzer": "char", "ngram_range": (2, 14)},
    {"analyzer": "char_wb", "ngram_range": (1, 1)},
    {"analyzer": "char_wb", "ngram_range": (2, 4)},
    {"analyzer": "char_wb", "ngram_range": (3, 30)},
    {"stop_words": "english", "ngram_range": (1, 2)},
    {"stop_words": ["the", "fox", "été", "a much longer stop word"]},
    {"token_pattern": r"(?u)\b\w+\b", "ngram_range": (1, 2)},
    {"token_pattern": r"[^,;.]+", "stop_words": ["the dog sleeps"], "ngram_range": (1, 2)},
    {"token_pattern": r"(\w)\w*"},
]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("lowercase", [True, False])
@pytest.mark.parametrize("strip_accents", [None, "ascii", "unicode"])
@pytest.mark.filterwarnings("ignore:Your stop_words may be inconsistent")
def test_analysis(shape, lowercase, strip_accents):
    options = {**shape, "lowercase": lowercase, "strip_accents": strip_accents}
    compare(
        TextVectorizer(**options, use_idf=False, norm=None),
        CountVectorizer(**options),
        CORPUS,
        [*CORPUS[::-1], "unknown words only"],
    )
    hashed = HashingVectorizer(**options, n_features=53, norm=None)
    ours = TextVectorizer(**options, n_features=53, norm=None, use_idf=False)
    assert_equal(ours.transform(CORPUS), hashed.transform(CORPUS))


WEIGHTS = [
    {},
    {"sublinear_tf": True},
    {"binary": True},
    {"binary": True, "sublinear_tf": True, "norm": "l1"},
    {"smooth_idf": False},
    {"use_idf": False},
    {"use_idf": False, "norm": "l1", "sublinear_tf": True},
    {"norm": None},
]


@pytest.mark.parametrize("weights", WEIGHTS, ids=str)
@pytest.mark.parametrize("shape", [{}, {"ngram_range": (1, 2)}, {"analyzer": "char_wb"}], ids=str)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_weights(weights, shape, dtype):
    rtol = 1e-12 if dtype == np.float64 else 2e-6
    ours = TextVectorizer(**shape, **weights, dtype=dtype)
    theirs = TfidfVectorizer(**shape, **weights, dtype=dtype)
    compare(ours, theirs, CORPUS, CORPUS[::-1], rtol=rtol)
    assert ours.fit_transform(CORPUS).dtype == dtype
    if weights.get("use_idf", True):
        assert ours.idf_.dtype == dtype
        np.testing.assert_allclose(ours.idf_, theirs.idf_, rtol=rtol)


LIMITS = [
    {"min_df": 2},
    {"min_df": 0.3},
    {"max_df": 0.5},
    {"max_df": 2, "min_df": 2},
    {"max_df": 1},
    {"min_df": 3, "max_df": 2},
    {"min_df": 50},
    {"max_features": 1},
    {"max_features": 7},
    {"max_features": 10_000},
    {"max_features": 5, "max_df": 0.7, "binary": True},
    {"max_features": 12, "min_df": 2},
]


@pytest.mark.parametrize("limits", LIMITS, ids=str)
@pytest.mark.parametrize("shape", [{}, {"ngram_range": (1, 2)}, {"ngram_range": (2, 3)}], ids=str)
def test_limits(limits, shape):
    options = {**limits, **shape}
    compare(TextVectorizer(**options), TfidfVectorizer(**options), PROSE, CORPUS)


@pytest.mark.parametrize(
    "vocabulary",
    [
        ["fox", "dog", "lazy dog", "the", "over the lazy"],
        {"fox": 2, "dog": 0, "brown  fox": 1, "Upper": 3, "a": 4, "": 5, " fox": 6},
        {"dog", "fox", "été"},
    ],
    ids=["list", "dict", "set"],
)
@pytest.mark.parametrize("shape", [{}, {"ngram_range": (1, 2)}, {"ngram_range": (2, 3)}], ids=str)
@pytest.mark.filterwarnings("ignore:Upper case characters found")
@pytest.mark.filterwarnings("ignore:divide by zero")
def test_fixed_vocabulary(vocabulary, shape):
    options = {**shape, "vocabulary": vocabulary}
    compare(TextVectorizer(**options), TfidfVectorizer(**options), CORPUS, PROSE)
    stateless = TextVectorizer(**options, use_idf=False, norm=None)
    assert_equal(stateless.transform(CORPUS), CountVectorizer(**options).transform(CORPUS))


@pytest.mark.parametrize("n_features", [1, 2, 7, 2**10, 2**20, 1_000_003, 2**31 - 2])
@pytest.mark.parametrize("alternate_sign", [True, False])
@pytest.mark.parametrize("weights", [{}, {"norm": None}, {"norm": "l1"}, {"binary": True}], ids=str)
def test_hashing(n_features, alternate_sign, weights):
    options = {"n_features": n_features, "alternate_sign": alternate_sign, "ngram_range": (1, 2)}
    theirs = HashingVectorizer(**options, **weights)
    ours = TextVectorizer(**options, **weights, use_idf=False)
    assert_equal(ours.fit_transform(CORPUS), theirs.fit_transform(CORPUS))
    if n_features <= 2**20 and not alternate_sign:
        counts = HashingVectorizer(**options, norm=None).transform(CORPUS)
        idf = TfidfTransformer().fit(counts)
        ours = TextVectorizer(**options)
        assert_equal(ours.fit_transform(CORPUS), idf.transform(counts))


# Letters whose case, width or company makes trouble, and any other character but surrogates.
TROUBLE = st.sampled_from(
    list("aAbB09_ \t\n\x00\x1cİıIiΣσςΑ'.\u0301\u0345\u00ad\u200dßẞﬁǅ½ªʰé漢한🎉\U0001d400")
)
TEXTS = st.lists(
    st.text(st.one_of(TROUBLE, TROUBLE, st.characters(exclude_categories=["Cs"])), max_size=40),
    min_size=1,
    max_size=5,
)


@settings(max_examples=250)
@given(
    texts=TEXTS,
    shape=st.sampled_from([shape for shape in SHAPES if "token_pattern" not in shape]),
    lowercase=st.booleans(),
    strip_accents=st.sampled_from([None, "ascii", "unicode"]),
    n_jobs=st.sampled_from([1, 2]),
)
@example(["\x00" * 30, "a\x00", "a"], {"analyzer": "char", "ngram_range": (1, 13)}, True, None, 1)
@pytest.mark.filterwarnings("ignore:Your stop_words may be inconsistent")
def test_any_text(texts, shape, lowercase, strip_accents, n_jobs):
    options = {**shape, "lowercase": lowercase, "strip_accents": strip_accents}
    compare(
        TextVectorizer(**options, n_jobs=n_jobs), TfidfVectorizer(**options), texts, texts[::-1]
    )
    ours = TextVectorizer(**options, n_features=64, use_idf=False, n_jobs=n_jobs)
    assert_equal(
        ours.transform(texts), HashingVectorizer(**options, n_features=64).transform(texts)
    )


def test_every_character():
    """Each code point alone, between letters and beside a sigma, one document per block."""
    characters = [chr(c) for c in range(0x110000) if not 0xD800 <= c < 0xE000]
    probes = [f"{c}x a{c}b {c}Σ A{c}Σ AΣ{c} AΣ{c}A {c}{c}" for c in characters]
    documents = ["\n".join(probes[i : i + 4096]) for i in range(0, 0x30000, 4096)]
    for strip_accents in (None, "unicode", "ascii"):
        theirs = HashingVectorizer(norm=None, n_features=2**18, strip_accents=strip_accents)
        ours = TextVectorizer(
            norm=None, n_features=2**18, strip_accents=strip_accents, use_idf=False
        )
        assert_equal(ours.transform(documents), theirs.transform(documents))


VALUES = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False, width=32),
    st.integers(-5, 5),
    st.booleans(),
    st.text(max_size=3),
)
NAMES = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=6), st.binary(max_size=4)
)


@given(
    rows=st.lists(st.lists(st.tuples(NAMES, VALUES), max_size=6), min_size=1, max_size=4),
    n_features=st.sampled_from([1, 3, 16, 2**20, 2**31 - 1]),
    alternate_sign=st.booleans(),
)
def test_hasher(rows, n_features, alternate_sign):
    rows = [
        [(name, value) for name, value in row if isinstance(name, str) or type(value) is not str]
        for row in rows
    ]
    options = {"n_features": n_features, "alternate_sign": alternate_sign}
    for kind, data in (
        ("pair", rows),
        ("dict", [dict(row) for row in rows]),
        ("string", [[name for name, _ in row] for row in rows]),
    ):
        theirs = FeatureHasher(input_type=kind, **options).transform(iter(data))
        ours = Hasher(input_type=kind, **options).fit().transform(iter(data))
        np.testing.assert_array_equal(ours.indptr, theirs.indptr)
        np.testing.assert_array_equal(ours.indices, theirs.indices)
        np.testing.assert_allclose(ours.data, theirs.data, rtol=1e-12, atol=1e-12)


def texts_of(name, split):
    with gzip.open(require_data(name) / f"{split}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line)["text"] for line in lines]


@pytest.mark.data("sms_spam")
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.filterwarnings("ignore:Your stop_words may be inconsistent")
def test_sms_spam(shape):
    with gzip.open(require_data("sms_spam") / "SMSSpamCollection.gz", "rt", encoding="utf-8") as f:
        texts = [line.partition("\t")[2] for line in f]
    options = {**shape, "min_df": 2, "sublinear_tf": True}
    compare(TextVectorizer(**options), TfidfVectorizer(**options), texts[:1000], texts[1000:1500])


@pytest.mark.data("20newsgroups")
def test_newsgroups():
    train, test = texts_of("20newsgroups", "train")[::4], texts_of("20newsgroups", "test")[::8]
    options = {"ngram_range": (1, 2), "min_df": 2, "sublinear_tf": True}
    compare(TextVectorizer(**options), TfidfVectorizer(**options), train, test)
    ours = TextVectorizer(n_features=2**20, use_idf=False)
    assert_equal(ours.transform(test), HashingVectorizer().transform(test))


@pytest.mark.slow
@pytest.mark.data("20newsgroups")
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"ngram_range": (1, 3), "min_df": 3, "max_df": 0.5},
        {"analyzer": "char_wb", "ngram_range": (3, 5), "min_df": 5},
        {"analyzer": "char", "ngram_range": (2, 4), "max_features": 50_000},
        {"stop_words": "english", "max_features": 20_000, "strip_accents": "unicode"},
    ],
    ids=str,
)
def test_all_newsgroups(options):
    train, test = texts_of("20newsgroups", "train"), texts_of("20newsgroups", "test")
    compare(TextVectorizer(**options), TfidfVectorizer(**options), train, test)
