"""Why a model says what it says of one row: the sum behind its score, term by term."""

from separatrix.explanation.models import explain, see_through
from separatrix.explanation.result import Explanation

__all__ = ["Explanation", "explain", "see_through"]
