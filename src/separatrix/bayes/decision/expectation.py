"""Expected losses: by quadrature, by enumeration, or from draws, each with its error."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from scipy import integrate

from separatrix.bayes.posterior import (
    Continuous,
    Discrete,
    Draws,
    FloatArray,
    Joint,
    View,
    atoms,
    draw,
)
from separatrix.bayes.quadrature import LEVELS
from separatrix.errors import DataError, ParameterError

__all__ = ["Expectation", "Method", "draws_of", "evaluate", "expect", "weighted_points"]

Method = Literal["closed form", "enumeration", "quadrature", "sampling"]

#: Value, estimate of its error, and how it was found.
Expectation = tuple[float, float, Method]


def evaluate(loss: Callable[..., Any], action: Any, theta: FloatArray) -> FloatArray:
    """Losses of one action for thetas along the first axis; loops where `loss` takes one theta."""
    try:
        values = np.asarray(loss(action, theta), dtype=np.float64)
    except (TypeError, ValueError):
        values = np.empty(0)  # a loss for one theta at a time; a real fault shows up below
    if values.shape != theta.shape[:1]:
        values = np.array([loss(action, one) for one in theta], dtype=np.float64)
    if values.shape != theta.shape[:1]:
        raise ParameterError(
            f"the loss must give one number per theta, got shape {values.shape} for "
            f"{len(theta)} thetas"
        )
    if np.isnan(values).any():
        index = int(np.argmax(np.isnan(values)))
        raise DataError(f"the loss of action {action!r} at theta = {theta[index]} is NaN")
    return values


def expect(
    loss: Callable[..., Any], action: Any, seen: View, n_draws: int, random_state: Any
) -> Expectation:
    """E[loss(action, theta)], with an estimate of its error.

    The error is that of the quadrature (QUADPACK), the mass left out of an enumeration times the
    largest loss, or the standard error of the draws.
    """
    match seen:
        case Continuous():
            value, error = _integrate(loss, action, seen.distribution)
            return value, error, "quadrature"
        case Discrete():
            values, mass = atoms(seen.distribution)
            losses = evaluate(loss, action, values)
            used = mass > 0  # a loss may be infinite where nothing happens
            left_out = max(0.0, 1.0 - float(mass.sum()))
            worst = float(np.abs(losses[used]).max())
            return float(mass[used] @ losses[used]), left_out * worst, "enumeration"
        case Draws() | Joint():
            theta = draws_of(seen, n_draws, random_state)
            losses = evaluate(loss, action, theta)
            spread = float(losses.std(ddof=1)) if len(losses) > 1 else float("inf")
            return float(losses.mean()), spread / len(losses) ** 0.5, "sampling"


def draws_of(seen: Draws | Joint, n_draws: int, random_state: Any) -> FloatArray:
    """The draws at hand, or `n_draws` new ones."""
    if isinstance(seen, Draws):
        return seen.values
    return draw(seen.source, n_draws, random_state)


def _integrate(loss: Callable[..., Any], action: Any, distribution: Any) -> tuple[float, float]:
    """Integral of loss times density, cut at quantiles and at the action, where losses bend."""
    start, stop = (float(end) for end in distribution.support())
    cuts = [float(cut) for cut in distribution.ppf(LEVELS)]
    if isinstance(action, int | float | np.number):
        cuts.append(float(action))
    cuts = sorted({cut for cut in cuts if start < cut < stop})
    edges = [start, *cuts, stop]

    def integrand(theta: float) -> float:
        height = float(distribution.pdf(theta))
        return height * float(evaluate(loss, action, np.array([theta]))[0]) if height else 0.0

    value = error = 0.0
    for low, high in pairwise(edges):
        part, doubt = integrate.quad(integrand, low, high, limit=100)[:2]
        value, error = value + part, error + doubt
    return value, error


def weighted_points(
    seen: Discrete | Draws | Joint, n_draws: int, random_state: Any
) -> tuple[FloatArray, FloatArray, Method]:
    """All atoms with their masses, or draws of equal weight."""
    if isinstance(seen, Discrete):
        values, mass = atoms(seen.distribution)
        return values[mass > 0], mass[mass > 0], "enumeration"
    theta = draws_of(seen, n_draws, random_state)
    return theta, np.full(len(theta), 1.0 / len(theta)), "sampling"
