"""Estimates and credible sets: closed forms, laws of the sets, draws against distributions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from separatrix.bayes import (
    BetaBernoulli,
    NormalInverseGamma,
    credible_interval,
    highest_density_set,
    posterior_mean,
    posterior_median,
    posterior_mode,
    posterior_quantile,
)
from separatrix.errors import DataError, ParameterError

DENSITIES = [
    stats.norm(3, 2),
    stats.t(3, -1, 0.5),
    stats.gamma(2.5, scale=3),
    stats.gamma(0.7),
    stats.expon(scale=2),
    stats.beta(2, 5),
    stats.beta(3, 0.8),
    stats.invgamma(3, scale=2),
    stats.lognorm(0.8),
]
MODES = [3, -1, 4.5, 0, 0, 0.2, 1, 0.5, np.exp(-0.64)]


class TwoHills(stats.rv_continuous):
    """Half a normal at -3, half a narrower one at 3."""

    def _pdf(self, x):
        return (stats.norm.pdf(x, -3, 1) + stats.norm.pdf(x, 3, 0.5)) / 2

    def _cdf(self, x):
        return (stats.norm.cdf(x, -3, 1) + stats.norm.cdf(x, 3, 0.5)) / 2


@pytest.mark.parametrize(
    ("distribution", "mode"), list(zip(DENSITIES, MODES, strict=True)), ids=lambda d: str(d)[:8]
)
def test_modes(distribution, mode):
    assert posterior_mode(distribution) == pytest.approx(mode, abs=1e-6)


@given(
    st.sampled_from(DENSITIES),
    st.floats(0.05, 0.99),
)
def test_highest_density_interval_is_shortest_and_levels_the_density(distribution, level):
    low, high = credible_interval(distribution, level, "highest")
    assert distribution.cdf(high) - distribution.cdf(low) == pytest.approx(level, abs=1e-9)
    for tail in np.linspace(0, 1 - level, 31):
        start, stop = distribution.ppf(tail), distribution.ppf(min(1.0, tail + level))
        assert high - low <= (stop - start) * (1 + 1e-8)
    start, stop = distribution.support()
    if low > start and high < stop:
        assert distribution.pdf(low) == pytest.approx(distribution.pdf(high), rel=1e-4)


@pytest.mark.parametrize("distribution", DENSITIES, ids=lambda d: d.dist.name)
def test_one_mode_set_is_the_shortest_interval(distribution):
    found = highest_density_set(distribution, 0.8)
    assert found.shape == (1, 2)
    np.testing.assert_allclose(found[0], credible_interval(distribution, 0.8, "highest"), atol=1e-5)


def test_two_modes_give_two_intervals():
    hills = TwoHills(name="two_hills")()
    found = highest_density_set(hills, 0.9)
    assert found.shape == (2, 2)
    np.testing.assert_allclose(hills.pdf(found.ravel()), hills.pdf(found[0, 0]), rtol=1e-5)
    assert np.diff(hills.cdf(found)).sum() == pytest.approx(0.9, abs=1e-8)
    whole = credible_interval(hills, 0.9, "highest")
    assert np.diff(found).sum() < whole[1] - whole[0]

    generator = np.random.default_rng(0)
    draws = np.concatenate([generator.normal(-3, 1, 20_000), generator.normal(3, 0.5, 20_000)])
    np.testing.assert_allclose(highest_density_set(draws, 0.9), found, atol=0.3)
    assert posterior_mode(draws) == pytest.approx(3, abs=0.2)


def test_arcsine_set_in_closed_form():
    """F(x) = 2/pi arcsin(sqrt(x)): half the mass lies within sin^2(pi/8) of the two ends."""
    end = np.sin(np.pi / 8) ** 2
    found = highest_density_set(stats.beta(0.5, 0.5), 0.5)
    np.testing.assert_allclose(found, [[0, end], [1 - end, 1]], atol=1e-9)
    with pytest.raises(ParameterError, match="0 and 1"):
        posterior_mode(stats.beta(0.5, 0.5))


def test_a_flat_density_takes_the_middle():
    assert credible_interval(stats.uniform(), 0.9, "highest") == pytest.approx((0.05, 0.95))
    with pytest.raises(ParameterError, match="flat"):
        posterior_mode(stats.uniform())


@pytest.mark.parametrize("kind", ["equal", "highest"])
def test_arrays_of_distributions_at_once(kind):
    locations, scales = np.array([[0.0, 1.0], [2.0, 3.0]]), np.array([1.0, 2.0])
    ends = credible_interval(stats.norm(locations, scale=scales), 0.9, kind)
    assert ends.shape == (2, 2, 2)
    for i in range(2):
        for j in range(2):
            expected = stats.norm(locations[i, j], scales[j]).interval(0.9)
            np.testing.assert_allclose(ends[i, j], expected, atol=1e-7)
    skewed = stats.gamma([1.5, 4.0], scale=[1.0, 2.0])
    np.testing.assert_allclose(posterior_mode(skewed), [0.5, 6.0], atol=1e-6)
    np.testing.assert_allclose(posterior_mean(skewed), [1.5, 8.0])
    counts = credible_interval(stats.poisson([2.0, 30.0]), 0.9, kind)
    np.testing.assert_array_equal(counts[1], credible_interval(stats.poisson(30.0), 0.9, kind))


@given(st.floats(0.1, 40), st.floats(0.3, 0.99))
def test_discrete_sets_hold_at_least_their_mass(mean, level):
    counts = stats.poisson(mean)
    low, high = credible_interval(counts, level, "highest")
    mass = counts.cdf(high) - counts.cdf(low - 1)
    assert mass >= level - 1e-9
    # No interval of the same number of values minus one would do.
    starts = np.arange(0, high + 50)
    shorter = counts.cdf(starts + (high - low) - 1) - counts.cdf(starts - 1)
    assert (shorter < level).all()
    start, stop = credible_interval(counts, level)
    assert counts.cdf(stop) - counts.cdf(start - 1) >= level - 1e-9
    assert counts.pmf(posterior_mode(counts)) == counts.pmf(np.arange(100)).max()


def test_discrete_set_of_two_modes():
    coin = stats.rv_discrete(values=([0, 1, 5, 6], [0.3, 0.2, 0.1, 0.4]))
    np.testing.assert_array_equal(highest_density_set(coin, 0.85), [[0, 1], [6, 6]])
    assert posterior_mode(coin) == 6
    # Values that are not whole numbers.
    thirds = stats.rv_discrete(values=([0.25, 0.5, 4.0], [0.2, 0.5, 0.3]))
    assert posterior_mode(thirds) == 0.5
    assert credible_interval(thirds, 0.6, "highest") == (0.25, 0.5)


@pytest.mark.parametrize("kind", ["equal", "highest"])
def test_draws_agree_with_their_distribution(kind):
    distribution = stats.gamma(3)
    draws = distribution.rvs(200_000, random_state=0)
    np.testing.assert_allclose(
        credible_interval(draws, 0.9, kind), credible_interval(distribution, 0.9, kind), atol=0.06
    )
    assert posterior_mean(draws) == pytest.approx(3, abs=0.02)
    assert posterior_median(draws) == pytest.approx(distribution.median(), abs=0.02)
    assert posterior_mode(draws) == pytest.approx(2, abs=0.15)
    assert posterior_quantile(draws, 0.9) == pytest.approx(distribution.ppf(0.9), abs=0.05)


def test_the_shortest_interval_of_draws_holds_its_share():
    draws = np.random.default_rng(0).exponential(size=(1001, 2))
    ends = credible_interval(draws, 0.9, "highest")
    inside = (draws >= ends[:, 0]) & (draws <= ends[:, 1])
    np.testing.assert_array_equal(inside.sum(axis=0), [901, 901])


def test_whole_draws_are_discrete():
    draws = np.array([0, 0, 0, 1, 1, 2, 7, 7, 7, 7])
    assert posterior_mode(draws) == 7
    assert posterior_median(draws) == 1
    np.testing.assert_array_equal(highest_density_set(draws, 0.7), [[0, 0], [7, 7]])


def test_vectors_go_marginal_by_marginal():
    normal = stats.multivariate_normal([1.0, -2.0], [[4.0, 1.0], [1.0, 9.0]])
    np.testing.assert_allclose(posterior_mean(normal), [1, -2])
    np.testing.assert_allclose(posterior_mode(normal), [1, -2])
    np.testing.assert_allclose(
        credible_interval(normal),
        [stats.norm(1, 2).interval(0.95), stats.norm(-2, 3).interval(0.95)],
    )
    student = stats.multivariate_t([0.0, 1.0], np.diag([1.0, 4.0]), df=5)
    np.testing.assert_allclose(posterior_median(student), [0, 1], atol=1e-12)
    np.testing.assert_allclose(credible_interval(student)[1], stats.t(5, 1, 2).interval(0.95))
    dirichlet = stats.dirichlet([3.0, 2.0, 2.0])
    np.testing.assert_allclose(posterior_mode(dirichlet), [0.5, 0.25, 0.25])
    np.testing.assert_allclose(posterior_mean(dirichlet), [3 / 7, 2 / 7, 2 / 7])


def test_families_are_posteriors_too():
    beta = BetaBernoulli(3, 2)
    assert posterior_mean(beta) == pytest.approx(0.6)
    assert posterior_mode(beta) == pytest.approx(2 / 3)
    assert credible_interval(beta) == pytest.approx(beta.credible_interval())
    joint = NormalInverseGamma(0, 1, 0.4, 1)
    assert np.isnan(posterior_mean(joint)[0])
    assert posterior_mean(joint)[1] == np.inf


def test_anything_that_can_be_sampled():
    class Sampler:
        def sample(self, size, random_state):
            return random_state.normal([1.0, 5.0], 1.0, size=(size, 2))

    np.testing.assert_allclose(posterior_mean(Sampler()), [1, 5], atol=0.02)
    np.testing.assert_allclose(posterior_median(Sampler()), [1, 5], atol=0.02)
    assert credible_interval(Sampler(), 0.9, "highest").shape == (2, 2)


def test_mode_within_bounds():
    assert posterior_mode(stats.norm(0, 1), bounds=(1.0, 3.0)) == pytest.approx(1.0)
    assert posterior_mode(stats.norm(0, 1), bounds=(-1.0, 3.0)) == pytest.approx(0.0, abs=1e-6)
    assert posterior_mode(stats.norm(0, 1), bounds=(40.0, 50.0)) == pytest.approx(40.0)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: posterior_mean([]), DataError, "at least one"),
        (lambda: posterior_mean([1.0, np.nan]), DataError, r"draws\[1\]"),
        (lambda: posterior_mean([[1.0, 2.0], [np.inf, 0.0]]), DataError, r"draws\[1, 0\]"),
        (lambda: posterior_mean("posterior"), ParameterError, "str"),
        (lambda: posterior_mode(np.zeros((5, 2))), ParameterError, "joint mode"),
        (lambda: posterior_quantile(stats.norm(), 1.5), ParameterError, "q must"),
        (lambda: credible_interval(stats.norm(), 1.0), ParameterError, "level"),
        (lambda: highest_density_set(stats.norm([0, 1])), ParameterError, "one marginal"),
        (lambda: highest_density_set(np.zeros((5, 2))), ParameterError, "one marginal"),
        (lambda: posterior_mode(stats.poisson(2), bounds=(0, 1)), ParameterError, "bounds"),
    ],
)
def test_bad_input(call, error, words):
    with pytest.raises(error, match=words):
        call()
