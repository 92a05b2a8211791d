"""Pictures in the style of scikit-learn's Display classes; matplotlib loads when one is drawn."""

from separatrix.plots.loss import LossDisplay
from separatrix.plots.odds import OddsRatioDisplay
from separatrix.plots.path import PathDisplay
from separatrix.plots.reliability import ReliabilityDisplay
from separatrix.plots.trace import TraceDisplay

__all__ = [
    "LossDisplay",
    "OddsRatioDisplay",
    "PathDisplay",
    "ReliabilityDisplay",
    "TraceDisplay",
]
