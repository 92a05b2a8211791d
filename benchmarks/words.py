"""Word prediction: the word itself is the class, the words around it are the features.

Every word that occurs often enough is a class of its own, so a plain text makes tens of thousands
of them.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from benchmarks.data import Data, Matrix, _raw, read_texts

_WORD = re.compile(r"[a-z]+(?:'[a-z]+)?")
_NEAR = 4  # words on either side
_SEEN = 4  # occurrences that make a word a class
_MOST = 40  # examples of a class
_TEST_EVERY = 28


class Words(NamedTuple):
    """A corpus as rows: `words` names the columns of X and the classes of y alike."""

    data: Data
    words: npt.NDArray[np.str_]


def newsgroups_texts() -> list[str]:
    """Posts of 20newsgroups; replies quote others, so that some rows are near-duplicates."""
    return read_texts("20newsgroups", "train")[0]


def treebank_texts() -> list[str]:
    """The sentences of the English Web Treebank: another corpus, which hardly repeats itself."""
    sentences: list[str] = []
    for part in ("train", "dev", "test"):
        path = _raw("ud_english_ewt", f"en_ewt-ud-{part}.conllu.gz")
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            marker = "# text = "
            sentences += [line[len(marker) :] for line in lines if line.startswith(marker)]
    return sentences


def review_texts() -> list[str]:
    """Film reviews: a corpus as large as the newsgroups, without quoted posts."""
    return read_texts("imdb", "train")[0]


def word_prediction(texts: Iterable[str], seed: int = 0) -> Words:
    """Make rows of the words within four places of a word, L2-normalized, and its number.

    Words seen at least four times are classes and columns; at most 40 occurrences of each, drawn at
    random, become rows; the rows are shuffled before every 28th goes to the test set.
    """
    documents = [_WORD.findall(text.lower()) for text in texts]
    flat = np.array([word for document in documents for word in document])
    words, codes, counts = np.unique(flat, return_inverse=True, return_counts=True)
    numbers = np.where(counts >= _SEEN, np.cumsum(counts >= _SEEN) - 1, -1)[codes]
    # Gaps between documents keep windows from reaching over their borders.
    lengths = np.array([len(document) for document in documents])
    places = np.arange(len(flat)) + _NEAR * (np.repeat(np.arange(len(lengths)), lengths) + 1)
    line = np.full(len(flat) + _NEAR * (len(lengths) + 1), -1)
    line[places] = numbers
    positions = _drawn(np.flatnonzero(line >= 0), line, np.random.default_rng(seed))
    X = _windows(line, positions, int(numbers.max()) + 1)
    y = line[positions].astype(np.int64)
    full = np.diff(X.indptr) > 0
    X, y = X[full], y[full]
    test = np.arange(len(y)) % _TEST_EVERY == 0
    return Words(Data(X[~test], y[~test], X[test], y[test]), words[counts >= _SEEN])


def _drawn(
    positions: npt.NDArray[np.int64], line: npt.NDArray[np.int64], generator: np.random.Generator
) -> npt.NDArray[np.int64]:
    """At most `_MOST` positions of every word, in random order."""
    positions = generator.permutation(positions)
    order = np.argsort(line[positions], kind="stable")
    sorted_words = line[positions][order]
    first = np.searchsorted(sorted_words, sorted_words)
    kept = order[np.arange(len(order)) - first < _MOST]
    # Shuffled once more: among the first occurrences frequent words are too many.
    return generator.permutation(positions[kept])


def _windows(line: npt.NDArray[np.int64], positions: npt.NDArray[np.int64], n_words: int) -> Matrix:
    offsets = np.array([o for o in range(-_NEAR, _NEAR + 1) if o])
    near = line[positions[:, None] + offsets]
    rows, columns = np.nonzero(near >= 0)
    ones = np.ones(len(rows), dtype=np.float32)
    X = sparse.csr_matrix((ones, (rows, near[rows, columns])), shape=(len(positions), n_words))
    X.sum_duplicates()
    lengths = np.repeat(np.diff(X.indptr), np.diff(X.indptr))
    X.data = (1 / np.sqrt(lengths)).astype(np.float32)
    return X
