"""Factors of more than two nodes: enumeration, gradients, all learners, named errors."""

from itertools import product

import numpy as np
import pytest

from separatrix import CRF, FeatureGraphs, Graph, StructuredPerceptron, StructuredSVM
from separatrix.errors import DataError, ParameterError
from separatrix.structures import PairwiseGraph
from separatrix.structures.graph.factor_graph import FactorGraph
from tests.unit.structures.chains import objective_of


def odd_triples(n=20, seed=0):
    """Graphs of four nodes where the first three have an odd number of ones."""
    random = np.random.default_rng(seed)
    labels = random.integers(2, size=(n, 4))
    labels[:, 2] = 1 - (labels[:, 0] + labels[:, 1]) % 2
    features = [y[:, None] * [1.0, 0.0] + 0.6 * random.normal(size=(4, 2)) for y in labels]
    X = FeatureGraphs.of(
        features, [[(2, 3)]] * n, factors=[[(0, 1, 2)] if i % 5 else [] for i in range(n)]
    )
    return X, list(labels)


@pytest.mark.parametrize("method", ["forest", "junction", "loopy"])
def test_operations_are_those_of_enumeration(method):
    X, _ = odd_triples(6)
    graph = FactorGraph(PairwiseGraph(2, 2, 1, method=method), 3, 1, method)
    random = np.random.default_rng(1)
    w = random.normal(size=graph.n_weights)
    labellings = np.array(list(product((0, 1), repeat=4)))
    scores = graph.scores(w, X)
    sums, best = graph.log_sum_exp(scores, edges=True), graph.best(scores)
    for i in range(6):
        one = X[[i]]
        values = np.array([w @ graph.features(one, z) for z in labellings])
        np.testing.assert_allclose(
            values, [graph.values(graph.scores(w, one), z)[0] for z in labellings], atol=1e-12
        )
        assert sums.log_partition[i] == pytest.approx(np.log(np.exp(values).sum()), abs=1e-4)
        assert best.scores[i] == pytest.approx(values.max())
        p = np.exp(values - sums.log_partition[i])
        np.testing.assert_allclose(sums.nodes[4 * i : 4 * i + 4, 1], p @ labellings, atol=1e-4)
        y, z = random.integers(2, size=(2, 4))
        found = graph.differences(one, y, z).toarray()[0]
        np.testing.assert_allclose(found, graph.features(one, y) - graph.features(one, z))
    np.testing.assert_allclose(sums.factors.sum(axis=1), 1.0, atol=1e-6)
    if method != "loopy":
        draws = graph.sample(scores, 3000)
        np.testing.assert_allclose(draws.mean(axis=0), sums.nodes[:, 1], atol=0.05)


def test_gradients_match_differences():
    X, y = odd_triples(5)
    graph = FactorGraph(PairwiseGraph(2, 2, 1, method="forest"), 3, 1, "forest")
    P = objective_of(graph, X, np.concatenate(y), weights=np.arange(1.0, 6.0))
    w = np.random.default_rng(0).normal(size=P.weight_shape)
    grad = P.value_and_grad(w)[1]
    for j in range(len(w)):
        step = np.zeros_like(w)
        step[j] = 1e-5
        slope = (P.value(w + step) - P.value(w - step)) / 2e-5
        assert grad[j, 0] == pytest.approx(slope, abs=1e-6)


@pytest.fixture(scope="module")
def right_by_pairs():
    """Graphs that a learner of pairs alone gets right."""
    (X, y), (test, truth) = odd_triples(150), odd_triples(150, seed=1)
    pairs = CRF("graph", C=3.0).fit(FeatureGraphs(X.matrix, X.graphs, None), y)
    return _all_right(pairs.predict(FeatureGraphs(test.matrix, test.graphs, None)), truth)


@pytest.mark.parametrize(
    "learner",
    [
        CRF("graph", C=3.0),
        StructuredSVM("graph", C=1.0, random_state=0),
        StructuredPerceptron("graph", loss="mira", random_state=0),
    ],
)
def test_learners_learn_what_pairs_cannot_say(learner, right_by_pairs):
    (X, y), (test, truth) = odd_triples(150), odd_triples(150, seed=1)
    learner.fit(X, y)
    assert learner.features_.method == "forest"
    assert _all_right(learner.predict(test), truth) > right_by_pairs
    odd = learner.coef_[learner.features_.sections["factors"]][[1, 2, 4, 7]]
    even = learner.coef_[learner.features_.sections["factors"]][[0, 3, 5, 6]]
    assert odd.min() > even.max()


def _all_right(found, truth):
    return np.mean([np.array_equal(a, b) for a, b in zip(found, truth, strict=True)])


def test_errors_are_named():
    X, y = odd_triples()
    crf = CRF("graph").fit(X, y)
    with pytest.raises(DataError, match="the model was fitted with factors, X has none"):
        crf.predict(FeatureGraphs(X.matrix, X.graphs))
    with pytest.raises(DataError, match="X has factors, but the model was fitted without"):
        CRF("graph").fit(FeatureGraphs(X.matrix, X.graphs), y).predict(X)
    with pytest.raises(ParameterError, match="'pseudo' does not know factors"):
        CRF("graph", loss="pseudo").fit(X, y)
    with pytest.raises(DataError, match="factor 0 of graph 0 names a node twice"):
        FeatureGraphs.of([np.ones((3, 1))], [[]], factors=[[(0, 1, 1)]])
    with pytest.raises(DataError, match="all must join the same number of nodes"):
        FeatureGraphs.of([np.ones((3, 1))] * 2, [[], []], factors=[[(0, 1, 2)], [(0, 1)]])
    with pytest.raises(DataError, match="2 graphs need as many lists of factors"):
        FeatureGraphs.of([np.ones((3, 1))] * 2, [[], []], factors=[[(0, 1, 2)]])
    four = FeatureGraphs.of([np.ones((9, 1))], [[]], factors=[[(0, 1, 2, 3)]])
    with pytest.raises(DataError, match="make 6561 tuples of 4 nodes, more than 4096"):
        CRF(Graph(inference="loopy")).fit(four, [list(range(9))])
