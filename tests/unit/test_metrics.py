"""Laws of the information measures; the counts against scikit-learn and by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics as peers

from separatrix.metrics import (
    accuracy,
    confusion_matrix,
    cross_entropy,
    entropy,
    expected_cost,
    kl_divergence,
    per_class_report,
)


@st.composite
def distribution_pairs(draw):
    size = draw(st.integers(1, 6))
    pair = []
    for _ in range(2):
        masses = np.array(draw(st.lists(st.integers(0, 50), min_size=size, max_size=size)), float)
        masses[draw(st.integers(0, size - 1))] += 1
        pair.append(masses / masses.sum())
    return pair


@given(distribution_pairs())
@settings(max_examples=200, deadline=None)
def test_divergence_is_cross_entropy_minus_entropy(pair):
    p, q = pair
    divergence, crossed = kl_divergence(p, q), cross_entropy(p, q)
    np.testing.assert_allclose(divergence, crossed - entropy(p), atol=1e-12)
    assert divergence >= 0
    assert 0 <= entropy(p) <= np.log(len(p)) + 1e-12
    assert crossed >= entropy(p) - 1e-12
    assert np.isinf(divergence) == bool(((q == 0) & (p > 0)).any())


def test_divergence_is_zero_only_for_equal_distributions():
    p = np.array([0.1, 0.2, 0.7])
    assert kl_divergence(p, p) == 0
    assert kl_divergence(p, p[::-1]) > 0


def test_no_mass_costs_nothing():
    assert entropy([0.0, 1.0]) == 0
    assert cross_entropy([0.0, 1.0], [0.0, 1.0]) == 0
    assert kl_divergence([0.0, 1.0], [0.5, 0.5]) == pytest.approx(np.log(2))
    assert cross_entropy([0.5, 0.5], [0.0, 1.0]) == np.inf
    assert kl_divergence([0.5, 0.5], [0.0, 1.0]) == np.inf


def test_rows_and_axes():
    p = np.array([[0.5, 0.5], [1.0, 0.0]])
    np.testing.assert_allclose(entropy(p), [np.log(2), 0])
    np.testing.assert_allclose(entropy(p.T, axis=0), [np.log(2), 0])
    np.testing.assert_allclose(cross_entropy(p, [0.5, 0.5]), [np.log(2)] * 2)


def test_one_hot_cross_entropy_is_the_log_loss():
    rng = np.random.default_rng(0)
    q = rng.dirichlet(np.ones(4), size=30)
    y = rng.integers(0, 4, 30)
    ours = cross_entropy(np.eye(4)[y], q).mean()
    assert ours == pytest.approx(peers.log_loss(y, q, labels=range(4)))


@pytest.mark.parametrize("bad", [[0.5, 0.6], [-0.1, 1.1], [np.nan, 1.0], [], 1.0, [np.inf, 0.0]])
def test_bad_distributions(bad):
    with pytest.raises(ValueError, match=r"^p must"):
        entropy(bad)


def random_labels(seed=0, n=200):
    rng = np.random.default_rng(seed)
    names = np.array(["ant", "bee", "cat", "dog"])
    return names[rng.choice(4, n, p=[0.5, 0.3, 0.15, 0.05])], names[rng.integers(0, 3, n)]


@pytest.mark.parametrize("weighted", [False, True])
def test_report_agrees_with_scikit_learn(weighted):
    y_true, y_pred = random_labels()
    weights = np.random.default_rng(1).uniform(0, 2, len(y_true)) if weighted else None
    report = per_class_report(y_true, y_pred, sample_weight=weights)
    peer = peers.classification_report(
        y_true, y_pred, sample_weight=weights, zero_division=0, output_dict=True
    )
    for i, label in enumerate(report.labels):
        assert report.precision[i] == pytest.approx(peer[label]["precision"])
        assert report.recall[i] == pytest.approx(peer[label]["recall"])
        assert report.f1[i] == pytest.approx(peer[label]["f1-score"])
        assert report.support[i] == pytest.approx(peer[label]["support"])
    for ours, theirs in ((report.macro, "macro avg"), (report.weighted, "weighted avg")):
        assert ours.precision == pytest.approx(peer[theirs]["precision"])
        assert ours.recall == pytest.approx(peer[theirs]["recall"])
        assert ours.f1 == pytest.approx(peer[theirs]["f1-score"])
    assert report.accuracy == pytest.approx(peer["accuracy"])
    # The weighted mean of the recalls is the accuracy.
    assert report.weighted.recall == pytest.approx(report.accuracy)


def test_report_prints_a_line_per_class_in_the_given_order():
    y_true, y_pred = random_labels()
    order = ["dog", "cat", "bee", "ant"]
    lines = str(per_class_report(y_true, y_pred, order)).splitlines()
    assert [line.split()[0] for line in lines[1:5]] == order
    assert len({len(line) for line in lines[:-1]}) == 1


def test_confusion_matrix_and_accuracy():
    y_true, y_pred = random_labels()
    counts = confusion_matrix(y_true, y_pred)
    assert counts.sum() == len(y_true)
    assert np.trace(counts) / counts.sum() == pytest.approx(accuracy(y_true, y_pred))
    flipped = confusion_matrix(y_true, y_pred, labels=["dog", "cat", "bee", "ant"])
    np.testing.assert_array_equal(flipped, counts[::-1, ::-1])


def test_expected_cost_is_the_mean_of_the_looked_up_costs():
    y_true, y_pred = random_labels()
    order = ["dog", "ant", "bee", "cat"]
    cost = np.random.default_rng(2).uniform(0, 3, (4, 4))
    lookup = np.mean(
        [cost[order.index(t), order.index(p)] for t, p in zip(y_true, y_pred, strict=True)]
    )
    assert expected_cost(y_true, y_pred, cost, labels=order) == pytest.approx(lookup)


def test_zero_one_cost_is_the_error_rate():
    y_true, y_pred = random_labels()
    weights = np.random.default_rng(1).uniform(0, 2, len(y_true))
    cost = 1 - np.eye(4)
    assert expected_cost(y_true, y_pred, cost) == pytest.approx(1 - accuracy(y_true, y_pred))
    assert expected_cost(y_true, y_pred, cost, sample_weight=weights) == pytest.approx(
        1 - accuracy(y_true, y_pred, sample_weight=weights)
    )


def test_bad_labels_and_costs():
    with pytest.raises(ValueError, match="lacks"):
        confusion_matrix(["a", "b"], ["a", "c"], labels=["a", "b"])
    with pytest.raises(ValueError, match="different"):
        per_class_report(["a", "b"], ["a", "b"], ["a", "b", "a"])
    with pytest.raises(ValueError, match=r"shape \(3, 3\)"):
        expected_cost(["a", "b"], ["a", "b"], np.ones((3, 3)))
    with pytest.raises(ValueError, match="inconsistent"):
        accuracy(["a", "b"], ["a"])
