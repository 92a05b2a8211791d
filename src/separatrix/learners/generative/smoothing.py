"""From counts to probabilities: relative frequency, Laplace, linear interpolation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from separatrix.errors import ParameterError

__all__ = [
    "Interpolation",
    "LaplaceSmoothing",
    "MaximumLikelihood",
    "Smoothing",
    "as_smoothing",
    "settings_of",
]

#: Values of k and alpha that are tried by default.
_KS = (1e-3, 1e-2, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
_ALPHAS = (0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99, 0.999)

FloatArray = npt.NDArray[np.float64]


#: Counts and totals of all classes together, for estimates that lean on P(x); called by need.
Pool: TypeAlias = Callable[[], tuple[FloatArray, FloatArray]]


class Smoothing(Protocol):
    """How counts c(x, y) become probabilities P(x | y)."""

    @property
    def leaves_zeros(self) -> bool:
        """Whether an event that was never seen gets probability zero."""
        ...

    def rate(self, count: FloatArray, total: FloatArray, size: float, pool: Pool) -> FloatArray:
        """P(x | y) of events with `count` among `total`, out of `size` that are possible."""
        ...


def _frequency(count: Any, total: Any, otherwise: Any) -> FloatArray:
    """count / total, or `otherwise` where nothing was seen."""
    total = np.asarray(total, dtype=np.float64)
    seen = total > 0
    share: FloatArray = np.where(seen, count / np.where(seen, total, 1.0), otherwise)
    return share


class _Estimates:
    """Estimates for one distribution at a time."""

    def estimate(
        self: Smoothing, counts: npt.ArrayLike, pool: npt.ArrayLike | None = None
    ) -> FloatArray:
        """Probabilities from counts.

        Parameters
        ----------
        counts : array-like of shape (..., m)
            How often each of m outcomes was seen.
        pool : array-like of shape (m,), optional
            Counts of all classes together, for `Interpolation`; the sum of `counts` over all but
            the last axis by default.

        Returns
        -------
        ndarray of shape (..., m)
            Probabilities, of sum 1 over the last axis.
        """
        counts = np.asarray(counts, dtype=np.float64)
        together = counts.reshape(-1, counts.shape[-1]).sum(axis=0)
        if pool is not None:
            together = np.asarray(pool, dtype=np.float64)
        size = counts.shape[-1]
        total = counts.sum(axis=-1, keepdims=True)
        return self.rate(counts, total, size, lambda: (together, together.sum(keepdims=True)))


@dataclass(frozen=True)
class LaplaceSmoothing(_Estimates):
    """Every outcome is seen k times more than it was: P(x | y) = (c(x, y) + k) / (c(y) + k |X|).

    The posterior mean under a Dirichlet prior with all parameters k, the posterior mode under one
    with k + 1. At k = 0 it is the relative frequency.

    Parameters
    ----------
    k : float, default=1.0
        Strength of the prior, not negative.

    Examples
    --------
    >>> LaplaceSmoothing(1).estimate([2, 1])
    array([0.6, 0.4])
    """

    k: float = 1.0

    def __post_init__(self) -> None:
        if not 0 <= self.k < np.inf:
            raise ParameterError(f"k must be finite and not negative, got {self.k!r}")

    @property
    def leaves_zeros(self) -> bool:
        """True at k = 0."""
        return self.k == 0

    def rate(self, count: FloatArray, total: FloatArray, size: float, pool: Pool) -> FloatArray:
        """(count + k) / (total + k size)."""
        if self.k == 0:
            return _frequency(count, total, 1.0 / size)
        smoothed: FloatArray = count + self.k
        smoothed /= total + self.k * size
        return smoothed


@dataclass(frozen=True)
class MaximumLikelihood(_Estimates):
    """Relative frequency, P(x | y) = c(x, y) / c(y): what was never seen has probability zero.

    A class without any observation gives equal shares to all outcomes.

    Examples
    --------
    >>> MaximumLikelihood().estimate([3, 1])
    array([0.75, 0.25])
    """

    @property
    def leaves_zeros(self) -> bool:
        """True."""
        return True

    def rate(self, count: FloatArray, total: FloatArray, size: float, pool: Pool) -> FloatArray:
        """Count / total."""
        return _frequency(count, total, 1.0 / size)


@dataclass(frozen=True)
class Interpolation(_Estimates):
    """alpha P(x | y) + (1 - alpha) P(x): relative frequencies held close to those of all classes.

    P(x) is itself smoothed, by Laplace's k. At alpha = 1 this is maximum likelihood, at alpha = 0
    no feature tells the classes apart.

    Parameters
    ----------
    alpha : float, default=0.5
        Trust in the class's own frequencies, between 0 and 1.
    k : float, default=1.0
        Strength of the smoothing of P(x), positive.

    Examples
    --------
    >>> Interpolation(0.5).estimate([[2, 0], [1, 1]])
    array([[0.83333333, 0.16666667],
           [0.58333333, 0.41666667]])
    """

    alpha: float = 0.5
    k: float = 1.0

    def __post_init__(self) -> None:
        if not 0 <= self.alpha <= 1:
            raise ParameterError(f"alpha must lie between 0 and 1, got {self.alpha!r}")
        if not 0 < self.k < np.inf:
            raise ParameterError(f"k must be positive and finite, got {self.k!r}")

    @property
    def leaves_zeros(self) -> bool:
        """True at alpha = 1."""
        return self.alpha == 1

    def rate(self, count: FloatArray, total: FloatArray, size: float, pool: Pool) -> FloatArray:
        """Alpha count / total + (1 - alpha) P(x); P(x) alone where the class was never seen."""
        everywhere = LaplaceSmoothing(self.k).rate(*pool(), size, pool)
        own = _frequency(count, total, everywhere)
        mixed: FloatArray = self.alpha * own + (1 - self.alpha) * everywhere
        return mixed


def as_smoothing(value: Any) -> Smoothing:
    """The smoothing that an argument stands for: None is LaplaceSmoothing(1), a number its k."""
    if value is None:
        return LaplaceSmoothing()
    if isinstance(value, LaplaceSmoothing | Interpolation | MaximumLikelihood):
        return value
    if _number(value):
        return LaplaceSmoothing(float(value))
    raise ParameterError(
        "smoothing must be LaplaceSmoothing(k), Interpolation(alpha), MaximumLikelihood(), a "
        f"number k or None, got {value!r}"
    )


def settings_of(now: Smoothing, grid: Sequence[Any] | None) -> list[Smoothing]:
    """Smoothings to try: those of `grid`, where a number is an alpha beside `now`, or a k."""
    if isinstance(now, Interpolation):
        values = _ALPHAS if grid is None else grid
        return [replace(now, alpha=v) if _number(v) else as_smoothing(v) for v in values]
    return [as_smoothing(v) for v in (_KS if grid is None else grid)]


def _number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)
