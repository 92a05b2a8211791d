"""Input of the text vectorizer: its forms, and what is refused in words."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from separatrix.errors import DataError, NotFittedError, ParameterError
from separatrix.features import TextVectorizer
from tests.unit.features.text_documents import assert_same, documents


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


def test_no_documents_and_limits_that_exclude_each_other_are_named():
    with pytest.raises(DataError, match="there are no documents"):
        TextVectorizer().fit([])
    with pytest.raises(ParameterError, match="at most 1 and at least 5"):
        TextVectorizer(min_df=5).fit(["ab cd"])
