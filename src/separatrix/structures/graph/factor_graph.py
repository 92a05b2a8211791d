"""Graphs whose factors join more than two nodes: features, scores, the same operations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from separatrix.data import FeatureGraphs
from separatrix.errors import DataError, ParameterError
from separatrix.structures.graph.factor_scores import FactorScores, factor_codes
from separatrix.structures.graph.operations import GraphOperations, weighted
from separatrix.structures.graph.pairwise import PairwiseGraph, joined_rows, signed_counts
from separatrix.structures.inference import Best

__all__ = ["FactorGraph"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class FactorGraph(GraphOperations):
    """The features of a pairwise graph, and a weight per kind of factor and tuple of labels.

    Attributes
    ----------
    base : PairwiseGraph
        Features of nodes and edges.
    arity : int
        m, the nodes of a factor.
    n_factor_kinds : int
        Kinds of factors.
    method : {"forest", "junction", "loopy", "tree_reweighted"}
        On the graph with a node more per factor.

    Examples
    --------
    >>> X = FeatureGraphs.of([np.zeros((3, 1))], [[]], factors=[[(0, 1, 2)]])
    >>> graph = FactorGraph(PairwiseGraph(2, 1, 0, method="forest"), 3, 1, "forest")
    >>> w = np.zeros(graph.n_weights)
    >>> w[graph.sections["factors"]] = [0, 0, 0, 5, 0, 0, 0, 0]  # labels 0, 1, 1
    >>> graph.best(graph.scores(w, X)).labels.tolist()
    [0, 1, 1]
    """

    base: PairwiseGraph
    arity: int
    n_factor_kinds: int
    method: str = "loopy"
    damping: float | None = None
    max_sweeps: int = 200

    def __post_init__(self) -> None:
        self._check_method()

    @property
    def n_labels(self) -> int:
        """K."""
        return self.base.n_labels

    @property
    def n_classes(self) -> int:
        """Number of labels that a node may have."""
        return self.n_labels

    @property
    def bias(self) -> bool:
        """Whether labels have biases."""
        return self.base.bias

    @property
    def _n_tuples(self) -> int:
        return int(self.n_labels**self.arity)

    @property
    def sections(self) -> dict[str, slice]:
        """Where the weights of every kind stand: factors first, biases last."""
        size = self.n_factor_kinds * self._n_tuples
        moved = {
            name: slice(part.start + size, part.stop + size)
            for name, part in self.base.sections.items()
        }
        return {"factors": slice(0, size), **moved}

    @property
    def n_weights(self) -> int:
        """Number of weights."""
        return int(self.sections["bias"].stop)

    def pair_weights(self, w: Floats) -> Floats:
        """Weights of pairs of labels by kind of edge, shape (n_kinds, K, K)."""
        return self.base.pair_weights(w[self.sections["factors"].stop :])

    def _check(self, X: FeatureGraphs) -> None:
        self.base._check(X)
        if X.factors is None:
            raise DataError("the model was fitted with factors, X has none")
        found = X.factors.arity, X.factors.n_kinds
        if found[0] != self.arity or found[1] > self.n_factor_kinds:
            raise DataError(
                f"X has {found[1]} kinds of factors of {found[0]} nodes; expected at most "
                f"{self.n_factor_kinds} of {self.arity}"
            )

    def scores(self, w: Floats, X: FeatureGraphs, n_threads: int = 1) -> FactorScores:
        """Scores of all nodes, edges and factors."""
        self._check(X)
        assert X.factors is not None
        part = self.sections["factors"]
        tables = np.ascontiguousarray(w[part]).reshape(self.n_factor_kinds, self._n_tuples)
        pairwise = self.base.scores(w[part.stop :], X, n_threads)
        return FactorScores(pairwise, X.factors, tables, X.expansion)

    def adjoint(
        self,
        X: FeatureGraphs,
        parts: tuple[Floats, Floats, Floats],
        weights: Floats | None = None,
    ) -> Floats:
        """Psi' of numbers per node and label, edge and pair, factor and tuple; times weights."""
        assert X.factors is not None
        (factors,) = weighted(parts[2:], weights, X.factors.offsets)
        pick = _pick(X.factors.kinds, self.n_factor_kinds)
        return np.concatenate([(pick @ factors).ravel(), self.base.adjoint(X, parts[:2], weights)])

    def parts(self, X: FeatureGraphs, labels: Integers) -> tuple[Floats, Floats, Floats]:
        """One at the labels of nodes, edges and factors, as marginals have them."""
        assert X.factors is not None
        nodes, edges = self.base.parts(X, labels)
        factors = np.zeros((len(X.factors.nodes), self._n_tuples))
        codes = factor_codes(labels, X.factors, self.n_labels)
        factors[np.arange(len(codes)), codes] = 1.0
        return nodes, edges, factors

    def features(self, X: FeatureGraphs, labels: Integers) -> Floats:
        """The sum over the graphs of Psi(x, y)."""
        return self.adjoint(X, self.parts(X, labels))

    def differences(self, X: FeatureGraphs, labels: Integers, others: Integers) -> sp.csr_matrix:
        """Psi(x, y) - Psi(x, y') of every graph as rows of a CSR matrix."""
        factors = X.factors
        assert factors is not None
        rows = np.repeat(np.arange(len(X)), np.diff(factors.offsets))
        start = factors.kinds * self._n_tuples
        ends = [start + factor_codes(y, factors, self.n_labels) for y in (labels, others)]
        counts = signed_counts(rows, ends, (len(X), self.n_factor_kinds * self._n_tuples))
        rest = self.base.differences(X, labels, others)
        return joined_rows([counts, rest])

    def values(self, scores: Any, labels: Integers) -> Floats:
        """Score of a labelling of all nodes, shape (n_graphs,)."""
        values: Floats = scores.labelling_scores(labels)
        return values

    def best(self, scores: Any, n_threads: int = 1, messages: Floats | None = None) -> Best:
        """max over y of the score; on loopy graphs perhaps not the best."""
        found = super().best(scores.expanded(finite=not self.is_exact), n_threads, messages)
        labels = np.minimum(found.labels[scores.expansion.nodes], self.n_labels - 1)
        return found._replace(labels=labels, scores=self.values(scores, labels))

    def log_sum_exp(
        self,
        scores: Any,
        *,
        edges: bool = False,
        messages: Floats | None = None,
        tol: float = 1e-5,
        warn: bool = True,
        n_threads: int = 1,
    ) -> Any:
        """As of `GraphOperations`, with the marginals of the factors."""
        found = super().log_sum_exp(
            scores.expanded(finite=not self.is_exact),
            edges=edges,
            messages=messages,
            tol=tol,
            warn=warn,
            n_threads=n_threads,
        )
        at, K = scores.expansion, self.n_labels
        pairs = None if found.edges is None else np.ascontiguousarray(found.edges[at.edges, :K, :K])
        return found._replace(
            nodes=np.ascontiguousarray(found.nodes[at.nodes, :K]),
            edges=pairs,
            factors=found.nodes[at.factors],
        )

    def sample(self, scores: Any, n_draws: int, seed: int = 0, n_threads: int = 1) -> Integers:
        """Draws from p(y) proportional to exp(score), shape (n_draws, n_nodes); exact methods."""
        if not self.is_exact:
            # Nodes that stand for factors forbid almost every single change of a label.
            raise ParameterError(
                f"draws with factors need inference 'forest' or 'junction', not {self.method!r}"
            )
        draws = super().sample(scores.expanded(finite=False), n_draws, seed, n_threads)
        return draws[:, scores.expansion.nodes]


def _pick(kinds: Integers, n_kinds: int) -> sp.csr_matrix:
    """Sums by kind."""
    ones = np.ones(len(kinds))
    return sp.csr_matrix((ones, (kinds, np.arange(len(kinds)))), shape=(n_kinds, len(kinds)))
