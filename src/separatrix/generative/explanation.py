"""Why a naive Bayes model says what it says: running totals and odds ratios, ready to print."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Explanation", "OddsRatios"]

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Explanation:
    """The sum log P(y) + sum_j log P(x_j | y) of one row, term by term; `print` shows a table.

    Attributes
    ----------
    labels : ndarray of shape (K,)
        The classes, in the order of the columns.
    names : tuple of str
        What was added: the prior, then one name per term.
    probabilities : ndarray of shape (m, K)
        P(y), then P(x_j | y) of every term; a density for Gaussian columns, NaN for a row that
        sums up several terms.
    totals : ndarray of shape (m, K)
        Running totals of the logarithms.
    posterior : ndarray of shape (K,)
        P(y | x).
    unknown : tuple of str
        Words that the model does not know; they are left out.
    """

    labels: npt.NDArray[Any]
    names: tuple[str, ...]
    probabilities: FloatArray
    totals: FloatArray
    posterior: FloatArray
    unknown: tuple[str, ...] = ()

    def __str__(self) -> str:
        labels = [str(label) for label in self.labels]
        heads = ["", *(f"P(x|{name})" for name in labels), *(f"total {name}" for name in labels)]
        rows = [heads]
        for name, shares, sums in zip(self.names, self.probabilities, self.totals, strict=True):
            cells = ["" if np.isnan(p) else f"{p:.5f}" for p in shares]
            rows.append([name, *cells, *(f"{total:.1f}" for total in sums)])
        widths = [max(len(row[c]) for row in rows) for c in range(len(heads))]
        lines = [
            "  ".join(
                cell.ljust(width) if c == 0 else cell.rjust(width)
                for c, (cell, width) in enumerate(zip(row, widths, strict=True))
            ).rstrip()
            for row in rows
        ]
        best = int(self.posterior.argmax())
        lines.append(f"P({labels[best]} | x) = {100 * self.posterior[best]:.1f} %")
        if self.unknown:
            lines.append(f"unknown, left out: {', '.join(self.unknown)}")
        return "\n".join(lines)


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
