"""Joint features Psi(x, y) of an input and a label."""

from __future__ import annotations

from copy import copy
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.utils.validation import _check_feature_names_in, check_array, check_is_fitted

from separatrix._core import joint
from separatrix.errors import DataError, ParameterError
from separatrix.features.handles import (
    check_hashed,
    checked_matrix,
    rows_from_parts,
    sparse_handle,
)
from separatrix.validation import (
    canonical,
    check_choice,
    check_sparse,
    is_sparse,
    number_of_threads,
    refuse_dask,
)

__all__ = ["JointMap"]


@dataclass(eq=False, repr=False)
class JointMap(BaseEstimator):  # type: ignore[misc]
    r"""The joint feature map :math:`\Psi(x, y) = x \otimes \varphi(y)`.

    With :math:`\varphi(y)` the indicator of the label this is the multivector construction: block
    y of :math:`\Psi(x, y)` holds x, the others are zero, and
    :math:`\langle w, \Psi(x, y) \rangle = \langle w_y, x \rangle`. With other features of the label
    (its words, its place in a hierarchy), labels share weights, and a label that training never
    saw can be scored.

    Parameters
    ----------
    combine : {"all", "seen", "hash"}, default="all"
        All d*p pairs of features, in column q*d + j for label feature q and input feature j; the
        pairs that occur in the training data only; or pairs hashed to `n_features` columns.
    n_features : int, default=2**20
        Columns with ``combine="hash"``.
    n_jobs : int or None, default=None
        Threads; the result does not depend on it.

    Attributes
    ----------
    labels_ : ndarray of shape (K,)
        The labels that can be named.
    label_features_ : CSR array of shape (K, p)
        phi of each label.
    pairs_ : ndarray of shape (m,)
        With "seen": the numbers q*d + j of the columns.
    n_features_in_ : int
        Columns d of X.
    n_features_out_ : int
        Columns of Psi.

    Examples
    --------
    >>> import numpy as np
    >>> from separatrix.features import JointMap
    >>> X = np.array([[2.0, 3.0]])
    >>> JointMap().fit(X, labels=[1, 2, 3]).features(X, [2]).toarray()
    array([[0., 0., 2., 3., 0., 0.]])
    """

    __sx_state__: ClassVar[tuple[str, ...]] = (
        "labels_",
        "label_features_",
        "pairs_",
        "n_features_out_",
    )

    n_features_in_: int = field(init=False)
    n_features_out_: int = field(init=False)
    labels_: npt.NDArray[Any] = field(init=False)
    label_features_: sp.csr_array = field(init=False)
    pairs_: npt.NDArray[np.int64] = field(init=False)

    combine: str = "all"
    _: KW_ONLY
    n_features: int = 2**20
    n_jobs: int | None = None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def fit(self, X: Any, y: Any = None, *, labels: Any = None, label_features: Any = None) -> Self:
        """Take the labels, their features, and the pairs that occur.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, d)
            Inputs.
        y : array of shape (n,) or None
            Labels of the rows; needed with ``combine="seen"`` or without `labels`.
        labels : array of shape (K,) or None
            The labels; those of y, sorted, by default.
        label_features : array or sparse matrix of shape (K, p) or None
            phi of each label, in the order of `labels`; indicators by default.
        """
        refuse_dask(self, X, y)
        check_choice("combine", self.combine, ("all", "seen", "hash"))
        if labels is None:
            if y is None:
                raise DataError("JointMap.fit needs y or labels")
            if label_features is not None:
                raise DataError("label_features need labels, to say whose they are")
            labels = np.unique(np.asarray(y))
        X = checked_matrix(self, X, number_of_threads(self.n_jobs), reset=True)
        if label_features is None:
            label_features = sp.eye_array(len(labels), format="csr")
        self._set_labels(labels, label_features)
        d, p = self.n_features_in_, self.label_features_.shape[1]
        self.__dict__.pop("pairs_", None)
        if self.combine == "hash":
            self.n_features_out_ = check_hashed(self.n_features) or 0
        elif self.combine == "all":
            self.n_features_out_ = d * p
            if d * p >= 2**31:
                raise DataError(
                    f"{d} x {p} pairs are more than 2^31 - 1 columns; use combine='hash' or 'seen'"
                )
        else:
            if y is None:
                raise DataError("combine='seen' needs y, to see which pairs occur")
            pairs = self._outer(X, self._rows_of(y, X.shape[0]))
            self.pairs_ = np.unique(pairs.indices[pairs.data != 0]).astype(np.int64)
            self.n_features_out_ = len(self.pairs_)
        return self

    def _set_labels(self, labels: Any, label_features: Any) -> None:
        labels = np.asarray(labels)
        if labels.ndim != 1 or len(set(labels.tolist())) != len(labels):
            raise DataError("labels must be a vector without repeated entries")
        features = _read(label_features)
        if features.shape[0] != len(labels):
            raise DataError(
                f"label_features have {features.shape[0]} rows, but there are {len(labels)} labels"
            )
        self.labels_ = labels
        self.label_features_ = _canonical(features)

    def with_labels(self, labels: Any, label_features: Any) -> JointMap:
        """A copy that knows further labels by their features; they need no training rows.

        Parameters
        ----------
        labels : array of shape (m,)
            The new labels.
        label_features : array or sparse matrix of shape (m, p)
            phi of each.
        """
        check_is_fitted(self)
        features = self._check_label_features(label_features)
        result = copy(self)
        result._set_labels(
            np.concatenate([self.labels_, np.asarray(labels)]),
            sp.vstack([self.label_features_, features], format="csr"),
        )
        return result

    def _check_label_features(self, label_features: Any) -> sp.csr_array:
        features = _canonical(_read(label_features))
        p = self.label_features_.shape[1]
        if features.shape[1] != p:
            raise DataError(f"label_features have {features.shape[1]} columns, expected {p}")
        return features

    def _rows_of(self, y: Any, n: int) -> sp.csr_array:
        """phi(y_i) for each row."""
        y = np.asarray(y)
        if y.shape != (n,):
            raise DataError(f"y has shape {y.shape}, but X has {n} rows")
        place = {label: k for k, label in enumerate(self.labels_.tolist())}
        codes = [place.get(label, -1) for label in y.tolist()]
        if -1 in codes:
            row = codes.index(-1)
            raise DataError(
                f"label {y.tolist()[row]!r} at row {row} is not known; add it by with_labels(...)"
            )
        return sp.csr_array(self.label_features_[codes])

    def _outer(self, X: Any, phi: sp.csr_array) -> sp.csr_matrix:
        """The products of the rows of X and phi: hashed, or in column q*d + j."""
        x = sp.csr_array(X)
        n_features = self.n_features if self.combine == "hash" else None
        n_columns = n_features or x.shape[1] * phi.shape[1]
        parts = joint(
            sparse_handle(x),
            sparse_handle(phi.astype(x.dtype)),
            n_features,
            n_columns >= 2**31,
            number_of_threads(self.n_jobs),
        )
        return rows_from_parts(parts, n_columns)

    def features(self, X: Any, y: Any) -> sp.csr_matrix:
        """Psi(x_i, y_i) of every row.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, d)
            Inputs.
        y : array of shape (n,)
            A known label for each.

        Returns
        -------
        CSR matrix of shape (n, n_features_out_)
            The joint features.
        """
        check_is_fitted(self)
        X = checked_matrix(self, X, number_of_threads(self.n_jobs), reset=False)
        pairs = self._outer(X, self._rows_of(y, X.shape[0]))
        if self.combine != "seen":
            return pairs
        places = np.searchsorted(self.pairs_, pairs.indices)
        places[places == len(self.pairs_)] = 0
        kept = self.pairs_[places] == pairs.indices if len(self.pairs_) else places < 0
        rows = np.repeat(np.arange(pairs.shape[0]), np.diff(pairs.indptr))[kept]
        shape = (pairs.shape[0], self.n_features_out_)
        return sp.csr_matrix((pairs.data[kept], (rows, places[kept])), shape=shape)

    def scores(self, X: Any, w: Any, label_features: Any = None) -> npt.NDArray[Any]:
        """<w, Psi(x, y)> for every row and every label.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, d)
            Inputs.
        w : array of shape (n_features_out_,)
            Weights.
        label_features : array or sparse matrix of shape (m, p) or None
            phi of labels to score, seen or not; those of `labels_` by default.

        Returns
        -------
        ndarray of shape (n, K) or (n, m)
            The scores.
        """
        check_is_fitted(self)
        w = np.asarray(w)
        if w.shape != (self.n_features_out_,):
            raise ParameterError(f"w has shape {w.shape}, expected ({self.n_features_out_},)")
        X = checked_matrix(self, X, number_of_threads(self.n_jobs), reset=False)
        phi = self.label_features_
        if label_features is not None:
            phi = self._check_label_features(label_features)
        d, p = self.n_features_in_, phi.shape[1]
        if self.combine == "hash":
            # No matrix of weights: one label after the other.
            columns = []
            for k in range(phi.shape[0]):
                rows = sp.csr_array(phi[np.full(X.shape[0], k)])
                columns.append(self._outer(X, rows) @ w)
            return np.column_stack(columns)
        if self.combine == "all":
            W = w.reshape(p, d)
        else:
            W = sp.csr_array((w, (self.pairs_ // d, self.pairs_ % d)), shape=(p, d))
        result = X @ W.T @ phi.T
        return np.asarray(result.toarray() if is_sparse(result) else result)

    def get_feature_names_out(
        self, input_features: Any = None, label_feature_names: Any = None
    ) -> npt.NDArray[np.object_]:
        """Names "x0 & y=NOUN"; hashed columns are "joint0", ….

        Parameters
        ----------
        input_features : array of str or None, default=None
            Names of the columns of X.
        label_feature_names : array of str or None, default=None
            Names of the columns of phi; "y=" and the label where they are as many as the labels.
        """
        check_is_fitted(self)
        if self.combine == "hash":
            return np.array([f"joint{j}" for j in range(self.n_features_out_)], dtype=object)
        names = _check_feature_names_in(self, input_features)
        d, p = self.n_features_in_, self.label_features_.shape[1]
        if label_feature_names is None:
            same = p == len(self.labels_)
            label_feature_names = [f"y={self.labels_[q]}" if same else f"y{q}" for q in range(p)]
        if len(label_feature_names) != p:
            raise ParameterError(
                f"label_feature_names has {len(label_feature_names)} names, expected {p}"
            )
        pairs = self.pairs_ if self.combine == "seen" else range(d * p)
        return np.array([f"{names[c % d]} & {label_feature_names[c // d]}" for c in pairs], object)


def _read(label_features: Any) -> Any:
    check_sparse(label_features)
    return check_array(
        label_features, accept_sparse="csr", dtype=np.float64, input_name="label_features"
    )


def _canonical(features: Any) -> sp.csr_array:
    result = sp.csr_array(features)
    if not result.has_canonical_format:
        result = canonical(result)
    return result
