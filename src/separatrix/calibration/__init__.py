"""Calibration: probabilities that mean what they say."""

from separatrix.calibration.calibrated import Calibrated

__all__ = ["Calibrated"]
