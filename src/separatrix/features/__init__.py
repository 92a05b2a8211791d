"""From raw data to columns of numbers."""

from separatrix.features.joint import JointMap
from separatrix.features.pixels import PixelGrid
from separatrix.features.polynomial import Polynomial
from separatrix.features.radial import RadialBasis
from separatrix.features.tables import ColumnReport, TableEncoder

__all__ = ["ColumnReport", "JointMap", "PixelGrid", "Polynomial", "RadialBasis", "TableEncoder"]
