"""Tokens in columns to sparse rows of attributes."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from contextlib import nullcontext
from dataclasses import KW_ONLY, dataclass, field
from numbers import Integral
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, TransformerMixin

from separatrix.data.formats.source import naming
from separatrix.data.sequences.containers import TokenSequences
from separatrix.errors import NotFittedError, ParameterError
from separatrix.features.handles import check_hashed
from separatrix.features.templates.columns import token_sequences, with_computed
from separatrix.features.templates.compiled import (
    CompiledTemplates,
    compile_templates,
    templates_of,
)
from separatrix.features.templates.crfpp import MARKS, detect_dialect, parse_template_file
from separatrix.features.templates.encoded import AttributeNames, EncodedSequences
from separatrix.features.templates.grammar import parse
from separatrix.features.templates.model import TemplateModel
from separatrix.features.templates.presets import PRESETS
from separatrix.features.templates.spec import TemplateTerm, TokenValue
from separatrix.features.templates.values import check_dictionaries
from separatrix.validation import check_choice, number_of_threads, refuse_dask

__all__ = ["Templates"]


@dataclass(eq=False, repr=False)
class Templates(TransformerMixin, BaseEstimator, auto_wrap_output_keys=None):  # type: ignore[misc,call-arg]
    r"""Sequences of tokens to sparse rows, by templates that are read off the training data.

    A template reads columns of a token and of its neighbors; the values found are an attribute of
    the token. `fit` numbers the attributes that training data hold, `transform` gives one row per
    token with a one for every attribute it has; attributes that training never saw are left out.

    Parameters
    ----------
    spec : str or list, default="pos"
        A preset ("chunking", "pos", "ner"), templates as text (one per line; see
        `separatrix.features.templates.grammar`), or a list of such lines and of terms made with
        `column`, `ngrams`, `bag`, `bias`, `transitions`, `both`. "auto" is for `Experiment`, which
        chooses.
    min_count : int, default=1
        Attributes that occur fewer times in the training data are left out.
    hashing : int or None, default=None
        With a number, attributes are hashed to so many columns and none are learned; for templates
        that go with labels only.
    padding : {"omit", "mark"}, default="omit"
        What a template finds outside the sequence: nothing, so that it makes no attribute there,
        or "_B-1", "_B-2", … before the first token and "_B+1", "_B+2", … after the last.
    dictionaries : dict of str to list of str or dict of str to str, or None, default=None
        By name, entries for ``listed(value, name)``, whose words are parted by spaces, or classes
        of words for ``cluster(value, name)`` (see `brown_clusters`).
    functions : dict of str to callable or None, default=None
        By name, columns that Python computes: from the tokens of a sequence (words, or tuples where
        there are more columns) to a str or None for each. Templates read them like any column.
        Model files hold no functions.
    syntax : {"separatrix", "crfpp", "wapiti"}, default="separatrix"
        Language of `spec`; see `from_crfpp`.
    n_jobs : int or None, default=None
        Threads; None asks SEPARATRIX_NUM_THREADS, OMP_NUM_THREADS, then takes all CPUs. The
        result does not depend on it.

    Attributes
    ----------
    n_attributes_ : int
        Number of columns.
    columns_ : tuple of str
        Columns of a token that the templates read.
    on_states_, on_transitions_ : ndarray of bool, shape (n_attributes,)
        Which attributes go with a label, and which with a pair of consecutive labels.
    label_bigrams_ : bool
        Whether the templates ask for pairs of labels as such (``B`` in CRF++).

    Examples
    --------
    >>> from separatrix import Templates
    >>> sentences = [["the", "cat", "sat"], ["the", "dog"]]
    >>> templates = Templates("bias\nword[-1..0]\nsuffix(word, 2)")
    >>> rows = templates.fit_transform(sentences)
    >>> rows.matrix.shape, rows.lengths.tolist()
    ((5, 10), [3, 2])
    >>> rows[1][1]
    {'bias': 1.0, 'word[-1]=the': 1.0, 'word[0]=dog': 1.0, 'suffix(word, 2)[0]=og': 1.0}
    >>> templates.transform([["a", "dog"]])[0]
    [{'bias': 1.0}, {'bias': 1.0, 'word[0]=dog': 1.0, 'suffix(word, 2)[0]=og': 1.0}]
    """

    #: What it takes, for model files.
    __sx_input__: ClassVar[str] = "sequences"
    __sx_state__: ClassVar[tuple[str, ...]] = ("_model",)

    _model: TemplateModel = field(init=False)

    spec: Any = "pos"
    _: KW_ONLY
    min_count: int = 1
    hashing: int | None = None
    padding: str = "omit"
    dictionaries: Any = None
    functions: Any = None
    syntax: str = "separatrix"
    n_jobs: int | None = None

    @classmethod
    def from_crfpp(
        cls, source: str | os.PathLike[str], *, dialect: str = "auto", **parameters: Any
    ) -> Self:
        r"""Templates from a template file of CRF++ or Wapiti.

        Parameters
        ----------
        source : str or path
            The file's path, or its text (a str with a line end or a "%").
        dialect : {"auto", "crfpp", "wapiti"}, default="auto"
            The program the file is for; "auto" takes Wapiti where the file uses what only Wapiti
            has.
        **parameters : object
            Further parameters: `min_count`, `hashing`, `n_jobs`.

        Returns
        -------
        Templates
            Not fitted. Attributes are named as the program names them; places outside the sequence
            are marked as there, whatever `padding` says.

        Raises
        ------
        FormatError
            Where the file has a syntax error; names file, line and column.

        Examples
        --------
        >>> templates = Templates.from_crfpp("U0:%x[0,0]\nU1:%x[-1,0]/%x[0,0]\nB\n")
        >>> templates.fit([["the", "cat"]]).get_feature_names_out().tolist()
        ['U0:the', 'U0:cat', 'U1:_B-1/the', 'U1:the/cat']
        >>> templates.label_bigrams_
        True
        """
        check_choice("dialect", dialect, ("auto", *MARKS))
        is_text = isinstance(source, str) and ("\n" in source or "%" in source)
        text = str(source) if is_text else Path(source).read_text(encoding="utf-8-sig")
        syntax = detect_dialect(text) if dialect == "auto" else dialect
        with nullcontext() if is_text else naming(str(source)):
            parse_template_file(text, syntax)
        return cls(text, syntax=syntax, **parameters)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the attributes of training data.

        Parameters
        ----------
        X : TokenSequences or sequence of n sequences of tokens
            What `separatrix.data.read` gives for CoNLL and CoNLL-U; or lists of tokens, each a
            string, a tuple of strings (columns "0", "1", …) or a dict of columns.
        y : object
            Ignored.

        Returns
        -------
        self
            The fitted templates.
        """
        refuse_dask(self, X, y)
        self._learn(X, keep=False)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> EncodedSequences:
        """Learn the attributes of training data, and encode them.

        Parameters
        ----------
        X : TokenSequences or sequence of n sequences of tokens
            As for `fit`.
        y : object
            Ignored.

        Returns
        -------
        EncodedSequences
            As from `transform`.
        """
        refuse_dask(self, X, y)
        encoded = self._learn(X, keep=True)
        assert encoded is not None
        return encoded

    def _learn(self, X: Any, *, keep: bool) -> EncodedSequences | None:
        if not isinstance(self.min_count, Integral) or self.min_count < 1:
            raise ParameterError(f"min_count must be a number from 1 on, got {self.min_count!r}")
        model = self._make_model()
        sequences = self._sequences(X)
        n_threads = number_of_threads(self.n_jobs)
        encoded = model.learn(sequences, int(self.min_count), keep, n_threads)
        self._model = model
        return encoded

    def _make_model(self) -> TemplateModel:
        n_hashed = check_hashed(self.hashing, "hashing")
        if n_hashed is not None and self.min_count != 1:
            raise ParameterError("min_count chooses attributes; with hashing none are learned")
        compiled = self._compile()
        if n_hashed is not None and set(compiled.on) - {"states"}:
            raise ParameterError(
                "attributes of pairs of labels need hashing=None: hashed columns cannot tell them "
                "from the others"
            )
        return TemplateModel(compiled, check_dictionaries(self.dictionaries), n_hashed)

    def _compile(self) -> CompiledTemplates:
        check_choice("syntax", self.syntax, ("separatrix", *MARKS))
        check_choice("padding", self.padding, ("omit", "mark"))
        if self.syntax in MARKS:
            if not isinstance(self.spec, str):
                raise ParameterError(f'with syntax="{self.syntax}" spec must be the template text')
            read = parse_template_file(self.spec, self.syntax)
            marks = MARKS[self.syntax]
            return compile_templates(
                read, marks=marks, escape=False, unique=False, label_bigrams=False
            )
        read = templates_of(_terms(self.spec))
        outside = "_B" if self.padding == "mark" else None
        return compile_templates(read, marks=outside, escape=True, unique=True, label_bigrams=True)

    def transform(self, X: Any) -> EncodedSequences:
        """Encode sequences.

        Parameters
        ----------
        X : TokenSequences or sequence of n sequences of tokens
            As for `fit`.

        Returns
        -------
        EncodedSequences
            `matrix`, CSR of shape (n_tokens, n_attributes) in float32; `lengths` of the sequences,
            int64 of shape (n,); `vocabulary`, the names of the attributes; `on_states` and
            `on_transitions`, what they go with.
        """
        return self._ready().encode(self._sequences(X), number_of_threads(self.n_jobs))

    def _sequences(self, X: Any) -> TokenSequences:
        """X as token columns, with those that functions compute."""
        functions = {} if self.functions is None else self.functions
        if not isinstance(functions, Mapping):
            raise ParameterError(f"functions must map names to functions, got {functions!r}")
        return with_computed(token_sequences(X), functions)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_model") or self.hashing is not None

    def _ready(self) -> TemplateModel:
        if hasattr(self, "_model"):
            return self._model
        if self.hashing is None:
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet. Call 'fit' with "
                "appropriate arguments before using this estimator."
            )
        return self._make_model()

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[Any]:
        """Names of the attributes, or "hash0", "hash1", … with hashing.

        Parameters
        ----------
        input_features : object
            Ignored.

        Returns
        -------
        ndarray of shape (n_attributes,)
            Such as "word[-1]|word[0]=the|cat". In conjunctions, "|" and a backslash in a word
            have a backslash before them.
        """
        names: npt.NDArray[Any] = self._ready().names.array.copy()
        return names

    @property
    def attributes_(self) -> AttributeNames:
        """Names of the attributes, written when first looked at."""
        return self._ready().names

    @property
    def n_attributes_(self) -> int:
        """Number of columns."""
        return self._ready().n_attributes

    @property
    def columns_(self) -> tuple[str, ...]:
        """Columns that the templates read, by the names that they use: "word", "pos", "2", ….

        Those that functions compute are not among them.
        """
        computed = self.functions or {}
        return tuple(name for name in self._ready().compiled.columns if name not in computed)

    @property
    def on_states_(self) -> npt.NDArray[np.bool_]:
        """Which attributes go with a label."""
        return self._ready().goes_with("states")

    @property
    def on_transitions_(self) -> npt.NDArray[np.bool_]:
        """Which attributes go with a pair of consecutive labels."""
        return self._ready().goes_with("transitions")

    @property
    def label_bigrams_(self) -> bool:
        """Whether the templates ask for pairs of labels as such."""
        return self._ready().compiled.label_bigrams

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.string = True
        tags.requires_fit = self.hashing is None
        return tags


def _terms(spec: Any) -> list[TemplateTerm]:
    if isinstance(spec, str):
        if spec == "auto":
            raise ParameterError('Templates("auto") are chosen by an Experiment; give a preset')
        return parse(PRESETS.get(spec, spec))
    if isinstance(spec, TemplateTerm | TokenValue):
        spec = [spec]
    if not isinstance(spec, Iterable):
        raise ParameterError(f"spec must be a preset, a text or a list of templates, got {spec!r}")
    terms: list[TemplateTerm] = []
    for item in spec:
        if isinstance(item, str):
            terms += parse(item)
        elif isinstance(item, TokenValue | TemplateTerm):
            terms.append(item[0] if isinstance(item, TokenValue) else item)
        else:
            raise ParameterError(f"an item of spec is {item!r}; expected a line or a term")
    return terms
