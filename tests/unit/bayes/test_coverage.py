"""Simulation-based calibration: draw theta from the prior, data given theta, ask the posterior.

95 % intervals must hold theta in 95 % of 500 runs, give or take 3 (of 2,000, give or take 2, in
`make soak`), and the rank of theta in the posterior must be uniform (Talts et al. 2018).
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from separatrix.bayes import (
    BetaBernoulli,
    DirichletCategorical,
    GammaPoisson,
    NormalInverseGamma,
    NormalNormal,
    credible_interval,
)

N_RUNS = 2000


def simulate(prior, theta, generator):
    match prior:
        case BetaBernoulli():
            return generator.random(10) < theta
        case DirichletCategorical():
            return generator.choice(len(theta), 10, p=theta)
        case GammaPoisson():
            return generator.poisson(theta, 10)
        case NormalNormal():
            return generator.normal(theta, np.sqrt(prior.noise_variance), 10)
        case NormalInverseGamma():
            return generator.normal(theta[0], np.sqrt(theta[1]), 10)


@pytest.mark.parametrize(
    ("n_runs", "margin"), [(500, 0.03), pytest.param(N_RUNS, 0.02, marks=pytest.mark.slow)]
)
@pytest.mark.parametrize(
    "prior",
    [
        BetaBernoulli(2, 3),
        DirichletCategorical([2, 1, 3]),
        GammaPoisson(3, 0.5),
        NormalNormal(1, 4, 2),
        NormalInverseGamma(1, 0.5, 3, 2),
    ],
    ids=lambda prior: type(prior).__name__,
)
def test_intervals_cover_what_they_promise(prior, n_runs, margin):
    generator = np.random.default_rng(12)
    thetas = prior.sample(n_runs, random_state=generator)
    ranks = []
    for theta in thetas:
        posterior = prior.update(simulate(prior, theta, generator))
        ranks.append(
            [
                marginal.cdf(value)
                for marginal, value in zip(posterior.marginals, np.atleast_1d(theta), strict=True)
            ]
        )
    ranks = np.array(ranks)
    inside = (ranks > 0.025) & (ranks < 0.975)
    assert (np.abs(inside.mean(axis=0) - 0.95) < margin).all(), inside.mean(axis=0)
    for column in ranks.T:
        assert stats.kstest(column, "uniform").pvalue > 1e-3


def test_highest_density_intervals_cover_too():
    prior, generator = GammaPoisson(1.5, 0.5), np.random.default_rng(5)
    thetas = prior.sample(N_RUNS, random_state=generator)
    posteriors = [prior.update(generator.poisson(theta, 3)) for theta in thetas]
    shapes, rates = np.array([(p.shape, p.rate) for p in posteriors]).T
    ends = credible_interval(stats.gamma(shapes, scale=1 / rates), 0.95, "highest")
    held = (ends[:, 0] <= thetas) & (thetas <= ends[:, 1])
    assert held.mean() == pytest.approx(0.95, abs=0.02)
    assert ends[7] == pytest.approx(posteriors[7].credible_interval(0.95, "highest"))
