"""Problems and settings for the tests of Bayesian linear regression."""

from __future__ import annotations

import numpy as np

KNOWN = {"noise": "known", "noise_variance": 0.3}
MODES = [KNOWN, {"noise": "conjugate"}, {"noise": "evidence"}]


def problem(n=40, d=4, seed=0, offset=1.0):
    generator = np.random.default_rng(seed)
    X = generator.standard_normal((n, d)) + offset
    y = X @ generator.standard_normal(d) + 2 + 0.5 * generator.standard_normal(n)
    return X, y


def covariance(d, seed=1):
    root = np.random.default_rng(seed).standard_normal((d, d))
    return root @ root.T + 0.1 * np.eye(d)
