"""Conjunctions of binary and categorical features."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from math import comb
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from separatrix._core import expand
from separatrix.data.schema import SchemaColumn
from separatrix.errors import DataError, ParameterError
from separatrix.features.handles import (
    check_hashed,
    checked_matrix,
    rows_from_parts,
    sparse_handle,
)
from separatrix.features.polynomial import check_degrees
from separatrix.features.tables.columns import Column, Table, as_kind, match_columns, read_table
from separatrix.features.tables.columns_to_numbers import BooleanEncoder, CategoryEncoder
from separatrix.features.tables.sparse_rows import assemble, distinct
from separatrix.validation import is_sparse, number_of_threads, refuse_dask

__all__ = ["Conjunctions"]


@dataclass(eq=False, repr=False)
class Conjunctions(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    r"""Indicators of values that occur together: :math:`[x_i = a] \wedge [x_j = b]`.

    Columns of booleans or of 0 and 1 are features that are on (at 1) or off; of any other column
    each value is a feature of its own (missing ones too). Of sparse rows, the entries that are not
    zero are on. A conjunction is the product of features that are on together; those that occur in
    the training data become columns, others are zero. With them a linear separator can tell XOR.

    Parameters
    ----------
    degree : int or (int, int), default=2
        Most features of a conjunction, or fewest and most; 1 stands for the features themselves.
    min_count : int, default=1
        Rows in which a conjunction must occur to become a column.
    n_features : int or None, default=None
        Hash the conjunctions to so many columns (signed) instead of keeping those that occur.
    max_features : int, default=2**24
        More columns than this are refused with an error that tells to hash.
    dtype : dtype, default=float64
        float64 or float32.
    n_jobs : int or None, default=None
        Threads; the result does not depend on it.

    Attributes
    ----------
    conjunctions_ : ndarray of shape (m,)
        Numbers of the conjunctions that became columns; not there when hashed.
    n_features_in_ : int
        Columns seen in `fit`.

    Examples
    --------
    >>> from separatrix.features import Conjunctions
    >>> maker = Conjunctions()
    >>> maker.fit_transform([[0, 0], [0, 1], [1, 0], [1, 1]]).toarray()
    array([[0., 0., 0.],
           [0., 1., 0.],
           [1., 0., 0.],
           [1., 1., 1.]])
    >>> maker.get_feature_names_out()
    array(['x0', 'x1', 'x0 & x1'], dtype=object)
    """

    n_features_in_: int = field(init=False)
    conjunctions_: npt.NDArray[np.int64] = field(init=False)

    __sx_state__: ClassVar[tuple[str, ...]] = ("conjunctions_", "_degrees", "_encoders")

    degree: Any = 2
    _: KW_ONLY
    min_count: int = 1
    n_features: int | None = None
    max_features: int = 2**24
    dtype: Any = np.float64
    n_jobs: int | None = None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.transformer_tags.preserves_dtype = []
        return tags

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the features and, unless hashed, the conjunctions that occur.

        Parameters
        ----------
        X : table of n rows, or sparse matrix of shape (n, d)
            pandas, polars, pyarrow, dict of name -> values, array, or sparse matrix.
        y : ignored
        """
        refuse_dask(self, X, y)
        self.fit_transform(X, y)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> sp.csr_matrix:
        """`fit`, then the conjunctions of the same rows.

        Parameters
        ----------
        X : table of n rows, or sparse matrix of shape (n, d)
            pandas, polars, pyarrow, dict of name -> values, array, or sparse matrix.
        y : ignored
        """
        refuse_dask(self, X, y)
        self._degrees = check_degrees(self.degree)
        if self._degrees[0] == 0:
            raise ParameterError("a conjunction has at least one feature: degree must be positive")
        if np.dtype(self.dtype) not in (np.float64, np.float32):
            raise ParameterError(f"dtype must be float64 or float32, got {self.dtype!r}")
        if not isinstance(self.min_count, int | np.integer) or self.min_count < 1:
            raise ParameterError(f"min_count must be a number >= 1, got {self.min_count!r}")
        if check_hashed(self.n_features) is not None and self.min_count > 1:
            raise ParameterError("hashed conjunctions are not counted: use min_count=1")
        rows = self._expand(self._indicators(X, reset=True))
        if self.n_features is not None:
            return rows_from_parts(rows, self.n_features)
        keys, counts = np.unique(rows[1], return_counts=True)
        keys = keys[counts >= self.min_count]
        if len(keys) == 0:
            raise DataError(
                f"no conjunction of {self._degrees[0]} features occurs in {self.min_count} rows"
            )
        if len(keys) > self.max_features:
            raise DataError(
                f"{len(keys)} conjunctions occur, more than max_features={self.max_features}; "
                "hash them (n_features=2**20), raise min_count, or raise max_features"
            )
        self.conjunctions_ = keys
        return self._known(rows)

    def transform(self, X: Any) -> sp.csr_matrix:
        """The conjunctions of rows.

        Parameters
        ----------
        X : table of n rows, or sparse matrix of shape (n, d)
            With the columns of `fit`.

        Returns
        -------
        CSR matrix of shape (n, n_features_out)
            Ones (signed sums, when hashed).
        """
        check_is_fitted(self)
        rows = self._expand(self._indicators(X, reset=False))
        if self.n_features is not None:
            return rows_from_parts(rows, self.n_features)
        return self._known(rows)

    def _indicators(self, X: Any, *, reset: bool) -> sp.csr_array:
        """The features that are on, as ones in sparse rows."""
        dtype = np.dtype(self.dtype)
        if reset:
            self._encoders: dict[str, Any] | None = None
        if is_sparse(X) if reset else self._encoders is None:
            X = checked_matrix(self, X, number_of_threads(self.n_jobs), reset=reset)
            rows = sp.csr_array(X, copy=True)
            rows.eliminate_zeros()
            rows.data = np.ones(len(rows.data), dtype=dtype)
            return rows
        table = read_table(self, X.toarray() if is_sparse(X) else X, reset=reset)
        if reset:
            self._fit_encoders(table)
        assert self._encoders is not None
        parts, base = [], 0
        for column in match_columns(table, list(self._encoders)).columns.values():
            encoder = self._encoders[column.name]
            parts += [(base, part) for part in encoder.encode(_fitting(column, encoder)).parts]
            base += len(encoder.names(column.name))
        return sp.csr_array(assemble(parts, (table.n_rows, base), dtype))

    def _fit_encoders(self, table: Table) -> None:
        if table.named:
            self.n_features_in_ = len(table.columns)
            self.feature_names_in_ = np.array(list(table.columns), dtype=object)
        self._encoders = {}
        for name, column in table.columns.items():
            encoder = BooleanEncoder() if _is_binary(column) else CategoryEncoder()
            encoder.fit(_fitting(column, encoder), None)
            self._encoders[name] = encoder

    def _expand(self, rows: sp.csr_array) -> tuple[Any, Any, Any]:
        low, high = self._degrees
        wide = self.n_features is None
        n_threads = number_of_threads(self.n_jobs)
        return expand(sparse_handle(rows), low, high, True, self.n_features, wide, n_threads)

    def _known(self, rows: tuple[Any, Any, Any]) -> sp.csr_matrix:
        """The columns of conjunctions that training had."""
        indptr, keys, data = rows
        places = np.searchsorted(self.conjunctions_, keys)
        places[places == len(self.conjunctions_)] = 0
        kept = self.conjunctions_[places] == keys
        before = np.concatenate([[0], np.cumsum(kept)])
        parts = (before[indptr], places[kept].astype(np.int32), data[kept])
        return rows_from_parts(parts, len(self.conjunctions_))

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[np.object_]:
        """Names "a & b=Rome"; hashed columns are "conjunctions0", ….

        Parameters
        ----------
        input_features : array of str or None, default=None
            Must be the names of `fit`, if it saw any.
        """
        check_is_fitted(self)
        if self.n_features is not None:
            return np.array([f"conjunctions{j}" for j in range(self.n_features)], dtype=object)
        names = list(_check_feature_names_in(self, input_features))
        if self._encoders is not None:
            pairs = zip(names, self._encoders.values(), strict=True)
            names = distinct([text for name, e in pairs for text in e.names(name)])
        low, _ = self._degrees
        return np.array(
            [
                " & ".join(names[i] for i in _members(int(key), len(names), low))
                for key in self.conjunctions_
            ],
            dtype=object,
        )


def _is_binary(column: Column) -> bool:
    """Whether a column holds booleans, or nothing but 0 and 1."""
    if column.values.dtype.kind == "b":
        return True
    values = column.values[~column.missing]
    if column.values.dtype.kind == "f":
        return bool(np.isin(values, (0, 1)).all())
    # Strings are values of their own, "0" and "1" too.
    return all(isinstance(v, bool | int | np.bool_ | np.integer) and v in (0, 1) for v in values)


def _fitting(column: Column, encoder: Any) -> Column:
    """The values of a column as its encoder takes them."""
    if not isinstance(encoder, BooleanEncoder):
        return as_kind(column, SchemaColumn(column.name, "category"))
    values, present = column.values, ~column.missing
    on = np.zeros(len(values), dtype=bool)
    on[present] = [not isinstance(v, str) and bool(v == 1) for v in values[present]]
    return Column(column.name, on, column.missing)


def _members(key: int, n: int, degree: int) -> list[int]:
    """The features of the conjunction at place `key`, when the first ones have `degree` features.

    Examples
    --------
    >>> [_members(key, 3, 1) for key in range(7)]
    [[0], [1], [2], [0, 1], [0, 2], [1, 2], [0, 1, 2]]
    """
    while key >= comb(n, degree):
        key -= comb(n, degree)
        degree += 1
    members, first = [], 0
    for left in range(degree, 0, -1):
        # The last feature such that the conjunctions that begin before it are at most `key`.
        low, high = first, n - left
        total = comb(n - first, left)
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (
                (middle, high) if total - comb(n - middle, left) <= key else (low, middle - 1)
            )
        key -= total - comb(n - low, left)
        members.append(low)
        first = low + 1
    return members
