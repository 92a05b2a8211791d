"""Where a display draws: the axes it was given, or new ones."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["COLORS", "Display", "canvas"]

#: Colors that stay apart for color-blind readers (Okabe & Ito 2008).
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")


def canvas(ax: Axes | None) -> tuple[Figure, Axes]:
    """Return `ax` with its figure, or new ones; a plain error where matplotlib is missing."""
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError(
            "Pictures need matplotlib; install it with: pip install 'separatrix[plots]'"
        ) from error
    if ax is None:
        return pyplot.subplots(layout="constrained")
    return cast("Figure", ax.get_figure(root=True)), ax


@dataclass
class Display:
    """Base of the pictures with one pair of axes: what they keep after `plot`."""

    figure_: Figure = field(init=False, repr=False)
    ax_: Axes = field(init=False, repr=False)

    def _open(self, ax: Axes | None) -> None:
        """Draw on `ax`, or on new axes."""
        self.figure_, self.ax_ = canvas(ax)
