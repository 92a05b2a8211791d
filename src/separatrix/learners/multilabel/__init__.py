"""Sets of labels: several for every row, some of which tend to occur together."""

from separatrix.learners.multilabel.baselines import FrequentLabels
from separatrix.learners.multilabel.estimator import DECISIONS, MultiLabel
from separatrix.learners.multilabel.many_labels import ManyLabels
from separatrix.learners.multilabel.targets import encode_sets, label_sets, read_sets

__all__ = [
    "DECISIONS",
    "FrequentLabels",
    "ManyLabels",
    "MultiLabel",
    "encode_sets",
    "label_sets",
    "read_sets",
]
