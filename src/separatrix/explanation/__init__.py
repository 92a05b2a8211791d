"""Why a model says what it says of one row: the sum behind its score, term by term."""

from separatrix.explanation.models import explain, see_through
from separatrix.explanation.result import Explanation
from separatrix.explanation.trellis import Step, Trellis, explain_sequence
from separatrix.explanation.weights import Weights, feature_names, top_weights

__all__ = [
    "Explanation",
    "Step",
    "Trellis",
    "Weights",
    "explain",
    "explain_sequence",
    "feature_names",
    "see_through",
    "top_weights",
]
