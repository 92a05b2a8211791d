"""Comparisons: closed forms against draws, calibration of the probabilities, degenerate cases."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import stats

from separatrix.bayes import (
    BetaBernoulli,
    accuracy_interval,
    compare_predictions,
    correlated_t_test,
    sign_test,
)
from separatrix.errors import DataError, ParameterError


def predictions(both, only_a, only_b, none):
    n = both + only_a + only_b + none
    y, a, b = np.zeros(n, int), np.zeros(n, int), np.zeros(n, int)
    b[both : both + only_a] = 1
    a[both + only_a : both + only_a + only_b] = 1
    a[n - none :] = b[n - none :] = 1
    return y, a, b


def test_accuracy_is_a_beta():
    result = accuracy_interval([1] * 10, [1] * 9 + [0], kind="equal")
    assert (result.n_right, result.n_rows, result.accuracy) == (9, 10, 0.9)
    assert result.posterior == BetaBernoulli(10, 2)
    assert result.interval == pytest.approx(stats.beta(10, 2).interval(0.95))
    short = accuracy_interval(["a"] * 10, ["a"] * 9 + ["b"], level=0.9, kind="highest")
    assert np.diff(short.interval) < np.diff(stats.beta(10, 2).interval(0.9))
    assert "9 of 10; 90 % highest-density credible" in str(short)
    prior = accuracy_interval([1], [1], prior=BetaBernoulli(0.5, 0.5))
    assert prior.posterior == BetaBernoulli(1.5, 0.5)


@pytest.mark.parametrize(("right", "n"), [(0, 10), (10, 10), (95, 100), (7, 13)])
def test_interval_ends_have_the_tails_of_the_posterior(right, n):
    said = [1] * right + [0] * (n - right)
    low, high = accuracy_interval([1] * n, said, kind="equal").interval
    assert 0 < low < high < 1
    # P(Beta(1 + k, 1 + n - k) <= p) = P(Binomial(n + 1, p) > k)
    assert stats.binom.sf(right, n + 1, low) == pytest.approx(0.025)
    assert stats.binom.sf(right, n + 1, high) == pytest.approx(0.975)


@settings(max_examples=50)
@given(st.integers(1, 3000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
@example((2, 2))
@example((0, 2))
@example((2999, 3000))
def test_the_interval_holds_the_accuracy(counted):
    right, n = counted
    found = accuracy_interval([1] * n, [1] * right + [0] * (n - right))
    low, high = found.interval
    assert low <= found.accuracy <= high
    assert stats.beta(1 + right, 1 + n - right).cdf([low, high]) @ [-1, 1] == pytest.approx(0.95)
    assert found.name == "highest-density credible interval"
    assert f"95 % {found.name} {low:.4f} to {high:.4f}" in str(found)


counts = st.tuples(*[st.integers(0, 60)] * 4).filter(lambda c: sum(c) > 0)


@settings(max_examples=25)
@given(counts, st.sampled_from([0.0, 0.01, 0.1]))
def test_paired_predictions_against_draws(cells, rope):
    result = compare_predictions(*predictions(*cells), rope=rope)
    draws = np.random.default_rng(0).dirichlet(np.array(cells) + 1.0, 40_000)
    delta = draws[:, 1] - draws[:, 2]
    by_draws = [(delta > rope).mean(), (np.abs(delta) <= rope).mean(), (delta < -rope).mean()]
    found = [result.p_a, result.p_equivalent, result.p_b]
    np.testing.assert_allclose(found, by_draws, atol=0.012)
    assert sum(found) == pytest.approx(1, abs=1e-7)
    assert result.difference == pytest.approx(delta.mean(), abs=0.01)
    np.testing.assert_allclose(result.interval, np.quantile(delta, [0.025, 0.975]), atol=0.015)


@given(counts)
@settings(max_examples=25)
def test_swapping_the_models_swaps_the_result(cells):
    y, a, b = predictions(*cells)
    one, two = compare_predictions(y, a, b, rope=0.02), compare_predictions(y, b, a, rope=0.02)
    assert one.p_a == pytest.approx(two.p_b, abs=1e-8)
    assert one.difference == pytest.approx(-two.difference)
    np.testing.assert_allclose(one.interval, [-two.interval[1], -two.interval[0]], atol=1e-8)


def test_many_rows_stay_exact():
    """At a million rows the integrands are spikes; the normal limit must come out."""
    result = compare_predictions(*predictions(900_000, 20_000, 19_500, 60_500), rope=1e-4)
    n = 1_000_000
    spread = np.sqrt((0.02 + 0.0195 - 0.0005**2) / n)
    limit = stats.norm(0.0005, spread)
    assert result.p_a == pytest.approx(limit.sf(1e-4), abs=1e-3)
    np.testing.assert_allclose(result.interval, limit.interval(0.95), atol=2e-5)


def test_probability_of_winning_is_calibrated():
    """Cells drawn from the prior: among results with p_a near p, A is better in a share p."""
    generator = np.random.default_rng(0)
    cells = generator.dirichlet([1, 1, 1, 1], 20_000)
    counts = np.array([generator.multinomial(30, p) for p in cells])
    said = stats.beta.sf(0.5, 1 + counts[:, 1], 1 + counts[:, 2])
    better = cells[:, 1] > cells[:, 2]
    for low in np.arange(0, 1, 0.2):
        inside = (said >= low) & (said < low + 0.2)
        assert better[inside].mean() == pytest.approx(said[inside].mean(), abs=0.03)
    # The quick formula above is what the function reports.
    assert compare_predictions(*predictions(3, 5, 2, 1)).p_a == stats.beta.sf(0.5, 6, 3)


def test_correlated_t_is_the_corrected_t_of_nadeau_and_bengio():
    generator = np.random.default_rng(1)
    a = generator.normal(0.9, 0.02, (10, 10))
    b = a - generator.normal(0.01, 0.02, (10, 10))
    result = correlated_t_test(a, b, rope=0.005)
    x = (a - b).ravel()
    scale = np.sqrt((1 / 100 + 1 / 9) * x.var(ddof=1))
    belief = stats.t(99, x.mean(), scale)
    assert result.p_a == pytest.approx(belief.sf(0.005))
    assert result.p_b == pytest.approx(belief.cdf(-0.005))
    assert result.p_equivalent == pytest.approx(belief.cdf(0.005) - belief.cdf(-0.005))
    np.testing.assert_allclose(result.interval, belief.interval(0.95))
    assert result.p_value == pytest.approx(2 * stats.t.sf(abs(x.mean() / scale), 99))
    flat = correlated_t_test(a.ravel(), b.ravel(), test_share=0.1, rope=0.005)
    assert flat == result
    # Without correlation it is the paired t test.
    nearly = correlated_t_test(a.ravel(), b.ravel(), test_share=1e-12)
    assert nearly.p_value == pytest.approx(stats.ttest_rel(a.ravel(), b.ravel()).pvalue, rel=1e-6)


def test_correlated_scores_keep_the_error_rate():
    """Differences with correlation rho and mean 0: p-values below 5 % in about 5 % of the runs."""
    generator = np.random.default_rng(2)
    rho, n, n_runs = 0.1, 100, 1500
    shared = generator.normal(size=(n_runs, 1)) * np.sqrt(rho)
    x = shared + generator.normal(size=(n_runs, n)) * np.sqrt(1 - rho)
    p_values = [correlated_t_test(row, np.zeros(n), test_share=rho).p_value for row in x]
    assert np.mean(np.array(p_values) < 0.05) == pytest.approx(0.05, abs=0.02)
    naive = stats.ttest_1samp(x, 0, axis=1).pvalue
    assert (naive < 0.05).mean() > 0.3


def test_equal_scores():
    same = correlated_t_test([0.9, 0.8], [0.9, 0.8], test_share=0.5)
    assert (same.p_a, same.p_equivalent, same.p_b) == (0, 1, 0)
    assert same.p_value == 1
    ahead = correlated_t_test([0.9, 0.8], [0.7, 0.6], test_share=0.5, rope=0.1)
    assert (ahead.p_a, ahead.p_equivalent, ahead.p_b) == (1, 0, 0)


@settings(max_examples=25)
@given(
    st.lists(st.integers(-3, 3), min_size=1, max_size=40),
    st.sampled_from([0.0, 1.0]),
    st.floats(0.5, 3),
)
def test_sign_test_against_draws(differences, rope, prior):
    x = np.array(differences, dtype=float)
    result = sign_test(x, np.zeros(len(x)), rope=rope, prior=prior)
    a, b = (x > rope).sum(), (x < -rope).sum()
    middle = len(x) - a - b
    generator = np.random.default_rng(0)
    if rope == 0:
        half = (middle + prior) / 2
        expected = (generator.beta(a + half, b + half, 40_000) > 0.5).mean()
        assert result.p_a == pytest.approx(expected, abs=0.012)
        assert result.p_equivalent == 0
    else:
        cells = [
            generator.gamma(k, size=40_000) if k else np.zeros(40_000)
            for k in (a, middle + prior, b)
        ]
        winner = np.argmax(cells, axis=0)
        expected = np.bincount(winner, minlength=3) / 40_000
        np.testing.assert_allclose(
            [result.p_a, result.p_equivalent, result.p_b], expected, atol=0.012
        )
    assert result.p_a + result.p_equivalent + result.p_b == pytest.approx(1)


def test_results_print_well():
    text = str(correlated_t_test([0.9, 0.92, 0.91], [0.89, 0.9, 0.91], test_share=1 / 3, rope=0.01))
    assert text.splitlines()[0].startswith("correlated t test on 3 folds: A - B = +0.0100 (95 %")
    assert "P(equivalent within 0.01)" in text
    assert "equivalent" not in str(compare_predictions([0, 1, 1], [0, 1, 0], [0, 0, 0]))


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: accuracy_interval([1, 2], [1]), DataError, "same length"),
        (lambda: accuracy_interval([], []), DataError, "at least one"),
        (lambda: compare_predictions([1], [1], [1, 2]), DataError, "predicted_b"),
        (lambda: compare_predictions([1], [1], [1], rope=-1), ParameterError, "rope"),
        (lambda: compare_predictions([1], [1], [1], prior=[1, 2]), ParameterError, "prior"),
        (lambda: compare_predictions([1], [1], [1], prior=0), ParameterError, "prior"),
        (lambda: compare_predictions([1], [1], [1], level=2), ParameterError, "level"),
        (lambda: correlated_t_test([1, 2], [1, 2]), ParameterError, "test_share"),
        (lambda: correlated_t_test([1, 2], [1, 2], test_share=1.0), ParameterError, "test_share"),
        (lambda: correlated_t_test([1], [1], test_share=0.1), DataError, "two folds"),
        (lambda: correlated_t_test([1, np.nan], [1, 2], test_share=0.1), DataError, "finite"),
        (lambda: sign_test([1, 2], [1]), DataError, "one shape"),
        (lambda: sign_test([1], [1], prior=0), ParameterError, "prior"),
    ],
)
def test_bad_input(call, error, words):
    with pytest.raises(error, match=words):
        call()
