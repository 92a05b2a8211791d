"""JointFeatures: scores by definition, learners, labels without rows, errors."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp

from separatrix import JointFeatures, TextVectorizer
from separatrix.errors import DataError, ParameterError

COLORS = ["red", "green", "blue", "white"]
ANIMALS = ["dog", "cat", "owl", "carp", "newt"]
LABELS = np.array([f"{c} {a}" for c, a in itertools.product(COLORS, ANIMALS)])
HELD_OUT = {"green cat", "white owl", "red carp"}


def problem(n=600, seed=0):
    """Rows that show a color and an animal, with some noise."""
    random = np.random.default_rng(seed)
    codes = random.integers(0, len(LABELS), size=n)
    X = np.zeros((n, 20))
    X[np.arange(n), codes // len(ANIMALS)] = 1.0
    X[np.arange(n), 4 + codes % len(ANIMALS)] = 1.0
    X[:, 9:] = random.random((n, 11)) < 0.1
    return X, LABELS[codes]


@pytest.mark.parametrize("combine", ["hash", "conjunction"])
@pytest.mark.parametrize("learner", ["softmax", "svm", "mira", "perceptron"])
def test_every_learner_finds_labels_that_it_never_saw(learner, combine):
    X, y = problem()
    seen = ~np.isin(y, list(HELD_OUT))
    model = JointFeatures(y_features="words", combine=combine, loss=learner, max_iter=8)
    model.fit(X[seen], y[seen], labels=sorted(HELD_OUT))
    assert model.score(X[seen], y[seen]) > 0.95
    assert model.score(X[~seen], y[~seen]) > 0.9  # chance is 1 / 20
    assert model.mistakes_[-1] < model.mistakes_[0]


@pytest.mark.parametrize("sign", [1, -1])
def test_negatives_can_be_retrieved(sign):
    X, y = problem()
    model = JointFeatures(y_features="words", negatives="index", n_negatives=6).fit(sign * X, y)
    assert model.score(sign * X, y) > 0.95
    np.testing.assert_allclose(model.predict_proba(sign * X[:5]).sum(axis=1), 1.0, rtol=1e-12)


def test_scores_are_those_of_the_definition():
    X, y = problem(n=80)
    model = JointFeatures(y_features=("identity", "words"), combine="conjunction").fit(X, y)
    W = model.weights_.reshape(X.shape[1] + 1, -1)
    with_constant = np.hstack([X, np.ones((len(X), 1))])
    expected = with_constant @ W @ model.phi_.toarray().T
    np.testing.assert_allclose(model.decision_function(X), expected, atol=1e-4)
    np.testing.assert_array_equal(model.classes_[expected.argmax(axis=1)], model.predict(X))
    labels, shares = model.predict_top(X, len(model.classes_))
    np.testing.assert_allclose(shares.sum(axis=1), 1.0, rtol=1e-5)
    np.testing.assert_array_equal(labels[:, 0], model.predict(X))


def test_labels_can_be_added_later():
    X, y = problem()
    seen = ~np.isin(y, list(HELD_OUT))
    first = JointFeatures(y_features="words", random_state=0).fit(X[seen], y[seen])
    later = first.with_labels(sorted(HELD_OUT))
    at_once = JointFeatures(y_features="words", random_state=0).fit(
        X[seen], y[seen], labels=sorted(HELD_OUT)
    )
    np.testing.assert_array_equal(later.predict(X), at_once.predict(X))
    assert len(first.classes_) == len(LABELS) - len(HELD_OUT)


def test_names_and_paths():
    X, y = problem()
    numbers = np.searchsorted(np.sort(LABELS), y)
    names = dict(enumerate(np.sort(LABELS).tolist()))
    paths = {k: name.split() for k, name in names.items()}
    seen = numbers % 6 != 0
    new = sorted(set(numbers[~seen].tolist()))
    by_words = JointFeatures(y_features="words")
    by_words.fit(X[seen], numbers[seen], labels=new, names=names)
    by_path = JointFeatures(y_features="path").fit(X[seen], numbers[seen], labels=new, paths=paths)
    for model in (by_words, by_path):
        assert model.score(X[~seen], numbers[~seen]) > 0.9


def test_text_goes_in_where_there_is_a_transformer():
    texts = [f"the {label} is here" for label in LABELS] * 4
    y = np.tile(LABELS, 4)
    seen = y != "blue newt"
    model = JointFeatures(TextVectorizer(), ("words", "characters"), max_iter=10)
    model.fit([t for t, s in zip(texts, seen, strict=True) if s], y[seen], labels=["blue newt"])
    assert model.predict(["look: a blue newt"]) == ["blue newt"]


def test_sparse_is_dense_and_threads_do_not_matter():
    X, y = problem()
    dense = (
        JointFeatures(y_features="characters", n_jobs=1, random_state=0)
        .fit(X, y)
        .decision_function(X)
    )
    sparse = JointFeatures(y_features="characters", n_jobs=3, random_state=0).fit(
        sp.csr_array(X), y
    )
    np.testing.assert_array_equal(dense, sparse.decision_function(sp.csr_array(X)))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"labels": ["red dog"]}, "'red dog' is named twice"),
        ({"labels": ["pink yak", "pink yak"]}, "'pink yak' is named twice"),
        ({"labels": ["??"]}, r"label '\?\?' has no features"),
        ({"labels": [["pink yak"]]}, "must be a vector"),
        ({"names": {"red dog": "red dog"}}, "has no name"),
    ],
)
def test_bad_labels_are_named(options, message):
    X, y = problem()
    with pytest.raises(DataError, match=message):
        JointFeatures(y_features="words").fit(X, y, **options)


def test_a_label_without_a_path_is_named():
    X, y = problem()
    with pytest.raises(DataError, match="has no path"):
        JointFeatures(y_features="path").fit(X, y, paths={"red dog": ["dog"]})


@pytest.mark.parametrize(
    "parameters",
    [
        {"combine": "sum"},
        {"loss": "guess"},
        {"negatives": "none"},
        {"n_features": 1000},
        {"y_features": "smell"},
        {"y_features": ()},
        {"max_iter": 0},
    ],
)
def test_parameters_that_make_no_sense(parameters):
    X, y = problem(n=40)
    with pytest.raises(ParameterError):
        JointFeatures(**parameters).fit(X, y)


def test_too_many_pairs_ask_for_hashing():
    X = sp.eye_array(20000, format="csr")
    with pytest.raises(ParameterError, match="combine='hash'"):
        JointFeatures(combine="conjunction").fit(X, np.arange(20000))
