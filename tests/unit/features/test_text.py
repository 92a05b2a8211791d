"""Laws of the text vectorizer: threads, batches, weights, pickles, pipelines."""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

from separatrix import LogisticRegression
from separatrix.errors import DataError, ParameterError
from separatrix.features import TextVectorizer
from tests.unit.features.text_documents import assert_same, documents


def labels(texts):
    return np.array(["spam" if "ak" in text else "ham" for text in texts])


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
    for n_jobs in (2, 7):
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
