"""Products of columns: polynomial features, dense, sparse or hashed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass, field
from itertools import combinations, combinations_with_replacement
from math import comb
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from separatrix._core import expand, expand_dense
from separatrix.errors import DataError, ParameterError
from separatrix.features.handles import (
    check_hashed,
    checked_matrix,
    dense_handle,
    rows_from_parts,
    sparse_handle,
)
from separatrix.validation import is_sparse, number_of_threads, refuse_dask

__all__ = ["Polynomial", "check_degrees", "count_products"]

#: Highest degree that the kernels take.
MAX_DEGREE = 16


def check_degrees(degree: Any) -> tuple[int, int]:
    """`degree` as (smallest, largest): a number k stands for (1, k)."""
    low, high = degree if isinstance(degree, tuple | list) and len(degree) == 2 else (1, degree)
    for value in (low, high):
        if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < 0:
            raise ParameterError(
                f"degree must be a number >= 1 or a pair (smallest, largest), got {degree!r}"
            )
    if not low <= high or not 1 <= high <= MAX_DEGREE:
        raise ParameterError(
            f"degree must satisfy smallest <= largest and 1 <= largest <= {MAX_DEGREE}, "
            f"got {degree!r}"
        )
    return int(low), int(high)


def count_products(n: int, low: int, high: int, *, interaction_only: bool) -> int:
    """Number of products of `low` to `high` of n columns.

    Examples
    --------
    >>> count_products(3, 0, 2, interaction_only=False)  # 1, a, b, c, aa, ab, ac, bb, bc, cc
    10
    """
    if interaction_only:
        return sum(comb(n, k) for k in range(low, high + 1))
    return sum(comb(n + k - 1, k) if k else 1 for k in range(low, high + 1))


@dataclass(eq=False, repr=False)
class Polynomial(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    r"""Products of columns: :math:`x_{i_1} x_{i_2} \cdots x_{i_k}` for all k up to a degree.

    The columns and their order are those of scikit-learn's `PolynomialFeatures`. Sparse rows stay
    sparse, and the zeros cost nothing: a row of m entries takes time in the number of products of
    m, not of d, columns. A linear separator on (x, x^2) is a quadratic one on x: XOR is within
    reach.

    Parameters
    ----------
    degree : int or (int, int), default=2
        Largest degree, or smallest and largest; at most 16.
    interaction_only : bool, default=False
        Products of distinct columns only: no powers.
    include_bias : bool, default=False
        A first column of ones. The learners of this package have an intercept of their own.
    n_features : int or None, default=None
        Hash the products to so many columns (signed, so that collisions cancel on average), in
        CSR. Columns then have no names of their own.
    max_features : int, default=2**24
        More columns than this are refused with an error that tells to hash.
    n_jobs : int or None, default=None
        Threads; the result does not depend on it.

    Attributes
    ----------
    n_features_in_ : int
        Columns seen in `fit`.
    n_output_features_ : int
        Columns of the result.

    Examples
    --------
    >>> from separatrix.features import Polynomial
    >>> Polynomial().fit_transform([[2.0, 3.0]])
    array([[2., 3., 4., 6., 9.]])
    >>> Polynomial().fit([[2.0, 3.0]]).get_feature_names_out(["a", "b"])
    array(['a', 'b', 'a^2', 'a b', 'b^2'], dtype=object)
    """

    __sx_state__: ClassVar[tuple[str, ...]] = ("n_output_features_", "_degrees")

    n_features_in_: int = field(init=False)
    n_output_features_: int = field(init=False)

    degree: Any = 2
    _: KW_ONLY
    interaction_only: bool = False
    include_bias: bool = False
    n_features: int | None = None
    max_features: int = 2**24
    n_jobs: int | None = None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def fit(self, X: Any, y: Any = None) -> Self:
        """Look at the number of columns.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, d)
            The data.
        y : ignored
        """
        refuse_dask(self, X, y)
        hashed = check_hashed(self.n_features)
        self._fit_columns(checked_matrix(self, X, number_of_threads(self.n_jobs), reset=True))
        self.n_output_features_ = hashed or self._total()
        return self

    def _fit_columns(self, X: Any) -> None:
        low, high = check_degrees(self.degree)
        self._degrees = (0 if self.include_bias else low, high)
        if self.include_bias and low > 1:
            raise ParameterError("include_bias=True needs a smallest degree of at most 1")
        total = self._total()
        if total == 0:
            raise DataError(f"{X.shape[1]} columns have no products of {low} distinct ones")
        if self.n_features is None and total > self.max_features:
            raise DataError(
                f"degree {high} of {X.shape[1]} columns makes {total} products, more than "
                f"max_features={self.max_features}; hash them (n_features=2**20), lower the "
                "degree, or raise max_features"
            )

    def _total(self) -> int:
        return count_products(
            self.n_features_in_, *self._degrees, interaction_only=self.interaction_only
        )

    def transform(self, X: Any) -> npt.NDArray[Any] | sp.csr_matrix:
        """The products.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, d)
            The data.

        Returns
        -------
        ndarray or CSR matrix of shape (n, n_output_features_)
            Dense for dense data, unless hashed.
        """
        check_is_fitted(self)
        n_threads = number_of_threads(self.n_jobs)
        X = checked_matrix(self, X, n_threads, reset=False)
        low, high = self._degrees
        if not is_sparse(X) and self.n_features is None:
            return expand_dense(dense_handle(X), low, high, self.interaction_only, n_threads)
        parts = expand(
            sparse_handle(sp.csr_array(X)),
            low,
            high,
            self.interaction_only,
            self.n_features,
            self.n_output_features_ >= 2**31,
            n_threads,
        )
        return rows_from_parts(parts, self.n_output_features_)

    def _products(self) -> Iterator[tuple[int, ...]]:
        """The columns that enter each product, in order."""
        choose = combinations if self.interaction_only else combinations_with_replacement
        low, high = self._degrees
        for k in range(low, high + 1):
            yield from choose(range(self.n_features_in_), k)

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[np.object_]:
        """Names such as "a", "a^2", "a b"; hashed columns are "polynomial0", ….

        Parameters
        ----------
        input_features : array of str or None, default=None
            Names of the columns of X; those of `fit`, or x0, x1, …, by default.
        """
        check_is_fitted(self)
        names = _check_feature_names_in(self, input_features)
        if self.n_features is not None:
            return np.array([f"polynomial{j}" for j in range(self.n_features)], dtype=object)

        def name(columns: tuple[int, ...]) -> str:
            powers = [(names[j], columns.count(j)) for j in dict.fromkeys(columns)]
            return " ".join(n if k == 1 else f"{n}^{k}" for n, k in powers) or "1"

        return np.array([name(columns) for columns in self._products()], dtype=object)
