"""Penalties on the weights: value, gradient, proximal step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from separatrix.protocols import Array

__all__ = ["L1", "L2", "ElasticNet", "Unpenalized"]


@dataclass(frozen=True)
class L2:
    """1/2 |w|^2: a Gaussian prior on each weight, of variance C.

    Examples
    --------
    >>> L2().value(np.array([[3.0], [4.0]]))
    12.5
    """

    name: ClassVar[str] = "l2"
    smooth: ClassVar[bool] = True
    curvature: ClassVar[float] = 1.0

    def value(self, w: Array) -> float:
        """1/2 |w|^2."""
        return 0.5 * float(np.vdot(w, w))

    def grad(self, w: Array) -> Array:
        """w."""
        return w

    def prox(self, w: Array, step: float) -> Array:
        """w / (1 + step)."""
        return w / (1 + step)


@dataclass(frozen=True)
class L1:
    """|w|_1: a Laplace prior; sets weights to exactly zero.

    Examples
    --------
    >>> L1().prox(np.array([[3.0], [-0.5]]), 1.0).ravel()
    array([ 2., -0.])
    """

    name: ClassVar[str] = "l1"
    smooth: ClassVar[bool] = False
    curvature: ClassVar[float] = 0.0

    def value(self, w: Array) -> float:
        """|w|_1."""
        return float(np.abs(w).sum())

    def grad(self, w: Array) -> Array:
        """sign(w), a subgradient."""
        return np.sign(w)

    def prox(self, w: Array, step: float) -> Array:
        """Soft threshold at `step`."""
        return np.sign(w) * np.maximum(np.abs(w) - step, 0)


@dataclass(frozen=True)
class ElasticNet:
    """l1_ratio |w|_1 + (1 - l1_ratio)/2 |w|^2."""

    l1_ratio: float = 0.5

    name: ClassVar[str] = "elasticnet"

    @property
    def smooth(self) -> bool:
        """Only without an L1 part."""
        return self.l1_ratio == 0

    @property
    def curvature(self) -> float:
        """Strong convexity, 1 - l1_ratio."""
        return 1 - self.l1_ratio

    def value(self, w: Array) -> float:
        """The weighted sum of both penalties."""
        return self.l1_ratio * L1().value(w) + (1 - self.l1_ratio) * L2().value(w)

    def grad(self, w: Array) -> Array:
        """A subgradient."""
        return self.l1_ratio * np.sign(w) + (1 - self.l1_ratio) * w

    def prox(self, w: Array, step: float) -> Array:
        """Soft threshold, then shrink."""
        return L1().prox(w, step * self.l1_ratio) / (1 + step * (1 - self.l1_ratio))


@dataclass(frozen=True)
class Unpenalized:
    """No penalty: maximum likelihood."""

    name: ClassVar[str] = "none"
    smooth: ClassVar[bool] = True
    curvature: ClassVar[float] = 0.0

    def value(self, w: Array) -> float:
        """0."""
        return 0.0

    def grad(self, w: Array) -> Array:
        """0."""
        return np.zeros_like(w)

    def prox(self, w: Array, step: float) -> Array:
        """w."""
        return w
