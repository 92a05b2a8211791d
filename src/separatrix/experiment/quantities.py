"""What the test set tells about a regression."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from separatrix.experiment.inputs import Inputs
from separatrix.experiment.metric import distribution
from separatrix.experiment.weights import weights_part
from separatrix.report.parts import Band, Coverage, Part, RegressionReport, Residuals

__all__ = ["quantity_parts"]

_LEVELS = (0.5, 0.8, 0.95)
#: Points that a picture shows.
_POINTS = 400


def quantity_parts(
    model: Any, learner: str, inputs: Inputs, X: Any, y: npt.NDArray[Any]
) -> tuple[Part, ...]:
    """Errors, coverage of the intervals, bands and residuals of the champion.

    Parameters
    ----------
    model : Pipeline
        The champion.
    learner : str
        Its name.
    inputs : Inputs
    X : raw rows
        The test rows.
    y : array of shape (n,)
        Their target.
    """
    mean = np.asarray(model.predict(X), dtype=np.float64)
    found = distribution(model, X)
    density = float("nan")
    coverage: list[Coverage] = []
    band = None
    if found is not None:
        density = float(np.mean(found.logpdf(y)))
        for level in _LEVELS:
            low, high = found.interval(level)
            coverage.append(Coverage(level, float(np.mean((low <= y) & (y <= high)))))
        band = _band(mean, low, high, y)
    thin = _thin(len(y))
    report = RegressionReport(
        float(np.sqrt(np.mean((mean - y) ** 2))),
        density,
        float(np.mean(np.abs(mean - y))),
        tuple(coverage),
        inputs.target or "target",
        band=band,
        residuals=Residuals(mean[thin], (y - mean)[thin]),
    )
    weights = weights_part(model, learner, inputs)
    return (report,) if weights is None else (report, weights)


def _band(
    mean: npt.NDArray[np.float64],
    low: npt.NDArray[np.float64],
    high: npt.NDArray[np.float64],
    y: npt.NDArray[Any],
) -> Band:
    """Rows in the order of their prediction."""
    order = np.argsort(mean, kind="stable")[_thin(len(y))]
    place = np.arange(len(order), dtype=np.float64)
    return Band(
        place, mean[order], low[order], high[order], place, np.asarray(y, dtype=np.float64)[order],
        axis="test rows by prediction", level=_LEVELS[-1],
    )  # fmt: skip


def _thin(n: int) -> npt.NDArray[np.intp]:
    """Evenly spread rows, as many as a picture shows."""
    return np.unique(np.linspace(0, n - 1, min(n, _POINTS)).round().astype(np.intp))
