"""The structure of a graph: scores are <w, Psi>, inference is exact, the adjoint is the adjoint."""

import pickle
from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp

from separatrix.data import FeatureGraphs
from separatrix.errors import DataError, ParameterError
from separatrix.structures import PairwiseGraph
from separatrix.structures.graph.operations import METHODS
from separatrix.structures.graph.pairwise import PAIRS
from separatrix.structures.graph.scores import labelling_scores
from tests.unit.structures.graphs import random_edges, random_tree


def graphs(n_nodes=4, *, tree=True, edge_features=0, sparse=False, n_graphs=2, seed=0):
    random = np.random.default_rng(seed)
    edges = [
        random_tree(n_nodes, i) if tree else random_edges(n_nodes, n_nodes + 1, i)
        for i in range(n_graphs)
    ]
    features = [random.normal(size=(n_nodes, 3)) for _ in edges]
    return FeatureGraphs.of(
        [sp.csr_matrix(f) for f in features] if sparse else features,
        edges,
        [random.integers(2, size=len(e)) for e in edges],
        [random.normal(size=(len(e), edge_features)) for e in edges] if edge_features else None,
    )


@pytest.mark.parametrize("pairs", PAIRS)
@pytest.mark.parametrize("edge_features", [0, 2])
@pytest.mark.parametrize("sparse", [False, True])
def test_scores_are_the_products_of_weights_and_features(pairs, edge_features, sparse):
    X = graphs(tree=False, edge_features=edge_features, sparse=sparse)
    graph = PairwiseGraph(3, 3, 2, edge_features, pairs)
    random = np.random.default_rng(1)
    w = random.normal(size=graph.n_weights)
    scores = graph.scores(w, X)
    for _ in range(5):
        y = random.integers(3, size=X.graphs.n_nodes)
        assert labelling_scores(scores, y).sum() == pytest.approx(w @ graph.features(X, y))
    # <scores(w), (nodes, edges)> = <w, adjoint(nodes, edges)>
    nodes, edges = random.normal(size=scores.unary.shape), random.normal(size=scores.pairs().shape)
    left = (scores.unary * nodes).sum() + (scores.pairs() * edges).sum()
    assert left == pytest.approx(w @ graph.adjoint(X, (nodes, edges)))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("pairs", PAIRS)
def test_the_operations_are_exact_on_trees(method, pairs):
    X = graphs(edge_features=1)
    graph = PairwiseGraph(2, 3, 2, 1, pairs, method)
    random = np.random.default_rng(2)
    w = random.normal(size=graph.n_weights)
    y, cost = random.integers(2, size=X.graphs.n_nodes), 1.0 - np.eye(2)
    labellings = np.array(list(product(range(2), repeat=4)))
    scores = graph.scores(w, X)
    found = graph.log_sum_exp(scores, edges=True)
    labels, best = graph.best(scores)[:2]
    augmented = graph.best(graph.augmented(scores, y, cost)).scores
    for i in range(2):
        one = X[[i]]
        values = np.array([labelling_scores(graph.scores(w, one), z)[0] for z in labellings])
        assert found[0][i] == pytest.approx(np.log(np.exp(values).sum()), abs=1e-4)
        assert best[i] == pytest.approx(values.max())
        wrong = (labellings != y[4 * i : 4 * i + 4]).sum(axis=1)
        assert augmented[i] == pytest.approx((values + wrong).max())
    np.testing.assert_allclose(labelling_scores(scores, labels), best)
    # The gradient of log Z is the expectation of the features.
    gradient = graph.adjoint(X, found.parts)
    for j in range(graph.n_weights):
        step = 1e-5 * np.eye(graph.n_weights)[j]
        ends = [graph.log_sum_exp(graph.scores(w + s, X))[0].sum() for s in (step, -step)]
        if method in ("forest", "junction"):
            assert gradient[j] == pytest.approx((ends[0] - ends[1]) / 2e-5, abs=1e-6)
    if method in ("forest", "junction"):
        draws = graph.sample(scores, 4000)
        np.testing.assert_allclose(draws.mean(axis=0), found[1][:, 1], atol=0.05)
    else:
        assert graph.sample(scores, 2).shape == (2, X.graphs.n_nodes)


def test_splits_take_graphs():
    X = graphs(edge_features=1, n_graphs=5)
    part = X[np.array([4, 1])]
    assert len(part) == 2
    np.testing.assert_array_equal(part.matrix[:4], X.matrix[16:20])
    np.testing.assert_array_equal(part.edge_matrix[3:], X.edge_matrix[3:6])
    np.testing.assert_array_equal(part.graphs.edges[:3], X.graphs.edges[12:15] - 16)
    assert len(X[1:3]) == 2
    again = pickle.loads(pickle.dumps(part))
    assert again.graphs.wiring.shape == part.graphs.wiring.shape
    images = FeatureGraphs.from_images([np.zeros((2, 3)), np.ones((1, 2))])[[1, 0, 1]]
    assert images.graphs.shapes == ((1, 2), (2, 3), (1, 2))
    features, edges = X[-1]
    assert features.shape == (4, 3)
    assert edges.min() == 0


def test_images_and_networkx():
    networkx = pytest.importorskip("networkx")
    graph = networkx.Graph()
    graph.add_node("a", x=[1.0, 2.0])
    graph.add_node("b", x=[3.0, 4.0])
    graph.add_edge("b", "a", weight=[0.5])
    X = FeatureGraphs.from_networkx([graph], edge_feature="weight")
    assert X.matrix.tolist() == [[1, 2], [3, 4]]
    assert sorted(X.graphs.edges[0].tolist()) == [0, 1]
    assert X.edge_matrix.tolist() == [[0.5]]
    graph.add_node("c")
    with pytest.raises(DataError, match="node 'c' of graph 0 has no 'x'"):
        FeatureGraphs.from_networkx([graph])
    with pytest.raises(DataError, match=r"image 0 has shape \(3,\)"):
        FeatureGraphs.from_images([np.zeros(3)])


def test_what_does_not_fit_is_named():
    X = graphs()
    with pytest.raises(DataError, match="X has 3 features of nodes and 0 of edges; expected 2 and"):
        PairwiseGraph(2, 2, 2).scores(np.zeros(99), X)
    with pytest.raises(DataError, match="X has 2 kinds of edges; expected at most 1"):
        PairwiseGraph(2, 3, 1).scores(np.zeros(99), X)
    with pytest.raises(DataError, match="expected 8 labels from 0 to 1"):
        PairwiseGraph(2, 3, 2).features(X, np.full(8, 2))
    with pytest.raises(ParameterError, match="pairs must be one of full"):
        PairwiseGraph(2, 3, pairs="any")
    with pytest.raises(ParameterError, match="method must be one of forest"):
        PairwiseGraph(2, 3, method="any")
    with pytest.raises(DataError, match="features of nodes differ in number"):
        FeatureGraphs.of([np.ones((1, 2)), np.ones((1, 3))], [[], []])
    for nodes in ([{"word": "a"}], {"word": "a"}, ["a", "b"]):
        with pytest.raises(DataError, match="a matrix of numbers, one row per node"):
            FeatureGraphs.of([nodes], [[]])
    with pytest.raises(DataError, match="must have two axes"):
        FeatureGraphs.of([np.ones(2)], [[]])
    with pytest.raises(DataError, match="3 edges have 2 rows"):
        FeatureGraphs.of([np.ones((4, 1))], [[(0, 1), (1, 2), (2, 3)]], None, [np.ones((2, 1))])
