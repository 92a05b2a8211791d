"""From raw data to columns of numbers."""

from separatrix.features.joint import JointMap
from separatrix.features.pixels import PixelGrid
from separatrix.features.polynomial import Polynomial
from separatrix.features.radial import RadialBasis

__all__ = ["JointMap", "PixelGrid", "Polynomial", "RadialBasis"]
