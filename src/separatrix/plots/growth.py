"""Maximum likelihood against maximum a posteriori as data grow."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from separatrix.bayes import BayesianLinearRegression
from separatrix.errors import DataError
from separatrix.plots.canvas import COLORS, Display

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

__all__ = ["EstimateGrowthDisplay"]

FloatArray = npt.NDArray[np.float64]


@dataclass
class EstimateGrowthDisplay(Display):
    """Weights by maximum likelihood and by MAP against the number of observations.

    Use `from_estimator` to make one.

    Attributes
    ----------
    sizes : ndarray of shape (m,)
        Numbers of observations, rising.
    likelihood, posterior : ndarray of shape (m, p)
        The estimates of p weights, the intercept last where there is one.
    lower, upper : ndarray of shape (m, p)
        Ends of the credible intervals around the posterior mean.
    names : tuple of str
        Names of the weights.
    true_weights : ndarray of shape (p,) or None
        What the data were made from.
    figure_, ax_, lines_
        The figure, the axes and the lines, after `plot`.
    """

    sizes: npt.NDArray[np.int64]
    likelihood: FloatArray
    posterior: FloatArray
    lower: FloatArray
    upper: FloatArray
    names: tuple[str, ...]
    true_weights: FloatArray | None = None
    lines_: list[Line2D] = field(init=False, repr=False)

    @classmethod
    def from_estimator(
        cls,
        estimator: BayesianLinearRegression,
        X: Any,
        y: Any,
        *,
        sizes: Any = None,
        true_weights: Any = None,
        level: float = 0.95,
        ax: Axes | None = None,
        **line_options: Any,
    ) -> Self:
        """Fit the first rows, more and more of them, by both ways.

        Parameters
        ----------
        estimator : BayesianLinearRegression
            The prior and the noise; it is cloned and stays as it is.
        X, y : array-like of shape (n, d) and (n,)
            Observations in the order in which they arrive.
        sizes : array-like of int, optional
            Numbers of observations; by default about 30 from the fewest that determine the
            weights to all, evenly spaced on a log scale.
        true_weights : array-like of shape (d,) or (d + 1,), optional
            What the data were made from, the intercept last.
        level : float, default=0.95
            Probability of the bands around the MAP estimates.
        ax : Axes, optional
            Where to draw; new axes by default.
        **line_options
            Handed to `Axes.plot`.

        Returns
        -------
        EstimateGrowthDisplay
            The picture, with `figure_` and `ax_`.
        """
        X, y = np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)
        width = X.shape[1] + estimator.fit_intercept
        if sizes is None:
            first = max(width, 2)
            sizes = np.unique(np.geomspace(first, max(len(y), first), 30).astype(np.int64))
        numbers = np.asarray(sizes, dtype=np.int64)
        if len(numbers) == 0 or (np.diff(numbers) <= 0).any() or not 0 < numbers[-1] <= len(y):
            raise DataError(f"sizes must be rising numbers of rows up to {len(y)}")
        rows = np.column_stack([X, np.ones(len(X))]) if estimator.fit_intercept else X
        model, seen = clone(estimator), 0
        means, likelihoods, intervals = [], [], []
        for n in numbers:
            model.partial_fit(X[seen:n], y[seen:n])
            seen = int(n)
            ends = model.credible_interval(level)
            intercept = [ends.intercept] if estimator.fit_intercept else []
            intervals.append(np.vstack([ends.coef, *intercept]))
            means.append(np.append(model.coef_, model.intercept_)[:width])
            likelihoods.append(np.linalg.lstsq(rows[:n], y[:n], rcond=None)[0])
        names = [f"$w_{{{j + 1}}}$" for j in range(X.shape[1])]
        names += ["$w_0$"] if estimator.fit_intercept else []
        ends_of = np.stack(intervals)
        truth = None if true_weights is None else np.asarray(true_weights, dtype=np.float64)
        return cls(
            numbers,
            np.stack(likelihoods),
            np.stack(means),
            ends_of[..., 0],
            ends_of[..., 1],
            tuple(names),
            truth,
        ).plot(ax=ax, **line_options)

    def plot(self, ax: Axes | None = None, **line_options: Any) -> Self:
        """Draw a line per weight and estimate.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; new axes by default.
        **line_options
            Handed to `Axes.plot`.

        Returns
        -------
        EstimateGrowthDisplay
            This display.
        """
        self._open(ax)
        self.lines_ = []
        for j, name in enumerate(self.names):
            color = COLORS[j % len(COLORS)]
            options: dict[str, Any] = {"color": color, "linewidth": 1.6}
            self.ax_.fill_between(
                self.sizes,
                self.lower[:, j],
                self.upper[:, j],
                color=color,
                alpha=0.15,
                linewidth=0,
            )
            for values, style, kind in (
                (self.posterior, "-", "MAP"),
                (self.likelihood, ":", "maximum likelihood"),
            ):
                marks = options | {"linestyle": style, "label": f"{name} {kind}"} | line_options
                self.lines_ += self.ax_.plot(self.sizes, values[:, j], **marks)
            if self.true_weights is not None:
                self.ax_.axhline(self.true_weights[j], color=color, linewidth=0.8, alpha=0.6)
        spread = np.vstack([self.lower, self.upper])
        low, high = spread.min(), spread.max()
        # Early maximum-likelihood estimates may be far away; they must not flatten the rest.
        self.ax_.set_ylim(low - 0.25 * (high - low), high + 0.25 * (high - low))
        self.ax_.set(xscale="log", xlabel="observations", ylabel="weight")
        self.ax_.legend(frameon=False, fontsize="small")
        return self
