"""Label images: from pixels or superpixels over a grid or graph to a label for every pixel."""

from separatrix.learners.segmentation.estimator import Segmenter
from separatrix.learners.segmentation.pixels import pixel_features

__all__ = ["Segmenter", "pixel_features"]
