"""How a column of one kind becomes numbers; what `TableEncoder` is made of."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol, Self

import numpy as np
import numpy.typing as npt

from separatrix.errors import DataError
from separatrix.features.tables.columns import Column
from separatrix.features.tables.sparse_rows import Encoded, Part
from separatrix.validation import number_values

__all__ = [
    "BooleanEncoder",
    "CategoryEncoder",
    "DateEncoder",
    "Encoder",
    "NumericEncoder",
    "RobustEncoder",
    "SplineEncoder",
    "TextEncoder",
    "trend",
]

MISSING, RARE = "<missing>", "<rare>"
#: A numeric column is centered when more than this share of its values is not zero.
_DENSE = 0.5


class Encoder(Protocol):
    """One column's way to numbers."""

    def fit(self, column: Column, y: Any) -> Self:
        """Learn from a training column of the right kind."""

    def encode(self, column: Column) -> Encoded:
        """Entries of a column of the right kind."""

    def names(self, name: str) -> list[str]:
        """Names of the encoder's columns, for a column called `name`."""


def _indicator(where: npt.NDArray[np.bool_], column: int) -> Part:
    return Part(np.flatnonzero(where), column, 1.0)


@dataclass
class NumericEncoder:
    """(x - mean) / deviation, or x / deviation where most values are zero.

    Missing values become the mean, and 1 in a column of their own if training had any.
    """

    center: Any = "auto"
    mean: float = field(default=0.0, init=False)
    scale: float = field(default=1.0, init=False)
    centered: bool = field(default=True, init=False)
    had_missing: bool = field(default=False, init=False)

    def fit(self, column: Column, y: Any) -> Self:
        """Mean and deviation of the values that are there."""
        self.had_missing = bool(column.missing.any())
        values = column.values[~column.missing]
        if len(values):
            # Scaled down first: squares of values near the largest float would overflow.
            size = float(np.abs(values).max()) or 1.0
            scaled = values / size
            self.mean = float(scaled.mean()) * size
            deviation = float(scaled.std()) * size
            # What rounding alone leaves of a constant column is no deviation.
            tiny = 10 * np.finfo(np.float64).eps * size
            self.scale = deviation if deviation > tiny else 1.0
            self.centered = self.chooses_center(int(np.count_nonzero(values)), len(values))
        return self

    def chooses_center(self, n_nonzero: int, n_values: int) -> bool:
        """Whether a column with so many values other than zero is centered."""
        dense = bool(n_nonzero > _DENSE * n_values)
        return dense if self.center == "auto" else bool(self.center)

    def encode(self, column: Column) -> Encoded:
        """Standardized values and the indicator."""
        values = column.values
        if column.missing.any():
            values = np.where(column.missing, self.mean, values)
        values = (values - self.mean if self.centered else values) / self.scale
        parts = [Part(None, 0, values)]
        if self.had_missing:
            parts.append(_indicator(column.missing, 1))
        return Encoded(parts)

    def names(self, name: str) -> list[str]:
        """The column, and its missing values."""
        return [name, f"{name}={MISSING}"][: 1 + self.had_missing]


@dataclass
class RobustEncoder(NumericEncoder):
    """Numbers transformed before they are standardized: arsinh((x - median) / spread).

    Near the median that is a straight line, far from it a logarithm of either sign, so that a
    skewed column or a wild value does not rule the others. The spread is half the distance of the
    quartiles, or of the 2.5 % ends where these meet.
    """

    median: float = field(default=0.0, init=False)
    spread: float = field(default=1.0, init=False)

    def fit(self, column: Column, y: Any) -> Self:
        """Median and spread, then mean and deviation of the transformed values."""
        values = column.values[~column.missing]
        if len(values):
            ends = np.quantile(values, [0.025, 0.25, 0.5, 0.75, 0.975])
            self.median = float(ends[2])
            with np.errstate(over="ignore"):
                spreads = [(b - a) / 2 for a, b in ((ends[1], ends[3]), (ends[0], ends[4]))]
            self.spread = float(next((s for s in spreads if 0 < s < np.inf), 1.0))
        return super().fit(self._bent(column), y)

    def _bent(self, column: Column) -> Column:
        with np.errstate(over="ignore"):
            bent = np.arcsinh((column.values - self.median) / self.spread)
        largest = np.finfo(np.float64).max
        return Column(column.name, np.clip(bent, -largest, largest), column.missing)

    def chooses_center(self, n_nonzero: int, n_values: int) -> bool:
        """Always, unless it is requested: zero has no meaning after the median is taken off."""
        return True if self.center == "auto" else bool(self.center)

    def encode(self, column: Column) -> Encoded:
        """Bent, standardized values and the indicator."""
        return super().encode(self._bent(column))


#: Pieces of a spline: between so many quantiles it is straight.
_PIECES = 8


@dataclass
class SplineEncoder:
    """A number as a line that may bend at quantiles: weights of its two neighbouring knots.

    Of a value between two knots each has the share of the way to it; beyond the last knots the
    line is level. Missing values have a column of their own if training had any.

    Attributes
    ----------
    knots : ndarray of shape (k,)
        Rising.
    """

    knots: npt.NDArray[np.float64] = field(default_factory=lambda: np.zeros(1), init=False)
    had_missing: bool = field(default=False, init=False)

    def fit(self, column: Column, y: Any) -> Self:
        """Quantiles of the values that are there, each once."""
        self.had_missing = bool(column.missing.any())
        values = column.values[~column.missing]
        if len(values):
            self.knots = np.unique(np.quantile(values, np.linspace(0, 1, _PIECES + 1)))
        return self

    def encode(self, column: Column) -> Encoded:
        """The shares of the knots on either side, and the indicator."""
        rows, knots = np.flatnonzero(~column.missing), self.knots
        values = np.clip(column.values[rows], knots[0], knots[-1])
        below = np.clip(np.searchsorted(knots, values, side="right") - 1, 0, len(knots) - 1)
        above = np.minimum(below + 1, len(knots) - 1)
        # Half of each, as the difference of two large numbers may be infinite.
        width = knots[above] / 2 - knots[below] / 2
        there = width > 0
        share = np.divide(
            values / 2 - knots[below] / 2, width, out=np.zeros(len(values)), where=there
        )
        parts = [
            Part(rows, below, 1 - share),
            Part(rows[there], above[there], share[there]),
        ]
        if self.had_missing:
            parts.append(_indicator(column.missing, len(knots)))
        return Encoded(parts)

    def names(self, name: str) -> list[str]:
        """Like "age near 27.5", and its missing values."""
        ends = [f"{knot:.6g}" for knot in self.knots]
        if len(set(ends)) < len(ends):
            ends = [repr(float(knot)) for knot in self.knots]
        return [f"{name} near {end}" for end in ends] + [f"{name}={MISSING}"] * self.had_missing


@dataclass
class BooleanEncoder:
    """1 for true; missing values are 1 in a column of their own if training had any."""

    had_missing: bool = field(default=False, init=False)

    def fit(self, column: Column, y: Any) -> Self:
        """See whether values are missing."""
        self.had_missing = bool(column.missing.any())
        return self

    def encode(self, column: Column) -> Encoded:
        """Indicators."""
        parts = [_indicator(column.values & ~column.missing, 0)]
        if self.had_missing:
            parts.append(_indicator(column.missing, 1))
        return Encoded(parts)

    def names(self, name: str) -> list[str]:
        """The column, and its missing values."""
        return [name, f"{name}={MISSING}"][: 1 + self.had_missing]


@dataclass
class CategoryEncoder:
    """One indicator per category; rare ones share one; missing is a category of its own.

    A category that training did not have is all zero, and counted.
    """

    min_frequency: Any = None
    max_categories: int | None = None
    categories: list[Any] = field(default_factory=list, init=False)
    places: dict[Any, int] = field(default_factory=dict, init=False)
    has_rare: bool = field(default=False, init=False)
    had_missing: bool = field(default=False, init=False)

    def fit(self, column: Column, y: Any) -> Self:
        """Count the categories and choose those with a column of their own."""
        self.had_missing = bool(column.missing.any())
        try:
            codes, known = number_values(column.values[~column.missing])
        except TypeError:
            row = next(i for i, v in enumerate(column.values) if not _hashable(v))
            raise DataError(
                f"column {column.name!r}: row {row + 1} holds {type(column.values[row]).__name__}, "
                f"which cannot be a category; drop it: kinds={{{column.name!r}: 'drop'}}"
            ) from None
        found = np.bincount(codes, minlength=len(known)).tolist()
        return self.settle(Counter(dict(zip(known, found, strict=True))), len(column.values))

    def settle(self, counts: Counter[Any], n_rows: int) -> Self:
        """Choose the categories with a column of their own, from their counts."""
        least: float = self.min_frequency or 1
        if isinstance(least, float):
            least = least * n_rows
        kept = [value for value, n in counts.items() if n >= least]
        most = self.max_categories
        if most is not None and len(counts) > most:
            # One column is for the rest; ties go to the first seen, as Python's sort is stable.
            kept = sorted(kept, key=lambda value: -counts[value])[: most - 1]
        self.has_rare = len(kept) < len(counts)
        self.categories = _in_order(kept)
        rest = len(kept)
        self.places = dict.fromkeys(counts, rest) | {v: k for k, v in enumerate(self.categories)}
        return self

    def encode(self, column: Column) -> Encoded:
        """One entry per known value."""
        places, values = self.places, column.values
        try:
            codes, known = number_values(values)
            codes = np.array([places.get(value, -1) for value in known], dtype=np.int64)[codes]
        except TypeError:
            found = [places.get(value, -1) if _hashable(value) else -1 for value in values]
            codes = np.array(found, dtype=np.int64)
        codes[column.missing] = -1
        n_unseen = int(np.count_nonzero((codes < 0) & ~column.missing))
        if self.had_missing:
            codes[column.missing] = len(self.categories) + self.has_rare
        rows = np.flatnonzero(codes >= 0)
        return Encoded([Part(rows, codes[rows], 1.0)], n_unseen)

    def names(self, name: str) -> list[str]:
        """name=value for every category, then the rare and the missing ones."""
        texts = [str(value) for value in self.categories]
        if len(set(texts)) < len(texts):
            texts = [repr(value) for value in self.categories]
        texts += [RARE] * self.has_rare + [MISSING] * self.had_missing
        return [f"{name}={text}" for text in texts]


def _hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def _in_order(values: list[Any]) -> list[Any]:
    """Sorted where the values compare with each other, as they came otherwise."""
    try:
        return sorted(values)
    except TypeError:
        return values


@dataclass
class DateEncoder:
    """Trend and cycles of a date.

    Days since 1970 and the year, both standardized; sine and cosine of the place in the year (by
    month), in the month and in the week; whether it is a weekend; sine and cosine of the time of
    day if training had times. Missing dates are zero, and 1 in a column of their own if training
    had any.
    """

    #: Which of its columns is the flag of the weekend.
    WEEKEND: ClassVar[int] = 8

    had_times: bool = field(default=False, init=False)
    had_missing: bool = field(default=False, init=False)
    means: npt.NDArray[np.float64] = field(default_factory=lambda: np.zeros(2), init=False)
    scales: npt.NDArray[np.float64] = field(default_factory=lambda: np.ones(2), init=False)

    def fit(self, column: Column, y: Any) -> Self:
        """See whether there are times, and standardize days and years."""
        self.had_missing = bool(column.missing.any())
        values = column.values[~column.missing]
        if len(values):
            self.had_times = bool((values != values.astype("datetime64[D]")).any())
            found = trend(values)
            self.means, deviations = found.mean(axis=0), found.std(axis=0)
            self.scales = np.where(deviations > 1e-9, deviations, 1.0)
        return self

    def encode(self, column: Column) -> Encoded:
        """The entries of the dates that are there."""
        rows = np.flatnonzero(~column.missing)
        dates = column.values[rows]
        days = dates.astype("datetime64[D]")
        months = dates.astype("datetime64[M]")
        standardized = (trend(dates) - self.means) / self.scales
        month = months.astype(np.int64) % 12 / 12
        in_month = (months + 1).astype("datetime64[D]") - months.astype("datetime64[D]")
        day = (days - months.astype("datetime64[D]")) / in_month
        weekday = (days.astype(np.int64) + 3) % 7  # 1970-01-01 was a Thursday; Monday is 0
        features = [*standardized.T, *_cycle(month), *_cycle(day), *_cycle(weekday / 7)]
        features.append((weekday >= 5).astype(np.float64))
        if self.had_times:
            features += _cycle((dates - days) / np.timedelta64(1, "D"))
        parts = [Part(rows, k, values) for k, values in enumerate(features)]
        if self.had_missing:
            parts.append(_indicator(column.missing, len(features)))
        return Encoded(parts)

    def names(self, name: str) -> list[str]:
        """name.part for every part of a date."""
        parts = ["days", "year"]
        cycles = ["month", "day", "weekday"]
        parts += [f"{cycle}_{wave}" for cycle in cycles for wave in ("sin", "cos")]
        parts += ["weekend", *(["time_sin", "time_cos"] if self.had_times else [])]
        return [f"{name}.{part}" for part in parts] + [f"{name}={MISSING}"] * self.had_missing


def trend(dates: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Days since 1970 and year of every date, shape (n, 2)."""
    days = (dates - np.datetime64(0, "us")) / np.timedelta64(1, "D")
    years = dates.astype("datetime64[Y]").astype(np.int64) + 1970.0
    return np.column_stack([days, years])


def _cycle(turn: npt.NDArray[Any]) -> list[npt.NDArray[np.float64]]:
    angle = 2 * np.pi * turn.astype(np.float64)
    return [np.sin(angle), np.cos(angle)]


@dataclass
class TextEncoder:
    """A `TextVectorizer`; missing texts are empty, and marked if training had any."""

    vectorizer: Any
    had_missing: bool = field(default=False, init=False)
    width: int = field(default=0, init=False)

    def fit(self, column: Column, y: Any) -> Self:
        """Learn the vocabulary."""
        self.had_missing = bool(column.missing.any())
        self.vectorizer.fit(_texts(column), y)
        self.width = len(self.vectorizer.get_feature_names_out())
        return self

    def encode(self, column: Column) -> Encoded:
        """The vectorizer's rows."""
        rows = self.vectorizer.transform(_texts(column))
        parts = [Part(None, rows.indices, rows.data, rows.indptr)]
        if self.had_missing:
            parts.append(_indicator(column.missing, self.width))
        return Encoded(parts)

    def names(self, name: str) -> list[str]:
        """name:token for every token."""
        names = [f"{name}:{token}" for token in self.vectorizer.get_feature_names_out()]
        return names + [f"{name}={MISSING}"] * self.had_missing


def _texts(column: Column) -> list[str]:
    return ["" if gone else v for v, gone in zip(column.values, column.missing, strict=True)]
