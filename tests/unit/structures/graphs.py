"""Random graphs, and the truth about them by enumeration."""

from itertools import product

import numpy as np

from separatrix.data import Graphs
from separatrix.structures.graph.scores import GraphScores, labelling_scores


def random_scores(n_nodes, edges, K, *, own=False, scale=1.0, seed=0):
    """Scores of one graph of two kinds of edges."""
    random = np.random.default_rng(seed)
    graphs = Graphs.of([n_nodes], [edges], [random.integers(2, size=len(edges))])
    return GraphScores.of(
        graphs,
        scale * random.normal(size=(n_nodes, K)),
        scale * random.normal(size=(2, K, K)),
        scale * random.normal(size=(len(edges), K, K)) if own else None,
    )


def random_tree(n_nodes, seed):
    random = np.random.default_rng(seed)
    return [(i, int(random.integers(i))) for i in range(1, n_nodes)]


def random_edges(n_nodes, n_edges, seed):
    random = np.random.default_rng(seed)
    return [random.choice(n_nodes, size=2, replace=False).tolist() for _ in range(n_edges)]


def joined(*parts):
    """Scores of several graphs as one batch; tables are those of the first."""
    graphs = Graphs.of(
        [part.graphs.n_nodes for part in parts],
        [part.graphs.edges for part in parts],
        [part.graphs.kinds for part in parts],
    )
    own = None if parts[0].own is None else np.concatenate([part.own for part in parts])
    unary = np.concatenate([part.unary for part in parts])
    return GraphScores.of(graphs, unary, parts[0].tables, own)


class Truth:
    """log Z, marginals and the best labelling of one graph."""

    def __init__(self, scores):
        n, K = scores.unary.shape
        self.labellings = np.array(list(product(range(K), repeat=n)))
        self.scores = np.array([labelling_scores(scores, y)[0] for y in self.labellings])
        most = self.scores.max()
        self.log_z = most + np.log(np.exp(self.scores - most).sum())
        self.p = np.exp(self.scores - self.log_z)
        one_hot = np.eye(K)[self.labellings]
        self.nodes = np.einsum("s,snk->nk", self.p, one_hot)
        first, second = scores.graphs.edges.T
        self.edges = np.einsum("s,sek,sel->ekl", self.p, one_hot[:, first], one_hot[:, second])
        self.best = most
