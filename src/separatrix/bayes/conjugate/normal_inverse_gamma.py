"""Measurements with unknown noise: the joint belief about their mean and variance."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
from scipy import stats
from scipy.special import gammaln

from separatrix.bayes.conjugate.base import ConjugateFamily, check_proper, observations
from separatrix.bayes.conjugate.normal import check_location, summary
from separatrix.bayes.posterior import FloatArray, generator_from
from separatrix.errors import ParameterError

__all__ = ["NormalInverseGamma"]


@dataclass(frozen=True)
class NormalInverseGamma(ConjugateFamily):
    r"""Joint belief about the mean and the variance of normal measurements.

    :math:`\mu \mid \sigma^2 \sim N(m, \sigma^2 / \kappa)` and
    :math:`\sigma^2 \sim \mathrm{InvGamma}(a, b)`. After n measurements of mean
    :math:`\bar x` and sum of squares S around it, :math:`\kappa' = \kappa + n`,
    :math:`m' = (\kappa m + n \bar x) / \kappa'`, :math:`a' = a + n/2` and
    :math:`b' = b + S/2 + \kappa n (\bar x - m)^2 / (2 \kappa')`.

    `mean`, `median`, `mode`, draws and intervals have one row for the mean and one for the
    variance, in this order.

    Parameters
    ----------
    location : float, default=0
        m, the center of the belief about the mean.
    count : float, default=1
        kappa, the measurements that this center is worth.
    shape, scale : float, default=1
        a and b of the belief about the variance; its mean is b / (a - 1) where a > 1.

    Examples
    --------
    >>> posterior = NormalInverseGamma().update([1.0, 2.0, 3.0])
    >>> posterior
    NormalInverseGamma(location=1.5, count=4.0, shape=2.5, scale=3.5)
    >>> posterior.mean.round(4)
    array([1.5   , 2.3333])
    >>> posterior.predictive().kwds["df"]
    5.0
    """

    parameter_names: ClassVar[tuple[str, ...]] = ("mean", "variance")

    location: float = 0.0
    count: float = 1.0
    shape: float = 1.0
    scale: float = 1.0
    prior: NormalInverseGamma | None = field(default=None, repr=False, compare=False, kw_only=True)

    def __post_init__(self) -> None:
        check_location("NormalInverseGamma", self.location)
        check_proper("NormalInverseGamma", count=self.count, shape=self.shape, scale=self.scale)

    def _student(self, extra: float) -> Any:
        spread = math.sqrt(self.scale / self.shape * (1 / self.count + extra))
        return stats.t(df=2 * self.shape, loc=self.location, scale=spread)

    @property
    def marginals(self) -> tuple[Any, ...]:
        """Student's t of the mean and inverse gamma of the variance."""
        return self._student(0.0), stats.invgamma(self.shape, scale=self.scale)

    @property
    def mean(self) -> FloatArray:
        """Means of both: the first NaN for shape <= 1/2, the second infinite for shape <= 1."""
        location = self.location if self.shape > 0.5 else math.nan
        variance = self.scale / (self.shape - 1) if self.shape > 1 else math.inf
        return np.array([location, variance])

    @property
    def median(self) -> FloatArray:
        """Medians of the marginals."""
        return np.array([marginal.median() for marginal in self.marginals])

    @property
    def mode(self) -> FloatArray:
        """Where the joint density is highest: (m, b / (a + 3/2))."""
        return np.array([self.location, self.scale / (self.shape + 1.5)])

    def update(self, data: Any, weights: Any = None) -> Self:
        """Posterior after more measurements.

        Parameters
        ----------
        data : array-like of shape (n,)
            Measurements.
        weights : array-like of shape (n,), optional
            How often each measurement counts.

        Returns
        -------
        NormalInverseGamma
            The posterior.
        """
        n, center, scatter = summary(*observations(data, weights))
        return type(self)(*self._hyperparameters(n, center, scatter), prior=self.origin)

    def _hyperparameters(
        self, n: float, center: float, scatter: float
    ) -> tuple[float, float, float, float]:
        count = self.count + n
        moved = center - self.location if n else 0.0
        return (
            self.location + n * moved / count,
            count,
            self.shape + n / 2,
            self.scale + scatter / 2 + self.count * n * moved**2 / (2 * count),
        )

    def _joined(self, other: Self, prior: Self) -> Self:
        count = self.count + other.count - prior.count
        own, others = self.location - prior.location, other.location - prior.location
        if count <= 0:
            raise ParameterError("the prior is worth more than the posteriors; it is not theirs")
        # b + kappa m^2 / 2 adds up. Written so that no two large squares are subtracted.
        excess = self.count * other.count * (self.location - other.location) ** 2 - prior.count * (
            self.count * own**2 + other.count * others**2
        )
        return type(self)(
            prior.location + (self.count * own + other.count * others) / count,
            count,
            self.shape + other.shape - prior.shape,
            self.scale + other.scale - prior.scale + excess / (2 * count),
            prior=prior,
        )

    def predictive(self) -> Any:
        """Distribution of the next measurement.

        Returns
        -------
        frozen distribution of `scipy.stats`
            Student's t with 2 a degrees of freedom and squared scale b (kappa + 1) / (a kappa).
        """
        return self._student(1.0)

    def log_evidence(self, data: Any, weights: Any = None) -> float:
        """Log-density of these measurements, mean and variance integrated out.

        Parameters
        ----------
        data, weights : array-like of shape (n,)
            As for `update`.

        Returns
        -------
        float
            ln p(data).
        """
        n, center, scatter = summary(*observations(data, weights))
        _, count, shape, scale = self._hyperparameters(n, center, scatter)
        return float(
            -n / 2 * math.log(2 * math.pi)
            + 0.5 * math.log(self.count / count)
            + self.shape * math.log(self.scale)
            - shape * math.log(scale)
            + gammaln(shape)
            - gammaln(self.shape)
        )

    def _draw(self, size: int | tuple[int, ...], random_state: Any) -> FloatArray:
        generator = generator_from(random_state)
        variance = self.scale / generator.gamma(self.shape, size=size)
        mean = generator.normal(self.location, np.sqrt(variance / self.count))
        return np.stack([mean, variance], axis=-1)

    def _named(self, draws: FloatArray) -> dict[str, FloatArray]:
        return {name: draws[..., i] for i, name in enumerate(self.parameter_names)}
