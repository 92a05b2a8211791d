"""The result of a comparison: who wins, and how sure that is."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from separatrix.errors import ParameterError

__all__ = ["ModelComparison", "check_rope"]


@dataclass(frozen=True)
class ModelComparison:
    """Who wins, and how sure that is; prints itself.

    Attributes
    ----------
    method : str
        What was computed.
    p_a, p_equivalent, p_b : float
        Probabilities that A is better, that both are practically equivalent, and that B is better;
        their sum is 1.
    rope : float
        Largest difference that counts as equivalent.
    difference : float
        Estimate of the score of A minus that of B.
    interval : tuple of two floats or None
        Credible interval of the difference; None where the method gives none.
    level : float
        Its mass.
    p_value : float or None
        Of the corresponding two-sided test of no difference, where there is one.
    """

    method: str
    p_a: float
    p_equivalent: float
    p_b: float
    rope: float
    difference: float
    interval: tuple[float, float] | None = None
    level: float = 0.95
    p_value: float | None = None

    def __str__(self) -> str:
        head = f"{self.method}: A - B = {self.difference:+.4f}"
        if self.interval is not None:
            low, high = self.interval
            head += f" ({100 * self.level:g} % credible interval {low:+.4f} to {high:+.4f})"
        parts = [f"P(A better) = {self.p_a:.3f}"]
        if self.rope > 0 or self.p_equivalent > 0:
            parts.append(f"P(equivalent within {self.rope:g}) = {self.p_equivalent:.3f}")
        parts.append(f"P(B better) = {self.p_b:.3f}")
        return f"{head}\n{', '.join(parts)}"


def check_rope(rope: float) -> None:
    """Raise ParameterError unless `rope` is finite and not negative."""
    if not isinstance(rope, int | float | np.number) or not 0 <= float(rope) < math.inf:
        raise ParameterError(f"rope must be a finite number that is not negative, got {rope!r}")
