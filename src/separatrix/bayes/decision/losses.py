"""Losses loss(action, theta) of decisions, with their Bayes actions where these are known.

Any callable of an action and an array of thetas is a loss too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from separatrix.bayes.estimates import (
    posterior_mean,
    posterior_median,
    posterior_mode,
    posterior_quantile,
)
from separatrix.bayes.posterior import FloatArray
from separatrix.errors import DataError, ParameterError

__all__ = [
    "AbsoluteLoss",
    "CostMatrix",
    "QuantileLoss",
    "SquaredLoss",
    "ZeroOneLoss",
]


def _difference(action: Any, theta: Any) -> tuple[FloatArray, bool]:
    """theta - action, and whether the last axis runs over the coordinates of a vector."""
    vector = np.ndim(action) > 0
    return np.asarray(theta, dtype=np.float64) - np.asarray(action, dtype=np.float64), vector


@dataclass(frozen=True)
class SquaredLoss:
    """loss(a, theta) = |theta - a|^2; the Bayes action is the posterior mean.

    Examples
    --------
    >>> SquaredLoss()(1.0, [0.0, 3.0])
    array([1., 4.])
    """

    def __call__(self, action: Any, theta: Any) -> FloatArray:
        """Loss of one action for each theta."""
        difference, vector = _difference(action, theta)
        return (difference**2).sum(axis=-1) if vector else difference**2

    def best(self, posterior: Any) -> Any:
        """Return the posterior mean."""
        return posterior_mean(posterior)


@dataclass(frozen=True)
class AbsoluteLoss:
    """loss(a, theta) = |theta - a|, summed over coordinates; the Bayes action is the median.

    Examples
    --------
    >>> AbsoluteLoss()(1.0, [0.0, 3.0])
    array([1., 2.])
    """

    def __call__(self, action: Any, theta: Any) -> FloatArray:
        """Loss of one action for each theta."""
        difference, vector = _difference(action, theta)
        return np.abs(difference).sum(axis=-1) if vector else np.abs(difference)

    def best(self, posterior: Any) -> Any:
        """Return the posterior median."""
        return posterior_median(posterior)


@dataclass(frozen=True)
class QuantileLoss:
    """loss(a, theta) = q (theta - a) above a, (1 - q) (a - theta) below; the q-quantile is best.

    Parameters
    ----------
    q : float
        Strictly between 0 and 1. Too low an action costs q per unit, too high a one 1 - q.

    Examples
    --------
    >>> QuantileLoss(0.9)(1.0, [0.0, 3.0])
    array([0.1, 1.8])
    """

    q: float

    def __post_init__(self) -> None:
        if not isinstance(self.q, int | float | np.number) or not 0 < float(self.q) < 1:
            raise ParameterError(f"q must lie strictly between 0 and 1, got {self.q!r}")

    def __call__(self, action: Any, theta: Any) -> FloatArray:
        """Loss of one action for each theta."""
        difference, vector = _difference(action, theta)
        loss = np.where(difference > 0, self.q * difference, (self.q - 1) * difference)
        return loss.sum(axis=-1) if vector else loss

    def best(self, posterior: Any) -> Any:
        """Return the posterior quantile."""
        return posterior_quantile(posterior, self.q)


@dataclass(frozen=True)
class ZeroOneLoss:
    """loss(a, theta) = 1 where theta differs from a, else 0; the Bayes action is the mode.

    A continuous theta differs from any action with probability 1, so that all risks are 1. Its
    Bayes action is defined as the mode, the limit for ever smaller tolerances around the action.

    Examples
    --------
    >>> ZeroOneLoss()(1, [0, 1, 2])
    array([1., 0., 1.])
    """

    def __call__(self, action: Any, theta: Any) -> FloatArray:
        """Loss of one action for each theta."""
        difference, vector = _difference(action, theta)
        wrong = (difference != 0).any(axis=-1) if vector else difference != 0
        return np.asarray(wrong, dtype=np.float64)

    def best(self, posterior: Any) -> Any:
        """Return the posterior mode."""
        return posterior_mode(posterior)


@dataclass(frozen=True, eq=False, init=False)
class CostMatrix:
    """Cost of each action in each of K states (classes), with rejection as a further action.

    Parameters
    ----------
    cost : array-like of shape (K, A)
        cost[i, j] is paid when action j is taken and the state is i. With A = K and no names,
        action j says "it is class j".
    reject : float or array-like of shape (K,), optional
        Cost of refusing to decide, the same in every state or one for each. Rejection is the
        last action; at a tie it is not chosen.
    actions : sequence of A names, optional
        What the actions are called; 0, ..., A - 1 by default.

    Attributes
    ----------
    cost : ndarray of shape (K, A)
        As given.
    reject : ndarray of shape (K,) or None
        Cost of rejection in each state.
    actions : tuple or None
        As given.

    Examples
    --------
    A miss costs five false alarms; whoever refuses pays 0.5:

    >>> cost = CostMatrix([[0, 1], [5, 0]], reject=0.5)
    >>> cost.risks([[0.95, 0.05], [0.8, 0.2], [0.2, 0.8]]).round(2)
    array([[0.25, 0.95, 0.5 ],
           [1.  , 0.8 , 0.5 ],
           [4.  , 0.2 , 0.5 ]])
    """

    cost: FloatArray
    reject: FloatArray | None
    actions: tuple[Any, ...] | None

    def __init__(
        self,
        cost: npt.ArrayLike,
        reject: float | npt.ArrayLike | None = None,
        actions: Sequence[Any] | None = None,
    ) -> None:
        table = np.array(cost, dtype=np.float64)
        if table.ndim != 2 or 0 in table.shape:
            raise ParameterError(
                "cost must be a matrix with a row per state and a column per action, "
                f"got shape {table.shape}"
            )
        _check_finite(table, "cost")
        refusal = None
        if reject is not None:
            refusal = np.array(reject, dtype=np.float64)
            if refusal.shape not in ((), (len(table),)):
                raise ParameterError(
                    f"reject must be a number or one for each of the {len(table)} states, "
                    f"got shape {refusal.shape}"
                )
            refusal = np.broadcast_to(refusal, (len(table),)).copy()
            _check_finite(refusal, "reject")
            refusal.flags.writeable = False
        if actions is not None and len(actions) != table.shape[1]:
            raise ParameterError(f"there are {table.shape[1]} actions, but {len(actions)} names")
        table.flags.writeable = False
        object.__setattr__(self, "cost", table)
        object.__setattr__(self, "reject", refusal)
        object.__setattr__(self, "actions", None if actions is None else tuple(actions))

    @property
    def n_states(self) -> int:
        """Number of states K."""
        return int(self.cost.shape[0])

    @property
    def n_actions(self) -> int:
        """Number of actions, without rejection."""
        return int(self.cost.shape[1])

    @property
    def table(self) -> FloatArray:
        """Costs of shape (K, A), or (K, A + 1) with the cost of rejection as last column."""
        if self.reject is None:
            return self.cost
        return np.column_stack([self.cost, self.reject])

    def __call__(self, action: Any, state: Any) -> FloatArray:
        """Cost of one action (by number) for each state (by number)."""
        return np.asarray(self.table[np.asarray(state, dtype=np.intp), action])

    def risks(self, probabilities: npt.ArrayLike) -> FloatArray:
        """Expected cost of every action.

        Parameters
        ----------
        probabilities : array-like of shape (K,) or (n, K)
            Posterior probabilities of the states.

        Returns
        -------
        ndarray of shape (A,) or (n, A), with rejection (A + 1,) or (n, A + 1)
            sum_i P(i) cost[i, j]; rejection comes last.
        """
        p = np.asarray(probabilities, dtype=np.float64)
        if p.ndim not in (1, 2) or p.shape[-1] != self.n_states:
            raise DataError(
                f"probabilities must have {self.n_states} columns, one per state, "
                f"got shape {p.shape}"
            )
        if not np.isfinite(p).all() or (p < 0).any() or (np.abs(p.sum(axis=-1) - 1) > 1e-6).any():
            raise DataError("probabilities must be finite, not negative, and sum to 1")
        return np.asarray(p @ self.table)

    def best(self, probabilities: npt.ArrayLike) -> npt.NDArray[np.intp]:
        """The cheapest action (by number) for each row of probabilities; A stands for rejection.

        Parameters
        ----------
        probabilities : array-like of shape (K,) or (n, K)
            Posterior probabilities of the states.

        Returns
        -------
        ndarray of shape () or (n,)
            Numbers of the actions; the first one at a tie.
        """
        return np.asarray(self.risks(probabilities).argmin(axis=-1))


def _check_finite(values: FloatArray, name: str) -> None:
    if not np.isfinite(values).all():
        place = ", ".join(str(int(i)) for i in np.argwhere(~np.isfinite(values))[0])
        raise ParameterError(f"{name}[{place}] is not finite")
