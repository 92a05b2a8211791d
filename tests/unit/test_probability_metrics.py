"""Log loss, Brier score and calibration error against scikit-learn and their definitions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import softmax
from sklearn import metrics as peers

from separatrix.errors import DataError, ParameterError
from separatrix.metrics import (
    brier_score,
    calibration_bins,
    cross_entropy,
    expected_calibration_error,
    log_loss,
)


def sample(n=500, k=3, seed=0):
    random = np.random.default_rng(seed)
    shares = softmax(random.normal(size=(n, k)), axis=1)
    y = (shares.cumsum(axis=1) < random.random((n, 1))).sum(axis=1)
    return y, shares, random.random(n)


@pytest.mark.parametrize("weighted", [False, True])
def test_parity_with_scikit_learn(weighted):
    y, shares, weights = sample()
    weights = weights if weighted else None
    assert log_loss(y, shares, sample_weight=weights) == pytest.approx(
        peers.log_loss(y, shares, sample_weight=weights)
    )
    y, shares, _ = sample(k=2)
    expected = peers.brier_score_loss(y, shares[:, 1], sample_weight=weights)
    assert brier_score(y, shares, sample_weight=weights) == pytest.approx(expected)
    assert brier_score(y, shares[:, 1], sample_weight=weights) == pytest.approx(expected)


def test_definitions():
    y, shares, _ = sample()
    assert log_loss(y, shares) == pytest.approx(cross_entropy(np.eye(3)[y], shares).mean())
    assert brier_score(y, shares) == pytest.approx(((shares - np.eye(3)[y]) ** 2).sum() / len(y))


@pytest.mark.filterwarnings("error")
def test_single_precision_is_precise_enough():
    y, shares, _ = sample(k=20)
    assert log_loss(y, shares.astype(np.float32)) == pytest.approx(log_loss(y, shares), rel=1e-6)


def test_labels_in_any_order():
    y, shares, _ = sample()
    names = np.array(["x", "a", "m"])
    for measure in (log_loss, brier_score, expected_calibration_error):
        assert measure(names[y], shares, labels=names) == pytest.approx(measure(y, shares))


def test_bins_of_equal_mass():
    y, shares, _ = sample(1000)
    bins = calibration_bins(y, shares, n_bins=10)
    np.testing.assert_allclose(bins.mass, 0.1, rtol=1e-9)
    confidence = np.sort(shares.max(axis=1))
    np.testing.assert_allclose(bins.confidence, confidence.reshape(10, 100).mean(axis=1))
    assert (np.diff(bins.confidence) > 0).all()
    accuracy = (shares.argmax(axis=1) == y).mean()
    assert bins.mass @ bins.frequency == pytest.approx(accuracy)
    one = calibration_bins(y, shares, n_bins=1)
    assert one.error == pytest.approx(abs(accuracy - confidence.mean()))


def test_order_of_rows_and_ties_do_not_matter():
    random = np.random.default_rng(0)
    p = random.choice([0.1, 0.5, 0.9, 0.99], p=[0.1, 0.2, 0.2, 0.5], size=400)
    y = (random.random(400) < p).astype(int)
    order = random.permutation(400)
    first = calibration_bins(y, p, n_bins=15, label=1)
    second = calibration_bins(y[order], p[order], n_bins=15, label=1)
    np.testing.assert_allclose(first.confidence, [0.1, 0.5, 0.9, 0.99])
    np.testing.assert_array_equal(first.mass, second.mass)
    assert first.error == pytest.approx(second.error)


def test_weights_are_repetitions():
    y, shares, _ = sample(200)
    weights = np.arange(200) % 4
    weighted = calibration_bins(y, shares, n_bins=5, label=2, sample_weight=weights)
    repeated = calibration_bins(
        np.repeat(y, weights), np.repeat(shares, weights, axis=0), n_bins=5, label=2
    )
    np.testing.assert_allclose(weighted.confidence, repeated.confidence)
    np.testing.assert_allclose(weighted.frequency, repeated.frequency)


def test_true_probabilities_are_calibrated_and_sharpened_ones_are_not():
    y, shares, _ = sample(50_000)
    assert expected_calibration_error(y, shares) < 0.015
    assert expected_calibration_error(y, softmax(3 * np.log(shares), axis=1)) > 0.1


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: log_loss([0, 1], [[0.5, 0.5]]), DataError),
        (lambda: log_loss([0, 5], [[0.5, 0.5], [1, 0]], labels=[0, 1]), DataError),
        (lambda: brier_score([0, 1], [[0.5, 1.5], [1, 0]]), DataError),
        (lambda: brier_score([0, 1, 2], [[0.5, 0.5]] * 3), DataError),
        (lambda: log_loss([], []), DataError),
        (lambda: calibration_bins([0, 1], [0.5, 0.5], n_bins=0), ParameterError),
        (lambda: calibration_bins([0, 1], [0.5, 0.5], label=7), ParameterError),
        (lambda: calibration_bins([0, 1], [0.5, 0.5], sample_weight=[0, 0]), ValueError),
        (lambda: log_loss([0, 1], [0.5, 0.5], labels=[1, 1]), ParameterError),
    ],
)
def test_bad_input(call, error):
    with pytest.raises(error):
        call()
