"""Laws of the conjugate families: streams, merges, evidence, predictive, against quadrature."""

from __future__ import annotations

import dataclasses
import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

from separatrix.bayes import (
    BetaBernoulli,
    DirichletCategorical,
    GammaPoisson,
    NormalInverseGamma,
    NormalNormal,
)
from separatrix.errors import DataError, ParameterError

positive = st.floats(0.2, 20.0)
real = st.floats(-50.0, 50.0)


@st.composite
def cases(draw):
    """A prior of any family, and a list of data for it."""
    kind = draw(st.sampled_from(["beta", "dirichlet", "gamma", "normal", "nig"]))
    n = {"min_size": 0, "max_size": 12}
    if kind == "beta":
        return BetaBernoulli(draw(positive), draw(positive)), draw(st.lists(st.booleans(), **n))
    if kind == "dirichlet":
        alpha = draw(st.lists(positive, min_size=2, max_size=5))
        return DirichletCategorical(alpha), draw(st.lists(st.integers(0, len(alpha) - 1), **n))
    if kind == "gamma":
        return GammaPoisson(draw(positive), draw(positive)), draw(st.lists(st.integers(0, 30), **n))
    if kind == "normal":
        prior = NormalNormal(draw(real), draw(positive), draw(positive))
        return prior, draw(st.lists(real, **n))
    prior = NormalInverseGamma(draw(real), draw(positive), draw(positive), draw(positive))
    return prior, draw(st.lists(real, **n))


PRIORS = [
    BetaBernoulli(2.5, 1.5),
    DirichletCategorical([1.5, 0.7, 3.0]),
    GammaPoisson(2.0, 0.5),
    NormalNormal(1.0, 4.0, 2.0),
    NormalInverseGamma(1.0, 0.5, 3.0, 2.0),
]
DATA = {
    BetaBernoulli: [1, 0, 1, 1],
    DirichletCategorical: [0, 2, 2, 1, 2],
    GammaPoisson: [3, 0, 5],
    NormalNormal: [0.3, -1.2, 2.5],
    NormalInverseGamma: [0.3, -1.2, 2.5],
}
families = pytest.mark.parametrize("prior", PRIORS, ids=lambda p: type(p).__name__)


def hyperparameters(value):
    fields = [f.name for f in dataclasses.fields(value) if f.name != "prior"]
    return np.concatenate([np.atleast_1d(getattr(value, name)) for name in fields])


def assert_same(a, b):
    np.testing.assert_allclose(hyperparameters(a), hyperparameters(b), rtol=1e-10, atol=1e-10)


@given(cases(), st.integers(0, 12))
def test_stream_equals_batch_equals_merge(case, cut):
    prior, data = case
    first, second = data[:cut], data[cut:]
    batch = prior.update(data)
    assert_same(prior.update(first).update(second), batch)
    assert_same(prior.update(first).merge(prior.update(second)), batch)
    stream = prior
    for x in data:
        stream = stream.update(x)
    assert_same(stream, batch)
    assert stream.origin == prior


@given(cases(), st.integers(0, 12))
def test_evidence_obeys_the_chain_rule(case, cut):
    prior, data = case
    parts = prior.log_evidence(data[:cut]) + prior.update(data[:cut]).log_evidence(data[cut:])
    assert prior.log_evidence(data) == pytest.approx(parts, rel=1e-9, abs=1e-9)


@given(cases())
def test_evidence_of_one_observation_is_the_predictive(case):
    prior, data = case
    for x in data[:3]:
        predictive = prior.predictive()
        name = "logpdf" if hasattr(predictive, "pdf") else "logpmf"
        expected = float(getattr(predictive, name)(x))
        assert prior.log_evidence([x]) == pytest.approx(expected, rel=1e-9, abs=1e-9)


@given(cases())
def test_a_whole_weight_is_so_many_copies(case):
    prior, data = case
    weights = [i % 3 for i in range(len(data))]
    copies = [x for x, w in zip(data, weights, strict=True) for _ in range(w)]
    assert_same(prior.update(data, weights), prior.update(copies))
    weighted = prior.log_evidence(data, weights)
    assert weighted == pytest.approx(prior.log_evidence(copies), rel=1e-9, abs=1e-9)


@families
def test_evidence_is_the_mean_likelihood_under_the_prior(prior):
    """Long Monte Carlo: E over the prior of the likelihood, to 5 standard errors."""
    data = np.array(DATA[type(prior)])
    theta = prior.sample(400_000, random_state=0)
    likelihood = np.exp(log_likelihood(prior, data, theta))
    error = likelihood.std() / math.sqrt(len(likelihood))
    assert math.exp(prior.log_evidence(data)) == pytest.approx(likelihood.mean(), abs=5 * error)


def log_likelihood(prior, data, theta):
    x = data[:, None]
    match prior:
        case BetaBernoulli():
            return stats.bernoulli.logpmf(x, theta).sum(axis=0)
        case DirichletCategorical():
            return np.log(theta[:, data]).sum(axis=1)
        case GammaPoisson():
            return stats.poisson.logpmf(x, theta).sum(axis=0)
        case NormalNormal():
            return stats.norm.logpdf(x, theta, math.sqrt(prior.noise_variance)).sum(axis=0)
        case NormalInverseGamma():
            return stats.norm.logpdf(x, theta[:, 0], np.sqrt(theta[:, 1])).sum(axis=0)


@pytest.mark.parametrize(
    "prior",
    [p for p in PRIORS if not isinstance(p, DirichletCategorical | NormalInverseGamma)],
    ids=lambda p: type(p).__name__,
)
def test_posterior_density_is_prior_times_likelihood_by_quadrature(prior):
    data = np.array(DATA[type(prior)])
    posterior = prior.update(data)

    def joint(theta):
        likelihood = math.exp(float(log_likelihood(prior, data, np.array([theta]))[0]))
        return float(prior.distribution.pdf(theta)) * likelihood

    low, high = posterior.distribution.ppf([1e-12, 1 - 1e-12])
    mass = integrate.quad(joint, low, high, limit=200)[0]
    assert math.log(mass) == pytest.approx(prior.log_evidence(data), abs=1e-7)
    for theta in posterior.distribution.ppf([0.1, 0.5, 0.9]):
        assert joint(theta) / mass == pytest.approx(float(posterior.distribution.pdf(theta)))


def test_joint_density_of_mean_and_variance_by_quadrature():
    prior = PRIORS[-1]
    data = np.array(DATA[NormalInverseGamma])

    # Gauss-Legendre in (mean, ln variance).
    nodes, weights = np.polynomial.legendre.leggauss(200)
    means, variances = 12 * nodes[:, None], np.exp(4 * nodes + 0.5)
    density = stats.invgamma.pdf(variances, prior.shape, scale=prior.scale)
    density = density * stats.norm.pdf(means, prior.location, np.sqrt(variances / prior.count))
    for x in data:
        density = density * stats.norm.pdf(x, means, np.sqrt(variances))
    mass = 12 * 4 * weights @ (density * variances) @ weights
    assert math.log(mass) == pytest.approx(prior.log_evidence(data), abs=1e-6)


@families
def test_predictive_is_theta_first_then_an_observation(prior):
    posterior = prior.update(DATA[type(prior)])
    generator = np.random.default_rng(1)
    theta = posterior.sample(200_000, random_state=generator)
    predictive = posterior.predictive()
    match posterior:
        case BetaBernoulli():
            x = generator.random(len(theta)) < theta
        case DirichletCategorical():
            x = (generator.random((len(theta), 1)) > np.cumsum(theta, axis=1)).sum(axis=1)
        case GammaPoisson():
            x = generator.poisson(theta)
        case NormalNormal():
            x = generator.normal(theta, math.sqrt(posterior.noise_variance))
        case NormalInverseGamma():
            x = generator.normal(theta[:, 0], np.sqrt(theta[:, 1]))
    if hasattr(predictive, "pdf"):
        assert stats.kstest(x, predictive.cdf).statistic < 0.004
    else:
        values, counts = np.unique(x, return_counts=True)
        np.testing.assert_allclose(counts / len(x), predictive.pmf(values), atol=0.005)


@families
def test_draws_follow_the_marginals_and_estimates(prior):
    posterior = prior.update(DATA[type(prior)])
    draws = np.reshape(posterior.sample(100_000, random_state=3), (100_000, -1))
    assert draws.shape[1] == len(posterior.marginals)
    for column, marginal in zip(draws.T, posterior.marginals, strict=True):
        assert stats.kstest(column, marginal.cdf).statistic < 0.006
    np.testing.assert_allclose(np.ravel(posterior.mean), [m.mean() for m in posterior.marginals])
    np.testing.assert_allclose(
        np.ravel(posterior.median), [m.median() for m in posterior.marginals]
    )
    one = posterior.sample(random_state=3)
    assert np.shape(one) == np.shape(posterior.mean)
    np.testing.assert_array_equal(one, posterior.sample(random_state=3))
    assert np.shape(posterior.sample((2, 5)))[:2] == (2, 5)


@families
@pytest.mark.parametrize("kind", ["equal", "highest"])
def test_intervals_hold_their_mass(prior, kind):
    posterior = prior.update(DATA[type(prior)])
    ends = np.reshape(posterior.credible_interval(0.9, kind), (-1, 2))
    for (low, high), marginal in zip(ends, posterior.marginals, strict=True):
        assert marginal.cdf(high) - marginal.cdf(low) == pytest.approx(0.9, abs=1e-9)
    if kind == "highest":
        equal = np.reshape(posterior.credible_interval(0.9), (-1, 2))
        assert (np.diff(ends) <= np.diff(equal) + 1e-9).all()


@families
def test_values_are_immutable_and_hashable_and_pickle(prior):
    with pytest.raises(dataclasses.FrozenInstanceError):
        prior.prior = None
    posterior = prior.update(DATA[type(prior)])
    assert posterior != prior
    assert hash(posterior) == hash(prior.update(DATA[type(prior)]))
    again = pickle.loads(pickle.dumps(posterior))
    assert again == posterior
    assert again.origin == prior
    assert prior.update([]) == prior


def test_worked_numbers_of_the_notes():
    """Red red blue of 003: Laplace k is the mean under Dir(k) and the mode under Dir(k + 1)."""
    for k, expected in [(1, [3 / 5, 2 / 5]), (100, [102 / 203, 101 / 203])]:
        mean = DirichletCategorical.symmetric(k, 2).update([0, 0, 1]).mean
        np.testing.assert_allclose(mean, expected, rtol=1e-15)
        mode = DirichletCategorical.symmetric(k + 1, 2).update([0, 0, 1]).mode
        np.testing.assert_allclose(mode, expected, rtol=1e-15)
    # k = 0 is maximum likelihood, the mode under the uniform prior.
    np.testing.assert_allclose(DirichletCategorical([1, 1]).update([0, 0, 1]).mode, [2 / 3, 1 / 3])


def test_dirichlet_of_two_is_beta():
    beta = BetaBernoulli(2, 3).update([1, 1, 0])
    dirichlet = DirichletCategorical([3, 2]).update([1, 1, 0])
    assert beta.mean == pytest.approx(dirichlet.mean[1])
    assert beta.mode == pytest.approx(dirichlet.mode[1])
    np.testing.assert_allclose(beta.credible_interval(), dirichlet.credible_interval()[1])
    evidence = DirichletCategorical([3, 2]).log_evidence([1, 1, 0])
    assert BetaBernoulli(2, 3).log_evidence([1, 1, 0]) == pytest.approx(evidence)
    pmf = beta.predictive(3).pmf(range(4))
    counts = dirichlet.predictive(3)
    np.testing.assert_allclose(pmf, [counts.pmf([3 - s, s]) for s in range(4)])


def test_exposure_scales_the_intensity():
    counts = GammaPoisson(2, 1).update([3, 4], exposure=[2.0, 0.5])
    assert counts == GammaPoisson(9, 3.5)
    prior = GammaPoisson(2, 1)
    expected = prior.predictive(exposure=2.0).logpmf(3)
    assert prior.log_evidence([3], exposure=2.0) == pytest.approx(expected)
    # The likelihood of a count in an exposure of 2 is Poisson(2 theta).
    theta = prior.sample(200_000, random_state=0)
    by_hand = stats.poisson.pmf(3, 2 * theta).mean()
    assert math.exp(prior.log_evidence([3], exposure=2.0)) == pytest.approx(by_hand, rel=0.02)


def test_a_far_location_keeps_its_digits():
    prior = NormalInverseGamma(1e8, 1.0, 2.0, 1.0)
    data = 1e8 + np.random.default_rng(0).normal(size=1000)
    near = NormalInverseGamma(0.0, 1.0, 2.0, 1.0).update(data - 1e8)
    far = prior.update(data)
    merged = prior.update(data[:400]).merge(prior.update(data[400:]))
    for posterior in (far, merged):
        assert posterior.scale == pytest.approx(near.scale, rel=1e-6)
        assert posterior.location - 1e8 == pytest.approx(near.location, abs=1e-7)
    assert merged.scale == pytest.approx(far.scale, rel=1e-10)


def test_modes_are_the_highest_points():
    beta, gamma = BetaBernoulli(3, 2), GammaPoisson(3, 2)
    for family in (beta, gamma):
        grid = np.linspace(1e-3, 1 - 1e-3, 99_801) * (1 if family is beta else 5)
        highest = grid[np.argmax(family.distribution.pdf(grid))]
        assert family.mode == pytest.approx(highest, abs=1e-4)
    joint = NormalInverseGamma(1.0, 2.0, 3.0, 4.0)

    def log_density(mean, variance):
        value = stats.invgamma.logpdf(variance, 3.0, scale=4.0)
        return value + stats.norm.logpdf(mean, 1.0, math.sqrt(variance / 2.0))

    mean, variance = joint.mode
    top = log_density(mean, variance)
    for dm, dv in [(0.01, 0), (-0.01, 0), (0, 0.01), (0, -0.01)]:
        assert log_density(mean + dm, variance + dv) < top
    assert BetaBernoulli(1, 3).mode == 0
    assert BetaBernoulli(2, 0.5).mode == 1
    assert GammaPoisson(0.5, 1).mode == 0


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: BetaBernoulli(1, 1).mode, "flat"),
        (lambda: BetaBernoulli(0.5, 0.5).mode, "unbounded"),
        (lambda: DirichletCategorical([1, 1]).mode, "flat"),
        (lambda: DirichletCategorical([0.5, 2]).mode, r"alpha\[0\]"),
        (lambda: BetaBernoulli(0, 1), "improper"),
        (lambda: BetaBernoulli(1, math.inf), "beta"),
        (lambda: BetaBernoulli("1", 1), "alpha"),
        (lambda: DirichletCategorical([1]), "two"),
        (lambda: DirichletCategorical(1.0), "two"),
        (lambda: DirichletCategorical([1, 0]), r"alpha\[1\]"),
        (lambda: GammaPoisson(1, 0), "rate"),
        (lambda: NormalNormal(math.nan, 1, 1), "location"),
        (lambda: NormalNormal(0, -1, 1), "variance"),
        (lambda: NormalInverseGamma(0, 1, 1, 0), "scale"),
        (lambda: BetaBernoulli().credible_interval(95), "level"),
        (lambda: BetaBernoulli().credible_interval(0.9, "shortest"), "kind"),
        (lambda: BetaBernoulli().sample(3, random_state="seed"), "random_state"),
        (lambda: BetaBernoulli().merge(GammaPoisson()), "family"),
        (lambda: BetaBernoulli(1, 1).update([1]).merge(BetaBernoulli(2, 1)), "prior"),
        (
            lambda: BetaBernoulli(1, 1).merge(BetaBernoulli(1, 1), prior=BetaBernoulli(9, 1)),
            "alpha",
        ),
        (lambda: GammaPoisson().predictive(exposure=0), "exposure"),
    ],
)
def test_bad_parameters_say_what_is_wrong(call, words):
    with pytest.raises(ValueError, match=words):
        call()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: BetaBernoulli().update([0, 2]), r"data\[1\] = 2"),
        (lambda: BetaBernoulli().update([0, math.nan]), r"data\[1\]"),
        (lambda: BetaBernoulli().update([[0, 1]]), "one-dimensional"),
        (lambda: BetaBernoulli().update(["yes"]), "numbers"),
        (lambda: BetaBernoulli().update([0, 1], [1]), "weights"),
        (lambda: BetaBernoulli().update([0, 1], [1, -1]), r"weights\[1\]"),
        (lambda: BetaBernoulli().update_counts(-1, 2), "successes"),
        (lambda: DirichletCategorical([1, 1]).update([0, 2]), r"data\[1\] = 2"),
        (lambda: DirichletCategorical([1, 1]).update([0.5]), r"data\[0\]"),
        (lambda: DirichletCategorical([1, 1]).update_counts([1, 2, 3]), "categories"),
        (lambda: DirichletCategorical([1, 1]).update_counts([1, -2]), r"counts\[1\]"),
        (lambda: GammaPoisson().update([1.5]), "whole"),
        (lambda: GammaPoisson().update([-1]), "negative"),
        (lambda: GammaPoisson().update([1, 2], exposure=[1]), "exposure"),
        (lambda: GammaPoisson().update([1], exposure=0), "exposure"),
        (lambda: NormalNormal().update([math.inf]), r"data\[0\]"),
    ],
)
def test_bad_data_name_the_place(call, words):
    with pytest.raises(DataError, match=words):
        call()


def test_merge_with_a_prior_that_is_named():
    merged = BetaBernoulli(3, 1).merge(BetaBernoulli(1, 4), prior=BetaBernoulli(1, 1))
    assert merged == BetaBernoulli(3, 4)
    with pytest.raises(ParameterError, match="noise"):
        NormalNormal(0, 1, 1).merge(NormalNormal(0, 1, 2), prior=NormalNormal(0, 2, 1))
