"""One label per row: scores from weights and data, the adjoint of that map, and inference."""

from separatrix.structures.labels.scores import (
    Design,
    FlatScores,
    RowScores,
    far_from_zero,
    in_double,
    in_place,
    make_design,
)
from separatrix.structures.labels.structure import FlatFeatures, Labels, feature_matrix

__all__ = [
    "Design",
    "FlatFeatures",
    "FlatScores",
    "Labels",
    "RowScores",
    "far_from_zero",
    "feature_matrix",
    "in_double",
    "in_place",
    "make_design",
]
