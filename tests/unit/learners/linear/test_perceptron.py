"""The perceptron estimator: worked example, votes, streams, starts."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits, load_iris

from separatrix import MIRA, Perceptron
from separatrix.errors import DataError, ParameterError

LEARNERS = [Perceptron, MIRA]


def test_the_example_of_the_notes():
    """Win the vote / election / game (seed 003); the bias of SPORTS starts at 1."""
    words = ["win", "the", "vote", "election", "game"]
    X = np.array(
        [
            [w in s.split() for w in words]
            for s in ("win the vote", "win the election", "win the game")
        ],
        dtype=float,
    )
    y = ["POLITICS", "POLITICS", "SPORTS"]
    # TECH has no sentence: a row of weight zero names it.
    rows = np.vstack([X, np.zeros((1, 5))])
    model = Perceptron("none", shuffle=False, max_iter=1).fit(
        rows,
        [*y, "TECH"],
        sample_weight=[1, 1, 1, 0],
        coef_init=np.zeros((3, 5)),
        intercept_init=[0, 1, 0],
    )
    politics, sports, tech = np.column_stack([model.intercept_, model.coef_])
    #                       BIAS win the vote election game
    assert sports.tolist() == [1, 0, 0, -1, 0, 1]
    assert politics.tolist() == [0, 0, 0, 1, 0, -1]
    assert tech.tolist() == [0, 0, 0, 0, 0, 0]
    assert model.mistakes_.tolist() == [2]
    longer = model.set_params(max_iter=20, warm_start=True).fit(rows[:3], y)
    assert longer.predict(X).tolist() == y


def test_a_tie_is_a_mistake_and_predicts_the_first_label():
    X = np.array([[1.0], [-1.0]])
    model = Perceptron("none", shuffle=False, max_iter=1, fit_intercept=False).fit(X, ["a", "b"])
    assert model.mistakes_[0] == 1
    assert model.predict([[0.0]]) == ["a"]


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("averaging", ["none", "average", "vote"])
def test_a_stream_is_a_pass(learner, averaging):
    X, y = load_digits(return_X_y=True)
    X, y = X[:300] / 16, y[:300]
    whole = learner(averaging=averaging, shuffle=False, max_iter=1).fit(X, y)
    stream = learner(averaging=averaging, shuffle=False)
    for first in range(0, 300, 70):
        stream.partial_fit(X[first : first + 70], y[first : first + 70], classes=range(10))
    np.testing.assert_allclose(stream.coef_, whole.coef_, atol=1e-9)
    assert stream.mistakes_.sum() == whole.mistakes_.sum()
    np.testing.assert_allclose(stream.decision_function(X), whole.decision_function(X), atol=1e-9)


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("intercept", [True, False])
def test_votes_of_all_vectors(K, intercept):
    X, y = load_iris(return_X_y=True)
    if K == 2:
        X, y = X[50:], y[50:]
    model = Perceptron("vote", max_iter=3, random_state=0, fit_intercept=intercept).fit(X, y)
    sparse = Perceptron("vote", max_iter=3, random_state=0, fit_intercept=intercept)
    sparse.fit(sp.csr_array(X), y)
    shares = model.decision_function(X)
    # Products are summed in another order: a vector that scores zero may change its vote.
    np.testing.assert_allclose(sparse.decision_function(sp.csr_array(X)), shares, atol=0.03)
    if K == 2:
        assert (np.abs(shares) <= 1).all()
    else:
        np.testing.assert_allclose(shares.sum(axis=1), 1)
    assert model.score(X, y) > 0.75
    seen = model.vote_.log.survived.sum() + model.vote_.log.start_survived
    assert seen == 3 * len(y)


def test_a_vote_counts_the_starting_weights():
    X, y = load_iris(return_X_y=True)
    start = {"coef_init": np.eye(3, 4), "intercept_init": [0.1, 0.2, 0.3]}
    model = Perceptron("vote", max_iter=1, shuffle=False).fit(X, y, **start)
    assert model.vote_.start[-1].tolist() == [0.1, 0.2, 0.3]
    right = (X[:, :3] + [0.1, 0.2, 0.3]).argmax(axis=1) == y
    assert model.vote_.log.start_survived == np.argmin(right)


@pytest.mark.parametrize("learner", LEARNERS)
def test_columns_that_repeat_add_up(learner):
    X, y = load_iris(return_X_y=True)
    y = y == 0
    halves = sp.csr_array(
        (
            np.repeat(X.ravel() / 2, 2),
            np.repeat(np.tile(np.arange(4), 150), 2),
            np.arange(0, 1201, 8),
        ),
        shape=(150, 4),
    )
    plain = learner(random_state=0).fit(X, y)
    repeated = learner(random_state=0).fit(halves, y)
    np.testing.assert_allclose(repeated.coef_, plain.coef_)
    assert repeated.radius_ == pytest.approx(plain.radius_)
    assert halves.nnz == 1200


@pytest.mark.parametrize("learner", LEARNERS)
def test_classes_of_a_stream_are_fixed_by_the_first_call(learner):
    X, y = load_iris(return_X_y=True)
    model = learner().partial_fit(X[:100], y[:100])
    with pytest.raises(DataError, match="not among the classes"):
        model.partial_fit(X, y)
    with pytest.raises(DataError, match="not the same"):
        model.partial_fit(X[:100], y[:100], classes=[0, 1, 2])
    open_minded = learner().partial_fit(X[:50], y[:50], classes=[0, 1, 2])
    assert open_minded.partial_fit(X, y, sample_weight=np.ones(150)).coef_.shape == (3, 4)
    with pytest.raises(ParameterError, match="balanced"):
        learner(class_weight="balanced").partial_fit(X, y)


@pytest.mark.parametrize("learner", LEARNERS)
def test_warm_starts_go_on_from_the_last_weights(learner):
    X, y = load_digits(return_X_y=True)
    once = learner(averaging="none", max_iter=1, shuffle=False, warm_start=True).fit(X, y).fit(X, y)
    twice = learner(averaging="none", max_iter=2, shuffle=False).fit(X, y)
    np.testing.assert_allclose(once.coef_, twice.coef_)


@pytest.mark.parametrize("learner", LEARNERS)
def test_bad_starts_are_errors(learner):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(DataError, match="coef_init"):
        learner().fit(X, y, coef_init=np.zeros((2, 4)))
    with pytest.raises(DataError, match="intercept_init"):
        learner().fit(X, y, intercept_init=[0.0])
    with pytest.raises(DataError, match="finite"):
        learner().fit(X, y, intercept_init=[0.0, np.nan, 0.0])
    with pytest.raises(ParameterError, match="fit_intercept"):
        learner(fit_intercept=False).fit(X, y, intercept_init=[0.0, 0, 0])
    with pytest.raises(ParameterError, match="averaging"):
        learner(averaging="mean").fit(X, y)
    bad = sp.csr_array(X)
    bad.data[13] = np.nan
    with pytest.raises(DataError, match="NaN at row 3, column 1"):
        learner().fit(bad, y)


def test_weights_that_overflow_are_an_error():
    with pytest.raises(FloatingPointError, match="scale"):
        Perceptron(learning_rate=1e300, max_iter=50).fit(
            np.array([[1e200], [2e200], [1e200]]), [0, 1, 0]
        )


@pytest.mark.parametrize("averaging", ["average", "none", "vote"])
def test_a_bad_cell_leaves_the_estimator_as_it_was(averaging):
    rng = np.random.default_rng(3)
    rows = sp.random_array((80, 300), density=0.2, rng=rng, format="csr")
    labels = rng.integers(0, 2, 80)
    model = Perceptron(averaging, random_state=0).partial_fit(rows, labels)
    before = pickle.dumps(model)
    wrong = rows.copy()
    wrong.data[-1] = np.inf
    with pytest.raises(DataError, match="infinity at row 79"):
        model.partial_fit(wrong, labels)
    assert pickle.dumps(model) == before
    model.partial_fit(rows, labels)
    assert len(model.mistakes_) == 2
