"""Counts of events: the Gamma belief about their intensity."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
from scipy import stats
from scipy.special import gammaln, xlogy

from separatrix.bayes.conjugate.base import ScalarFamily, check_proper, observations
from separatrix.bayes.posterior import FloatArray
from separatrix.errors import DataError
from separatrix.validation import check_positive

__all__ = ["GammaPoisson"]


@dataclass(frozen=True)
class GammaPoisson(ScalarFamily):
    r"""Belief :math:`\theta \sim \mathrm{Gamma}(a, b)` about the intensity of a Poisson count.

    The density is proportional to :math:`\theta^{a - 1} e^{-b \theta}`. After counts with sum s
    over n units of exposure it is :math:`\mathrm{Gamma}(a + s, b + n)`.

    Parameters
    ----------
    shape : float, default=1
        a, the events that the belief is worth.
    rate : float, default=1
        b, the exposure in which they were seen.

    Examples
    --------
    >>> posterior = GammaPoisson(shape=2, rate=1).update([3, 5, 4])
    >>> posterior
    GammaPoisson(shape=14.0, rate=4.0)
    >>> posterior.mean, posterior.mode
    (3.5, 3.25)
    """

    parameter_names: ClassVar[tuple[str, ...]] = ("intensity",)

    shape: float = 1.0
    rate: float = 1.0
    prior: GammaPoisson | None = field(default=None, repr=False, compare=False, kw_only=True)

    def __post_init__(self) -> None:
        check_proper("GammaPoisson", shape=self.shape, rate=self.rate)

    @property
    def distribution(self) -> Any:
        """Gamma(shape, rate), a frozen distribution of `scipy.stats`."""
        return stats.gamma(self.shape, scale=1 / self.rate)

    @property
    def mode(self) -> float:
        """(shape - 1) / rate, or 0 where the density falls throughout."""
        return max(self.shape - 1, 0.0) / self.rate

    def update(self, data: Any, weights: Any = None, *, exposure: Any = None) -> Self:
        """Posterior after more counts.

        Parameters
        ----------
        data : array-like of shape (n,)
            Counts, whole numbers.
        weights : array-like of shape (n,), optional
            How often each count counts.
        exposure : float or array-like of shape (n,), optional
            Time (or area) in which each was counted; 1 by default.

        Returns
        -------
        GammaPoisson
            The posterior.
        """
        x, c, t = _counts(data, weights, exposure)
        return type(self)(self.shape + float(c @ x), self.rate + float(c @ t), prior=self.origin)

    def _joined(self, other: Self, prior: Self) -> Self:
        return type(self)(
            self.shape + other.shape - prior.shape, self.rate + other.rate - prior.rate, prior=prior
        )

    def predictive(self, exposure: float = 1.0) -> Any:
        """Distribution of the next count.

        Parameters
        ----------
        exposure : float, default=1
            Time in which it will be counted.

        Returns
        -------
        frozen distribution of `scipy.stats`
            The negative binomial distribution.

        Examples
        --------
        >>> round(float(GammaPoisson(14, 4).predictive(exposure=2).mean()), 6)
        7.0
        """
        check_positive(exposure=exposure)
        return stats.nbinom(self.shape, self.rate / (self.rate + exposure))

    def log_evidence(self, data: Any, weights: Any = None, *, exposure: Any = None) -> float:
        """Log-probability of these counts, theta integrated out.

        Parameters
        ----------
        data, weights, exposure : array-like of shape (n,)
            As for `update`.

        Returns
        -------
        float
            ln p(data).
        """
        x, c, t = _counts(data, weights, exposure)
        shape, rate = self.shape + float(c @ x), self.rate + float(c @ t)
        own = float(c @ (xlogy(x, t) - gammaln(x + 1)))
        before = xlogy(self.shape, self.rate) - gammaln(self.shape)
        return float(own + before + gammaln(shape) - xlogy(shape, rate))


def _counts(data: Any, weights: Any, exposure: Any) -> tuple[FloatArray, FloatArray, FloatArray]:
    x, c = observations(data, weights)
    wrong = (x < 0) | (x != np.floor(x))
    if wrong.any():
        index = int(np.argmax(wrong))
        raise DataError(f"data[{index}] = {x[index]:g}: counts must be whole and not negative")
    t = np.ones_like(x)
    if exposure is not None:
        given = np.asarray(exposure, dtype=np.float64)
        if given.shape not in ((), x.shape):
            raise DataError(f"there are {len(x)} counts, but exposure has shape {given.shape}")
        t = t * given
        if not ((t > 0) & np.isfinite(t)).all():
            raise DataError("exposure must be positive and finite")
    return x, c, t
