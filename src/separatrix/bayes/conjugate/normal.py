"""Measurements with known noise: the normal belief about their mean."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
from scipy import stats

from separatrix.bayes.conjugate.base import ScalarFamily, check_proper, observations
from separatrix.bayes.posterior import FloatArray
from separatrix.errors import ParameterError

__all__ = ["NormalNormal", "check_location", "summary"]


@dataclass(frozen=True)
class NormalNormal(ScalarFamily):
    r"""Belief :math:`\theta \sim N(m, v)` about the mean of measurements of known noise.

    Measurements are :math:`x_i \sim N(\theta, s^2)`. After n of them, precisions add:
    :math:`1/v' = 1/v + n/s^2` and :math:`m'/v' = m/v + \sum_i x_i/s^2`.

    Parameters
    ----------
    location : float, default=0
        m, the mean of the belief.
    variance : float, default=1
        v, its variance.
    noise_variance : float, default=1
        s^2, the known variance of one measurement.

    Examples
    --------
    >>> posterior = NormalNormal(0, 1, noise_variance=1).update([2.0, 4.0])
    >>> posterior.mean, round(posterior.variance, 4)
    (2.0, 0.3333)
    """

    parameter_names: ClassVar[tuple[str, ...]] = ("mean",)

    location: float = 0.0
    variance: float = 1.0
    noise_variance: float = 1.0
    prior: NormalNormal | None = field(default=None, repr=False, compare=False, kw_only=True)

    def __post_init__(self) -> None:
        check_location("NormalNormal", self.location)
        check_proper("NormalNormal", variance=self.variance, noise_variance=self.noise_variance)

    @property
    def distribution(self) -> Any:
        """N(location, variance), a frozen distribution of `scipy.stats`."""
        return stats.norm(self.location, math.sqrt(self.variance))

    @property
    def mode(self) -> float:
        """The location."""
        return float(self.location)

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
        NormalNormal
            The posterior.
        """
        n, center, _ = summary(*observations(data, weights))
        spread = self.noise_variance + n * self.variance
        share = n * self.variance / spread
        return type(self)(
            self.location + share * (center - self.location),
            self.variance * self.noise_variance / spread,
            self.noise_variance,
            prior=self.origin,
        )

    def _joined(self, other: Self, prior: Self) -> Self:
        if not self.noise_variance == other.noise_variance == prior.noise_variance:
            raise ParameterError("the posteriors have different noise variances")
        own, others, start = 1 / self.variance, 1 / other.variance, 1 / prior.variance
        precision = own + others - start
        # Around the prior's location, so that a far location costs no digits.
        moved = own * (self.location - prior.location) + others * (other.location - prior.location)
        if precision <= 0:
            raise ParameterError("the prior is narrower than the posteriors; it cannot be theirs")
        return type(self)(
            prior.location + moved / precision, 1 / precision, self.noise_variance, prior=prior
        )

    def predictive(self) -> Any:
        """Distribution of the next measurement: both variances add.

        Returns
        -------
        frozen distribution of `scipy.stats`
            N(location, variance + noise_variance).
        """
        return stats.norm(self.location, math.sqrt(self.variance + self.noise_variance))

    def log_evidence(self, data: Any, weights: Any = None) -> float:
        """Log-density of these measurements, theta integrated out.

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
        noise, spread = self.noise_variance, self.noise_variance + n * self.variance
        return -0.5 * (
            n * math.log(2 * math.pi * noise)
            + math.log(spread / noise)
            + scatter / noise
            + n * (center - self.location) ** 2 / spread
        )


def summary(x: FloatArray, c: FloatArray) -> tuple[float, float, float]:
    """Weight, mean and sum of squares around the mean; mean and squares 0 without data."""
    n = float(c.sum())
    if n == 0:
        return 0.0, 0.0, 0.0
    # Around a first value, so that the mean of equal values is that value exactly.
    start = float(x[int(np.argmax(c > 0))])
    center = start + float(c @ (x - start)) / n
    return n, center, float(c @ (x - center) ** 2)


def check_location(family: str, location: Any) -> None:
    """Raise ParameterError unless `location` is a finite number."""
    if not isinstance(location, int | float | np.number) or not math.isfinite(float(location)):
        raise ParameterError(f"{family}: location must be a finite number, got {location!r}")
