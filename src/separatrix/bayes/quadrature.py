"""Quadrature against a density, on panels between its quantiles."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from separatrix.bayes.posterior import FloatArray

__all__ = ["LEVELS", "Panels"]

#: Probabilities at whose quantiles integrals over a density are cut.
LEVELS = (1e-9, 1e-5, 1e-3, 0.02, 0.1, 0.25, 0.5, 0.75, 0.9, 0.98, 1 - 1e-3, 1 - 1e-5, 1 - 1e-9)

#: Points per panel.
_ORDER = 24


@dataclass(frozen=True)
class Panels:
    """Gauss-Legendre points between quantiles of a density.

    Examples
    --------
    >>> from scipy.stats import norm
    >>> theta, weights = Panels(norm(1, 2)).points
    >>> round(float(weights @ theta**2), 6)
    5.0
    """

    distribution: Any

    @cached_property
    def edges(self) -> FloatArray:
        """Quantiles from 1e-12 to 1 - 1e-12."""
        middle = np.linspace(0.05, 0.95, 19)
        levels = np.concatenate([[1e-12], LEVELS[:4], middle, LEVELS[-4:], [1 - 1e-12]])
        return np.asarray(np.unique(self.distribution.ppf(levels)))

    @cached_property
    def points(self) -> tuple[FloatArray, FloatArray]:
        """Thetas and weights with E[g(theta)] ~ sum of weights g(theta)."""
        return self._rule(self.edges)

    def split_at(self, place: float) -> tuple[FloatArray, FloatArray]:
        """The same with an edge at `place`, where the integrand bends."""
        panel = int(np.searchsorted(self.edges, place))
        theta, weights = self.points
        if not 0 < panel < len(self.edges) or place == self.edges[panel]:
            return theta, weights
        around = np.array([self.edges[panel - 1], place, self.edges[panel]])
        new_theta, new_weights = self._rule(around)
        kept = np.ones(len(theta), dtype=bool)
        kept[(panel - 1) * _ORDER : panel * _ORDER] = False
        return (
            np.concatenate([theta[kept], new_theta]),
            np.concatenate([weights[kept], new_weights]),
        )

    def _rule(self, edges: FloatArray) -> tuple[FloatArray, FloatArray]:
        nodes, weights = np.polynomial.legendre.leggauss(_ORDER)
        half = np.diff(edges)[:, None] / 2
        theta = edges[:-1, None] + half * (nodes + 1)
        masses = half * weights * self.distribution.pdf(theta)
        # Where the density is unbounded, points in theta miss mass; points in probability do not.
        levels = self.distribution.cdf(edges)
        exact = np.diff(levels)
        for panel in np.flatnonzero(~(np.abs(masses.sum(axis=1) - exact) <= 1e-10 * exact + 1e-13)):
            theta[panel] = self.distribution.ppf(levels[panel] + exact[panel] * (nodes + 1) / 2)
            masses[panel] = exact[panel] * weights / 2
        return theta.ravel(), masses.ravel()
