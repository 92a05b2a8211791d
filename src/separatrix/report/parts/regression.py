"""How good a regression is."""

from __future__ import annotations

from dataclasses import dataclass

from separatrix.report.parts.base import NAN, Array, Part, check_lengths

__all__ = [
    "Band",
    "Coverage",
    "RegressionReport",
    "Residuals",
]


@dataclass(frozen=True)
class Coverage:
    """How many of the observed values fell into their intervals.

    Attributes
    ----------
    level : float
        Mass of the intervals.
    observed : float
        Share of the rows inside.
    """

    level: float
    observed: float


@dataclass(frozen=True, eq=False)
class Band:
    """Predictions with intervals, and what was observed.

    Attributes
    ----------
    x : ndarray of shape (m,)
        Where the prediction is drawn, rising.
    mean, low, high : ndarray of shape (m,)
        Prediction and the ends of its interval.
    observed_x, observed : ndarray of shape (n,) or None
        Observed points.
    axis : str
        What x is: a feature, or "rows by prediction".
    level : float
        Mass of the intervals.
    """

    x: Array
    mean: Array
    low: Array
    high: Array
    observed_x: Array | None = None
    observed: Array | None = None
    axis: str = "x"
    level: float = 0.95

    def __post_init__(self) -> None:
        check_lengths(self, "x", "mean", "low", "high")
        check_lengths(self, "observed_x", "observed")


@dataclass(frozen=True, eq=False)
class Residuals:
    """Prediction and observed minus predicted of each row."""

    predicted: Array
    residual: Array

    def __post_init__(self) -> None:
        check_lengths(self, "predicted", "residual")


@dataclass(frozen=True)
class RegressionReport(Part):
    """How good a regression is.

    Attributes
    ----------
    rmse, mean_absolute_error : float
        Errors in units of the target.
    log_predictive_density : float
        Mean log density of the observed values.
    coverage : tuple of Coverage
        Of intervals of one or more levels.
    target, unit : str
        Name and unit of what is predicted.
    band : Band or None
        Picture of the predictions.
    residuals : Residuals or None
        Picture of the errors.
    rows : str
        Which rows were looked at.
    """

    rmse: float
    log_predictive_density: float = NAN
    mean_absolute_error: float = NAN
    coverage: tuple[Coverage, ...] = ()
    target: str = "target"
    unit: str = ""
    band: Band | None = None
    residuals: Residuals | None = None
    rows: str = "test"
