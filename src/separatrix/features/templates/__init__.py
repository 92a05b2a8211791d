"""Templates: columns of tokens to sparse rows of attributes."""

from separatrix.features.templates.brown import brown_clusters
from separatrix.features.templates.dictionaries import read_clusters, read_dictionary
from separatrix.features.templates.encoded import EncodedSequences
from separatrix.features.templates.estimator import Templates
from separatrix.features.templates.maps import WordMap
from separatrix.features.templates.presets import PRESETS, preset
from separatrix.features.templates.spec import (
    TemplateTerm,
    TokenPart,
    TokenValue,
    bag,
    bias,
    both,
    column,
    ngrams,
    transitions,
)

__all__ = [
    "PRESETS",
    "EncodedSequences",
    "TemplateTerm",
    "Templates",
    "TokenPart",
    "TokenValue",
    "WordMap",
    "bag",
    "bias",
    "both",
    "brown_clusters",
    "column",
    "ngrams",
    "preset",
    "read_clusters",
    "read_dictionary",
    "transitions",
]
