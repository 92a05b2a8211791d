"""The structure of a chain: scores are <w, Psi>, inference is exact, the adjoint is the adjoint."""

import numpy as np
import pytest

from separatrix.errors import DataError
from separatrix.structures.chain import (
    best_labels,
    k_best_labels,
    log_partition,
    marginals,
    path_scores,
)
from separatrix.structures.chain.inference import ChainScores, sample_labels
from tests.unit.structures.chains import chain_of, labellings, labels, score, tokens, weights

OPTIONS = [
    {},
    {"boundaries": False},
    {"transitions": "observed"},
    {"state_features": "all", "transitions": "all"},
    {"order": 2},
    {"order": 2, "transitions": "observed", "boundaries": False},
]


@pytest.mark.parametrize(
    ("options", "edge_attributes"),
    [
        *((options, 0) for options in OPTIONS),
        # Attributes of edges are for first order.
        *((options, 2) for options in OPTIONS if "order" not in options),
    ],
)
@pytest.mark.parametrize(("n_labels", "length"), [(1, 4), (2, 5), (3, 4), (4, 3), (3, 1), (3, 2)])
def test_inference_matches_enumeration_of_the_features(options, edge_attributes, n_labels, length):
    X = tokens([length], edge_attributes=edge_attributes, seed=n_labels)
    y = labels(X, n_labels)
    chain = chain_of(X, n_labels, y, **options)
    w = weights(chain)
    scores = chain.scores(w, X)
    paths = labellings(length, n_labels)
    values = np.array([score(chain, w, X, path) for path in paths])
    for path, value in zip(paths, values, strict=True):
        assert path_scores(scores, path)[0] == pytest.approx(value)
    best, value = best_labels(scores)
    assert value[0] == pytest.approx(values.max())
    np.testing.assert_array_equal(best, paths[int(values.argmax())])
    log_z = np.logaddexp.reduce(values)
    assert log_partition(scores)[0] == pytest.approx(log_z)
    p = np.exp(values - log_z)
    found = marginals(scores, edges=True)
    nodes, edges = np.zeros((length, n_labels)), np.zeros((length, n_labels, n_labels))
    for path, share in zip(paths, p, strict=True):
        nodes[np.arange(length), path] += share
        edges[np.arange(1, length), path[:-1], path[1:]] += share
    np.testing.assert_allclose(found.nodes, nodes, atol=1e-12)
    np.testing.assert_allclose(found.edges, edges, atol=1e-12)
    order = np.argsort(-values, kind="stable")[:4]
    kept, kept_values = k_best_labels(scores, 4)[0]
    np.testing.assert_allclose(kept_values, values[order])
    np.testing.assert_array_equal(kept, np.array(paths)[order])


def test_cost_augmented_maximum():
    X = tokens([4], seed=3)
    y = labels(X, 3)
    chain = chain_of(X, 3, y)
    w = weights(chain)
    cost = np.array([[0.0, 1.0, 5.0], [2.0, 0.0, 1.0], [1.0, 3.0, 0.0]])
    scores = chain.scores(w, X)
    found, value = chain.best(chain.augmented(scores, y, cost))[:2]
    values = [score(chain, w, X, path) + cost[y, path].sum() for path in labellings(4, 3)]
    assert value[0] == pytest.approx(max(values))
    np.testing.assert_array_equal(found, labellings(4, 3)[int(np.argmax(values))])


@pytest.mark.parametrize("options", OPTIONS)
def test_many_sequences_are_the_sum_of_each(options):
    X = tokens([3, 0, 1, 2], seed=5)
    y = labels(X, 3)
    chain = chain_of(X, 3, y, **options)
    w = weights(chain)
    scores = chain.scores(w, X, n_threads=2)
    parts = [X.take([i]) for i in range(4)]
    np.testing.assert_allclose(
        log_partition(scores), [log_partition(chain.scores(w, part))[0] for part in parts]
    )
    assert log_partition(scores)[1] == 0.0
    np.testing.assert_allclose(
        path_scores(scores, y),
        [
            path_scores(chain.scores(w, part), y[a:b])[0]
            for part, a, b in zip(parts, X.offsets[:-1], X.offsets[1:], strict=True)
        ],
    )
    assert path_scores(scores, y).sum() == pytest.approx(w @ chain.features(X, y))


def test_draws_have_the_marginals():
    X = tokens([5, 3], seed=7)
    chain = chain_of(X, 3, labels(X, 3))
    scores = chain.scores(weights(chain), X)
    draws = sample_labels(scores, 8000, seed=1)
    np.testing.assert_array_equal(draws, sample_labels(scores, 8000, seed=1, n_threads=2))
    shares = (draws[:, :, None] == np.arange(3)).mean(axis=0)
    np.testing.assert_allclose(shares, marginals(scores).nodes, atol=0.03)


def test_forbidden_labels_and_transitions_never_come():
    X = tokens([5], seed=9)
    chain = chain_of(X, 3, labels(X, 3))
    w = weights(chain)
    allowed = np.ones((5, 3), dtype=bool)
    allowed[2] = [False, True, False]
    forbidden = np.zeros((3, 3), dtype=bool)
    forbidden[1, 1] = True
    first = np.array([True, False, False])
    scores = chain.scores(w, X).restricted(allowed, forbidden, first, first)
    good = [
        path
        for path in labellings(5, 3)
        if path[2] == 1
        and path[0] != 0
        and path[-1] != 0
        and not ((path[:-1] == 1) & (path[1:] == 1)).any()
    ]
    values = np.array([score(chain, w, X, path) for path in good])
    np.testing.assert_array_equal(best_labels(scores)[0], good[int(values.argmax())])
    assert log_partition(scores)[0] == pytest.approx(np.logaddexp.reduce(values))
    with pytest.raises(DataError, match="every labelling of sequence 0 is forbidden"):
        best_labels(scores.restricted(forbidden=np.ones((3, 3), dtype=bool)))


def test_scores_that_make_no_sense_are_named():
    with pytest.raises(DataError, match="node score NaN"):
        best_labels(ChainScores.of([[0.0, np.nan]], np.zeros((2, 2))))
    with pytest.raises(DataError, match="transitions must have shape"):
        ChainScores.of(np.zeros((3, 2)), np.zeros((3, 3)))
    with pytest.raises(DataError, match="expected 3 labels from 0 to 1"):
        path_scores(ChainScores.of(np.zeros((3, 2)), np.zeros((2, 2))), [0, 1, 2])
