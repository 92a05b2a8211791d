"""MIRA: the smallest change that mends a mistake by margin 1, up to its cap."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from separatrix import MIRA, Perceptron


def test_a_mistake_is_mended_by_margin_one():
    X = np.array([[3.0, 1.0, 0.0]])
    rows, labels = np.vstack([X, -X]), [1, 0]
    model = MIRA(C=100, averaging="none", shuffle=False, max_iter=1, fit_intercept=False)
    model.fit(rows, labels)
    assert model.decision_function(X)[0] == pytest.approx(1)


@pytest.mark.parametrize("C", [0.01, 0.02, 5.0])
def test_the_cap_is_doubled_on_the_difference_of_two_vectors(C):
    X = np.array([[3.0, 1.0], [-3.0, -1.0]])
    model = MIRA(C=C, averaging="none", shuffle=False, max_iter=1, fit_intercept=False)
    model.fit(X, [1, 0])
    assert model.coef_[0] == pytest.approx(min(1 / 10, 2 * C) * X[0])


def test_the_smallest_change_of_all():
    """No change of the weights that mends the mistake by 1 is smaller."""
    rng = np.random.default_rng(0)
    start, x = rng.normal(size=(3, 4)), rng.normal(size=4)
    scores = start @ x
    y, k = scores.argmin(), scores.argmax()
    rows = np.vstack([x, np.zeros((2, 4))])
    labels = [y, *np.setdiff1d(range(3), [y])]
    model = MIRA(C=1e6, averaging="none", shuffle=False, max_iter=1, fit_intercept=False)
    model.fit(rows, labels, sample_weight=[1, 1e-12, 1e-12], coef_init=start)
    change = model.coef_ - start
    assert (model.coef_[y] - model.coef_[k]) @ x == pytest.approx(1)
    direction = np.zeros((3, 4))
    direction[y], direction[k] = x, -x
    needed = (1 - (scores[y] - scores[k])) / np.linalg.norm(direction)
    assert np.linalg.norm(change) == pytest.approx(needed)


def test_rows_of_zeros_are_guarded():
    model = MIRA(fit_intercept=False, max_iter=3).fit(np.zeros((4, 2)), [0, 1, 0, 1])
    assert not model.coef_.any()


def test_a_row_weight_is_a_factor_of_the_cap():
    X = np.array([[1.0, 0.0], [0.0, 1.0]])
    model = MIRA(C=0.1, averaging="none", shuffle=False, max_iter=1, fit_intercept=False)
    model.fit(X, [1, 0], sample_weight=[2.0, 1.0])
    assert model.coef_[0] == pytest.approx([0.4, -0.2])


def test_mira_is_less_shaken_by_wrong_labels_than_the_last_perceptron():
    X, y = load_digits(return_X_y=True)
    rng = np.random.default_rng(0)
    noisy = np.where(rng.random(len(y)) < 0.1, rng.integers(0, 10, len(y)), y)
    train, test = slice(0, 1200), slice(1200, None)
    perceptron = Perceptron("none", random_state=0).fit(X[train], noisy[train])
    mira = MIRA(C=1e-4, averaging="average", random_state=0).fit(X[train], noisy[train])
    assert mira.score(X[test], y[test]) > perceptron.score(X[test], y[test])
