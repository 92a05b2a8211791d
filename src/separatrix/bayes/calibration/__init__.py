"""Calibration: probabilities that mean what they say."""

from separatrix.bayes.calibration.calibrated import Calibrated

__all__ = ["Calibrated"]
