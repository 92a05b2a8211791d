"""Bayes actions: the table of the notes, brute force, and the error estimates."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, stats

from separatrix.bayes import (
    AbsoluteLoss,
    BetaBernoulli,
    CostMatrix,
    DirichletCategorical,
    GammaPoisson,
    NormalInverseGamma,
    NormalNormal,
    QuantileLoss,
    SquaredLoss,
    ZeroOneLoss,
    bayes_action,
    posterior_risk,
)
from separatrix.bayes.quadrature import Panels
from separatrix.errors import DataError, ParameterError

LOSSES = [SquaredLoss(), AbsoluteLoss(), QuantileLoss(0.2), QuantileLoss(0.9)]
POSTERIORS = [
    BetaBernoulli(3, 2),
    GammaPoisson(4, 2),
    NormalNormal(1, 2, 1),
    stats.lognorm(0.5),
    stats.t(5, 1, 2),
]


def test_important_cases_of_the_notes():
    """000: squared loss gives the mean, absolute the median, zero-one the mode."""
    posterior = BetaBernoulli(3, 2)  # two successes and a failure after a uniform prior
    assert bayes_action(posterior, SquaredLoss()).action == pytest.approx(3 / 5)
    assert bayes_action(posterior, ZeroOneLoss()).action == pytest.approx(2 / 3)
    median = bayes_action(posterior, AbsoluteLoss()).action
    assert 4 * median**3 - 3 * median**4 == pytest.approx(0.5)  # F(m) of Beta(3, 2)
    # Posterior risk of the mean under the squared loss is the posterior variance, 1/25.
    assert bayes_action(posterior, SquaredLoss()).risk == pytest.approx(1 / 25)


@pytest.mark.parametrize("posterior", POSTERIORS, ids=lambda p: str(p)[:20])
@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_known_actions_are_what_the_search_finds(posterior, loss):
    best = bayes_action(posterior, loss)
    found = bayes_action(posterior, lambda action, theta: loss(action, theta))
    assert (best.method, found.method) == ("closed form", "quadrature")
    assert found.action == pytest.approx(best.action, abs=1e-5)
    assert found.risk == pytest.approx(best.risk, rel=1e-7)
    assert best.risk <= found.risk + 1e-9
    for step in (-0.05, 0.05):
        assert posterior_risk(best.action + step, posterior, loss).value > best.risk


@pytest.mark.parametrize("posterior", POSTERIORS[:4], ids=lambda p: str(p)[:20])
@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_risk_against_long_monte_carlo(posterior, loss):
    distribution = getattr(posterior, "distribution", posterior)
    draws = distribution.rvs(400_000, random_state=0)
    for action in distribution.ppf([0.05, 0.6]):
        exact = posterior_risk(float(action), posterior, loss)
        sampled = posterior_risk(float(action), draws, loss)
        assert sampled.method == "sampling"
        assert exact.error < 1e-6
        assert sampled.value == pytest.approx(exact.value, abs=5 * sampled.error)
        assert 0 < sampled.error < 0.02


def test_absolute_risk_of_the_normal_in_closed_form():
    risk = posterior_risk(0.0, stats.norm(0, 3), AbsoluteLoss())
    assert float(risk) == pytest.approx(3 * math.sqrt(2 / math.pi), abs=1e-10)
    assert risk.error < 1e-6


@settings(max_examples=40)
@given(st.floats(0.2, 1.5), st.floats(-2, 2), st.floats(0.3, 2))
def test_linex_loss_in_closed_form(b, mean, spread):
    """E exp(b (theta - a)) - b (theta - a) - 1 is least at a = mean + b spread^2 / 2."""

    def linex(action, theta):
        return np.exp(b * (theta - action)) - b * (theta - action) - 1

    best = bayes_action(stats.norm(mean, spread), linex)
    assert best.action == pytest.approx(mean + b * spread**2 / 2, abs=1e-4)
    assert best.risk == pytest.approx(b**2 * spread**2 / 2, rel=1e-6)


def test_a_best_action_beyond_the_likely_thetas_is_found():
    best = bayes_action(stats.norm(0, 1), lambda a, theta: (a - theta - 40.0) ** 2)
    assert best.action == pytest.approx(40, abs=1e-5)
    with pytest.raises(ParameterError, match="bounds"):
        bayes_action(stats.norm(0, 1), lambda a, theta: np.exp(-a / 1e9) + 0 * theta)


def test_losses_of_one_theta_at_a_time_work_too():
    def one_by_one(action, theta):
        return 2 * (action - theta) if action > theta else theta - action

    best = bayes_action(stats.norm(0, 1), one_by_one)
    assert best.action == pytest.approx(stats.norm.ppf(1 / 3), abs=1e-4)


def test_several_basins():
    """A loss with two troughs: the scan must find the deeper one."""

    def loss(action, theta):
        return np.minimum((action - theta) ** 2, (action - theta - 5) ** 2 - 0.5)

    best = bayes_action(stats.norm(0, 0.3), loss, bounds=(-3, 8))
    assert best.action == pytest.approx(5, abs=1e-4)


def test_actions_from_a_list_and_within_bounds():
    posterior = GammaPoisson(4, 2)
    assert bayes_action(posterior, SquaredLoss(), actions=[0, 1, 3]).action == 1
    assert bayes_action(posterior, SquaredLoss(), bounds=(2.5, 9)).action == 2.5
    assert bayes_action(posterior, AbsoluteLoss(), bounds=(0, 1)).action == 1
    assert bayes_action(posterior, ZeroOneLoss(), bounds=(2, 3)).action == pytest.approx(2)
    assert bayes_action(posterior, ZeroOneLoss(), actions=[0.5, 1.4, 3]).action == 1.4

    def treat(action, theta):
        return np.where(theta > 3, 10.0, 0.0) if action == "wait" else 1.0 + 0 * theta

    best = bayes_action(posterior, treat, actions=["wait", "treat"])
    chance = posterior.distribution.sf(3)
    assert best.action == ("treat" if 10 * chance > 1 else "wait")
    risk = posterior_risk("wait", posterior, treat)
    assert risk.value == pytest.approx(10 * chance, abs=max(1e-4, risk.error))


def test_discrete_posteriors_are_summed():
    counts = stats.poisson(3.4)
    assert bayes_action(counts, ZeroOneLoss()).action == 3
    assert posterior_risk(3, counts, ZeroOneLoss()).value == pytest.approx(1 - counts.pmf(3))
    assert bayes_action(counts, AbsoluteLoss()).action == counts.median()
    newsvendor = bayes_action(counts, lambda a, t: 3 * np.maximum(t - a, 0) + np.maximum(a - t, 0))
    assert newsvendor.action == counts.ppf(0.75)
    assert newsvendor.method == "enumeration"
    assert newsvendor.error < 1e-9


def test_vectors():
    joint = NormalInverseGamma(1, 2, 4, 3)
    best = bayes_action(joint, SquaredLoss())
    np.testing.assert_allclose(best.action, [1, 1])
    mean, variance = joint.marginals
    assert best.risk == pytest.approx(mean.var() + variance.var())
    np.testing.assert_allclose(bayes_action(joint, AbsoluteLoss()).action, joint.median)
    np.testing.assert_allclose(bayes_action(joint, ZeroOneLoss()).action, joint.mode)
    draws = joint.sample(50_000, random_state=0)
    sampled = bayes_action(draws, AbsoluteLoss())
    np.testing.assert_allclose(sampled.action, joint.median, atol=0.02)
    assert sampled.risk == pytest.approx(bayes_action(joint, AbsoluteLoss()).risk, rel=0.03)

    def worst(action, theta):
        return np.abs(theta - action).max(axis=-1)

    cloud = stats.multivariate_normal([1.0, -1.0], np.diag([1.0, 0.25]))
    best = bayes_action(cloud, worst, random_state=0)
    assert best.method == "sampling"
    np.testing.assert_allclose(best.action, [1, -1], atol=0.05)
    assert 0 < best.error < 0.02
    nearest = bayes_action(cloud, worst, actions=[(0.0, 0.0), (1.0, -1.0)], random_state=0)
    assert nearest.action == (1.0, -1.0)


@settings(max_examples=60)
@given(
    st.integers(2, 5).flatmap(
        lambda k: st.tuples(
            st.lists(st.lists(st.floats(0, 10), min_size=k, max_size=k), min_size=k, max_size=k),
            st.lists(st.floats(0.01, 1), min_size=k, max_size=k),
            st.floats(0, 5),
        )
    )
)
def test_cost_matrix_takes_the_cheapest_action(case):
    table, raw, reject = case
    p = np.array(raw) / sum(raw)
    cost = CostMatrix(table, reject=reject)
    by_hand = [sum(p[i] * table[i][j] for i in range(len(p))) for j in range(len(p))] + [reject]
    best = bayes_action(p, cost)
    assert best.risk == pytest.approx(min(by_hand))
    assert by_hand[best.action] == pytest.approx(min(by_hand))
    assert best.error == 0
    for action, risk in enumerate(by_hand):
        assert posterior_risk(action, p, cost).value == pytest.approx(risk)


def test_chows_rule():
    """With 0-1 costs, rejection at r means: reject where the largest probability is < 1 - r."""
    p = np.array([[0.95, 0.05], [0.85, 0.15], [0.5, 0.5], [0.9, 0.1]])
    best = bayes_action(p, CostMatrix(1 - np.eye(2), reject=0.1))
    np.testing.assert_array_equal(best.action[:3], [0, 2, 2])
    np.testing.assert_allclose(best.risk, [0.05, 0.1, 0.1, 0.1])
    # A tie goes to the decision, not to the rejection.
    tie = bayes_action([0.75, 0.25], CostMatrix(1 - np.eye(2), reject=0.25))
    assert tie.action == 0


def test_states_of_a_cost_matrix_from_families_and_distributions():
    cost = CostMatrix([[0, 1], [5, 0]], actions=["keep", "throw"])
    belief = BetaBernoulli(1, 3)
    by_vector = bayes_action([0.75, 0.25], cost)
    for posterior in (belief, stats.bernoulli(0.25), DirichletCategorical([3, 1])):
        best = bayes_action(posterior, cost)
        assert best.action == by_vector.action
        assert best.risk == pytest.approx(by_vector.risk)
    assert posterior_risk("keep", belief, cost).value == pytest.approx(1.25)
    np.testing.assert_array_equal(cost(1, [0, 1, 1]), [1, 0, 0])


def test_a_gain_of_several_actions_against_optimize():
    """Quadrature search against scipy on a smooth skewed loss."""
    posterior = stats.gamma(2, scale=1.5)
    loss = lambda a, t: (a - t) ** 4 + np.sin(3 * a)  # noqa: E731
    moments = [posterior.moment(k) for k in range(5)]

    def risk(a):
        m1, m2, m3, m4 = moments[1:]
        return a**4 - 4 * a**3 * m1 + 6 * a**2 * m2 - 4 * a * m3 + m4 + np.sin(3 * a)

    grid = np.linspace(0, 20, 4001)
    start = grid[np.argmin(risk(grid))]
    expected = optimize.minimize_scalar(risk, bounds=(start - 0.01, start + 0.01), method="bounded")
    best = bayes_action(posterior, loss)
    assert best.action == pytest.approx(expected.x, abs=1e-4)
    assert best.risk == pytest.approx(expected.fun, rel=1e-7)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: QuantileLoss(1.0), ParameterError, "q must"),
        (lambda: CostMatrix([1, 2]), ParameterError, "matrix"),
        (lambda: CostMatrix([[0, math.nan], [1, 0]]), ParameterError, r"cost\[0, 1\]"),
        (lambda: CostMatrix([[0, 1], [1, 0]], reject=[1, 2, 3]), ParameterError, "reject"),
        (lambda: CostMatrix([[0, 1], [1, 0]], actions=["a"]), ParameterError, "names"),
        (lambda: CostMatrix([[0, 1], [1, 0]]).risks([0.5, 0.6]), DataError, "sum to 1"),
        (lambda: CostMatrix([[0, 1], [1, 0]]).risks([1.0]), DataError, "columns"),
        (
            lambda: bayes_action(stats.norm(), CostMatrix([[0, 1], [1, 0]])),
            ParameterError,
            "states",
        ),
        (
            lambda: bayes_action([0.5, 0.5], CostMatrix(1 - np.eye(2)), actions=[0]),
            ParameterError,
            "columns",
        ),
        (
            lambda: posterior_risk(7, [0.5, 0.5], CostMatrix(1 - np.eye(2))),
            ParameterError,
            "0 to 1",
        ),
        (lambda: bayes_action(stats.norm(), SquaredLoss(), actions=[]), ParameterError, "empty"),
        (
            lambda: bayes_action(stats.norm(), SquaredLoss(), bounds=(1, 0)),
            ParameterError,
            "bounds",
        ),
        (
            lambda: bayes_action(stats.norm(), SquaredLoss(), [1], bounds=(0, 1)),
            ParameterError,
            "either",
        ),
        (lambda: bayes_action(stats.norm([0, 1]), SquaredLoss()), ParameterError, "one at a time"),
        (lambda: posterior_risk(0.0, stats.norm(), lambda a, t: t * np.nan), DataError, "NaN"),
        (
            lambda: posterior_risk(0.0, [1.0, 2.0], lambda a, t: [1, 2, 3]),
            ParameterError,
            "one number",
        ),
        (lambda: bayes_action(np.zeros((9, 2)), ZeroOneLoss()), ParameterError, "joint mode"),
    ],
)
def test_bad_input(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_a_fault_inside_a_loss_is_not_hidden():
    def broken(action, theta):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        posterior_risk(0.0, stats.norm(), broken)


@pytest.mark.parametrize("a", [0.1, 0.5, 0.9, 1.0, 3.0])
@pytest.mark.parametrize("b", [0.1, 1.0, 2.0])
def test_panels_integrate_unbounded_densities(a, b):
    density = stats.beta(a, b)
    panels = Panels(density)
    for theta, weights in (panels.points, panels.split_at(0.3)):
        assert weights.sum() == pytest.approx(1, abs=1e-9)
        assert weights @ theta == pytest.approx(density.mean(), abs=1e-7)
        assert weights @ theta**3 == pytest.approx(density.moment(3), abs=1e-7)
    theta, weights = panels.split_at(0.3)
    assert weights[theta < 0.3].sum() == pytest.approx(density.cdf(0.3), abs=1e-9)
