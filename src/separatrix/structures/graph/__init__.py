"""Graphs of labels: forests, any graphs and images; features, scores and inference."""

from separatrix.structures.graph.factor_graph import FactorGraph
from separatrix.structures.graph.pairwise import PairwiseGraph
from separatrix.structures.graph.scores import GraphMarginals, GraphScores, labelling_scores
from separatrix.structures.graph.shapes import Forest, Graph, Grid

__all__ = [
    "FactorGraph",
    "Forest",
    "Graph",
    "GraphMarginals",
    "GraphScores",
    "Grid",
    "PairwiseGraph",
    "labelling_scores",
]
