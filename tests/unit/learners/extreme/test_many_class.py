"""ManyClass: candidates, ranking, probabilities, threads, errors."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits
from sklearn.preprocessing import StandardScaler

from separatrix import ManyClass
from separatrix.errors import ParameterError
from separatrix.learners.extreme.index import (
    InvertedIndex,
    PairCounts,
    fit_smoothing,
    without_signs,
)


def problem(n=4000, k=300, d=200, seed=0):
    """Rows of four features: two that the label prefers, two from anywhere."""
    random = np.random.default_rng(seed)
    likes = random.integers(0, d, size=(k, 3))
    y = random.integers(0, k, size=n)
    own = np.take_along_axis(likes[y], random.integers(0, 3, size=(n, 2)), axis=1)
    columns = np.hstack([own, random.integers(0, d, size=(n, 2))])
    rows = np.repeat(np.arange(n), 4)
    X = sp.csr_array((np.ones(4 * n), (rows, columns.ravel())), shape=(n, d))
    X.sum_duplicates()
    return X[: n // 2], y[: n // 2], X[n // 2 :], y[n // 2 :]


@pytest.fixture(scope="module")
def data():
    return problem()


@pytest.fixture(scope="module")
def model(data):
    return ManyClass(candidates=20, random_state=0).fit(data[0], data[1])


def exact_scores(counts, X, mu, alpha):
    """s_y(x) by its definition, for every label."""
    lengths = np.diff(X.indptr)
    rows = sp.diags_array(lengths / X.sum(axis=1)) @ X
    parts = (counts.counts, counts.labels, counts.starts)
    C = sp.csr_array(parts, shape=(X.shape[1], len(counts.label_rows))).toarray()
    weights = np.log1p(C / (mu * counts.shares[:, None].astype(np.float64)))
    scores = rows @ weights
    scores -= lengths[:, None] * np.log1p(counts.label_mass / mu)
    return scores + alpha * np.log(np.maximum(counts.label_rows, 0.5))


def test_candidates_are_the_labels_of_the_highest_naive_bayes_scores(data):
    X, y, T, _ = data
    model = ManyClass(candidates=256, rerank=False).fit(X, y)
    found = np.searchsorted(model.classes_, model.predict_top(T[:100], 10).labels)
    codes = np.searchsorted(model.classes_, y).astype(np.uint32)
    counts = PairCounts.of(X.astype(np.float32), codes, len(model.classes_))
    expected = exact_scores(counts, T[:100], model.smoothing_.mu, model.smoothing_.alpha)
    best = np.sort(expected, axis=1)[:, ::-1][:, :10]
    got = np.take_along_axis(expected, found, axis=1)
    # 8-bit weights may swap labels that score almost the same.
    np.testing.assert_allclose(got, best, atol=0.4)


def test_it_learns_more_than_the_index_knows():
    """Copies of some features count several times in naive Bayes; the ranking unlearns that."""
    X, y, T, t = problem(n=24_000, k=100)
    X, T = (sp.csr_array(sp.hstack([Z, *[Z[:, :100]] * 4])) for Z in (X, T))
    index_alone = ManyClass(rerank=False).fit(X, y).score(T, t)
    ranked = ManyClass().fit(X, y).score(T, t)
    assert index_alone > 0.1  # chance is 1 / 100
    assert ranked > index_alone + 0.01


def test_smoothing_is_the_best_of_those_tried(data):
    X, y = data[0].astype(np.float32), data[1].astype(np.uint32)
    counts = PairCounts.of(X, y, int(y.max()) + 1)
    chosen = fit_smoothing(counts, X, y, np.random.RandomState(0), 1)
    assert len(chosen.ranks) == np.sum(counts.label_rows[y] >= 2)
    assert chosen.reciprocal_rank > 0.1
    assert chosen.mu in [float(counts.label_mass.mean()) * m for m in (0.1, 0.3, 1, 3, 10, 30, 100)]
    # The mass of the prior hardly matters where it is far too small: weights end at 255.
    assert InvertedIndex.of(counts, 1e-9, 0.5).wide_weights.max(initial=0) in (0, 255)
    assert InvertedIndex.of(counts, 1e-9, 0.5).weights.max() == 255


def test_left_out_ranks_are_honest(data):
    """The accuracy on left-out training rows is that on new rows, not that on training rows."""
    X, y, T, t = data
    model = ManyClass(rerank=False).fit(X, y)
    left_out = np.mean(model.smoothing_.ranks < 1)
    assert abs(left_out - model.score(T, t)) < 0.08
    assert model.score(X, y) > left_out + 0.1


def test_probabilities_sum_to_one_and_agree(data, model):
    T = data[2][:50]
    P = model.predict_proba(T)
    np.testing.assert_allclose(P.sum(axis=1), 1.0, rtol=1e-12)
    assert (P >= 0).all()
    np.testing.assert_array_equal(model.classes_[P.argmax(axis=1)], model.predict(T))
    labels, shares = model.predict_top(T, 5)
    np.testing.assert_array_equal(labels[:, 0], model.predict(T))
    places = np.searchsorted(model.classes_, labels)
    np.testing.assert_allclose(np.take_along_axis(P, places, axis=1), shares, rtol=1e-5)
    assert (np.diff(shares, axis=1) <= 0).all()


def test_the_share_of_the_rest_is_that_of_new_rows(data, model):
    T, t = data[2], data[3]
    reached = (model.predict_top(T, 20).labels == t[:, None]).any(axis=1)
    assert abs((1 - reached.mean()) - model.missed_) < 0.05


def test_with_all_classes_as_candidates_nothing_is_left_for_the_rest():
    X, y, T, _ = problem(k=20)
    model = ManyClass(candidates=256).fit(X, y)
    P = model.predict_proba(T)
    np.testing.assert_allclose(P.sum(axis=1), 1.0)
    assert (P > 0).all()


def test_the_same_on_any_number_of_threads(data):
    X, y, T, _ = data
    one, three = (
        ManyClass(16, n_jobs=n, random_state=0).fit(X, y).predict_proba(T[:200]) for n in (1, 3)
    )
    np.testing.assert_array_equal(one, three)


def test_scale_and_format_of_the_rows_do_not_matter(data):
    X, y, T, _ = data
    ones = sp.csr_array(X > 0).astype(np.float64)
    lengths = np.repeat(np.diff(ones.indptr), np.diff(ones.indptr))
    normalized = ones.copy()
    normalized.data = 1 / np.sqrt(lengths)
    expected = ManyClass(random_state=0).fit(ones, y).predict(T)
    for other in (normalized, ones.astype(np.float32), ones.toarray(), sp.csc_array(ones)):
        np.testing.assert_array_equal(ManyClass(random_state=0).fit(other, y).predict(T), expected)


def test_rows_without_features_count_for_the_frequency_of_their_class():
    X, y, _, _ = problem(n=400, k=10)
    X = X.tolil()
    X[:150] = 0
    y[:150] = 3
    model = ManyClass(random_state=0).fit(X.tocsr(), y)
    assert model.predict(sp.csr_array((1, X.shape[1]))) == [3]  # the most frequent class
    assert model.label_shares_[3] >= 150 / 200
    nothing = ManyClass().fit(sp.csr_array((6, 3)), [0, 0, 1, 1, 1, 2])
    assert (nothing.predict(np.eye(3)) == 1).all()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"candidates": 0}, "candidates"),
        ({"n_examples": -1}, "n_examples"),
        ({"candidates": 300}, "at most 256"),
        ({"learning_rate": -1.0}, "learning_rate"),
        ({"max_iter": 0}, "max_iter"),
        ({"table_size": 3}, "power of two"),
    ],
)
def test_parameters_that_make_no_sense(parameters, message):
    with pytest.raises(ParameterError, match=message):
        ManyClass(**parameters).fit(np.eye(4), [0, 1, 0, 1])


def test_a_column_below_zero_is_a_feature_of_its_own():
    """Signs alone tell the classes."""
    random = np.random.default_rng(0)
    signs = np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]])
    y = random.integers(0, 4, size=400)
    X = signs[y] * random.uniform(0.5, 1.5, size=(400, 3))
    model = ManyClass(random_state=0).fit(X, y)
    assert model.score(X, y) == 1.0
    np.testing.assert_array_equal(model.predict(sp.csr_array(X)), model.predict(X))
    # Only values above zero are known here: all others are left out.
    positive = ManyClass(random_state=0).fit(np.abs(X), y)
    np.testing.assert_array_equal(
        positive.predict(-np.abs(X)), positive.predict(np.zeros((400, 3)))
    )


def test_standardized_digits_can_be_learned():
    X, y = load_digits(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    assert ManyClass(random_state=0).fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.8


def test_signs_are_split_without_changing_other_rows():
    rows = sp.csr_array([[1.0, 0.0], [0.0, 2.0]])
    assert without_signs(rows) is rows
    assert without_signs(rows, 4).shape == (2, 4)
    stored = sp.csr_array((np.array([0.0, 1.0]), np.array([0, 1]), np.array([0, 2])), shape=(1, 2))
    assert without_signs(stored).nnz == 1


def test_k_must_be_among_the_candidates(data, model):
    for k in (0, 21):
        with pytest.raises(ParameterError, match="k must be from 1 to 20"):
            model.predict_top(data[2][:3], k)


def test_labels_with_one_row_each_cannot_be_left_out_but_can_be_found():
    X = sp.eye_array(50, format="csr")
    model = ManyClass().fit(X, np.arange(50))
    np.testing.assert_array_equal(model.predict(X), np.arange(50))
    assert model.progress_ is None
