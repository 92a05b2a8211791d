"""Successes and failures: the Beta belief about a probability."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
from scipy import stats
from scipy.special import betaln

from separatrix.bayes.conjugate.base import ScalarFamily, check_proper, observations, total
from separatrix.errors import DataError, ParameterError

__all__ = ["BetaBernoulli"]


@dataclass(frozen=True)
class BetaBernoulli(ScalarFamily):
    r"""Belief :math:`\theta \sim \mathrm{Beta}(\alpha, \beta)` about the probability of a success.

    After s successes and f failures it is :math:`\mathrm{Beta}(\alpha + s, \beta + f)`.

    Parameters
    ----------
    alpha, beta : float, default=1
        Successes and failures that the belief is worth; both 1 is the uniform prior.

    Examples
    --------
    >>> posterior = BetaBernoulli(2, 2).update([1, 1, 1, 0])
    >>> posterior
    BetaBernoulli(alpha=5.0, beta=3.0)
    >>> posterior.mean, round(posterior.mode, 4)
    (0.625, 0.6667)
    >>> [round(end, 3) for end in posterior.credible_interval(0.9)]
    [0.341, 0.871]
    """

    parameter_names: ClassVar[tuple[str, ...]] = ("probability",)

    alpha: float = 1.0
    beta: float = 1.0
    prior: BetaBernoulli | None = field(default=None, repr=False, compare=False, kw_only=True)

    def __post_init__(self) -> None:
        check_proper("BetaBernoulli", alpha=self.alpha, beta=self.beta)

    @property
    def distribution(self) -> Any:
        """Beta(alpha, beta), a frozen distribution of `scipy.stats`."""
        return stats.beta(self.alpha, self.beta)

    @property
    def mode(self) -> float:
        """(alpha - 1) / (alpha + beta - 2), or the end of [0, 1] where the density rises to it."""
        alpha, beta = self.alpha, self.beta
        if alpha > 1 and beta > 1:
            return (alpha - 1) / (alpha + beta - 2)
        if alpha == beta == 1:
            raise ParameterError(
                "Beta(1, 1) is flat: every point is a mode, there is no single one"
            )
        if alpha < 1 and beta < 1:
            raise ParameterError(
                f"the density of Beta({alpha:g}, {beta:g}) is unbounded at 0 and at 1: "
                "there is no single mode"
            )
        return float(alpha > beta)

    def update(self, data: Any, weights: Any = None) -> Self:
        """Posterior after more outcomes.

        Parameters
        ----------
        data : array-like of shape (n,)
            Outcomes: 1 or True for a success, 0 or False for a failure.
        weights : array-like of shape (n,), optional
            How often each outcome counts.

        Returns
        -------
        BetaBernoulli
            The posterior.
        """
        return self._after(*_outcomes(data, weights))

    def update_counts(self, successes: float, failures: float) -> Self:
        """Posterior after so many more successes and failures.

        Parameters
        ----------
        successes, failures : float
            Counts, not negative.

        Returns
        -------
        BetaBernoulli
            The posterior.

        Examples
        --------
        >>> BetaBernoulli().update_counts(90, 10)
        BetaBernoulli(alpha=91.0, beta=11.0)
        """
        return self._after(total("successes", successes), total("failures", failures))

    def _after(self, successes: float, failures: float) -> Self:
        return type(self)(self.alpha + successes, self.beta + failures, prior=self.origin)

    def _joined(self, other: Self, prior: Self) -> Self:
        return type(self)(
            self.alpha + other.alpha - prior.alpha, self.beta + other.beta - prior.beta, prior=prior
        )

    def predictive(self, n_trials: int = 1) -> Any:
        """Successes in the next `n_trials` outcomes.

        Parameters
        ----------
        n_trials : int, default=1
            Number of further outcomes.

        Returns
        -------
        frozen distribution of `scipy.stats`
            The beta-binomial distribution.

        Examples
        --------
        >>> round(float(BetaBernoulli(3, 1).predictive().pmf(1)), 6)
        0.75
        """
        return stats.betabinom(n_trials, self.alpha, self.beta)

    def log_evidence(self, data: Any, weights: Any = None) -> float:
        """Log-probability of this sequence of outcomes, theta integrated out.

        Parameters
        ----------
        data, weights : array-like of shape (n,)
            As for `update`.

        Returns
        -------
        float
            ln p(data), of the sequence in its order (no binomial coefficient).

        Examples
        --------
        >>> import math
        >>> round(math.exp(BetaBernoulli().log_evidence([1, 0])), 4)
        0.1667
        """
        successes, failures = _outcomes(data, weights)
        after = betaln(self.alpha + successes, self.beta + failures)
        return float(after - betaln(self.alpha, self.beta))


def _outcomes(data: Any, weights: Any) -> tuple[float, float]:
    x, c = observations(data, weights)
    wrong = (x != 0) & (x != 1)
    if wrong.any():
        index = int(np.argmax(wrong))
        raise DataError(
            f"data[{index}] = {x[index]:g}: outcomes must be 0 or 1 (use update_counts for counts)"
        )
    return float(c[x == 1].sum()), float(c[x == 0].sum())
