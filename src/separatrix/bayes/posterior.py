"""What counts as a posterior: a family of this package, a scipy distribution, or draws.

`view` turns any of them into one of four small shapes, on which estimates and decisions work.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import stats

from separatrix.errors import DataError, ParameterError

__all__ = [
    "Continuous",
    "Discrete",
    "Draws",
    "FloatArray",
    "Joint",
    "View",
    "atoms",
    "check_level",
    "draw",
    "generator_from",
    "view",
]

FloatArray = npt.NDArray[np.float64]
Generator = np.random.Generator | np.random.RandomState

#: Mass that may be left out where a discrete distribution is enumerated.
TAIL = 1e-13

#: Atoms that are enumerated at most; a spread beyond it is a misuse of exact sums.
MAX_ATOMS = 10_000_000


@dataclass(frozen=True)
class Continuous:
    """A scipy distribution with a density; its parameters may be arrays."""

    distribution: Any

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the parameter arrays, () for a single number."""
        return np.shape(self.distribution.ppf(0.5))


@dataclass(frozen=True)
class Discrete:
    """A scipy distribution with a probability mass function; its parameters may be arrays."""

    distribution: Any

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the parameter arrays, () for a single number."""
        return np.shape(self.distribution.ppf(0.5))


@dataclass(frozen=True)
class Draws:
    """Draws along the first axis; whole numbers and booleans count as discrete."""

    values: FloatArray
    discrete: bool


@dataclass(frozen=True)
class Joint:
    """A distribution of a vector: where they are known its marginals, and a way to sample it."""

    source: Any
    marginals: tuple[Any, ...] | None


View = Continuous | Discrete | Draws | Joint


def view(posterior: Any) -> View:
    """See `posterior` as a density, a mass function, draws, or a distribution of a vector.

    Parameters
    ----------
    posterior : object
        A value with `marginals` (the conjugate families), a frozen distribution of
        `scipy.stats` (univariate, normal, t or Dirichlet), an array of draws with the draws along
        the first axis, or anything with `sample(size, random_state)` or `rvs`.

    Returns
    -------
    Continuous, Discrete, Draws or Joint
        The same posterior, ready for estimates and decisions.

    Examples
    --------
    >>> from scipy.stats import norm
    >>> type(view(norm(0, 1))).__name__, type(view([0.1, 0.7])).__name__
    ('Continuous', 'Draws')
    """
    marginals = getattr(posterior, "marginals", None)
    if isinstance(marginals, tuple):
        return view(marginals[0]) if len(marginals) == 1 else Joint(posterior, marginals)
    if hasattr(posterior, "ppf"):
        if hasattr(posterior, "pdf"):
            return Continuous(posterior)
        if hasattr(posterior, "pmf"):
            return Discrete(posterior)
    known = _multivariate_marginals(posterior)
    if known is not None:
        return Joint(posterior, known)
    if hasattr(posterior, "sample") or hasattr(posterior, "rvs"):
        return Joint(posterior, None)
    return _draws(posterior)


def _multivariate_marginals(posterior: Any) -> tuple[Any, ...] | None:
    name = type(posterior).__name__
    if name == "multivariate_normal_frozen":
        scale = np.sqrt(np.diagonal(posterior.cov))
        return tuple(stats.norm(m, s) for m, s in zip(np.ravel(posterior.mean), scale, strict=True))
    if name == "multivariate_t_frozen":
        scale = np.sqrt(np.diagonal(posterior.shape))
        return tuple(
            stats.t(posterior.df, m, s) for m, s in zip(np.ravel(posterior.loc), scale, strict=True)
        )
    if name == "dirichlet_frozen":
        alpha = np.asarray(posterior.alpha, dtype=np.float64)
        return tuple(stats.beta(a, alpha.sum() - a) for a in alpha)
    return None


def _draws(values: Any) -> Draws:
    try:
        array = np.asarray(values)
        numbers = array.astype(np.float64)
    except (TypeError, ValueError):
        raise ParameterError(
            f"a posterior must be a scipy.stats distribution, a value of separatrix.bayes, or an "
            f"array of draws; got {type(values).__name__}"
        ) from None
    if numbers.ndim == 0 or len(numbers) == 0:
        raise DataError("draws must be an array with at least one draw along its first axis")
    if not np.isfinite(numbers).all():
        place = tuple(int(i) for i in np.argwhere(~np.isfinite(numbers))[0])
        raise DataError(f"draws[{', '.join(map(str, place))}] is not finite; drop such draws first")
    return Draws(numbers, array.dtype.kind in "biu")


def draw(source: Any, size: int, random_state: Any = None) -> FloatArray:
    """Draw `size` values from `source`, along the first axis, by its `sample` or `rvs`."""
    generator = generator_from(random_state)
    if hasattr(source, "sample"):
        values = source.sample(size, generator)
    else:
        values = source.rvs(size=size, random_state=generator)
    return np.asarray(values, dtype=np.float64)


def generator_from(random_state: Any) -> Generator:
    """A random generator from None, a seed, a Generator or a RandomState (both kept as they are).

    Examples
    --------
    >>> bool(generator_from(0).normal() == generator_from(0).normal())
    True
    """
    if isinstance(random_state, np.random.Generator | np.random.RandomState):
        return random_state
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError):
        raise ParameterError(
            "random_state must be None, a seed, a numpy Generator or a RandomState, "
            f"got {random_state!r}"
        ) from None


def check_level(level: float) -> float:
    """Raise ParameterError unless `level` is a probability strictly between 0 and 1."""
    if not isinstance(level, int | float | np.number) or not 0 < float(level) < 1:
        raise ParameterError(f"level must lie strictly between 0 and 1, got {level!r}")
    return float(level)


def atoms(distribution: Any) -> tuple[FloatArray, FloatArray]:
    """The values of a discrete distribution, rising, and their probabilities.

    An infinite support is cut where less than 1e-13 of the mass is left on each side.
    """
    values = getattr(getattr(distribution, "dist", distribution), "xk", None)
    if values is None:
        low, high = distribution.support()
        low = low if np.isfinite(low) else distribution.ppf(TAIL)
        high = high if high - low < 1000 else distribution.isf(TAIL)
        if high - low > MAX_ATOMS:
            raise ParameterError(
                f"the distribution spreads over {high - low:.3g} values, too many to enumerate; "
                "hand in draws of it instead"
            )
        values = np.arange(low, high + 1)
    values = np.sort(np.asarray(values, dtype=np.float64))
    return values, np.asarray(distribution.pmf(values), dtype=np.float64)
