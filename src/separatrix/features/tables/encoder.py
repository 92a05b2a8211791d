"""A table of mixed columns as one matrix of numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from separatrix.data.schema import Schema, SchemaColumn, parse_kind
from separatrix.errors import DataError, ParameterError
from separatrix.features.tables.bins import (
    BinEncoder,
    BothEncoder,
    PairEncoder,
    bin_options,
    codes_of,
)
from separatrix.features.tables.columns import Table, as_kind, infer_kind, match_columns, read_table
from separatrix.features.tables.columns_to_numbers import (
    BooleanEncoder,
    CategoryEncoder,
    DateEncoder,
    Encoder,
    NumericEncoder,
    RobustEncoder,
    SplineEncoder,
    TextEncoder,
)
from separatrix.features.tables.sparse_rows import Part, assemble, distinct, fill
from separatrix.validation import check_choice, is_sparse, refuse_dask

__all__ = ["ColumnReport", "TableEncoder"]

#: Kinds of columns that become numbers.
ENCODED = ("number", "flag", "category", "date", "duration", "text")
#: Kinds of columns that pairs may be made of.
PAIRED = ("number", "duration", "category", "flag")
#: Bins of a number in a pair of columns: a pair of two has their square of cells.
PAIR_BINS = 8
#: Widest dense result.
MAX_DENSE = 10_000
#: Rows of a dense result that are made at a time: of 20 columns some 1.3 MB.
BLOCK = 8192


class ColumnReport(NamedTuple):
    """What an encoder met in one column of a table.

    Attributes
    ----------
    name, kind : str
        The column and what it holds.
    n_features : int
        Columns made of it.
    n_missing : int
        Rows without a value.
    n_unseen : int
        Rows with a category that training did not have.
    """

    name: str
    kind: str
    n_features: int
    n_missing: int
    n_unseen: int


def _text_vectorizer(options: Mapping[str, Any]) -> Any:
    """The vectorizer of a text column; imported when there is one."""
    from separatrix.features.text.vectorizer import TextVectorizer

    return TextVectorizer(**options)


@dataclass(eq=False, repr=False)
class TableEncoder(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """A table of numbers, booleans, categories, dates and texts as one sparse matrix.

    Takes pandas, polars and pyarrow tables, a dict of name -> values, and numpy arrays. Columns are
    found by name, in any order; missing and new ones are errors. Every kind of column has its way:

    - *number*: standardized. A column where at most half of the values are different from zero is
      scaled but not centered, so that its zeros stay zero and the matrix sparse. Missing values
      become the mean. Or bent first, or cut into bins (`numbers`).
    - *flag*: 0 and 1.
    - *category*: one column per category. A category that training did not have is all zero, and
      counted in `n_unseen_`.
    - *date*: days and year (standardized), sine and cosine of month, day of the month, weekday and
      (where there are any) time of day, and the weekend. Times with a zone are taken in UTC.
    - *duration*: seconds, as numbers.
    - *text*: a `TextVectorizer` of its own.

    A column with missing values in training has one more column that marks them. Kinds are found
    from dtypes; of strings, from the values, by the rules of `separatrix.data.read`: numbers with a
    currency, a unit or marks of thousands, dates in the usual forms, words for yes and no, text
    when they have three words or more on average and most are distinct, else categories. Plain
    digits in a column of strings are categories.

    Parameters
    ----------
    kinds : dict of str to str, Schema or None, default=None
        Kinds of some columns, to override what was found: "number", "flag", "category", "date"
        ("date dmy": day before month), "duration", "text", or "drop".
    numbers : {"standard", "robust", "splines", "bins", "both"}, default="standard"
        How numbers and durations are encoded: standardized; bent by arsinh around the median before
        that, so that skewed columns and wild values do not rule; as lines that may bend at eight
        quantiles; cut into bins where a small tree on the target cuts them, one indicator each (see
        `SupervisedBins`); or bent and cut.
    bin_options : dict or None, default=None
        `max_bins`, `min_rows` and `target` of `SupervisedBins`.
    pairs : sequence of (str, str), default=()
        Columns of numbers, categories or flags of which also each combination that training had at
        least `min_rows` times (5 if not in `bin_options`) has a column; numbers are cut into at
        most 8 bins for that.
    center : {"auto", True, False}, default="auto"
        Whether columns of numbers are centered: where that keeps the matrix sparse, always, never.
    min_frequency : int, float or None, default=None
        Categories with fewer rows (a share of all rows, if a float) share one column, "<rare>".
    max_categories : int or None, default=1000
        Most columns of a category column, not counting missing values; the most frequent categories
        are kept, the others share "<rare>".
    text_options : dict or None, default=None
        Arguments of the `TextVectorizer` of text columns.
    sparse_output : bool, default=True
        Give CSR; False gives a dense array, at most 10,000 columns wide.
    dtype : dtype, default=float64
        float64 or float32.

    Attributes
    ----------
    schema_ : Schema
        What each column holds, how it is written, and why that was decided.
    kinds_ : dict of str to str
        Kind of each column, "drop" for those that are left out.
    categories_ : dict of str to list
        Categories with a column of their own, per column of categories.
    moments_ : dict of str to (float, float)
        Mean and deviation of the training values, per column of numbers.
    n_unseen_ : dict of str to int
        Per category column, rows of the last `transform` whose category training did not have.
    n_features_in_ : int
        Columns of the table.
    feature_names_in_ : ndarray of str
        Their names, where the table has any.

    See Also
    --------
    report : the same counts, and missing values, for any table.

    Examples
    --------
    >>> from separatrix.features import TableEncoder
    >>> table = {"age": [20.0, 40.0, None], "city": ["Rome", "Oslo", "Rome"]}
    >>> encoder = TableEncoder(sparse_output=False)
    >>> encoder.fit_transform(table)
    array([[-1.,  0.,  0.,  1.],
           [ 1.,  0.,  1.,  0.],
           [ 0.,  1.,  0.,  1.]])
    >>> encoder.get_feature_names_out().tolist()
    ['age', 'age=<missing>', 'city=Oslo', 'city=Rome']
    >>> encoder.transform({"age": [30.0], "city": ["Lima"]})
    array([[0., 0., 0., 0.]])
    >>> encoder.n_unseen_
    {'city': 1}
    """

    #: What it takes, for model files.
    __sx_input__: ClassVar[str] = "table"
    __sx_state__: ClassVar[tuple[str, ...]] = (
        "schema_",
        "n_unseen_",
        "_encoders",
        "_pairs",
        "_paired",
        "_widths",
        "_names",
    )

    schema_: Schema = field(init=False)
    n_unseen_: dict[str, int] = field(init=False)
    n_features_in_: int = field(init=False)

    kinds: Any = None
    _: KW_ONLY
    numbers: str = "standard"
    bin_options: Any = None
    pairs: Any = ()
    center: Any = "auto"
    min_frequency: Any = None
    max_categories: int | None = 1000
    text_options: Any = None
    sparse_output: bool = True
    dtype: Any = np.float64

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.transformer_tags.preserves_dtype = []
        return tags

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the kinds of the columns, and learn how each is encoded.

        Parameters
        ----------
        X : table of n rows
            pandas, polars, pyarrow, dict of name -> values, or array of shape (n, d).
        y : array of shape (n,) or None
            The target, for bins of it and text columns weighted by it; otherwise not used.
        """
        refuse_dask(self, X, y)
        self._fit(X, y)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """`fit`, then `transform`, reading the table once.

        Parameters
        ----------
        X : table of n rows
            pandas, polars, pyarrow, dict of name -> values, or array of shape (n, d).
        y : array of shape (n,) or None
            The target, for bins of it and text columns weighted by it; otherwise not used.
        """
        refuse_dask(self, X, y)
        return self._encode(self._fit(X, y))[0]

    def _fit(self, X: Any, y: Any) -> Table:
        self._check_parameters()
        table = self._read(X, reset=True)
        given = self._given(list(table.columns))
        found = [given.get(name) or infer_kind(column) for name, column in table.columns.items()]
        self.schema_, self._encoders = Schema(tuple(found)), {}
        self._check_pairs()
        paired = {name for pair in self.pairs for name in pair}
        codes: dict[str, Any] = {}
        self._paired = {}
        bins, target = self._bin_options(y)
        for column in self.schema_:
            if column.role != "left out":
                held = as_kind(table.columns[column.name], column)
                number = column.kind in ("number", "duration")
                encoder = self._encoder(column.kind, bins)
                encoder.fit(held, target if number else y)
                self._encoders[column.name] = encoder
                if column.name in paired:
                    if number:
                        encoder = BinEncoder(**bins | {"max_bins": PAIR_BINS}).fit(held, target)
                        self._paired[column.name] = encoder
                    codes[column.name] = codes_of(encoder.encode(held), table.n_rows)
        self._pairs = []
        least = dict(self.bin_options or {}).get("min_rows", PairEncoder.min_rows)
        for first, second in self.pairs:
            width = len(self._in_pairs(second).names(second))
            self._pairs.append(PairEncoder(least).fit(codes[first], codes[second], width))
        self._settle()
        return table

    def _given(self, names: list[str]) -> dict[str, SchemaColumn]:
        """The columns whose kind was given."""
        if isinstance(self.kinds, Schema):
            given = {column.name: column for column in self.kinds if column.name in names}
        else:
            given = {}
            for name, words in dict(self.kinds or {}).items():
                if name not in names:
                    raise ParameterError(
                        f"kinds names {name!r}, which is no column; columns are {names}"
                    )
                dropped = words == "drop"
                kind, form = ("category", "") if dropped else parse_kind(words)
                role = "left out" if dropped else "input"
                given[name] = SchemaColumn(name, kind, role, form, why="requested")
        for name, column in given.items():
            if column.role != "left out" and column.kind not in ENCODED:
                raise ParameterError(
                    f"column {name!r}: a column of kind {column.kind!r} cannot be "
                    f"encoded; choose one of {', '.join(ENCODED)}, or 'drop'"
                )
        return given

    @property
    def kinds_(self) -> dict[str, str]:
        """Kind of each column, "drop" for those that are left out."""
        return {c.name: "drop" if c.role == "left out" else c.kind for c in self.schema_}

    def _settle(self) -> None:
        """Name the columns of the result, once every encoder has learned."""
        if not self._encoders:
            raise ParameterError("kinds drops every column")
        self.n_unseen_ = {name: 0 for name, kind in self.kinds_.items() if kind == "category"}
        self._widths = {name: len(e.names(name)) for name, e in self._encoders.items()}
        self._names = self._distinct({name: name for name in self._encoders})

    def _distinct(self, titles: Mapping[str, str]) -> list[str]:
        """Names of all columns of the result, for columns of the table with these titles."""
        names = {name: e.names(titles[name]) for name, e in self._encoders.items()}
        own = names | {name: e.names(titles[name]) for name, e in self._paired.items()}
        cells = zip(self.pairs, self._pairs, strict=True)
        paired = [pair.names(own[a], own[b]) for (a, b), pair in cells]
        return distinct([text for texts in (*names.values(), *paired) for text in texts])

    def _check_pairs(self) -> None:
        kinds = self.kinds_
        for pair in self.pairs:
            if isinstance(pair, str) or len(pair) != 2 or pair[0] == pair[1]:
                raise ParameterError(f"pairs must hold pairs of two columns, got {pair!r}")
            for name in pair:
                if name not in kinds:
                    raise ParameterError(
                        f"pairs names {name!r}, which is no column; columns are {list(kinds)}"
                    )
                if kinds[name] not in PAIRED:
                    raise ParameterError(
                        f"pairs are of numbers, categories or flags; {name!r} holds {kinds[name]}"
                    )

    def _check_parameters(self) -> None:
        check_choice("numbers", self.numbers, ("standard", "robust", "splines", "bins", "both"))
        check_choice("center", self.center, ("auto", True, False))
        least, most = self.min_frequency, self.max_categories
        share = isinstance(least, float) and 0 < least < 1
        count = isinstance(least, int | np.integer) and least >= 1
        if least is not None and not (share or count):
            raise ParameterError(
                f"min_frequency must be a number of rows or a share below 1, got {least!r}"
            )
        if most is not None and not (isinstance(most, int | np.integer) and most >= 1):
            raise ParameterError(f"max_categories must be None or at least 1, got {most!r}")
        if np.dtype(self.dtype) not in (np.float64, np.float32):
            raise ParameterError(f"dtype must be float64 or float32, got {self.dtype!r}")

    def _encoder(self, kind: str, bins: Mapping[str, Any] = MappingProxyType({})) -> Encoder:
        if kind in ("number", "duration"):
            if self.numbers == "both":
                return BothEncoder(RobustEncoder(self.center), BinEncoder(**bins))
            if self.numbers == "bins":
                return BinEncoder(**bins)
            if self.numbers == "splines":
                return SplineEncoder()
            return (RobustEncoder if self.numbers == "robust" else NumericEncoder)(self.center)
        if kind == "flag":
            return BooleanEncoder()
        if kind == "date":
            return DateEncoder()
        if kind == "text":
            return TextEncoder(_text_vectorizer(self.text_options or {}))
        return CategoryEncoder(self.min_frequency, self.max_categories)

    def _bin_options(self, y: Any) -> tuple[dict[str, Any], Any]:
        """Arguments of encoders of bins, and what they are fitted to; without them, nothing."""
        if self.numbers not in ("bins", "both") and not self.pairs:
            return {}, y
        known: dict[str, Any] = {"max_bins": 32, "min_rows": 5, "target": "auto"}
        return bin_options(**known | dict(self.bin_options or {}), y=y)

    def _in_pairs(self, name: str) -> Any:
        """The encoder of a column that is one of a pair."""
        return self._paired.get(name, self._encoders[name])

    def _read(self, X: Any, *, reset: bool) -> Table:
        if is_sparse(X):
            raise DataError(
                "TableEncoder takes tables; a sparse matrix is one of numbers already (scale it by "
                "sklearn.preprocessing.MaxAbsScaler, or convert it to a dense numpy array)"
            )
        table = read_table(self, X, reset=reset)
        if reset:
            if table.named:
                self.n_features_in_ = len(table.columns)
                self.feature_names_in_ = np.array(list(table.columns), dtype=object)
            return table
        return match_columns(table, list(self.schema_.names))

    def codes(self, X: Any) -> dict[str, npt.NDArray[np.intp]]:
        """For every column that can be one of a pair, the place of the value of each row.

        Parameters
        ----------
        X : table of n rows
            With the columns of `fit`.

        Returns
        -------
        dict of str to ndarray of shape (n,)
            Numbers of bins or categories; 0 for true; -1 for false and for what has no column. Of
            numbers only where they are cut into bins.
        """
        check_is_fitted(self)
        table, found = self._read(X, reset=False), {}
        for name, encoder in self._encoders.items():
            if isinstance(encoder, BinEncoder | BothEncoder | CategoryEncoder | BooleanEncoder):
                own = encoder.bins if isinstance(encoder, BothEncoder) else encoder
                held = as_kind(table.columns[name], self.schema_[name])
                found[name] = codes_of(own.encode(held), table.n_rows)
        return found

    def transform(self, X: Any) -> Any:
        """The table as numbers.

        Parameters
        ----------
        X : table of n rows
            With the columns of `fit`.

        Returns
        -------
        CSR matrix or ndarray of shape (n, n_features_out)
            One row per row.
        """
        check_is_fitted(self)
        result, counts = self._encode(self._read(X, reset=False))
        self.n_unseen_ = {name: counts[name] for name in self.n_unseen_}
        return result

    def report(self, X: Any) -> list[ColumnReport]:
        """What the encoder meets in a table: missing values and unseen categories per column.

        Parameters
        ----------
        X : table of n rows
            With the columns of `fit`.

        Returns
        -------
        list of ColumnReport
            One for each column.
        """
        check_is_fitted(self)
        reports = []
        for name, column in self._read(X, reset=False).columns.items():
            kind, encoder = self.kinds_[name], self._encoders.get(name)
            n_missing = int(column.missing.sum())
            width = n_unseen = 0
            if encoder is not None:
                width = self._widths[name]
                n_unseen = encoder.encode(as_kind(column, self.schema_[name])).n_unseen
            reports.append(ColumnReport(name, kind, width, n_missing, n_unseen))
        return reports

    @property
    def categories_(self) -> dict[str, list[Any]]:
        """Categories with a column of their own, per column of categories."""
        encoders = self._encoders.items()
        return {n: list(e.categories) for n, e in encoders if isinstance(e, CategoryEncoder)}

    @property
    def moments_(self) -> dict[str, tuple[float, float]]:
        """Mean and deviation of the training values, per column of numbers."""
        encoders = self._encoders.items()
        return {n: (e.mean, e.scale) for n, e in encoders if type(e) is NumericEncoder}

    def _encode(self, table: Table) -> tuple[Any, dict[str, int]]:
        if not self.sparse_output and len(self._names) > MAX_DENSE:
            raise ParameterError(
                f"the table has {len(self._names)} columns, too many for a dense array; "
                "use sparse_output=True"
            )
        shape, dtype = (table.n_rows, len(self._names)), np.dtype(self.dtype)
        held = {name: as_kind(table.columns[name], self.schema_[name]) for name in self._encoders}
        table = Table(held, table.n_rows, table.named)
        if self.sparse_output:
            parts, counts = self._parts(table)
            return assemble(parts, shape, dtype), counts
        dense, counts = np.zeros(shape, dtype=dtype), dict.fromkeys(self._encoders, 0)
        # Blocks of rows that a cache holds while column after column is written.
        for first in range(0, table.n_rows, BLOCK):
            rows = slice(first, min(first + BLOCK, table.n_rows))
            parts, found = self._parts(table.rows(rows))
            fill(parts, dense[rows])
            for name, n in found.items():
                counts[name] += n
        return dense, counts

    def _parts(self, table: Table) -> tuple[list[tuple[int, Part]], dict[str, int]]:
        """The entries of columns of their kinds, and how many values of each were not known."""
        parts: list[tuple[int, Part]] = []
        counts: dict[str, int] = {}
        base = 0
        paired = {name for pair in self.pairs for name in pair}
        codes: dict[str, Any] = {}
        for name, encoder in self._encoders.items():
            encoded = encoder.encode(table.columns[name])
            parts += [(base, part) for part in encoded.parts]
            counts[name] = encoded.n_unseen
            base += self._widths[name]
            if name in self._paired:
                encoded = self._paired[name].encode(table.columns[name])
            if name in paired:
                codes[name] = codes_of(encoded, table.n_rows)
        for (first, second), cells in zip(self.pairs, self._pairs, strict=True):
            parts += [(base, part) for part in cells.encode(codes[first], codes[second]).parts]
            base += len(cells.cells)
        return parts, counts

    def feature_kinds(self) -> list[tuple[str, str]]:
        """Where each column of the result comes from, and what kind of variable it is.

        Returns
        -------
        list of (str, str)
            Column of the table and "number", "flag" (0 or 1), "category" (one of the flags of a
            column whose flags exclude each other) or "token" (weight of a word of a text).

        Examples
        --------
        >>> table = {"age": [20.0, None], "city": ["Rome", "Oslo"]}
        >>> TableEncoder().fit(table).feature_kinds()
        [('age', 'number'), ('age', 'flag'), ('city', 'category'), ('city', 'category')]
        """
        check_is_fitted(self)
        own = {"flag": "flag", "category": "category", "text": "token"}
        found = []
        for name, encoder in self._encoders.items():
            if isinstance(encoder, BinEncoder | BothEncoder):
                line = isinstance(encoder, BothEncoder)
                found += [(name, "number")] * line
                found += [(name, "category")] * (self._widths[name] - line)
                continue
            kinds = [own.get(self.kinds_[name], "number")] * self._widths[name]
            if self.kinds_[name] == "date":
                kinds[DateEncoder.WEEKEND] = "flag"
            if self.kinds_[name] != "category" and getattr(encoder, "had_missing", False):
                kinds[-1] = "flag"
            found += [(name, kind) for kind in kinds]
        for (first, second), cells in zip(self.pairs, self._pairs, strict=True):
            found += [(f"{first} & {second}", "category")] * len(cells.cells)
        return found

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[np.object_]:
        """Names: "age", "age=<missing>", "city=Rome", "when.year", "review:good".

        Parameters
        ----------
        input_features : array of str or None, default=None
            Must be the names of the table's columns, if given.
        """
        check_is_fitted(self)
        if input_features is not None and list(input_features) != list(self.kinds_):
            if len(input_features) != len(self.kinds_):
                raise DataError(
                    f"input_features should have length equal to {len(self.kinds_)}, "
                    f"got {len(input_features)}"
                )
            if hasattr(self, "feature_names_in_"):
                raise DataError("input_features is not equal to feature_names_in_")
            renamed = dict(zip(self.kinds_, map(str, input_features), strict=True))
            return np.array(self._distinct(renamed), dtype=object)
        return np.array(self._names, dtype=object)
