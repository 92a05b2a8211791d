"""What each word of a text adds: from the terms of an explanation to places in the text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

from separatrix.explanation.models import CHARACTERS

__all__ = ["word_shares"]

_WORD = re.compile(r"\S+")
_SPACES = re.compile(r"\s\s+")


def word_shares(vectorizer: Any, text: str, adds: Mapping[str, float]) -> list[list[float]]:
    """What the words of a text add to the score.

    A term that occurs n times gives each occurrence 1/n of what it adds, and each of its words an
    equal share of that; terms of characters give it to the words that they overlap.

    Parameters
    ----------
    vectorizer : TextVectorizer, or FeatureUnion of such
        How terms are made.
    text : str
        The text.
    adds : mapping of str to float
        What each term adds.

    Returns
    -------
    list of [first, last, share]
        Places in the text, in characters, `last` excluded, in its order.

    Examples
    --------
    >>> from separatrix import TextVectorizer
    >>> word_shares(TextVectorizer(ngram_range=(1, 2)), "Free, free lunch", {"free": 2.0})
    [[0, 4, 1.0], [6, 10, 1.0], [11, 16, 0.0]]
    """
    if hasattr(vectorizer, "transformer_list"):
        return _of_union(vectorizer.transformer_list, text, adds)
    if vectorizer.analyzer == "word":
        spans, grams = _word_grams(vectorizer, text)
    else:
        spans, grams = _character_grams(vectorizer, text)
    counts = Counter(term for term, _ in grams)
    shares = [0.0] * len(spans)
    for term, words in grams:
        if term in adds and words:
            part = adds[term] / counts[term] / len(words)
            for word in words:
                shares[word] += part
    return [[first, last, share] for (first, last), share in zip(spans, shares, strict=True)]


def _of_union(parts: Any, text: str, adds: Mapping[str, float]) -> list[list[float]]:
    """The shares by all vectorizers of a union, put together for what stands between spaces."""
    spans = [found.span() for found in _WORD.finditer(text)]
    shares = [0.0] * len(spans)
    for _, vectorizer in parts:
        ahead, behind = CHARACTERS[vectorizer.analyzer].split("{}")
        own = {
            term.removeprefix(ahead).removesuffix(behind): add
            for term, add in adds.items()
            if term.startswith(ahead) and term.endswith(behind)
        }
        for first, _, share in word_shares(vectorizer, text, own):
            shares[next(at for at, (_, last) in enumerate(spans) if first < last)] += share
    return [[first, last, share] for (first, last), share in zip(spans, shares, strict=True)]


_Grams = list[tuple[str, list[int]]]


def _word_grams(vectorizer: Any, text: str) -> tuple[list[tuple[int, int]], _Grams]:
    """Places of the words, and terms with the numbers of their words."""
    seen, places = _prepared(vectorizer, text)
    stopped = _plain(vectorizer).get_stop_words() or ()
    spans, words = [], []
    for found in re.finditer(vectorizer.token_pattern, seen):
        group = 1 if found.re.groups else 0
        first, last = found.span(group)
        if first < last and found[group] not in stopped:
            spans.append((places[first], places[last - 1] + 1))
            words.append(found[group])
    least, largest = vectorizer.ngram_range
    return spans, [
        (" ".join(words[at : at + n]), list(range(at, at + n)))
        for n in range(least, largest + 1)
        for at in range(len(words) - n + 1)
    ]


def _character_grams(vectorizer: Any, text: str) -> tuple[list[tuple[int, int]], _Grams]:
    """The same for terms of characters; words are what stands between spaces."""
    spans = [found.span() for found in _WORD.finditer(text)]
    least, largest = vectorizer.ngram_range
    if vectorizer.analyzer == "char_wb":
        analyze = vectorizer.build_analyzer()
        return spans, [
            (term, [at])
            for at, (first, last) in enumerate(spans)
            for term in analyze(text[first:last])
        ]
    seen, places = _prepared(vectorizer, text)
    # Several spaces are one to the analyzer.
    kept = [
        at for at in range(len(seen)) if not (seen[at].isspace() and seen[at - 1 : at].isspace())
    ]
    seen = _SPACES.sub(" ", seen)
    numbers = {place: at for at, span in enumerate(spans) for place in range(*span)}
    owners = [numbers.get(places[at], -1) for at in kept]
    return spans, [
        (seen[at : at + n], sorted({owner for owner in owners[at : at + n] if owner >= 0}))
        for n in range(least, largest + 1)
        for at in range(len(seen) - n + 1)
    ]


def _prepared(vectorizer: Any, text: str) -> tuple[str, list[int]]:
    """The text with its case and accents changed, and the place that each character came from."""
    prepare = _plain(vectorizer).build_preprocessor()
    made = [(part, place) for place, character in enumerate(text) for part in prepare(character)]
    return "".join(part for part, _ in made), [place for _, place in made]


def _plain(vectorizer: Any) -> Any:
    """scikit-learn's own steps, as the vectorizer's analyzer takes them."""
    from sklearn.feature_extraction.text import CountVectorizer

    return CountVectorizer(
        lowercase=vectorizer.lowercase,
        strip_accents=vectorizer.strip_accents,
        stop_words=vectorizer.stop_words,
    )
