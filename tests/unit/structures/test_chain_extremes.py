"""Chains at their limits: constraints of all kinds by enumeration, huge scores, long sequences."""

import numpy as np
import pytest
from scipy.special import logsumexp

from separatrix import CRF
from separatrix.data import AttributeSequences
from separatrix.errors import DataError
from separatrix.structures.chain import (
    best_labels,
    k_best_labels,
    log_partition,
    marginals,
    path_scores,
)
from separatrix.structures.chain.inference import ChainScores, sample_labels
from tests.unit.structures.chains import (
    chain_of,
    labellings,
    labels,
    objective_of,
    score,
    tokens,
    weights,
)

OPTIONS = [{}, {"boundaries": False, "transitions": "observed"}, {"order": 2}]


def assert_is_enumeration(scores, paths, values, n_labels):
    """All inference equals what the listed labellings and their scores say."""
    length = len(paths[0])
    best, value = best_labels(scores)
    assert value[0] == pytest.approx(values.max(), rel=1e-9)
    assert values[[np.array_equal(path, best) for path in paths]][0] == pytest.approx(value[0])
    log_z = logsumexp(values)
    assert log_partition(scores)[0] == pytest.approx(log_z, rel=1e-9)
    p = np.exp(values - log_z)
    nodes, edges = np.zeros((length, n_labels)), np.zeros((length, n_labels, n_labels))
    for path, share in zip(paths, p, strict=True):
        nodes[np.arange(length), path] += share
        edges[np.arange(1, length), path[:-1], path[1:]] += share
    found = marginals(scores, edges=True)
    np.testing.assert_allclose(found.nodes, nodes, atol=1e-9)
    np.testing.assert_allclose(found.edges, edges, atol=1e-9)
    kept = k_best_labels(scores, len(paths) + 3)[0]
    np.testing.assert_allclose(kept[1], np.sort(values)[::-1], rtol=1e-9)
    good = {tuple(path) for path in paths}
    assert {tuple(path) for path in kept[0]} == good
    draws = sample_labels(scores, 200, seed=0)
    assert {tuple(draw) for draw in draws} <= good


@pytest.mark.parametrize(
    ("options", "edge_attributes"),
    [
        *((options, 0) for options in OPTIONS),
        # Attributes of edges are for first order.
        *((options, 2) for options in OPTIONS if "order" not in options),
    ],
)
@pytest.mark.parametrize("kind", ["none", "sets", "pairs", "ends", "all"])
def test_constraints_are_enumeration_of_what_is_left(options, edge_attributes, kind):
    K, T = 4, 4
    X = tokens([T], edge_attributes=edge_attributes, seed=3)
    chain = chain_of(X, K, labels(X, K), **options)
    w = weights(chain)
    random = np.random.default_rng(5)
    allowed = forbidden = start = end = None
    if kind in ("sets", "all"):
        allowed = random.random((T, K)) < 0.7
        allowed[np.arange(T), random.integers(0, K, T)] = True
    if kind in ("pairs", "all"):
        forbidden = random.random((K, K)) < 0.3
    if kind in ("ends", "all"):
        start, end = np.arange(K) == 1, np.arange(K) == 2
    scores = chain.scores(w, X).restricted(allowed, forbidden, start, end)
    paths = [
        path
        for path in labellings(T, K)
        if (allowed is None or allowed[np.arange(T), path].all())
        and (forbidden is None or not forbidden[path[:-1], path[1:]].any())
        and (start is None or not start[path[0]])
        and (end is None or not end[path[-1]])
    ]
    assert 0 < len(paths) <= K**T
    whole = chain.scores(w, X)
    values = np.array([path_scores(whole, path)[0] for path in paths])
    assert_is_enumeration(scores, paths, values, K)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("scale", [1e3, 1e-3])
def test_weights_of_a_thousand_are_enumerated_too(options, scale):
    K, T = 3, 4
    X = tokens([T], seed=1)
    chain = chain_of(X, K, labels(X, K), **options)
    random = np.random.default_rng(0)
    w = scale * random.choice([-1.0, 1.0], size=chain.n_weights)
    w += random.normal(size=chain.n_weights)  # no ties
    scores = chain.scores(w, X)
    paths = labellings(T, K)
    values = np.array([score(chain, w, X, path) for path in paths])
    assert_is_enumeration(scores, paths, values, K)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("partial", [False, True])
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_the_likelihood_at_weights_of_a_thousand(options, partial, dtype):
    K, lengths = 3, [4, 1, 3]
    X = tokens(lengths, seed=2, dtype=dtype)
    y = labels(X, K)
    allowed = None
    if partial:
        allowed = np.random.default_rng(1).random((len(y), K)) < 0.6
        allowed[np.arange(len(y)), y] = True
    chain = chain_of(X, K, None if partial else y, allowed=allowed, **options)
    objective = objective_of(chain, X, y, allowed=allowed)
    signs = np.random.default_rng(0).choice([-1e3, 1e3], size=chain.n_weights)
    w = objective.weights(objective.variables(signs))
    expected = 0.0
    for i in range(len(lengths)):
        one = X.take([i])
        span = slice(X.offsets[i], X.offsets[i + 1])
        paths = labellings(lengths[i], K)
        values = np.array([score(chain, w, one, path) for path in paths])
        if partial:
            good = [allowed[span][np.arange(lengths[i]), path].all() for path in paths]
            own = logsumexp(values[good])
        else:
            own = score(chain, w, one, y[span])
        expected += logsumexp(values) - own
    value, grad = objective.loss_value_and_grad(objective.variables(w))
    assert value == pytest.approx(expected, rel=1e-4 if dtype == np.float32 else 1e-9, abs=1e-6)
    assert np.isfinite(grad).all()


@pytest.mark.parametrize("scale", [1.0, 1e3])
def test_a_hundred_thousand_tokens(scale):
    n, K = 100_000, 3
    random = np.random.default_rng(0)
    nodes = scale * random.normal(size=(n, K))
    # Without transitions tokens are independent.
    free = ChainScores.of(nodes, np.zeros((K, K)))
    np.testing.assert_allclose(log_partition(free), [logsumexp(nodes, axis=1).sum()], rtol=1e-10)
    np.testing.assert_array_equal(best_labels(free)[0], nodes.argmax(axis=1))
    p = np.exp(nodes - logsumexp(nodes, axis=1)[:, None])
    # log Z is of the order of scale * n; its rounding is what is left in the probabilities.
    np.testing.assert_allclose(marginals(free).nodes, p, atol=1e-14 * scale * n + 1e-9)
    # With equal tokens Z is a power of a matrix, which its largest eigenvalue rules.
    steps = scale / 100 * random.normal(size=(K, K))
    same = ChainScores.of(np.zeros((n, K)), steps)
    rate, vectors = np.linalg.eig(np.exp(steps))
    start = np.linalg.solve(vectors, np.ones(K))
    first = int(np.argmax(np.abs(rate)))
    share = np.sum(start * vectors.sum(axis=0) * (rate / rate[first]) ** (n - 1))
    expected = (n - 1) * np.log(np.abs(rate[first])) + np.log(np.abs(share))
    np.testing.assert_allclose(log_partition(same), [expected], rtol=1e-9)
    labels_found, value = best_labels(same)
    pairs = steps[labels_found[:-1], labels_found[1:]]
    assert value[0] == pytest.approx(pairs.sum(), rel=1e-9)
    assert k_best_labels(same, 2)[0][1][1] <= value[0]


def test_training_on_one_sequence_of_a_hundred_thousand_tokens():
    random = np.random.default_rng(0)
    codes = random.integers(0, 3, size=100_000)
    rows = np.eye(3)[codes] + 0.1 * random.normal(size=(100_000, 3))
    X = AttributeSequences.of(rows, [100_000])
    model = CRF(solver="lbfgs", tol=1e-2).fit(X, [codes.tolist()])
    assert np.isfinite(model.coef_).all()
    assert model.score(X, [codes.tolist()]) > 0.99


def test_what_blocks_every_path_is_named():
    scores = ChainScores.of(np.zeros((4, 2)), np.zeros((2, 2)), [1, 3])
    allowed = np.ones((4, 2), dtype=bool)
    allowed[2:] = [[True, False], [False, True]]
    forbidden = np.array([[False, True], [False, False]])
    blocked = scores.restricted(allowed, forbidden)
    message = "every labelling of sequence 1 is forbidden: no allowed label of token 2"
    for ask in (best_labels, log_partition, marginals, lambda s: k_best_labels(s, 2)):
        with pytest.raises(DataError, match=message):
            ask(blocked)
    with pytest.raises(DataError, match=message):
        sample_labels(blocked, 3)
