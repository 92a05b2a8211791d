"""The objective of a CRF: fused pass and plain composition, gradients, partial labels."""

import numpy as np
import pytest

from separatrix.losses import LogSumExp
from separatrix.objective import Passes
from separatrix.penalties import L1, L2, ElasticNet
from separatrix.structures import CodedLabels
from tests.unit.structures.chains import (
    chain_of,
    labellings,
    labels,
    objective_of,
    score,
    tokens,
    weights,
)

CASES = [
    ({}, 0, True),
    ({"boundaries": False, "transitions": "observed"}, 0, False),
    ({"order": 2}, 0, True),
    ({"transitions": "observed"}, 2, True),
    ({"state_features": "all"}, 0, False),
]


def make(options, edge_attributes, ones, penalty=None, allowed=None, weight=None, C=0.7):
    X = tokens([4, 0, 1, 3, 5], edge_attributes=edge_attributes, ones=ones, seed=2)
    y = labels(X, 3)
    chain = chain_of(X, 3, y if allowed is None else None, allowed=allowed, **options)
    objective = objective_of(
        chain, X, y, penalty, allowed=allowed, C=C, weights=weight, n_threads=2
    )
    return X, y, chain, objective


@pytest.mark.parametrize(("options", "edge_attributes", "ones"), CASES)
@pytest.mark.parametrize("scale", [0.7, 40.0])
def test_the_fused_pass_is_the_plain_composition(options, edge_attributes, ones, scale):
    weight = np.array([1.0, 2.0, 0.0, 0.5, 3.0])
    X, y, chain, objective = make(options, edge_attributes, ones, weight=weight)
    # Attributes that share a weight must have equal ones for the two to agree.
    w = objective.weights(objective.variables(weights(chain, scale=scale)))
    v = objective.variables(w)
    plain = Passes(chain, X, CodedLabels(np.arange(3), y, X.offsets), LogSumExp(), weight)
    value, _, grad = plain.evaluate(w[:, None])
    assert objective.value(v) == pytest.approx(0.7 * value + 0.5 * float(w @ w))
    _, found = objective.value_and_grad(v)
    back = objective.weights(found - v) / 0.7
    np.testing.assert_allclose(back, grad[:, 0], atol=1e-9)


@pytest.mark.parametrize(("options", "edge_attributes", "ones"), CASES)
@pytest.mark.parametrize("partial", [False, True])
def test_gradients_are_differences(options, edge_attributes, ones, partial):
    allowed = None
    if partial:
        allowed = np.random.default_rng(1).random((13, 3)) < 0.6
        allowed[np.arange(13), labels(tokens([4, 0, 1, 3, 5], seed=2), 3)] = True
    weight = np.array([1.0, 2.0, 0.0, 0.5, 3.0])
    _, _, chain, objective = make(options, edge_attributes, ones, allowed=allowed, weight=weight)
    v = objective.variables(weights(chain))
    _, grad = objective.value_and_grad(v)
    random = np.random.default_rng(0)
    for _ in range(10):
        direction = random.normal(size=v.shape)
        h = 1e-6
        slope = (objective.value(v + h * direction) - objective.value(v - h * direction)) / (2 * h)
        assert slope == pytest.approx(float(np.vdot(grad, direction)), rel=1e-5, abs=1e-5)


def test_partial_labels_give_the_marginal_likelihood():
    X = tokens([3], seed=4)
    allowed = np.array([[True, False, True], [True, True, True], [False, True, False]])
    chain = chain_of(X, 3, None, allowed=allowed)
    objective = objective_of(chain, X, np.zeros(3, int), allowed=allowed)
    w = objective.weights(objective.variables(weights(chain)))
    paths = labellings(3, 3)
    values = np.array([score(chain, w, X, path) for path in paths])
    good = np.array([allowed[np.arange(3), path].all() for path in paths])
    expected = np.logaddexp.reduce(values) - np.logaddexp.reduce(values[good])
    assert objective.value(objective.variables(w)) == pytest.approx(expected + 0.5 * float(w @ w))


@pytest.mark.parametrize("penalty", [L2(), L1(), ElasticNet(0.3)])
def test_variables_and_weights_are_inverse(penalty):
    _, _, chain, objective = make({}, 0, True, penalty)
    w = objective.weights(objective.variables(weights(chain)))
    v = objective.variables(w)
    np.testing.assert_allclose(objective.weights(v), w, atol=1e-12)
    assert penalty.value(v) == pytest.approx(penalty.value(w))


def test_hessian_products_are_differences_of_gradients():
    _, _, chain, objective = make({}, 0, False)
    v = objective.variables(weights(chain))
    direction = np.random.default_rng(3).normal(size=v.shape)
    h = 1e-5
    expected = (
        objective.value_and_grad(v + h * direction)[1]
        - objective.value_and_grad(v - h * direction)[1]
    ) / (2 * h)
    np.testing.assert_allclose(objective.hessian(v)(direction), expected, rtol=1e-3, atol=1e-3)
