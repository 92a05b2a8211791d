"""The whole experiment with further seeds: what the test score owes to the split."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import stdtrit

from separatrix.errors import ParameterError
from separatrix.experiment.split import Stratified

__all__ = ["LEVEL", "Repeats", "check_repeats", "summed_up"]

LEVEL = 0.95


@dataclass(frozen=True)
class Repeats:
    """Test scores of the same experiment with several seeds, each split and tuned anew.

    Attributes
    ----------
    seeds : tuple of int
        The first is that of the result.
    champions : tuple of str
        Who won with each.
    scores : tuple of float
        Their test scores.
    mean, low, high : float
        Mean of the scores, and the ends of an interval for it.
    level : float
        Of the interval.
    """

    seeds: tuple[int, ...]
    champions: tuple[str, ...]
    scores: tuple[float, ...]
    mean: float
    low: float
    high: float
    level: float = LEVEL

    def words(self, title: str) -> str:
        """What the seeds tell, in a sentence."""
        won = ", ".join(f"{name} {n} times" for name, n in Counter(self.champions).most_common())
        ends = f"{self.low:.4f} to {self.high:.4f}: {100 * self.level:g} % interval"
        return (
            f"Over {len(self.seeds)} seeds: {title} {self.mean:.4f} on average ({ends}, corrected "
            f"for rows that splits share); champions: {won}."
        )


def check_repeats(repeats: Any, split: Any, budget: float | None) -> int:
    """How often the experiment is run."""
    whole = isinstance(repeats, int | np.integer) and not isinstance(repeats, bool)
    if not whole or repeats < 1:
        raise ParameterError(f"repeats must be a number of 1 or more, got {repeats!r}")
    if repeats > 1 and not isinstance(split, Stratified):
        raise ParameterError("repeats draw other test rows, and the split is not at random")
    if repeats > 1 and budget is not None:
        raise ParameterError("repeats and a budget exclude each other: every seed takes its time")
    return int(repeats)


def summed_up(
    seeds: tuple[int, ...],
    champions: tuple[str, ...],
    scores: tuple[float, ...],
    sizes: dict[str, int],
) -> Repeats:
    """Mean and interval of the scores.

    Splits share rows, so that the scores vary less than those of new data would: the variance of
    their mean is s^2 (1/k + n_test / n_learned) rather than s^2 / k (Nadeau and Bengio 2003), with
    Student's t of k - 1 degrees.

    Examples
    --------
    >>> sizes = {"train": 60, "held-out": 20, "test": 20}
    >>> found = summed_up((0, 1), ("a", "a"), (0.9, 0.8), sizes)
    >>> round(found.mean, 3), round(found.low, 3), round(found.high, 3)
    (0.85, 0.072, 1.628)
    """
    k = len(scores)
    mean, deviation = float(np.mean(scores)), float(np.std(scores, ddof=1))
    share = sizes["test"] / (sizes["train"] + sizes["held-out"])
    reach = float(stdtrit(k - 1, (1 + LEVEL) / 2)) * deviation * math.sqrt(1 / k + share)
    return Repeats(seeds, champions, scores, mean, mean - reach, mean + reach)
