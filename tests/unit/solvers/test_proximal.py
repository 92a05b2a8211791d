"""Proximal gradient: kinks, sparsity, certificates."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.optimize

from separatrix.penalties import L1, L2, ElasticNet, Unpenalized
from separatrix.results import StopReason
from separatrix.solvers import ProximalGradient
from separatrix.solvers.certificate import Certifier
from tests.unit.solvers.problems import SMOOTH, make, monitor

PENALTIES = [L1(), ElasticNet(0.5), ElasticNet(0.0), ElasticNet(1.0), L2(), Unpenalized()]


@pytest.mark.parametrize("penalty", PENALTIES, ids=lambda r: repr(r))
def test_prox_minimizes_its_definition(penalty):
    rng = np.random.default_rng(0)
    w = rng.normal(size=(5, 2))
    for step in [0.1, 1.0, 3.0]:
        found = penalty.prox(w, step)
        value = penalty.value(found) + ((found - w) ** 2).sum() / (2 * step)
        for _ in range(50):
            other = found + rng.normal(size=w.shape) * rng.choice([1e-3, 0.1, 1])
            assert value <= penalty.value(other) + ((other - w) ** 2).sum() / (2 * step) + 1e-12


def split_reference(objective):
    """min P with an L1 part by bounds on the positive and negative parts of the weights."""
    shape = objective.score_map.weight_shape
    size = int(np.prod(shape))
    penalized = np.zeros(shape, dtype=bool)
    penalized[: len(objective.penalized(penalized))] = True
    ratio = getattr(objective.penalty, "l1_ratio", 1.0)

    def value_and_grad(parts):
        w = (parts[:size] - parts[size:]).reshape(shape)
        value, grad = objective.loss_value_and_grad(w)
        inner = np.where(penalized, w, 0)
        value += ratio * (parts.reshape(2, *shape) * penalized).sum()
        value += (1 - ratio) / 2 * (inner**2).sum()
        grad = (grad + (1 - ratio) * inner).reshape(-1)
        push = ratio * penalized.reshape(-1)
        return value, np.concatenate([grad + push, -grad + push])

    result = scipy.optimize.minimize(
        value_and_grad,
        np.zeros(2 * size),
        jac=True,
        method="L-BFGS-B",
        bounds=[(0, None)] * (2 * size),
        options={"maxiter": 5000, "maxfun": 20000, "ftol": 1e-15, "gtol": 1e-9},
    )
    return float(result.fun)


@pytest.mark.parametrize("loss", SMOOTH)
@pytest.mark.parametrize("penalty", [L1(), ElasticNet(0.7)], ids=["l1", "elasticnet"])
def test_kinks_reach_the_reference_optimum(loss, penalty):
    for intercept, exempt, sparse, weighted in [
        (True, True, False, True),
        (True, False, True, False),
        (False, False, False, False),
    ]:
        objective = make(
            loss,
            penalty,
            C=0.3,
            intercept=intercept,
            exempt=exempt,
            sparse=sparse,
            weighted=weighted,
        )
        best = split_reference(objective)
        solution = ProximalGradient().minimize(objective, None, monitor(tol=1e-7))
        assert solution.stopped is StopReason.CONVERGED
        assert solution.certificate == "duality gap"
        assert solution.objective == pytest.approx(best, rel=1e-6)
        assert solution.objective - best <= solution.gap + 1e-7 * best
        assert solution.objective == pytest.approx(objective.value(solution.w), rel=1e-10)


def test_weights_are_exactly_zero_and_the_intercept_is_free():
    objective = make("logistic", L1(), C=0.02)
    solution = ProximalGradient().minimize(objective, None, monitor(tol=1e-6))
    assert (solution.w[:-1] == 0).any()
    assert solution.w[-1, 0] != 0


def test_single_precision():
    for loss in SMOOTH:
        objective = make(loss, L1(), C=0.3, dtype=np.float32)
        best = split_reference(make(loss, L1(), C=0.3))
        solution = ProximalGradient().minimize(objective, None, monitor(tol=1e-5))
        assert solution.objective == pytest.approx(best, rel=2e-5)


@pytest.mark.parametrize("loss", SMOOTH)
@pytest.mark.parametrize("penalty", [L1(), ElasticNet(0.5), L2()], ids=lambda r: r.name)
def test_the_dual_bound_is_below_every_value(loss, penalty):
    for intercept in (False, True):
        objective = make(loss, penalty, intercept=intercept)
        certifier = Certifier(objective)
        rng = np.random.default_rng(0)
        values = []
        for size in [0, 0.1, 0.5, 1]:
            w = size * rng.normal(size=objective.score_map.weight_shape)
            found = certifier.at(w, 1e-6)
            values.append(found.value)
            assert found.value <= objective.value(w) * (1 + 1e-12)
        assert certifier.lower <= min(values)


def test_without_a_penalty_nothing_is_promised():
    objective = make("logistic", Unpenalized())
    solution = ProximalGradient().minimize(objective, None, monitor(tol=1e-4))
    assert (solution.certificate, solution.gap) == ("none", np.inf)
    assert solution.stopped is StopReason.STATIONARY
    _, grad = objective.value_and_grad(solution.w)
    assert np.linalg.norm(grad) <= 1e-3 * solution.objective
