"""A sum of terms with its running totals, ready to print."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt

__all__ = ["Explanation"]

FloatArray = npt.NDArray[np.float64]
#: More unknown words than this are counted, but not listed.
_LISTED = 10


@dataclass(frozen=True, eq=False)
class Explanation:
    """The score of one row as a sum of terms; `print` shows the table of running totals.

    Of naive Bayes, log P(y) + sum_j log P(x_j | y) for each class; of a linear model,
    b_y + sum_j w_yj x_j for each class, or the difference of this sum between two classes.

    Attributes
    ----------
    labels : ndarray of shape (K,)
        The classes, in the order of the columns; empty for a regression.
    names : tuple of str
        What was added: the prior or the intercept, then one name per term.
    addends : ndarray of shape (m, K) or (m, 1)
        What each adds. With one column and two classes: to the score of the first against the
        second.
    posterior : ndarray of shape (K,) or None
        P(y | x), where the model has probabilities.
    probabilities : ndarray of shape (m, K) or None
        Of naive Bayes P(y), then P(x_j | y) of every term; a density for Gaussian columns, NaN for
        a row that sums up several terms.
    values : ndarray of shape (m,) or None
        Of a linear model the x_j, after all steps before it; NaN where a row has none.
    weights : ndarray of shape (m, 1) or None
        The w_j, where there is one column.
    columns : ndarray of shape (m,) or None
        Column of each term; -1 for the prior, the intercept and sums of several terms.
    unknown : tuple of str
        Words that the model does not know; they are left out.
    prediction : object or None
        What the whole model predicts, costs included.
    calibrated : bool
        Whether the probabilities are those of a calibration of the totals.
    """

    labels: npt.NDArray[Any]
    names: tuple[str, ...]
    addends: FloatArray
    posterior: FloatArray | None = None
    probabilities: FloatArray | None = None
    values: FloatArray | None = None
    weights: FloatArray | None = None
    columns: npt.NDArray[np.int64] | None = None
    unknown: tuple[str, ...] = ()
    prediction: Any = None
    calibrated: bool = False

    @property
    def totals(self) -> FloatArray:
        """Running totals of the addends, of their shape."""
        return np.cumsum(self.addends, axis=0)

    def in_order(self, order: Sequence[int] | npt.NDArray[np.intp]) -> Self:
        """The same terms in another order; the prior or intercept stays first.

        Parameters
        ----------
        order : sequence of int
            Rows from 1 on, each once.
        """
        rows = np.concatenate([[0], np.asarray(order, dtype=np.intp)])
        return self._take(rows)

    def top(self, n: int) -> Self:
        """The `n` terms that tell the first two columns apart most, the others summed in one row.

        Parameters
        ----------
        n : int
            Terms to keep, from the most telling on; where there are no more, nothing changes.
        """
        m = len(self.names) - 1
        if n >= m:
            return self
        terms = self.addends[1:]
        with np.errstate(invalid="ignore"):
            apart = terms[:, 0] if terms.shape[1] == 1 else terms[:, 0] - terms[:, 1]
        order = 1 + np.argsort(-np.nan_to_num(np.abs(apart), nan=0.0), kind="stable")
        kept, others = self._take(np.concatenate([[0], order[:n]])), order[n:]

        def more(part: Any, value: Any) -> Any:
            return None if part is None else np.concatenate([part, np.full_like(part[:1], value)])

        return replace(
            kept,
            names=(*kept.names, f"({m - n} others)"),
            addends=np.vstack([kept.addends, self.addends[others].sum(axis=0)]),
            probabilities=more(kept.probabilities, np.nan),
            values=more(kept.values, np.nan),
            weights=more(kept.weights, np.nan),
            columns=more(kept.columns, -1),
        )

    def _take(self, rows: npt.NDArray[np.intp]) -> Self:
        def pick(part: Any) -> Any:
            return None if part is None else part[rows]

        return replace(
            self,
            names=tuple(self.names[row] for row in rows),
            addends=self.addends[rows],
            probabilities=pick(self.probabilities),
            values=pick(self.values),
            weights=pick(self.weights),
            columns=pick(self.columns),
        )

    @property
    def headings(self) -> tuple[str, ...]:
        """Headings of `rows`."""
        labels = [str(label) for label in self.labels]
        if self.probabilities is not None:
            shares = (f"P(x|{label})" for label in labels)
            return ("term", *shares, *(f"total {label}" for label in labels))
        if self.addends.shape[1] == 1:
            return ("term", "value", "weight", "weight x value", "total")
        products = (f"adds {label}" for label in labels)
        return ("term", "value", *products, *(f"total {label}" for label in labels))

    @property
    def rows(self) -> list[tuple[Any, ...]]:
        """The table: a name and numbers in each row, NaN where there is none."""
        parts = [self.totals]
        if self.probabilities is not None:
            parts.insert(0, self.probabilities)
        else:
            parts.insert(0, self.addends)
            if self.weights is not None:
                parts.insert(0, self.weights)
            if self.values is not None:
                parts.insert(0, self.values[:, None])
        numbers = np.hstack(parts).tolist()
        return [(name, *row) for name, row in zip(self.names, numbers, strict=True)]

    def verdict(self) -> list[str]:
        """What follows from the totals, in a line or two."""
        labels = [str(label) for label in self.labels]
        lines = []
        if not labels:
            lines.append(f"prediction: {float(self.totals[-1, 0]):.6g}")
        elif self.probabilities is None and self.addends.shape[1] == 1:
            first, second = labels[:2]
            lines.append(f"positive speaks for {first}, negative for {second}")
        if self.posterior is not None:
            best = int(self.posterior.argmax())
            after = " after calibration" if self.calibrated else ""
            lines.append(f"P({labels[best]} | x) = {100 * self.posterior[best]:.1f} %{after}")
        told = self.posterior is not None and str(self.prediction) == labels[best]
        if labels and self.prediction is not None and not told:
            lines.append(f"prediction: {self.prediction}")
        if self.unknown:
            more = len(self.unknown) - _LISTED
            listed = ", ".join(self.unknown[:_LISTED]) + (f" and {more} more" if more > 0 else "")
            lines.append(f"unknown, left out: {listed}")
        return lines

    def __str__(self) -> str:
        n_numbers = len(self.headings) - 1
        n_totals = self.addends.shape[1]
        bayes = self.probabilities is not None
        styles = ["{:.5f}" if bayes else "{:.4g}"] * (n_numbers - n_totals)
        styles += ["{:.1f}" if bayes else "{:.3f}"] * n_totals
        if not bayes:
            styles[-2 * n_totals : -n_totals] = ["{:.3f}"] * n_totals
        cells = [["", *self.headings[1:]]]
        for name, *numbers in self.rows:
            shown = zip(styles, numbers, strict=True)
            cells.append([name, *("" if np.isnan(x) else style.format(x) for style, x in shown)])
        widths = [max(len(row[c]) for row in cells) for c in range(n_numbers + 1)]
        lines = [
            "  ".join(
                cell.ljust(width) if c == 0 else cell.rjust(width)
                for c, (cell, width) in enumerate(zip(row, widths, strict=True))
            ).rstrip()
            for row in cells
        ]
        return "\n".join([*lines, *self.verdict()])

    def to_dict(self) -> dict[str, Any]:
        """The explanation as plain values, for JSON."""
        terms = [dict(zip(self.headings, row, strict=True)) for row in self.rows]
        posterior = None
        if self.posterior is not None:
            labels = (str(label) for label in self.labels)
            posterior = dict(zip(labels, self.posterior.tolist(), strict=True))
        return {
            "prediction": getattr(self.prediction, "item", lambda: self.prediction)(),
            "labels": self.labels.tolist(),
            "probabilities": posterior,
            "terms": terms,
            "unknown": list(self.unknown),
        }
