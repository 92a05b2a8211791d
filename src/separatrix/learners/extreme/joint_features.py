"""A classifier over joint features of rows and labels, which knows labels by their features."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import copy
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted, check_random_state

from separatrix._core import joint_learn, joint_rank
from separatrix.errors import DataError, ParameterError
from separatrix.features.handles import checked_matrix, sparse_handle
from separatrix.learners.extreme.examples import Examples
from separatrix.learners.extreme.index import (
    MOST_CANDIDATES,
    InvertedIndex,
    PairCounts,
    fit_smoothing,
    without_signs,
)
from separatrix.learners.extreme.label_features import LabelFeatures, kinds_of, with_further
from separatrix.learners.extreme.ranker import PairRanker
from separatrix.learners.extreme.ranking import LabelRanking, Ranked
from separatrix.validation import (
    check_choice,
    check_given,
    check_positive,
    encode_labels,
    float_type,
    number_of_threads,
    refuse_dask,
)

__all__ = ["JointFeatures"]

#: Pairs up to which every pair may have a weight of its own.
_MOST_PAIRS = 2**27


@dataclass(eq=False, repr=False)
class JointFeatures(LabelRanking):
    r"""A linear classifier over :math:`\Psi(x, y) = x \otimes \varphi(y)`, one w for all labels.

    .. math:: s_y(x) = \sum_j \sum_q x_j\, \varphi_q(y)\, w_{h(j, q)}

    where :math:`\varphi(y)` are features of the label: its identity, the words and characters of
    its name, its path in a hierarchy. Labels that share features share weights, and a label that
    training never saw is scored by what it shares with others.

    Parameters
    ----------
    x_features : transformer or None, default=None
        Makes rows of what is given as X, for example a `TextVectorizer`; None takes X as it is.
    y_features : {"identity", "words", "characters", "path"} or tuple of them, default="identity"
        Features of a label. "identity" alone is the multivector construction.
    combine : {"hash", "conjunction"}, default="hash"
        Pairs of features hashed to `n_features` weights, or a weight for each pair.
    loss : {"softmax", "svm", "mira", "perceptron"}, default="softmax"
        What is learned by: log loss or hinge loss by AdaGrad, MIRA, or the perceptron, the last
        two averaged.
    negatives : {"sampled", "index"}, default="sampled"
        What a label is told from in each step: labels drawn at random; or half of them drawn, and
        half those that rank first for the row in an inverted index, as in `ManyClass`. Only labels
        with rows are drawn or retrieved.
    n_negatives : int, default=16
        Labels in each step besides the row's own.
    n_features : int, default=2**22
        Weights with ``combine="hash"``, a power of two.
    max_iter : int, default=5
        Passes over the rows.
    learning_rate : float, default=0.1
        Step of AdaGrad.
    candidates : int or "all", default="all"
        Labels of a row that can have a probability: so many of the highest scores.
    C : float, default=1.0
        Weight of the data against the squares of the weights; the largest step of MIRA. The
        perceptron has none.
    fit_intercept : bool, default=True
        Whether a constant is paired with the features of labels.
    random_state : int, RandomState or None, default=None
        Order of the rows and the labels that are drawn.
    n_jobs : int or None, default=None
        Threads of prediction; the result does not depend on it.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
        Labels that can be predicted: those of y, sorted, then further ones.
    n_trained_ : int
        How many of them had rows.
    weights_ : ndarray of shape (m,)
        w.
    label_features_ : LabelFeatures
        The columns of phi.
    phi_ : CSR array of shape (K, p)
        phi of each label, rows of length one.
    transformer_ : transformer or None
        The fitted `x_features`.
    mistakes_ : ndarray of shape (max_iter,)
        Rows whose label was not first among its negatives, before each update.
    n_iter_ : int
        Passes over the rows.

    See Also
    --------
    separatrix.features.JointMap : The map Psi itself, as a matrix.

    Examples
    --------
    >>> import numpy as np
    >>> from separatrix import JointFeatures
    >>> y = np.array(["red dog", "red cat", "blue dog", "blue cat"] * 10)
    >>> X = np.array([[1, 0, 1, 0], [1, 0, 0, 1], [0, 1, 1, 0], [0, 1, 0, 1]] * 10)
    >>> seen = y != "blue cat"
    >>> model = JointFeatures(y_features="words", max_iter=20)
    >>> model.fit(X[seen], y[seen], labels=["blue cat"]).predict(X[~seen][:1])
    array(['blue cat'], dtype='<U8')
    """

    __sx_state__: ClassVar[tuple[str, ...]] = (
        "classes_",
        "n_trained_",
        "weights_",
        "label_features_",
        "phi_",
        "transformer_",
        "mistakes_",
        "n_iter_",
    )

    n_trained_: int = field(init=False)
    n_iter_: int = field(init=False)
    weights_: npt.NDArray[np.float32] = field(init=False)
    label_features_: LabelFeatures = field(init=False)
    phi_: sp.csr_array = field(init=False)
    transformer_: Any = field(init=False)
    mistakes_: npt.NDArray[np.int64] = field(init=False)

    x_features: Any = None
    y_features: Any = "identity"
    combine: str = "hash"
    _: KW_ONLY
    loss: str = "softmax"
    negatives: str = "sampled"
    n_negatives: int = 16
    n_features: int = 2**22
    max_iter: int = 5
    learning_rate: float = 0.1
    candidates: int | str = "all"
    C: float = 1.0
    fit_intercept: bool = True
    random_state: Any = None
    n_jobs: int | None = None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def __sx_check__(self) -> None:
        """Raise DataError unless the arrays of a loaded model agree with each other."""
        if not hasattr(self, "weights_"):
            return
        if self.phi_.shape != (len(self.classes_), len(self.label_features_.columns)):
            raise DataError(f"phi_ has shape {self.phi_.shape}, which does not fit the labels")
        if not 0 < self.n_trained_ <= len(self.classes_):
            raise DataError(f"n_trained_ is {self.n_trained_}, but there are {len(self.classes_)}")

    def _check_parameters(self) -> None:
        check_choice("combine", self.combine, ("hash", "conjunction"))
        check_choice("loss", self.loss, ("softmax", "svm", "mira", "perceptron"))
        check_choice("negatives", self.negatives, ("sampled", "index"))
        check_positive(
            n_negatives=self.n_negatives,
            max_iter=self.max_iter,
            learning_rate=self.learning_rate,
            C=self.C,
        )
        size = self.n_features
        if not isinstance(size, int | np.integer) or not 2 <= size <= 2**31 or size & (size - 1):
            raise ParameterError(f"n_features must be a power of two, got {size!r}")
        kinds_of(self.y_features)
        self._check_candidates()

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        labels: Any = None,
        names: Mapping[Any, str] | None = None,
        paths: Mapping[Any, Iterable[str]] | None = None,
    ) -> Self:
        """Learn from passes over the rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d), or what `x_features` takes
            Rows.
        y : array-like of shape (n,)
            Labels.
        labels : array-like or None
            Further labels that can be predicted, without rows.
        names : mapping of label to str, or None
            Names that words and characters are read from; the labels themselves by default.
        paths : mapping of label to iterable of str, or None
            Nodes above each label in a hierarchy, for ``y_features="path"``.

        Returns
        -------
        self
            The fitted estimator.
        """
        refuse_dask(self, X, y)
        self._check_parameters()
        check_given(self, y)
        self.transformer_ = None if self.x_features is None else clone(self.x_features)
        if self.transformer_ is not None:
            X = self.transformer_.fit_transform(X, y)
        n_threads = number_of_threads(self.n_jobs)
        plain = self._checked(X, n_threads, reset=True)
        trained, codes = encode_labels(y, plain.shape[0])
        classes = with_further(trained, labels)
        self.n_trained_ = len(trained)
        listed = classes.tolist()
        self.label_features_ = LabelFeatures.of(self.y_features, listed, names, paths)
        self.phi_ = self.label_features_.matrix(listed, names, paths)
        self._learn(plain, codes.astype(np.uint32), n_threads)
        self.classes_ = classes
        return self

    def _checked(self, X: Any, n_threads: int, *, reset: bool) -> sp.csr_array:
        X = checked_matrix(self, X, n_threads, reset=reset)
        return sp.csr_array(X).astype(np.float32)

    def _rows(self, plain: sp.csr_array) -> sp.csr_array:
        """Rows with a constant column where there is an intercept."""
        if not self.fit_intercept:
            return plain
        ones = sp.csr_array(np.ones((plain.shape[0], 1), dtype=np.float32))
        return sp.csr_array(sp.hstack([plain, ones], format="csr"))

    def _learn(self, plain: sp.csr_array, codes: npt.NDArray[np.uint32], n_threads: int) -> None:
        rows = self._rows(plain)
        generator = check_random_state(self.random_state)
        hashed = self.combine == "hash"
        size = self.n_features if hashed else rows.shape[1] * self.phi_.shape[1]
        if size > _MOST_PAIRS:
            raise ParameterError(f"{size} weights are too many; use combine='hash' with fewer")
        n_sampled = self.n_negatives
        starts, rivals = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int32)
        if self.negatives == "index":
            n_sampled = self.n_negatives // 2
            n_rivals = self.n_negatives - n_sampled
            starts, rivals = _rivals(plain, codes, self.n_trained_, n_rivals, generator, n_threads)
        weights = np.zeros((size, 2), dtype=np.float32)
        x, phi = sparse_handle(rows), sparse_handle(self.phi_)
        rate = self.C if self.loss == "mira" else self.learning_rate
        mistakes, seen = [], 0
        for _ in range(self.max_iter):
            order = generator.permutation(len(codes)).astype(np.uint32)
            seed = int(generator.randint(2**31 - 1))
            missed, _, seen = joint_learn(
                x,
                codes,
                phi,
                starts,
                rivals,
                self.n_trained_,
                order,
                self.loss,
                rate,
                1.0 / (self.C * len(codes)),
                n_sampled,
                seed,
                hashed,
                weights,
                seen,
            )
            mistakes.append(missed)
        averaged = self.loss in ("mira", "perceptron")
        final = weights[:, 0] - weights[:, 1] / max(seen, 1) if averaged else weights[:, 0]
        self.weights_ = np.ascontiguousarray(final)
        self.mistakes_ = np.array(mistakes, dtype=np.int64)
        self.n_iter_ = len(mistakes)

    def with_labels(
        self,
        labels: Any,
        *,
        names: Mapping[Any, str] | None = None,
        paths: Mapping[Any, Iterable[str]] | None = None,
    ) -> JointFeatures:
        """A copy that can predict further labels; they need no rows.

        Parameters
        ----------
        labels : array-like of shape (m,)
            New labels.
        names, paths : mapping or None
            As in `fit`, for the new labels.

        Returns
        -------
        JointFeatures
            The copy; it shares the weights.
        """
        check_is_fitted(self)
        result = copy(self)
        result.classes_ = with_further(self.classes_, labels)
        new = result.classes_[len(self.classes_) :].tolist()
        phi = self.label_features_.matrix(new, names, paths)
        result.phi_ = sp.csr_array(sp.vstack([self.phi_, phi], format="csr"))
        return result

    def _scored(self, X: Any, keep: int) -> tuple[Any, Any, Any]:
        check_is_fitted(self)
        if self.transformer_ is not None:
            X = self.transformer_.transform(X)
        n_threads = number_of_threads(self.n_jobs)
        rows = self._rows(self._checked(X, n_threads, reset=False))
        hashed = self.combine == "hash"
        return joint_rank(
            sparse_handle(rows), sparse_handle(self.phi_), self.weights_, hashed, keep, n_threads
        )

    def _ranked(self, X: Any, n: int) -> Ranked:
        numbers, scores, log_sums = self._scored(X, n)
        return Ranked(numbers.astype(np.int64), scores.astype(np.float64) - log_sums[:, None])

    def decision_function(self, X: Any) -> npt.NDArray[Any]:
        """Scores of all labels: a full matrix, so ask for few rows at a time.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d), or what `x_features` takes
            Rows.

        Returns
        -------
        ndarray of shape (n, K), or (n,) for two labels
            Scores; for two labels that of the second less that of the first.
        """
        check_is_fitted(self)
        numbers, scores, _ = self._scored(X, len(self.classes_))
        result = np.empty(numbers.shape, dtype=float_type(X))
        np.put_along_axis(result, numbers.astype(np.int64), scores.astype(result.dtype), axis=1)
        return result[:, 1] - result[:, 0] if result.shape[1] == 2 else result


def _rivals(
    rows: sp.csr_array,
    codes: npt.NDArray[np.uint32],
    n_labels: int,
    n_rivals: int,
    generator: Any,
    n_threads: int,
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]:
    """Starts (n + 1) and label numbers of the `n_rivals` labels that an index ranks first."""
    rows = without_signs(rows)
    counts = PairCounts.of(rows, codes, n_labels)
    smoothing = fit_smoothing(counts, rows, codes, generator, n_threads)
    index = InvertedIndex.of(counts, smoothing.mu, smoothing.alpha)
    n = min(n_rivals, n_labels, MOST_CANDIDATES)
    found, _, _ = index.handle.rank(
        Examples.none(index.n_features, n_labels).handle,
        sparse_handle(rows),
        *PairRanker.unlearned(n_labels).weights,
        n,
        n,
        n_threads,
    )
    starts = np.arange(0, found.size + n, n, dtype=np.int64)
    return starts, found.astype(np.int32).ravel()
