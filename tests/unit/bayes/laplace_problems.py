"""Problems for the tests of the Laplace posterior."""

from __future__ import annotations

import numpy as np
from scipy.special import logsumexp


def problem(classes=2, n=60, d=3, seed=0):
    generator = np.random.default_rng(seed)
    X = generator.standard_normal((n, d)) + 0.3
    scores = X @ generator.standard_normal((d, classes)) + generator.gumbel(size=(n, classes))
    return X, scores.argmax(axis=1)


def grid_posterior(X, y, C, size=401, reach=6.0, center=0.0):
    """Exact posterior on a grid of (w, b), both with prior N(0, C)."""
    axis = np.linspace(-reach, reach, size) + center
    w, b = np.meshgrid(axis, axis, indexing="ij")
    log = -(w**2 + b**2) / (2 * C) - np.log(2 * np.pi * C)
    for x_i, y_i in zip(X[:, 0], y, strict=True):
        s = (w * x_i + b) * (1 if y_i else -1)
        log = log - np.logaddexp(0, -s)
    cell = 2 * np.log(axis[1] - axis[0])
    return w, b, np.exp(log - log.max()), logsumexp(log) + cell
