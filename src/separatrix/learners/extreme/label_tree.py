"""Trees over very many labels, searched by a beam."""

from __future__ import annotations

import math
import warnings
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import _check_sample_weight

from separatrix._core import tree_fit, tree_groups
from separatrix.errors import ConvergenceWarning, DataError, ParameterError
from separatrix.features.handles import sparse_handle
from separatrix.learners.extreme.tree_labels import (
    RowLabels,
    encode_further,
    encode_rows,
    mean_rows,
    text_rows,
)
from separatrix.learners.extreme.tree_prediction import TreePrediction
from separatrix.learners.extreme.tree_shape import MOST_CHILDREN, TreeShape, factors_of
from separatrix.learners.extreme.tree_strength import held_out_strength, row_strengths
from separatrix.learners.extreme.tree_update import add_labels, update
from separatrix.learners.extreme.tree_weights import PRECISIONS, NodeReport, TreeWeights
from separatrix.progress import counting
from separatrix.validation import (
    check_choice,
    check_given,
    check_positive,
    check_weights,
    number_of_threads,
    refuse_dask,
    seed_from,
)

__all__ = ["LabelTree"]

#: Rounds of 2-means of one cut.
_ROUNDS = 12
#: C of each kind of node with one label per row, and of further rows.
_STRENGTHS = {"logistic": (30.0, 3.0), "svm": (1.0, 1.0), "perceptron": (1.0, 1.0)}


class LabelTree(TreePrediction, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    r"""A tree over the labels, with a linear classifier at every node.

    A label is reached by the edges from the root to it, and

    .. math:: P(y \mid x) = \prod_{e \in \text{path}(y)} P(e \mid \text{node}(e), x),

    so that training and prediction cost about the logarithm of the number of labels, not the
    number. With one label per row a node has a softmax over its children and the probabilities of
    all labels sum to one; with several labels per row (y an indicator matrix) it has a sigmoid for
    each child, the probability that some label of the row lies below it given that one lies below
    the node (Jasinska et al. 2016). Each node minimizes
    :math:`\tfrac12 |W|^2 + C \sum_i c_i\, \text{loss}_i` over the rows with a label below it.

    Parameters
    ----------
    branching : int or "auto", default="auto"
        The most children of a node; "auto" means up to 100 labels below a node of the last level
        and up to 32 nodes below a node above, and no tree at all for up to 100 labels.
    beam : int or None, default=10
        Nodes of each level that a prediction follows; None follows all, which is exact.
    loss : {"logistic", "svm", "perceptron"}, default="logistic"
        What a node learns by: logistic loss (softmax), squared hinge loss of each child against the
        others, or averaged perceptrons. The probabilities of the latter two are not calibrated.
    tree : {"features", "text"} or mapping, default="features"
        Labels that are alike stand close together: by the mean of their rows, or by the characters
        of their names, in balanced groups by spherical k-means (Prabhu et al. 2018). A mapping
        gives for each label the names of the nodes above it, from the top, as a hierarchy of your
        own.
    C : float or "auto", default="auto"
        Weight of the data against the penalty. "auto" is meant for rows of length about one, as
        tf-idf makes them: 30 for logistic nodes with one label per row; with several the one of 1,
        3 and 10 that ranks the labels of held-out rows best, and 3 in `partial_fit` and where rows
        are few; 1 for "svm".
    prune : float, default=0.1
        The smallest weights of a child are dropped as long as they have at most this share of the
        norm of all; 0 keeps every weight.
    precision : {"half", "single", "double"}, default="single"
        How weights are stored: in 16, 32 or 64 bits.
    fit_intercept : bool, default=True
        Learn intercepts.
    tol : float, default=0.01
        A node is done when gap <= tol * P.
    max_iter : int or None, default=None
        Largest number of passes over the rows of a node; None means 1,000, and 10 for perceptrons,
        which end earlier only after a pass without mistakes.
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
    C_ : float
        The weight of the data that was used.

    Notes
    -----
    The kernels are those of `LogisticRegression` and `LinearSVM`: dual coordinate
    descent on copies of a node's rows over the features that occur in them, a node per thread.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from separatrix import LabelTree
    >>> X, y = load_digits(return_X_y=True)
    >>> tree = LabelTree(branching=4, random_state=0).fit(X / 16, y)
    >>> tree.shape_.depth(), tree.score(X / 16, y) > 0.9
    (2, True)
    >>> int(tree.predict_top(X[:1] / 16, 3).labels[0, 0])
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
        "C_",
    )

    classes_: npt.NDArray[Any]
    shape_: TreeShape
    weights_: TreeWeights
    report_: NodeReport
    multilabel_: bool
    dense_labels_: bool
    C_: float
    n_features_in_: int

    def __init__(
        self,
        branching: int | str = "auto",
        beam: int | None = 10,
        loss: str = "logistic",
        *,
        tree: Any = "features",
        C: float | str = "auto",
        prune: float = 0.1,
        precision: str = "single",
        fit_intercept: bool = True,
        tol: float = 1e-2,
        max_iter: int | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.branching = branching
        self.beam = beam
        self.loss = loss
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
        check_choice("loss", self.loss, tuple(_STRENGTHS))
        check_choice("precision", self.precision, tuple(PRECISIONS))
        check_positive(tol=self.tol, max_iter=self._max_passes())
        if self.C != "auto":
            check_positive(C=self.C)  # type: ignore[arg-type]
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
        refuse_dask(self, X, y)
        return self._fit(X, y, sample_weight, labels)

    def _fit(self, X: Any, y: Any, sample_weight: Any, labels: Any) -> Self:
        self._check_parameters()
        check_given(self, y)
        X = self._rows(X, reset=True)
        rows = encode_rows(y, X.shape[0], labels)
        weights = self._weights(sample_weight, X, rows)
        C = self._strength(X, rows, weights)
        shape = self._shape(X, rows, weights)
        self.weights_, self.report_ = self._fit_nodes(X, rows, weights, shape, C)
        self.shape_, self.classes_, self.C_ = shape, rows.classes, C
        self.multilabel_, self.dense_labels_ = not rows.single, rows.dense
        if self.report_.unfinished:
            warnings.warn(
                f"{self.report_.unfinished} problems of LabelTree used up max_iter="
                f"{self._max_passes()}. Raise max_iter, raise tol, scale the features, or lower C.",
                ConvergenceWarning,
                stacklevel=3,
            )
        return self

    def _weights(
        self, sample_weight: Any, X: Any, rows: RowLabels, *, two_classes: bool = True
    ) -> npt.NDArray[np.float64] | None:
        if sample_weight is None:
            return None
        weights: npt.NDArray[np.float64] = _check_sample_weight(sample_weight, X, dtype=np.float64)
        if rows.single:
            codes = rows.indicator.indices.astype(np.int64)
            return check_weights(weights, None, X, rows.classes, codes, two_classes=two_classes)
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
        with counting("LabelTree: groups of labels", visits, self.verbose) as counter:
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
        self, X: sp.csr_array, rows: RowLabels, weights: Any, shape: TreeShape, C: float
    ) -> tuple[TreeWeights, NodeReport]:
        upper = row_strengths(C, X.shape[0], weights)
        Y = rows.indicator
        total = X.shape[0] + int(Y.nnz * (shape.depth() - 1))
        with counting("LabelTree: nodes", total, self.verbose) as counter:
            arrays, report = tree_fit(
                sparse_handle(X),
                shape.starts,
                shape.targets,
                Y.indptr.astype(np.int64),
                Y.indices.astype(np.int32, copy=False),
                len(rows.classes),
                rows.single,
                upper,
                self.loss,
                "free" if self.fit_intercept else "none",
                float(self.prune),
                seed_from(self.random_state),
                float(self.tol),
                float(self._max_passes()),
                number_of_threads(self.n_jobs),
                counter,
            )
        starts, features, weight_starts, children, values, intercepts = arrays
        values = values.astype(PRECISIONS[self.precision], copy=False)
        kept = TreeWeights(starts, features, weight_starts, children, values, intercepts)
        return kept, NodeReport(*report)

    def _max_passes(self) -> int:
        if self.max_iter is None:
            return 10 if self.loss == "perceptron" else 1000
        return self.max_iter

    def _strength(self, X: sp.csr_array, rows: RowLabels, weights: Any) -> float:
        """C, or what "auto" stands for."""
        if self.C != "auto":
            return float(self.C)
        if self.loss == "logistic" and not rows.single:
            return held_out_strength(self, X, rows, weights)
        return _STRENGTHS[self.loss][0]

    @property
    def n_iter_(self) -> int:
        """Largest number of passes over the rows of a node."""
        return max(1, math.ceil(self.report_.n_passes))

    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None, *, labels: Any = None
    ) -> Self:
        r"""Learn from further rows, which may have labels that were not there before.

        A new label gets a place below the node that its rows lead to. Every node with rows moves
        its weights as little as fits them: it minimizes
        :math:`\tfrac12 |W - W_{before}|^2 + C \sum_i c_i\, \text{loss}_i` over the new
        rows, with the same loss (that of "svm" for perceptrons). The first call is `fit`.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n, d)
            Further rows.
        y : array-like of shape (n,), or array or sparse matrix of shape (n, K)
            Their labels; of an indicator matrix the first columns are those of `classes_`, and
            further ones are new labels.
        classes : ignored
            New labels need not be named beforehand; it is here for tools that do.
        sample_weight : array-like of shape (n,), optional
            Weight of every row.
        labels : array-like of shape (K,), optional
            Names of the columns of an indicator matrix; their numbers by default.

        Returns
        -------
        self
            The tree, fitted further; new labels stand last in `classes_`.
        """
        refuse_dask(self, X, y)
        if not hasattr(self, "weights_"):
            return self._fit(X, y, sample_weight, labels)
        self._check_parameters()
        check_given(self, y)
        X = self._rows(X, reset=False)
        rows = encode_further(y, X.shape[0], self.classes_, labels, single=not self.multilabel_)
        weights = self._weights(sample_weight, X, rows, two_classes=False)
        shape, kept = self.shape_, self.weights_
        # The weaker C, so that rows of few labels do not outvote those of the fit.
        C = _STRENGTHS[self.loss][1] if self.C == "auto" else float(self.C)
        n_new = len(rows.classes) - len(self.classes_)
        if n_new:
            shape, kept = add_labels(shape, kept, X, rows.indicator, n_new)
        self.weights_ = update(
            shape,
            kept,
            X,
            rows.indicator,
            row_strengths(C, X.shape[0], weights),
            single=rows.single,
            margin=self.loss != "logistic",
            prune=float(self.prune),
            fit_intercept=self.fit_intercept,
        )
        self.shape_, self.classes_ = shape, rows.classes
        return self
