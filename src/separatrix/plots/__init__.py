"""Pictures in the style of scikit-learn's Display classes; matplotlib loads when one is drawn."""

from separatrix.plots.decision import DecisionRegionDisplay
from separatrix.plots.loss import LossDisplay
from separatrix.plots.path import PathDisplay
from separatrix.plots.trace import TraceDisplay

__all__ = ["DecisionRegionDisplay", "LossDisplay", "PathDisplay", "TraceDisplay"]
