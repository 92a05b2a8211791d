"""Sets of labels: several for every row, some of which tend to occur together."""

from separatrix.multilabel.baselines import FrequentLabels
from separatrix.multilabel.estimator import DECISIONS, MultiLabel
from separatrix.multilabel.targets import encode_sets, label_sets, read_sets

__all__ = ["DECISIONS", "FrequentLabels", "MultiLabel", "encode_sets", "label_sets", "read_sets"]
