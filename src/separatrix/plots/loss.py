"""The loss zoo in one picture."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from separatrix.errors import ParameterError
from separatrix.losses import MARGIN_LOSSES, Logistic, MarginLoss
from separatrix.plots.canvas import COLORS, Display

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

__all__ = ["LossDisplay"]

_STYLES = ("-", "--", "-.", ":")


@dataclass
class LossDisplay(Display):
    """Losses phi(m) of the margin m = y s, each a line.

    Use `from_losses` to make one.

    Attributes
    ----------
    margin : ndarray of shape (n,)
        The margins.
    values : dict of str to ndarray of shape (n,)
        phi(m) for each loss, by label.
    figure_, ax_, lines_
        The figure, the axes and the lines, after `plot`.
    """

    margin: npt.NDArray[np.float64]
    values: dict[str, npt.NDArray[np.float64]]
    lines_: list[Line2D] = field(init=False, repr=False)

    @classmethod
    def from_losses(
        cls,
        losses: Iterable[str | MarginLoss] | None = None,
        *,
        margin: tuple[float, float] = (-2.0, 3.0),
        bits: bool = False,
        ax: Axes | None = None,
        **line_options: Any,
    ) -> Self:
        """Draw losses against the margin.

        Parameters
        ----------
        losses : iterable of str or MarginLoss, optional
            Names or losses; all of the zoo by default.
        margin : tuple of two floats, default=(-2, 3)
            First and last margin.
        bits : bool, default=False
            Measure the logistic loss in bits, phi / ln 2, which bounds the 0-1 loss.
        ax : Axes, optional
            Where to draw; new axes by default.
        **line_options
            Handed to `Axes.plot`.

        Returns
        -------
        LossDisplay
            The picture, with `figure_` and `ax_`.

        Examples
        --------
        >>> import matplotlib; matplotlib.use("agg")
        >>> display = LossDisplay.from_losses(["hinge", "logistic"])
        >>> sorted(display.values)
        ['hinge', 'logistic']
        >>> matplotlib.pyplot.close(display.figure_)
        """
        if not margin[0] < margin[1]:
            raise ParameterError(f"margin must be two rising numbers, got {margin!r}")
        grid = np.linspace(margin[0], margin[1], 1001)
        values = {}
        for item in MARGIN_LOSSES if losses is None else losses:
            loss = _named(item) if isinstance(item, str) else item
            label, scale = loss.name.replace("_", " "), 1.0
            if loss.name == "zero_one":
                label = "0-1"
            if bits and isinstance(loss, Logistic):
                label, scale = "logistic, in bits", math.log(2)
            values[label] = np.asarray(loss.value(grid), dtype=np.float64) / scale
        return cls(grid, values).plot(ax=ax, **line_options)

    def plot(self, ax: Axes | None = None, **line_options: Any) -> Self:
        """Draw the lines.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; new axes by default.
        **line_options
            Handed to `Axes.plot`.

        Returns
        -------
        LossDisplay
            This display.
        """
        self._open(ax)
        self.lines_ = []
        for number, (label, values) in enumerate(self.values.items()):
            options: dict[str, Any] = {
                "color": COLORS[(number - 1) % len(COLORS)],
                "linestyle": _STYLES[number % len(_STYLES)],
                # Where losses coincide, the wider line shows under the narrower one.
                "linewidth": 1.4 + 0.35 * number,
                "zorder": 3 - 0.01 * number,
                "label": label,
            }
            self.lines_ += self.ax_.plot(self.margin, values, **(options | line_options))
        self.ax_.axvline(0, color="0.8", linewidth=0.8, zorder=0)
        self.ax_.set(
            xlim=(self.margin[0], self.margin[-1]),
            ylim=(-0.1, 4.0),
            xlabel="margin m = y s",
            ylabel="loss",
        )
        self.ax_.legend(frameon=False)
        return self


def _named(name: str) -> MarginLoss:
    if name not in MARGIN_LOSSES:
        raise ParameterError(f"there is no loss {name!r}; known are {', '.join(MARGIN_LOSSES)}")
    return MARGIN_LOSSES[name]
