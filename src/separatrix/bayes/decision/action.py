"""Posterior risk of an action, and the Bayes action that minimizes it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.bayes.decision.expectation import (
    Method,
    draws_of,
    expect,
)
from separatrix.bayes.decision.losses import (
    AbsoluteLoss,
    CostMatrix,
    QuantileLoss,
    SquaredLoss,
    ZeroOneLoss,
)
from separatrix.bayes.decision.search import search, search_vector
from separatrix.bayes.estimates import posterior_mode
from separatrix.bayes.posterior import Continuous, Discrete, Draws, FloatArray, Joint, View, view
from separatrix.errors import ParameterError

__all__ = ["BayesAction", "PosteriorRisk", "bayes_action", "posterior_risk"]

#: Draws where nothing better than sampling is known.
N_DRAWS = 20_000


@dataclass(frozen=True)
class PosteriorRisk:
    """The posterior risk of an action; `float` gives its value.

    Attributes
    ----------
    value : float, or ndarray of shape (n,)
        E[loss(action, theta) | D].
    error : float
        Estimate of the error of `value`: of the quadrature, or the standard error of the draws.
    method : {"closed form", "enumeration", "quadrature", "sampling"}
        How it was found.
    """

    value: Any
    error: float
    method: Method

    def __float__(self) -> float:
        return float(self.value)


@dataclass(frozen=True)
class BayesAction:
    """The action of least posterior risk.

    Attributes
    ----------
    action : object
        The action: a number, a vector, one of the given actions, or the number of an action of a
        cost matrix (an array of them for several rows of probabilities).
    risk : float, or ndarray of shape (n,)
        Its posterior risk.
    error : float
        Estimate of the error of `risk`.
    method : {"closed form", "enumeration", "quadrature", "sampling"}
        How the action was found.
    """

    action: Any
    risk: Any
    error: float
    method: Method


def posterior_risk(
    action: Any,
    posterior: Any,
    loss: Callable[..., Any],
    *,
    n_draws: int = N_DRAWS,
    random_state: Any = None,
) -> PosteriorRisk:
    r"""Posterior risk :math:`r(a) = E[\ell(a, \theta) \mid D]` of an action.

    Parameters
    ----------
    action : object
        The action; for a cost matrix its number or its name.
    posterior : object
        Value of `separatrix.bayes`, frozen distribution of `scipy.stats`, or array of draws. For a
        cost matrix: probabilities of the states of shape (K,) or (n, K), a discrete distribution
        over 0, ..., K - 1, or a value whose `predictive()` is one.
    loss : callable
        loss(action, theta), for an array of thetas along the first axis (or, slower, for one).
    n_draws : int, default=20000
        Draws from a posterior of a vector, where there is no closed form.
    random_state : None, int, Generator or RandomState
        Source of these draws.

    Returns
    -------
    PosteriorRisk
        Value, error and method.

    Examples
    --------
    >>> from scipy.stats import norm
    >>> posterior_risk(1.0, norm(0, 2), SquaredLoss())
    PosteriorRisk(value=5.0, error=0.0, method='closed form')
    >>> risk = posterior_risk(0.0, norm(0, 1), AbsoluteLoss())
    >>> round(risk.value, 6), risk.error < 1e-7, risk.method
    (0.797885, True, 'quadrature')
    """
    if isinstance(loss, CostMatrix):
        risks = loss.risks(_probabilities(posterior, loss.n_states))
        return PosteriorRisk(_plain(risks[..., _number(action, loss)]), 0.0, "closed form")
    return PosteriorRisk(*_risk(action, _one(posterior), loss, n_draws, random_state))


def _risk(
    action: Any, seen: View, loss: Callable[..., Any], n_draws: int, random_state: Any
) -> tuple[float, float, Method]:
    if isinstance(loss, SquaredLoss) and (moments := _moments(seen)) is not None:
        mean, variance = moments
        return float(np.sum(variance + (mean - np.asarray(action)) ** 2)), 0.0, "closed form"
    if isinstance(loss, AbsoluteLoss | QuantileLoss) and isinstance(seen, Joint) and seen.marginals:
        # These losses add up over the coordinates, so the marginals are enough.
        parts = [
            _risk(one, view(marginal), loss, n_draws, random_state)
            for one, marginal in zip(np.atleast_1d(action), seen.marginals, strict=True)
        ]
        return sum(p[0] for p in parts), sum(p[1] for p in parts), parts[0][2]
    if isinstance(loss, ZeroOneLoss) and _is_continuous(seen):
        return 1.0, 0.0, "closed form"
    return expect(loss, action, seen, n_draws, random_state)


def _moments(seen: View) -> tuple[FloatArray, FloatArray] | None:
    match seen:
        case Continuous() | Discrete():
            parts = [seen.distribution]
        case Joint(marginals=tuple(marginals)):
            parts = list(marginals)
        case _:
            return None
    return np.array([p.mean() for p in parts]), np.array([p.var() for p in parts])


def _is_continuous(seen: View) -> bool:
    if isinstance(seen, Joint):
        return bool(seen.marginals) and all(hasattr(one, "pdf") for one in seen.marginals or ())
    return isinstance(seen, Continuous) or (isinstance(seen, Draws) and not seen.discrete)


def bayes_action(
    posterior: Any,
    loss: Callable[..., Any],
    actions: Sequence[Any] | None = None,
    *,
    bounds: tuple[float, float] | None = None,
    n_draws: int = N_DRAWS,
    random_state: Any = None,
) -> BayesAction:
    r"""The action of least posterior risk, :math:`\arg\min_a E[\ell(a, \theta) \mid D]`.

    The mean, the median, a quantile, the mode and the cheapest action of a cost matrix are known in
    closed form. Any other loss is minimized numerically: over the given actions one by one, or over
    a continuous action by a scan and a search within the best cell.

    Parameters
    ----------
    posterior, loss, n_draws, random_state
        As for `posterior_risk`.
    actions : sequence, optional
        The possible actions; without it (and without `bounds`) they are the values theta can take.
        For a cost matrix the actions are its columns.
    bounds : tuple of two floats, optional
        A continuous action between these values.

    Returns
    -------
    BayesAction
        Action, its risk with error, and method.

    Examples
    --------
    >>> from separatrix.bayes import BetaBernoulli
    >>> posterior = BetaBernoulli(3, 2)
    >>> [round(bayes_action(posterior, loss).action, 4)
    ...  for loss in (SquaredLoss(), AbsoluteLoss(), ZeroOneLoss(), QuantileLoss(0.9))]
    [0.6, 0.6143, 0.6667, 0.8574]

    Too much costs twice as much as too little, but only up to a point:

    >>> import numpy as np
    >>> def loss(action, theta):
    ...     return np.minimum(np.where(action > theta, 2 * (action - theta), theta - action), 0.3)
    >>> best = bayes_action(posterior, loss)
    >>> round(best.action, 3), best.method, best.error < 1e-7
    (0.603, 'quadrature', True)
    >>> bayes_action(posterior, loss, actions=[0.25, 0.5, 0.75]).action
    0.5
    """
    if isinstance(loss, CostMatrix):
        if actions is not None or bounds is not None:
            raise ParameterError("the actions of a cost matrix are its columns; give no others")
        return _cheapest(posterior, loss)
    if actions is not None and bounds is not None:
        raise ParameterError("give either actions or bounds, not both")
    if bounds is not None and not (bounds[0] < bounds[1] and np.isfinite(bounds).all()):
        raise ParameterError(f"bounds must be two rising finite numbers, got {bounds!r}")
    seen = _one(posterior)
    if isinstance(seen, Joint) and _needs_draws(seen, loss):
        # One set of draws for every action, so that differences of risks are not noise.
        posterior = draws_of(seen, n_draws, random_state)
        seen = view(posterior)
    method: Method
    if actions is not None:
        return _best_of(actions, seen, loss, n_draws, random_state)
    if isinstance(loss, SquaredLoss | AbsoluteLoss | QuantileLoss | ZeroOneLoss):
        action, method = _known(posterior, seen, loss, bounds)
    elif _is_vector(seen):
        if bounds is not None:
            raise ParameterError("bounds are for one number; give a list of actions for a vector")
        action, method = search_vector(seen, loss)
    else:
        action, method = search(seen, loss, bounds, n_draws, random_state)
    risk, error, _ = _risk(action, seen, loss, n_draws, random_state)
    return BayesAction(action, risk, error, method)


def _cheapest(posterior: Any, cost: CostMatrix) -> BayesAction:
    risks = cost.risks(_probabilities(posterior, cost.n_states))
    best = risks.argmin(axis=-1)
    action = int(best) if best.ndim == 0 else best
    return BayesAction(action, _plain(risks.min(axis=-1)), 0.0, "closed form")


def _needs_draws(joint: Joint, loss: Callable[..., Any]) -> bool:
    if isinstance(loss, SquaredLoss | AbsoluteLoss | QuantileLoss):
        return joint.marginals is None
    return not isinstance(loss, ZeroOneLoss)


def _one(posterior: Any) -> View:
    seen = view(posterior)
    if isinstance(seen, Continuous | Discrete) and seen.shape:
        raise ParameterError(
            f"the posterior holds {seen.shape} distributions; decide for one at a time (the "
            "estimates, such as posterior_quantile, take them all at once)"
        )
    return seen


def _is_vector(seen: View) -> bool:
    return isinstance(seen, Joint) or (isinstance(seen, Draws) and seen.values.ndim > 1)


def _best_of(
    actions: Sequence[Any], seen: View, loss: Callable[..., Any], n_draws: int, random_state: Any
) -> BayesAction:
    if len(actions) == 0:
        raise ParameterError("actions is empty; there is nothing to choose from")
    if isinstance(loss, ZeroOneLoss) and isinstance(seen, Continuous):
        # All risks are 1; the limit of small tolerances prefers the highest density.
        heights = [float(seen.distribution.pdf(action)) for action in actions]
        return BayesAction(actions[int(np.argmax(heights))], 1.0, 0.0, "closed form")
    risks = [_risk(action, seen, loss, n_draws, random_state) for action in actions]
    best = int(np.argmin([risk[0] for risk in risks]))
    value, error, method = risks[best]
    return BayesAction(actions[best], value, error, method)


def _known(
    posterior: Any, seen: View, loss: Any, bounds: tuple[float, float] | None
) -> tuple[Any, Method]:
    method: Method = "sampling" if isinstance(seen, Draws) else "closed form"
    if bounds is None:
        return loss.best(posterior), method
    if _is_vector(seen):
        raise ParameterError("bounds are for one number; give a list of actions for a vector")
    if isinstance(loss, ZeroOneLoss):
        return posterior_mode(posterior, bounds=bounds), method
    # These risks are convex in the action: the nearest bound is best where the optimum is outside.
    return float(np.clip(loss.best(posterior), *bounds)), method


def _probabilities(posterior: Any, n_states: int) -> FloatArray:
    """Probabilities of the states of a cost matrix."""
    if hasattr(posterior, "predictive"):
        posterior = posterior.predictive()
    if hasattr(posterior, "pmf"):
        return np.asarray(posterior.pmf(np.arange(n_states)), dtype=np.float64)
    try:
        return np.asarray(posterior, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError(
            "with a cost matrix the posterior must be probabilities of the states, or a discrete "
            f"distribution over them; got {type(posterior).__name__}"
        ) from None


def _number(action: Any, cost: CostMatrix) -> int:
    if cost.actions is not None and action in cost.actions:
        return cost.actions.index(action)
    last = cost.table.shape[1] - 1
    if not isinstance(action, int | np.integer) or not 0 <= action <= last:
        names = "" if cost.actions is None else f" or one of {cost.actions}"
        raise ParameterError(f"action must be a number from 0 to {last}{names}, got {action!r}")
    return int(action)


def _plain(value: Any) -> Any:
    return float(value) if np.ndim(value) == 0 else value
