"""Long passes that two learners share: what stays true of the weights they agree on."""

import numpy as np
import pytest

from separatrix import MIRA, LinearClassifier, LogisticRegression, Perceptron

ROWS, COLUMNS = 34_000, 64  # just above two million values


@pytest.fixture(scope="module")
def separable():
    """Rows that a hidden plane tells apart by some margin."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(ROWS + ROWS // 4, COLUMNS)).astype(np.float32)
    scores = X @ rng.normal(size=COLUMNS) / np.sqrt(COLUMNS) + 0.1
    keep = np.flatnonzero(np.abs(scores) > 0.15)[:ROWS]
    assert len(keep) == ROWS
    return X[keep], scores[keep] > 0


@pytest.fixture(scope="module")
def noisy():
    """Three classes that overlap."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(ROWS, COLUMNS)).astype(np.float32)
    scores = X @ rng.normal(size=(COLUMNS, 3)) / 4 + rng.gumbel(size=(ROWS, 3))
    return X, scores.argmax(axis=1)


def same(a, b):
    return np.array_equal(a.coef_, b.coef_) and np.array_equal(a.intercept_, b.intercept_)


LEARNERS = [
    Perceptron("none", max_iter=2),
    Perceptron("average", max_iter=2),
    MIRA(max_iter=2),
    LinearClassifier(solver="sgd", max_iter=2),
]


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_two_or_more_threads_give_one_result_and_one_thread_another(learner, noisy):
    one, two, again, more = (
        learner.__class__(**{**learner.get_params(), "n_jobs": n, "random_state": 0}).fit(*noisy)
        for n in (1, 2, 2, 5)
    )
    assert same(two, again)
    assert same(two, more)
    assert not same(one, two)
    assert two.score(*noisy) > one.score(*noisy) - 0.02


@pytest.mark.parametrize("keep", [{"averaging": "vote"}, {"shuffle": False}], ids=str)
def test_votes_and_given_orders_are_not_shared(keep, noisy):
    X, y = noisy
    y = y > 0
    one, two = (Perceptron(max_iter=1, random_state=0, n_jobs=n, **keep).fit(X, y) for n in (1, 2))
    assert np.array_equal(one.mistakes_, two.mistakes_)
    assert same(one, two)


@pytest.mark.parametrize("learner", [Perceptron("none"), Perceptron("average"), MIRA()], ids=str)
def test_shared_passes_separate_within_the_bound(learner, separable):
    X, y = separable
    model = learner.set_params(max_iter=500, n_jobs=2, random_state=0).fit(X, y)
    assert model.mistakes_[-1] == 0
    assert 0 < model.mistakes_.sum() <= model.mistake_bound_
    assert ((X @ model._weights[:-1, 0] + model._weights[-1, 0] > 0) == y).all()
    bound = max(model.radius_**2, 0.5) / model.margin_**2
    assert model.mistake_bound_ == pytest.approx(2 * bound)


def test_shared_steps_reach_the_optimum(noisy):
    C = 1e-3
    best = LogisticRegression(C=C, tol=1e-8).fit(*noisy).solution_.objective
    for n_jobs in (1, 2):
        model = LinearClassifier(
            "logistic", solver="sgd", C=C, tol=1e-5, max_iter=60, n_jobs=n_jobs
        )
        found = model.set_params(random_state=0).fit(*noisy).solution_.objective
        assert best * (1 - 1e-6) <= found <= best * (1 + 1e-3)


def test_going_on_keeps_the_average_of_all_rows(separable):
    X, y = separable
    whole = Perceptron("average", max_iter=2, n_jobs=2, random_state=0, shuffle=True).fit(X, y)
    model = Perceptron("average", max_iter=1, n_jobs=2, random_state=0).fit(X, y)
    model.partial_fit(X, y)
    assert whole._seen == model._seen == 2 * ROWS
    assert model.score(X, y) == pytest.approx(whole.score(X, y), abs=0.01)
