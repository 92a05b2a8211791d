"""Shares of words: they add up to what the terms add, whatever the terms are."""

from __future__ import annotations

import numpy as np
import pytest

from separatrix import TextVectorizer
from separatrix.tasks.words import word_shares

TEXT = "Free  lunch?\n\nThe Straße was free; naïve Café, free-lunch İstanbul 😀 42 a"


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"ngram_range": (1, 3)},
        {"ngram_range": (2, 2)},
        {"lowercase": False},
        {"strip_accents": "unicode"},
        {"stop_words": ["the", "was"], "ngram_range": (1, 2)},
        {"token_pattern": r"(?u)\b(\w+)\b"},
        {"analyzer": "char_wb", "ngram_range": (2, 4)},
        {"analyzer": "char", "ngram_range": (2, 3)},
        {"analyzer": "char", "ngram_range": (2, 3), "strip_accents": "unicode"},
    ],
    ids=str,
)
def test_shares_add_up(options):
    vectorizer = TextVectorizer(use_idf=False, norm=None, **options).fit([TEXT, "the other text"])
    terms = dict.fromkeys(vectorizer.build_analyzer()(TEXT))
    random = np.random.default_rng(0)
    adds = dict(zip(terms, random.normal(size=len(terms)).tolist(), strict=True))
    if options.get("analyzer") == "char":  # spaces alone belong to no word
        adds = {term: value for term, value in adds.items() if term.strip()}
    found = word_shares(vectorizer, TEXT, adds)
    assert sum(share for _, _, share in found) == pytest.approx(sum(adds.values()))
    words = [TEXT[first:last] for first, last, _ in found]
    assert "Free" in words and "Straße" in words  # noqa: PT018
    assert [first for first, _, _ in found] == sorted(first for first, _, _ in found)


def test_an_unknown_term_adds_nothing():
    vectorizer = TextVectorizer().fit(["a text"])
    assert word_shares(vectorizer, "no such words", {}) == [[0, 2, 0.0], [3, 7, 0.0], [8, 13, 0.0]]
    assert word_shares(vectorizer, "", {"text": 1.0}) == []
