"""Text to a sparse matrix: counts, tf-idf, hashing, and naive-Bayes log-count ratios."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.utils.validation import check_array

from separatrix.errors import DataError, NotFittedError, ParameterError
from separatrix.features.text.analysis import TOKEN_PATTERN
from separatrix.features.text.model import TextModel, merged_models
from separatrix.validation import NamesElsewhere, canonical, check_sparse, is_sparse, refuse_dask

__all__ = ["TextVectorizer"]


_COMPAT = "separatrix.compat.sklearn.TfidfVectorizer takes it"


@dataclass(eq=False, repr=False)
class TextVectorizer(NamesElsewhere, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    r"""Raw text to a sparse matrix of term weights.

    The value of term j in document i is

        x_ij = tf_ij idf_j / |row i|,    idf_j = ln((1 + N) / (1 + df_j)) + 1,

    with tf the count n of the term, 1 (`binary`) or 1 + ln n (`sublinear_tf`), N the number of
    training documents and df_j how many of them hold the term. Values and columns are those of
    scikit-learn's ``TfidfVectorizer``; with ``use_idf=False, norm=None`` of its
    ``CountVectorizer``; with ``n_features=2**20, use_idf=False`` of its ``HashingVectorizer``.

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
        What a word is. Any other pattern than the default is matched by Python's `re`, about
        ten times slower.
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
        (2012), r_j = ln((p_j / sum p) / (q_j / sum q)), where p_j - 1 and q_j - 1 count term j in
        the documents of the second and of the first class (those that hold it, with `binary`).
        Needs `y` with two classes: one scaling cannot serve several one-vs-rest problems.
    dtype : {"float64", "float32"}, default="float64"
        Type of the values.
    n_jobs : int or None, default=None
        Threads; None asks SEPARATRIX_NUM_THREADS, OMP_NUM_THREADS, then takes all CPUs. The
        result does not depend on it.

    Attributes
    ----------
    vocabulary_ : dict
        Column of every term (made on first use); absent with hashing.
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

    #: What it takes, for model files.
    __sx_input__: ClassVar[str] = "text"
    __sx_state__: ClassVar[tuple[str, ...]] = ("_model", "_from_fit")

    _elsewhere: ClassVar[Mapping[str, str]] = {
        "decode_error": f"documents are strings; {_COMPAT}",
        "encoding": f"documents are strings: decode them first; {_COMPAT}",
        "input": f"documents are strings: read files first; {_COMPAT}",
        "preprocessor": f"say lowercase and strip_accents, or prepare the documents; {_COMPAT}",
        "tokenizer": f"say by token_pattern what a word is; {_COMPAT}",
    }

    _model: TextModel = field(init=False)
    _from_fit: bool = field(init=False)

    analyzer: str = "word"
    ngram_range: tuple[int, int] = (1, 1)
    _: KW_ONLY
    lowercase: bool = True
    strip_accents: str | None = None
    token_pattern: str = TOKEN_PATTERN
    stop_words: Any = None
    min_df: float = 1
    max_df: float = 1.0
    max_features: int | None = None
    vocabulary: Any = None
    n_features: int | None = None
    alternate_sign: bool = True
    binary: bool = False
    use_idf: bool = True
    smooth_idf: bool = True
    sublinear_tf: bool = False
    norm: str | None = "l2"
    nb_log_ratio: bool = False
    dtype: Any = "float64"
    n_jobs: int | None = None

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
        refuse_dask(self, X, y)
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
        refuse_dask(self, X, y)
        rows = self._learn(X, y, keep=True)
        return self._model.matrix(rows, self.n_jobs)

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
        refuse_dask(self, X, y)
        if not hasattr(self, "_model"):
            self._model, self._from_fit = TextModel(self), False
        elif self._from_fit:
            raise ParameterError(
                "partial_fit cannot go on after fit, which forgets the terms it left out; "
                "begin with partial_fit (on a clone of this vectorizer)"
            )
        self._model.count(X, y, classes, keep=False, n_jobs=self.n_jobs)
        return self

    def merge(self, other: TextVectorizer) -> TextVectorizer:
        """A vectorizer that has seen the documents of both, which learned by `partial_fit`.

        Examples
        --------
        >>> first = TextVectorizer().partial_fit(["see you"])
        >>> first.merge(TextVectorizer().partial_fit(["see them"])).idf_.round(2)
        array([1.  , 1.41, 1.41])
        """
        merged: TextVectorizer = clone(self)
        merged._model, merged._from_fit = merged_models(self, other), False
        return merged

    def _learn(self, X: Any, y: Any, *, keep: bool) -> Any:
        self.__dict__.pop("_model", None)
        model = TextModel(self)
        rows = model.count(X, y, None, keep=keep, n_jobs=self.n_jobs)
        rows = model.settle(rows, keep=keep, n_jobs=self.n_jobs)
        self._model, self._from_fit = model, True
        return rows

    def _settings(self) -> dict[str, Any]:
        """The parameters of this class; those that a subclass does not have are attributes too."""
        return {name: getattr(self, name) for name in TextVectorizer._get_param_names()}

    def _needs_fit(self) -> bool:
        fixed = self.vocabulary is not None or self.n_features is not None
        return not fixed or bool(self.use_idf) or bool(self.nb_log_ratio)

    def __sklearn_is_fitted__(self) -> bool:
        return not self._needs_fit() or (hasattr(self, "_model") and self._model.n_documents > 0)

    def _ready(self) -> TextModel:
        """What was learned, or what the parameters alone say."""
        if not self.__sklearn_is_fitted__():
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet. Call 'fit' with "
                "appropriate arguments before using this estimator."
            )
        return self._model if hasattr(self, "_model") else TextModel(self)

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
        model = self._ready()
        return model.matrix(model.rows(X, self.n_jobs), self.n_jobs)

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
        names = np.array(self._names())
        check_sparse(X)
        X = check_array(X, accept_sparse="csr")
        if X.shape[1] != len(names):
            raise DataError(f"X has {X.shape[1]} columns, the vocabulary {len(names)} terms")
        if not is_sparse(X):
            return [names[np.flatnonzero(row)] for row in X]
        X = canonical(X)
        X.eliminate_zeros()
        return [names[columns] for columns in np.split(X.indices, X.indptr[1:-1])]

    def build_analyzer(self) -> Callable[[str], list[str]]:
        """A function from a document to its terms in order, as that of scikit-learn.

        Examples
        --------
        >>> TextVectorizer(ngram_range=(1, 2)).build_analyzer()("See you soon")
        ['see', 'you', 'soon', 'see you', 'you soon']
        """
        analyzer: Callable[[str], list[str]] = CountVectorizer(
            analyzer=self.analyzer,
            ngram_range=self.ngram_range,
            lowercase=self.lowercase,
            strip_accents=self.strip_accents,
            token_pattern=self.token_pattern,
            stop_words=self.stop_words,
        ).build_analyzer()
        return analyzer

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
        return np.array(self._names(), dtype=object)

    def _names(self) -> list[str]:
        return self._ready().learned_vocabulary().names

    @property
    def vocabulary_(self) -> dict[str, int]:
        """Column of every term."""
        if self.n_features is not None:
            raise AttributeError("with n_features terms are hashed and there is no vocabulary_")
        names = self._names()
        return dict(zip(names, range(len(names)), strict=True))

    @property
    def fixed_vocabulary_(self) -> bool:
        """Whether the terms were given."""
        return self.vocabulary is not None

    @property
    def idf_(self) -> npt.NDArray[Any]:
        """Weights of the columns."""
        model = self._ready()
        idf = model.idf()
        if idf is None:
            raise AttributeError("there is no idf_ with use_idf=False")
        return idf.astype(model.dtype, copy=False)

    @property
    def log_ratio_(self) -> npt.NDArray[Any]:
        """Scales of the columns."""
        model = self._ready()
        ratio = model.log_ratio()
        if ratio is None:
            raise AttributeError("there is no log_ratio_ without nb_log_ratio=True")
        return ratio.astype(model.dtype, copy=False)

    @property
    def classes_(self) -> npt.NDArray[Any]:
        """The labels, sorted."""
        labels = self._ready().labels
        if labels is None:
            raise AttributeError("there are no classes_ without nb_log_ratio=True")
        return labels.classes

    @property
    def n_documents_(self) -> int:
        """Training documents seen."""
        if not hasattr(self, "_model"):
            raise AttributeError("no document was seen yet: there is no n_documents_")
        return self._model.n_documents

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.requires_fit = self._needs_fit()
        tags.target_tags.required = bool(self.nb_log_ratio)
        return tags
