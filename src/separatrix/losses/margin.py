"""Losses of the margin m = y s for two classes, y = +1 or -1 and s the score."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from scipy.special import expit, xlog1py, xlogy

from separatrix.losses.kernel import Kernel
from separatrix.protocols import Array

__all__ = [
    "MARGIN_LOSSES",
    "Exponential",
    "Hinge",
    "Logistic",
    "MarginLoss",
    "PerceptronLoss",
    "Squared",
    "SquaredHinge",
    "ZeroOne",
]


@dataclass(frozen=True)
class MarginLoss(ABC):
    """A loss phi(m) of the margin m = y s.

    Attributes
    ----------
    name : str
        Its name in `LinearClassifier(loss=...)`.
    smooth : bool
        phi' is Lipschitz continuous.
    convex : bool
        phi is convex.
    bounds_zero_one : bool
        phi(m) >= 1 for m <= 0 and phi(m) >= 0: an upper bound of the 0-1 loss.
    kernel : Kernel
        Where compiled code knows the loss; stands on the class itself and is not inherited.
    """

    name: ClassVar[str]
    smooth: ClassVar[bool]
    convex: ClassVar[bool] = True
    bounds_zero_one: ClassVar[bool] = True
    n_scores: ClassVar[int | None] = 1

    @abstractmethod
    def value(self, margin: Array) -> Array:
        """phi(m)."""

    @abstractmethod
    def derivative(self, margin: Array) -> Array:
        """phi'(m), or a subgradient where there is a kink."""

    def second(self, margin: Array) -> Array:
        """phi''(m); zero at kinks."""
        return np.zeros_like(margin)

    def value_and_grad(self, scores: Array, targets: npt.NDArray[Any]) -> tuple[Array, Array]:
        """Losses of shape (n,) and gradients of shape (n, 1) for scores of shape (n, 1)."""
        margin = scores[:, 0] * targets
        return self.value(margin), (self.derivative(margin) * targets)[:, None]

    def curvature_product(
        self, scores: Array, targets: npt.NDArray[Any], direction: Array
    ) -> Array:
        """Second derivative in the scores, times a direction of the same shape."""
        return self.second(scores[:, 0] * targets)[:, None] * direction


@dataclass(frozen=True)
class ZeroOne(MarginLoss):
    """1 where m <= 0, else 0: what we would like to minimize and cannot."""

    name = "zero_one"
    smooth = False
    convex = False

    def value(self, margin: Array) -> Array:
        """[m <= 0]."""
        return (margin <= 0).astype(margin.dtype)

    def derivative(self, margin: Array) -> Array:
        """Zero, which is why it cannot be minimized by following it."""
        return np.zeros_like(margin)


@dataclass(frozen=True)
class PerceptronLoss(MarginLoss):
    """max(0, -m)."""

    name = "perceptron"
    smooth = False
    bounds_zero_one = False
    kernel: ClassVar = Kernel("perceptron")

    def value(self, margin: Array) -> Array:
        """max(0, -m)."""
        return np.maximum(-margin, 0)

    def derivative(self, margin: Array) -> Array:
        """-1 where m <= 0: a tie is a mistake."""
        return -(margin <= 0).astype(margin.dtype)


@dataclass(frozen=True)
class Hinge(MarginLoss):
    """max(0, 1 - m), the loss of the support vector machine."""

    name = "hinge"
    smooth = False
    kernel: ClassVar = Kernel("hinge", dual=True, conjugate=lambda a: -a, in_unit=True)

    def value(self, margin: Array) -> Array:
        """max(0, 1 - m)."""
        return np.maximum(1 - margin, 0)

    def derivative(self, margin: Array) -> Array:
        """-1 where m < 1."""
        return -(margin < 1).astype(margin.dtype)


@dataclass(frozen=True)
class SquaredHinge(MarginLoss):
    """max(0, 1 - m)^2."""

    name = "squared_hinge"
    smooth = True
    kernel: ClassVar = Kernel(
        "squared_hinge", passes=True, dual=True, conjugate=lambda a: a * a / 4 - a
    )

    def value(self, margin: Array) -> Array:
        """max(0, 1 - m)^2."""
        return np.maximum(1 - margin, 0) ** 2

    def derivative(self, margin: Array) -> Array:
        """-2 max(0, 1 - m)."""
        return -2 * np.maximum(1 - margin, 0)

    def second(self, margin: Array) -> Array:
        """2 where m < 1."""
        return 2 * (margin < 1).astype(margin.dtype)


@dataclass(frozen=True)
class Exponential(MarginLoss):
    """exp(-m), the loss of AdaBoost."""

    name = "exponential"
    smooth = True
    kernel: ClassVar = Kernel("exponential", passes=True, conjugate=lambda a: xlogy(a, a) - a)

    def value(self, margin: Array) -> Array:
        """exp(-m)."""
        with np.errstate(over="ignore"):
            return np.exp(-margin)

    def derivative(self, margin: Array) -> Array:
        """-exp(-m)."""
        return -self.value(margin)

    def second(self, margin: Array) -> Array:
        """exp(-m)."""
        return self.value(margin)


@dataclass(frozen=True)
class Logistic(MarginLoss):
    """log(1 + exp(-m)), the negative log-likelihood of the sigmoid model.

    It is ln 2 at m = 0, so that it bounds the 0-1 loss in bits, phi(m) / ln 2, and not in nats.
    """

    name = "logistic"
    smooth = True
    bounds_zero_one = False
    kernel: ClassVar = Kernel(
        "logistic",
        passes=True,
        dual=True,
        # 1 - a has no digits of a small a; where a row weighs much, they count.
        conjugate=lambda a: xlogy(a, a) + xlog1py(1 - a, -a),
        in_unit=True,
        likelihood=True,
    )

    def value(self, margin: Array) -> Array:
        """log(1 + exp(-m))."""
        return np.logaddexp(0, -margin)

    def derivative(self, margin: Array) -> Array:
        """-1 / (1 + exp(m))."""
        return -expit(-margin)

    def second(self, margin: Array) -> Array:
        """sigma(m) sigma(-m)."""
        return expit(margin) * expit(-margin)


@dataclass(frozen=True)
class Squared(MarginLoss):
    """(1 - m)^2 = (y - s)^2."""

    name = "squared"
    smooth = True
    kernel: ClassVar = Kernel("squared", passes=True, conjugate=lambda a: a * a / 4 - a)

    def value(self, margin: Array) -> Array:
        """(1 - m)^2."""
        return (1 - margin) ** 2

    def derivative(self, margin: Array) -> Array:
        """-2 (1 - m)."""
        return -2 * (1 - margin)

    def second(self, margin: Array) -> Array:
        """2."""
        return np.full_like(margin, 2)


MARGIN_LOSSES: dict[str, MarginLoss] = {
    loss.name: loss
    for loss in (
        ZeroOne(),
        PerceptronLoss(),
        Hinge(),
        SquaredHinge(),
        Exponential(),
        Logistic(),
        Squared(),
    )
}
