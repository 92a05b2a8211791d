"""What the conjugate families share: updates remember the prior, so that posteriors can merge."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

import numpy as np

from separatrix.bayes.estimates import Kind, credible_interval
from separatrix.bayes.interchange import draws_to_arviz
from separatrix.bayes.posterior import FloatArray, generator_from
from separatrix.errors import DataError, ParameterError

__all__ = ["ConjugateFamily", "ScalarFamily", "check_proper", "observations", "total"]


class ConjugateFamily(ABC):
    """An immutable belief about theta that stays in its family when data come in.

    `update` returns the posterior as a new value and remembers the prior that the first update
    started from. Streaming updates equal one update with all the data, and `merge` joins two
    posteriors of one prior as if one had seen the data of both.
    """

    #: Names of the parameters theta.
    parameter_names: ClassVar[tuple[str, ...]]

    @property
    @abstractmethod
    def marginals(self) -> tuple[Any, ...]:
        """Marginal distributions of theta, frozen distributions of `scipy.stats`."""

    @property
    @abstractmethod
    def mean(self) -> Any:
        """E[theta]."""

    @property
    @abstractmethod
    def median(self) -> Any:
        """Median of theta; marginal by marginal for a vector."""

    @property
    @abstractmethod
    def mode(self) -> Any:
        """Where the density of theta is highest."""

    @abstractmethod
    def predictive(self) -> Any:
        """Distribution of the next observation, theta integrated out."""

    @abstractmethod
    def _joined(self, other: Self, prior: Self) -> Self:
        """The posterior of the data of both, with what both took from `prior` counted once."""

    @abstractmethod
    def _draw(self, size: int | tuple[int, ...], random_state: Any) -> FloatArray: ...

    @property
    def origin(self) -> Self:
        """The prior that the first update started from; the value itself before any update."""
        remembered = getattr(self, "prior", None)
        return self if remembered is None else remembered

    def merge(self, other: Self, prior: Self | None = None) -> Self:
        """Join two posteriors of the same prior: the posterior given the data of both.

        Parameters
        ----------
        other : value of the same family
            Posterior from other, independent data.
        prior : value of the same family, optional
            The prior of both, where it is not the one they remember.

        Returns
        -------
        value of the same family
            Equal to one update of the prior with all the data.

        Raises
        ------
        ParameterError
            When the two do not share a prior and none is given.
        """
        if type(other) is not type(self):
            raise ParameterError(
                f"{type(self).__name__} cannot merge with {type(other).__name__}; both must be "
                "of one family"
            )
        start = self.origin if prior is None else prior
        if prior is None and other.origin != start:
            raise ParameterError(
                f"the posteriors come from different priors, {start} and {other.origin}; merging "
                "counts the prior once, so say which one it is: merge(other, prior=...)"
            )
        if type(start) is not type(self):
            raise ParameterError(f"prior must be a {type(self).__name__}, got {start!r}")
        return self._joined(other, start)

    def sample(
        self, size: int | tuple[int, ...] | None = None, random_state: Any = None
    ) -> FloatArray | float:
        """Draw theta.

        Parameters
        ----------
        size : int or tuple of ints, optional
            Number of draws, along the first axes; None gives one draw without that axis.
        random_state : None, int, Generator or RandomState
            Source of the draws.

        Returns
        -------
        ndarray of shape (size,) or (size, K), or one draw
            The draws.
        """
        if size is not None:
            return self._draw(size, random_state)
        one = self._draw(1, random_state)[0]
        return float(one) if np.ndim(one) == 0 else one

    def credible_interval(self, level: float = 0.95, kind: Kind = "equal") -> Any:
        """Credible interval of theta; marginal by marginal for a vector.

        Parameters
        ----------
        level : float, default=0.95
            Mass inside the interval.
        kind : {"equal", "highest"}, default="equal"
            Equal tails, or the shortest interval.

        Returns
        -------
        tuple of two floats, or ndarray of shape (K, 2)
            Lower and upper end.
        """
        return credible_interval(self, level, kind)

    def to_arviz(self, n_draws: int = 1000, n_chains: int = 4, random_state: Any = None) -> Any:
        """Draws of theta for ArviZ; the draws are independent.

        Parameters
        ----------
        n_draws, n_chains : int
            Draws per chain, and chains.
        random_state : None, int, Generator or RandomState
            Source of the draws.

        Returns
        -------
        InferenceData (ArviZ 0.x) or DataTree (ArviZ 1.x)
            With group "posterior".

        Raises
        ------
        MissingPackageError
            Where ArviZ is not installed.
        """
        draws = self._draw((n_chains, n_draws), random_state)
        return draws_to_arviz(self._named(draws))

    def _named(self, draws: FloatArray) -> dict[str, FloatArray]:
        return {self.parameter_names[0]: draws}


class ScalarFamily(ConjugateFamily):
    """A family whose theta is one number."""

    @property
    @abstractmethod
    def distribution(self) -> Any:
        """Distribution of theta, a frozen distribution of `scipy.stats`."""

    @property
    def marginals(self) -> tuple[Any, ...]:
        """The distribution of theta, alone in a tuple."""
        return (self.distribution,)

    @property
    def mean(self) -> float:
        """E[theta]."""
        return float(self.distribution.mean())

    @property
    def median(self) -> float:
        """Median of theta."""
        return float(self.distribution.median())

    def _draw(self, size: int | tuple[int, ...], random_state: Any) -> FloatArray:
        generator = generator_from(random_state)
        return np.asarray(self.distribution.rvs(size=size, random_state=generator))


def check_proper(family: str, **parameters: Any) -> None:
    """Raise ParameterError unless every hyperparameter is a positive finite number."""
    for name, value in parameters.items():
        if not isinstance(value, int | float | np.number) or not 0 < float(value) < np.inf:
            raise ParameterError(
                f"{family}: {name} must be a positive finite number, got {value!r}; an improper "
                "prior has no predictive distribution and no evidence (take a small number instead)"
            )


def observations(data: Any, weights: Any) -> tuple[FloatArray, FloatArray]:
    """Data and weights as vectors of one length, checked; a single number is one observation."""
    x = _vector(data, "data")
    if weights is None:
        return x, np.ones(len(x))
    c = _vector(weights, "weights")
    if len(c) != len(x):
        raise DataError(f"there are {len(x)} observations, but {len(c)} weights")
    if (c < 0).any():
        index = int(np.argmax(c < 0))
        raise DataError(f"weights[{index}] = {c[index]:g} is negative")
    return x, c


def _vector(values: Any, name: str) -> FloatArray:
    try:
        array = np.atleast_1d(np.asarray(values, dtype=np.float64))
    except (TypeError, ValueError) as error:
        raise DataError(f"{name} must be numbers: {error}") from None
    if array.ndim != 1:
        raise DataError(f"{name} must be one-dimensional, got shape {array.shape}")
    if not np.isfinite(array).all():
        index = int(np.argmin(np.isfinite(array)))
        raise DataError(f"{name}[{index}] = {array[index]} is not finite; drop it first")
    return array


def total(name: str, value: Any) -> float:
    """A count or weight that is finite and not negative."""
    if not isinstance(value, int | float | np.number) or not 0 <= float(value) < np.inf:
        raise DataError(f"{name} must be a finite number that is not negative, got {value!r}")
    return float(value)
