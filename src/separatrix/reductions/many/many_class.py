"""A classifier for very many classes: candidates from an index or a tree, then a closer look."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, check_random_state

from separatrix.errors import DataError, ParameterError
from separatrix.features.handles import checked_matrix, sparse_handle
from separatrix.reductions.many.candidates import Candidates
from separatrix.reductions.many.counts import PairCounts, relative_rows
from separatrix.reductions.many.inverted import InvertedIndex, Smoothing, fit_smoothing
from separatrix.reductions.many.ranker import PairRanker, Progress, table_size_for
from separatrix.reductions.many.top_labels import TopLabels
from separatrix.validation import (
    check_choice,
    check_given,
    check_positive,
    encode_labels,
    number_of_threads,
)

__all__ = ["ManyClass"]


class ManyClass(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    r"""A classifier for tens of thousands of classes: look for candidates, then rank them.

    A score for every class costs too much, and so does a weight for every pair of class and
    feature. Here an inverted index from features to classes holds smoothed naive-Bayes scores

    .. math:: s_y(x) = \alpha \ln n_y + \sum_f x_f \left[ \ln\Bigl(1 + \frac{c_{fy}}{\mu p_f}\Bigr)
              - \ln \frac{L_y + \mu}{\mu} \right]

    in 8 bits and proposes `n_candidates` classes; these are ranked by

    .. math:: z_y(x) = \beta s_y(x) + b_y + \sum_f x_f v_{h(f, y)}

    with weights v of hashed pairs, learned by AdaGrad on the softmax over the candidates. Smoothing and
    mixing (mu, alpha, beta) are fitted by leaving rows out of the counts of their own class.

    Parameters
    ----------
    candidates : {"index"}, default="index"
        Where candidates come from.
    n_candidates : int, default=32
        Classes that are ranked.
    rerank : bool, default=True
        Whether to learn the weights of pairs; without them the order is that of the index.
    rate : float, default=0.3
        Step of AdaGrad.
    passes : int, default=1
        Passes over the rows.
    table_size : int or "auto", default="auto"
        Entries of the table of hashed pairs, a power of two; "auto" makes room for the pairs that
        occur, up to 2^22.
    random_state : int, RandomState or None, default=0
        Order of the rows, and the rows that smoothing is judged on.
    n_jobs : int or None, default=None
        Threads; the result does not depend on it.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
        The labels, sorted.
    index_ : InvertedIndex
        The index.
    ranker_ : PairRanker
        The learned weights.
    smoothing_ : Smoothing
        The smoothing that was chosen, with the ranks of left-out rows.
    progress_ : Progress or None
        What the first pass saw, each row judged before it was learned from.
    missed_ : float
        Share of left-out rows whose class was not among the candidates.
    n_features_in_ : int
        Columns of X.

    Notes
    -----
    X must not hold negative values; rows are scaled to a mean stored value of one, so that
    counts, 0/1 and normalized rows lead to the same model. A row without features cannot be learned
    from (DataError); when predicted it gets the most frequent classes.

    Probabilities: the candidates share 1 - `missed_` by the softmax of z, the other classes share
    `missed_` by their frequency, so that all sum to one. `predict_proba` fills a matrix of shape (n, K);
    `top_k` and `candidates_of` do not.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from separatrix import ManyClass
    >>> X = sp.csr_array([[1, 1, 0, 0], [1, 0, 1, 0], [0, 0, 1, 1], [0, 1, 0, 1]] * 5)
    >>> y = ["a", "a", "b", "c"] * 5
    >>> model = ManyClass(n_candidates=2).fit(X, y)
    >>> model.predict(X[:4])
    array(['a', 'a', 'b', 'c'], dtype='<U1')
    >>> labels, probabilities = model.top_k(X[:1], 2)
    >>> labels[0, 0], bool(probabilities[0, 0] > 0.5)
    (np.str_('a'), True)
    """

    __sx_state__: ClassVar[tuple[str, ...]] = (
        "classes_",
        "index_",
        "ranker_",
        "smoothing_",
        "progress_",
        "missed_",
    )

    classes_: npt.NDArray[Any]
    index_: InvertedIndex
    ranker_: PairRanker
    smoothing_: Smoothing
    progress_: Progress | None
    missed_: float
    n_features_in_: int

    def __init__(
        self,
        candidates: str = "index",
        *,
        n_candidates: int = 32,
        rerank: bool = True,
        rate: float = 0.3,
        passes: int = 1,
        table_size: int | str = "auto",
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.candidates = candidates
        self.n_candidates = n_candidates
        self.rerank = rerank
        self.rate = rate
        self.passes = passes
        self.table_size = table_size
        self.random_state = random_state
        self.n_jobs = n_jobs

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        # Naive Bayes on a handful of real-valued columns, as scikit-learn's own.
        tags.classifier_tags.poor_score = True
        return tags

    def __sx_check__(self) -> None:
        """Raise DataError unless the arrays of a loaded model agree with each other."""
        if hasattr(self, "index_"):
            self.index_.check(self.n_features_in_, len(self.classes_))
            self.ranker_.check(len(self.classes_))

    def _check_parameters(self) -> None:
        check_choice("candidates", self.candidates, ("index",))
        check_positive(n_candidates=self.n_candidates, rate=self.rate, passes=self.passes)
        size = self.table_size
        if size != "auto" and (not isinstance(size, int) or size < 2 or size & (size - 1)):
            raise ParameterError(f"table_size must be 'auto' or a power of two, got {size!r}")
        if self.n_candidates > 256:
            raise ParameterError(f"n_candidates must be at most 256, got {self.n_candidates}")

    def fit(self, X: Any, y: Any) -> Self:
        """Count, choose the smoothing, and learn to rank the candidates.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            Rows without negative values.
        y : array-like of shape (n,)
            Labels of any type.

        Returns
        -------
        self
            The fitted estimator.
        """
        self._check_parameters()
        check_given(self, y)
        n_threads = number_of_threads(self.n_jobs)
        rows = self._rows(X, n_threads, reset=True)
        classes, codes = encode_labels(y, rows.shape[0])
        generator = check_random_state(self.random_state)
        counts = PairCounts.of(relative_rows(rows), codes, len(classes))
        numbers = codes.astype(np.uint32)
        smoothing = fit_smoothing(counts, rows, numbers, generator, n_threads)
        index = InvertedIndex.of(counts, smoothing.mu, smoothing.alpha)
        ranker, progress = PairRanker.unlearned(len(classes)), None
        if self.rerank and len(smoothing.ranks):
            size = self.table_size
            ranker, progress = PairRanker.learn(
                index,
                counts,
                smoothing,
                rows,
                numbers,
                rate=self.rate,
                passes=self.passes,
                table_size=table_size_for(counts.pairs.nnz) if isinstance(size, str) else size,
                generator=generator,
                n_threads=n_threads,
            )
        self.classes_, self.index_, self.ranker_ = classes, index, ranker
        self.smoothing_, self.progress_ = smoothing, progress
        self.missed_ = smoothing.missed(self.n_candidates)
        return self

    def _rows(self, X: Any, n_threads: int, *, reset: bool) -> sp.csr_array:
        """X as sparse rows in float32 without negative values."""
        X = sp.csr_array(checked_matrix(self, X, n_threads, reset=reset))
        if X.nnz and X.data.min() < 0:
            place = int(np.argmax(X.data < 0))
            row = int(np.searchsorted(X.indptr, place, side="right")) - 1
            raise DataError(
                f"Negative values in data passed to ManyClass: {X.data[place]:g} at row {row}, "
                f"column {X.indices[place]}; the index counts features, shift or drop such columns"
            )
        return X.astype(np.float32)

    def _ranked(self, X: Any, keep: int) -> tuple[Any, Any, Any]:
        """Class numbers and scores (n, keep), best first, and log-sums of all candidates (n,)."""
        check_is_fitted(self)
        n_threads = number_of_threads(self.n_jobs)
        rows = self._rows(X, n_threads, reset=False)
        n_candidates = min(self.n_candidates, len(self.classes_))
        return self.index_.handle().rank(
            sparse_handle(rows),
            self.ranker_.beta,
            self.ranker_.biases,
            self.ranker_.pairs,
            self.ranker_.unit,
            n_candidates,
            min(keep, n_candidates),
            n_threads,
        )

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The most probable class of every row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            Rows.

        Returns
        -------
        ndarray of shape (n,)
            Labels.
        """
        numbers, _, _ = self._ranked(X, 1)
        labels: npt.NDArray[Any] = self.classes_[numbers[:, 0]]
        return labels

    def top_k(self, X: Any, k: int = 5) -> TopLabels:
        """The k best classes with their probabilities.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            Rows.
        k : int, default=5
            How many, at most `n_candidates`.

        Returns
        -------
        TopLabels
            Labels and probabilities, best first.
        """
        check_is_fitted(self)
        most = min(self.n_candidates, len(self.classes_))
        if not 1 <= k <= most:
            raise ParameterError(f"k must be in 1 … {most} (the candidates), got {k!r}")
        numbers, scores, log_sums = self._ranked(X, k)
        shares = (1.0 - self.missed_) * np.exp(scores.astype(np.float64) - log_sums[:, None])
        return TopLabels(self.classes_[numbers], shares)

    def candidates_of(self, X: Any, n: int | None = None) -> Candidates:
        """The n best candidates of every row, with the logarithms of their probabilities.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            Rows.
        n : int or None, default=None
            How many; all candidates by default.

        Returns
        -------
        Candidates
            Places in `classes_` and log-probabilities, best first.
        """
        numbers, scores, log_sums = self._ranked(X, n or self.n_candidates)
        n_rows, width = numbers.shape
        logs = scores.astype(np.float64) - log_sums[:, None] + np.log1p(-min(self.missed_, 1 - 1e-9))
        starts = np.arange(0, (n_rows + 1) * width, width, dtype=np.int64)
        return Candidates(starts, numbers.astype(np.int32).ravel(), logs.ravel())

    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """Probabilities of all classes: a full matrix, so ask for few rows at a time.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            Rows.

        Returns
        -------
        ndarray of shape (n, K)
            Probabilities; each row sums to one.
        """
        numbers, scores, log_sums = self._ranked(X, self.n_candidates)
        k = len(self.classes_)
        missed = self.missed_ if numbers.shape[1] < k else 0.0
        shares = np.exp(scores.astype(np.float64) - log_sums[:, None])
        shares *= (1.0 - missed) / shares.sum(axis=1, keepdims=True)
        rest = np.exp(self.index_.prior / 256.0 / (self.smoothing_.alpha or 1.0))
        result = np.tile(rest, (len(numbers), 1))
        np.put_along_axis(result, numbers.astype(np.int64), 0.0, axis=1)
        result *= missed / np.maximum(result.sum(axis=1, keepdims=True), 1e-300)
        np.put_along_axis(result, numbers.astype(np.int64), shares, axis=1)
        return result
