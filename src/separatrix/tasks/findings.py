"""What the data looks like, and what about it should make one suspicious."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from separatrix.data import AttributeSequences, Dataset, TokenSequences
from separatrix.data.tables.columns import gaps
from separatrix.report.parts import Column, Finding
from separatrix.tasks.inputs import Inputs
from separatrix.tasks.rows import Rows
from separatrix.validation import is_sparse

__all__ = [
    "alone_class",
    "alone_quantity",
    "column_of",
    "columns_of",
    "common_findings",
    "duplicates",
    "few_rows",
    "imbalance",
    "leaks",
    "row_keys",
]

#: (train column, held-out column, train y, held-out y) -> how well the column tells y, up to 1.
Alone = Callable[[Any, Any, npt.NDArray[Any], npt.NDArray[Any]], float]

#: A column that alone tells the target of so many held-out rows is a suspect.
_LEAK = 0.98
#: A class with less than this share of an even one is rare.
_RARE = 0.2
#: Bins of a number that is looked at alone, and columns that are looked at.
_BINS, _WIDEST = 20, 2000
_FREQUENT = 5
#: A class with fewer train rows is learned from next to nothing.
_FEW = 5
#: Columns, classes or shares that the details of a finding list.
_LISTED = 8
#: Share of test rows seen in training above which their score cannot be trusted.
_DUPLICATES = 0.05
#: Share of the values of a column of words that must be numbers to be remarked upon.
_MIXED = 0.5


def columns_of(data: Dataset, inputs: Inputs) -> tuple[Column, ...]:
    """The columns of a table, or the text, summed up."""
    if isinstance(data.X, dict):
        why = dict(inputs.left_out)
        return tuple(
            column_of(
                name, values, name in data.text_names, name in inputs.columns, why.get(name, "")
            )
            for name, values in data.X.items()
        )
    if data.kind == "text":
        return (column_of(inputs.columns[0], data.X, True, True, ""),)
    return ()


def column_of(name: str, values: npt.NDArray[Any], is_text: bool, used: bool, note: str) -> Column:
    """One column, summed up."""
    if values.dtype.kind in "fiu":
        present = values[np.isfinite(values)]
        missing = len(values) - len(present)
        if not len(present):
            return Column(name, "number", missing, used=used, note=note)
        histogram, _ = np.histogram(present, bins=min(20, max(1, len(np.unique(present)))))
        return Column(
            name, "number", missing, len(np.unique(present)), float(present.min()),
            float(np.median(present)), float(present.max()),
            histogram=tuple(int(count) for count in histogram), used=used, note=note,
        )  # fmt: skip
    held = [str(value) for value in values if value is not None]
    missing = len(values) - len(held)
    if is_text:
        words = np.array([len(text.split()) for text in held] or [0])
        found = f"{np.median(words):g} words in the middle, {words.max()} at most"
        return Column(
            name,
            "text",
            missing,
            len(set(held)),
            used=used,
            note=f"{note}; {found}" if note else found,
        )
    counts = Counter(held)
    kind = "flag" if values.dtype.kind == "b" else "category"
    frequent = tuple(counts.most_common(_FREQUENT))
    return Column(name, kind, missing, len(counts), frequent=frequent, used=used, note=note)


def row_keys(X: Any) -> list[Any]:
    """Something hashable for every row, equal for equal rows."""
    if isinstance(X, dict):
        return list(zip(*(_hashable(values) for values in X.values()), strict=True))
    if isinstance(X, list | TokenSequences | AttributeSequences):
        return [one.tobytes() if hasattr(one, "tobytes") else repr(one) for one in X]
    if is_sparse(X):
        ends = X.indptr
        return [(X.indices[a:b].tobytes(), X.data[a:b].tobytes()) for a, b in pairwise(ends)]
    if X.dtype == object:
        return [str(text) for text in X]
    return [row.tobytes() for row in np.ascontiguousarray(X)]


def _hashable(values: npt.NDArray[Any]) -> list[Any]:
    """The values of a column; a missing number is None, since NaN is not equal to itself."""
    if values.dtype.kind != "f":
        return list(values.tolist())
    return [None if value != value else value for value in values.tolist()]


def duplicates(
    train: Rows,
    held_out: Rows,
    test: Rows,
    units: str = "rows",
    cure: str = "Remove duplicates, or split by group.",
) -> list[Finding]:
    """Held-out and test rows that stand elsewhere too."""
    seen = set(row_keys(train.X))
    found = []
    # The last fit learns from the held-out rows too.
    for name, rows, others in (
        ("held-out", held_out, f"train {units}"),
        ("test", test, f"train or held-out {units}"),
    ):
        keys = row_keys(rows.X)
        twice = sum(key in seen for key in keys)
        seen.update(keys)
        if twice:
            share = 100 * twice / len(keys)
            found.append(
                Finding(
                    "duplicates",
                    f"{twice} of {len(keys)} {name} {units} ({share:.1f} %) stand among the "
                    f"{others} too: their score says little about new {units}. {cure}",
                    "serious" if share > 100 * _DUPLICATES else "note",
                )
            )
    return found


def leaks(inputs: Inputs, train: Rows, held_out: Rows, alone: Alone, told: str) -> list[Finding]:
    """Columns that tell the target without any help.

    Parameters
    ----------
    inputs : Inputs
        What X of the rows is.
    train, held_out : Rows
        Raw rows.
    alone : callable
        How well a column tells the target; see `alone_class` and `alone_quantity`.
    told : str
        What such a column does, with the share as ``{share}``.
    """
    found = []
    base = alone(None, None, train.y, held_out.y)
    for name, first, second in _single_columns(inputs, train.X, held_out.X):
        score = alone(first, second, train.y, held_out.y)
        # What the most frequent class says already is no sign of a leak.
        if score >= _LEAK and 1 - score < 0.5 * (1 - base):
            share = f"{100 * score:.1f} %"
            found.append(
                Finding(
                    "leak suspect",
                    f"{name} alone {told.format(share=share)}. If it is not known before the "
                    "target is, drop it.",
                    "serious",
                )
            )
    return found[:5]


def _single_columns(inputs: Inputs, first: Any, second: Any) -> Any:
    if isinstance(first, dict):
        for name in inputs.columns:
            if name not in inputs.texts:
                yield f"column {name!r}", first[name], second[name]
    elif hasattr(first, "shape") and len(first.shape) == 2 and first.shape[1] <= _WIDEST:
        if is_sparse(first):
            first, second = first.tocsc(), second.tocsc()
            for j in range(first.shape[1]):
                yield f"column {j}", first[:, [j]].toarray()[:, 0], second[:, [j]].toarray()[:, 0]
        else:
            for j in range(first.shape[1]):
                yield f"column {j}", first[:, j], second[:, j]


def alone_quantity(
    first: Any, second: Any, y: npt.NDArray[Any], y_held_out: npt.NDArray[Any]
) -> float:
    """Share of the held-out variance that the means per value or range of one column explain."""
    keys, asked = _numbered(first, second, y, y_held_out)
    overall = float(np.mean(y))
    sums, counts = np.bincount(keys, weights=y), np.bincount(keys)
    means = np.where(counts > 0, sums / np.maximum(counts, 1), overall)
    guess = np.where(asked < len(means), means[np.minimum(asked, len(means) - 1)], overall)
    spread = float(np.mean((y_held_out - overall) ** 2))
    missed = [float(np.mean((y_held_out - guess) ** 2))]
    if first is not None and np.asarray(first).dtype.kind in "fiu":
        # Ranges are coarse where values lie far out; a line is not.
        missed.append(_missed_by_line(first, second, y, y_held_out))
    return 1 - min(missed) / spread if spread > 0 else 0.0


def alone_class(
    first: Any, second: Any, y: npt.NDArray[Any], y_held_out: npt.NDArray[Any]
) -> float:
    """Held-out accuracy of the most frequent class per value or range of one column."""
    keys, asked = _numbered(first, second, y, y_held_out)
    classes, codes = np.unique(y, return_inverse=True)
    table = np.zeros((int(keys.max()) + 1, len(classes)))
    np.add.at(table, (keys, codes), 1)
    best = np.where(table.any(axis=1), table.argmax(axis=1), np.bincount(codes).argmax())
    places = np.where(asked < len(best), best[np.minimum(asked, len(best) - 1)], 0)
    return float(np.mean(classes[places] == y_held_out))


def _numbered(
    first: Any, second: Any, y: npt.NDArray[Any], y_held_out: npt.NDArray[Any]
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Codes of the values of a column; without a column all rows have the same."""
    if first is None:
        return np.zeros(len(y), dtype=int), np.zeros(len(y_held_out), dtype=int)
    return _binned(np.asarray(first), np.asarray(second))


def _missed_by_line(
    first: npt.NDArray[Any],
    second: npt.NDArray[Any],
    y: npt.NDArray[Any],
    y_held_out: npt.NDArray[Any],
) -> float:
    """Mean squared held-out error of the line through the train rows; missing values: the mean."""
    present, there = np.isfinite(first), np.isfinite(second)
    x = first[present].astype(np.float64)
    spread = np.var(x) if len(x) else 0.0
    guess = np.full(len(y_held_out), float(np.mean(y)))
    if spread > 0:
        slope = np.mean((x - x.mean()) * (y[present] - y[present].mean())) / spread
        guess[there] = y[present].mean() + slope * (second[there] - x.mean())
    return float(np.mean((y_held_out - guess) ** 2))


def _binned(
    first: npt.NDArray[Any], second: npt.NDArray[Any]
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Codes of values: categories as they are, numbers by ranges; 0 stands for missing or new."""
    if first.dtype.kind in "fiu":
        present = first[np.isfinite(first)]
        cuts = np.unique(np.quantile(present, np.linspace(0, 1, _BINS + 1)[1:-1])) if len(
            present
        ) else np.empty(0)  # fmt: skip
        codes = [
            np.where(np.isfinite(v), np.searchsorted(cuts, np.nan_to_num(v), side="left") + 1, 0)
            for v in (first, second)
        ]
        return codes[0], codes[1]
    known: dict[Any, int] = {}
    for value in _hashable(first):
        known.setdefault(value, len(known) + 1)
    pairs = [
        np.array([known.get(value, 0) for value in _hashable(v)], dtype=int)
        for v in (first, second)
    ]
    return pairs[0], pairs[1]


def common_findings(
    inputs: Inputs, train: Rows, held_out: Rows, test: Rows
) -> tuple[list[Finding], tuple[str, ...]]:
    """What rows of any kind may have, and what was looked for."""
    found = [*duplicates(train, held_out, test), *_useless(inputs), *_doubts(inputs)]
    if isinstance(train.X, dict):
        found += [*_missing_values(train.X), *_odd_words(inputs, train.X)]
    columns = "missing values", "constant columns and identifiers", "mixed columns, dates as text"
    return found, ("rows that stand in two splits", *columns)


def _useless(inputs: Inputs) -> list[Finding]:
    """Columns that were left out as they can tell nothing."""
    told = [f"{name}: {why}" for name, why in inputs.left_out if why != "asked for"]
    if not told:
        return []
    words = "1 column is" if len(told) == 1 else f"{len(told)} columns are"
    return [Finding("unused columns", f"{words} left out.", details=tuple(told[:_LISTED]))]


def _doubts(inputs: Inputs) -> list[Finding]:
    """What the schema was not sure of: dates that may be read in two ways, and its notes."""
    if inputs.schema is None:
        return []
    unsure = [c for c in inputs.schema if c.kind == "date" and c.why.startswith("no day is above")]
    found = [Finding("dates as text", f"column {c.name!r}: {c.why}.") for c in unsure]
    told = {f"column {c.name!r}: {c.why}" for c in unsure}
    return found + [Finding("table", note) for note in inputs.schema.notes if note not in told]


def _missing_values(X: dict[str, npt.NDArray[Any]]) -> list[Finding]:
    """Columns of a table with gaps."""
    missing = {name: float(gaps(values).mean()) for name, values in X.items()}
    worst = sorted(((n, share) for n, share in missing.items() if share), key=lambda one: -one[1])
    if not worst:
        return []
    words = "1 column has" if len(worst) == 1 else f"{len(worst)} columns have"
    return [
        Finding(
            "missing values",
            f"{words} missing values; numbers are filled with the mean, and a mark is added.",
            details=tuple(f"{name}: {100 * share:.1f} %" for name, share in worst[:_LISTED]),
        )
    ]


def _odd_words(inputs: Inputs, X: dict[str, npt.NDArray[Any]]) -> list[Finding]:
    """Columns of words most of which are numbers."""
    found = []
    for name in inputs.columns:
        values = X[name]
        if values.dtype != object or name in inputs.texts:
            continue
        words = [str(value).strip() for value in values if value is not None]
        if not words:
            continue
        odd = [word for word in words if not _is_number(word)]
        share = 1 - len(odd) / len(words)
        if _MIXED <= share < 1:
            common = ", ".join(repr(word) for word, _ in Counter(odd).most_common(3))
            found.append(
                Finding(
                    "mixed kinds",
                    f"column {name!r} holds numbers ({100 * share:.1f} %) and words ({common}), "
                    "taken for categories. Mark such words as missing, or clean the column.",
                )
            )
    return found


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def few_rows(y: npt.NDArray[Any]) -> list[Finding]:
    """Classes with next to no train rows."""
    labels, counts = np.unique(y, return_counts=True)
    few = counts < _FEW
    if not few.any():
        return []
    details = tuple(
        f"{label}: {count}"
        for label, count in zip(labels[few][:_LISTED], counts[few][:_LISTED], strict=True)
    )
    return [
        Finding(
            "few rows",
            f"{int(few.sum())} of {len(labels)} classes have fewer than {_FEW} train rows: their "
            "scores say next to nothing. Collect more, or leave them out.",
            details=details,
        )
    ]


def imbalance(y: npt.NDArray[Any]) -> list[Finding]:
    """Classes that are rare."""
    labels, counts = np.unique(y, return_counts=True)
    rare = counts < _RARE * len(y) / len(labels)
    if not rare.any():
        return []
    details = tuple(
        f"{label}: {count} of {len(y)}"
        for label, count in zip(labels[rare][:_LISTED], counts[rare][:_LISTED], strict=True)
    )
    return [
        Finding(
            "imbalance",
            f"{int(rare.sum())} of {len(labels)} classes are rare among the train rows: accuracy "
            "hardly sees them. Look at the per-class scores, or decide by balanced_accuracy or a "
            "cost.",
            details=details,
        )
    ]
