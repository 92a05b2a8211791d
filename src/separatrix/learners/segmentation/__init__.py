"""Label images: from pixels or superpixels over a grid or graph to a label for every pixel."""

from separatrix.learners.segmentation.estimator import Segmenter
from separatrix.learners.segmentation.frequency import MajorityPixel
from separatrix.learners.segmentation.pixels import pixel_features

__all__ = ["MajorityPixel", "Segmenter", "pixel_features"]
