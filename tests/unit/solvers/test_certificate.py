"""Dual points of the certificates, at the edges of their domain."""

from __future__ import annotations

import numpy as np
import pytest

from separatrix.losses import multiclass_hinge
from separatrix.objective import Objective
from separatrix.penalties import L1, L2
from separatrix.solvers.certificate import Certifier
from separatrix.structures.labels import FlatScores, make_design
from tests.unit.solvers.problems import make


def certifier(seed: int) -> Certifier:
    random = np.random.default_rng(seed)
    targets = np.arange(11) % 3
    scores = FlatScores(
        make_design(random.normal(size=(11, 2)), 1), 3, intercept=True, dtype=np.float64
    )
    weights = random.uniform(0.1, 1, 11)
    return Certifier(
        Objective(scores, multiclass_hinge(), L2(), targets, sample_weight=weights, exempt=True)
    )


def test_balanced_duals_stay_when_only_rounding_is_too_much():
    n_rounded = 0
    for seed in range(60):
        found = certifier(seed)
        # The mass of every class is that of its labels, in another order of summation.
        share = found._upper @ np.eye(3)[found._targets] / found._upper.sum()
        p = np.tile(share, (11, 1))
        excess = found._upper @ p - found.objective.class_weights
        n_rounded += bool((excess > 0).any() and not (excess < 0).any())
        with np.errstate(all="raise"):
            balanced = found._balanced_many(p)
        np.testing.assert_allclose(balanced.sum(axis=1), 1, rtol=1e-12)
        np.testing.assert_allclose(
            found._upper @ balanced, found.objective.class_weights, rtol=1e-12
        )
    assert n_rounded


@pytest.mark.parametrize("penalty", [L1(), L2()])
@pytest.mark.parametrize("exempt", [False, True])
@pytest.mark.parametrize("loss", ["logistic", "squared_hinge", "squared", "exponential", "hinge"])
def test_kernels_prove_what_arrays_prove(loss, exempt, penalty, monkeypatch):
    for dtype, sparse in ((np.float64, False), (np.float32, False), (np.float64, True)):
        options = {"dtype": dtype, "sparse": sparse, "exempt": exempt, "weighted": True}
        objective = make(loss, penalty, **options)
        random = np.random.default_rng(0)
        w = random.normal(size=objective.weight_shape) / 3
        duals = random.uniform(-0.1, 2, objective.n_rows) if loss == "hinge" else None
        wanted = 1e-9
        kernel = Certifier(objective).at(w, wanted, duals=duals)
        with monkeypatch.context() as patch:
            patch.setattr(Certifier, "_has_judge", lambda *_: False)
            plain = Certifier(objective).at(w, wanted, duals=duals)
        assert kernel.value == pytest.approx(plain.value, rel=1e-6 if loss == "hinge" else 1e-12)
        assert kernel.gap == pytest.approx(plain.gap, rel=1e-6)
        np.testing.assert_allclose(kernel.w, plain.w, rtol=1e-5, atol=1e-6)


def test_intercepts_are_moved_to_where_a_hinge_is_smallest():
    objective = make("hinge", n=40)
    w = np.ones(objective.weight_shape)
    found = Certifier(objective).at(w, 1e-6, duals=np.ones(objective.n_rows))
    values = [objective.value(np.vstack([w[:-1], [[b]]])) for b in np.linspace(-5, 5, 2001)]
    assert found.value <= min(values) + 1e-3
