"""A classifier for very many classes: candidates from an index or a tree, then a closer look."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, check_random_state

from separatrix._core import given_rank
from separatrix.errors import DataError, ParameterError
from separatrix.features.handles import checked_matrix, sparse_handle
from separatrix.learners.extreme.candidates import Candidates
from separatrix.learners.extreme.counts import PairCounts, check_no_empty_rows, relative_rows
from separatrix.learners.extreme.crossed import arrays_of, crossed_candidates, new_tree
from separatrix.learners.extreme.examples import Examples
from separatrix.learners.extreme.inverted import InvertedIndex, Smoothing, fit_smoothing
from separatrix.learners.extreme.probabilities import spread
from separatrix.learners.extreme.ranker import (
    PairRanker,
    Progress,
    given_epoch,
    index_epoch,
    table_size_for,
)
from separatrix.learners.extreme.top_labels import TopLabels
from separatrix.validation import (
    check_choice,
    check_given,
    check_positive,
    encode_labels,
    float_type,
    number_of_threads,
    refuse_dask,
)

__all__ = ["ManyClass"]

#: The number of no class, where a row has fewer candidates than others.
_NONE = 2**32 - 1


class ManyClass(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    r"""A classifier for tens of thousands of classes: look for candidates, then rank them.

    A score for every class costs too much, and so does a weight for every pair of class and
    feature. Here an inverted index from features to classes holds smoothed naive-Bayes scores

    .. math:: s_y(x) = \alpha \ln n_y + \sum_f x_f \left[ \ln\Bigl(1 + \frac{c_{fy}}{\mu p_f}\Bigr)
              - \ln \frac{L_y + \mu}{\mu} \right]

    in 8 bits and proposes `n_candidates` classes; these are ranked by

    .. math:: z_y(x) = \beta s_y(x) + \gamma m_y(x) + b_y + \sum_f x_f v_{h(f, y)}, \qquad
              m_y(x) = \ln \frac{1}{|R_y|} \sum_{r \in R_y} \exp \sum_{f \in x, r} x_f t_f

    where m compares x with rows R_y of the class that are kept as its examples (t is the inverse
    document frequency, scaled), and the weights v of hashed pairs are learned by AdaGrad on the
    softmax over the candidates, with the factors and the biases. Smoothing and mixing (mu, alpha,
    beta, gamma) are fitted by leaving rows out of the counts and the examples of their own class.

    Parameters
    ----------
    candidates : {"index", "tree"}, default="index"
        Where candidates come from: the index, or the beam of a `LabelTree`, whose log-probability
        stands in the place of s.
    n_candidates : int, default=24
        Classes that are ranked.
    n_examples : int, default=64
        Rows of each class that are kept to compare with, at most; 0 for none. A tree has none.
    rerank : bool, default=True
        Whether to rank the candidates; if not, the order is that of the index.
    learning_rate : float, default=0.2
        Step of AdaGrad.
    max_iter : int, default=1
        Passes over the rows.
    table_size : int or "auto", default="auto"
        Entries of the table of hashed pairs, a power of two; "auto" makes room for the pairs that
        occur, up to 2^21.
    random_state : int, RandomState or None, default=None
        Order of the rows, and the rows that smoothing is judged on.
    n_jobs : int or None, default=None
        Threads; the result does not depend on it.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
        The labels, sorted.
    index_ : InvertedIndex or None
        The index.
    tree_ : LabelTree or None
        The tree, with ``candidates="tree"``.
    examples_ : Examples
        The rows that are kept.
    ranker_ : PairRanker
        The learned weights.
    n_iter_ : int
        Passes over the rows.
    smoothing_ : Smoothing or None
        The smoothing of the index that was chosen, with the ranks of left-out rows.
    progress_ : Progress or None
        What the first pass saw, each row judged before it was learned from.
    missed_ : float
        Share of left-out rows whose class was not among the candidates.
    label_shares_ : ndarray of shape (K,)
        Share of each class in the rows.
    n_features_in_ : int
        Columns of X.

    Notes
    -----
    X must not hold negative values; rows are scaled to a mean stored value of one, so that
    counts, 0/1 and normalized rows lead to the same model. A row without features cannot be learned
    from (DataError); when predicted it gets the most frequent classes.

    Probabilities: the candidates share 1 - `missed_` by the softmax of z, the other classes share
    `missed_` by their frequency, so that all sum to one. `predict_proba` fills a matrix of shape
    (n, K); `predict_top` and `candidates_of` do not.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from separatrix import ManyClass
    >>> X = sp.csr_array([[1, 1, 0, 0], [1, 0, 1, 0], [0, 0, 1, 1], [0, 1, 0, 1]] * 5)
    >>> y = ["a", "a", "b", "c"] * 5
    >>> model = ManyClass(n_candidates=2).fit(X, y)
    >>> model.predict(X[:4])
    array(['a', 'a', 'b', 'c'], dtype='<U1')
    >>> labels, probabilities = model.predict_top(X[:1], 2)
    >>> labels[0, 0], bool(probabilities[0, 0] > 0.5)
    (np.str_('a'), True)
    """

    __sx_state__: ClassVar[tuple[str, ...]] = (
        "classes_",
        "index_",
        "examples_",
        "ranker_",
        "tree_",
        "smoothing_",
        "progress_",
        "missed_",
        "label_shares_",
        "n_iter_",
    )

    classes_: npt.NDArray[Any]
    index_: InvertedIndex | None
    tree_: Any
    n_iter_: int
    examples_: Examples
    ranker_: PairRanker
    smoothing_: Smoothing | None
    progress_: Progress | None
    missed_: float
    label_shares_: npt.NDArray[np.float32]
    n_features_in_: int

    def __init__(
        self,
        candidates: str = "index",
        *,
        n_candidates: int = 24,
        n_examples: int = 64,
        rerank: bool = True,
        learning_rate: float = 0.2,
        max_iter: int = 1,
        table_size: int | str = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.candidates = candidates
        self.n_candidates = n_candidates
        self.n_examples = n_examples
        self.rerank = rerank
        self.learning_rate = learning_rate
        self.max_iter = max_iter
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
        if not hasattr(self, "ranker_"):
            return
        k = len(self.classes_)
        if self.index_ is not None:
            self.index_.check(self.n_features_in_, k)
        elif self.tree_ is None or len(self.tree_.classes_) != k:
            raise DataError(f"the tree does not fit {k} classes")
        self.examples_.check(self.n_features_in_, k)
        self.ranker_.check(k)
        if self.label_shares_.shape != (k,):
            raise DataError(f"label_shares_ has shape {self.label_shares_.shape}, expected {(k,)}")

    def _check_parameters(self) -> None:
        check_choice("candidates", self.candidates, ("index", "tree"))
        check_positive(
            n_candidates=self.n_candidates, learning_rate=self.learning_rate, max_iter=self.max_iter
        )
        if self.n_examples < 0:
            raise ParameterError(f"n_examples must not be negative, got {self.n_examples}")
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
        refuse_dask(self, X, y)
        self._check_parameters()
        check_given(self, y)
        n_threads = number_of_threads(self.n_jobs)
        rows = self._rows(X, n_threads, reset=True)
        classes, codes = encode_labels(y, rows.shape[0])
        generator = check_random_state(self.random_state)
        self.classes_, self.index_, self.tree_ = classes, None, None
        self.n_iter_ = self.max_iter
        if self.candidates == "index":
            self._fit_index(rows, codes, generator, n_threads)
        else:
            self._fit_tree(rows, codes, generator)
        return self

    def _fit_index(self, rows: sp.csr_array, codes: Any, generator: Any, n_threads: int) -> None:
        k, numbers = len(self.classes_), codes.astype(np.uint32)
        relative = relative_rows(rows)
        counts = PairCounts.of(relative, codes, k)
        smoothing = fit_smoothing(counts, rows, numbers, generator, n_threads)
        self.index_ = InvertedIndex.of(counts, smoothing.mu, smoothing.alpha)
        self.smoothing_ = smoothing
        self.missed_ = smoothing.missed(self.n_candidates)
        self.label_shares_ = (counts.label_rows / len(codes)).astype(np.float32)
        useful = self.rerank and len(smoothing.ranks) > 0
        most = self.n_examples if useful else 0
        self.examples_, places = Examples.of(relative, codes, k, most, generator)
        epoch = index_epoch(
            self.index_, counts, smoothing, self.examples_, places, rows, numbers, n_threads
        )
        self._fit_ranker(epoch, useful, len(codes), table_size_for(counts.pairs.nnz), generator)

    def _fit_tree(self, rows: sp.csr_array, codes: Any, generator: Any) -> None:
        check_no_empty_rows(rows)
        k = len(self.classes_)
        seed = int(generator.randint(2**31 - 1))
        self.tree_ = new_tree(self.n_candidates, seed, self.n_jobs).fit(rows, codes)
        self.smoothing_, self.examples_ = None, Examples.none(rows.shape[1], k)
        self.label_shares_ = (np.bincount(codes, minlength=k) / len(codes)).astype(np.float32)
        crossed = crossed_candidates(rows, codes, self.n_candidates, generator, self.n_jobs)
        self.missed_ = crossed.missed
        epoch = given_epoch(crossed.arrays, rows, codes.astype(np.uint32))
        useful = self.rerank and crossed.missed < 1.0
        self._fit_ranker(epoch, useful, len(codes), table_size_for(rows.nnz), generator)

    def _fit_ranker(
        self, epoch: Any, useful: bool, n_rows: int, table_size: int, generator: Any
    ) -> None:
        self.ranker_, self.progress_ = PairRanker.unlearned(len(self.classes_)), None
        if useful:
            self.ranker_, self.progress_ = PairRanker.learn(
                epoch,
                n_rows,
                len(self.classes_),
                rate=self.learning_rate,
                passes=self.max_iter,
                table_size=table_size if isinstance(self.table_size, str) else self.table_size,
                generator=generator,
            )

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
        return sp.csr_array(X, dtype=np.float32)

    def _ranked(self, X: Any, keep: int) -> tuple[Any, Any, Any]:
        """Class numbers and scores (n, keep), best first, and log-sums of all candidates (n,)."""
        check_is_fitted(self)
        n_threads = number_of_threads(self.n_jobs)
        rows = self._rows(X, n_threads, reset=False)
        n_candidates = min(self.n_candidates, len(self.classes_))
        weights, keep = self.ranker_.weights, min(keep, n_candidates)
        handle, examples = sparse_handle(rows), self.examples_.handle()
        if self.index_ is not None:
            index = self.index_.handle()
            return index.rank(examples, handle, *weights, n_candidates, keep, n_threads)
        found = arrays_of(self.tree_.candidates(rows, n_candidates))
        return given_rank(found, handle, *weights, keep, n_threads)

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
        return np.asarray(self.classes_[numbers[:, 0]])

    def predict_top(self, X: Any, k: int = 5) -> TopLabels:
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
        short = np.flatnonzero(numbers[:, -1] == _NONE)
        if len(short):
            raise ParameterError(
                f"the tree proposes fewer than k={k} classes for row {short[0]}; raise n_candidates"
            )
        shares = (1.0 - self._rest()) * np.exp(scores.astype(np.float64) - log_sums[:, None])
        return TopLabels(self.classes_[numbers], shares)

    def _rest(self) -> float:
        """Probability of the classes that are not candidates."""
        return self.missed_ if self.n_candidates < len(self.classes_) else 0.0

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
        there = numbers != _NONE
        logs = scores.astype(np.float64) - log_sums[:, None] + np.log1p(-self._rest())
        starts = np.concatenate([[0], np.cumsum(there.sum(axis=1))]).astype(np.int64)
        return Candidates(starts, numbers[there].astype(np.int32), logs[there])

    def predict_proba(self, X: Any) -> npt.NDArray[Any]:
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
        there = numbers != _NONE
        places = np.where(there, numbers.astype(np.int64), -1)
        shares = np.exp(np.where(there, scores.astype(np.float64) - log_sums[:, None], -np.inf))
        found = spread(places, shares, self.label_shares_, self._rest())
        return found.astype(float_type(X), copy=False)
