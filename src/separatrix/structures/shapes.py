"""The structures that a learner can be given by name: forests, graphs, images, sets of labels.

A structure reads data, observes which features there are, and gives labels back in the form in
which they came.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from separatrix.data import FeatureGraphs, Graphs
from separatrix.data.graph_input import as_feature_graphs, as_image_graphs
from separatrix.errors import DataError, ParameterError
from separatrix.structures.graph import PAIRS, PairwiseGraph
from separatrix.structures.label_graph import LabelGraph, LabelRows, chow_liu
from separatrix.structures.node_labels import encode_nodes, encode_sets
from separatrix.structures.operations import METHODS, method_for
from separatrix.validation import check_choice

__all__ = ["Forest", "Graph", "Grid", "LabelSet", "Observed", "structure_named"]

Integers = npt.NDArray[np.int64]
AnyArray = npt.NDArray[Any]


class Observed(NamedTuple):
    """Training data as a structure sees them.

    Attributes
    ----------
    features : PairwiseGraph or LabelGraph
        Which weights there are, and inference with them.
    X : FeatureGraphs or LabelRows
        The graphs.
    classes : array
        The labels, sorted; of label sets the numbers of the columns.
    codes : int64 array of shape (n_nodes,)
        Labels of the nodes as numbers.
    """

    features: Any
    X: Any
    classes: AnyArray
    codes: Integers


class _OnNodes:
    """What structures share whose nodes bring their own features."""

    pairs: str
    inference: str
    bias: bool
    damping: float | None = None
    max_sweeps: int = 200

    def _check(self) -> None:
        check_choice("pairs", self.pairs, PAIRS)
        check_choice("inference", self.inference, ("auto", *METHODS))

    def read(self, X: Any) -> FeatureGraphs:
        """The graphs of X, checked."""
        return as_feature_graphs(X)

    def _n_kinds(self, graphs: Graphs) -> int:
        return max(1, int(graphs.kinds.max(initial=-1)) + 1)

    def _method(self, graphs: Graphs, n_labels: int) -> str:
        return method_for(graphs, n_labels, self.inference)

    def observe(self, X: Any, y: Any) -> Observed:
        """The features of labelled graphs."""
        self._check()
        X = self.read(X)
        classes, codes = encode_nodes(y, X.graphs)
        K = len(classes)
        features = PairwiseGraph(
            K,
            X.matrix.shape[1],
            self._n_kinds(X.graphs),
            0 if X.edge_matrix is None else X.edge_matrix.shape[1],
            self.pairs,
            self._method(X.graphs, K),
            self.bias,
            self.damping,
            self.max_sweeps,
        )
        return Observed(features, X, classes, codes)

    def encode(self, X: Any, features: PairwiseGraph) -> FeatureGraphs:
        """New graphs for fitted features."""
        X = self.read(X)
        features._check(X)
        return X

    def codes(self, y: Any, X: FeatureGraphs, classes: AnyArray) -> Integers:
        """Labels of the nodes of X as numbers."""
        return encode_nodes(y, X.graphs, classes)[1]

    def labels(self, codes: Integers, X: FeatureGraphs, classes: AnyArray) -> Any:
        """Labels as users have them: an array per graph."""
        return self.per_graph(classes[codes], X)

    def marginals(self, nodes: AnyArray, X: FeatureGraphs) -> Any:
        """Probabilities of the labels of nodes: an array of shape (n_nodes, K) per graph."""
        return self.per_graph(nodes, X)

    def per_graph(self, values: AnyArray, X: FeatureGraphs) -> list[AnyArray]:
        """Values of the nodes, an array per graph."""
        return np.split(values, X.graphs.node_offsets[1:-1])


@dataclass(frozen=True)
class Forest(_OnNodes):
    """Graphs without cycles; inference is exact.

    Parameters
    ----------
    pairs : {"full", "symmetric", "associative", "potts"}
        Weights of the labels that an edge joins: one per pair, from its first node to its second;
        one per pair in any order; one per label that both have; or one for any equal labels.
    bias : bool
        Whether labels have biases, which are not penalized by `CRF`.

    Examples
    --------
    >>> from separatrix import CRF
    >>> X = [(np.array([[1.0], [0.0], [0.0]]), [(0, 1), (1, 2)])]
    >>> CRF(Forest(), C=10.0).fit(X, [["a", "b", "a"]]).predict(X)[0].tolist()
    ['a', 'b', 'a']
    """

    pairs: str = "full"
    bias: bool = True

    #: Exact.
    inference = "forest"

    def read(self, X: Any) -> FeatureGraphs:
        """The graphs of X; DataError names an edge that closes a cycle."""
        X = as_feature_graphs(X)
        X.graphs.wiring.check_forest()
        return X


@dataclass(frozen=True)
class Graph(_OnNodes):
    """Any graphs, of nodes with features and perhaps edges with features.

    Parameters
    ----------
    pairs : {"full", "symmetric", "associative", "potts"}
        As for `Forest`.
    inference : {"auto", "forest", "junction", "loopy", "tree_reweighted"}
        "auto" is what fits the training data: exact where they have no cycles, or where junction
        trees are small, and belief propagation otherwise. "tree_reweighted" learns from an upper
        bound on the negative log-likelihood, and decodes with a bound on the best score.
    bias : bool
        Whether labels have biases, which are not penalized by `CRF`.
    damping : float or None
        Share of the old message that belief propagation keeps, at least 0 and below 1; helps where
        messages swing. None is 0, and 0.3 for "tree_reweighted".
    max_sweeps : int
        Sweeps of belief propagation over a graph at most.

    Examples
    --------
    >>> from separatrix import CRF
    >>> ring = [(0, 1), (1, 2), (2, 3), (3, 0)]
    >>> X = [(np.array([[1.0], [0.0], [0.0], [0.0]]), ring)]
    >>> crf = CRF(Graph(pairs="symmetric"), C=10.0).fit(X, [[0, 1, 0, 1]])
    >>> crf.predict(X)[0].tolist(), crf.graph_.method
    ([0, 1, 0, 1], 'junction')
    """

    pairs: str = "full"
    inference: str = "auto"
    bias: bool = True
    damping: float | None = None
    max_sweeps: int = 200

    def read(self, X: Any) -> FeatureGraphs:
        """The graphs of X, checked."""
        X = as_feature_graphs(X)
        if self.inference == "forest":
            X.graphs.wiring.check_forest()
        return X


@dataclass(frozen=True)
class Grid(_OnNodes):
    """Images: a node per pixel, joined with its neighbors; weights of pairs by direction.

    Parameters
    ----------
    shape : (height, width) or None
        What all images must have; None takes images of any shape.
    neighborhood : {4, 8}
        Neighbors of a pixel.
    pairs : {"full", "symmetric", "associative", "potts"}
        As for `Forest`.
    inference : {"auto", "junction", "loopy", "tree_reweighted"}
        As for `Graph`; "auto" takes belief propagation unless `shape` says that images are small.
    bias : bool
        Whether labels have biases, which are not penalized by `CRF`.
    damping, max_sweeps
        As for `Graph`.

    Examples
    --------
    >>> from separatrix import CRF
    >>> noise = np.random.default_rng(0).normal(size=(4, 12, 12))
    >>> truth = np.zeros((4, 12, 12), dtype=int)
    >>> truth[:, 3:9, 3:9] = 1
    >>> crf = CRF(Grid(), C=0.1).fit(truth + noise, truth)
    >>> crf.predict(truth + noise)[0].shape
    (12, 12)
    >>> bool(crf.score(truth + noise, truth) > ((noise + truth > 0.5) == truth).mean())
    True
    """

    shape: tuple[int, int] | None = None
    neighborhood: int = 4
    pairs: str = "potts"
    inference: str = "auto"
    bias: bool = True
    damping: float | None = None
    max_sweeps: int = 200

    def _check(self) -> None:
        super()._check()
        check_choice("neighborhood", self.neighborhood, (4, 8))

    def read(self, X: Any) -> FeatureGraphs:
        """The images of X, checked."""
        X = as_image_graphs(X, self.neighborhood)
        if self.shape is not None:
            for number, shape in enumerate(X.graphs.shapes or ()):
                if shape != tuple(self.shape):
                    raise DataError(
                        f"image {number} has shape {shape}; expected {tuple(self.shape)}"
                    )
        return X

    def _n_kinds(self, graphs: Graphs) -> int:
        return self.neighborhood // 2

    def _method(self, graphs: Graphs, n_labels: int) -> str:
        if self.inference == "auto" and self.shape is None:
            return "loopy"
        return super()._method(graphs, n_labels)

    def per_graph(self, values: AnyArray, X: FeatureGraphs) -> list[AnyArray]:
        """Values of the pixels, an array of shape (height, width, …) per image."""
        assert X.graphs.shapes is not None
        parts = super().per_graph(values, X)
        return [
            part.reshape(*shape, *part.shape[1:])
            for part, shape in zip(parts, X.graphs.shapes, strict=True)
        ]


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
    >>> crf.predict_marginals(X).shape
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

    def observe(self, X: Any, y: Any) -> Observed:
        """The features of rows with sets of labels."""
        check_choice("inference", self.inference, ("auto", *METHODS))
        matrix = _matrix(X)
        Y = encode_sets(y, matrix.shape[0])
        edges = self._edges(Y)
        rows = LabelRows.of(matrix, Y.shape[1], edges)
        one = Graphs.of([Y.shape[1]], [edges])
        method = method_for(one, 2, self.inference)
        features = LabelGraph(
            Y.shape[1], matrix.shape[1], edges, method, self.damping, self.max_sweeps
        )
        return Observed(features, rows, np.arange(Y.shape[1]), Y.ravel())

    def encode(self, X: Any, features: LabelGraph) -> LabelRows:
        """New rows for fitted features."""
        rows = features.rows(_matrix(X))
        features._check(rows)
        return rows

    def codes(self, y: Any, X: LabelRows, classes: AnyArray) -> Integers:
        """Which labels are present, one number per row and label."""
        return encode_sets(y, len(X), len(classes)).ravel()

    def labels(self, codes: Integers, X: LabelRows, classes: AnyArray) -> Any:
        """A matrix of 0 and 1, shape (n, L)."""
        return codes.reshape(len(X), len(classes))

    def marginals(self, nodes: AnyArray, X: LabelRows) -> Any:
        """Probabilities that labels are present, shape (n, L)."""
        return np.ascontiguousarray(nodes[:, 1]).reshape(len(X), -1)


def _matrix(X: Any) -> Any:
    """Rows of finite features, dense or CSR."""
    if sp.issparse(X):
        matrix = sp.csr_matrix(X, dtype=np.float64)
        values = matrix.data
    else:
        matrix = np.ascontiguousarray(X, dtype=np.float64)
        values = matrix
    if matrix.ndim != 2:
        raise DataError(f"Expected 2D array, got shape {matrix.shape} instead")
    if matrix.shape[0] == 0:
        raise DataError(f"Found array with 0 sample(s) (shape={matrix.shape})")
    if not np.isfinite(values).all():
        row, column = (int(i[0]) for i in np.nonzero(~np.isfinite(_dense(matrix))))
        raise DataError(f"Input X contains NaN or infinity at row {row}, column {column}")
    return matrix


def _dense(matrix: Any) -> Any:
    return matrix.toarray() if sp.issparse(matrix) else matrix


_NAMED = {"forest": Forest, "graph": Graph, "grid": Grid, "label_set": LabelSet}


def structure_named(structure: Any) -> Any:
    """A structure from its name or itself; None for chains.

    Examples
    --------
    >>> structure_named("grid").neighborhood
    4
    """
    if isinstance(structure, str):
        if structure == "chain":
            return None
        if structure in _NAMED:
            return _NAMED[structure]()
    if isinstance(structure, Forest | Graph | Grid | LabelSet):
        return structure
    raise ParameterError(
        f"structure must be 'chain', {', '.join(map(repr, _NAMED))}, or a Forest, Graph, Grid or "
        f"LabelSet, got {structure!r}"
    )
