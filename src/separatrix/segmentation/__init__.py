"""Label images: from pixels or superpixels over a grid or graph to a label for every pixel."""

from separatrix.segmentation.estimator import Segmenter
from separatrix.segmentation.pixels import pixel_features

__all__ = ["Segmenter", "pixel_features"]
