"""The baselines on sequences: labels by their frequency, without any regard to the neighbors."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from separatrix.data import TokenSequences, Vocabulary
from separatrix.errors import DataError
from separatrix.features.templates.columns import find_column, token_sequences
from separatrix.metrics.sequences import token_accuracy
from separatrix.structures.coded_labels import CodedLabels, encode_tags
from separatrix.validation import refuse_dask

__all__ = ["LabelPerWord", "MajorityLabel"]

Integers = npt.NDArray[np.int64]


class MajorityLabel(BaseEstimator):  # type: ignore[misc]
    """Gives every token the label that is the most frequent in training.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
        The labels, sorted.
    label_prior_ : ndarray of shape (K,)
        Share of the training tokens that have each label.

    Examples
    --------
    >>> from separatrix.learners.structured import MajorityLabel
    >>> baseline = MajorityLabel().fit([["the", "cat"], ["cats"]], [["D", "N"], ["N"]])
    >>> baseline.predict([["a", "cat"]])
    [['N', 'N']]
    """

    #: What it takes, for model files.
    __sx_input__: ClassVar[str] = "sequences"
    #: The kind of its output, for model files.
    __sx_task__: ClassVar[str] = "tagging"
    __sx_state__: ClassVar[tuple[str, ...]] = ("classes_", "label_prior_")

    classes_: npt.NDArray[Any]
    label_prior_: npt.NDArray[np.float64]

    def fit(self, X: Any, y: Any) -> Self:
        """Count the labels.

        Parameters
        ----------
        X : TokenSequences or sequence of n sequences of tokens
            A token is a string, a tuple of strings or a dict of columns.
        y : TokenColumn or sequence of n sequences of labels

        Returns
        -------
        self
        """
        refuse_dask(self, X, y)
        self._count(X, y)
        return self

    def _count(self, X: Any, y: Any) -> tuple[TokenSequences, CodedLabels]:
        tokens = X if hasattr(X, "offsets") else token_sequences(X)
        if tokens.offsets[-1] == 0:
            raise DataError("Found array with 0 sample(s): X holds no token")
        tags = encode_tags(y, tokens.offsets)
        self.classes_ = tags.classes
        counts = np.bincount(tags.codes, minlength=len(tags.classes))
        self.label_prior_ = counts / counts.sum()
        return tokens, tags

    def predict(self, X: Any) -> list[list[Any]]:
        """A label for every token of every sequence."""
        check_is_fitted(self, "classes_")
        tokens = X if hasattr(X, "offsets") else token_sequences(X)
        labels = self.classes_[self._codes(tokens)].tolist()
        return [labels[a:b] for a, b in pairwise(tokens.offsets.tolist())]

    def _codes(self, tokens: TokenSequences) -> Integers:
        return np.full(int(tokens.offsets[-1]), self.label_prior_.argmax())

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Share of the tokens that are labeled right, sequences weighted by `sample_weight`."""
        return token_accuracy(y, self.predict(X), sample_weight=sample_weight)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.two_d_array = False
        tags.input_tags.string = True
        return tags


@dataclass(eq=False, repr=False)
class LabelPerWord(MajorityLabel):
    """Gives every token the label that its word has most often in training.

    A word that was not seen there gets the most frequent label; of labels that are equally
    frequent the first wins.

    Parameters
    ----------
    column : str, default="word"
        Column of the words: its name, its position, or "word" for the usual one.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
        The labels, sorted.
    label_prior_ : ndarray of shape (K,)
        Share of the training tokens that have each label.

    Examples
    --------
    >>> from separatrix.learners.structured import LabelPerWord
    >>> baseline = LabelPerWord().fit([["the", "cat"], ["cats"]], [["D", "N"], ["N"]])
    >>> baseline.predict([["the", "dog"]])
    [['D', 'N']]
    """

    __sx_state__: ClassVar[tuple[str, ...]] = ("_words", "_best")

    _words: tuple[npt.NDArray[np.uint8], Integers] = field(init=False)
    _best: Integers = field(init=False)

    column: str = "word"

    def fit(self, X: Any, y: Any) -> Self:
        """Count the labels of each word; parameters as those of `MajorityLabel.fit`."""
        refuse_dask(self, X, y)
        tokens, tags = self._count(X, y)
        words, K = find_column(tokens, self.column), len(tags.classes)
        there = words.codes >= 0
        cells = words.codes[there].astype(np.int64) * K + tags.codes[there]
        counts = np.bincount(cells, minlength=len(words.vocabulary) * K).reshape(-1, K)
        seen = np.flatnonzero(counts.any(axis=1))
        known = Vocabulary.of(words.vocabulary.array[seen].tolist())
        # As arrays, for model files.
        self._words = np.frombuffer(known.data, dtype=np.uint8), known.offsets
        self._best = counts[seen].argmax(axis=1)
        return self

    def _codes(self, tokens: TokenSequences) -> Integers:
        words = find_column(tokens, self.column)
        known = Vocabulary(np.asarray(self._words[0]).tobytes(), np.asarray(self._words[1]))
        numbers = words.vocabulary.numbers_in(known)
        best = np.append(self._best, self.label_prior_.argmax())  # -1 finds the last
        # A token without a word has the number -1, and so has a word that was not seen.
        found: Integers = best[np.append(numbers, -1)[words.codes]]
        return found

    def __sx_check__(self) -> None:
        """Raise DataError unless the arrays of a loaded model agree with each other."""
        if not hasattr(self, "classes_"):
            return
        data, offsets = (np.asarray(part) for part in self._words)
        good = (
            len(offsets) == len(self._best) + 1
            and int(offsets[0]) == 0
            and int(offsets[-1]) == len(data)
            and bool((np.diff(offsets) >= 0).all())
            and bool(((self._best >= 0) & (self._best < len(self.classes_))).all())
            and self.label_prior_.shape == self.classes_.shape
        )
        if not good:
            raise DataError("the words do not fit their labels")
