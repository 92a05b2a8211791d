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

from separatrix.data import LabelSets
from separatrix.errors import DataError
from separatrix.features.handles import checked_matrix
from separatrix.learners.extreme.ranking import LabelRanking, Ranked, best_of, score_blocks
from separatrix.learners.multilabel.targets import Form, LabelSetTarget, encode_sets, read_sets
from separatrix.solvers.blas import blas_threads
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

#: Rows of one step.
_BLOCK = 256
#: The least probability of a label whose logarithm is summed.
_TINY = 1e-12
#: The largest argument of an exponential in single precision.
_LARGEST = np.float32(80.0)


@dataclass(eq=False, repr=False)
class ManyLabels(LabelSetTarget, LabelRanking):
    r"""Several labels for every row, out of hundreds or thousands: a logistic regression for each.

    Minimizes

    .. math:: \tfrac12 |W|^2 + C \sum_i \sum_y \ln(1 + e^{-t_{iy} s_y(x_i)}), \qquad
              s_y(x) = \langle w_y, x \rangle + b_y

    with t = 1 for the labels of a row and -1 for all others, by AdaGrad's steps on blocks of rows
    (Duchi et al. 2011), so that no array of rows times labels is ever made.

    Parameters
    ----------
    C : float, default=3.0
        Weight of the data against the penalty.
    learning_rate : float, default=2.0
        First step of AdaGrad, for rows scaled to a mean square length of one; it falls to zero over
        the run.
    max_iter : int, default=5
        Passes over the rows.
    memory : float, default=64.0
        Megabytes that the scores of a block of rows may take in prediction.
    random_state : int, RandomState or None, default=None
        Order of the rows.
    n_jobs : int or None, default=None
        Threads of the products of dense rows.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
        The labels: numbers of the columns of a matrix, names of the columns of a DataFrame, or the
        sorted labels of lists.
    weights_ : ndarray of shape (d, K)
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
    The result is near the optimum, without a certificate. Weights take 4 d K bytes, and twice as
    much while they are learned.

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
        "weights_",
        "intercept_",
        "losses_",
        "n_iter_",
    )

    form_: Form = field(init=False)
    weights_: npt.NDArray[np.float32] = field(init=False)
    intercept_: npt.NDArray[np.float32] = field(init=False)
    losses_: npt.NDArray[np.float64] = field(init=False)
    n_iter_: int = field(init=False)

    C: float = 3.0
    _: KW_ONLY
    learning_rate: float = 2.0
    max_iter: int = 5
    memory: float = 64.0
    random_state: Any = None
    n_jobs: int | None = None

    def __sx_check__(self) -> None:
        """Raise DataError unless the arrays of a loaded model agree."""
        if not hasattr(self, "weights_"):
            return
        expected = (self.n_features_in_, len(self.classes_))
        if self.weights_.shape != expected or self.intercept_.shape != expected[1:]:
            raise DataError(f"the weights have shape {self.weights_.shape}, expected {expected}")

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
        check_given(self, y)
        rows = self._rows(X, reset=True)
        Y, classes, form = _sparse_sets(y, rows.shape[0])
        generator = np.random.default_rng(check_random_state(self.random_state).randint(2**31))
        with blas_threads(number_of_threads(self.n_jobs)):
            learned = _learn(
                rows,
                Y,
                C=float(self.C),
                rate=float(self.learning_rate),
                passes=int(self.max_iter),
                generator=generator,
            )
        self.weights_, self.intercept_, self.losses_ = learned
        if not (np.isfinite(self.weights_).all() and np.isfinite(self.intercept_).all()):
            raise FloatingPointError(
                "ManyLabels ended with weights that are not finite; scale the features"
            )
        self.classes_, self.form_, self.n_iter_ = classes, form, int(self.max_iter)
        return self

    @property
    def coef_(self) -> npt.NDArray[np.float32]:
        """Weights of shape (K, d)."""
        return self.weights_.T

    def _rows(self, X: Any, *, reset: bool) -> Any:
        X = checked_matrix(self, X, number_of_threads(self.n_jobs), reset=reset)
        return X.astype(np.float32, copy=False)

    def _blocks(self, X: Any) -> Iterator[Floats]:
        check_is_fitted(self)
        X, n_threads = self._rows(X, reset=False), number_of_threads(self.n_jobs)
        return score_blocks(X, self.weights_, self.intercept_, self.memory, n_threads)

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
        parts = [best_of(scores, n) for scores in self._blocks(X)]
        scores = np.concatenate([values for _, values in parts])
        logs = log_expit(scores.astype(np.float64))
        return Ranked(np.concatenate([numbers for numbers, _ in parts]), logs)

    def predict_proba(self, X: Any) -> Floats:
        """p(label | x) of every label: a full matrix, so ask for few rows at a time.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n, d)
            Rows.

        Returns
        -------
        ndarray of shape (n, K)
            Probabilities; those of a row do not sum to one.
        """
        proba: Floats = expit(self.decision_function(X).astype(float_type(X)))
        return proba

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


def _learn(
    X: Any,
    Y: sp.csr_array,
    *,
    C: float,
    rate: float,
    passes: int,
    generator: np.random.Generator,
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32], npt.NDArray[np.float64]]:
    """Weights (d, K), intercepts (K,) and losses after `passes` over the rows."""
    (n, d), n_labels = X.shape, Y.shape[1]
    squares = X.multiply(X).sum() if is_sparse(X) else np.square(X, dtype=np.float64).sum()
    # Rows of mean square length one; the penalty of the scaled weights is what it was.
    scale = math.sqrt(float(squares) / n) or 1.0
    X, C = (X / scale).astype(np.float32), C * scale**2
    counts = np.bincount(Y.indices, minlength=n_labels)
    W, W_squares = np.zeros((d, n_labels), np.float32), np.ones((d, n_labels), np.float32)
    b = np.log((counts + 0.5) / (n - counts + 0.5)).astype(np.float32)
    b_squares = np.ones(n_labels, np.float32)
    losses, made, n_steps = np.zeros(passes), 0, passes * -(-n // _BLOCK)
    for epoch in range(passes):
        order = generator.permutation(n)
        for first in range(0, n, _BLOCK):
            rows = order[first : first + _BLOCK]
            x, y = X[rows], Y[rows]
            # Features that no row of the block has stay as they are.
            used = np.unique(x.indices) if is_sparse(x) else np.arange(d)
            part: Any = used if 2 * len(used) < d else slice(None)
            x = x[:, part] if part is used else x
            step = np.float32(rate * (1.0 - made / n_steps))
            made += 1
            w, w_squares = W[part], W_squares[part]
            slopes = _probabilities(np.asarray(x @ w) + b)
            own = np.repeat(np.arange(len(rows)), np.diff(y.indptr)), y.indices
            losses[epoch] -= np.log(np.maximum(slopes[own], _TINY)).sum(dtype=np.float64)
            slopes[own] -= 1.0
            gradient = np.asarray(x.T @ slopes)
            gradient += np.float32(len(rows) / (C * n)) * w
            _move(w, w_squares, gradient, step)
            _move(b, b_squares, slopes.sum(axis=0), step)
            if part is used:  # then w is a copy
                W[part], W_squares[part] = w, w_squares
    W /= np.float32(scale)
    return W, b, losses / n


def _probabilities(scores: Any) -> Any:
    """1 / (1 + exp(-s)), in place; much faster in single precision than that of scipy."""
    np.minimum(np.negative(scores, out=scores), _LARGEST, out=scores)
    np.exp(scores, out=scores)
    scores += 1.0
    return np.reciprocal(scores, out=scores)


def _move(w: Any, squares: Any, gradient: Any, step: np.float32) -> None:
    """AdaGrad's step on weights and sums of squared gradients; `gradient` is used up."""
    squares += gradient * gradient
    gradient /= np.sqrt(squares)
    gradient *= step
    w -= gradient


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
