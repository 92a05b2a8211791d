"""The posterior of y = w0 + w1 x: where the weights lie, and lines drawn from there."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_random_state

from separatrix.bayes import BayesianLinearRegression
from separatrix.errors import DataError, ParameterError
from separatrix.plots.canvas import COLORS, canvas

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["LinePosteriorDisplay"]

FloatArray = npt.NDArray[np.float64]


@dataclass
class LinePosteriorDisplay:
    """The density of (w0, w1) on the left, lines w0 + w1 x on the right.

    Use `from_estimator` to make one.

    Attributes
    ----------
    distribution : scipy.stats frozen distribution
        Of (w1, w0), the slope and the intercept.
    draws : ndarray of shape (m, 2)
        Slopes and intercepts of the lines.
    X, y : ndarray of shape (n, 1) and (n,), or None
        The observations.
    true_weights : tuple of (w0, w1) or None
        What the data were made from.
    figure_, axes_
        The figure and the two axes, after `plot`.
    """

    distribution: Any
    draws: FloatArray
    X: FloatArray | None = None
    y: FloatArray | None = None
    true_weights: tuple[float, float] | None = None
    figure_: Figure = field(init=False, repr=False)
    axes_: tuple[Axes, Axes] = field(init=False, repr=False)

    @classmethod
    def from_estimator(
        cls,
        estimator: BayesianLinearRegression,
        X: Any = None,
        y: Any = None,
        *,
        true_weights: tuple[float, float] | None = None,
        n_lines: int = 6,
        random_state: Any = None,
        limits: tuple[float, float] | None = None,
        x_limits: tuple[float, float] = (-1.0, 1.0),
        axes: tuple[Axes, Axes] | None = None,
    ) -> Self:
        """Draw the posterior of a regression with one feature, or its prior before `fit`.

        Parameters
        ----------
        estimator : BayesianLinearRegression
            With one feature and an intercept. Unfitted, its prior is drawn, which must be proper.
        X, y : array-like of shape (n, 1) and (n,), optional
            The observations, drawn as circles.
        true_weights : tuple of (w0, w1), optional
            Intercept and slope that the data were made from, marked by a white cross.
        n_lines : int, default=6
            Lines drawn from the distribution.
        random_state : int, RandomState or None, default=None
            Source of the lines.
        limits : tuple of two floats, optional
            First and last weight shown, on both axes; four standard deviations by default.
        x_limits : tuple of two floats, default=(-1, 1)
            First and last x of the lines.
        axes : tuple of two Axes, optional
            Where to draw; new ones by default.

        Returns
        -------
        LinePosteriorDisplay
            The picture, with `figure_` and `axes_`.
        """
        if not estimator.fit_intercept:
            raise ParameterError("lines w0 + w1 x need an intercept, fit_intercept=True")
        if hasattr(estimator, "coef_"):
            if estimator.n_features_in_ != 1:
                raise DataError(
                    f"lines need one feature, the estimator has {estimator.n_features_in_}"
                )
            distribution = estimator.posterior()
        else:
            distribution = estimator.prior(1)
        generator = check_random_state(random_state)
        draws = np.reshape(distribution.rvs(n_lines, random_state=generator), (n_lines, 2))
        points = None if X is None else np.asarray(X, dtype=np.float64).reshape(-1, 1)
        values = None if y is None else np.asarray(y, dtype=np.float64)
        display = cls(distribution, draws, points, values, true_weights)
        return display.plot(axes=axes, limits=limits, x_limits=x_limits)

    def plot(
        self,
        axes: tuple[Axes, Axes] | None = None,
        limits: tuple[float, float] | None = None,
        x_limits: tuple[float, float] = (-1.0, 1.0),
    ) -> Self:
        """Draw the density and the lines.

        Parameters
        ----------
        axes : tuple of two Axes, optional
            Where to draw; new ones by default.
        limits : tuple of two floats, optional
            First and last weight shown, on both axes.
        x_limits : tuple of two floats, default=(-1, 1)
            First and last x of the lines.

        Returns
        -------
        LinePosteriorDisplay
            This display.
        """
        if axes is None:
            self.figure_, left = canvas(None)
            left.remove()
            self.figure_.set_size_inches(8, 4)
            self.axes_ = (self.figure_.add_subplot(1, 2, 1), self.figure_.add_subplot(1, 2, 2))
        else:
            self.figure_, left = canvas(axes[0])
            self.axes_ = (left, axes[1])
        self._plot_weights(self.axes_[0], limits)
        self._plot_lines(self.axes_[1], x_limits)
        return self

    def _plot_weights(self, ax: Axes, limits: tuple[float, float] | None) -> None:
        joint: Any = self.distribution
        normal = hasattr(joint, "cov")
        center = np.ravel(joint.mean if normal else joint.loc)
        reach = 4 * np.sqrt(np.diagonal(joint.cov if normal else joint.shape))
        ends = [limits or (float(c - r), float(c + r)) for c, r in zip(center, reach, strict=True)]
        slope, intercept = (np.linspace(low, high, 201) for low, high in ends)
        grid = np.stack(np.meshgrid(slope, intercept, indexing="ij"), axis=-1)
        log_density = joint.logpdf(grid)
        density = np.exp(log_density - log_density.max())
        ax.pcolormesh(intercept, slope, density, cmap="magma", shading="gouraud")
        if self.true_weights is not None:
            w0, w1 = self.true_weights
            ax.plot(w0, w1, "+", color="white", markersize=12, markeredgewidth=2)
        ax.set(xlabel="$w_0$", ylabel="$w_1$", xlim=ends[1], ylim=ends[0], aspect="auto")

    def _plot_lines(self, ax: Axes, x_limits: tuple[float, float]) -> None:
        x = np.array(x_limits)
        for slope, intercept in self.draws:
            ax.plot(x, intercept + slope * x, color=COLORS[1], linewidth=1.2, alpha=0.8)
        if self.true_weights is not None:
            w0, w1 = self.true_weights
            ax.plot(x, w0 + w1 * x, color="0.35", linestyle="--", linewidth=1.2)
        if self.X is not None and self.y is not None:
            ax.plot(self.X[:, 0], self.y, "o", color=COLORS[0], fillstyle="none", markersize=7)
        ax.set(xlabel="x", ylabel="y", xlim=x_limits)
