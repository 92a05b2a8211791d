"""Softmax regression over tens of thousands of classes, in bounded memory."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from separatrix.errors import DataError, ParameterError
from separatrix.features.handles import checked_matrix
from separatrix.learners.extreme.ranking import LabelRanking, Ranked, best_of, score_blocks
from separatrix.solvers.blas import blas_threads
from separatrix.validation import (
    check_given,
    check_positive,
    encode_labels,
    float_type,
    is_sparse,
    number_of_threads,
    refuse_dask,
)

__all__ = ["SampledSoftmax"]

Floats = npt.NDArray[np.float32]

#: Decay of the mean and of the mean square of gradients, and what keeps a step finite.
_FIRST, _SECOND, _TINY = 0.9, 0.999, 1e-12
#: Classes up to which ``negatives="auto"`` looks at all of them, and the fewest it draws beyond.
_FEW, _LEAST = 2000, 1024


@dataclass(eq=False, repr=False)
class SampledSoftmax(LabelRanking):
    r"""Softmax regression for very many classes, by minibatches in single precision.

    Minimizes :math:`\tfrac12 |W|^2 + C \sum_i (\log \sum_k e^{s_{ik}} - s_{i y_i})` with :math:`s
    = W x + b`, as `LogisticRegression` does, but with Adam's steps on blocks of rows, so that no
    array of rows times classes, and no second matrix of all gradients a step, is ever made. The
    sum over the classes is over all of them, or estimated from the classes of the block and some
    others drawn at random, which count for all that were not drawn (Jean et al. 2015; Kingma & Ba
    2015).

    Parameters
    ----------
    negatives : int, "all" or "auto", default="auto"
        Classes drawn for each block besides its own; "all" is the full softmax; "auto" means "all"
        for up to 2,000 classes, and a sixteenth of them, but at least 1,024, beyond.
    candidates : int or "all", default="all"
        Classes of a row that can have a probability: so many of the highest scores.
    C : float, default=1.0
        Weight of the data against the penalty.
    learning_rate : float, default=0.1
        First step, in units of 1 / root mean square of the features; it falls to zero over the run.
    max_iter : int, default=10
        Passes over the rows.
    memory : float, default=64.0
        Megabytes that the scores of a block of rows may take; blocks have at most 1,024 rows in
        training.
    n_jobs : int or None, default=None
        Threads of the matrix products.
    random_state : int, RandomState or None, default=None
        Seed of the order of rows and of the classes drawn.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
        Labels, sorted.
    coef_ : ndarray of shape (K, d)
        Weights.
    intercept_ : ndarray of shape (K,)
        Intercepts, not penalized.
    losses_ : ndarray of shape (max_iter,)
        Mean loss of the blocks of each pass, as they were met.
    n_iter_ : int
        Passes made.

    Notes
    -----
    Sparse rows are taken too, but the weights are dense: K d numbers.

    The result is near the optimum, without a certificate: for that, and for few classes, take
    `LogisticRegression`. It depends on the number of threads as far as the matrix products do.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from separatrix import SampledSoftmax
    >>> X, y = load_digits(return_X_y=True)
    >>> model = SampledSoftmax(random_state=0, max_iter=20).fit(X / 16, y)
    >>> model.score(X / 16, y) > 0.95
    True
    >>> model.coef_.dtype, model.predict_top(X[:1] / 16, 2).labels.shape
    (dtype('float32'), (1, 2))
    """

    __sx_state__: ClassVar[tuple[str, ...]] = (
        "classes_",
        "coef_",
        "intercept_",
        "losses_",
        "n_iter_",
    )

    coef_: Floats = field(init=False)
    intercept_: Floats = field(init=False)
    losses_: npt.NDArray[np.float64] = field(init=False)
    n_iter_: int = field(init=False)

    negatives: int | str = "auto"
    _: KW_ONLY
    candidates: int | str = "all"
    C: float = 1.0
    learning_rate: float = 0.1
    max_iter: int = 10
    memory: float = 64.0
    n_jobs: int | None = None
    random_state: Any = None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def __sx_check__(self) -> None:
        """Raise DataError unless the arrays of a loaded model agree."""
        if hasattr(self, "coef_") and len(self.coef_) != len(self.classes_):
            raise DataError("the weights do not have a row for every class")

    def _rows(self, X: Any, *, reset: bool) -> Any:
        X = checked_matrix(self, X, number_of_threads(self.n_jobs), reset=reset)
        return X.astype(np.float32, copy=False)

    def _n_drawn(self, n_classes: int) -> int | None:
        """Classes drawn for each block; None for all."""
        wanted = self.negatives
        if wanted == "all":
            return None
        if wanted == "auto":
            return None if n_classes <= _FEW else max(_LEAST, n_classes // 16)
        if not isinstance(wanted, int | np.integer) or wanted < 1:
            raise ParameterError(
                f'negatives must be "all", "auto" or a positive number, got {wanted!r}'
            )
        return int(wanted) if wanted < n_classes else None

    # -- learning ----------------------------------------------------------------------------

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from passes over the rows.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n, d)
            Training rows.
        y : array-like of shape (n,)
            Labels of any type.

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
        X = self._rows(X, reset=True)
        classes, codes = encode_labels(y, X.shape[0])
        n, d = X.shape
        drawn = self._n_drawn(len(classes))
        random = np.random.default_rng(check_random_state(self.random_state).randint(2**31))
        size = min(1024, self._block(len(classes) if drawn is None else drawn + 1024))
        # Small data want enough steps.
        size = max(1, min(size, math.ceil(n / 16)))
        values = X.data if is_sparse(X) else X
        scale = math.sqrt(np.square(values, dtype=np.float64).sum() / (n * d)) or 1.0
        steps = Adam((len(classes), d), self.learning_rate / scale, self.max_iter * -(-n // size))
        decay = 1.0 / (n * float(self.C))
        losses = np.zeros(int(self.max_iter))
        with blas_threads(number_of_threads(self.n_jobs)):
            for epoch in range(int(self.max_iter)):
                order = random.permutation(n)
                for first in range(0, n, size):
                    rows = order[first : first + size]
                    block, labels = X[rows], codes[rows]
                    if is_sparse(block):
                        block = block.toarray()
                    chosen, offsets = _chosen(labels, len(classes), drawn, random)
                    losses[epoch] += _step(steps, block, labels, chosen, offsets, decay)
        if not (np.isfinite(steps.weights).all() and np.isfinite(steps.intercepts).all()):
            raise FloatingPointError(
                "SampledSoftmax ended with weights that are not finite; scale the features"
            )
        self.classes_, self.coef_, self.intercept_ = classes, steps.weights, steps.intercepts
        self.losses_, self.n_iter_ = losses / n, int(self.max_iter)
        return self

    def _block(self, n_scores: int) -> int:
        """Rows whose scores take the memory that is allowed."""
        return max(1, int(self.memory * 2**20 / (4 * n_scores)))

    # -- prediction --------------------------------------------------------------------------

    def _blocks(self, X: Any) -> Any:
        """Scores of block after block of rows."""
        check_is_fitted(self, "coef_")
        X = self._rows(X, reset=False)
        n_threads = number_of_threads(self.n_jobs)
        return score_blocks(X, self.coef_.T, self.intercept_, self.memory, n_threads)

    def decision_function(self, X: Any) -> Floats:
        """Scores: shape (n,) for two classes (positive means the second), (n, K) otherwise.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n, d)
            Rows.

        Returns
        -------
        ndarray of shape (n,) or (n, K)
            The highest score wins.
        """
        scores = np.concatenate(list(self._blocks(X))).astype(float_type(X), copy=False)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def _ranked(self, X: Any, n: int) -> Ranked:
        numbers, logs = [], []
        for scores in self._blocks(X):
            found, values = best_of(scores, n)
            numbers.append(found)
            # In place: scores are the largest array.
            scores -= values[:, :1]
            sums = np.exp(scores, out=scores).sum(axis=1, keepdims=True, dtype=np.float64)
            logs.append(values.astype(np.float64) - values[:, :1] - np.log(sums))
        return Ranked(np.concatenate(numbers), np.concatenate(logs))


def _chosen(
    labels: npt.NDArray[np.int64], n_classes: int, drawn: int | None, random: np.random.Generator
) -> tuple[npt.NDArray[np.int64] | slice, Any]:
    """The classes of a step, and what is added to their scores for those that were left out."""
    if drawn is None:
        return slice(None), 0.0
    own = np.unique(labels)
    others = np.setdiff1d(random.integers(0, n_classes, drawn), own)
    if len(others) == 0:
        return own, 0.0
    # Each of the others stands for as many classes as there are for each that was drawn.
    weight = (n_classes - len(own)) / len(others)
    offsets = np.zeros(len(own) + len(others), dtype=np.float32)
    offsets[len(own) :] = math.log(weight)
    return np.concatenate([own, others]), offsets


def _step(
    steps: Adam,
    X: Floats,
    labels: npt.NDArray[np.int64],
    chosen: npt.NDArray[np.int64] | slice,
    offsets: Any,
    decay: float,
) -> float:
    """One step on a block of rows; returns the sum of their losses before it."""
    W, b = steps.weights[chosen], steps.intercepts[chosen]
    Z = X @ W.T
    Z += b + offsets
    # Own classes stand first and rise.
    own = labels if isinstance(chosen, slice) else np.searchsorted(np.unique(labels), labels)
    rows = np.arange(len(X))
    # In place: Z is the largest array of a step.
    top, right = Z.max(axis=1, keepdims=True), Z[rows, own]
    Z -= top
    np.exp(Z, out=Z)
    sums = Z.sum(axis=1, keepdims=True)
    loss = float((np.log(sums) + top).sum(dtype=np.float64) - right.sum(dtype=np.float64))
    Z /= sums
    Z[rows, own] -= 1.0
    Z /= len(X)
    # A class that a step leaves out is not shrunk by it, so that others are shrunk the more.
    share = len(steps.weights) / len(W)
    steps.move(chosen, Z.T @ X + np.float32(decay * share) * W, Z.sum(axis=0))
    return loss


class Adam:
    """Weights, intercepts and running moments of their gradients, in single precision.

    Moments and their corrections are those of Kingma & Ba (2015), counted for each row on its own,
    so that a row that is seldom chosen moves as one that is always chosen does; rates fall
    linearly to zero.

    Parameters
    ----------
    shape : (int, int)
        Rows (classes) and columns (features).
    rate : float
        First rate.
    n_steps : int
        Steps after which the rate is zero.

    Examples
    --------
    >>> steps = Adam((2, 1), 0.5, 2)
    >>> steps.move(slice(None), np.ones((2, 1), np.float32), np.zeros(2, np.float32))
    >>> steps.weights.ravel().round(3).tolist()
    [-0.5, -0.5]
    """

    def __init__(self, shape: tuple[int, int], rate: float, n_steps: int) -> None:
        self.weights: Floats = np.zeros(shape, dtype=np.float32)
        self.intercepts: Floats = np.zeros(shape[0], dtype=np.float32)
        self._moments = [np.zeros(shape, np.float32), np.zeros(shape, np.float32)]
        self._intercept_moments = [np.zeros(shape[0], np.float32), np.zeros(shape[0], np.float32)]
        self._counts = np.zeros(shape[0], dtype=np.int64)
        self._rate, self._n_steps, self._made = rate, max(1, n_steps), 0

    def move(self, rows: Any, grad: Floats, intercept_grad: Floats) -> None:
        """Step against a gradient for some of the rows; `grad` is used up."""
        rate = self._rate * max(0.0, 1.0 - self._made / self._n_steps)
        self._made += 1
        self._counts[rows] += 1
        counts = self._counts[rows]
        first, second = 1.0 - _FIRST**counts, np.sqrt(1.0 - _SECOND**counts)
        rates = (rate * second / first).astype(np.float32)
        _move(self.weights, rows, self._moments, grad, rates[:, None])
        _move(self.intercepts, rows, self._intercept_moments, intercept_grad, rates)


def _move(target: Floats, rows: Any, moments: list[Floats], grad: Floats, rates: Floats) -> None:
    mean, square = moments
    m, s = mean[rows], square[rows]
    m *= np.float32(_FIRST)
    m += np.float32(1 - _FIRST) * grad
    grad *= grad
    s *= np.float32(_SECOND)
    s += np.float32(1 - _SECOND) * grad
    if not isinstance(rows, slice):
        mean[rows], square[rows] = m, s
    np.sqrt(s, out=grad)
    grad += np.float32(_TINY)
    np.divide(m, grad, out=grad)
    grad *= rates
    target[rows] -= grad
