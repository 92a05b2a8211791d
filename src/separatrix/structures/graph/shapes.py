"""The structures that a learner can be given by name: forests, graphs, images, sets of labels.

A structure reads data, observes which features there are, and gives labels back in the form in
which they came.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from separatrix.data import FeatureGraphs, Graphs
from separatrix.data.graphs.inputs import as_feature_graphs, as_image_graphs
from separatrix.errors import DataError
from separatrix.structures.coded_labels import CodedLabels
from separatrix.structures.graph.factor_graph import FactorGraph
from separatrix.structures.graph.node_labels import encode_nodes
from separatrix.structures.graph.operations import METHODS, method_for
from separatrix.structures.graph.pairwise import PAIRS, PairwiseGraph
from separatrix.validation import check_choice

__all__ = ["Forest", "Graph", "Grid"]

Integers = npt.NDArray[np.int64]
AnyArray = npt.NDArray[Any]


class _OnNodes:
    """What structures share whose nodes bring their own features."""

    pairs: str
    inference: str
    bias: bool
    damping: float | None = None
    max_sweeps: int = 200

    def check(self) -> None:
        """Raise ParameterError where a parameter is not one of its values."""
        check_choice("pairs", self.pairs, PAIRS)
        check_choice("inference", self.inference, ("auto", *METHODS))

    def read(self, X: Any, features: Any = None) -> FeatureGraphs:
        """The graphs of X, checked; with fitted features, of their number."""
        graphs = self._graphs(X)
        if features is not None:
            if graphs.factors is not None and not isinstance(features, FactorGraph):
                raise DataError("X has factors, but the model was fitted without")
            features._check(graphs)
        return graphs

    def _graphs(self, X: Any) -> FeatureGraphs:
        return as_feature_graphs(X)

    def _n_kinds(self, graphs: Graphs) -> int:
        return max(1, int(graphs.kinds.max(initial=-1)) + 1)

    def _method(self, graphs: Graphs, n_labels: int) -> str:
        return method_for(graphs, n_labels, self.inference)

    def codes(self, y: Any, inputs: FeatureGraphs, classes: AnyArray | None = None) -> CodedLabels:
        """Labels of the nodes as numbers."""
        return CodedLabels(*encode_nodes(y, inputs.graphs, classes), inputs.offsets)

    def layout(self, inputs: FeatureGraphs, labels: CodedLabels) -> Any:
        """The features of labelled graphs."""
        K = len(labels.classes)
        factors = inputs.factors
        graphs = _whole(inputs)
        n_states = K if factors is None else K**factors.arity
        settings = self._method(graphs, n_states), self.damping, self.max_sweeps
        pairwise = PairwiseGraph(
            K,
            inputs.matrix.shape[1],
            self._n_kinds(inputs.graphs),
            0 if inputs.edge_matrix is None else inputs.edge_matrix.shape[1],
            self.pairs,
            settings[0],
            self.bias,
            *settings[1:],
        )
        if factors is None:
            return pairwise
        return FactorGraph(pairwise, factors.arity, factors.n_kinds, *settings)

    def features_for(self, features: Any, X: FeatureGraphs) -> Any:
        """Fitted features with the inference that fits X: "auto" decides for every batch."""
        if self.inference != "auto":
            return features
        factors = X.factors
        n_states = features.n_labels if factors is None else features.n_labels**factors.arity
        method = self._method(_whole(X), n_states)
        return features if method == features.method else replace(features, method=method)

    def labels(self, codes: Integers, X: FeatureGraphs, classes: AnyArray) -> Any:
        """Labels as users have them: an array per graph."""
        return self.per_graph(classes[codes], X)

    def marginals(self, nodes: AnyArray, X: FeatureGraphs) -> Any:
        """Probabilities of the labels of nodes: an array of shape (n_nodes, K) per graph."""
        return self.per_graph(nodes, X)

    def edge_marginals(self, edges: AnyArray, X: FeatureGraphs) -> list[AnyArray]:
        """Probabilities of the labels of edges: an array of shape (n_edges, K, K) per graph."""
        return np.split(edges, X.graphs.edge_offsets[1:-1])

    def per_graph(self, values: AnyArray, X: FeatureGraphs) -> list[AnyArray]:
        """Values of the nodes, an array per graph."""
        return np.split(values, X.graphs.node_offsets[1:-1])


def _whole(X: FeatureGraphs) -> Graphs:
    """Nodes and edges, those of factors too."""
    return X.graphs if X.factors is None else X.expansion.graphs


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

    def _graphs(self, X: Any) -> FeatureGraphs:
        """The graphs of X; DataError names an edge that closes a cycle."""
        graphs = as_feature_graphs(X)
        _whole(graphs).wiring.check_forest()
        return graphs


@dataclass(frozen=True)
class Graph(_OnNodes):
    """Any graphs, of nodes with features and perhaps edges with features.

    Parameters
    ----------
    pairs : {"full", "symmetric", "associative", "potts"}
        As for `Forest`.
    inference : {"auto", "forest", "junction", "loopy", "tree_reweighted"}
        "auto" is what fits the graphs, in `fit` and again in every prediction: exact where they
        have no cycles, or where junction trees are small, and belief propagation otherwise.
        "tree_reweighted" learns from an upper bound on the negative log-likelihood, and decodes
        with a bound on the best score.
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
    >>> crf.predict(X)[0].tolist(), crf.features_.method
    ([0, 1, 0, 1], 'junction')
    """

    pairs: str = "full"
    inference: str = "auto"
    bias: bool = True
    damping: float | None = None
    max_sweeps: int = 200

    def _graphs(self, X: Any) -> FeatureGraphs:
        graphs = as_feature_graphs(X)
        if self.inference == "forest":
            _whole(graphs).wiring.check_forest()
        return graphs


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

    def check(self) -> None:
        """Raise ParameterError where a parameter is not one of its values."""
        super().check()
        check_choice("neighborhood", self.neighborhood, (4, 8))

    def _graphs(self, X: Any) -> FeatureGraphs:
        images = as_image_graphs(X, self.neighborhood)
        if self.shape is not None:
            for number, shape in enumerate(images.graphs.shapes or ()):
                if shape != tuple(self.shape):
                    raise DataError(
                        f"image {number} has shape {shape}; expected {tuple(self.shape)}"
                    )
        return images

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
