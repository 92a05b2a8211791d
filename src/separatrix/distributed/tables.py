"""Tables in partitions: what a `TableEncoder` learns of every column, merged."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from separatrix.data.schema import Schema, SchemaColumn
from separatrix.distributed.partitions import Partitions
from separatrix.distributed.rows import in_partition
from separatrix.distributed.session import Session
from separatrix.errors import DataError, ParameterError
from separatrix.features import TableEncoder
from separatrix.features.tables.columns import Column, as_kind, infer_kind
from separatrix.features.tables.columns_to_numbers import (
    CategoryEncoder,
    DateEncoder,
    NumericEncoder,
    trend,
)

__all__ = ["fit_table"]

FloatArray = npt.NDArray[np.float64]


@dataclass
class Seen:
    """What partitions have seen of one column; the fields that its kind needs.

    Attributes
    ----------
    kind : str
        Kind of the column.
    n_rows, n_values : int
        Rows, and those with a value.
    mean, scatter : ndarray
        Of numbers, or of days and years.
    largest : float
        Largest absolute number.
    nonzero : int
        Numbers other than zero.
    counts : Counter
        Of categories, in the order of their first use.
    had_times : bool
        Whether dates have times.
    vectorizer : TextVectorizer or None
        Of texts.
    """

    kind: str
    n_rows: int
    n_values: int
    mean: FloatArray = field(default_factory=lambda: np.zeros(1))
    scatter: FloatArray = field(default_factory=lambda: np.zeros(1))
    largest: float = 0.0
    nonzero: int = 0
    counts: Counter[Any] = field(default_factory=Counter)
    had_times: bool = False
    vectorizer: Any = None

    @classmethod
    def of(cls, column: Column, wanted: SchemaColumn, vectorizer: Any) -> Seen:
        """What one partition has seen."""
        column, kind = as_kind(column, wanted), wanted.kind
        values = column.values[~column.missing]
        seen = cls(kind, len(column.values), len(values))
        if kind in ("number", "duration") and len(values):
            seen.mean, seen.scatter = _moments(values[:, None])
            seen.largest = float(np.abs(values).max())
            seen.nonzero = int(np.count_nonzero(values))
        elif kind == "date" and len(values):
            seen.mean, seen.scatter = _moments(trend(values))
            seen.had_times = bool((values != values.astype("datetime64[D]")).any())
        elif kind == "category":
            seen.counts = Counter(values)
        elif kind == "text":
            gone = zip(column.values, column.missing, strict=True)
            texts = ["" if missing else text for text, missing in gone]
            seen.vectorizer = vectorizer.partial_fit(texts)
        return seen

    def merge(self, other: Seen) -> Seen:
        """What both have seen (moments: Chan, Golub & LeVeque 1983)."""
        n = self.n_values + other.n_values
        result = Seen(self.kind, self.n_rows + other.n_rows, n)
        if not self.n_values or not other.n_values:
            one = self if self.n_values else other
            result.mean, result.scatter = one.mean, one.scatter
        else:
            delta = other.mean - self.mean
            share = other.n_values / n
            result.mean = self.mean + share * delta
            result.scatter = self.scatter + other.scatter + delta**2 * self.n_values * share
        result.largest = max(self.largest, other.largest)
        result.nonzero = self.nonzero + other.nonzero
        result.counts = Counter(self.counts)
        result.counts.update(other.counts)
        result.had_times = self.had_times or other.had_times
        if self.vectorizer is not None:
            result.vectorizer = self.vectorizer.merge(other.vectorizer)
        return result


def _moments(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    mean = values.mean(axis=0)
    return mean, ((values - mean) ** 2).sum(axis=0)


def fit_table(session: Session, estimator: TableEncoder, data: Partitions) -> None:
    """Agree on the kinds of the columns, then learn every column from all partitions."""
    estimator._check_parameters()
    if dict(estimator.text_options or {}).get("nb_log_ratio"):
        raise ParameterError("on Dask text columns of a table cannot have nb_log_ratio")
    if estimator.numbers != "standard" or estimator.pairs:
        raise ParameterError("on Dask numbers of a table are standardized, and there are no pairs")
    parts = data.numbered()
    found = session.each(_kinds, parts, clone(estimator))
    full = [number for number, kinds in enumerate(found) if kinds is not None]
    if not full:
        raise DataError("Found array with 0 sample(s): all partitions are empty")
    schema = _joined(estimator, [(number, found[number]) for number in full])
    some = [parts[number] for number in full]
    seen = session.reduce(_seen, _merged, some, clone(estimator), schema)
    estimator.schema_ = schema
    estimator.n_features_in_ = len(schema)
    estimator.feature_names_in_ = np.array(schema.names, dtype=object)
    estimator._encoders = {name: _encoder(estimator, column) for name, column in seen.items()}
    estimator._pairs, estimator._paired = [], {}
    estimator._settle()


def _kinds(
    number: int, X: Any, y: Any, weights: Any, estimator: TableEncoder
) -> dict[str, tuple[SchemaColumn, bool]] | None:
    """Kinds of the columns of a partition, and whether they hold any value."""
    with in_partition(number):
        if len(X) == 0:
            return None
        table = estimator._read(X, reset=True)
        return {
            name: (infer_kind(column), not column.missing.all())
            for name, column in table.columns.items()
        }


def _joined(
    estimator: TableEncoder, found: list[tuple[int, dict[str, tuple[SchemaColumn, bool]]]]
) -> Schema:
    names = list(found[0][1])
    given = estimator._given(names)
    result = []
    for name in names:
        first: tuple[int, SchemaColumn] | None = None
        for number, kinds in found:
            if list(kinds) != names:
                raise DataError(
                    f"partition {number} has columns {list(kinds)}, others have {names}"
                )
            column, some = kinds[name]
            if not some or name in given:
                continue
            if first is None:
                first = number, column
            elif _shown(column) != _shown(first[1]):
                raise DataError(
                    f"partitions {first[0]} and {number} take column {name!r} for "
                    f"{_shown(first[1])} and {_shown(column)}; name its kind: "
                    f"TableEncoder(kinds={{{name!r}: ...}})"
                )
        result.append(given.get(name) or (first[1] if first else found[0][1][name][0]))
    return Schema(tuple(result))


def _shown(column: SchemaColumn) -> str:
    """The kind, and the form where values would be read differently by another."""
    told = column.kind in ("number", "date") and column.form not in ("", "1234", "1234.5")
    return f"{column.kind} {column.form}" if told else column.kind


def _seen(
    number: int, X: Any, y: Any, weights: Any, estimator: TableEncoder, schema: Schema
) -> dict[str, Seen]:
    with in_partition(number):
        table = estimator._read(X, reset=True)
        result = {}
        for column in schema:
            if column.role != "left out":
                encoder: Any = estimator._encoder(column.kind)
                vectorizer = encoder.vectorizer if column.kind == "text" else None
                result[column.name] = Seen.of(table.columns[column.name], column, vectorizer)
        return result


def _merged(*parts: dict[str, Seen]) -> dict[str, Seen]:
    return {name: reduce(Seen.merge, [part[name] for part in parts]) for name in parts[0]}


def _encoder(estimator: TableEncoder, seen: Seen) -> Any:
    encoder: Any = estimator._encoder(seen.kind)
    encoder.had_missing = seen.n_values < seen.n_rows
    if isinstance(encoder, NumericEncoder) and seen.n_values:
        encoder.mean = float(seen.mean[0])
        deviation = float(np.sqrt(seen.scatter[0] / seen.n_values))
        tiny = 10 * np.finfo(np.float64).eps * (seen.largest or 1.0)
        encoder.scale = deviation if deviation > tiny else 1.0
        encoder.centered = encoder.chooses_center(seen.nonzero, seen.n_values)
    elif isinstance(encoder, DateEncoder) and seen.n_values:
        encoder.had_times = seen.had_times
        deviations = np.sqrt(seen.scatter / seen.n_values)
        encoder.means, encoder.scales = seen.mean, np.where(deviations > 1e-9, deviations, 1.0)
    elif isinstance(encoder, CategoryEncoder):
        encoder.settle(seen.counts, seen.n_rows)
    elif seen.kind == "text":
        model = seen.vectorizer._model
        model.settle(None, keep=False, n_jobs=None)
        encoder.vectorizer = seen.vectorizer
        encoder.vectorizer._from_fit = True
        encoder.width = len(encoder.vectorizer.get_feature_names_out())
    return encoder
