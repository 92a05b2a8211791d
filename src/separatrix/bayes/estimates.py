"""Point estimates and credible sets of any posterior: family, scipy distribution, or draws.

Functions give a number (or a pair) for a posterior of one number, and arrays, marginal by marginal,
for one of a vector.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from separatrix.bayes import highest_density as search
from separatrix.bayes.posterior import (
    Continuous,
    Discrete,
    Draws,
    FloatArray,
    Joint,
    check_level,
    draw,
    view,
)
from separatrix.errors import ParameterError
from separatrix.validation import check_choice

__all__ = [
    "Kind",
    "credible_interval",
    "highest_density_set",
    "posterior_mean",
    "posterior_median",
    "posterior_mode",
    "posterior_quantile",
]

Kind = Literal["equal", "highest"]

#: Draws of a posterior that can be sampled only.
N_DRAWS = 100_000


def posterior_mean(posterior: Any) -> Any:
    """Posterior mean E[theta | D], the Bayes action under the squared loss.

    Parameters
    ----------
    posterior : object
        Value of `separatrix.bayes`, frozen distribution of `scipy.stats`, or array of draws with
        the draws along the first axis.

    Returns
    -------
    float or ndarray
        The mean; NaN or infinite where the distribution has none.

    Examples
    --------
    >>> from scipy.stats import beta
    >>> round(posterior_mean(beta(3, 1)), 4)
    0.75
    >>> posterior_mean([[1.0, 5.0], [3.0, 5.0]])
    array([2., 5.])
    """
    own = getattr(posterior, "mean", None)
    if own is not None and not callable(own):
        return _plain(own)
    seen = view(posterior)
    match seen:
        case Continuous() | Discrete():
            return _plain(seen.distribution.mean())
        case Draws():
            return _plain(seen.values.mean(axis=0))
        case Joint(marginals=None):
            return _plain(draw(seen.source, N_DRAWS, 0).mean(axis=0))
        case Joint():
            return _stack(seen, posterior_mean)


def posterior_quantile(posterior: Any, q: float) -> Any:
    """Posterior quantile, the smallest value with P(theta <= value | D) >= q.

    Parameters
    ----------
    posterior : object
        As for `posterior_mean`.
    q : float
        Probability, between 0 and 1.

    Returns
    -------
    float or ndarray
        The quantile; marginal by marginal for a vector.

    Examples
    --------
    >>> from scipy.stats import norm
    >>> round(posterior_quantile(norm(0, 1), 0.975), 2)
    1.96
    """
    if not 0 <= q <= 1:
        raise ParameterError(f"q must lie between 0 and 1, got {q!r}")
    seen = view(posterior)
    match seen:
        case Continuous() | Discrete():
            return _plain(seen.distribution.ppf(q))
        case Draws():
            if seen.discrete:
                return _plain(np.quantile(seen.values, q, axis=0, method="inverted_cdf"))
            return _plain(np.quantile(seen.values, q, axis=0))
        case Joint(marginals=None):
            return _plain(np.quantile(draw(seen.source, N_DRAWS, 0), q, axis=0))
        case Joint():
            return _stack(seen, lambda marginal: posterior_quantile(marginal, q))


def posterior_median(posterior: Any) -> Any:
    """Posterior median, the Bayes action under the absolute loss.

    Parameters
    ----------
    posterior : object
        As for `posterior_mean`.

    Returns
    -------
    float or ndarray
        The median; marginal by marginal for a vector.

    Examples
    --------
    >>> from scipy.stats import beta
    >>> round(posterior_median(beta(3, 1)), 4)
    0.7937
    """
    return posterior_quantile(posterior, 0.5)


def posterior_mode(posterior: Any, *, bounds: tuple[float, float] | None = None) -> Any:
    """Posterior mode (maximum a posteriori), the Bayes action under the 0-1 loss.

    The highest point of a density is searched from a grid of quantiles; of draws it is the most
    frequent value where they are whole numbers, else the highest point of a kernel estimate.

    Parameters
    ----------
    posterior : object
        As for `posterior_mean`. A posterior of a vector needs a `mode` of its own, since the joint
        mode does not follow from the marginals.
    bounds : tuple of two floats, optional
        Search between these values only; for one density.

    Returns
    -------
    float or ndarray
        The mode.

    Raises
    ------
    ParameterError
        Where there is no single mode: a flat density, or one that is unbounded at both ends.

    Examples
    --------
    >>> from scipy.stats import gamma
    >>> round(posterior_mode(gamma(3, scale=0.5)), 6)
    1.0
    """
    seen = view(posterior)
    if bounds is not None:
        if not isinstance(seen, Continuous) or seen.shape:
            raise ParameterError("bounds are for the mode of one density")
        return search.mode_of_density(seen.distribution, bounds)
    own = getattr(posterior, "mode", None)
    if own is not None and not callable(own):
        return _plain(own)
    match seen:
        case Continuous():
            return _each(seen, search.mode_of_density)
        case Discrete():
            return _each(seen, search.discrete_mode)
        case Draws():
            if seen.values.ndim > 1:
                raise ParameterError(
                    "draws of a vector do not tell its joint mode; hand in one coordinate at a time"
                )
            return search.draws_mode(seen.values, seen.discrete)
        case Joint():
            return _joint_mode(seen)


def _joint_mode(joint: Joint) -> Any:
    source = joint.source
    match type(source).__name__:
        case "multivariate_normal_frozen":
            return np.array(source.mean)
        case "multivariate_t_frozen":
            return np.array(source.loc)
        case "dirichlet_frozen":
            return dirichlet_mode(np.asarray(source.alpha, dtype=np.float64))
    raise ParameterError(f"{type(source).__name__} has no `mode`, and its joint mode is not known")


def dirichlet_mode(alpha: FloatArray) -> FloatArray:
    """Mode (alpha_k - 1) / sum(alpha - 1) of a Dirichlet distribution."""
    above = alpha - 1
    if (above < 0).any():
        index = int(np.argmax(above < 0))
        raise ParameterError(
            f"the density is unbounded where probability {index} is 0 (alpha[{index}] = "
            f"{alpha[index]:g} < 1): there is no mode to report"
        )
    if not above.any():
        raise ParameterError("the density is flat: every point is a mode, there is no single one")
    return np.asarray(above / above.sum(), dtype=np.float64)


def credible_interval(posterior: Any, level: float = 0.95, kind: Kind = "equal") -> Any:
    """Credible interval [a, b] with P(a <= theta <= b | D) = level.

    Parameters
    ----------
    posterior : object
        As for `posterior_mean`.
    level : float, default=0.95
        Mass inside the interval; at least it for discrete posteriors.
    kind : {"equal", "highest"}, default="equal"
        Equal tails on both sides, or the shortest interval, which is the highest-density set where
        the density has one mode; see `highest_density_set` for several.

    Returns
    -------
    tuple of two floats, or ndarray of shape (..., 2)
        Lower and upper end; marginal by marginal for a vector.

    Examples
    --------
    >>> from scipy.stats import gamma
    >>> [tuple(round(end, 3) for end in credible_interval(gamma(2), 0.9, kind))
    ...  for kind in ("equal", "highest")]
    [(0.355, 4.744), (0.084, 3.932)]
    """
    check_level(level)
    check_choice("kind", kind, ("equal", "highest"))
    seen = view(posterior)
    if isinstance(seen, Joint):
        if seen.marginals is None:
            return credible_interval(draw(seen.source, N_DRAWS, 0), level, kind)
        return np.array([credible_interval(one, level, kind) for one in seen.marginals])
    if kind == "equal":
        tail = (1 - level) / 2
        return _pair(
            np.stack(
                [posterior_quantile(posterior, tail), posterior_quantile(posterior, 1 - tail)],
                axis=-1,
            )
        )
    match seen:
        case Continuous():
            return _pair(search.shortest_interval(seen.distribution, level))
        case Discrete():
            return _pair(_each(seen, lambda one: search.shortest_discrete(one, level)))
        case Draws():
            return _pair(search.shortest_of_draws(seen.values, level))


def highest_density_set(posterior: Any, level: float = 0.95) -> FloatArray:
    """The smallest set with P(theta in set | D) = level, as intervals; several for several modes.

    The set is {theta : f(theta) >= t}. From a density the threshold is found by search. From draws
    the density is a kernel estimate and t the (1 - level) quantile of its values at the draws
    (Hyndman 1996): its bandwidth, n^(-1/5) small, blurs modes closer than that and lets the set
    reach a little over a hard end of the support.

    Parameters
    ----------
    posterior : object
        Distribution or draws of one number.
    level : float, default=0.95
        Mass inside the set; at least it for discrete posteriors.

    Returns
    -------
    ndarray of shape (m, 2)
        The intervals, rising.

    Examples
    --------
    >>> from scipy.stats import beta
    >>> highest_density_set(beta(0.5, 0.5), 0.5).round(4)
    array([[0.    , 0.1464],
           [0.8536, 1.    ]])
    """
    check_level(level)
    seen = view(posterior)
    match seen:
        case Continuous(shape=()):
            return search.highest_set(seen.distribution, level)
        case Discrete(shape=()):
            return search.discrete_set(seen.distribution, level)
        case Draws(values=values) if values.ndim == 1:
            return search.draws_set(values, level, seen.discrete)
    raise ParameterError(
        "highest_density_set is for a posterior of one number; hand in one marginal at a time"
    )


def _plain(value: Any) -> Any:
    return float(value) if np.ndim(value) == 0 else np.asarray(value, dtype=np.float64)


def _pair(ends: FloatArray) -> Any:
    return (float(ends[0]), float(ends[1])) if ends.ndim == 1 else ends


def _stack(joint: Joint, estimate: Callable[[Any], Any]) -> FloatArray:
    return np.array([estimate(marginal) for marginal in joint.marginals or ()])


def _each(seen: Continuous | Discrete, estimate: Callable[[Any], Any]) -> Any:
    """Apply `estimate` to every element of a distribution whose parameters are arrays."""
    if not seen.shape:
        return estimate(seen.distribution)
    frozen = seen.distribution
    arrays = np.broadcast_arrays(*frozen.args, *frozen.kwds.values())
    names = list(frozen.kwds)
    n_args = len(frozen.args)
    results = []
    for values in zip(*(array.ravel() for array in arrays), strict=True):
        keywords = dict(zip(names, values[n_args:], strict=True))
        results.append(estimate(frozen.dist(*values[:n_args], **keywords)))
    stacked = np.array(results)
    return stacked.reshape(seen.shape + stacked.shape[1:])
