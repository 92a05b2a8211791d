"""Outcomes of several kinds: the Dirichlet belief about their probabilities."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
from scipy import stats
from scipy.special import gammaln

from separatrix.bayes.conjugate.base import ConjugateFamily, check_proper, observations, total
from separatrix.bayes.estimates import Kind, credible_interval, dirichlet_mode
from separatrix.bayes.posterior import FloatArray, generator_from
from separatrix.errors import DataError, ParameterError

__all__ = ["DirichletCategorical"]


@dataclass(frozen=True)
class DirichletCategorical(ConjugateFamily):
    r"""Belief :math:`\theta \sim \mathrm{Dir}(\alpha)` about the probabilities of K categories.

    After counts :math:`n_k` it is :math:`\mathrm{Dir}(\alpha + n)`. The mean under Dir(k) is the
    Laplace estimate of strength k, and so is the mode under Dir(k + 1).

    Parameters
    ----------
    alpha : sequence of K floats
        Observations of each category that the belief is worth; all 1 is the uniform prior.

    Examples
    --------
    Red, red, blue, with Laplace's one of each:

    >>> posterior = DirichletCategorical([1, 1]).update([0, 0, 1])
    >>> posterior
    DirichletCategorical(alpha=(3.0, 2.0))
    >>> posterior.mean
    array([0.6, 0.4])
    >>> posterior.credible_interval().round(2)
    array([[0.19, 0.93],
           [0.07, 0.81]])
    """

    parameter_names: ClassVar[tuple[str, ...]] = ("probabilities",)

    alpha: tuple[float, ...]
    prior: DirichletCategorical | None = field(
        default=None, repr=False, compare=False, kw_only=True
    )

    def __post_init__(self) -> None:
        if np.ndim(self.alpha) != 1 or len(self.alpha) < 2:
            raise ParameterError(
                "DirichletCategorical: alpha must list one number for each of at least two "
                f"categories, got {self.alpha!r}"
            )
        for index, value in enumerate(self.alpha):
            check_proper("DirichletCategorical", **{f"alpha[{index}]": value})
        # A tuple keeps the value immutable and hashable.
        object.__setattr__(self, "alpha", tuple(float(value) for value in self.alpha))

    @classmethod
    def symmetric(cls, strength: float, n_categories: int) -> Self:
        """The same strength for every category.

        Parameters
        ----------
        strength : float
            alpha of each category; the k of Laplace smoothing.
        n_categories : int
            K.

        Returns
        -------
        DirichletCategorical
            Dir(strength, ..., strength).
        """
        return cls((strength,) * n_categories)

    @property
    def _alpha(self) -> FloatArray:
        return np.array(self.alpha)

    @property
    def distribution(self) -> Any:
        """Dir(alpha), a frozen distribution of `scipy.stats`."""
        return stats.dirichlet(self._alpha)

    @property
    def _betas(self) -> Any:
        return stats.beta(self._alpha, self._alpha.sum() - self._alpha)

    @property
    def marginals(self) -> tuple[Any, ...]:
        """Beta(alpha_k, sum(alpha) - alpha_k) for each category."""
        strength = sum(self.alpha)
        return tuple(stats.beta(a, strength - a) for a in self.alpha)

    @property
    def mean(self) -> FloatArray:
        """alpha / sum(alpha), of shape (K,)."""
        return np.asarray(self._alpha / self._alpha.sum(), dtype=np.float64)

    @property
    def median(self) -> FloatArray:
        """Medians of the marginals, of shape (K,); their sum is not 1 in general."""
        return np.asarray(self._betas.median(), dtype=np.float64)

    @property
    def mode(self) -> FloatArray:
        """(alpha - 1) / sum(alpha - 1), of shape (K,); needs every alpha_k >= 1."""
        return dirichlet_mode(self._alpha)

    def credible_interval(self, level: float = 0.95, kind: Kind = "equal") -> Any:
        """Credible interval of each probability, from its marginal.

        Parameters
        ----------
        level : float, default=0.95
            Mass inside each interval.
        kind : {"equal", "highest"}, default="equal"
            Equal tails, or the shortest interval.

        Returns
        -------
        ndarray of shape (K, 2)
            Lower and upper ends.
        """
        return credible_interval(self._betas, level, kind)

    def update(self, data: Any, weights: Any = None) -> Self:
        """Posterior after more outcomes.

        Parameters
        ----------
        data : array-like of shape (n,)
            Category numbers 0, ..., K - 1.
        weights : array-like of shape (n,), optional
            How often each outcome counts.

        Returns
        -------
        DirichletCategorical
            The posterior.
        """
        return self._after(self._counts(data, weights))

    def update_counts(self, counts: Any) -> Self:
        """Posterior after so many more outcomes of each category.

        Parameters
        ----------
        counts : array-like of shape (K,)
            Counts, not negative.

        Returns
        -------
        DirichletCategorical
            The posterior.
        """
        if np.shape(counts) != (len(self.alpha),):
            raise DataError(
                f"counts must hold one number for each of the {len(self.alpha)} categories, "
                f"got shape {np.shape(counts)}"
            )
        checked = [total(f"counts[{k}]", value) for k, value in enumerate(np.asarray(counts))]
        return self._after(np.array(checked))

    def _after(self, counts: FloatArray) -> Self:
        return type(self)(tuple(self._alpha + counts), prior=self.origin)

    def _joined(self, other: Self, prior: Self) -> Self:
        if not len(self.alpha) == len(other.alpha) == len(prior.alpha):
            raise ParameterError("the posteriors have different numbers of categories")
        return type(self)(tuple(self._alpha + other._alpha - prior._alpha), prior=prior)

    def predictive(self, n_trials: int | None = None) -> Any:
        """Distribution of the next category, or of the counts of the next `n_trials`.

        Parameters
        ----------
        n_trials : int, optional
            Number of further outcomes to count.

        Returns
        -------
        frozen distribution of `scipy.stats`
            A discrete distribution over 0, ..., K - 1; with `n_trials`, the Dirichlet-multinomial
            distribution of the counts.

        Examples
        --------
        >>> DirichletCategorical([3, 2]).predictive().pmf([0, 1])
        array([0.6, 0.4])
        """
        if n_trials is not None:
            return stats.dirichlet_multinomial(self._alpha, np.asarray(n_trials))
        return stats.rv_discrete(values=(np.arange(len(self.alpha)), self.mean))()

    def log_evidence(self, data: Any, weights: Any = None) -> float:
        """Log-probability of this sequence of outcomes, theta integrated out.

        Parameters
        ----------
        data, weights : array-like of shape (n,)
            As for `update`.

        Returns
        -------
        float
            ln p(data), of the sequence in its order (no multinomial coefficient).
        """
        alpha, counts = self._alpha, self._counts(data, weights)
        whole = gammaln(alpha.sum()) - gammaln(alpha.sum() + counts.sum())
        return float(whole + (gammaln(alpha + counts) - gammaln(alpha)).sum())

    def _counts(self, data: Any, weights: Any) -> FloatArray:
        x, c = observations(data, weights)
        wrong = (x != np.floor(x)) | (x < 0) | (x >= len(self.alpha))
        if wrong.any():
            index = int(np.argmax(wrong))
            raise DataError(
                f"data[{index}] = {x[index]:g}: categories are the whole numbers from 0 to "
                f"{len(self.alpha) - 1} (use update_counts for counts)"
            )
        counts = np.bincount(x.astype(np.intp), weights=c, minlength=len(self.alpha))
        return counts.astype(np.float64)

    def _draw(self, size: int | tuple[int, ...], random_state: Any) -> FloatArray:
        generator = generator_from(random_state)
        return np.asarray(generator.dirichlet(self._alpha, size))
