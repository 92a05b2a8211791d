"""scikit-learn's vectorizers over the kernels of `separatrix.TextVectorizer`.

Terms that come from Python (a `tokenizer`, a callable `analyzer` or `strip_accents`) are counted by
scikit-learn's own code; there is no ``native_`` then.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

import numpy as np
from sklearn.feature_extraction import text

from separatrix.features import TextVectorizer

__all__ = ["CountVectorizer", "HashingVectorizer", "TfidfVectorizer"]

#: Parameters that have the same name and meaning on both sides, by class.
_ANALYSIS = ("analyzer", "ngram_range", "token_pattern", "stop_words", "binary")
_TERMS = ("min_df", "max_df", "max_features", "vocabulary")
_WEIGHTS = ("norm", "use_idf", "smooth_idf", "sublinear_tf")
_HASHED = ("n_features", "alternate_sign", "norm")


def _in_python(model: Any) -> bool:
    """Whether terms are made by functions of Python, which the kernels cannot call."""
    return model.tokenizer is not None or callable(model.analyzer) or callable(model.strip_accents)


def _native(model: Any, names: tuple[str, ...], **fixed: Any) -> TextVectorizer:
    """The vectorizer that does what the parameters of `model` ask for."""
    plain = model.preprocessor is None
    # A preprocessor stands in the place of both, as in scikit-learn.
    fixed["lowercase"] = model.lowercase if plain else False
    fixed["strip_accents"] = model.strip_accents if plain else None
    if np.dtype(model.dtype) == np.float32:
        fixed["dtype"] = "float32"
    given = {name: getattr(model, name) for name in (*_ANALYSIS, *names)}
    if model.analyzer != "word":
        # Not used, which scikit-learn warns about.
        del given["stop_words"], given["token_pattern"]
    return TextVectorizer(**given, **fixed)


def _upper(term: str) -> bool:
    return any(map(str.isupper, term))


def _documents(model: Any, raw: Any) -> Any:
    """The documents as strings: read, decoded and prepared where that is requested."""
    if isinstance(raw, str):
        raise ValueError("Iterable over raw text documents expected, string object received.")
    return _prepared(model, raw)


def _prepared(model: Any, raw: Iterable[Any]) -> Iterator[Any]:
    for document in raw:
        decoded = model.decode(document)
        yield decoded if model.preprocessor is None else model.preprocessor(decoded)


class _Vocabulary:
    """What the two classes with a vocabulary share."""

    _names: ClassVar[tuple[str, ...]]
    _fixed: ClassVar[dict[str, Any]]

    def fit(self: Any, raw_documents: Any, y: Any = None) -> Any:
        """Learn the vocabulary; see scikit-learn."""
        if _in_python(self):
            self.__dict__.pop("native_", None)
            return super().fit(raw_documents, y)  # type: ignore[misc]
        self._learn(raw_documents, keep=False)
        return self

    def fit_transform(self: Any, raw_documents: Any, y: Any = None) -> Any:
        """Learn the vocabulary and return the matrix of the documents; see scikit-learn."""
        if _in_python(self):
            self.__dict__.pop("native_", None)
            return super().fit_transform(raw_documents, y)  # type: ignore[misc]
        return self._learn(raw_documents, keep=True)

    def _learn(self: Any, raw_documents: Any, *, keep: bool) -> Any:
        documents = _documents(self, raw_documents)
        self._validate_params()
        self._validate_ngram_range()
        self._warn_for_unused_params()
        native = _native(self, self._names, **self._fixed)
        matrix = native.fit_transform(documents) if keep else native.fit(documents)
        self.native_ = native
        self.vocabulary_, self.fixed_vocabulary_ = native.vocabulary_, native.fixed_vocabulary_
        if native.fixed_vocabulary_ and self.lowercase and any(map(_upper, native.vocabulary_)):
            warnings.warn(
                "Upper case characters found in vocabulary while 'lowercase' is True. These "
                "entries will not be matched with any documents",
                UserWarning,
                stacklevel=3,
            )
        self._learned()
        return matrix.astype(self._dtype(), copy=False) if keep else None

    def _learned(self) -> None:
        """Set what else scikit-learn's class leaves."""

    def _dtype(self: Any) -> Any:
        """What values are given in."""
        return self.dtype

    def transform(self: Any, raw_documents: Any) -> Any:
        """The matrix of the documents; see scikit-learn."""
        if _in_python(self):
            return super().transform(raw_documents)  # type: ignore[misc]
        documents = _documents(self, raw_documents)
        native = getattr(self, "native_", None)
        if native is None:
            # A vocabulary that is given needs no fit, unless weights of terms are to be learned.
            self._validate_vocabulary()
            self._check_vocabulary()
            native = _native(self, self._names, **self._fixed)
            if getattr(self, "_tfidf", None) is not None:
                return super().transform(raw_documents)  # type: ignore[misc]
        return native.transform(documents).astype(self._dtype(), copy=False)


class CountVectorizer(_Vocabulary, text.CountVectorizer):  # type: ignore[misc]
    """scikit-learn's `CountVectorizer`, counted by the kernels of `separatrix.TextVectorizer`.

    Examples
    --------
    >>> vectorizer = CountVectorizer()
    >>> vectorizer.fit_transform(["see you", "see them, see you"]).toarray()
    array([[1, 0, 1],
           [2, 1, 1]])
    >>> vectorizer.get_feature_names_out()
    array(['see', 'them', 'you'], dtype=object)
    """

    _names: ClassVar[tuple[str, ...]] = _TERMS
    _fixed: ClassVar[dict[str, Any]] = {"use_idf": False, "norm": None}


class TfidfVectorizer(_Vocabulary, text.TfidfVectorizer):  # type: ignore[misc]
    """scikit-learn's `TfidfVectorizer`, made by the kernels of `separatrix.TextVectorizer`.

    Examples
    --------
    >>> vectorizer = TfidfVectorizer().fit(["see you", "see them, see you"])
    >>> vectorizer.idf_.round(2)
    array([1.  , 1.41, 1.  ])
    """

    _names: ClassVar[tuple[str, ...]] = (*_TERMS, *_WEIGHTS)
    _fixed: ClassVar[dict[str, Any]] = {}

    def _learn(self: Any, raw_documents: Any, *, keep: bool) -> Any:
        self._check_params()  # warns of values that are not floating
        return super()._learn(raw_documents, keep=keep)

    def _learned(self: Any) -> None:
        self._tfidf = text.TfidfTransformer(
            norm=self.norm,
            use_idf=self.use_idf,
            smooth_idf=self.smooth_idf,
            sublinear_tf=self.sublinear_tf,
        )
        if self.use_idf:
            self._tfidf.idf_ = self.native_.idf_

    def _dtype(self: Any) -> Any:
        return self.dtype if np.issubdtype(self.dtype, np.floating) else np.float64


class HashingVectorizer(text.HashingVectorizer):  # type: ignore[misc]
    """scikit-learn's `HashingVectorizer`, made by the kernels of `separatrix.TextVectorizer`.

    Examples
    --------
    >>> HashingVectorizer(n_features=16).transform(["see you"]).shape
    (1, 16)
    """

    def transform(self, X: Any) -> Any:
        """The matrix of the documents; see scikit-learn."""
        if _in_python(self):
            return super().transform(X)
        documents = _documents(self, X)
        self._validate_ngram_range()
        native = _native(self, _HASHED, use_idf=False)
        return native.transform(documents).astype(self.dtype, copy=False)

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """The matrix of the documents; nothing is learned."""
        return self.fit(X, y).transform(X)
