"""Pictures in the style of scikit-learn's Display classes; matplotlib loads when one is drawn."""

from separatrix.plots.decision import DecisionRegionDisplay
from separatrix.plots.growth import EstimateGrowthDisplay
from separatrix.plots.label_graph import LabelGraphDisplay
from separatrix.plots.line_posterior import LinePosteriorDisplay
from separatrix.plots.loss import LossDisplay
from separatrix.plots.odds import OddsRatioDisplay
from separatrix.plots.path import PathDisplay
from separatrix.plots.predictive import PredictiveBandDisplay
from separatrix.plots.reliability import ReliabilityDisplay
from separatrix.plots.segmentation import SegmentationDisplay
from separatrix.plots.trace import TraceDisplay
from separatrix.plots.trellis import TrellisDisplay

__all__ = [
    "DecisionRegionDisplay",
    "EstimateGrowthDisplay",
    "LabelGraphDisplay",
    "LinePosteriorDisplay",
    "LossDisplay",
    "OddsRatioDisplay",
    "PathDisplay",
    "PredictiveBandDisplay",
    "ReliabilityDisplay",
    "SegmentationDisplay",
    "TraceDisplay",
    "TrellisDisplay",
]
