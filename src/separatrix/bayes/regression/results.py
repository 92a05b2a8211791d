"""What Bayesian linear models return: intervals, paths, leave-one-out."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = ["LeaveOneOut", "RidgePath", "WeightIntervals"]

FloatArray = npt.NDArray[np.float64]


class RidgePath(NamedTuple):
    """Posterior means along a grid of ridge values, all from one decomposition.

    Attributes
    ----------
    ridges : ndarray of shape (m,)
        The grid.
    coefs : ndarray of shape (m, d)
        E[w] for every ridge.
    intercepts : ndarray of shape (m,)
        E[b] for every ridge.
    log_evidences : ndarray of shape (m,)
        log p(y) for every ridge, at the noise of the model (the best one for
        ``noise="evidence"``); under a flat prior of the intercept up to a constant.
    """

    ridges: FloatArray
    coefs: FloatArray
    intercepts: FloatArray
    log_evidences: FloatArray


class LeaveOneOut(NamedTuple):
    """What the model says about every row once that row is taken out of the data.

    Attributes
    ----------
    ridges : ndarray of shape (m,)
        The ridge values.
    means : ndarray of shape (m, n)
        Predictive mean of row i given all others.
    mean_squared_errors : ndarray of shape (m,)
        Weighted mean of (y_i - mean_i)^2.
    log_densities : ndarray of shape (m, n)
        log p(y_i | all others), the noise as in `RidgePath`.
    """

    ridges: FloatArray
    means: FloatArray
    mean_squared_errors: FloatArray
    log_densities: FloatArray


class WeightIntervals(NamedTuple):
    """Lower and upper ends, along the last axis.

    Attributes
    ----------
    coef : ndarray of shape (..., d, 2)
        Intervals of the weights, in the shape of `coef_`.
    intercept : ndarray of shape (..., 2)
        Intervals of the intercepts, in the shape of `intercept_`; zeros where there are none.
    """

    coef: FloatArray
    intercept: FloatArray
