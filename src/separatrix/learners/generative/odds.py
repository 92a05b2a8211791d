"""Odds ratios of features, ready to print."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["OddsRatios"]

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class OddsRatios:
    """Features that tell a class from the rest, P(x | label) / P(x | rest); `print` shows a table.

    Attributes
    ----------
    label : object
        The class.
    rest : str
        What it is compared with, in words.
    names : tuple of str
        The features, from the highest ratio to the lowest.
    ratios : ndarray of shape (m,)
        Their ratios, falling; infinite where the rest was never seen with the feature.
    """

    label: Any
    rest: str
    names: tuple[str, ...]
    ratios: FloatArray

    def __str__(self) -> str:
        above = [(n, r) for n, r in zip(self.names, self.ratios, strict=True) if r > 1]
        with np.errstate(divide="ignore"):
            below = [(n, 1 / r) for n, r in zip(self.names, self.ratios, strict=True) if r < 1]
        below.reverse()
        width = max([len(name) for name in self.names] + [1])
        blocks = []
        for head, block in (
            (f"P(x | {self.label}) / P(x | {self.rest})", above),
            (f"P(x | {self.rest}) / P(x | {self.label})", below),
        ):
            lines = [f"  {name:<{width}}  {ratio:8.1f}" for name, ratio in block]
            blocks.append("\n".join([head, *(lines or ["  (none)"])]))
        return "\n".join(blocks)
