"""Sets of labels as graphs: a node per label, present or absent, and pairs that occur together."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.sparse.csgraph import minimum_spanning_tree

from separatrix.data import Graphs
from separatrix.errors import DataError, ParameterError
from separatrix.structures.coded_labels import CodedLabels
from separatrix.structures.graph.node_labels import encode_sets
from separatrix.structures.graph.operations import METHODS, GraphOperations, method_for, weighted
from separatrix.structures.graph.pairwise import joined_rows
from separatrix.structures.graph.scores import GraphScores
from separatrix.structures.inference import Best
from separatrix.structures.label_set.complete import best_sets, set_marginals
from separatrix.structures.labels import feature_matrix
from separatrix.structures.sections import sections_of
from separatrix.validation import check_choice, is_sparse

__all__ = ["LabelGraph", "LabelRows", "LabelSet", "chow_liu", "mutual_information"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
AnyArray = npt.NDArray[Any]


#: Products of features and labels above which only those that are not zero are made.
_DENSE = 1 << 24


@dataclass(frozen=True, eq=False)
class LabelRows:
    """Rows of features, each with a graph over the same labels.

    Attributes
    ----------
    matrix : array or CSR matrix of shape (n, d)
        Features.
    graphs : Graphs
        One graph per row.
    """

    matrix: Any
    graphs: Graphs

    @classmethod
    def of(cls, matrix: Any, n_nodes: int, edges: Integers) -> LabelRows:
        """The rows of a matrix with the same edges each; the edge number is its kind."""
        n, m = matrix.shape[0], len(edges)
        shifts = np.repeat(np.arange(n, dtype=np.int64) * n_nodes, m)[:, None]
        graphs = Graphs(
            np.arange(n + 1, dtype=np.int64) * n_nodes,
            np.arange(n + 1, dtype=np.int64) * m,
            np.tile(edges.reshape(-1, 2), (n, 1)) + shifts,
            np.tile(np.arange(m, dtype=np.int64), n),
        )
        return cls(matrix, graphs)

    def __len__(self) -> int:
        return self.graphs.n_graphs

    @property
    def offsets(self) -> Integers:
        """Where the nodes of each row begin, and where those of the last end."""
        return self.graphs.node_offsets

    def take(self, rows: npt.ArrayLike) -> LabelRows:
        """The rows named by their numbers."""
        return LabelRows(self.matrix[np.asarray(rows)], self.graphs.take(rows))


@dataclass(frozen=True, eq=False)
class LabelGraph(GraphOperations):
    """Features Psi(x, y) of a set y of L labels; h(x, y) = <w, Psi(x, y)>.

    A label that is present scores <w_l, x> + b_l, one that is absent nothing, and two labels that
    an edge joins score w_e where both are present; with the biases free, that is every function of
    a pair. The weights are one vector: those of the edges, of (feature, label), and the biases.

    Attributes
    ----------
    n_nodes : int
        L.
    n_features : int
        d.
    edges : int64 array of shape (n_edges, 2)
        Pairs of labels.
    method : {"forest", "junction", "loopy", "tree_reweighted"}
        This and the rest: see `GraphOperations`.

    Examples
    --------
    >>> graph = LabelGraph(2, 1, np.array([[0, 1]]), "forest")
    >>> w = np.array([-3.0, 2.0, 1.0, 0.0, 0.0])  # not both; feature by label; biases
    >>> graph.best(graph.scores(w, graph.rows(np.array([[1.0], [-1.0]])))).labels.tolist()
    [1, 0, 0, 0]
    """

    n_nodes: int
    n_features: int
    edges: Integers
    method: str = "forest"
    damping: float | None = None
    max_sweeps: int = 200

    #: Labels of a node: absent and present.
    n_labels: ClassVar[int] = 2
    bias: ClassVar[bool] = True

    def __post_init__(self) -> None:
        self._check_method()

    def rows(self, matrix: Any) -> LabelRows:
        """Rows of features as the operations take them."""
        return LabelRows.of(matrix, self.n_nodes, self.edges)

    @property
    def sections(self) -> dict[str, slice]:
        """Where the weights of every kind stand; biases, which learners leave free, come last."""
        return sections_of(
            {
                "pairs": len(self.edges),
                "state": self.n_features * self.n_nodes,
                "bias": self.n_nodes,
            }
        )

    @property
    def n_weights(self) -> int:
        """Number of weights."""
        return int(self.sections["bias"].stop)

    @property
    def n_classes(self) -> int:
        """Number of labels of a set."""
        return self.n_nodes

    def pair_weights(self, w: Floats) -> Floats:
        """Weights of two labels that are both present, shape (n_edges,)."""
        return w[self.sections["pairs"]]

    def __sx_check__(self) -> None:
        """Raise DataError unless the arrays of a loaded model agree with each other."""
        edges = np.asarray(self.edges)
        good = edges.ndim == 2 and edges.shape[1:] == (2,)
        if not (good and bool(((edges >= 0) & (edges < self.n_nodes)).all())):
            raise DataError("the edges of the labels are not pairs of labels")

    def _check(self, X: LabelRows) -> None:
        if X.matrix.shape[1] != self.n_features:
            raise DataError(
                f"X has {X.matrix.shape[1]} features, but the model was fitted with "
                f"{self.n_features}"
            )

    def scores(self, w: Floats, X: LabelRows, n_threads: int = 1) -> GraphScores:
        """Scores of all nodes and edges; `n_threads` is there for the sake of other structures."""
        self._check(X)
        parts = {name: w[place] for name, place in self.sections.items()}
        state = parts["state"].reshape(self.n_features, self.n_nodes)
        unary = np.zeros((len(X) * self.n_nodes, 2))
        unary[:, 1] = np.asarray(X.matrix @ state + parts["bias"]).ravel()
        tables = np.zeros((len(self.edges), 2, 2))
        tables[:, 1, 1] = parts["pairs"]
        return GraphScores(X.graphs, unary, tables)

    def adjoint(
        self, X: LabelRows, parts: tuple[Floats, Floats], weights: Floats | None = None
    ) -> Floats:
        """Psi' of numbers per node and label, and per edge and pair of labels; times weights."""
        self._check(X)
        graphs = X.graphs
        nodes, edges = weighted(parts, weights, graphs.node_offsets, graphs.edge_offsets)
        present = np.ascontiguousarray(nodes[:, 1]).reshape(len(X), self.n_nodes)
        both = edges[:, 1, 1].reshape(len(X), len(self.edges))
        sums = [both.sum(axis=0), X.matrix.T @ present, present.sum(axis=0)]
        return np.concatenate([np.asarray(part).ravel() for part in sums])

    def features(self, X: LabelRows, labels: Integers) -> Floats:
        """The sum over the rows of Psi(x, y)."""
        return self.adjoint(X, self.parts(X, labels))

    def parts(self, X: LabelRows, labels: Integers) -> tuple[Floats, Floats]:
        """One at the label of every node and at the pair of every edge, as marginals have them."""
        first, second = X.graphs.edges.T
        nodes, pairs = np.zeros((len(labels), 2)), np.zeros((len(first), 2, 2))
        nodes[np.arange(len(labels)), labels] = 1.0
        pairs[np.arange(len(first)), labels[first], labels[second]] = 1.0
        return nodes, pairs

    def n_nodes_of_bias(self, inputs: LabelRows) -> Integers:
        """Every bias belongs to one node of a row."""
        return np.ones(len(inputs), dtype=np.int64)

    def independent(self, inputs: LabelRows, q: Floats) -> tuple[Floats, tuple[Floats, ...]]:
        """As for graphs; `q` are the probabilities that labels are present."""
        return self._joined(inputs, np.tile(np.stack([1 - q, q], axis=1), (len(inputs), 1)))

    @property
    def _is_complete(self) -> bool:
        """Whether all labels are joined, so that a junction tree would be one table."""
        complete = 2 * len(self.edges) == self.n_nodes * (self.n_nodes - 1)
        return self.method == "junction" and complete

    def best(self, scores: GraphScores, n_threads: int = 1, messages: Floats | None = None) -> Best:
        """max over y of the score; complete graphs by enumeration."""
        if not self._is_complete:
            return super().best(scores, n_threads, messages)
        odds, absent = self._odds(scores)
        labels, values = best_sets(odds, self.edges, scores.tables[:, 1, 1])
        values += absent
        return Best(labels.ravel(), values, None, values)

    def log_sum_exp(self, scores: GraphScores, *, edges: bool = False, **options: Any) -> Any:
        """log sum over y of exp(score) and the marginals; complete graphs by enumeration."""
        if self._is_complete:
            odds, absent = self._odds(scores)
            found = set_marginals(odds, self.edges, scores.tables[:, 1, 1], joint=edges)
            return found._replace(log_partition=found.log_partition + absent)
        return super().log_sum_exp(scores, edges=edges, **options)

    def _odds(self, scores: GraphScores) -> tuple[Floats, Floats]:
        """What a label scores more when it is present, shape (n, L), and what no label scores."""
        absent, present = scores.unary.T.reshape(2, -1, self.n_nodes)
        return present - absent, absent.sum(axis=1)

    def differences(self, X: LabelRows, labels: Integers, others: Integers) -> sp.csr_matrix:
        """Psi(x, y) - Psi(x, y') of every row as rows of a CSR matrix."""
        n, L = len(X), self.n_nodes
        first, second = X.graphs.edges.T
        both = labels[first] * labels[second] - others[first] * others[second]
        pairs = both.reshape(n, len(self.edges)).astype(np.float64)
        signs = (labels - others).reshape(n, L).astype(np.float64)
        if is_sparse(X.matrix) or n * self.n_features * L > _DENSE:
            state = _row_products(sp.csr_matrix(X.matrix), sp.csr_matrix(signs))
        else:
            state = (X.matrix[:, :, None] * signs[:, None, :]).reshape(n, -1)
        return joined_rows([pairs, state, signs])


def _row_products(left: sp.csr_matrix, right: sp.csr_matrix) -> sp.csr_matrix:
    """For every row the products of all entries of two matrices, those of the left slower."""
    n, width = left.shape[0], right.shape[1]
    a, b = np.diff(left.indptr), np.diff(right.indptr)
    counts = a.astype(np.int64) * b
    starts = np.append(0, np.cumsum(counts))
    row = np.repeat(np.arange(n), counts)
    place = np.arange(starts[-1]) - starts[row]
    i, j = np.divmod(place, np.maximum(b, 1)[row])
    i, j = left.indptr[row] + i, right.indptr[row] + j
    columns = left.indices[i].astype(np.int64) * width + right.indices[j]
    data = left.data[i] * right.data[j]
    return sp.csr_matrix((data, columns, starts), shape=(n, left.shape[1] * width))


def mutual_information(Y: Any) -> Floats:
    """Mutual information of all pairs of columns of a binary matrix, in nats, shape (L, L).

    Examples
    --------
    >>> Y = np.array([[1, 1, 0], [0, 0, 0], [1, 1, 1], [0, 0, 1]])
    >>> mutual_information(Y).round(3)[0].tolist()
    [0.693, 0.693, 0.0]
    """
    present: Any = Y.astype(np.float64)
    n = max(present.shape[0], 1)
    both = present.T @ present
    both = (both.toarray() if is_sparse(both) else np.asarray(both)) / n
    p = np.diag(both)
    joint = np.stack([both, p[:, None] - both, p - both, 1 - p[:, None] - p + both])
    q = 1 - p
    apart = np.stack([np.outer(p, p), np.outer(p, q), np.outer(q, p), np.outer(q, q)])
    joint = np.maximum(joint, 0.0)
    # A label of all rows or of none tells nothing: what `joint` holds of it is rounding.
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where((joint > 0) & (apart > 0), joint * np.log(joint / apart), 0.0)
    information: Floats = np.maximum(terms.sum(axis=0), 0.0)
    return information


def chow_liu(Y: Any) -> Integers:
    """The edges of the tree of greatest mutual information over the columns of a binary matrix.

    Among all trees it has the distribution that is closest to that of the rows. Chow & Liu (1968).

    Parameters
    ----------
    Y : array or sparse matrix of shape (n, L)

    Returns
    -------
    int64 array of shape (L - 1, 2)

    Examples
    --------
    >>> chow_liu(np.array([[1, 1, 0], [0, 0, 0], [1, 1, 1], [0, 0, 1], [1, 0, 1]])).tolist()
    [[0, 1], [0, 2]]
    """
    information = mutual_information(Y)
    # Distances above zero, since zero stands for no edge.
    distance = np.triu(1.0 + information.max(initial=0.0) - information, 1)
    found = sp.coo_matrix(minimum_spanning_tree(sp.csr_matrix(distance)))
    edges = np.stack([found.row, found.col], axis=1).astype(np.int64)
    return edges[np.lexsort((edges[:, 1], edges[:, 0]))]


@dataclass(frozen=True)
class LabelSet:
    """Sets of labels: rows of features, any number of labels each, that tend to occur together.

    Parameters
    ----------
    edges : {"tree", "full"} or sequence of pairs
        Labels whose co-occurrence has a weight: the tree of greatest mutual information (Chow &
        Liu 1968), all pairs, or given pairs of columns; none makes labels independent.
    inference : {"auto", "forest", "junction", "loopy", "tree_reweighted"}
        As for `Graph`.
    damping, max_sweeps
        As for `Graph`.

    Examples
    --------
    >>> from separatrix import CRF
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> Y = np.array([[0, 0], [0, 0], [1, 1], [1, 1]])
    >>> crf = CRF(LabelSet(), C=10.0).fit(X, Y)
    >>> crf.predict(X).tolist()
    [[0, 0], [0, 0], [1, 1], [1, 1]]
    >>> crf.predict_proba(X).shape
    (4, 2)
    """

    edges: Any = "tree"
    inference: str = "auto"
    damping: float | None = None
    max_sweeps: int = 200

    def _edges(self, Y: Integers) -> Integers:
        L = Y.shape[1]
        if isinstance(self.edges, str):
            check_choice("edges", self.edges, ("tree", "full"))
            if self.edges == "tree":
                return chow_liu(Y)
            return np.array(list(combinations(range(L), 2)), dtype=np.int64).reshape(-1, 2)
        edges = np.asarray(self.edges)
        if edges.size == 0:
            return np.zeros((0, 2), dtype=np.int64)
        if edges.ndim != 2 or edges.shape[1] != 2 or edges.dtype.kind not in "iu":
            raise ParameterError("edges must be 'tree', 'full' or pairs of numbers of labels")
        for a, b in edges.tolist():
            if not (0 <= a < L and 0 <= b < L) or a == b:
                raise ParameterError(
                    f"edges name the labels {a} and {b}; expected two of 0..{L - 1}"
                )
        if len({(min(a, b), max(a, b)) for a, b in edges.tolist()}) < len(edges):
            raise ParameterError("edges name a pair of labels twice")
        return edges.astype(np.int64)

    def check(self) -> None:
        """Raise ParameterError where a parameter is not one of its values."""
        check_choice("inference", self.inference, ("auto", *METHODS))

    def read(self, X: Any, features: LabelGraph | None = None) -> LabelRows:
        """The rows of X, checked; with fitted features, with a graph over the labels each."""
        if features is None:
            return LabelRows.of(feature_matrix(X), 0, np.zeros((0, 2), dtype=np.int64))
        rows = features.rows(X.matrix if isinstance(X, LabelRows) else feature_matrix(X))
        features._check(rows)
        return rows

    def codes(self, y: Any, inputs: LabelRows, classes: AnyArray | None = None) -> CodedLabels:
        """Which labels are present, one number per row and label; columns are labels."""
        Y = encode_sets(y, len(inputs), None if classes is None else len(classes))
        n, L = Y.shape
        offsets = np.arange(n + 1, dtype=np.int64) * L
        return CodedLabels(np.arange(L), Y.ravel(), offsets, node_classes=np.arange(2))

    def layout(self, inputs: LabelRows, labels: CodedLabels) -> LabelGraph:
        """The features of rows with sets of labels."""
        L, d = len(labels.classes), inputs.matrix.shape[1]
        edges = self._edges(labels.codes.reshape(-1, L))
        method = method_for(Graphs.of([L], [edges]), 2, self.inference)
        return LabelGraph(L, d, edges, method, self.damping, self.max_sweeps)

    def labels(self, codes: Integers, X: LabelRows, classes: AnyArray) -> Any:
        """A matrix of 0 and 1, shape (n, L)."""
        return codes.reshape(len(X), len(classes))

    def marginals(self, nodes: AnyArray, X: LabelRows) -> Any:
        """Probabilities that labels are present, shape (n, L)."""
        return np.ascontiguousarray(nodes[:, 1]).reshape(len(X), -1)
