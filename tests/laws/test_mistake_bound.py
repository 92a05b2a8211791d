"""On separable data an online learner makes at most so many mistakes (Novikoff 1962)."""

import numpy as np
import pytest

from separatrix import MIRA, Perceptron


def separable(seed, K, dimension=4, gap=0.3):
    """Rows that a hidden linear rule tells apart by some margin."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(300, dimension))
    scores = X @ rng.normal(size=(dimension, K)) + rng.normal(size=K)
    ordered = np.sort(scores, axis=1)
    keep = ordered[:, -1] - ordered[:, -2] > gap
    return X[keep], scores[keep].argmax(axis=1)


LEARNERS = [
    Perceptron("none", max_iter=5000),
    Perceptron("average", learning_rate=0.1, max_iter=5000),
    MIRA(max_iter=5000),
    MIRA(C=0.001, max_iter=5000),
]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("K", [2, 3, 5])
@pytest.mark.parametrize("learner", LEARNERS, ids=str)
@pytest.mark.parametrize("intercept", [True, False])
def test_mistakes_stay_below_the_bound(learner, K, seed, intercept):
    X, y = separable(seed, K)
    if not intercept:
        X = np.hstack([X, np.ones((len(X), 1))])
    model = learner.set_params(random_state=seed, fit_intercept=intercept).fit(X, y)
    assert model.mistakes_[-1] == 0
    assert model.margin_ > 0
    assert 0 < model.mistakes_.sum() <= model.mistake_bound_


@pytest.mark.parametrize("K", [2, 4])
def test_margin_and_radius_are_those_of_the_definition(K):
    X, y = separable(1, K)
    model = Perceptron("none", max_iter=5000, random_state=0).fit(X, y)
    F = np.hstack([X, np.ones((len(X), 1))])
    W = np.hstack([model.coef_, model.intercept_[:, None]])
    rows = np.arange(len(y))
    if K == 2:
        margins = np.where(model.classes_[1] == y, 1, -1) * (F @ W[0])
        radius = np.linalg.norm(F, axis=1).max()
    else:
        scores = F @ W.T
        right = scores[rows, y]
        scores[rows, y] = -np.inf
        margins = right - scores.max(axis=1)
        radius = np.sqrt(2) * np.linalg.norm(F, axis=1).max()
    assert model.margin_ == pytest.approx(margins.min() / np.linalg.norm(W))
    assert model.radius_ == pytest.approx(radius)
    assert model.mistake_bound_ == pytest.approx((radius / model.margin_) ** 2)


@pytest.mark.parametrize(
    "learner", [Perceptron("none", max_iter=5000), MIRA(max_iter=5000)], ids=str
)
def test_the_bound_holds_with_row_weights(learner):
    X, y = separable(2, 3)
    weights = np.random.default_rng(0).uniform(0.2, 3, len(y))
    model = learner.set_params(random_state=0).fit(X, y, sample_weight=weights)
    assert model.mistakes_.sum() <= model.mistake_bound_


def test_no_bound_without_separation_or_from_elsewhere():
    X, y = separable(3, 2)
    noisy = y.copy()
    noisy[0] = 1 - noisy[0]
    X = np.vstack([X, X[:1]])
    noisy = np.append(noisy, y[0])
    model = Perceptron(max_iter=30, random_state=0).fit(X, noisy)
    assert model.margin_ is None
    assert model.radius_ is None
    assert model.mistake_bound_ is None
    started = Perceptron(max_iter=5000, random_state=0).fit(
        X[:-1], y, coef_init=np.ones((1, 4)), intercept_init=[0.5]
    )
    assert started.margin_ > 0
    assert started.mistake_bound_ is None
