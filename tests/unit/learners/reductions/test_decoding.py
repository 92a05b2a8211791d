"""Decoders and couplings, against loops and against their own laws."""

from itertools import combinations

import numpy as np
import pytest

from separatrix.learners.reductions import couple, couple_pairs, make_code
from separatrix.learners.reductions.decoding import (
    DECODING_LOSSES,
    hamming_distances,
    loss_distances,
    pair_scores,
    tournament,
    vote,
)
from separatrix.losses import MARGIN_LOSSES

K = 5
PAIRS = list(combinations(range(K), 2))
rng = np.random.default_rng(0)
MARGINS = rng.normal(size=(40, len(PAIRS)))


@pytest.mark.parametrize("loss", DECODING_LOSSES)
def test_losses_are_summed_over_the_columns(loss):
    code = make_code("random_sparse", K, 9, 3)
    margins = rng.normal(size=(7, 9))
    phi = MARGIN_LOSSES[loss]
    expected = [
        [
            sum(float(phi.value(np.array([m * f]))[0]) for m, f in zip(word, row, strict=True))
            for word in code.values
        ]
        for row in margins
    ]
    np.testing.assert_allclose(loss_distances(margins, code, loss), expected, rtol=1e-12)


def test_hamming_is_half_of_a_loss_of_signs():
    code = make_code("random_sparse", K, 9, 3)
    margins = rng.normal(size=(7, 9))
    expected = [
        [
            sum((1 - m * np.sign(f)) / 2 for m, f in zip(word, row, strict=True))
            for word in code.values
        ]
        for row in margins
    ]
    np.testing.assert_array_equal(hamming_distances(margins, code), expected)


def test_exponential_losses_stay_in_order():
    code = make_code("one_vs_all", 3)
    margins = np.array([[-900.0, 800.0, -1000.0]])
    distances = loss_distances(margins, code, "exponential")
    assert np.isfinite(distances).all()
    assert distances.argmin() == 1


def test_pairs_are_counted_and_summed():
    code = make_code("all_pairs", K)
    wins, sums = np.zeros((40, K)), np.zeros((40, K))
    for column, (i, j) in enumerate(PAIRS):
        f = MARGINS[:, column]
        sums[:, i] += f
        sums[:, j] -= f
        wins[np.arange(40), np.where(f > 0, i, j)] += 1
    np.testing.assert_allclose(pair_scores(MARGINS, code), sums, atol=1e-12)
    votes = vote(MARGINS, code)
    np.testing.assert_array_equal(np.rint(votes), wins)
    assert np.abs(votes - wins).max() < 1 / 3
    for row in range(40):
        best = np.flatnonzero(wins[row] == wins[row].max())
        assert votes[row].argmax() == best[sums[row, best].argmax()]


@pytest.mark.parametrize("n_classes", [2, 3, 4, 5, 8, 9])
def test_a_tournament_is_played_match_by_match(n_classes):
    pairs = {pair: column for column, pair in enumerate(combinations(range(n_classes), 2))}
    margins = np.random.default_rng(n_classes).normal(size=(30, len(pairs)))
    rounds = tournament(margins, n_classes)
    for row in range(30):
        left = list(range(n_classes))
        while len(left) > 1:
            matches = list(zip(left[::2], left[1::2], strict=False))
            last = left[-1:] if len(left) % 2 else []
            left = [i if margins[row, pairs[i, j]] > 0 else j for i, j in matches] + last
        assert rounds[row].argmax() == left[0]
        assert (rounds[row] == rounds[row].max()).sum() == 1


def test_a_condorcet_winner_wins_everything():
    margins = np.abs(MARGINS)  # the first class beats all, the second all but the first, ...
    code = make_code("all_pairs", K)
    for scores in (vote(margins, code), tournament(margins, K)):
        assert (scores.argmax(axis=1) == 0).all()


P = np.random.default_rng(1).dirichlet(np.ones(K), size=30)


def shares_of(p, code):
    plus, minus = p @ (code.values == 1).T.T, p @ (code.values == -1).T.T
    return plus / (plus + minus)


@pytest.mark.parametrize(
    "name", ["all_pairs", "exhaustive", "hadamard", "one_vs_all", "random_sparse"]
)
def test_coupling_finds_the_probabilities_that_made_the_shares(name):
    code = make_code(name, K, random_state=0)
    np.testing.assert_allclose(couple(shares_of(P, code), code), P, atol=2e-5)


def test_wu_lin_weng_finds_the_probabilities_that_made_the_shares():
    code = make_code("all_pairs", K)
    np.testing.assert_allclose(couple_pairs(shares_of(P, code), K), P, atol=1e-8)


def test_coupling_minimizes_the_divergence():
    code = make_code("all_pairs", K)
    shares = np.random.default_rng(2).uniform(0.05, 0.95, size=(1, code.n_columns))
    weights = np.arange(1.0, code.n_columns + 1)

    def divergence(p):
        q = shares_of(p, code)
        return float(
            (
                weights
                * (shares * np.log(shares / q) + (1 - shares) * np.log((1 - shares) / (1 - q)))
            ).sum()
        )

    p = couple(shares, code, weights, tol=1e-12, max_iter=20_000)
    best = divergence(p)
    for k in range(K):
        for step in (-1e-3, 1e-3):
            moved = p.copy()
            moved[0, k] += step
            assert divergence(moved / moved.sum()) >= best - 1e-12


def test_wu_lin_weng_minimizes_its_squares():
    shares = np.random.default_rng(3).uniform(0.05, 0.95, size=(1, len(PAIRS)))
    r = np.zeros((K, K))
    for column, (i, j) in enumerate(PAIRS):
        r[i, j], r[j, i] = shares[0, column], 1 - shares[0, column]

    def squares(p):
        return sum(
            (r[j, i] * p[i] - r[i, j] * p[j]) ** 2 for i in range(K) for j in range(K) if i != j
        )

    p = couple_pairs(shares, K)[0]
    for k in range(K):
        moved = p.copy()
        moved[k] += 1e-3
        assert squares(moved / moved.sum()) >= squares(p)


def test_certain_columns_give_finite_probabilities():
    code = make_code("all_pairs", 4)
    shares = np.array([[1.0, 1.0, 1.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0]])
    for p in (couple(shares, code), couple_pairs(shares, 4)):
        np.testing.assert_allclose(p.sum(axis=1), 1)
        assert p[0].argmax() == 0
        assert p[1].argmax() == 3
