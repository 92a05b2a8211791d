"""One of K labels for every row of features: the simplest structure, whose parts are the labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.special import logsumexp

from separatrix.errors import DataError
from separatrix.structures.coded_labels import CodedLabels
from separatrix.structures.inference import Best, Sums
from separatrix.structures.labels.scores import FlatScores, make_design
from separatrix.structures.sections import largest_square
from separatrix.validation import check_sparse, is_sparse

__all__ = ["FlatFeatures", "Labels", "Rows", "feature_matrix"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of features, one node each.

    Attributes
    ----------
    matrix : array or CSR matrix of shape (n, d)
    """

    matrix: Any

    def __len__(self) -> int:
        return int(self.matrix.shape[0])

    @property
    def offsets(self) -> Integers:
        """0, 1, ..., n."""
        return np.arange(len(self) + 1, dtype=np.int64)

    def take(self, rows: npt.ArrayLike) -> Rows:
        """The rows of these numbers."""
        return Rows(self.matrix[np.asarray(rows)])


@dataclass(frozen=True)
class FlatFeatures:
    """Features Psi(x, k) of a row x with label k: x, and a one for the intercept, in column k.

    Weights are those of (feature, label), then the intercepts. Scores and parts have the shape
    (n, K).

    Attributes
    ----------
    n_labels : int
        K.
    n_features : int
        d.
    intercept : bool
        Whether labels have intercepts, which a likelihood leaves free.

    Examples
    --------
    >>> features = FlatFeatures(2, 1)
    >>> scores = features.scores(np.array([0.0, 1.0, 0.5, 0.0]), Rows(np.array([[0.0], [1.0]])))
    >>> scores.tolist(), features.best(scores).labels.tolist()
    ([[0.5, 0.0], [0.5, 1.0]], [0, 1])
    """

    n_labels: int
    n_features: int
    intercept: bool = True

    @property
    def n_weights(self) -> int:
        """Number of weights."""
        return (self.n_features + self.intercept) * self.n_labels

    @property
    def n_free(self) -> int:
        """How many weights, the last ones, have no penalty in a likelihood: the intercepts."""
        return self.n_labels if self.intercept else 0

    def score_map(self, inputs: Rows, n_threads: int = 1) -> FlatScores:
        """The scores as a map that solvers keep the values of: weights have the shape (d, K)."""
        design = make_design(inputs.matrix, n_threads)
        return FlatScores(
            design,
            self.n_labels,
            intercept=self.intercept,
            dtype=np.float64,
            n_threads=n_threads,
        )

    def scores(self, w: Floats, inputs: Rows, n_threads: int = 1) -> Floats:
        """Scores of the labels, shape (n, K)."""
        table = w.reshape(-1, self.n_labels)
        found: Floats = np.asarray(inputs.matrix @ table[: self.n_features])
        return found + table[-1] if self.intercept else found

    def parts(self, inputs: Rows, labels: Integers) -> Floats:
        """One at the label of every row."""
        return np.eye(self.n_labels)[labels]

    def adjoint(self, inputs: Rows, parts: Floats, weights: Floats | None = None) -> Floats:
        """Psi' parts, shape (n_weights,)."""
        if weights is not None:
            parts = parts * weights[:, None]
        sums = [np.asarray(inputs.matrix.T @ parts).ravel()]
        if self.intercept:
            sums.append(parts.sum(axis=0))
        return np.concatenate(sums)

    def values(self, scores: Floats, labels: Integers) -> Floats:
        """Scores of given labels, shape (n,)."""
        found: Floats = scores[np.arange(len(scores)), labels]
        return found

    def augmented(
        self, scores: Floats, labels: Integers, cost: Floats, scale: Floats | None = None
    ) -> Floats:
        """The scores with the costs of the labels added."""
        return scores + (cost[labels] if scale is None else cost[labels] * scale[:, None])

    def best(self, scores: Floats, n_threads: int = 1) -> Best:
        """The labels of the highest scores; the first wins a tie."""
        labels = scores.argmax(axis=1).astype(np.int64)
        return Best(labels, self.values(scores, labels))

    def log_sum_exp(self, scores: Floats, *, edges: bool = False, n_threads: int = 1) -> Sums:
        """log sum_k exp s_k, and the softmax."""
        log_partition: Floats = logsumexp(scores, axis=1)
        p = np.exp(scores - log_partition[:, None])
        return Sums(log_partition, p, p)

    def sample(
        self, scores: Floats, n_draws: int, seed: int = 0, n_threads: int = 1
    ) -> list[Integers]:
        """Draws of all labels, by Gumbel noise on the scores."""
        random = np.random.default_rng(seed)
        draws = (scores + random.gumbel(size=scores.shape) for _ in range(n_draws))
        return [draw.argmax(axis=1).astype(np.int64) for draw in draws]

    # -- for proofs: see `objective.Passes` --------------------------------------------------------

    def reach(self, inputs: Rows) -> float:
        """Bound of |Psi(x, k) - Psi(x, k')|."""
        return float(np.sqrt(2.0 * (largest_square(inputs.matrix) + self.intercept)))

    def n_parts(self, inputs: Rows) -> Floats:
        """Parts that a labelling has, by example: one."""
        return np.ones(len(inputs))

    n_nodes_of_bias = n_parts

    def independent(self, inputs: Rows, q: Floats) -> tuple[Floats, Floats]:
        """Marginals of the nodes, and of all parts, where every row has the distribution q."""
        nodes = np.tile(q / q.sum(), (len(inputs), 1))
        return nodes, nodes


@dataclass(frozen=True)
class Labels:
    """One of K labels for every row of features.

    With it a CRF is softmax regression, the structured SVM that of Crammer & Singer, and the
    structured perceptron the one for many classes.

    Parameters
    ----------
    intercept : bool
        Whether labels have intercepts: free in a likelihood, penalized like other weights in a
        margin.

    Examples
    --------
    >>> from separatrix import CRF
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), ["a", "a", "b", "b"]
    >>> crf = CRF(Labels(), C=10.0).fit(X, y)
    >>> crf.predict(X).tolist(), crf.predict_proba(X).shape
    (['a', 'a', 'b', 'b'], (4, 2))
    """

    intercept: bool = True

    def read(self, X: Any, features: FlatFeatures | None = None) -> Rows:
        """The rows of X, checked; with fitted features, of their number."""
        rows = X if isinstance(X, Rows) else Rows(feature_matrix(X))
        if features is not None and rows.matrix.shape[1] != features.n_features:
            raise DataError(
                f"X has {rows.matrix.shape[1]} features, but the model was fitted with "
                f"{features.n_features}"
            )
        return rows

    def codes(self, y: Any, inputs: Rows, classes: npt.NDArray[Any] | None = None) -> CodedLabels:
        """Labels as numbers."""
        if y is None:
            raise DataError("This estimator requires y to be passed, but the target y is None.")
        labels = np.asarray(y)
        if labels.shape != (len(inputs),):
            raise DataError(
                "Found input variables with inconsistent numbers of samples: X has "
                f"{len(inputs)} rows, y has the shape {labels.shape}"
            )
        if labels.dtype.kind == "f" and not (labels == np.floor(labels)).all():
            raise DataError("Unknown label type: continuous. Labels must be discrete")
        if classes is None:
            try:
                classes = np.unique(labels)
            except TypeError:
                kinds = sorted({type(label).__name__ for label in labels.tolist()})
                raise DataError(
                    f"labels of different types cannot be sorted: {kinds}; use one type"
                ) from None
        index = {label: number for number, label in enumerate(classes.tolist())}
        codes = np.array([index.get(label, -1) for label in labels.tolist()], dtype=np.int64)
        if (codes < 0).any():
            row = int(np.argmax(codes < 0))
            raise DataError(
                f"label {labels.tolist()[row]!r} of row {row} is not among the known labels "
                f"{classes.tolist()}"
            )
        return CodedLabels(classes, codes, inputs.offsets)

    def layout(self, inputs: Rows, labels: CodedLabels) -> FlatFeatures:
        """The features of labelled rows."""
        return FlatFeatures(len(labels.classes), inputs.matrix.shape[1], self.intercept)

    def labels(self, codes: Integers, inputs: Rows, classes: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Labels as users have them, shape (n,)."""
        return classes[codes]

    def marginals(self, nodes: Floats, inputs: Rows) -> Floats:
        """Probabilities of the labels, shape (n, K)."""
        return nodes


def feature_matrix(X: Any) -> Any:
    """Rows of finite features, a dense or CSR matrix of float64."""
    check_sparse(X)
    if is_sparse(X):
        matrix: Any = sp.csr_matrix(X, dtype=np.float64)
        values = matrix.data
    else:
        matrix = np.ascontiguousarray(X, dtype=np.float64)
        values = matrix
    if matrix.ndim != 2:
        raise DataError(f"Expected 2D array, got shape {matrix.shape} instead")
    if matrix.shape[0] == 0:
        raise DataError(f"Found array with 0 sample(s) (shape={matrix.shape})")
    if not np.isfinite(values).all():
        dense = matrix.toarray() if is_sparse(matrix) else matrix
        row, column = (int(i[0]) for i in np.nonzero(~np.isfinite(dense)))
        raise DataError(f"Input X contains NaN or infinity at row {row}, column {column}")
    return matrix
