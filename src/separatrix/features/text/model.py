"""What a text vectorizer learns: counts, then a vocabulary and the weights of its columns."""

from __future__ import annotations

from copy import deepcopy
from numbers import Integral
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt

from separatrix._core import TextRows, hash_text
from separatrix.errors import DataError, ParameterError
from separatrix.features.sparse import check_float, make_csr
from separatrix.features.text.analysis import make_analysis
from separatrix.features.text.log_ratio import TwoClasses, log_count_ratio
from separatrix.features.text.vocabulary import (
    TermCounts,
    Vocabulary,
    check_limits,
    fixed_vocabulary,
    select_terms,
)
from separatrix.validation import check_choice, number_of_threads

__all__ = ["TextModel", "merged_models"]


class TextModel:
    """The learned part of a `TextVectorizer`.

    Terms are counted while they come; a vocabulary is selected when it is needed. With fixed
    columns (a given vocabulary, or hashing) only what falls into each column is counted.

    Parameters
    ----------
    estimator : TextVectorizer
        Whose parameters are checked and copied.
    """

    def __init__(self, estimator: Any) -> None:
        settings = SimpleNamespace(**estimator._settings())
        _check(settings)
        self.settings = settings
        self.dtype = check_float(settings.dtype)
        self.analysis = make_analysis(settings)
        self.labels: TwoClasses | None = None
        self.n_documents = 0
        self.counts: TermCounts | None = None
        self.vocabulary: Vocabulary | None = None
        self.frequency: npt.NDArray[np.float64] | None = None
        self.class_counts: npt.NDArray[np.float64] | None = None
        self._idf: tuple[Any, int, npt.NDArray[np.float64]] | None = None
        if settings.vocabulary is not None:
            self.vocabulary = fixed_vocabulary(settings.vocabulary, self.analysis)
        elif settings.n_features is None:
            self.counts = TermCounts(self.analysis, _tally(settings))

    def __getstate__(self) -> dict[str, Any]:
        # What can be made from the settings is left out.
        made = ("dtype", "analysis", "_idf")
        kept = {key: value for key, value in vars(self).items() if key not in made}
        return kept | {"settings": vars(self.settings)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self.settings = SimpleNamespace(**state["settings"])
        self.dtype = check_float(self.settings.dtype)
        self.analysis = make_analysis(self.settings)
        self._idf = None

    def count(
        self, X: Any, y: Any, classes: Any, *, keep: bool, n_jobs: int | None
    ) -> TextRows | None:
        """Count documents.

        Parameters
        ----------
        X : iterable of str, or column of strings, of length n
            The documents.
        y : array-like of shape (n,) or None
            Labels, where the log-count ratio is wanted.
        classes : array-like of shape (2,) or None
            Both labels; None takes those of `y`.
        keep : bool
            Whether `settle` is to return the rows.
        n_jobs : int or None
            Threads.

        Returns
        -------
        TextRows or None
            The rows, with fixed columns.
        """
        codes = self._encode(y, classes)
        if self.counts is None:
            rows = self.rows(X, n_jobs)
            _check_length(rows.n_rows, codes)
            self._add_columns(rows, codes)
            self.n_documents += rows.n_rows
            return rows
        counter = self.counts.counter
        self.vocabulary = None  # selected anew when it is needed
        documents = self.analysis.documents(X)
        try:
            n = counter.feed(documents, codes, keep, number_of_threads(n_jobs))
        finally:
            self.n_documents = counter.n_documents
        _check_length(n, codes)
        return None

    def merge(self, other: TextModel) -> None:
        """Add what another model of the same settings has counted, before either is settled."""
        if self.labels is None:
            self.labels = other.labels
        self.n_documents += other.n_documents
        if self.counts is not None and other.counts is not None:
            self.counts = self.counts.merge(other.counts)
            self.vocabulary = None
            return
        for name in ("frequency", "class_counts"):
            mine, theirs = getattr(self, name), getattr(other, name)
            if mine is None or theirs is None:
                setattr(self, name, theirs if mine is None else mine)
            else:
                setattr(self, name, mine + theirs)

    def settle(self, rows: TextRows | None, *, keep: bool, n_jobs: int | None) -> TextRows | None:
        """Select the vocabulary and forget the counts; the rows that were kept."""
        if self.counts is not None:
            vocabulary = self.learned_vocabulary(n_jobs)
            if keep:
                rows = self.counts.counter.rows(vocabulary.terms, number_of_threads(n_jobs))
            self.counts = None
        return rows

    def learned_vocabulary(self, n_jobs: int | None = None) -> Vocabulary:
        """The vocabulary, selected from what was counted where that is still to be done."""
        if self.vocabulary is None:
            if self.counts is None:
                raise ParameterError("with n_features terms are hashed and there is no vocabulary")
            settings = self.settings
            terms = select_terms(
                self.counts,
                min_df=settings.min_df,
                max_df=settings.max_df,
                max_features=settings.max_features,
                dtype=self.dtype,
                n_threads=number_of_threads(n_jobs),
            )
            self.frequency = terms.frequency().astype(np.float64)
            if settings.nb_log_ratio:
                self.class_counts = terms.counts().T.astype(np.float64)
            self.vocabulary = Vocabulary(terms, self.analysis)
        return self.vocabulary

    @property
    def width(self) -> int:
        """Number of columns."""
        if self.settings.n_features is not None:
            return int(self.settings.n_features)
        return len(self.learned_vocabulary())

    def idf(self) -> npt.NDArray[np.float64] | None:
        """ln((N + s) / (df + s)) + 1 with s = 1 where it is smoothed, else 0."""
        if not self.settings.use_idf:
            return None
        width = self.width  # selects the vocabulary where that is to be done, with its frequencies
        # A service asks for every document, and the logarithms of a large vocabulary take longer
        # than its words.
        if self._idf is not None:
            counted, n_documents, idf = self._idf
            if counted is self.frequency and n_documents == self.n_documents:
                return idf
        frequency = np.zeros(width) if self.frequency is None else self.frequency
        smooth = float(bool(self.settings.smooth_idf))
        with np.errstate(divide="ignore"):  # a given term that was never seen: infinite weight
            ratio = (self.n_documents + smooth) / (frequency + smooth)
        idf = np.log(ratio) + 1.0
        idf.flags.writeable = False
        self._idf = self.frequency, self.n_documents, idf
        return idf

    def log_ratio(self) -> npt.NDArray[np.float64] | None:
        """The naive-Bayes log-count ratio of every column, where it is wanted."""
        if not self.settings.nb_log_ratio or self.width == 0 or self.class_counts is None:
            return None
        return log_count_ratio(self.class_counts)

    def rows(self, X: Any, n_jobs: int | None) -> TextRows:
        """The occurrences of the columns in documents."""
        n_threads = number_of_threads(n_jobs)
        settings = self.settings
        if settings.n_features is None:
            index = self.learned_vocabulary(n_jobs).index
            return index.rows(self.analysis.documents(X), n_threads)
        documents, signed = self.analysis.documents(X), bool(settings.alternate_sign)
        return hash_text(self.analysis.handle, documents, self.width, signed, n_threads)

    def matrix(self, rows: TextRows, n_jobs: int | None) -> Any:
        """The weighted matrix of rows."""
        width = self.width  # before the weights, which it may have to wait for
        arrays = rows.weigh(
            width,
            bool(self.settings.binary),
            bool(self.settings.sublinear_tf),
            self.idf(),
            self.settings.norm or "none",
            self.log_ratio(),
            self.dtype == np.float32,
            number_of_threads(n_jobs),
        )
        return make_csr(*arrays, width)

    def _encode(self, y: Any, classes: Any) -> npt.NDArray[np.uint8] | None:
        if not self.settings.nb_log_ratio:
            return None
        if self.labels is None:
            self.labels = TwoClasses.of(y, classes)
        return self.labels.encode(y)

    def _add_columns(self, rows: TextRows, codes: npt.NDArray[np.uint8] | None) -> None:
        """Count what fell into fixed columns."""
        if self.settings.use_idf:
            frequency = rows.frequency(self.width)
            self.frequency = frequency if self.frequency is None else self.frequency + frequency
        if codes is not None:
            counts = rows.counts(self.width, codes, bool(self.settings.binary))
            held = self.class_counts
            self.class_counts = counts if held is None else held + counts


def merged_models(first: Any, second: Any) -> TextModel:
    """What two vectorizers with the same parameters learned by `partial_fit`, together."""
    for one in (first, second):
        if not hasattr(one, "_model") or one._from_fit:
            raise ParameterError("merge joins vectorizers that learned by partial_fit")
    theirs = second.get_params()
    for name, value in first.get_params().items():
        if name != "n_jobs" and repr(value) != repr(theirs[name]):
            raise ParameterError(f"the two vectorizers differ in {name}, so they do not merge")
    merged: TextModel = deepcopy(first._model)
    merged.merge(second._model)
    return merged


def _check_length(n: int, codes: npt.NDArray[np.uint8] | None) -> None:
    if codes is not None and n != len(codes):
        raise DataError(f"X has {n} rows, y has {len(codes)}")


def _tally(settings: Any) -> str:
    """What is to be counted besides the documents that hold a term."""
    if not settings.nb_log_ratio and settings.max_features is None:
        return "nothing"
    return "documents" if settings.binary else "occurrences"


def _check(settings: Any) -> None:
    check_choice("norm", settings.norm, ("l2", "l1", None))
    check_limits(settings.min_df, settings.max_df, settings.max_features)
    n_features = settings.n_features
    if n_features is None:
        return
    if not isinstance(n_features, Integral) or not 1 <= int(n_features) < 2**31:
        raise ParameterError(
            f"n_features must be None or a whole number from 1 to 2^31 - 1, got {n_features!r}"
        )
    plain = settings.min_df == 1 and settings.max_df == 1.0 and settings.max_features is None
    if not plain or settings.vocabulary is not None:
        raise ParameterError(
            "min_df, max_df, max_features and vocabulary choose terms; "
            "with n_features terms are hashed and none are kept"
        )
