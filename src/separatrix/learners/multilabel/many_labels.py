"""Sets out of very many labels: linear weights of every label, learned from blocks of rows."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.special import expit, log_expit
from sklearn.utils.validation import check_is_fitted, check_random_state

from separatrix._core import label_sets_best, label_sets_learn
from separatrix.data import LabelSets
from separatrix.errors import DataError
from separatrix.features.handles import checked_matrix, sparse_handle
from separatrix.learners.extreme.ranking import LabelRanking, Ranked, score_blocks
from separatrix.learners.multilabel.targets import Form, LabelSetTarget, encode_sets, read_sets
from separatrix.validation import (
    check_given,
    check_positive,
    float_type,
    is_sparse,
    number_of_threads,
    refuse_dask,
)

__all__ = ["ManyLabels"]

Floats = npt.NDArray[np.floating[Any]]


@dataclass(eq=False, repr=False)
class ManyLabels(LabelSetTarget, LabelRanking):
    r"""Several labels for every row, out of hundreds or thousands: a logistic regression for each.

    Minimizes

    .. math:: \tfrac12 |W|^2 + C \sum_i \sum_y \ln(1 + e^{-t_{iy} s_y(x_i)}), \qquad
              s_y(x) = \langle w_y, x \rangle + b_y

    with t = 1 for the labels of a row and -1 for all others, by AdaGrad's steps on batches of rows
    (Duchi et al. 2011), so that no array of rows times labels is ever made. The weights are kept in
    8 bits: whole steps, whose size each feature has for itself.

    Parameters
    ----------
    C : float, default=3.0
        Weight of the data against the penalty.
    candidates : int or "all", default="all"
        Labels of a row that can have a probability: so many of the highest scores.
    learning_rate : float, default=2.0
        First step of AdaGrad, for rows scaled to a mean square length of one; it falls to zero over
        the run.
    max_iter : int, default=5
        Passes over the rows.
    memory : float, default=64.0
        Megabytes that the scores of a block of rows may take where all labels are asked for.
    random_state : int, RandomState or None, default=None
        Order of the rows.
    n_jobs : int or None, default=None
        Threads; the result does not depend on it.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
        The labels: numbers of the columns of a matrix, names of the columns of a DataFrame, or the
        sorted labels of lists.
    steps_, sizes_ : ndarray of shape (d, K), (d,)
        Weights, in steps, and the size of a step of each feature.
    coef_ : ndarray of shape (K, d)
        Weights.
    intercept_ : ndarray of shape (K,)
        Intercepts, not penalized.
    losses_ : ndarray of shape (max_iter,)
        Mean of -ln of the probability of a row's own labels in each pass, before they were learned
        from.
    n_iter_ : int
        Passes made.

    See Also
    --------
    separatrix.MultiLabel : Few labels, with weights for those that occur together, and a proof of
        the optimum.
    separatrix.ManyClass : One label for every row.

    Notes
    -----
    The result is near the optimum, without a certificate. Weights take d K bytes, and eight times
    as much while they are learned.

    Examples
    --------
    >>> X = [[0.0], [0.2], [0.9], [1.0], [1.1], [0.1]]
    >>> Y = [["sea"], ["sea"], ["beach", "sea"], ["beach", "sea"], ["beach", "sea"], ["sea"]]
    >>> model = ManyLabels(C=10.0, max_iter=100, random_state=0).fit(X, Y)
    >>> list(model.predict([[0.0], [1.0]]))
    [('sea',), ('beach', 'sea')]
    >>> model.predict_top([[1.0]], 1).labels
    array([['sea']], dtype=object)
    """

    #: The kind of its output, for model files.
    __sx_task__: ClassVar[str] = "label_sets"
    __sx_state__: ClassVar[tuple[str, ...]] = (
        "classes_",
        "form_",
        "steps_",
        "sizes_",
        "intercept_",
        "losses_",
        "n_iter_",
    )

    form_: Form = field(init=False)
    steps_: npt.NDArray[np.int8] = field(init=False)
    sizes_: npt.NDArray[np.float32] = field(init=False)
    intercept_: npt.NDArray[np.float32] = field(init=False)
    losses_: npt.NDArray[np.float64] = field(init=False)
    n_iter_: int = field(init=False)

    C: float = 3.0
    _: KW_ONLY
    candidates: int | str = "all"
    learning_rate: float = 2.0
    max_iter: int = 5
    memory: float = 64.0
    random_state: Any = None
    n_jobs: int | None = None

    def __sx_check__(self) -> None:
        """Raise DataError unless the arrays of a loaded model agree."""
        if not hasattr(self, "steps_"):
            return
        d, k = self.n_features_in_, len(self.classes_)
        found = self.steps_.shape, self.sizes_.shape, self.intercept_.shape
        if found != ((d, k), (d,), (k,)):
            raise DataError(f"the weights have shapes {found}, expected {((d, k), (d,), (k,))}")

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from passes over the rows.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n, d)
            Training rows.
        y : array, sparse matrix or DataFrame of shape (n, K), or sequence of n collections
            A binary matrix, or the labels of every row.

        Returns
        -------
        self
            The fitted estimator.
        """
        refuse_dask(self, X, y)
        check_positive(
            C=self.C, learning_rate=self.learning_rate, max_iter=self.max_iter, memory=self.memory
        )
        self._check_candidates()
        check_given(self, y)
        rows = self._rows(X, reset=True)
        Y, classes, form = _sparse_sets(y, rows.shape[0])
        generator = np.random.default_rng(check_random_state(self.random_state).randint(2**31))
        n = rows.shape[0]
        # Rows of mean square length one; the penalty of the scaled weights is what it was.
        squares = np.square(rows.data, dtype=np.float64).sum()
        scale = math.sqrt(float(squares) / n) or 1.0
        orders = [generator.permutation(n) for _ in range(int(self.max_iter))]
        self.steps_, sizes, self.intercept_, losses = label_sets_learn(
            sparse_handle((rows / np.float32(scale)).astype(np.float32, copy=False)),
            Y.indptr.astype(np.int64),
            Y.indices.astype(np.int32),
            len(classes),
            np.array(orders, dtype=np.uint32),
            float(self.learning_rate),
            1.0 / (float(self.C) * scale**2 * n),
            number_of_threads(self.n_jobs),
        )
        self.sizes_, self.losses_ = sizes / np.float32(scale), losses / n
        if not (np.isfinite(self.sizes_).all() and np.isfinite(self.intercept_).all()):
            raise FloatingPointError(
                "ManyLabels ended with weights that are not finite; scale the features"
            )
        self.classes_, self.form_, self.n_iter_ = classes, form, int(self.max_iter)
        return self

    @property
    def coef_(self) -> npt.NDArray[np.float32]:
        """Weights of shape (K, d)."""
        return (self.steps_ * self.sizes_[:, None]).T

    def _rows(self, X: Any, *, reset: bool) -> sp.csr_array:
        X = checked_matrix(self, X, number_of_threads(self.n_jobs), reset=reset)
        return sp.csr_array(X, dtype=np.float32)

    def _blocks(self, X: Any) -> Iterator[Floats]:
        check_is_fitted(self)
        X, n_threads = self._rows(X, reset=False), number_of_threads(self.n_jobs)
        return score_blocks(X, self.coef_.T, self.intercept_, self.memory, n_threads)

    def decision_function(self, X: Any) -> Floats:
        """Scores of all labels, of shape (n, K): a label belongs to a set where it is positive.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n, d)
            Rows.

        Returns
        -------
        ndarray of shape (n, K)
            Scores.
        """
        return np.concatenate(list(self._blocks(X)))

    def _ranked(self, X: Any, n: int) -> Ranked:
        check_is_fitted(self)
        rows = sparse_handle(self._rows(X, reset=False))
        weights = self.steps_, self.sizes_, self.intercept_
        numbers, scores = label_sets_best(rows, *weights, n, number_of_threads(self.n_jobs))
        return Ranked(numbers.astype(np.int64), log_expit(scores.astype(np.float64)))

    def _best(self, X: Any, n: int) -> Ranked:
        return self._ranked(X, n)

    def predict_proba(self, X: Any) -> Floats:
        """p(label | x) of the candidates: a full matrix, so ask for few rows at a time.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n, d)
            Rows.

        Returns
        -------
        ndarray of shape (n, K)
            Probabilities; those of a row do not sum to one.
        """
        check_is_fitted(self)
        if self._n_candidates() < len(self.classes_):
            ranked = self._ranked(X, self._n_candidates())
            proba = np.zeros((len(ranked.numbers), len(self.classes_)), dtype=float_type(X))
            chances = np.exp(ranked.log_probabilities).astype(proba.dtype)
            np.put_along_axis(proba, ranked.numbers, chances, axis=1)
            return proba
        found: Floats = expit(self.decision_function(X).astype(float_type(X)))
        return found

    def _sets(self, X: Any) -> sp.csr_array:
        chosen = [sp.csr_array(scores > 0, dtype=np.int64) for scores in self._blocks(X)]
        return sp.csr_array(sp.vstack(chosen, format="csr"))

    def predict(self, X: Any) -> Any:
        """All labels that are more probable than not, in the form of those that `fit` was given.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n, d)
            Rows.

        Returns
        -------
        int array or sparse matrix of shape (n, K), or LabelSets
            The label sets.
        """
        Y = self._sets(X)
        if self.form_ == "array":
            return Y.toarray()
        if self.form_ == "sparse":
            return sp.csr_matrix(Y)
        return LabelSets(self.classes_[Y.indices], Y.indptr.astype(np.int64), self.classes_)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Share of the rows whose whole set is right."""
        Y = self._sets(X)
        wrong = abs(Y - sp.csr_array(encode_sets(y, Y.shape[0], self.classes_))).sum(axis=1)
        return float(np.average(wrong == 0, weights=sample_weight))


def _sparse_sets(y: Any, n_rows: int) -> tuple[sp.csr_array, npt.NDArray[Any], Form]:
    """A binary matrix in CSR, the labels of its columns, and the form of `y`."""
    if not is_sparse(y):
        matrix, classes, form = read_sets(y, n_rows)
        return sp.csr_array(matrix), classes, form
    Y = sp.csr_array(y)
    if Y.shape[0] != n_rows:
        raise DataError(f"X has {n_rows} rows, Y has {Y.shape[0]}")
    odd = np.flatnonzero((Y.data != 0) & (Y.data != 1))
    if len(odd):
        row = int(np.searchsorted(Y.indptr, odd[0], side="right")) - 1
        raise DataError(
            f"Y holds {Y.data[odd[0]]} in row {row}, column {Y.indices[odd[0]]}; a binary matrix "
            "holds 0 and 1"
        )
    if not Y.shape[1]:
        raise DataError("Y has no labels: at least one row needs one")
    Y = sp.csr_array((Y.data != 0, Y.indices, Y.indptr), shape=Y.shape, dtype=np.int64)
    Y.sum_duplicates()
    Y.eliminate_zeros()
    return Y, np.arange(Y.shape[1]), "sparse"
