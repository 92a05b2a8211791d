"""Which features speak for a class: odds ratios as bars."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from separatrix.errors import DataError, ParameterError
from separatrix.plots.canvas import COLORS, Display

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.container import BarContainer

__all__ = ["OddsRatioDisplay"]


@dataclass
class OddsRatioDisplay(Display):
    """Bars from 1 to the odds ratio of every feature, on a log scale.

    Use `from_estimator` or `from_ratios` to make one.

    Attributes
    ----------
    names : tuple of str
        The features, from the highest ratio to the lowest.
    ratios : ndarray of shape (m,)
        Their odds ratios.
    label, rest : str
        The class that bars to the right speak for, and the one to the left.
    intervals : ndarray of shape (m, 2) or None
        Ends of an interval around every ratio.
    xlabel : str
        What the ratios are; made of `label` and `rest` where it is empty.
    figure_, ax_, bars_
        The figure, the axes and the bars, after `plot`.
    """

    names: tuple[str, ...]
    ratios: npt.NDArray[np.float64]
    label: str = ""
    rest: str = ""
    intervals: npt.NDArray[np.float64] | None = None
    xlabel: str = ""
    bars_: BarContainer = field(init=False, repr=False)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        label: Any = None,
        *,
        top: int | None = 10,
        feature_names: Any = None,
        ax: Axes | None = None,
        **bar_options: Any,
    ) -> Self:
        """Draw the odds ratios of a fitted model.

        Parameters
        ----------
        estimator : estimator with `odds_ratios`
            A fitted `NaiveBayes` or `LaplaceLogisticRegression`, the latter with its intervals.
        label : object, optional
            The class; the last one by default.
        top : int or None, default=10
            How many features to show on either side, or twice as many of those with the clearest
            odds ratios where there are intervals; None shows all.
        feature_names : sequence of str, optional
            Names of the columns.
        ax : Axes, optional
            Where to draw; new axes by default.
        **bar_options
            Handed to `Axes.barh`.

        Returns
        -------
        OddsRatioDisplay
            The picture, with `figure_` and `ax_`.
        """
        if not hasattr(estimator, "odds_ratios"):
            raise ParameterError(f"{type(estimator).__name__} has no odds_ratios")
        if label is None:
            label = estimator.classes_[-1]
        found = estimator.odds_ratios(label, top=top, feature_names=feature_names)
        if hasattr(found, "lower"):
            kept = replace(found, top=None if top is None else 2 * top).order(0)
            ends = np.column_stack([found.lower[0], found.upper[0]])
            return cls.from_ratios(
                [found.features[j] for j in kept],
                found.ratios[0, kept],
                intervals=ends[kept],
                xlabel=f"odds of {found.classes[0]}, times this per unit of the feature",
                ax=ax,
                **bar_options,
            )
        return cls.from_ratios(
            found.names,
            found.ratios,
            label=str(found.label),
            rest=str(found.rest),
            ax=ax,
            **bar_options,
        )

    @classmethod
    def from_ratios(
        cls,
        names: Sequence[str],
        ratios: npt.ArrayLike,
        *,
        intervals: npt.ArrayLike | None = None,
        label: str = "",
        rest: str = "",
        xlabel: str = "",
        ax: Axes | None = None,
        **bar_options: Any,
    ) -> Self:
        """Draw odds ratios that are at hand.

        Parameters
        ----------
        names : sequence of str of length m
            The features.
        ratios : array-like of shape (m,)
            Their odds ratios, positive and finite.
        intervals : array-like of shape (m, 2), optional
            Ends of an interval around every ratio.
        label, rest : str, optional
            What ratios above and below 1 speak for.
        xlabel : str, optional
            What the ratios are, where they are not P(x | label) / P(x | rest).
        ax : Axes, optional
            Where to draw; new axes by default.
        **bar_options
            Handed to `Axes.barh`.

        Returns
        -------
        OddsRatioDisplay
            The picture, with `figure_` and `ax_`.
        """
        values = np.asarray(ratios, dtype=np.float64)
        if values.ndim != 1 or len(values) != len(names) or not len(values):
            raise DataError(f"{len(names)} names do not go with ratios of shape {values.shape}")
        if not (np.isfinite(values) & (values > 0)).all():
            worst = names[int(np.argmin(np.isfinite(values) & (values > 0)))]
            raise DataError(
                f"the odds ratio of {worst!r} is not a positive number; smooth the probabilities"
            )
        order = np.argsort(-values, kind="stable")
        ends = None if intervals is None else np.asarray(intervals, dtype=np.float64)[order]
        ordered = tuple(str(names[i]) for i in order)
        picture = cls(ordered, values[order], label, rest, ends, xlabel)
        return picture.plot(ax=ax, **bar_options)

    def plot(self, ax: Axes | None = None, **bar_options: Any) -> Self:
        """Draw the bars.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; new axes by default.
        **bar_options
            Handed to `Axes.barh`.

        Returns
        -------
        OddsRatioDisplay
            This display.
        """
        new = ax is None
        self._open(ax)
        from matplotlib.ticker import FormatStrFormatter, LogLocator, NullFormatter

        if new:
            self.figure_.set_size_inches(6.4, max(2.5, 1.2 + 0.24 * len(self.names)))
        places = np.arange(len(self.names))
        options: dict[str, Any] = {
            "color": [COLORS[1] if ratio > 1 else COLORS[0] for ratio in self.ratios],
            "left": 1.0,
        }
        if self.intervals is not None:
            options["xerr"] = np.abs(self.intervals.T - self.ratios)
            options["error_kw"] = {"ecolor": "0.3", "capsize": 2}
        self.bars_ = self.ax_.barh(places, self.ratios - 1.0, **(options | bar_options))
        self.ax_.axvline(1.0, color="0.3", linewidth=0.8)
        self.ax_.set_xscale("log")
        low, high = self.ax_.get_xlim()
        # Within four decades 1, 2 and 5 are labeled as plain numbers, beyond them powers of ten.
        wide = high / low > 1e4
        self.ax_.xaxis.set_major_locator(LogLocator(subs=(1.0,) if wide else (1.0, 2.0, 5.0)))
        self.ax_.xaxis.set_major_formatter(FormatStrFormatter("%g"))
        self.ax_.xaxis.set_minor_formatter(NullFormatter())
        self.ax_.set_yticks(places, self.names)
        self.ax_.invert_yaxis()
        self.ax_.margins(y=0.01)
        text = f"P(x | {self.label}) / P(x | {self.rest})" if self.label else "odds ratio"
        self.ax_.set_xlabel(self.xlabel or text)
        return self
