"""Measures of rankings against scikit-learn's and against their definitions, written out."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import ndcg_score, top_k_accuracy_score

from separatrix import metrics
from separatrix.errors import DataError, ParameterError

_random = np.random.default_rng(3)
SCORES = _random.normal(size=(40, 12))
Y = (_random.random((40, 12)) < 0.2).astype(int)
Y[0] = 0
P = _random.uniform(0.1, 1.0, size=12)


@pytest.mark.parametrize("k", [1, 3, 12])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
def test_rankings_as_written_out(k, form):
    ranked = metrics.rank_scores(SCORES, k)
    assert np.array_equal(ranked, np.argsort(-SCORES, axis=1)[:, :k])
    precision = np.mean([[Y[i, j] for j in row] for i, row in enumerate(ranked)])
    assert metrics.precision_at_k(form(Y), ranked, k) == pytest.approx(precision)
    hit = np.mean([any(Y[i, j] for j in row) for i, row in enumerate(ranked)])
    assert metrics.top_k_accuracy(form(Y), ranked, k) == pytest.approx(hit)
    assert metrics.ndcg_at_k(form(Y), ranked, k) == pytest.approx(ndcg_score(Y, SCORES, k=k))


@pytest.mark.parametrize("k", [1, 3, 5])
def test_propensity_scores_as_written_out(k):
    ranked = metrics.rank_scores(SCORES, k)
    found = best = found_gain = best_gain = 0.0
    for i, row in enumerate(ranked):
        own = sorted((1 / P[j] for j in np.flatnonzero(Y[i])), reverse=True)[:k]
        best += sum(own)
        best_gain += sum(w / np.log2(2 + place) for place, w in enumerate(own))
        found += sum(Y[i, j] / P[j] for j in row)
        found_gain += sum(Y[i, j] / P[j] / np.log2(2 + place) for place, j in enumerate(row))
    scored = metrics.propensity_scored_precision_at_k(sp.csr_array(Y), ranked, k, P)
    assert scored == pytest.approx(found / best)
    gain = metrics.propensity_scored_ndcg_at_k(Y, ranked, k, P)
    assert gain == pytest.approx(found_gain / best_gain)


def test_propensities_rise_with_the_frequency():
    Y = np.zeros((1000, 3), dtype=int)
    Y[:1, 0], Y[:30, 1], Y[:, 2] = 1, 1, 1
    rare, middle, common = metrics.propensities(sp.csr_array(Y))
    assert 0 < rare < middle < common < 1
    c = (np.log(1000) - 1) * 2.5**0.55
    assert middle == pytest.approx(1 / (1 + c * np.exp(-0.55 * np.log(31.5))))


def test_one_label_per_row_agrees_with_scikit_learn():
    y = _random.integers(0, 12, 40)
    ranked = metrics.rank_scores(SCORES, 4)
    expected = top_k_accuracy_score(y, SCORES, k=4, labels=np.arange(12))
    assert metrics.top_k_accuracy(y, ranked, 4) == pytest.approx(expected)
    assert metrics.precision_at_k(y, ranked, 4) == pytest.approx(expected / 4)


def test_ties_go_to_the_first_and_sparse_scores_may_be_short():
    assert metrics.rank_scores(np.array([[1.0, 1.0, 1.0, 2.0]]), 3).tolist() == [[3, 0, 1]]
    sparse = sp.csr_array(np.array([[0.0, 0.5, 0.9], [0.0, 0.1, 0.0]]))
    assert metrics.rank_scores(sparse, 2).tolist() == [[2, 1], [1, -1]]
    assert metrics.precision_at_k(np.eye(2, 3)[::-1], metrics.rank_scores(sparse, 2), 2) == 0.25


def test_bad_input():
    ranked = metrics.rank_scores(SCORES, 2)
    with pytest.raises(ParameterError, match="k must be"):
        metrics.precision_at_k(Y, ranked, 0)
    with pytest.raises(DataError, match="at least k=3"):
        metrics.precision_at_k(Y, ranked, 3)
    with pytest.raises(DataError, match="40 rows"):
        metrics.ndcg_at_k(Y, ranked[:5], 2)
    with pytest.raises(DataError, match="propensities of shape"):
        metrics.propensity_scored_precision_at_k(Y, ranked, 2, P[:3])
    with pytest.raises(DataError, match="places"):
        metrics.top_k_accuracy(["a"] * 40, ranked, 2)
    with pytest.raises(DataError, match="columns"):
        metrics.rank_scores(SCORES, 13)
