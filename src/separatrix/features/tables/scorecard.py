"""A linear model of a table as a scorecard: what each value of each column adds to the score."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from separatrix.errors import ParameterError
from separatrix.explanation import see_through
from separatrix.features.tables.bins import BinEncoder, BothEncoder
from separatrix.features.tables.columns import Column
from separatrix.features.tables.columns_to_numbers import (
    MISSING,
    NumericEncoder,
    RobustEncoder,
    SplineEncoder,
    TextEncoder,
)
from separatrix.features.tables.encoder import TableEncoder
from separatrix.features.tables.sparse_rows import assemble

__all__ = ["Card", "Scorecard", "scorecard"]

Floats = npt.NDArray[np.float64]

#: Deviations (of bent numbers, spreads) from the middle at which a line is told.
_PLACES = np.array([-2.0, -1.0, 0.0, 1.0, 2.0])
#: Points of a curve, and the air beside the last cuts of bins.
_CURVE, _AIR = 60, 0.1


@dataclass(frozen=True, eq=False)
class Card:
    """What the values of one column, or of a pair of them, add.

    Attributes
    ----------
    column : str
        Its name.
    values : tuple of str
        Bins, categories, or some numbers.
    points : ndarray of shape (m, s)
        What each of them adds to each score.
    x : ndarray of shape (k,) or None
        Of numbers, the places of a curve; steps stand twice.
    y : ndarray of shape (k, s) or None
        The curve.
    """

    column: str
    values: tuple[str, ...]
    points: Floats
    x: Floats | None = None
    y: Floats | None = None


@dataclass(frozen=True, eq=False)
class Scorecard:
    """Points of all values of all columns: their sum, and the intercept, is the score.

    Attributes
    ----------
    scores : tuple of str
        What the scores speak for: the second of two classes, every one of more, or the target.
    intercept : ndarray of shape (s,)
    cards : tuple of Card
        The column whose points reach farthest first.
    left_out : tuple of str
        Columns of texts, whose terms are too many.
    """

    scores: tuple[str, ...]
    intercept: Floats
    cards: tuple[Card, ...]
    left_out: tuple[str, ...] = ()

    @property
    def headings(self) -> tuple[str, ...]:
        """Of the table."""
        if len(self.scores) == 1:
            return ("column", "value", "points")
        return ("column", "value", *(f"points for {one}" for one in self.scores))

    @property
    def rows(self) -> list[tuple[Any, ...]]:
        """Of the table, the intercept first."""
        found: list[tuple[Any, ...]] = [("(intercept)", "", *self.intercept.tolist())]
        for card in self.cards:
            for value, points in zip(card.values, card.points.tolist(), strict=True):
                found.append((card.column, value, *points))
        return found

    def __str__(self) -> str:
        texts = [self.headings]
        before = ""
        for column, value, *points in self.rows:
            shown = "" if column == before else column
            texts.append((shown, value, *(f"{point:+.3f}" for point in points)))
            before = column
        widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
        lines = []
        for row in texts:
            words = [cell.ljust(w) for cell, w in zip(row[:2], widths, strict=False)]
            words += [cell.rjust(w) for cell, w in zip(row[2:], widths[2:], strict=True)]
            lines.append("  ".join(words).rstrip())
        return "\n".join([*lines, self.verdict()])

    def verdict(self) -> str:
        """How to read it."""
        told = "the sum of the points of a row and the intercept is its score"
        if len(self.scores) == 1:
            told += f"; positive speaks for {self.scores[0]}"
        if self.left_out:
            told += f"; terms of {', '.join(self.left_out)} are left out"
        return told

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "scores": list(self.scores),
            "intercept": self.intercept.tolist(),
            "columns": [
                {
                    "column": card.column,
                    "values": list(card.values),
                    "points": card.points.tolist(),
                    "x": None if card.x is None else card.x.tolist(),
                    "y": None if card.y is None else card.y.tolist(),
                }
                for card in self.cards
            ],
            "left_out": list(self.left_out),
        }


def scorecard(model: Any, target: str = "the target") -> Scorecard:
    """The scorecard of a linear model behind a `TableEncoder`.

    Parameters
    ----------
    model : estimator
        Fitted; a pipeline of a `TableEncoder` and a learner with `coef_` and `intercept_`,
        calibrated or not.
    target : str
        Name of a target that is a quantity.

    Returns
    -------
    Scorecard

    Raises
    ------
    ParameterError
        The model is no sum over the columns of a table.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from separatrix import LogisticRegression, TableEncoder
    >>> table = {"age": [18.0, 25, 31, 40, 52, 60], "city": ["Rome", "Oslo"] * 3}
    >>> encoder = TableEncoder(numbers="bins", bin_options={"min_rows": 2})
    >>> y = ["no", "no", "yes", "yes", "no", "no"]
    >>> card = scorecard(make_pipeline(encoder, LogisticRegression()).fit(table, y))
    >>> [one.values for one in card.cards if one.column == "age"]
    [('age <= 28', '28 < age <= 46', 'age > 46')]
    """
    steps, learner = see_through(model)
    if len(steps) != 1 or type(steps[0]) is not TableEncoder or not hasattr(learner, "coef_"):
        raise ParameterError(
            "a scorecard is for linear models of tables, without radial functions and products"
        )
    encoder: TableEncoder = steps[0]
    coef = np.atleast_2d(np.asarray(learner.coef_, dtype=np.float64)).T
    intercept = np.atleast_1d(np.asarray(learner.intercept_, dtype=np.float64))
    classes = getattr(learner, "classes_", None)
    scores = [target] if classes is None else [str(one) for one in np.asarray(classes).tolist()]
    names = encoder.get_feature_names_out()
    cards, left_out, at = [], [], 0
    for name, one in encoder._encoders.items():
        width = encoder._widths[name]
        own, at = coef[at : at + width], at + width
        if isinstance(one, TextEncoder):
            left_out.append(name)
        elif isinstance(one, NumericEncoder | SplineEncoder | BinEncoder | BothEncoder):
            cards.append(_of_number(name, one, own))
        else:
            cards.append(Card(name, tuple(_short(name, names[at - width : at])), own))
    for (first, second), cells in zip(encoder.pairs, encoder._pairs, strict=True):
        width = len(cells.cells)
        if width:
            own, at = coef[at : at + width], at + width
            cards.append(Card(f"{first} & {second}", tuple(names[at - width : at]), own))
    reach = [float(np.ptp(card.points, axis=0).max(initial=0.0)) for card in cards]
    order = sorted(range(len(cards)), key=lambda k: -reach[k])
    if coef.shape[1] == 1 and classes is not None:
        scores = scores[1:]
    return Scorecard(
        tuple(scores),
        np.broadcast_to(intercept, (coef.shape[1],)),
        tuple(cards[k] for k in order),
        tuple(left_out),
    )


def _short(column: str, names: Any) -> list[str]:
    """Names of categories without that of their column."""
    return [name.removeprefix(f"{column}=") for name in names]


def _of_number(name: str, one: Any, weights: Floats) -> Card:
    """Points of bins, or of some values of a curve, and the curve."""
    bins = one.bins if isinstance(one, BothEncoder) else one
    if isinstance(bins, BinEncoder):
        places, x = _around_cuts(bins.cuts, isinstance(one, BothEncoder))
        values = bins.names(name)[: len(places)]
    else:
        places, x = _along(one)
        values = [f"{place:.6g}" for place in places]
    points, y = (_added(name, one, values_, weights) for values_ in (places, x))
    if getattr(bins, "had_missing", False):
        values = [*values, MISSING]
        points = np.vstack([points, _added(name, one, np.zeros(1), weights, missing=True)])
    return Card(name, tuple(values), points, x, y)


def _around_cuts(cuts: Floats, bent: bool) -> tuple[Floats, Floats]:
    """A value in each bin, and the places of a curve over all of them."""
    if not len(cuts):
        return np.zeros(1), np.array([0.0, 1.0])
    span = max(float(cuts[-1] - cuts[0]), 1e-9 * abs(float(cuts[0])), 1e-300)
    ends = np.array([cuts[0] - _AIR * span, *cuts, cuts[-1] + _AIR * span])
    middles = ends[:-1] / 2 + ends[1:] / 2
    inner = np.concatenate([np.linspace(a, b, 8 if bent else 2) for a, b in pairwise(ends)])
    # A bin holds its upper end: the lower end of the next is a hair above.
    lower = np.concatenate([[False], np.diff(inner) == 0])
    return middles, np.where(lower, np.nextafter(inner, np.inf), inner)


def _along(one: Any) -> tuple[Floats, Floats]:
    """Some values of a number that is bent or not, and the places of its curve."""
    if isinstance(one, SplineEncoder):
        return one.knots, one.knots
    fine = np.linspace(_PLACES[0], _PLACES[-1], _CURVE)
    if isinstance(one, RobustEncoder):
        return (
            one.median + one.spread * np.sinh(_PLACES),
            one.median + one.spread * np.sinh(fine),
        )
    return one.mean + one.scale * _PLACES, one.mean + one.scale * fine


def _added(
    name: str, one: Any, values: Floats, weights: Floats, *, missing: bool = False
) -> Floats:
    """What values add, by the column's own encoder; shape (m, s)."""
    column = Column(name, values, np.full(len(values), missing))
    parts = [(0, part) for part in one.encode(column).parts]
    rows = assemble(parts, (len(values), len(weights)), np.dtype(np.float64))
    found: Any = sp.csr_matrix(rows) @ weights
    return np.asarray(found, dtype=np.float64)
