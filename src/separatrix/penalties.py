"""Penalties on the weights: value, gradient, proximal step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from separatrix.errors import ParameterError
from separatrix.protocols import Array, Penalty
from separatrix.validation import check_choice

__all__ = [
    "L1",
    "L2",
    "PENALTIES",
    "ElasticNet",
    "Unpenalized",
    "penalty_named",
    "strengths",
]


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


@dataclass(frozen=True, eq=False)
class SharedElasticNet:
    """sum_j (l1 scale_j |v_j| + l2/2 v_j^2): an elastic net of weights that columns share.

    Where k columns share a weight, each has v / sqrt(k) of it: the squares stay as they are, and
    the absolute values add up to sqrt(k) times that of v.

    Parameters
    ----------
    l1, l2 : float
    scale : array of shape (n, 1)
        sqrt(k) of every variable.
    """

    l1: float
    l2: float
    scale: Array

    name: ClassVar[str] = "elasticnet"
    smooth: ClassVar[bool] = False

    @property
    def curvature(self) -> float:
        """Strong convexity."""
        return self.l2

    def value(self, w: Array) -> float:
        """The weighted sum of both penalties."""
        return self.l1 * float((self.scale * np.abs(w)).sum()) + self.l2 * L2().value(w)

    def grad(self, w: Array) -> Array:
        """A subgradient."""
        slope: Array = self.l1 * self.scale * np.sign(w) + self.l2 * w
        return slope

    def prox(self, w: Array, step: float) -> Array:
        """Soft threshold, then shrink."""
        shrunk: Array = np.sign(w) * np.maximum(np.abs(w) - step * self.l1 * self.scale, 0.0)
        return shrunk / (1 + step * self.l2)


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


def strengths(penalty: Penalty) -> tuple[Any, float] | None:
    """Weights of |w|_1 and of 1/2 |w|^2 in a built-in penalty; None for a user's own.

    The first is an array, of one weight per variable, where columns share weights.

    Examples
    --------
    >>> strengths(L2()), strengths(ElasticNet(0.25)), strengths(Unpenalized())
    ((0.0, 1.0), (0.25, 0.75), (0.0, 0.0))
    """
    if type(penalty) is SharedElasticNet:
        return penalty.l1 * penalty.scale, penalty.l2
    if type(penalty) is ElasticNet:
        return penalty.l1_ratio, 1 - penalty.l1_ratio
    plain = {L1: (1.0, 0.0), L2: (0.0, 1.0), Unpenalized: (0.0, 0.0)}
    return plain.get(type(penalty))


#: Penalties by name; None is none.
PENALTIES: dict[str | None, Callable[..., Penalty]] = {
    "l2": L2,
    "l1": L1,
    "elasticnet": ElasticNet,
    None: Unpenalized,
}


def penalty_named(name: str | None, l1_ratio: float | None) -> Penalty:
    """The penalty of that name.

    Parameters
    ----------
    name : {"l2", "l1", "elasticnet", None}
        None is no penalty.
    l1_ratio : float or None
        Share of L1 in "elasticnet", 0.5 where it is None. With another penalty nothing would look
        at it: an error.

    Examples
    --------
    >>> penalty_named("elasticnet", 0.3)
    ElasticNet(l1_ratio=0.3)
    >>> penalty_named("l2", 0.3)
    Traceback (most recent call last):
    separatrix.errors.ParameterError: l1_ratio=0.3 needs penalty='elasticnet', got penalty='l2'
    """
    check_choice("penalty", name, tuple(PENALTIES))
    if name == "elasticnet":
        share = 0.5 if l1_ratio is None else l1_ratio
        if not isinstance(share, int | float | np.number) or not 0 <= share <= 1:
            raise ParameterError(f"l1_ratio must be between 0 and 1, got {l1_ratio!r}")
        return ElasticNet(float(share))
    if l1_ratio is not None:
        raise ParameterError(
            f"l1_ratio={l1_ratio!r} needs penalty='elasticnet', got penalty={name!r}"
        )
    return PENALTIES[name]()
