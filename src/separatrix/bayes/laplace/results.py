"""What the Laplace posterior returns: odds ratios with intervals, evidence along C."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = ["EvidencePath", "OddsRatios"]

FloatArray = npt.NDArray[np.float64]


class EvidencePath(NamedTuple):
    """Evidence at every C that was tried, in rising order of C.

    Attributes
    ----------
    Cs : ndarray of shape (m,)
        Prior variances; gamma = 1 / C.
    log_evidences : ndarray of shape (m,)
        Laplace approximation of log p(y | X, C); under flat intercepts up to a constant.
    """

    Cs: FloatArray
    log_evidences: FloatArray


@dataclass(frozen=True)
class OddsRatios:
    """Odds ratios exp(w_j) with credible intervals; printing it gives a table.

    Attributes
    ----------
    features : tuple of str
        Names of the features, or x0, x1 and so on.
    classes : tuple of str
        What the odds are for, one per row of the arrays.
    ratios, lower, upper : ndarray of shape (1, d) or (K, d)
        Posterior median of the ratio and the ends of its interval.
    level : float
        Posterior probability of the intervals.
    top : int or None
        Rows to print for every class, those whose logarithm is farthest from zero in standard
        deviations; None prints all.
    """

    features: tuple[str, ...]
    classes: tuple[str, ...]
    ratios: FloatArray
    lower: FloatArray
    upper: FloatArray
    level: float
    top: int | None = None

    def order(self, row: int) -> npt.NDArray[np.intp]:
        """Numbers of the features to print for a class, the clearest first."""
        width = np.log(self.upper[row]) - np.log(self.lower[row])
        clear = np.abs(np.log(self.ratios[row])) / np.where(width > 0, width, 1.0)
        return np.argsort(-clear, kind="stable")[: self.top]

    def table(self) -> list[dict[str, Any]]:
        """The rows as dictionaries, ready for a DataFrame."""
        return [
            {
                "class": name,
                "feature": self.features[j],
                "ratio": float(self.ratios[row, j]),
                "lower": float(self.lower[row, j]),
                "upper": float(self.upper[row, j]),
            }
            for row, name in enumerate(self.classes)
            for j in self.order(row)
        ]

    def __str__(self) -> str:
        width = max([len("feature"), *(len(name) for name in self.features)])
        percent = f"{100 * self.level:g} %"
        lines = []
        for row, name in enumerate(self.classes):
            lines.append(f"odds of {name}")
            lines.append(f"{'feature':<{width}}  {'ratio':>9}  {percent + ' interval':>21}")
            for j in self.order(row):
                values = (self.ratios[row, j], self.lower[row, j], self.upper[row, j])
                ratio, low, high = (f"{value:.3g}" for value in values)
                lines.append(f"{self.features[j]:<{width}}  {ratio:>9}  {low:>9} … {high:>9}")
        return "\n".join(lines)
