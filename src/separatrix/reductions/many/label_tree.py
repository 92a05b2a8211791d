"""Trees over very many labels, searched by a beam."""

from __future__ import annotations

import math
import warnings
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from separatrix._core import tree_fit, tree_groups
from separatrix.errors import ConvergenceWarning, DataError, ParameterError
from separatrix.features.handles import checked_matrix, sparse_handle
from separatrix.reductions.many.candidates import Candidates
from separatrix.reductions.many.tree_labels import RowLabels, encode_rows, mean_rows, text_rows
from separatrix.reductions.many.tree_progress import progress_bar
from separatrix.reductions.many.tree_shape import MOST_CHILDREN, TreeShape, factors_of
from separatrix.reductions.many.tree_weights import PRECISIONS, NodeReport, TreeWeights
from separatrix.validation import (
    check_choice,
    check_given,
    check_positive,
    check_weights,
    number_of_threads,
    seed_from,
)

__all__ = ["LabelTree"]

FloatArray = npt.NDArray[np.floating[Any]]

#: Rounds of 2-means of one cut.
_ROUNDS = 12
#: Factor on the scores of each kind of node before they are read as logits.
_SCALES = {"logistic": 1.0, "svm": 3.0, "perceptron": 1.0}


class LabelTree(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    r"""A tree over the labels, with a linear classifier at every node.

    A label is reached by the edges from the root to it, and

    .. math:: P(y \mid x) = \prod_{e \in \text{path}(y)} P(e \mid \text{node}(e), x),

    so that training and prediction cost about the logarithm of the number of labels, not the
    number. With one label per row a node has a softmax over its children and the probabilities of all
    labels sum to one; with several labels per row (y an indicator matrix) it has a sigmoid for
    each child, the probability that some label of the row lies below it given that one lies
    below the node (Jasinska et al. 2016). Each node minimizes
    :math:`\tfrac12 |W|^2 + C \sum_i c_i\, \text{loss}_i` over the rows with a label below it.

    Parameters
    ----------
    branching : int or "auto", default="auto"
        The most children of a node; "auto" means up to 100 labels below a node of the last level and
        up to 32 nodes below a node above, and no tree at all for up to 100 labels.
    beam : int or None, default=10
        Nodes of each level that a prediction follows; None follows all, which is exact.
    node : {"logistic", "svm", "perceptron"}, default="logistic"
        What a node learns by: logistic loss (softmax), squared hinge loss of each child against the
        others, or averaged perceptrons. The probabilities of the latter two are not calibrated.
    tree : {"features", "text"} or mapping, default="features"
        Labels that are alike stand close together: by the mean of their rows, or by the characters of
        their names, in balanced groups by spherical k-means (Prabhu et al. 2018). A mapping gives for
        each label the names of the nodes above it, from the top, as a hierarchy of your own.
    C : float, default=3.0
        Weight of the data against the penalty; the default is meant for rows of length about one, as
        tf-idf makes them.
    prune : float, default=0.1
        The smallest weights of a child are dropped as long as they have at most this share of the
        norm of all; 0 keeps every weight.
    precision : {"half", "single", "double"}, default="single"
        How weights are stored: in 16, 32 or 64 bits.
    fit_intercept : bool, default=True
        Learn intercepts.
    tol : float, default=0.01
        A node is done when gap <= tol * max(1, P).
    max_iter : int, default=100
        Largest number of passes over the rows of a node; of perceptrons, the number of passes
        unless one makes no mistake.
    n_jobs : int or None, default=None
        Threads; the result does not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of the groups and of the order of rows.
    verbose : int, default=0
        1 shows progress bars.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
        Labels.
    shape_ : TreeShape
        Nodes and edges.
    weights_ : TreeWeights
        Sparse weights of all nodes.
    report_ : NodeReport
        How the nodes' problems ended.
    multilabel_ : bool
        Whether rows may have several labels.

    Notes
    -----
    The kernels are those of `LogisticRegression` and `LinearSVM`: dual coordinate descent on copies of
    a node's rows over the features that occur in them, a node per thread.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from separatrix import LabelTree
    >>> X, y = load_digits(return_X_y=True)
    >>> tree = LabelTree(branching=4, random_state=0).fit(X / 16, y)
    >>> tree.shape_.depth(), tree.score(X / 16, y) > 0.9
    (2, True)
    >>> tree.predict_top(X[:1] / 16, 3)[0, 0]
    0
    >>> bool(np.allclose(tree.predict_proba(X / 16).sum(axis=1), 1))
    True
    """

    __sx_state__: ClassVar[tuple[str, ...]] = (
        "classes_",
        "shape_",
        "weights_",
        "report_",
        "multilabel_",
        "dense_labels_",
    )

    classes_: npt.NDArray[Any]
    shape_: TreeShape
    weights_: TreeWeights
    report_: NodeReport
    multilabel_: bool
    dense_labels_: bool
    n_features_in_: int

    def __init__(
        self,
        branching: int | str = "auto",
        beam: int | None = 10,
        node: str = "logistic",
        *,
        tree: Any = "features",
        C: float = 3.0,
        prune: float = 0.1,
        precision: str = "single",
        fit_intercept: bool = True,
        tol: float = 1e-2,
        max_iter: int = 100,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.branching = branching
        self.beam = beam
        self.node = node
        self.tree = tree
        self.C = C
        self.prune = prune
        self.precision = precision
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_label = True
        return tags

    def __sx_check__(self) -> None:
        """Raise DataError unless the arrays of a loaded model agree."""
        if hasattr(self, "shape_") and self.shape_.n_labels != len(self.classes_):
            raise DataError("the tree does not have a place for every class")

    def _check_parameters(self) -> None:
        check_choice("node", self.node, tuple(_SCALES))
        check_choice("precision", self.precision, tuple(PRECISIONS))
        check_positive(C=self.C, tol=self.tol, max_iter=self.max_iter)
        if not isinstance(self.tree, dict):
            check_choice("tree", self.tree, ("features", "text"))
        if self.branching != "auto" and (
            not isinstance(self.branching, int | np.integer)
            or not 2 <= self.branching <= MOST_CHILDREN
        ):
            raise ParameterError(
                f"branching must be 'auto' or from 2 to {MOST_CHILDREN}, got {self.branching!r}"
            )
        if not 0 <= self.prune < 1:
            raise ParameterError(f"prune must be at least 0 and below 1, got {self.prune!r}")
        self._beam()

    def _beam(self) -> int:
        if self.beam is None:
            return 2**31
        if not isinstance(self.beam, int | np.integer) or self.beam < 1:
            raise ParameterError(f"beam must be None or a positive number, got {self.beam!r}")
        return int(self.beam)

    # -- learning ----------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, labels: Any = None) -> Self:
        """Build the tree and fit its nodes.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n, d)
            Training rows.
        y : array-like of shape (n,), or array or sparse matrix of shape (n, K)
            One label per row, or the indicator matrix of several.
        sample_weight : array-like of shape (n,), optional
            Weight of every row.
        labels : array-like of shape (K,), optional
            Names of the columns of an indicator matrix; their numbers by default.

        Returns
        -------
        self
            The fitted tree.
        """
        self._check_parameters()
        check_given(self, y)
        X = self._rows(X, reset=True)
        rows = encode_rows(y, X.shape[0], labels)
        weights = self._weights(sample_weight, X, rows)
        shape = self._shape(X, rows, weights)
        self.weights_, self.report_ = self._fit_nodes(X, rows, weights, shape)
        self.shape_, self.classes_ = shape, rows.classes
        self.multilabel_, self.dense_labels_ = not rows.single, rows.dense
        if self.report_.unfinished:
            warnings.warn(
                f"{self.report_.unfinished} problems of LabelTree used up max_iter={self.max_iter}. "
                "Raise max_iter, raise tol, scale the features, or lower C.",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

    def _rows(self, X: Any, *, reset: bool) -> sp.csr_array:
        X = checked_matrix(self, X, number_of_threads(self.n_jobs), reset=reset)
        return X if sp.issparse(X) else sp.csr_array(X)

    def _weights(
        self, sample_weight: Any, X: Any, rows: RowLabels
    ) -> npt.NDArray[np.float64] | None:
        if sample_weight is None:
            return None
        weights: npt.NDArray[np.float64] = _check_sample_weight(sample_weight, X, dtype=np.float64)
        if rows.single:
            codes = rows.indicator.indices.astype(np.int64)
            return check_weights(weights, None, X, rows.classes, codes)
        if (weights < 0).any():
            row = int(np.argmax(weights < 0))
            raise DataError(f"sample_weight is negative at row {row} ({weights[row]:g})")
        return weights

    def _shape(self, X: sp.csr_array, rows: RowLabels, weights: Any) -> TreeShape:
        if isinstance(self.tree, dict):
            return TreeShape.of_paths(rows.classes.tolist(), self.tree)
        n_labels = len(rows.classes)
        factors = factors_of(n_labels, self.branching)
        if not factors:
            return TreeShape.flat(n_labels)
        if self.tree == "text":
            vectors = text_rows(rows.classes, self.n_jobs)
        else:
            vectors = mean_rows(X, rows, weights)
        visits = int(n_labels * math.log2(math.prod(factors)))
        with progress_bar("LabelTree: groups of labels", visits, self.verbose) as counter:
            order, bounds = tree_groups(
                sparse_handle(vectors),
                factors,
                _ROUNDS,
                seed_from(self.random_state),
                number_of_threads(self.n_jobs),
                counter,
            )
        return TreeShape.of_groups(order, bounds, factors)

    def _fit_nodes(
        self, X: sp.csr_array, rows: RowLabels, weights: Any, shape: TreeShape
    ) -> tuple[TreeWeights, NodeReport]:
        upper = np.full(X.shape[0], float(self.C))
        if weights is not None:
            upper *= weights
        Y = rows.indicator
        total = X.shape[0] + int(Y.nnz * (shape.depth() - 1))
        with progress_bar("LabelTree: nodes", total, self.verbose) as counter:
            arrays, report = tree_fit(
                sparse_handle(X),
                shape.starts,
                shape.targets,
                Y.indptr.astype(np.int64),
                Y.indices.astype(np.int32, copy=False),
                len(rows.classes),
                rows.single,
                upper,
                self.node,
                "free" if self.fit_intercept else "none",
                float(self.prune),
                seed_from(self.random_state),
                float(self.tol),
                float(self.max_iter),
                number_of_threads(self.n_jobs),
                counter,
            )
        starts, features, weight_starts, children, values, intercepts = arrays
        values = values.astype(PRECISIONS[self.precision], copy=False)
        kept = TreeWeights(starts, features, weight_starts, children, values, intercepts)
        return kept, NodeReport(*report)

    # -- prediction --------------------------------------------------------------------------

    def _search(self, X: Any, n: int, least: float = -np.inf) -> Candidates:
        check_is_fitted(self, "weights_")
        X = self._rows(X, reset=False)
        return Candidates(
            *self._model().search(
                sparse_handle(X), self._beam(), n, least, number_of_threads(self.n_jobs)
            )
        )

    def _model(self) -> Any:
        scale = _SCALES[self.node]
        return self.weights_.model(self.shape_, single=not self.multilabel_, scale=scale)

    def candidates(self, X: Any, n: int = 10) -> Candidates:
        """The best labels that the beam reaches.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_rows, d)
            Rows.
        n : int, default=10
            Labels per row; a row has fewer where the beam reaches fewer.

        Returns
        -------
        Candidates
            For each row places in `classes_`, best first, and logarithms of probabilities.
        """
        if not isinstance(n, int | np.integer) or n < 1:
            raise ParameterError(f"n must be a positive number, got {n!r}")
        return self._search(X, min(int(n), 2**31))

    def predict_top(self, X: Any, k: int = 5) -> npt.NDArray[Any]:
        """The k most probable labels of every row, best first.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n, d)
            Rows.
        k : int, default=5
            At most the number of labels that the beam reaches in every row.

        Returns
        -------
        ndarray of shape (n, k)
            Labels.
        """
        found = self.candidates(X, k)
        if (np.diff(found.indptr) < k).any():
            row = int(np.argmax(np.diff(found.indptr) < k))
            raise ParameterError(
                f"the beam reaches {int(np.diff(found.indptr)[row])} labels of row {row}, fewer than "
                f"k={k}; raise beam"
            )
        top: npt.NDArray[Any] = self.classes_[found.indices.reshape(-1, k)]
        return top

    def predict(self, X: Any) -> Any:
        """The most probable label, or all labels with a probability of at least one half.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n, d)
            Rows.

        Returns
        -------
        ndarray of shape (n,), or array or CSR array of shape (n, K)
            Labels; an indicator matrix, sparse where that of `fit` was, with several per row.
        """
        if not getattr(self, "multilabel_", False):
            labels: npt.NDArray[Any] = self.classes_[self._search(X, 1).indices]
            return labels
        found = self._search(X, len(self.classes_), math.log(0.5))
        Y = self._indicator(found, np.ones(len(found.indices), dtype=np.int64))
        return Y.toarray() if self.dense_labels_ else Y

    def _indicator(self, found: Candidates, values: npt.NDArray[Any]) -> sp.csr_array:
        shape = (len(found.indptr) - 1, len(self.classes_))
        Y = sp.csr_array((values, found.indices, found.indptr), shape=shape)
        Y.sort_indices()
        return Y

    def predict_proba(self, X: Any) -> FloatArray:
        """Probabilities of all labels, of shape (n, K).

        With one label per row they sum to one: what a node that the beam leaves out has is
        spread evenly over the labels below it. With several labels per row, labels that the beam does not
        reach have probability zero. For very many labels see `candidates`.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n, d)
            Rows.

        Returns
        -------
        ndarray of shape (n, K)
            P(y | x), or P(y in set | x), columns in the order of `classes_`.
        """
        check_is_fitted(self, "weights_")
        n_labels = len(self.classes_)
        if self.multilabel_:
            found = self._search(X, n_labels)
            shares: FloatArray = self._indicator(found, np.exp(found.log_scores)).toarray()
            return shares
        X = self._rows(X, reset=False)
        result: FloatArray = self._model().shares(
            sparse_handle(X), self._beam(), n_labels, number_of_threads(self.n_jobs)
        )
        return result
