"""Predictions of a regression with their error bands."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from separatrix.errors import DataError, ParameterError
from separatrix.plots.canvas import COLORS, Display

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

__all__ = ["PredictiveBandDisplay"]

FloatArray = npt.NDArray[np.float64]


@dataclass
class PredictiveBandDisplay(Display):
    """Predictive mean against x, with a band for new observations and one for the function.

    Use `from_estimator` to make one.

    Attributes
    ----------
    x : ndarray of shape (n,)
        Where the bands are drawn, rising.
    mean : ndarray of shape (n,)
        Predictive mean.
    observation, function : ndarray of shape (n, 2)
        Ends of the credible intervals of a new y and of the function value.
    level : float
        Their probability.
    X, y : ndarray of shape (m,) or None
        The observations.
    figure_, ax_, line_
        The figure, the axes and the line of the mean, after `plot`.
    """

    x: FloatArray
    mean: FloatArray
    observation: FloatArray
    function: FloatArray
    level: float
    X: FloatArray | None = None
    y: FloatArray | None = None
    line_: Line2D = field(init=False, repr=False)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any = None,
        *,
        transform: Any = None,
        x_limits: tuple[float, float] | None = None,
        level: float = 0.95,
        n_points: int = 200,
        ax: Axes | None = None,
        **line_options: Any,
    ) -> Self:
        """Draw the predictions of a fitted regression over one variable.

        Parameters
        ----------
        estimator : BayesianLinearRegression
            Fitted.
        X : array-like of shape (m, 1) or (m,)
            Observed values of the variable; they set the range.
        y : array-like of shape (m,), optional
            The observations, drawn as circles.
        transform : callable, optional
            From values of shape (n, 1) to the features the estimator was fitted on, such as
            polynomials; by default the variable is the feature.
        x_limits : tuple of two floats, optional
            First and last x; the range of X by default.
        level : float, default=0.95
            Probability of the bands.
        n_points : int, default=200
            Points of the lines.
        ax : Axes, optional
            Where to draw; new axes by default.
        **line_options
            Handed to `Axes.plot` for the mean.

        Returns
        -------
        PredictiveBandDisplay
            The picture, with `figure_` and `ax_`.
        """
        check_is_fitted(estimator)
        if not 0 < level < 1:
            raise ParameterError(f"level must lie strictly between 0 and 1, got {level!r}")
        points = np.asarray(X, dtype=np.float64)
        if (points.ndim == 2 and points.shape[1] != 1) or points.ndim > 2 or points.size == 0:
            raise DataError(f"bands are drawn over one variable, got X of shape {points.shape}")
        points = points.ravel()
        first, last = x_limits or (float(points.min()), float(points.max()))
        x = np.linspace(first, last, n_points)
        rows = x[:, None] if transform is None else transform(x[:, None])
        new = estimator.predictive(rows)
        inner = estimator.predictive(rows, noise=False)
        values = None if y is None else np.asarray(y, dtype=np.float64)
        return cls(
            x,
            np.asarray(new.mean()),
            np.stack(new.interval(level), axis=-1),
            np.stack(inner.interval(level), axis=-1),
            level,
            points,
            values,
        ).plot(ax=ax, **line_options)

    def plot(self, ax: Axes | None = None, **line_options: Any) -> Self:
        """Draw the mean and the bands.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; new axes by default.
        **line_options
            Handed to `Axes.plot` for the mean.

        Returns
        -------
        PredictiveBandDisplay
            This display.
        """
        self._open(ax)
        options: dict[str, Any] = {"color": COLORS[0], "label": "predictive mean"}
        (self.line_,) = self.ax_.plot(self.x, self.mean, **(options | line_options))
        color = self.line_.get_color()
        percent = f"{100 * self.level:g} %"
        for ends, alpha, name in (
            (self.observation, 0.15, "new observation"),
            (self.function, 0.3, "function"),
        ):
            self.ax_.fill_between(
                self.x,
                ends[:, 0],
                ends[:, 1],
                color=color,
                alpha=alpha,
                linewidth=0,
                label=f"{percent} of {name}",
            )
        if self.X is not None and self.y is not None:
            self.ax_.plot(self.X, self.y, "o", color="0.2", fillstyle="none", label="data")
        self.ax_.set(xlabel="x", ylabel="y", xlim=(self.x[0], self.x[-1]))
        self.ax_.legend(frameon=False)
        return self
