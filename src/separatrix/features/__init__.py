"""From raw data to columns of numbers."""

from separatrix.features.pixels import PixelGrid
from separatrix.features.polynomial import Polynomial

__all__ = ["PixelGrid", "Polynomial"]
