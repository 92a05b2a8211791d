"""What the learners do on graphs with the weights they have learned: score, predict, explain."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from separatrix.errors import DataError, ParameterError
from separatrix.inference.graphs import GraphScores
from separatrix.structured.labels import Tags, sequence_weights
from separatrix.structures import LabelGraph, LabelSet, PairwiseGraph, structure_named
from separatrix.structures.factor_graph import FactorGraph
from separatrix.validation import number_of_threads, seed_from

__all__ = ["GraphLearner"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


class GraphLearner(BaseEstimator):  # type: ignore[misc]
    """A learner with the structure `Forest`, `Graph`, `Grid` or `LabelSet`.

    Attributes
    ----------
    graph_ : PairwiseGraph or LabelGraph
        The features of the model: which weights there are, and inference with them.
    """

    __sx_state__: ClassVar[tuple[str, ...]] = ("_features",)

    structure: Any
    n_jobs: int | None
    classes_: npt.NDArray[Any]
    coef_: Floats

    @property
    def _on_graphs(self) -> bool:
        """Whether the fitted model has another structure than a chain."""
        check_is_fitted(self, "coef_")
        return vars(self).get("_features") is not None

    @property
    def graph_(self) -> Any:
        """The features of the model: which weights there are, and inference with them."""
        if not self._on_graphs:
            raise AttributeError("a model of chains has no graph_; see chain_")
        return self._features

    @property
    def pair_weights_(self) -> Floats:
        """Weights of pairs of labels by kind of edge, shape (n_kinds, K, K).

        For label sets those of two labels that are both present, shape (n_edges,).
        """
        graph = self.graph_
        weights: Floats = self.coef_[graph.sections["pairs"]]
        if isinstance(graph, LabelGraph):
            return weights
        tables: Floats = graph.tables(weights.reshape(graph.n_kinds, graph.n_pairs))
        return tables

    def _check_graph_state(self) -> None:
        """Raise DataError unless the arrays of a loaded model agree with each other."""
        graph = self._features
        wanted = LabelGraph if isinstance(structure_named(self.structure), LabelSet) else None
        if not isinstance(graph, wanted or (PairwiseGraph, FactorGraph)):
            raise DataError("the features of the graph do not fit its structure")
        n_classes = graph.n_nodes if isinstance(graph, LabelGraph) else graph.n_labels
        good = self.coef_.shape == (graph.n_weights,) and self.classes_.shape == (n_classes,)
        if good and isinstance(graph, LabelGraph):
            edges = np.asarray(graph.edges)
            good = edges.ndim == 2 and edges.shape[1:] == (2,)
            good = good and bool(((edges >= 0) & (edges < n_classes)).all())
        if not good:
            raise DataError("the weights do not fit the features of the graph")

    def _graph_scores(self, X: Any) -> tuple[Any, GraphScores]:
        """X as the structure reads it, and its scores."""
        encoded = structure_named(self.structure).encode(X, self.graph_)
        return encoded, self.graph_.scores(self.coef_, encoded, number_of_threads(self.n_jobs))

    def _inference(self, X: Any) -> Any:
        """The features with the inference that fits graphs as the structure reads them."""
        return structure_named(self.structure).features_for(self.graph_, X)

    def _graph_labels(self, codes: Integers, X: Any) -> Any:
        return structure_named(self.structure).labels(codes, X, self.classes_)

    def _graph_codes(self, y: Any, X: Any) -> Integers:
        codes: Integers = structure_named(self.structure).codes(y, X, self.classes_)
        return codes

    def _graph_predict(self, X: Any) -> Any:
        X, scores = self._graph_scores(X)
        best = self._inference(X).best(scores, number_of_threads(self.n_jobs))
        return self._graph_labels(best.labels, X)

    def _graph_values(self, scores: GraphScores, codes: Integers) -> Floats:
        values: Floats = self.graph_.values(scores, codes)
        return values

    def _graph_decision(self, X: Any, y: Any) -> Floats:
        X, scores = self._graph_scores(X)
        return self._graph_values(scores, self._graph_codes(y, X))

    def _graph_score(self, X: Any, y: Any, sample_weight: Any) -> float:
        """Share of the nodes that are labeled right, graphs weighted by `sample_weight`."""
        X, scores = self._graph_scores(X)
        best = self._inference(X).best(scores, number_of_threads(self.n_jobs))
        right = best.labels == self._graph_codes(y, X)
        if sample_weight is None:
            return float(right.mean())
        offsets = X.graphs.node_offsets
        known = Tags(self.classes_, np.zeros(len(right), dtype=np.int64), None)
        weights = sequence_weights(offsets, known, sample_weight)
        assert weights is not None
        return float(np.average(right, weights=np.repeat(weights, np.diff(offsets))))

    def _graph_sums(self, X: Any, edges: bool = False) -> tuple[Any, GraphScores, Any]:
        """X, its scores, and log Z with marginals."""
        X, scores = self._graph_scores(X)
        n_threads = number_of_threads(self.n_jobs)
        # Four digits of a marginal are enough for images, and cost a tenth of five.
        tol = 1e-5 if X.graphs.shapes is None else 1e-4
        features = self._inference(X)
        found = features.log_sum_exp(scores, edges=edges, tol=tol, n_threads=n_threads)
        return X, scores, found

    def _graph_marginals(self, X: Any) -> Any:
        X, _, found = self._graph_sums(X)
        return structure_named(self.structure).marginals(found.nodes, X)

    def _graph_edge_marginals(self, X: Any) -> list[Floats]:
        X, _, found = self._graph_sums(X, edges=True)
        return np.split(found.edges, X.graphs.edge_offsets[1:-1])

    def _graph_log_proba(self, X: Any, y: Any) -> Floats:
        X, scores, found = self._graph_sums(X)
        log_partition: Floats = found[0]
        return self._graph_values(scores, self._graph_codes(y, X)) - log_partition

    def _graph_minimum_risk(self, X: Any, cost: Floats | None) -> Any:
        X, _, found = self._graph_sums(X)
        # Without costs every mistake costs one.
        risk = -found.nodes if cost is None else found.nodes @ cost
        codes = risk.argmin(axis=1)
        return self._graph_labels(codes.astype(np.int64), X)

    def _graph_sample(self, X: Any, n: int, random_state: Any) -> Any:
        X, scores = self._graph_scores(X)
        seed = seed_from(random_state)
        draws = self._inference(X).sample(scores, n, seed, number_of_threads(self.n_jobs))
        labels = [self._graph_labels(draw, X) for draw in draws]
        return np.stack(labels) if isinstance(self.graph_, LabelGraph) and labels else labels

    def _only_chains(self, what: str) -> None:
        """Raise ParameterError where a model of graphs is asked for something that it lacks."""
        if self._on_graphs:
            raise ParameterError(f"{what} need structure='chain'; this model has {self.structure}")

    @staticmethod
    def _no_constraints(constraints: Any) -> None:
        if constraints is not None:
            raise ParameterError("constraints need structure='chain'")
