"""A classifier for very many classes: candidates from an index, then a closer look at them."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted, check_random_state

from separatrix.errors import DataError, ParameterError
from separatrix.features.handles import checked_matrix, sparse_handle
from separatrix.learners.extreme.examples import Examples
from separatrix.learners.extreme.index import (
    MOST_CANDIDATES,
    InvertedIndex,
    PairCounts,
    Smoothing,
    fit_smoothing,
    without_signs,
)
from separatrix.learners.extreme.ranker import Lessons, PairRanker, Progress, table_size_for
from separatrix.learners.extreme.ranking import LabelRanking, Ranked
from separatrix.validation import (
    check_given,
    check_positive,
    encode_labels,
    float_type,
    number_of_threads,
    refuse_dask,
)

__all__ = ["ManyClass"]


@dataclass(eq=False, repr=False)
class ManyClass(LabelRanking):
    r"""A classifier for tens of thousands of classes: look for candidates, then rank them.

    A score for every class costs too much, and so does a weight for every pair of class and
    feature. Here an inverted index from features to classes holds smoothed naive-Bayes scores

    .. math:: s_y(x) = \alpha \ln n_y + \sum_f x_f \left[ \ln\Bigl(1 + \frac{c_{fy}}{\mu p_f}\Bigr)
              - \ln \frac{L_y + \mu}{\mu} \right]

    in 8 bits and proposes `candidates` classes; these are ranked by

    .. math:: z_y(x) = \beta s_y(x) + \gamma m_y(x) + b_y + \sum_f x_f v_{h(f, y)}, \qquad
              m_y(x) = \ln \frac{1}{|R_y|} \sum_{r \in R_y} \exp \sum_{f \in x, r} x_f t_f

    where m compares x with rows R_y of the class that are kept as its examples (t is the inverse
    document frequency, scaled), and the weights v of hashed pairs are learned by AdaGrad on the
    softmax over the candidates, with the factors and the biases. Smoothing and mixing (mu, alpha,
    beta, gamma) are fitted by leaving rows out of the counts and the examples of their own class.

    Parameters
    ----------
    candidates : int or "all", default=24
        Classes that are ranked, at most 256.
    n_examples : int, default=32
        Rows of each class that are kept to compare with, at most; 0 for none.
    rerank : bool, default=True
        Whether to rank the candidates; if not, the order is that of the index.
    C : float, default=1.0
        Weight of the data against the squares of the weights of pairs and the biases.
    learning_rate : float, default=0.2
        Step of AdaGrad.
    max_iter : int, default=1
        Passes over the rows, or over 2^19 of them, drawn at random, where there are more.
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
    index_ : InvertedIndex
        The index.
    examples_ : Examples
        The rows that are kept.
    ranker_ : PairRanker
        The learned weights.
    n_iter_ : int
        Passes over the rows.
    smoothing_ : Smoothing
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
    Rows are scaled to a mean size of their values of one, so that counts, 0/1 and normalized rows
    lead to the same model. A column with values below zero is two features, one for each sign;
    below zero it is unknown, and left out, where training met no such value at all. A row without
    features counts for the frequency of its class; predicted, it gets the most frequent classes.

    Probabilities: the candidates share 1 - `missed_` by the softmax of z, the other classes share
    `missed_` by their frequency, so that all sum to one. `predict_proba` fills a matrix of shape
    (n, K); `predict_top` does not.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from separatrix import ManyClass
    >>> X = sp.csr_array([[1, 1, 0, 0], [1, 0, 1, 0], [0, 0, 1, 1], [0, 1, 0, 1]] * 5)
    >>> y = ["a", "a", "b", "c"] * 5
    >>> model = ManyClass(candidates=2).fit(X, y)
    >>> model.predict(X[:4])
    array(['a', 'a', 'b', 'c'], dtype='<U1')
    >>> labels, probabilities = model.predict_top(X[:1], 2)
    >>> labels[0, 0], bool(probabilities[0, 0] > 0.5)
    (np.str_('a'), True)
    """

    _MOST: ClassVar[int] = MOST_CANDIDATES
    __sx_state__: ClassVar[tuple[str, ...]] = (
        "classes_",
        "index_",
        "examples_",
        "ranker_",
        "smoothing_",
        "progress_",
        "missed_",
        "label_shares_",
        "n_iter_",
    )

    index_: InvertedIndex = field(init=False)
    n_iter_: int = field(init=False)
    examples_: Examples = field(init=False)
    ranker_: PairRanker = field(init=False)
    smoothing_: Smoothing = field(init=False)
    progress_: Progress | None = field(init=False)
    missed_: float = field(init=False)
    label_shares_: npt.NDArray[np.float32] = field(init=False)

    candidates: int | str = 24
    _: KW_ONLY
    n_examples: int = 32
    rerank: bool = True
    C: float = 1.0
    learning_rate: float = 0.2
    max_iter: int = 1
    table_size: int | str = "auto"
    random_state: Any = None
    n_jobs: int | None = None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        # Naive Bayes on a handful of real-valued columns, as scikit-learn's own.
        tags.classifier_tags.poor_score = True
        return tags

    def __sx_check__(self) -> None:
        """Raise DataError unless the arrays of a loaded model agree with each other."""
        if not hasattr(self, "ranker_"):
            return
        k = len(self.classes_)
        self.index_.check(self.n_features_in_, k)
        self.examples_.check(self.index_.n_features, k)
        self.ranker_.check(k)
        if self.label_shares_.shape != (k,):
            raise DataError(f"label_shares_ has shape {self.label_shares_.shape}, expected {(k,)}")

    def _check_parameters(self) -> None:
        self._check_candidates()
        check_positive(C=self.C, learning_rate=self.learning_rate, max_iter=self.max_iter)
        if self.n_examples < 0:
            raise ParameterError(f"n_examples must not be negative, got {self.n_examples}")
        size = self.table_size
        if size != "auto" and (not isinstance(size, int) or size < 2 or size & (size - 1)):
            raise ParameterError(f"table_size must be 'auto' or a power of two, got {size!r}")

    def fit(self, X: Any, y: Any) -> Self:
        """Count, choose the smoothing, and learn to rank the candidates.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            Rows.
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
        classes, found = encode_labels(y, rows.shape[0])
        codes, k = found.astype(np.uint32), len(classes)
        generator = check_random_state(self.random_state)
        counts = PairCounts.of(rows, codes, k)
        smoothing = fit_smoothing(counts, rows, codes, generator, n_threads)
        index = InvertedIndex.of(counts, smoothing.mu, smoothing.alpha, n_threads)
        examples, places = Examples.none(index.n_features, k), np.zeros(0, dtype=np.uint32)
        ranker, progress = PairRanker.unlearned(k), None
        if self.rerank and len(smoothing.ranks):
            places = np.full(len(codes), 2**32 - 1, dtype=np.uint32)
            if self.n_examples:
                examples, places = Examples.of(rows, codes, counts, self.n_examples, generator)
            ranker, progress = PairRanker.learn(
                Lessons(index, counts, smoothing, examples, places, rows, codes),
                rate=self.learning_rate,
                C=self.C,
                passes=self.max_iter,
                table_size=table_size_for(len(counts.labels))
                if isinstance(self.table_size, str)
                else self.table_size,
                generator=generator,
                n_threads=n_threads,
            )
        self.classes_, self.index_, self.smoothing_ = classes, index, smoothing
        self.examples_, self.ranker_, self.progress_ = examples, ranker, progress
        self.missed_ = smoothing.missed(self._n_candidates())
        self.label_shares_ = (counts.label_rows / len(codes)).astype(np.float32)
        self.n_iter_ = self.max_iter
        return self

    def _rows(self, X: Any, n_threads: int, *, reset: bool) -> sp.csr_array:
        """X as sparse rows of values above zero, in float32."""
        X = sp.csr_array(checked_matrix(self, X, n_threads, reset=reset), dtype=np.float32)
        return without_signs(X, None if reset else self.index_.n_features)

    def _rest(self) -> float:
        """Probability of the classes that are not candidates."""
        return self.missed_ if self._n_candidates() < len(self.classes_) else 0.0

    def _ranked(self, X: Any, n: int) -> Ranked:
        check_is_fitted(self)
        n_threads = number_of_threads(self.n_jobs)
        numbers, scores, log_sums = self.index_.handle.rank(
            self.examples_.handle,
            sparse_handle(self._rows(X, n_threads, reset=False)),
            *self.ranker_.weights,
            self._n_candidates(),
            n,
            n_threads,
        )
        logs = scores.astype(np.float64) - log_sums[:, None] + np.log1p(-self._rest())
        return Ranked(numbers.astype(np.int64), logs)

    def _best(self, X: Any, n: int) -> Ranked:
        return self._ranked(X, n)

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
        check_is_fitted(self)
        ranked = self._ranked(X, self._n_candidates())
        result = np.tile(self.label_shares_.astype(np.float64), (len(ranked.numbers), 1))
        np.put_along_axis(result, ranked.numbers, 0.0, axis=1)
        others = result.sum(axis=1, keepdims=True)
        result *= self._rest() / np.maximum(others, np.finfo(np.float64).tiny)
        np.put_along_axis(result, ranked.numbers, np.exp(ranked.log_probabilities), axis=1)
        result /= result.sum(axis=1, keepdims=True)
        return result.astype(float_type(X), copy=False)
