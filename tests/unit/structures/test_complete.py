from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from separatrix.structures.graph import junction
from separatrix.structures.graph.scores import labelling_scores
from separatrix.structures.label_set import complete
from separatrix.structures.label_set.structure import LabelGraph


@pytest.mark.parametrize("L", [2, 3, 5, 8])
@pytest.mark.parametrize("at_once", [1 << 21, 3])
@pytest.mark.parametrize("augmented", [False, True])
def test_enumeration_is_the_junction_tree(L, at_once, augmented, monkeypatch):
    monkeypatch.setattr(complete, "_AT_ONCE", at_once)
    random = np.random.default_rng(L)
    edges = np.array(list(combinations(range(L), 2)))
    graph = LabelGraph(L, 3, edges, "junction")
    rows = graph.rows(random.normal(size=(7, 3)))
    scores = graph.scores(random.normal(size=graph.n_weights) * 2, rows)
    if augmented:  # absent labels cost something too
        scores = graph.augmented(scores, random.integers(0, 2, size=7 * L), 1 - np.eye(2))
    found, expected = graph.log_sum_exp(scores, edges=True), junction.marginals(scores, edges=True)
    for a, b in zip(found[:3], expected[:3], strict=True):
        np.testing.assert_allclose(a, b, atol=1e-10)
    assert graph.log_sum_exp(scores).edges is None
    best, (labels, values) = graph.best(scores), junction.best_labels(scores)
    np.testing.assert_array_equal(best.labels, labels)
    np.testing.assert_allclose(best.scores, values)
    np.testing.assert_allclose(best.scores, labelling_scores(scores, best.labels))


def test_large_scores_do_not_overflow():
    edges = np.array([[0, 1]])
    found = complete.set_marginals(np.array([[1e4, -1e4]]), edges, np.array([5e3]), joint=True)
    np.testing.assert_allclose(found.log_partition, [1e4])
    assert np.isfinite(found.nodes).all()
    assert np.isfinite(found.edges).all()
