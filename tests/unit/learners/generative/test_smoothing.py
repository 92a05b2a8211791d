"""Smoothing: the worked numbers of the notes, and Dirichlet's view of them."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy import optimize, stats

from separatrix.errors import ParameterError
from separatrix.learners.generative import Interpolation, LaplaceSmoothing, MaximumLikelihood
from separatrix.learners.generative.smoothing import as_smoothing, settings_of

RRB = [2, 1]


def test_red_red_blue():
    assert MaximumLikelihood().estimate(RRB).tolist() == [2 / 3, 1 / 3]
    assert LaplaceSmoothing(0).estimate(RRB).tolist() == [2 / 3, 1 / 3]
    assert LaplaceSmoothing(1).estimate(RRB).tolist() == [3 / 5, 2 / 5]
    assert LaplaceSmoothing(100).estimate(RRB).tolist() == [
        float(Fraction(102, 203)),
        float(Fraction(101, 203)),
    ]


def test_interpolation_at_its_ends():
    counts = np.array([[2.0, 0.0, 1.0], [1.0, 4.0, 0.0]])
    own = Interpolation(1.0).estimate(counts)
    np.testing.assert_allclose(own, MaximumLikelihood().estimate(counts), rtol=1e-15)
    shared = Interpolation(0.0).estimate(counts)
    np.testing.assert_array_equal(shared[0], shared[1])
    # P(x) is itself smoothed: counts of all classes, with one more of each.
    np.testing.assert_allclose(shared[0], (counts.sum(axis=0) + 1) / (8 + 3), rtol=1e-15)


def test_interpolation_between():
    counts, alpha = np.array([[2.0, 0.0], [1.0, 1.0]]), 0.3
    pooled = (np.array([3.0, 1.0]) + 2) / (4 + 2 * 2)
    expected = alpha * counts / 2 + (1 - alpha) * pooled
    np.testing.assert_allclose(Interpolation(alpha, k=2).estimate(counts), expected, rtol=1e-15)
    assert (Interpolation(0.99).estimate([[5, 0], [0, 5]]) > 0).all()


@pytest.mark.parametrize(
    "smoothing",
    [LaplaceSmoothing(0.3), Interpolation(0.4), MaximumLikelihood(), LaplaceSmoothing(0)],
)
def test_probabilities_sum_to_one_even_without_data(smoothing):
    counts = np.array([[3.0, 0.0, 1.5, 7.0], [0.0, 0.0, 0.0, 0.0]])
    estimate = smoothing.estimate(counts)
    np.testing.assert_allclose(estimate.sum(axis=1), 1, rtol=1e-14)
    assert (estimate >= 0).all()


@pytest.mark.parametrize("k", [0.5, 1.0, 7.0])
def test_laplace_is_the_mean_under_dirichlet_k_and_the_mode_under_k_plus_one(k):
    counts = np.array([4.0, 0.0, 3.0])
    estimate = LaplaceSmoothing(k).estimate(counts)
    np.testing.assert_allclose(stats.dirichlet(counts + k).mean(), estimate, rtol=1e-12)

    def posterior(free):
        shares = np.append(free, 1 - free.sum())
        inside = (shares > 0).all()
        return -stats.dirichlet(counts + k + 1).logpdf(shares) if inside else np.inf

    mode = optimize.minimize(
        posterior, [0.3, 0.3], method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-12}
    ).x
    np.testing.assert_allclose(mode, estimate[:2], atol=1e-6)


def test_only_maximum_likelihood_leaves_zeros():
    assert MaximumLikelihood().leaves_zeros
    assert LaplaceSmoothing(0).leaves_zeros
    assert Interpolation(1).leaves_zeros
    assert not LaplaceSmoothing(1e-9).leaves_zeros
    assert not Interpolation(0.999).leaves_zeros


def test_what_stands_for_a_smoothing():
    assert as_smoothing(None) == LaplaceSmoothing(1)
    assert as_smoothing(0.5) == LaplaceSmoothing(0.5)
    assert as_smoothing(Interpolation(0.2)) == Interpolation(0.2)
    assert hash(LaplaceSmoothing(2)) == hash(LaplaceSmoothing(2))
    assert settings_of(Interpolation(0.5, k=3), [0.1]) == [Interpolation(0.1, k=3)]
    assert settings_of(MaximumLikelihood(), [2, Interpolation(0.5)]) == [
        LaplaceSmoothing(2),
        Interpolation(0.5),
    ]


@pytest.mark.parametrize(
    "call",
    [
        lambda: LaplaceSmoothing(-1),
        lambda: LaplaceSmoothing(np.nan),
        lambda: Interpolation(1.5),
        lambda: Interpolation(0.5, k=0),
        lambda: as_smoothing("laplace"),
        lambda: as_smoothing(True),
    ],
)
def test_bad_settings(call):
    with pytest.raises(ParameterError):
        call()
