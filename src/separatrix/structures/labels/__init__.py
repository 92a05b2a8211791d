"""How scores are made from weights and data, and the adjoint of that map."""

from separatrix.structures.labels.scores import (
    Design,
    FlatScores,
    RowScores,
    far_from_zero,
    in_double,
    in_place,
    make_design,
)

__all__ = [
    "Design",
    "FlatScores",
    "RowScores",
    "far_from_zero",
    "in_double",
    "in_place",
    "make_design",
]
