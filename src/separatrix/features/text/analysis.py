"""How a vectorizer takes documents apart: in the kernels, or by `re` for a pattern of its own."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from separatrix._core import TextAnalyzer
from separatrix.errors import DataError, ParameterError, UnusedParameterWarning
from separatrix.features.text.characters import characters, strip_accents_of
from separatrix.features.text.documents import iterate, take_documents
from separatrix.validation import check_choice, check_sparse

__all__ = ["TOKEN_PATTERN", "Analysis", "make_analysis"]

#: The pattern of words that the kernels know: scikit-learn's default.
TOKEN_PATTERN = r"(?u)\b\w\w+\b"
_SAME_PATTERNS = (TOKEN_PATTERN, r"\b\w\w+\b")


@dataclass(frozen=True)
class Analysis:
    """The settings that decide which terms a document holds.

    Attributes
    ----------
    analyzer : {"word", "char", "char_wb"}
        What terms are made of.
    ngram_range : (int, int)
        Least and largest number of words or characters in a term.
    lowercase : bool
        Whether case is folded.
    strip_accents : {None, "ascii", "unicode"}
        Which accents are stripped.
    stop_words : tuple of str
        Words that are left out, sorted.
    token_pattern : str or None
        A pattern for Python's `re`; None for the default, which the kernels know.
    """

    analyzer: str
    ngram_range: tuple[int, int]
    lowercase: bool
    strip_accents: str | None
    stop_words: tuple[str, ...]
    token_pattern: str | None

    @property
    def kind(self) -> str:
        """How the kernels take documents: as `analyzer` says, or "given" as lists of terms."""
        return "given" if self.token_pattern is not None else self.analyzer

    @property
    def handle(self) -> TextAnalyzer:
        """The analyzer of the kernels."""
        return _handle(self)

    def documents(self, X: Any) -> Any:
        """X as the kernels take it: documents, or their terms where a pattern was given."""
        check_sparse(X)
        if self.token_pattern is None:
            return take_documents(X)
        return self._terms(iterate(X))

    def _terms(self, documents: Iterable[Any]) -> Iterator[list[str]]:
        find = re.compile(self.token_pattern or TOKEN_PATTERN).findall
        stop_words = frozenset(self.stop_words)
        low, high = self.ngram_range
        for row, document in enumerate(documents):
            if not isinstance(document, str):
                raise DataError(
                    f"The document in row {row} is missing or no string "
                    f"({type(document).__name__}); expected a str."
                )
            text = document.lower() if self.lowercase else document
            words = [
                w for w in find(strip_accents_of(text, self.strip_accents)) if w not in stop_words
            ]
            yield [
                " ".join(words[i : i + n])
                for n in range(low, min(high, len(words)) + 1)
                for i in range(len(words) - n + 1)
            ]


@lru_cache(maxsize=32)
def _handle(analysis: Analysis) -> TextAnalyzer:
    tables = characters(analysis.lowercase, analysis.strip_accents)
    low, high = analysis.ngram_range
    return TextAnalyzer(tables, analysis.kind, low, high, list(analysis.stop_words))


def make_analysis(estimator: Any) -> Analysis:
    """Check the parameters of a vectorizer that decide its terms."""
    if callable(estimator.analyzer):
        raise ParameterError(
            "an analyzer in Python is not taken: say by analyzer, ngram_range and token_pattern "
            "what a term is; separatrix.compat.sklearn.TfidfVectorizer takes it"
        )
    check_choice("analyzer", estimator.analyzer, ("word", "char", "char_wb"))
    check_choice("strip_accents", estimator.strip_accents, (None, "ascii", "unicode"))
    pattern = estimator.token_pattern
    if pattern is None or pattern in _SAME_PATTERNS:
        pattern = None
    elif estimator.analyzer != "word":
        raise ParameterError('token_pattern is for analyzer="word" only')
    else:
        _check_pattern(pattern)
    stop_words = estimator.stop_words
    if stop_words is not None and estimator.analyzer != "word":
        raise ParameterError('stop_words are for analyzer="word" only')
    return Analysis(
        estimator.analyzer,
        _check_range(estimator.ngram_range),
        bool(estimator.lowercase),
        estimator.strip_accents,
        _check_stop_words(stop_words, bool(estimator.lowercase)),
        pattern,
    )


def _check_pattern(pattern: Any) -> None:
    try:
        groups = re.compile(pattern).groups
    except (re.error, TypeError) as error:
        raise ParameterError(f"token_pattern {pattern!r} is no pattern: {error}") from None
    if groups > 1:
        raise ParameterError(
            "More than 1 capturing group in token pattern. Only a single group should be captured."
        )


def _check_range(ngram_range: Any) -> tuple[int, int]:
    try:
        low, high = (int(n) for n in ngram_range)
    except (TypeError, ValueError):
        low, high = 0, 0
    if not 1 <= low <= high < 1 << 16:
        raise ParameterError(
            f"ngram_range must be (low, high) with 1 <= low <= high, got {ngram_range!r}"
        )
    return low, high


def _check_stop_words(stop_words: Any, lowercase: bool) -> tuple[str, ...]:
    if stop_words is None:
        return ()
    if isinstance(stop_words, str):
        if stop_words != "english":
            raise ParameterError(f"not a built-in stop list: {stop_words}")
        stop_words = ENGLISH_STOP_WORDS
    words = list(stop_words)
    for word in words:
        if not isinstance(word, str):
            raise ParameterError(f"stop_words must be strings, got {word!r}")
    upper = [word for word in words if lowercase and word != word.lower()]
    if upper:
        warnings.warn(
            f"{len(upper)} of the stop words match no word, as case is folded first ({upper[0]!r}, "
            f"not {upper[0].lower()!r}): give them in lower case, or say lowercase=False",
            UnusedParameterWarning,
            stacklevel=2,
        )
    return tuple(sorted(words))
