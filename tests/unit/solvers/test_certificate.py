"""Dual points of the certificates, at the edges of their domain."""

from __future__ import annotations

import numpy as np

from separatrix.losses import multiclass_hinge
from separatrix.objective import Objective
from separatrix.penalties import L2
from separatrix.solvers.certificate import Certifier
from separatrix.structures.labels import FlatScores, make_design


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
