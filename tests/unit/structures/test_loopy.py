"""Belief propagation and bounds: exact on trees, bounds that hold, warnings that say what to do."""

import warnings

import numpy as np
import pytest

from separatrix.data import Graphs
from separatrix.errors import ConvergenceWarning, DataError
from separatrix.structures.graph import bounds, forest, junction, loopy
from separatrix.structures.graph.scores import GraphScores, labelling_scores
from tests.unit.structures.graphs import Truth, random_edges, random_scores, random_tree

SCHEDULES = ["colored", "synchronous", "residual"]


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("own", [False, True])
def test_loopy_is_exact_on_trees(schedule, own):
    scores = random_scores(20, random_tree(20, 1), 3, own=own, scale=2.0)
    exact, (_, best) = forest.marginals(scores, edges=True), forest.best_labels(scores)
    found = loopy.marginals(scores, edges=True, schedule=schedule, tol=1e-10)
    np.testing.assert_allclose(found.log_partition, exact.log_partition)
    np.testing.assert_allclose(found.nodes, exact.nodes, atol=1e-8)
    np.testing.assert_allclose(found.edges, exact.edges, atol=1e-8)
    labels = loopy.best_labels(scores, schedule=schedule, tol=1e-10)
    np.testing.assert_allclose(labels.scores, best)
    np.testing.assert_allclose(labelling_scores(scores, labels.labels), best)


def test_messages_start_the_next_call():
    scores = random_scores(12, random_edges(12, 18, 0), 3, scale=0.5)
    cold = loopy.marginals(scores, tol=1e-8)
    warm = loopy.marginals(scores, tol=1e-7, messages=cold.messages)
    assert cold.convergence.iterations[0] > 3
    assert warm.convergence.iterations[0] == 1
    np.testing.assert_allclose(warm.nodes, cold.nodes, atol=1e-6)


def test_images_of_two_labels_take_the_fast_form_to_the_same_numbers():
    graphs = Graphs.grids([(20, 30), (7, 1), (1, 1)])
    random = np.random.default_rng(0)
    unary, table = random.normal(size=(graphs.n_nodes, 2)), 0.4 * np.eye(2)
    scores = GraphScores.of(graphs, unary, table)
    plain = GraphScores.of(
        Graphs(graphs.node_offsets, graphs.edge_offsets, graphs.edges, graphs.kinds), unary, table
    )
    fast, slow = loopy.marginals(scores), loopy.marginals(plain)
    np.testing.assert_allclose(fast.nodes, slow.nodes, atol=1e-4)
    np.testing.assert_allclose(fast.log_partition, slow.log_partition, rtol=1e-6)
    assert fast.convergence.iterations.max() <= 2 < slow.convergence.iterations.max()
    # Stronger tables than the fast form can hold go the other way, without a word.
    strong = GraphScores.of(graphs, unary, 9.0 * np.eye(2))
    assert loopy.best_labels(strong, warn=False).scores.shape == (3,)


@pytest.mark.parametrize("max_iter", [0, 1, 200])
@pytest.mark.parametrize("K", [2, 3])
def test_bounds_hold_at_all_times(max_iter, K):
    for seed in range(5):
        scores = random_scores(6, random_edges(6, 10, seed), K, own=True, scale=2.0, seed=seed)
        truth = Truth(scores)
        upper = bounds.tree_reweighted(scores, max_iter=max_iter, warn=False)
        lower = bounds.mean_field(scores, max_iter=max_iter, warn=False)
        assert lower.log_partition[0] <= truth.log_z + 1e-9
        assert upper.log_partition[0] >= truth.log_z - 1e-9
        best = bounds.best_bound(scores, max_iter=max_iter, warn=False)
        assert best.scores[0] <= truth.best + 1e-9
        assert best.bound[0] >= truth.best - 1e-9
        np.testing.assert_allclose(labelling_scores(scores, best.labels), best.scores)
        relaxed = bounds.relaxed_best(scores)
        assert relaxed[0] >= truth.best - 1e-6
        # No message can do better than the linear program.
        assert best.bound[0] >= relaxed[0] - 1e-6
        assert bounds.relaxed_best(scores, integral=True)[0] == pytest.approx(truth.best)


def test_bounds_are_exact_on_trees():
    scores = random_scores(8, random_tree(8, 2), 3)
    truth = Truth(scores)
    assert bounds.tree_reweighted(scores).log_partition[0] == pytest.approx(truth.log_z, abs=1e-4)
    assert bounds.best_bound(scores).bound[0] == pytest.approx(truth.best)
    assert bounds.relaxed_best(scores)[0] == pytest.approx(truth.best)


def test_not_converging_warns_once_with_what_to_change():
    ring = Graphs.of([3, 1], [[(0, 1), (1, 2), (2, 0)], []])
    unary = [[0.0, 1.0], [0.0, -1.0], [0.0, 0.5], [0.0, 0.0]]
    scores = GraphScores.of(ring, unary, [[-8.0, 8.0], [8.0, -8.0]])
    with pytest.warns(ConvergenceWarning, match=r"1 of 2 graphs \(graph 0: change") as caught:
        found = loopy.best_labels(scores, schedule="synchronous", max_iter=50)
    assert len(caught) == 1
    assert "damping=0.5 (now 0)" in str(caught[0].message)
    assert "schedule='residual'" in str(caught[0].message)
    assert caught[0].filename == __file__
    assert found.convergence.converged.tolist() == [False, True]
    assert found.convergence.iterations[0] == 50
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        loopy.best_labels(scores, schedule="synchronous", max_iter=50, warn=False)
    for method in (loopy.marginals, bounds.tree_reweighted, bounds.mean_field, bounds.best_bound):
        with pytest.warns(ConvergenceWarning, match="max_iter above 1"):
            method(scores, max_iter=1, tol=0.0)


@pytest.mark.parametrize("n_threads", [2, 3])
def test_threads_change_nothing(n_threads):
    n = 60
    graphs = Graphs.of([30] * n, [random_edges(30, 50, seed) for seed in range(n)])
    unary = np.random.default_rng(0).normal(size=(30 * n, 3))
    scores = GraphScores.of(graphs, unary, np.eye(3))
    for method in (loopy.marginals, loopy.best_labels, bounds.tree_reweighted, bounds.best_bound):
        one = method(scores, max_iter=20, warn=False)
        many = method(scores, max_iter=20, warn=False, n_threads=n_threads)
        for a, b in zip(one[:2], many[:2], strict=True):
            np.testing.assert_array_equal(a, b)


def test_scores_close_to_the_truth_where_pairs_are_weak():
    scores = random_scores(9, random_edges(9, 12, 0), 2, scale=0.3)
    exact = junction.marginals(scores, edges=True)
    found = loopy.marginals(scores, edges=True)
    np.testing.assert_allclose(found.nodes, exact.nodes, atol=0.02)
    np.testing.assert_allclose(found.edges, exact.edges, atol=0.02)
    np.testing.assert_allclose(found.log_partition, exact.log_partition, atol=0.05)


def test_bad_arguments_are_named():
    scores = random_scores(4, random_edges(4, 5, 0), 2)
    with pytest.raises(DataError, match='schedule "any" is not synchronous, colored or residual'):
        loopy.marginals(scores, schedule="any")
    with pytest.raises(DataError, match="damping must be from 0 to below 1, got 1"):
        loopy.marginals(scores, damping=1.0)
    with pytest.raises(DataError, match="messages has length 4, expected 20"):
        loopy.marginals(scores, messages=np.zeros((2, 2)))
    with pytest.raises(DataError, match="the start of node 1 is not a distribution"):
        bounds.mean_field(scores, start=np.array([[0.5, 0.5], [0.5, 0.6]] * 2))
    scores.unary[0, 0] = -np.inf
    for method in (loopy.marginals, loopy.best_labels, bounds.best_bound, bounds.mean_field):
        with pytest.raises(DataError, match="minus infinity need exact inference"):
            method(scores)
    with pytest.raises(DataError, match="finite scores"):
        bounds.relaxed_best(scores)
