"""What the data looks like, and what about it should make one suspicious."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from separatrix.data import AttributeSequences, Dataset, TokenSequences
from separatrix.data.tables.columns import gaps, objects
from separatrix.report.parts import Column, Finding
from separatrix.tasks.inputs import Inputs
from separatrix.tasks.rows import Rows
from separatrix.validation import distinct_values, is_sparse, number_values

__all__ = [
    "alone_class",
    "alone_quantity",
    "column_keys",
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
#: Rows that tell whether a column leaks: the share that it tells is known to a tenth of a point.
_LOOKED = 50_000
#: Bins of a number that is looked at alone, and columns that are looked at.
_BINS, _WIDEST = 20, 2000
_FREQUENT = 5
#: A class with fewer train rows is learned from next to nothing.
_FEW = 5
#: A class with so many train rows or fewer is known by single examples.
_SINGLE = 2
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
        present = np.sort(values[np.isfinite(values)])
        missing = len(values) - len(present)
        if not len(present):
            return Column(name, "number", missing, used=used, note=note)
        distinct = 1 + int(np.count_nonzero(np.diff(present)))
        # Of sorted values the ends of the bins are looked up, which is what np.histogram counts.
        ends = np.histogram_bin_edges(present, bins=min(20, distinct))
        places = np.searchsorted(present, ends[1:-1], side="left")
        histogram = np.diff(np.concatenate([[0], places, [len(present)]]))
        return Column(
            name, "number", missing, distinct, float(present[0]), float(np.median(present)),
            float(present[-1]), histogram=tuple(int(count) for count in histogram), used=used,
            note=note,
        )  # fmt: skip
    counts: Counter[Any] = Counter(values.tolist())
    missing = counts.pop(None, 0)
    if is_text:
        held = [str(value) for value in values if value is not None]
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
    counts = _as_words(counts)
    kind = "flag" if values.dtype.kind == "b" else "category"
    frequent = tuple(counts.most_common(_FREQUENT))
    return Column(name, kind, missing, len(counts), frequent=frequent, used=used, note=note)


def _codes(parts: Sequence[npt.NDArray[Any]]) -> list[npt.NDArray[np.int64]]:
    """Numbers of the values of a column in several tables; lists are known by their words."""
    values = np.concatenate([part.astype(object, copy=False) for part in parts])
    try:
        codes, _ = number_values(values)
    except TypeError:
        codes, _ = number_values(objects([repr(value) for value in values]))
    return np.split(codes, np.cumsum([len(part) for part in parts])[:-1])


def _as_words(counts: Counter[Any]) -> Counter[str]:
    words: Counter[str] = Counter()
    for value, n in counts.items():
        words[str(value)] += n
    return words


#: An odd number whose multiples are spread over all 64 bits (Knuth 1998, section 6.4).
_SPREAD = np.uint64(0x9E3779B97F4A7C15)


def column_keys(tables: Sequence[Mapping[str, npt.NDArray[Any]]]) -> list[npt.NDArray[np.uint64]]:
    """Hashes of the rows of tables with the same columns, equal for equal rows.

    That two of n rows have the same by chance has a probability of about n^2 / 2^65.

    Examples
    --------
    >>> first = {"x": np.array([1.0, np.nan]), "y": objects(["a", None])}
    >>> second = {"x": np.array([np.nan, 1.0]), "y": objects([None, "b"])}
    >>> one, two = column_keys([first, second])
    >>> bool(one[1] == two[0]), bool(one[0] == two[1])
    (True, False)
    """
    keys: list[Any] = [np.zeros(len(next(iter(X.values()))), dtype=np.uint64) for X in tables]
    for name in tables[0]:
        held: list[Any] = [X[name] for X in tables]
        if any(values.dtype.kind not in "fiubmM" for values in held):
            held = _codes(held)
        for key, values in zip(keys, held, strict=True):
            if values.dtype.kind in "fiu":
                # Adding zero makes -0.0 the same as 0.0; one pattern stands for all of NaN.
                numbers = values.astype(np.float64) + 0.0
                numbers[np.isnan(numbers)] = np.nan
                bits = numbers.view(np.uint64)
            else:
                bits = values.astype(np.int64).view(np.uint64)
            key ^= bits
            key *= _SPREAD
            key ^= key >> np.uint64(29)
    return keys


def row_keys(X: Any) -> list[Any]:
    """Something hashable for every row, equal for equal rows; `column_keys` serves tables."""
    if isinstance(X, list | TokenSequences | AttributeSequences):
        return [one.tobytes() if hasattr(one, "tobytes") else repr(one) for one in X]
    if is_sparse(X):
        ends = X.indptr
        return [(X.indices[a:b].tobytes(), X.data[a:b].tobytes()) for a, b in pairwise(ends)]
    if X.dtype == object:
        return [str(text) for text in X]
    return [row.tobytes() for row in np.ascontiguousarray(X)]


def duplicates(
    train: Rows,
    held_out: Rows,
    test: Rows,
    units: str = "rows",
    cure: str = "Remove duplicates, or split by group.",
) -> list[Finding]:
    """Held-out and test rows that stand elsewhere too."""
    parts = [train.X, held_out.X, test.X]
    keys: list[Any] = (
        column_keys(parts) if isinstance(train.X, dict) else [row_keys(X) for X in parts]
    )
    seen = keys[0]
    found = []
    # The last fit learns from the held-out rows too.
    for name, own, others in (
        ("held-out", keys[1], f"train {units}"),
        ("test", keys[2], f"train or held-out {units}"),
    ):
        if isinstance(own, np.ndarray):
            seen, own = np.sort(seen), np.sort(own)
            places = np.minimum(np.searchsorted(seen, own), len(seen) - 1)
            twice = int(np.count_nonzero(seen[places] == own))
            seen = np.concatenate([seen, own])
        else:
            known = set(seen)
            twice = sum(key in known for key in own)
            seen = [*seen, *own]
        if twice:
            share = 100 * twice / len(own)
            found.append(
                Finding(
                    "duplicates",
                    f"{twice} of {len(own)} {name} {units} ({share:.1f} %) stand among the "
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
    some, others = (_spaced(len(rows.y)) for rows in (train, held_out))
    y, y_held_out = train.y[some], held_out.y[others]
    base = alone(None, None, y, y_held_out)
    for name, first, second in _single_columns(inputs, train.X, held_out.X):
        score = alone(first[some], second[others], y, y_held_out)
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


def _spaced(n: int) -> slice:
    """Rows at even distances, few enough to be looked at column by column."""
    return slice(None, None, max(1, n // _LOOKED))


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
    keys, held_out_keys = _numbered(first, second, y, y_held_out)
    overall = float(np.mean(y))
    sums, counts = np.bincount(keys, weights=y), np.bincount(keys)
    means = np.where(counts > 0, sums / np.maximum(counts, 1), overall)
    guess = np.where(
        held_out_keys < len(means), means[np.minimum(held_out_keys, len(means) - 1)], overall
    )
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
    keys, held_out_keys = _numbered(first, second, y, y_held_out)
    classes, codes = distinct_values(y)
    shape = (int(keys.max()) + 1, len(classes))
    places = keys.astype(np.int64) * len(classes) + codes
    table = np.bincount(places, minlength=shape[0] * shape[1]).reshape(shape)
    best = np.where(table.any(axis=1), table.argmax(axis=1), np.bincount(codes).argmax())
    places = np.where(held_out_keys < len(best), best[np.minimum(held_out_keys, len(best) - 1)], 0)
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
    codes = [codes + 1 for codes in _codes([first, second])]
    return codes[0], np.where(codes[1] <= codes[0].max(initial=0), codes[1], 0)


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
    told = [f"{name}: {why}" for name, why in inputs.left_out if why != "on request"]
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
        counts: Counter[Any] = Counter(values.tolist())
        counts.pop(None, None)
        odd = _as_words(counts)
        odd = Counter({word.strip(): n for word, n in odd.items() if not _is_number(word)})
        share = 1 - odd.total() / max(1, counts.total())
        if _MIXED <= share < 1:
            common = ", ".join(repr(word) for word, _ in odd.most_common(3))
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


def _class_counts(y: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[np.intp]]:
    labels, codes = distinct_values(y)
    return labels, np.bincount(codes, minlength=len(labels))


def _listed(labels: Any, counts: Any, rest: str = "") -> tuple[str, ...]:
    """The first classes with their rows."""
    pairs = zip(labels[:_LISTED], counts[:_LISTED], strict=True)
    return tuple(f"{label}: {count}{rest}" for label, count in pairs)


def few_rows(y: npt.NDArray[Any]) -> list[Finding]:
    """Classes with next to no train rows."""
    labels, counts = _class_counts(y)
    few = counts < _FEW
    if not few.any():
        return []
    details = _listed(labels[few], counts[few])
    single = int((counts <= _SINGLE).sum())
    if 2 * single > len(labels) > 2:
        return [
            Finding(
                "few rows",
                f"{len(y)} train rows have {len(labels)} classes, and {single} of these have one "
                "or two rows each: most classes are learned from a single example, and their "
                "scores say next to nothing. Merge rare classes into one, predict a coarser label, "
                "collect more rows, or leave the rare classes out; is the target a name or a "
                "number of the row rather than a class?",
                "serious",
                details,
            )
        ]
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
    labels, counts = _class_counts(y)
    rare = counts < _RARE * len(y) / len(labels)
    if not rare.any():
        return []
    details = _listed(labels[rare], counts[rare], f" of {len(y)}")
    return [
        Finding(
            "imbalance",
            f"{int(rare.sum())} of {len(labels)} classes are rare among the train rows: accuracy "
            "hardly sees them. Look at the per-class scores, or decide by balanced_accuracy or a "
            "cost.",
            details=details,
        )
    ]
