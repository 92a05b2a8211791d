"""Every penalty against its definition."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from separatrix.penalties import PENALTIES, ElasticNet, SharedElasticNet

ALL = [make() for make in PENALTIES.values()]
ALL += [ElasticNet(0.3), ElasticNet(0.0), ElasticNet(1.0)]
ALL += [SharedElasticNet(0.3, 0.7, np.array([[2.0]]))]
W = np.random.default_rng(0).normal(size=(7, 3))


@pytest.mark.parametrize("penalty", ALL, ids=repr)
def test_gradient_equals_finite_differences(penalty):
    h = 1e-6
    numeric = np.zeros_like(W)
    for index in np.ndindex(W.shape):
        step = np.zeros_like(W)
        step[index] = h
        numeric[index] = (penalty.value(W + step) - penalty.value(W - step)) / (2 * h)
    np.testing.assert_allclose(penalty.grad(W), numeric, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("penalty", ALL, ids=repr)
@pytest.mark.parametrize("step", [0.1, 1.0, 5.0])
def test_prox_minimizes_its_definition(penalty, step):
    prox = penalty.prox(W, step)
    for index in np.ndindex(W.shape):

        def objective(v, at=W[index]):
            return penalty.value(np.array([[v]])) + (v - at) ** 2 / (2 * step)

        best = minimize_scalar(objective, bracket=(-3, 3), tol=1e-12).x
        assert objective(prox[index]) <= objective(best) + 1e-9
