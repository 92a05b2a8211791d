"""Laws of the text vectorizer: threads, batches, input forms, weights, pickles, bad input."""

import os
import pickle
import signal
import subprocess
import sys
import threading

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

from separatrix import LogisticRegression
from separatrix.errors import DataError, NotFittedError, ParameterError
from separatrix.features import TextVectorizer

WORDS = np.array([f"{a}{b}{'é' * (b == 'q')}" for a in "abcdefghij" for b in "klmnopqrst"])


def documents(n, length=40, seed=0):
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(WORDS, rng.integers(0, length))) for _ in range(n)]


def labels(texts):
    return np.array(["spam" if "ak" in text else "ham" for text in texts])


def assert_same(a, b):
    np.testing.assert_array_equal(a.indptr, b.indptr)
    np.testing.assert_array_equal(a.indices, b.indices)
    np.testing.assert_array_equal(a.data, b.data)
    assert a.shape == b.shape


OPTIONS = [
    {"ngram_range": (1, 2), "min_df": 2},
    {"ngram_range": (2, 3), "max_features": 50},
    {"analyzer": "char_wb", "ngram_range": (2, 4), "max_df": 0.5, "sublinear_tf": True},
    {"n_features": 256, "ngram_range": (1, 2)},
    {"n_features": 256, "use_idf": False, "alternate_sign": False},
    {"vocabulary": ["ak", "bk", "ak bk"], "ngram_range": (1, 2)},
    {"token_pattern": r"\w+", "ngram_range": (1, 2), "min_df": 2},
    {"nb_log_ratio": True, "min_df": 3},
    {"nb_log_ratio": True, "binary": True, "n_features": 64},
]


@pytest.fixture(params=OPTIONS, ids=str)
def options(request):
    return request.param


def test_one_thread_equals_many(options):
    texts = documents(4000, 100)
    one = TextVectorizer(**options, n_jobs=1)
    X = one.fit_transform(texts, labels(texts))
    assert_same(one.transform(texts), X)
    for n_jobs in (2, 3, 8):
        many = TextVectorizer(**options, n_jobs=n_jobs)
        assert_same(many.fit_transform(texts, labels(texts)), X)
        assert_same(many.transform(texts), X)
        assert list(many.get_feature_names_out()) == list(one.get_feature_names_out())


def test_batches_equal_one_fit(options):
    texts = documents(300)
    whole = TextVectorizer(**options).fit(texts, labels(texts))
    batched = TextVectorizer(**options)
    for start in range(0, 300, 70):
        part = texts[start : start + 70]
        batched.partial_fit(part, labels(part), classes=["spam", "ham"])
        batched.transform(part)  # looking in between changes nothing
        if start == 140:
            batched = pickle.loads(pickle.dumps(batched))
    assert batched.n_documents_ == 300
    assert list(batched.get_feature_names_out()) == list(whole.get_feature_names_out())
    assert_same(batched.transform(texts), whole.transform(texts))


def test_fit_then_transform_equals_fit_transform(options):
    texts = documents(200)
    vectorizer = TextVectorizer(**options)
    X = vectorizer.fit_transform(texts, labels(texts))
    assert_same(clone(vectorizer).fit(texts, labels(texts)).transform(texts), X)
    again = pickle.loads(pickle.dumps(vectorizer))
    assert_same(again.transform(texts), X)
    assert_same(vectorizer.transform(iter(texts)), X)
    rows = sp.vstack([vectorizer.transform([text]) for text in texts], format="csr")
    assert_same(rows, X)


def forms(texts):
    table = pa.table({"text": texts})["text"]
    yield "tuple", tuple(texts)
    yield "generator", (text for text in texts)
    yield "numpy", np.array(texts)
    yield "object", np.array(texts, dtype=object)
    yield "pandas", pd.Series(texts, index=np.arange(len(texts))[::-1])
    yield "pandas object", pd.Series(texts, dtype=object)
    yield "pandas frame", pd.DataFrame({"text": texts})
    yield "polars", pl.Series(texts)
    yield "polars frame", pl.DataFrame({"text": texts})
    yield "arrow", pa.array(texts)
    yield "large arrow", pa.array(texts, type=pa.large_string())
    yield "chunks", pa.chunked_array([texts[:3], [], texts[3:50], texts[50:]])
    yield "slice", pa.array(["skip", *texts, "skip"]).slice(1, len(texts))
    yield "column", table
    yield "dictionary", pa.array(texts).dictionary_encode()
    yield "view", pa.array(texts).cast(pa.string_view())


def test_input_forms():
    texts = [*documents(100), "", "naïve Σας 🎉 ΑΣ"]
    for options in ({"ngram_range": (1, 2)}, {"token_pattern": r"\w+"}):
        expected = TextVectorizer(**options).fit_transform(texts)
        for name, form in forms(texts):
            made = TextVectorizer(**options).fit_transform(form)
            assert_same(made, expected), name
        assert_same(TextVectorizer(**options).fit(pa.array(texts)).transform(texts), expected)


def test_arrow_is_not_copied():
    texts = pa.array(documents(20))
    before = pa.total_allocated_bytes()
    vectorizer = TextVectorizer().fit(texts)
    vectorizer.transform(texts)
    assert pa.total_allocated_bytes() == before


class Other:
    def __repr__(self):
        return "Other()"


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        (None, "row 7 is missing"),
        (np.nan, "row 7 is missing"),
        (pd.NA, "row 7 is missing"),
        (b"bytes", "row 7 is bytes; decode"),
        (3, "row 7 is of type int"),
        (["a", "list"], "row 7 is of type list"),
        (Other(), "row 7 is of type Other"),
        ("bad \ud83d pair", "row 7 holds a lone surrogate at character 4"),
    ],
    ids=repr,
)
def test_the_bad_document_is_named(bad, words):
    texts = [*documents(7), bad, "the end"]
    vectorizer = TextVectorizer().fit(["something else"])
    for call in (
        vectorizer.transform,
        TextVectorizer().fit,
        TextVectorizer().fit_transform,
        TextVectorizer().partial_fit,
        TextVectorizer(n_features=8, use_idf=False).transform,
    ):
        with pytest.raises(DataError, match=words):
            call(texts)
        with pytest.raises(DataError, match=words):
            call(iter(texts))


@pytest.mark.parametrize(
    "column",
    [
        pd.Series(["a b", None]),
        pd.Series(["a b", np.nan], dtype=object),
        pl.Series(["a b", None]),
        pa.array(["a b", None]),
        pa.chunked_array([["a b"], pa.array([None], type=pa.string())]),
    ],
    ids=lambda column: f"{type(column).__module__} {getattr(column, 'dtype', '')}",
)
def test_missing_values_of_columns_are_named(column):
    with pytest.raises(DataError, match="row 1 is missing"):
        TextVectorizer().fit(column)


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        ("a single string", "string object received"),
        (b"bytes", "string object received"),
        (3, "got int"),
        (None, "got NoneType"),
        ({"a": "b"}, "mapping"),
        (np.array([["a", "b"]]), r"shape \(1, 2\)"),
        (np.array(1), r"shape \(\)"),
        (pd.DataFrame({"a": ["x"], "b": ["y"]}), "one column"),
        (pa.array([1, 2]), "type int64"),
        (pd.Series([1.5]), "row 0 is of type float"),
    ],
    ids=["str", "bytes", "int", "none", "dict", "matrix", "scalar", "frame", "ints", "floats"],
)
def test_what_is_no_list_of_documents_is_refused(bad, words):
    for vectorizer in (TextVectorizer(), TextVectorizer(token_pattern=r"\w+")):
        words = words.replace("is of type float", ".*float")
        with pytest.raises(DataError, match=words):
            vectorizer.fit(bad)


def test_invalid_utf8_of_arrow_is_named():
    array = pa.Array.from_buffers(
        pa.string(), 2, [None, pa.py_buffer(np.int32([0, 1, 3])), pa.py_buffer(b"a\xff\xfe")]
    )
    with pytest.raises(DataError, match=r"row 1 is not valid UTF-8 at byte 0"):
        TextVectorizer().fit(array)


@pytest.mark.parametrize(
    "parameters",
    [
        {"analyzer": "words"},
        {"ngram_range": (2, 1)},
        {"ngram_range": (0, 1)},
        {"ngram_range": 2},
        {"strip_accents": "all"},
        {"token_pattern": "("},
        {"token_pattern": r"(\w)(\w)"},
        {"stop_words": "klingon"},
        {"stop_words": [1]},
        {"analyzer": "char", "stop_words": "english"},
        {"min_df": 0},
        {"min_df": 1.5},
        {"max_df": -1},
        {"max_features": 0},
        {"vocabulary": []},
        {"vocabulary": ["a", "a"]},
        {"vocabulary": {"a": 1}},
        {"vocabulary": "word"},
        {"n_features": 0},
        {"n_features": 2**31},
        {"n_features": 8, "min_df": 2},
        {"norm": "max"},
        {"dtype": "int64"},
        {"n_jobs": 0},
    ],
    ids=str,
)
def test_bad_parameters_are_refused(parameters):
    with pytest.raises(ParameterError):
        TextVectorizer(**parameters).fit(["some text"])


def test_not_fitted():
    for call in (
        TextVectorizer().transform,
        TextVectorizer(n_features=8).transform,
        TextVectorizer(vocabulary=["a"]).transform,
    ):
        with pytest.raises(NotFittedError):
            call(["text"])
    for name in ("idf_", "vocabulary_"):
        with pytest.raises(NotFittedError):
            getattr(TextVectorizer(), name)
    with pytest.raises(ParameterError, match="after fit"):
        TextVectorizer().fit(["some text"]).partial_fit(["more text"])
    assert TextVectorizer(n_features=8, use_idf=False).transform([]).shape == (0, 8)
    assert TextVectorizer().fit(["some text"]).transform([]).shape == (0, 2)


def test_log_count_ratio():
    texts = ["good film good", "good plot", "bad film", "bad bad", "good or bad"]
    y = [1, 1, 0, 0, 0]
    for binary in (False, True):
        plain = TextVectorizer(binary=binary)
        X = plain.fit_transform(texts)
        counts = CountVectorizer(binary=binary).fit_transform(texts).toarray()
        p, q = 1 + counts[:2].sum(axis=0), 1 + counts[2:].sum(axis=0)
        ratio = np.log((p / p.sum()) / (q / q.sum()))
        scaled = TextVectorizer(binary=binary, nb_log_ratio=True)
        Z = scaled.fit_transform(texts, y)
        np.testing.assert_allclose(scaled.log_ratio_, ratio, rtol=1e-12)
        np.testing.assert_allclose(Z.toarray(), X.toarray() * ratio, rtol=1e-12)
        flipped = TextVectorizer(binary=binary, nb_log_ratio=True).fit(texts, [1 - v for v in y])
        np.testing.assert_allclose(flipped.log_ratio_, -ratio, rtol=1e-12)


@pytest.mark.parametrize(
    ("y", "words"),
    [
        (None, "requires y"),
        ([0, 1, 2, 0, 1], "two classes, got 3"),
        ([0] * 5, "two classes, got 1"),
        ([0, 1], "y has 2"),
        ([0, 1] * 5, "y has 10"),
    ],
)
@pytest.mark.parametrize("n_features", [None, 16])
def test_log_count_ratio_needs_two_classes(y, words, n_features):
    texts = ["good film", "good plot", "bad film", "bad", "or"]
    with pytest.raises(DataError, match=words):
        TextVectorizer(nb_log_ratio=True, n_features=n_features).fit(texts, y)


def test_inverse_transform():
    texts = ["dog cat", "", "dog dog bird"]
    vectorizer = TextVectorizer().fit(texts)
    X = vectorizer.transform(texts)
    expected = [["cat", "dog"], [], ["bird", "dog"]]
    for form in (X, X.toarray(), sp.coo_array(X)):
        assert [list(terms) for terms in vectorizer.inverse_transform(form)] == expected
    with pytest.raises(DataError, match="2 columns"):
        vectorizer.inverse_transform(X[:, :2])
    with pytest.raises(ParameterError, match="hash"):
        TextVectorizer(n_features=4).fit(texts).inverse_transform(np.ones((1, 4)))


def test_estimator_checks():
    check_estimator(TextVectorizer())
    check_estimator(TextVectorizer(n_features=16, use_idf=False))


def test_in_pipelines():
    texts = documents(200)
    y = labels(texts)
    model = make_pipeline(TextVectorizer(dtype="float32"), LogisticRegression(C=100)).fit(texts, y)
    assert model.score(texts, y) > 0.95
    frame = pd.DataFrame({"body": texts, "size": [len(text) for text in texts]})
    columns = ColumnTransformer([("words", TextVectorizer(), "body")], remainder="passthrough")
    made = columns.fit_transform(frame)
    assert made.shape[1] == len(columns.get_feature_names_out())
    assert columns.get_feature_names_out()[-1] == "remainder__size"
    model = make_pipeline(TextVectorizer(nb_log_ratio=True), LogisticRegression()).fit(texts, y)
    assert model.score(texts, y) > 0.9


def test_sparse_output_cannot_be_a_frame():
    vectorizer = TextVectorizer().set_output(transform="pandas")
    with pytest.raises(ValueError, match="sparse"):
        vectorizer.fit_transform(["some text"])


def test_long_documents_and_many():
    long = "word " * 300_000 + "x" * 1_000_000
    X = TextVectorizer(use_idf=False, norm=None).fit_transform([long, "word"])
    assert X.toarray().tolist() == [[300_000, 1], [1, 0]]
    many = TextVectorizer(use_idf=False, norm=None).fit_transform(["ab"] * 200_000)
    assert many.shape == (200_000, 1)
    assert many.sum() == 200_000


def test_a_generator_that_fails_is_heard():
    def broken():
        yield "some text"
        raise RuntimeError("the disk is full")

    with pytest.raises(RuntimeError, match="disk"):
        TextVectorizer().fit(broken())


def test_documents_before_a_failed_batch_stay_counted():
    vectorizer = TextVectorizer().partial_fit(["aa bb"])
    with pytest.raises(DataError):
        vectorizer.partial_fit(["cc dd", None])
    assert vectorizer.n_documents_ == 1
    assert vectorizer.partial_fit(["bb ee"]).n_documents_ == 2
    assert list(vectorizer.get_feature_names_out()) == ["aa", "bb", "ee"]


def test_threads_may_share_a_vectorizer():
    texts = documents(500)
    vectorizer = TextVectorizer(ngram_range=(1, 2)).fit(texts)
    expected = vectorizer.transform(texts)
    results = [None] * 4

    def work(i):
        results[i] = vectorizer.transform(texts)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    for result in results:
        assert_same(result, expected)


SCRIPT = """
import os, signal, threading
from separatrix.features import TextVectorizer
texts = [" ".join(f"w{i * j % 7919}" for j in range(400)) for i in range(2000)]
vectorizer = TextVectorizer(ngram_range=(1, 2)).fit(texts[:50])

def forever():
    while True:
        yield from texts

threading.Timer(1.0, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    CALL(forever())
except KeyboardInterrupt:
    print("raised")
"""


@pytest.mark.skipif(not hasattr(signal, "SIGINT") or os.name == "nt", reason="POSIX signals")
@pytest.mark.parametrize(
    "call", ["vectorizer.transform", "TextVectorizer(n_features=8).fit", "TextVectorizer().fit"]
)
def test_interrupt(call):
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT.replace("CALL", call)],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.stdout.strip() == "raised", done.stderr


def test_no_documents_and_limits_that_exclude_each_other_are_named():
    with pytest.raises(DataError, match="there are no documents"):
        TextVectorizer().fit([])
    with pytest.raises(ParameterError, match="at most 1 and at least 5"):
        TextVectorizer(min_df=5).fit(["ab cd"])
