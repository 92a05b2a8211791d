"""Posterior (or prior) of the weights and the intercept of a linear regression."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy import stats

from separatrix.bayes.regression.moments import Moments
from separatrix.bayes.regression.prior import GaussianPrior
from separatrix.bayes.regression.spectrum import Spectrum

__all__ = ["Intercept", "LinearPosterior", "decompose"]

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Intercept:
    """The prior b ~ N(mean, sigma^2 ratio); flat for an infinite ratio, no intercept for zero."""

    mean: float = 0.0
    ratio: float = math.inf

    @property
    def flat(self) -> bool:
        """Whether the prior is improper."""
        return math.isinf(self.ratio)

    def precision(self, total: float) -> float:
        """Weight of the mean row once b is integrated out: 1 / (1/W + ratio)."""
        return 0.0 if self.flat or total == 0 else 1 / (1 / total + self.ratio)

    def spread(self, total: float) -> float:
        """Variance of b given the weights, divided by sigma^2: 1 / (W + 1/ratio)."""
        if self.flat:
            return 1 / total
        return self.ratio / (total * self.ratio + 1)


def decompose(moments: Moments, prior: GaussianPrior, intercept: Intercept) -> Spectrum:
    """The spectrum of a regression whose intercept is integrated out.

    The scatter around the means is free of the intercept; what the means say about the weights is
    one more row, of weight 1 / (1/W + ratio): W without an intercept, nothing under a flat prior.
    """
    root, mean = moments.root, moments.mean
    rows, target = root[:, :-1], root[:, -1]
    weight = math.sqrt(intercept.precision(moments.total))
    if weight > 0:
        rows = np.vstack([rows, weight * mean[:-1]])
        target = np.append(target, weight * (mean[-1] - intercept.mean))
    size = moments.total - (1.0 if intercept.flat else 0.0)
    return Spectrum.of(prior.whiten(rows), target - rows @ prior.mean, size)


@dataclass(frozen=True)
class LinearPosterior:
    """f(x) = x'w + b with w ~ N or t, and b given w normal around `offset` - center'w.

    Attributes
    ----------
    prior : GaussianPrior
        Mean and shape L of the prior.
    spectrum : Spectrum
        Decomposition of the data, empty for the prior itself.
    ridge : float
        sigma^2 over the prior variance of the whitened weights.
    noise : float
        sigma^2, or its scale / shape where it is inverse gamma.
    degrees : float
        Degrees of freedom of the t distributions; infinite for normal ones.
    center : ndarray of shape (d,)
        What is subtracted from x: the means under a flat prior of b, less with a tight one.
    offset : float
        E[f(center)] beyond center'w.
    spread : float
        Variance of b given w, divided by sigma^2.
    """

    prior: GaussianPrior
    spectrum: Spectrum
    ridge: float
    noise: float
    degrees: float
    center: FloatArray
    offset: float
    spread: float

    @classmethod
    def of(
        cls,
        moments: Moments,
        prior: GaussianPrior,
        intercept: Intercept,
        spectrum: Spectrum,
        ridge: float,
        noise: float,
        degrees: float = math.inf,
    ) -> Self:
        """The posterior given the data."""
        spread = intercept.spread(moments.total)
        share = moments.total * spread
        offset = share * moments.mean[-1]
        if not intercept.flat:
            offset += (1 - share) * intercept.mean
        center = share * moments.mean[:-1]
        return cls(prior, spectrum, ridge, noise, degrees, center, float(offset), spread)

    @classmethod
    def before(
        cls,
        prior: GaussianPrior,
        intercept: Intercept,
        ridge: float,
        noise: float,
        degrees: float = math.inf,
    ) -> Self:
        """The prior, which must be proper."""
        d = len(prior.mean)
        nothing = Spectrum.of(np.empty((0, d)), np.empty(0), 0.0)
        center = np.zeros(d)
        return cls(prior, nothing, ridge, noise, degrees, center, intercept.mean, intercept.ratio)

    def weights(self) -> FloatArray:
        """E[w]."""
        return self.prior.mean + self.prior.color(self.spectrum.mean(np.array(self.ridge)))

    def intercept(self) -> float:
        """E[b]."""
        return self.offset - float(self.center @ self.weights())

    @property
    def inflation(self) -> float:
        """Variance over squared scale: 1, or df / (df - 2) for a t distribution."""
        if math.isinf(self.degrees):
            return 1.0
        return self.degrees / (self.degrees - 2) if self.degrees > 2 else math.inf

    @property
    def mean(self) -> FloatArray:
        """E[(w, b)], shape (d + 1,)."""
        return np.append(self.weights(), self.intercept())

    @property
    def mode(self) -> FloatArray:
        """The mode: normal and t distributions have it at their mean."""
        return self.mean

    @property
    def marginals(self) -> tuple[Any]:
        """Distributions of the weights and, last, of b, with parameters of shape (d + 1,)."""
        return (self.distribution(self.mean, self.unit_marginals()),)

    def unit_variances(self, X: FloatArray) -> FloatArray:
        """Squared scale of f(x) divided by sigma^2, shape (n,)."""
        rows = self.prior.whiten(X - self.center)
        return self.spectrum.variances(rows, np.array(self.ridge)) + self.spread

    def unit_marginals(self) -> FloatArray:
        """Squared scales of the weights and, last, of b, divided by sigma^2: shape (d + 1,)."""
        shape = self.prior.color(self.spectrum.vectors)
        values = self.spectrum.values**2 + self.ridge
        result = (shape**2) @ (1 / values)
        if len(values) < len(shape):
            outside = self.prior.variances() - np.einsum("ij,ij->i", shape, shape)
            result += np.maximum(outside, 0.0) / self.ridge
        at_zero = self.unit_variances(np.zeros((1, len(shape))))
        return np.append(result, at_zero)

    def unit_covariance(self) -> FloatArray:
        """Scale matrix of (w, b) divided by sigma^2, shape (d + 1, d + 1)."""
        d = len(self.center)
        half = self.prior.color(self.spectrum.spread(np.eye(d), self.ridge, 0.5))
        half = np.vstack([half, -self.center @ half])
        result: FloatArray = half @ half.T
        result[-1, -1] += self.spread
        return result

    def sample(self, n_draws: int, generator: np.random.RandomState) -> FloatArray:
        """Draws of (w, b), shape (n_draws, d + 1)."""
        d = len(self.center)
        scale = np.full(n_draws, math.sqrt(self.noise))
        if not math.isinf(self.degrees):
            scale *= np.sqrt(self.degrees / generator.chisquare(self.degrees, n_draws))
        white = self.spectrum.spread(generator.standard_normal((d, n_draws)), self.ridge, 0.5)
        w = self.weights()[:, None] + self.prior.color(white) * scale
        b = self.offset - self.center @ w
        b += math.sqrt(self.spread) * scale * generator.standard_normal(n_draws)
        return np.vstack([w, b]).T

    def distribution(self, mean: FloatArray, unit_variance: FloatArray) -> Any:
        """Frozen normal or t with this mean and this squared scale over sigma^2."""
        scale = np.sqrt(self.noise * unit_variance)
        if math.isinf(self.degrees):
            return stats.norm(mean, scale)
        return stats.t(self.degrees, mean, scale)

    def joint(self, with_intercept: bool) -> Any:
        """Frozen multivariate normal or t of w and, last, of b."""
        mean = self.mean
        shape = self.noise * self.unit_covariance()
        if not with_intercept:
            mean, shape = mean[:-1], shape[:-1, :-1]
        if math.isinf(self.degrees):
            return stats.multivariate_normal(mean, shape, allow_singular=True)
        degrees: Any = self.degrees  # the stubs of scipy ask for a whole number
        return stats.multivariate_t(mean, shape, df=degrees, allow_singular=True)
