"""Batches of graphs: how they are made, their scores, and their errors."""

import numpy as np
import pytest

from separatrix.data import Graphs
from separatrix.errors import DataError, ParameterError
from separatrix.structures.chain.inference import ChainScores
from separatrix.structures.chain.inference import best_labels as best_of_chain
from separatrix.structures.chain.inference import marginals as marginals_of_chain
from separatrix.structures.graph import forest, junction
from separatrix.structures.graph.scores import GraphScores, labelling_scores
from tests.unit.structures.graphs import Truth, joined, random_edges, random_scores, random_tree

EXACT = {"forest": forest, "junction": junction}


@pytest.mark.parametrize("method", EXACT)
@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize(("n_nodes", "K"), [(1, 3), (7, 2), (5, 3)])
def test_trees_match_enumeration(method, own, n_nodes, K):
    parts = [
        random_scores(n_nodes, random_tree(n_nodes, seed), K, own=own, seed=3) for seed in range(3)
    ]
    check_exact(EXACT[method], joined(*parts), parts)


@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize(("n_nodes", "n_edges", "K"), [(8, 14, 2), (5, 9, 3)])
def test_junction_trees_match_enumeration(own, n_nodes, n_edges, K):
    parts = [
        random_scores(n_nodes, random_edges(n_nodes, n_edges, seed), K, own=own, seed=3)
        for seed in range(3)
    ]
    check_exact(junction, joined(*parts), parts)


def check_exact(method, scores, parts):
    found = method.marginals(scores, edges=True)
    labels, best = method.best_labels(scores)
    np.testing.assert_allclose(labelling_scores(scores, labels), best)
    np.testing.assert_array_equal(method.log_partition(scores), found.log_partition)
    graphs = scores.graphs
    for i, part in enumerate(parts):
        truth = Truth(GraphScores(part.graphs, part.unary, scores.tables, part.own))
        assert found.log_partition[i] == pytest.approx(truth.log_z)
        assert best[i] == pytest.approx(truth.best)
        nodes = slice(*graphs.node_offsets[i : i + 2])
        edges = slice(*graphs.edge_offsets[i : i + 2])
        np.testing.assert_allclose(found.nodes[nodes], truth.nodes, atol=1e-12)
        np.testing.assert_allclose(found.edges[edges], truth.edges, atol=1e-12)


@pytest.mark.parametrize("method", EXACT)
def test_draws_follow_the_distribution(method):
    scores = random_scores(3, random_tree(3, 0), 2, own=True)
    truth = Truth(scores)
    draws = EXACT[method].sample_labels(scores, 20_000, seed=1)
    codes = draws @ [4, 2, 1]
    shares = np.bincount(codes, minlength=8) / len(draws)
    np.testing.assert_allclose(shares, truth.p, atol=5 * np.sqrt(0.25 / len(draws)))
    again = EXACT[method].sample_labels(scores, 20_000, seed=1, n_threads=2)
    np.testing.assert_array_equal(draws, again)


@pytest.mark.parametrize("method", EXACT)
def test_a_chain_gives_the_numbers_of_the_chain(method):
    random = np.random.default_rng(0)
    lengths, K = [1, 6, 0, 20], 4
    nodes, transitions = 3 * random.normal(size=(27, K)), 3 * random.normal(size=(K, K))
    chain = ChainScores.of(nodes, transitions, lengths)
    edges = [[(t - 1, t) for t in range(1, length)] for length in lengths]
    scores = GraphScores.of(Graphs.of(lengths, edges), nodes, transitions)
    expected, found = (
        marginals_of_chain(chain, edges=True),
        EXACT[method].marginals(scores, edges=True),
    )
    np.testing.assert_allclose(found.log_partition, expected.log_partition, rtol=0, atol=1e-8)
    np.testing.assert_allclose(found.nodes, expected.nodes, rtol=0, atol=1e-8)
    inner = np.setdiff1d(np.arange(27), [0, 1, 7])
    np.testing.assert_allclose(found.edges, expected.edges[inner], rtol=0, atol=1e-8)
    np.testing.assert_array_equal(EXACT[method].best_labels(scores)[0], best_of_chain(chain)[0])


def test_a_single_node_gives_softmax():
    unary = np.random.default_rng(0).normal(size=(5, 3))
    scores = GraphScores.of(Graphs.of([1] * 5, [[]] * 5), unary, np.zeros((0, 3, 3)))
    found = forest.marginals(scores)
    np.testing.assert_allclose(found.nodes, np.exp(unary) / np.exp(unary).sum(1, keepdims=True))


def test_minus_infinity_forbids():
    scores = random_scores(4, random_tree(4, 0), 2)
    scores.unary[0, 1] = scores.tables[0, 0, 0] = -np.inf
    truth = Truth(scores)
    for method in EXACT.values():
        np.testing.assert_allclose(method.marginals(scores).nodes, truth.nodes, atol=1e-12)
    scores.unary[0, 0] = -np.inf
    with pytest.raises(DataError, match="every labelling of graph 0 is forbidden"):
        forest.best_labels(scores)


def test_grids_have_their_neighbors():
    graphs = Graphs.grids([(3, 4), (1, 2)], neighborhood=8)
    pixels = np.array([(y, x) for y in range(3) for x in range(4)])
    for first, second, kind in zip(*graphs.edges[:-1].T, graphs.kinds[:-1], strict=True):
        step = pixels[second] - pixels[first]
        assert step.tolist() == [[0, 1], [1, 0], [1, 1], [1, -1]][kind]
    assert graphs.edge_offsets.tolist() == [0, 9 + 8 + 6 + 6, 30]
    assert graphs.shapes == ((3, 4), (1, 2))
    assert Graphs.grids([(3, 4)]).shapes == ((3, 4),)
    assert not Graphs.grids([(2, 2)]).is_forest
    assert Graphs.grids([(1, 9), (4, 1)]).is_forest
    with pytest.raises(ParameterError, match="neighborhood must be 4 or 8"):
        Graphs.grids([(2, 2)], 6)


def test_bad_graphs_are_named():
    with pytest.raises(DataError, match=r"edge 1 joins the nodes 2 and 5, but its graph 1 has"):
        Graphs.of([2, 3], [[(0, 1)], [(0, 3)]])
    with pytest.raises(DataError, match="edge 0 joins the nodes -1 and 1"):
        Graphs.of([2], [[(-1, 1)]])
    with pytest.raises(DataError, match="edge 0 of graph 0 is a self loop at node 1"):
        Graphs.of([2], [[(1, 1)]])
    with pytest.raises(DataError, match="2 graphs need as many"):
        Graphs.of([2, 2], [[(1, 0)]])
    ring = random_scores(3, [(0, 1), (1, 2), (2, 0)], 2)
    with pytest.raises(DataError, match="graph 0 has a cycle: edge 2 joins the nodes 2 and 0"):
        forest.marginals(ring)
    with pytest.raises(DataError, match="graph 0 is too dense for a junction tree"):
        junction.marginals(ring, max_cells=10)
    with pytest.raises(DataError, match="expected 3 labels from 0 to 1"):
        labelling_scores(ring, [0, 1, 2])


def test_bad_scores_are_named():
    graphs = Graphs.of([2], [[(0, 1)]], [[1]])
    with pytest.raises(DataError, match=r"unary must have shape \(2, K\), got \(3, 2\)"):
        GraphScores.of(graphs, np.zeros((3, 2)), np.zeros((2, 2)))
    with pytest.raises(DataError, match=r"tables must have shape \(2, 2, 2\)"):
        GraphScores.of(graphs, np.zeros((2, 2)), np.zeros((2, 3)))
    with pytest.raises(DataError, match="3 tables for edges of 2 kinds"):
        GraphScores.of(graphs, np.zeros((2, 2)), np.zeros((3, 2, 2)))
    with pytest.raises(DataError, match="own scores must have shape"):
        GraphScores.of(graphs, np.zeros((2, 2)), np.zeros((2, 2)), np.zeros((2, 2, 2)))
    few = GraphScores.of(graphs, np.zeros((2, 2)), np.zeros((1, 2, 2)))
    with pytest.raises(DataError, match="edges name 2 kinds, but there are 1 tables"):
        forest.best_labels(few)
    bad = GraphScores.of(graphs, [[0, 0], [np.nan, 0]], np.zeros((2, 2)))
    with pytest.raises(DataError, match="unary score NaN at node 1, column 0"):
        forest.best_labels(bad)
