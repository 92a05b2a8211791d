"""Text to a sparse matrix: counts, tf-idf, hashing, and naive-Bayes log-count ratios."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_array

from separatrix._core import TextRows, hash_text
from separatrix.errors import DataError, NotFittedError, ParameterError
from separatrix.features.analysis import TOKEN_PATTERN, Analysis, make_analysis
from separatrix.features.labels import TwoClasses, log_count_ratio
from separatrix.features.sparse import check_float, make_csr
from separatrix.features.vocabulary import (
    TermCounts,
    Vocabulary,
    check_limits,
    fixed_vocabulary,
    select_terms,
)
from separatrix.validation import check_choice, number_of_threads

__all__ = ["TextVectorizer"]


class TextVectorizer(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    r"""Raw text to a sparse matrix of term weights.

    The value of term j in document i is

        x_ij = tf_ij idf_j / |row i|,    idf_j = ln((1 + N) / (1 + df_j)) + 1,

    with tf the count n of the term, 1 (`binary`) or 1 + ln n (`sublinear_tf`), N the number of
    training documents and df_j how many of them hold the term. Values and columns are those of
    scikit-learn's ``TfidfVectorizer``; of its ``CountVectorizer`` with ``use_idf=False, norm=None``;
    of its ``HashingVectorizer`` with ``n_features=2**20, use_idf=False``.

    Parameters
    ----------
    analyzer : {"word", "char", "char_wb"}, default="word"
        Terms are sequences of words, of characters, or of characters inside words (with a space
        on either side).
    ngram_range : (int, int), default=(1, 1)
        Least and largest number of words or characters in a term.
    lowercase : bool, default=True
        Whether case is folded, by `str.lower`.
    strip_accents : {None, "unicode", "ascii"}, default=None
        After NFKD decomposition, drop combining marks, or all that is not ASCII.
    token_pattern : str, default=r"(?u)\\b\\w\\w+\\b"
        What a word is. Any other pattern than the default is matched by Python's `re`, ten to
        twenty times slower.
    stop_words : None, "english" or list of str, default=None
        Words to leave out, before sequences are made; "english" is scikit-learn's list.
    min_df, max_df : int or float, default=1 and 1.0
        Terms in fewer, or in more, documents are left out; a float is a share of the documents.
    max_features : int or None, default=None
        Keep so many terms, those with the most occurrences.
    vocabulary : mapping, iterable of str or None, default=None
        Fixed terms: a mapping to columns, or terms in the order of their columns.
    n_features : int or None, default=None
        With a number, terms are hashed to so many columns and there is no vocabulary.
    alternate_sign : bool, default=True
        Whether the hash also decides the sign.
    binary : bool, default=False
        Whether a term counts once, however often it occurs.
    use_idf, smooth_idf : bool, default=True
        Whether to weight by idf, and whether to add 1 to N and df_j.
    sublinear_tf : bool, default=False
        Whether a count n becomes 1 + ln n.
    norm : {"l2", "l1", None}, default="l2"
        Norm by which rows are divided.
    nb_log_ratio : bool, default=False
        Whether columns are at last scaled by the naive-Bayes log-count ratio of Wang and Manning
        (2012), r_j = ln((p_j / sum p) / (q_j / sum q)), where p_j - 1 and q_j - 1 count term j in the
        documents of the second and of the first class (documents that hold it, with `binary`).
        Needs `y` with two classes: one scaling cannot serve several one-vs-rest problems.
    dtype : {"float64", "float32"}, default="float64"
        Type of the values.
    n_jobs : int or None, default=None
        Threads; None asks SEPARATRIX_NUM_THREADS, OMP_NUM_THREADS, then takes all CPUs. The
        result does not depend on it.

    Attributes
    ----------
    vocabulary_ : dict
        Column of every term (made when first asked for); absent with hashing.
    idf_ : ndarray of shape (n_columns,)
        Weights of the columns; absent with ``use_idf=False``.
    log_ratio_ : ndarray of shape (n_columns,)
        Scales of the columns, with ``nb_log_ratio=True``.
    classes_ : ndarray of shape (2,)
        The labels, sorted, with ``nb_log_ratio=True``.
    n_documents_ : int
        Training documents seen.

    References
    ----------
    S. Wang and C. Manning (2012). Baselines and bigrams: simple, good sentiment and topic
    classification. ACL.

    Examples
    --------
    >>> from separatrix.features import TextVectorizer
    >>> vectorizer = TextVectorizer(ngram_range=(1, 2), min_df=2)
    >>> X = vectorizer.fit_transform(["cheap pills, cheap!", "see you soon", "cheap pills soon"])
    >>> vectorizer.get_feature_names_out()
    array(['cheap', 'cheap pills', 'pills', 'soon'], dtype=object)
    >>> X.shape, X.nnz
    ((3, 4), 8)
    """

    #: Fitted arrays that describe the model.
    __sx_state__: ClassVar[tuple[str, ...]] = ("idf_", "log_ratio_", "classes_", "n_documents_")

    n_documents_: int
    _analysis: Analysis
    _vocabulary: Vocabulary | None
    _counts: TermCounts | None
    _frequency: npt.NDArray[np.float64] | None
    _class_counts: npt.NDArray[np.float64] | None
    _labels: TwoClasses | None
    _from_fit: bool

    def __init__(
        self,
        analyzer: str = "word",
        ngram_range: tuple[int, int] = (1, 1),
        *,
        lowercase: bool = True,
        strip_accents: str | None = None,
        token_pattern: str = TOKEN_PATTERN,
        stop_words: Any = None,
        min_df: float = 1,
        max_df: float = 1.0,
        max_features: int | None = None,
        vocabulary: Any = None,
        n_features: int | None = None,
        alternate_sign: bool = True,
        binary: bool = False,
        use_idf: bool = True,
        smooth_idf: bool = True,
        sublinear_tf: bool = False,
        norm: str | None = "l2",
        nb_log_ratio: bool = False,
        dtype: Any = "float64",
        n_jobs: int | None = None,
    ) -> None:
        self.analyzer = analyzer
        self.ngram_range = ngram_range
        self.lowercase = lowercase
        self.strip_accents = strip_accents
        self.token_pattern = token_pattern
        self.stop_words = stop_words
        self.min_df = min_df
        self.max_df = max_df
        self.max_features = max_features
        self.vocabulary = vocabulary
        self.n_features = n_features
        self.alternate_sign = alternate_sign
        self.binary = binary
        self.use_idf = use_idf
        self.smooth_idf = smooth_idf
        self.sublinear_tf = sublinear_tf
        self.norm = norm
        self.nb_log_ratio = nb_log_ratio
        self.dtype = dtype
        self.n_jobs = n_jobs

    # -- learning ------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn vocabulary and weights.

        Parameters
        ----------
        X : iterable of str, or column of strings, of length n
            List, generator, array, Series of pandas or polars, or Arrow array.
        y : array-like of shape (n,), optional
            Labels; needed and used for `nb_log_ratio` only.

        Returns
        -------
        self
            The fitted vectorizer.
        """
        self._learn(X, y, keep=False)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Learn vocabulary and weights, and return the matrix of the same documents.

        Parameters
        ----------
        X : iterable of str, or column of strings, of length n
            The documents; a generator is read once.
        y : array-like of shape (n,), optional
            Labels; needed and used for `nb_log_ratio` only.

        Returns
        -------
        CSR matrix of shape (n, n_columns)
            Columns sorted by term; indices of 32 bits where they fit.
        """
        rows = self._learn(X, y, keep=True)
        return self._matrix(rows)

    def partial_fit(self, X: Any, y: Any = None, classes: Any = None) -> Self:
        """Learn from one more batch; after the last the result is that of one `fit` on all.

        Terms that are rare so far are remembered, so that `min_df` is exact in the end. When a call
        is interrupted, `n_documents_` says how many documents are counted in total.

        Parameters
        ----------
        X : iterable of str, or column of strings, of length n
            The next documents.
        y : array-like of shape (n,), optional
            Labels; needed and used for `nb_log_ratio` only.
        classes : array-like of shape (2,), optional
            Both labels, for the first call, where `y` may not hold both.

        Returns
        -------
        self
            The vectorizer.
        """
        if getattr(self, "_from_fit", False):
            raise ParameterError(
                "partial_fit cannot go on after fit, which forgets the terms it left out; "
                "begin with partial_fit (on a clone of this vectorizer)"
            )
        if not self._is_started():
            self._start()
            self._from_fit = False
        codes = self._encode(y, classes)
        self._count(X, codes, keep=False)
        if self._counts is not None:
            self._vocabulary = None  # selected anew when it is needed
        return self

    def _learn(self, X: Any, y: Any, *, keep: bool) -> TextRows:
        self._start()
        rows = self._count(X, self._encode(y, None), keep=keep)
        if self._counts is not None:
            n_threads = number_of_threads(self.n_jobs)
            self._select()
            assert self._vocabulary is not None
            if keep:
                rows = self._counts.counter.rows(self._vocabulary.terms, n_threads)
            self._counts = None
        self._from_fit = True
        return rows

    def _start(self) -> None:
        """Check the parameters and forget what was learned before."""
        for name in [name for name in vars(self) if name.startswith("_") or name.endswith("_")]:
            if not name.startswith("_sklearn"):
                delattr(self, name)
        self._check()
        self._analysis = make_analysis(self)
        self._frequency = self._class_counts = self._labels = self._counts = None
        self._vocabulary = None
        if self.vocabulary is not None:
            self._vocabulary = fixed_vocabulary(self.vocabulary, self._analysis)
        elif self.n_features is None:
            self._counts = TermCounts(self._analysis, self._tally())
        self.n_documents_ = 0

    def _tally(self) -> str:
        if not (self.nb_log_ratio or self.max_features is not None):
            return "nothing"
        return "documents" if self.binary else "occurrences"

    def _encode(self, y: Any, classes: Any) -> npt.NDArray[np.uint8] | None:
        if not self.nb_log_ratio:
            return None
        if self._labels is None:
            self._labels = TwoClasses.of(y, classes)
            self.classes_ = self._labels.classes
        return self._labels.encode(y)

    def _count(self, X: Any, codes: npt.NDArray[np.uint8] | None, *, keep: bool) -> TextRows:
        """Count the documents; their rows too, where these are at hand."""
        n_threads = number_of_threads(self.n_jobs)
        rows: Any = None
        if self._counts is not None:
            counter = self._counts.counter
            try:
                n = counter.feed(self._analysis.documents(X), codes, keep, n_threads)
            finally:
                self.n_documents_ = counter.n_documents
        else:
            rows = self._rows(X)
            n = rows.n_rows
        if codes is not None and n != len(codes):
            raise DataError(f"X has {n} rows, y has {len(codes)}")
        if self._counts is None:
            self._add_columns(rows, codes)
            self.n_documents_ += n
        return rows

    def _add_columns(self, rows: TextRows, codes: npt.NDArray[np.uint8] | None) -> None:
        """Count what fell into fixed columns."""
        width = self._width()
        if self.use_idf:
            frequency = rows.frequency(width)
            self._frequency = frequency if self._frequency is None else self._frequency + frequency
        if codes is not None:
            counts = rows.counts(width, codes, bool(self.binary))
            held = self._class_counts
            self._class_counts = counts if held is None else held + counts

    def _select(self) -> None:
        """Choose the vocabulary from what was counted."""
        assert self._counts is not None
        terms = select_terms(
            self._counts,
            min_df=self.min_df,
            max_df=self.max_df,
            max_features=self.max_features,
            dtype=check_float(self.dtype),
            n_threads=number_of_threads(self.n_jobs),
        )
        self._vocabulary = Vocabulary(terms, self._analysis)
        self._frequency = terms.frequency().astype(np.float64)
        self._class_counts = terms.counts().T.astype(np.float64) if self.nb_log_ratio else None

    def _check(self) -> None:
        check_float(self.dtype)
        check_choice("norm", self.norm, ("l2", "l1", None))
        check_limits(self.min_df, self.max_df, self.max_features)
        if self.n_features is None:
            return
        if not isinstance(self.n_features, Integral) or not 1 <= self.n_features < 2**31:
            raise ParameterError(
                f"n_features must be None or a whole number from 1 to 2^31 - 1, "
                f"got {self.n_features!r}"
            )
        plain = self.min_df == 1 and self.max_df == 1.0 and self.max_features is None
        if not plain or self.vocabulary is not None:
            raise ParameterError(
                "min_df, max_df, max_features and vocabulary choose terms; "
                "with n_features terms are hashed and none are kept"
            )

    # -- what was learned ----------------------------------------------------------------------

    def _is_started(self) -> bool:
        return "n_documents_" in vars(self)

    def _needs_fit(self) -> bool:
        fixed = self.vocabulary is not None or self.n_features is not None
        return not fixed or bool(self.use_idf) or bool(self.nb_log_ratio)

    def __sklearn_is_fitted__(self) -> bool:
        return not self._needs_fit() or (self._is_started() and self.n_documents_ > 0)

    def _ready(self) -> None:
        """Make sure that there is something to transform by."""
        if not self.__sklearn_is_fitted__():
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet. Call 'fit' with "
                "appropriate arguments before using this estimator."
            )
        if not self._is_started():
            self._start()
        if self._vocabulary is None and self._counts is not None:
            self._select()

    def _learned_vocabulary(self) -> Vocabulary:
        if self.n_features is not None:
            raise AttributeError("with n_features terms are hashed and there is no vocabulary")
        self._ready()
        assert self._vocabulary is not None
        return self._vocabulary

    def _width(self) -> int:
        if self.n_features is not None:
            return int(self.n_features)
        return len(self._learned_vocabulary() if self._vocabulary is None else self._vocabulary)

    @property
    def vocabulary_(self) -> dict[str, int]:
        """Column of every term."""
        names = self._learned_vocabulary().names
        return dict(zip(names, range(len(names)), strict=True))

    @property
    def fixed_vocabulary_(self) -> bool:
        """Whether the terms were given."""
        return self.vocabulary is not None

    def _idf(self) -> npt.NDArray[np.float64] | None:
        if not self.use_idf or self._frequency is None:
            return None
        smooth = float(bool(self.smooth_idf))
        with np.errstate(divide="ignore"):  # a fixed term that was never seen: infinite weight
            ratio = (self.n_documents_ + smooth) / (self._frequency + smooth)
        idf: npt.NDArray[np.float64] = np.log(ratio) + 1.0
        return idf

    @property
    def idf_(self) -> npt.NDArray[Any]:
        """Weights of the columns."""
        if not self.use_idf:
            raise AttributeError("there is no idf_ with use_idf=False")
        self._ready()
        idf = self._idf()
        assert idf is not None
        return idf.astype(check_float(self.dtype), copy=False)

    @property
    def log_ratio_(self) -> npt.NDArray[Any]:
        """Scales of the columns."""
        if not self.nb_log_ratio:
            raise AttributeError("there is no log_ratio_ without nb_log_ratio=True")
        self._ready()
        assert self._class_counts is not None
        ratio = log_count_ratio(self._class_counts)
        return ratio.astype(check_float(self.dtype), copy=False)

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[Any]:
        """Names of the columns: the terms, or "hash0", "hash1", … with hashing.

        Parameters
        ----------
        input_features : object
            Ignored.

        Returns
        -------
        ndarray of shape (n_columns,)
            The names.
        """
        if self.n_features is not None:
            return np.array([f"hash{j}" for j in range(self.n_features)], dtype=object)
        return np.array(self._learned_vocabulary().names, dtype=object)

    # -- using it ------------------------------------------------------------------------------

    def transform(self, X: Any) -> Any:
        """Documents to their matrix.

        Parameters
        ----------
        X : iterable of str, or column of strings, of length n
            The documents.

        Returns
        -------
        CSR matrix of shape (n, n_columns)
            Terms that are not in the vocabulary are passed over.
        """
        self._ready()
        return self._matrix(self._rows(X))

    def _rows(self, X: Any) -> TextRows:
        documents = self._analysis.documents(X)
        n_threads = number_of_threads(self.n_jobs)
        if self.n_features is not None:
            signed = bool(self.alternate_sign)
            return hash_text(self._analysis.handle, documents, self._width(), signed, n_threads)
        assert self._vocabulary is not None
        return self._vocabulary.index.rows(documents, n_threads)

    def _matrix(self, rows: TextRows) -> Any:
        check_choice("norm", self.norm, ("l2", "l1", None))
        scale = self.log_ratio_.astype(np.float64) if self.nb_log_ratio else None
        width = self._width()
        arrays = rows.weigh(
            width,
            bool(self.binary),
            bool(self.sublinear_tf),
            self._idf(),
            self.norm or "none",
            scale,
            check_float(self.dtype) == np.float32,
            number_of_threads(self.n_jobs),
        )
        return make_csr(*arrays, width)

    def inverse_transform(self, X: Any) -> list[npt.NDArray[Any]]:
        """The terms of every row, those with values other than zero.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, n_columns)
            Rows such as `transform` returns.

        Returns
        -------
        list of n ndarrays
            Terms in the order of their columns.
        """
        if self.n_features is not None:
            raise ParameterError("a hash cannot be inverted: inverse_transform needs a vocabulary")
        names = np.array(self._learned_vocabulary().names)
        X = check_array(X, accept_sparse="csr")
        if X.shape[1] != len(names):
            raise DataError(f"X has {X.shape[1]} columns, the vocabulary {len(names)} terms")
        if not sp.issparse(X):
            return [names[np.flatnonzero(row)] for row in X]
        X = sp.csr_array(X)
        X.sum_duplicates()
        X.eliminate_zeros()
        return [names[columns] for columns in np.split(X.indices, X.indptr[1:-1])]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.requires_fit = self._needs_fit()
        tags.target_tags.required = bool(self.nb_log_ratio)
        return tags
