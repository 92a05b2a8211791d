"""Draws by Gibbs sampling, against enumeration."""

from itertools import product

import numpy as np
import pytest

from separatrix import CRF, Grid
from separatrix.data import Graphs
from separatrix.errors import ParameterError
from separatrix.structures.graph.factor_graph import FactorGraph
from separatrix.structures.graph.gibbs import sample_labels
from separatrix.structures.graph.scores import GraphScores, labelling_scores

RING = [(0, 1), (1, 2), (3, 2), (0, 3), (0, 2)]


@pytest.mark.parametrize("own", [False, True])
def test_draws_have_the_marginals_of_nodes_and_edges(own):
    random = np.random.default_rng(1)
    graphs = Graphs.of([4, 1, 2], [RING, [], [(0, 1)]])
    K = 3
    edges = random.normal(size=(len(graphs.edges), K, K)) if own else None
    scores = GraphScores.of(graphs, random.normal(size=(7, K)), random.normal(size=(K, K)), edges)
    # Label 2 of the last node is forbidden.
    scores.unary[6, 2] = -np.inf
    labellings = np.array(list(product(range(K), repeat=7)))
    values = np.array([labelling_scores(scores, labels).sum() for labels in labellings])
    p = np.exp(values - values.max())
    p /= p.sum()
    draws = sample_labels(scores, 3000, seed=2)
    for label in range(K):
        np.testing.assert_allclose(
            (draws == label).mean(axis=0), p @ (labellings == label), atol=0.05
        )
    for a, b in graphs.edges.tolist():
        same = (labellings[:, a] == labellings[:, b]) @ p
        assert (draws[:, a] == draws[:, b]).mean() == pytest.approx(same, abs=0.05)
    assert not (draws[:, 6] == 2).any()
    np.testing.assert_array_equal(draws[:5], sample_labels(scores, 5, seed=2))
    assert not np.array_equal(draws[:5], sample_labels(scores, 5, seed=3))


def test_images_are_drawn():
    random = np.random.default_rng(0)
    y = np.zeros((4, 40, 40), dtype=int)
    y[:, 10:30, 10:30] = 1
    X = y + random.normal(size=y.shape)
    crf = CRF(Grid(), C=0.1, tol=1e-2).fit(X, y)
    draws = crf.sample(X[:1], 3, random_state=0)
    assert [np.asarray(draw).shape for draw in draws] == [(1, 40, 40)] * 3
    chances = crf.predict_proba(X[:1])[0][..., 1]
    found = np.mean([np.asarray(draw)[0] for draw in crf.sample(X[:1], 30, random_state=0)], axis=0)
    assert np.abs(found - chances).mean() < 0.1


def test_factors_need_an_exact_method():
    assert "sample" in vars(FactorGraph)
    with pytest.raises(ParameterError, match="draws with factors need"):
        FactorGraph.sample(type("Loopy", (), {"is_exact": False, "method": "loopy"})(), None, 1)
