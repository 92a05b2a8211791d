"""Do probabilities mean what they say: confidence against frequency."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from separatrix.errors import ParameterError
from separatrix.metrics import CalibrationBins, calibration_bins
from separatrix.plots.canvas import COLORS, Display

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

__all__ = ["ReliabilityDisplay"]


@dataclass
class ReliabilityDisplay(Display):
    """Reliability diagram: one point per bin of equal mass, on the diagonal when calibrated.

    Use `from_estimator` or `from_predictions` to make one; give its `ax_` to the next to lay
    several over each other. Below the diagonal a model is too sure of itself.

    Attributes
    ----------
    bins : CalibrationBins
        Confidence, frequency and mass of every bin.
    name : str
        Label of the line.
    event : str
        What the probability is of, in words.
    figure_, ax_, line_
        The figure, the axes and the line, after `plot`.
    """

    bins: CalibrationBins
    name: str
    event: str
    line_: Line2D = field(init=False, repr=False)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        n_bins: int = 10,
        label: Any = None,
        sample_weight: Any = None,
        name: str | None = None,
        ax: Axes | None = None,
        **line_options: Any,
    ) -> Self:
        """Draw the reliability of a fitted classifier on rows that it was not fitted on.

        Parameters
        ----------
        estimator : estimator with `predict_proba`
            A fitted classifier.
        X, y : array-like of shape (n, d) and (n,)
            Rows and labels.
        n_bins : int, default=10
            Number of bins at most.
        label : object, optional
            Look at the probability of this class; by default at that of the predicted class.
        sample_weight : array-like of shape (n,), optional
            Weight of each example.
        name : str, optional
            Label; the estimator's class by default.
        ax : Axes, optional
            Where to draw; new axes by default.
        **line_options
            Handed to `Axes.plot`.

        Returns
        -------
        ReliabilityDisplay
            The picture, with `figure_` and `ax_`.
        """
        if not hasattr(estimator, "predict_proba"):
            raise ParameterError(
                f"{type(estimator).__name__} has no predict_proba; wrap it in "
                "separatrix.bayes.calibration.Calibrated"
            )
        return cls.from_predictions(
            y,
            estimator.predict_proba(X),
            n_bins=n_bins,
            label=label,
            labels=estimator.classes_,
            sample_weight=sample_weight,
            name=type(estimator).__name__ if name is None else name,
            ax=ax,
            **line_options,
        )

    @classmethod
    def from_predictions(
        cls,
        y_true: npt.ArrayLike,
        probabilities: npt.ArrayLike,
        *,
        n_bins: int = 10,
        label: Any = None,
        labels: npt.ArrayLike | None = None,
        sample_weight: Any = None,
        name: str = "classifier",
        ax: Axes | None = None,
        **line_options: Any,
    ) -> Self:
        """Draw the reliability of predicted probabilities.

        Parameters
        ----------
        y_true : array-like of shape (n,)
            Labels.
        probabilities : array-like of shape (n, K), or (n,) for the second of two classes
            Predicted probabilities.
        n_bins : int, default=10
            Number of bins at most.
        label : object, optional
            Look at the probability of this class; by default at that of the predicted class.
        labels : array-like of shape (K,), optional
            Classes in the order of the columns; default: sorted.
        sample_weight : array-like of shape (n,), optional
            Weight of each example.
        name : str, default="classifier"
            Label of the line.
        ax : Axes, optional
            Where to draw; new axes by default.
        **line_options
            Handed to `Axes.plot`.

        Returns
        -------
        ReliabilityDisplay
            The picture, with `figure_` and `ax_`.
        """
        bins = calibration_bins(
            y_true,
            probabilities,
            n_bins=n_bins,
            label=label,
            labels=labels,
            sample_weight=sample_weight,
        )
        event = "the predicted class" if label is None else str(label)
        return cls(bins, name, event).plot(ax=ax, **line_options)

    def plot(self, ax: Axes | None = None, **line_options: Any) -> Self:
        """Draw the line, and the diagonal where there is none yet.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; new axes by default.
        **line_options
            Handed to `Axes.plot`.

        Returns
        -------
        ReliabilityDisplay
            This display.
        """
        self._open(ax)
        drawn = [line for line in self.ax_.lines if line.get_gid() == "reliability"]
        if not drawn:
            self.ax_.axline((0, 0), slope=1, color="0.6", linestyle=":", linewidth=1.2)
        options: dict[str, Any] = {
            "marker": "o",
            "linewidth": 1.5,
            "color": COLORS[len(drawn) % len(COLORS)],
            "label": f"{self.name} (calibration error {self.bins.error:.3f})",
            "gid": "reliability",
        }
        (self.line_,) = self.ax_.plot(
            self.bins.confidence, self.bins.frequency, **(options | line_options)
        )
        lowest = min([self.bins.confidence.min(), self.bins.frequency.min()])
        before = self.ax_.get_xlim()[0] if drawn else 1.0
        low = max(0.0, min(before, float(np.floor(20 * lowest) / 20) - 0.02))
        self.ax_.set(
            xlabel=f"predicted probability of {self.event}",
            ylabel="frequency",
            xlim=(low, 1.02),
            ylim=(low, 1.02),
            aspect="equal",
        )
        self.ax_.legend(frameon=False, loc="upper left")
        return self
