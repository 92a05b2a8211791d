"""Named values to a fixed number of columns by hashing."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from numbers import Integral
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, TransformerMixin

from separatrix._core import hash_features
from separatrix.errors import DataError, ParameterError
from separatrix.features.sparse import check_float, make_csr
from separatrix.validation import check_choice, check_sparse, refuse_dask

__all__ = ["Hasher"]


@dataclass(eq=False, repr=False)
class Hasher(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Dicts, lists of strings or lists of (name, value) to a sparse matrix, by a signed hash.

    A value v named s is added to column |h(s)| mod n with the sign of h(s), where h is
    MurmurHash3 for 32 bits; then <x, x'> is kept in expectation (Weinberger et al. 2009). A string
    value makes the name "name=value" with the value 1. Columns and signs are those of
    scikit-learn's ``FeatureHasher``.

    Parameters
    ----------
    n_features : int, default=2**20
        Number of columns n.
    input_type : {"dict", "pair", "string"}, default="dict"
        What a row is: a mapping from name to value, a list of (name, value), or a list of names
        that count one each.
    alternate_sign : bool, default=True
        Whether the hash also decides the sign.
    dtype : {"float64", "float32"}, default="float64"
        Type of the values.

    Examples
    --------
    >>> from separatrix.features import Hasher
    >>> rows = [{"dog": 1, "town": "Oslo"}, {"cat": 2.5, "dog": 4}]
    >>> X = Hasher(n_features=8).transform(rows)
    >>> X.toarray()
    array([[ 0. ,  0. ,  0. ,  0. ,  0. , -1. ,  0. , -1. ],
           [ 0. ,  0. ,  0. ,  0. ,  0. , -4. ,  0. ,  2.5]])
    """

    n_features: int = 2**20
    _: KW_ONLY
    input_type: str = "dict"
    alternate_sign: bool = True
    dtype: Any = "float64"

    def fit(self, X: Any = None, y: Any = None) -> Self:
        """Check the parameters; there is nothing to learn.

        Parameters
        ----------
        X, y : object
            Ignored.

        Returns
        -------
        self
            The hasher.
        """
        refuse_dask(self, X, y)
        self._check()
        return self

    def transform(self, X: Any) -> Any:
        """Hash the rows.

        Parameters
        ----------
        X : iterable of n rows
            Dicts, lists of (name, value) or lists of names, as `input_type` says.

        Returns
        -------
        CSR matrix of shape (n, n_features)
            Columns sorted; values of the same column added up, zeros left out before that.
        """
        dtype = self._check()
        if isinstance(X, str | bytes) or not hasattr(X, "__iter__"):
            raise DataError("Samples can not be a single string; expected an iterable of rows.")
        check_sparse(X)
        indptr, indices, data = hash_features(
            X, self.input_type, self.n_features, bool(self.alternate_sign)
        )
        return make_csr(indptr, indices, data.astype(dtype, copy=False), self.n_features)

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[Any]:
        """Names of the columns, by number: what fell into a column cannot be known.

        Parameters
        ----------
        input_features : object
            Ignored.

        Returns
        -------
        ndarray of shape (n_features,)
            "hash0", "hash1", …
        """
        self._check()
        return np.array([f"hash{j}" for j in range(self.n_features)], dtype=object)

    def _check(self) -> np.dtype[Any]:
        check_choice("input_type", self.input_type, ("dict", "pair", "string"))
        if not isinstance(self.n_features, Integral) or not 1 <= self.n_features < 2**31:
            raise ParameterError(
                f"n_features must be a whole number from 1 to 2^31 - 1, got {self.n_features!r}"
            )
        return check_float(self.dtype)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.string = self.input_type == "string"
        tags.input_tags.dict = self.input_type == "dict"
        tags.requires_fit = False
        return tags
