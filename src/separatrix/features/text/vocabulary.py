"""Vocabularies: what was counted, which terms are kept, and what they are called."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from numbers import Integral
from typing import Any

import numpy as np
import numpy.typing as npt

from separatrix._core import TextCounter, TextIndex, TextTerms
from separatrix.errors import DataError, ParameterError
from separatrix.features.text.analysis import Analysis

__all__ = ["TermCounts", "Vocabulary", "check_limits", "fixed_vocabulary", "select_terms"]

_Names = tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]


class Vocabulary:
    """Terms in the order of their columns, and the table to look them up.

    Parameters
    ----------
    terms : TextTerms
        The terms.
    analysis : Analysis
        How documents are taken apart.
    """

    def __init__(self, terms: TextTerms, analysis: Analysis) -> None:
        self.terms = terms
        self.analysis = analysis
        self._index: TextIndex | None = None
        self._names: list[str] | None = None

    def __len__(self) -> int:
        return self.terms.n_terms

    @property
    def index(self) -> TextIndex:
        """The look-up table, made on first use."""
        if self._index is None:
            self._index = TextIndex(self.analysis.handle, self.terms)
        return self._index

    @property
    def names(self) -> list[str]:
        """The terms as strings."""
        if self._names is None:
            self._names = _unpack(self.terms.names())
        return self._names

    def __getstate__(self) -> dict[str, Any]:
        return {"names": self.terms.names(), "analysis": self.analysis}

    def __setstate__(self, state: dict[str, Any]) -> None:
        analysis = state["analysis"]
        names, ends = state["names"]
        self.__init__(TextTerms(names, ends, analysis.kind), analysis)  # type: ignore[misc]


class TermCounts:
    """A counter of terms that survives a pickle.

    Parameters
    ----------
    analysis : Analysis
        How documents are taken apart.
    tally : {"nothing", "occurrences", "documents"}
        What is counted per class besides the documents that hold a term.
    """

    def __init__(self, analysis: Analysis, tally: str) -> None:
        self.analysis = analysis
        self.tally = tally
        self.counter = TextCounter(analysis.handle, tally)

    def __getstate__(self) -> dict[str, Any]:
        terms = self.counter.finish(1.0, np.inf, 1)
        return {
            "analysis": self.analysis,
            "tally": self.tally,
            "names": terms.names(),
            "frequency": terms.frequency(),
            "counts": terms.counts(),
            "n_documents": self.counter.n_documents,
        }

    def merge(self, other: TermCounts) -> TermCounts:
        """The counts of the documents of both, which are taken apart in the same way."""
        mine, theirs = self.__getstate__(), other.__getstate__()
        both = [_unpack(state["names"]) for state in (mine, theirs)]
        # Python's order of strings is that of their UTF-8, which the counter keeps.
        terms = sorted({*both[0], *both[1]})
        numbers = {term: number for number, term in enumerate(terms)}
        joined = dict(mine, names=_pack(terms))
        for name in ("frequency", "counts"):
            tables = [state[name] for state in (mine, theirs)]
            if self.tally == "nothing" and name == "counts":
                continue
            width = max(table.shape[1] for table in tables) if tables[0].ndim == 2 else None
            shape = (len(terms),) if width is None else (len(terms), width)
            total = np.zeros(shape, dtype=tables[0].dtype)
            for names, table in zip(both, tables, strict=True):
                places = np.array([numbers[term] for term in names], dtype=np.intp)
                if width is None:
                    total[places] += table
                else:
                    total[places, : table.shape[1]] += table
            joined[name] = total
        joined["n_documents"] = mine["n_documents"] + theirs["n_documents"]
        result = TermCounts.__new__(TermCounts)
        result.__setstate__(joined)
        return result

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.analysis, self.tally = state["analysis"], state["tally"]
        counts = None if self.tally == "nothing" else state["counts"]
        names, ends = state["names"]
        terms = TextTerms(names, ends, self.analysis.kind, state["frequency"], counts)
        self.counter = TextCounter.restored(
            self.analysis.handle, self.tally, terms, state["n_documents"]
        )


def _unpack(names: _Names) -> list[str]:
    data, ends = names[0].tobytes(), names[1].tolist()
    if data.isascii():
        # Then bytes are characters, and one decoding serves all.
        text = data.decode("ascii")
        return [text[i:j] for i, j in zip([0, *ends[:-1]], ends, strict=True)]
    return [data[i:j].decode("utf-8") for i, j in zip([0, *ends[:-1]], ends, strict=True)]


def _pack(names: list[str]) -> _Names:
    encoded = [name.encode("utf-8") for name in names]
    ends = np.cumsum([len(name) for name in encoded], dtype=np.int64)
    return np.frombuffer(b"".join(encoded), dtype=np.uint8), ends


def fixed_vocabulary(vocabulary: Any, analysis: Analysis) -> Vocabulary:
    """The vocabulary that the user gave: a mapping from term to column, or an iterable of terms."""
    if isinstance(vocabulary, Mapping):
        columns = set(vocabulary.values())
        if len(columns) != len(vocabulary):
            raise ParameterError("Vocabulary contains repeated indices.")
        for i in range(len(vocabulary)):
            if i not in columns:
                raise ParameterError(
                    f"Vocabulary of size {len(vocabulary)} doesn't contain index {i}."
                )
        names = sorted(vocabulary, key=vocabulary.__getitem__)
    elif isinstance(vocabulary, str) or not isinstance(vocabulary, Iterable):
        raise ParameterError(f"vocabulary must be a mapping or a list of terms, got {vocabulary!r}")
    else:
        is_set = isinstance(vocabulary, set | frozenset)
        names = sorted(vocabulary) if is_set else list(vocabulary)
        seen: set[Any] = set()
        for name in names:
            if name in seen:
                raise ParameterError(f"Duplicate term in vocabulary: {name!r}")
            seen.add(name)
    if not names:
        raise ParameterError("empty vocabulary passed to fit")
    for name in names:
        if not isinstance(name, str):
            raise ParameterError(f"vocabulary must hold strings, got {name!r}")
    packed, ends = _pack(names)
    return Vocabulary(TextTerms(packed, ends, analysis.kind), analysis)


def _check_df(name: str, value: Any) -> None:
    whole = isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= 1
    share = isinstance(value, float | np.floating) and 0 <= value <= 1
    if not (whole or share):
        raise ParameterError(
            f"{name} must be a whole number of documents >= 1 or a share of them from 0.0 to 1.0, "
            f"got {value!r}"
        )


def check_limits(min_df: Any, max_df: Any, max_features: Any) -> None:
    """Raise ParameterError unless these are limits on a vocabulary."""
    _check_df("min_df", min_df)
    _check_df("max_df", max_df)
    if max_features is None:
        return
    if not isinstance(max_features, Integral) or int(max_features) < 1:
        raise ParameterError(f"max_features must be None or a whole number, got {max_features!r}")


def select_terms(
    counts: TermCounts,
    *,
    min_df: Any,
    max_df: Any,
    max_features: int | None,
    dtype: np.dtype[Any],
    n_threads: int,
) -> TextTerms:
    """The terms between `min_df` and `max_df`, the `max_features` most frequent of them, sorted.

    The rules are scikit-learn's, those for equal frequencies included.
    """
    counter = counts.counter
    n = counter.n_documents
    if n == 0:
        raise DataError("empty vocabulary; there are no documents")
    high = float(max_df) if isinstance(max_df, Integral) else max_df * n
    low = float(min_df) if isinstance(min_df, Integral) else min_df * n
    if high < low:
        raise ParameterError(
            f"max_df corresponds to < documents than min_df: of {n} documents, a term has to be in "
            f"at most {high:g} and at least {low:g}"
        )
    terms = counter.finish(low, high, n_threads)
    if not terms.n_terms:
        if not counter.finish(0.0, np.inf, n_threads).n_terms:
            raise DataError("empty vocabulary; perhaps the documents only contain stop words")
        raise DataError("After pruning, no terms remain. Try a lower min_df or a higher max_df.")
    if max_features is not None and terms.n_terms > max_features:
        frequencies = terms.counts().sum(axis=1).astype(dtype)
        keep = np.zeros(terms.n_terms, dtype=np.bool_)
        # The same call as scikit-learn's, so that the same terms win where they are equal.
        keep[(-frequencies).argsort()[:max_features]] = True
        terms = terms.restricted(keep)
    return terms
