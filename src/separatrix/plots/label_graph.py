"""Labels on a circle, joined where they attract or repel each other."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from separatrix.errors import ParameterError
from separatrix.plots.canvas import COLORS, Display

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

__all__ = ["LabelGraphDisplay"]


@dataclass
class LabelGraphDisplay(Display):
    """The graph of a model of label sets: nodes are labels, edges as wide as their weights.

    Use `from_estimator` to make one.

    Attributes
    ----------
    names : tuple of str
        The labels.
    edges : ndarray of shape (E, 2)
        Numbers of the labels that are joined.
    weights : ndarray of shape (E,)
        Positive where two labels attract each other beyond what the features tell.
    frequencies : ndarray of shape (L,) or None
        Frequencies of the labels, shown by the size of their nodes.
    figure_, ax_, lines_
        The figure, the axes and the edges, after `plot`.
    """

    names: tuple[str, ...]
    edges: npt.NDArray[np.int64]
    weights: npt.NDArray[np.float64]
    frequencies: npt.NDArray[np.float64] | None = None
    lines_: list[Line2D] = field(init=False, repr=False)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        names: Any = None,
        frequencies: Any = None,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the graph of a fitted model.

        Parameters
        ----------
        estimator : MultiLabel, or a pipeline that ends with one
            Fitted.
        names : sequence of str, optional
            Names of the labels; those of `classes_` by default.
        frequencies : array of shape (L,), optional
            Frequencies of the labels.
        ax : Axes, optional
            Where to draw; new axes by default.

        Returns
        -------
        LabelGraphDisplay
            The picture, with `figure_` and `ax_`.
        """
        model = estimator.steps[-1][1] if hasattr(estimator, "steps") else estimator
        if not hasattr(model, "pair_weights_") or not hasattr(model, "edges_"):
            raise ParameterError(
                f"{type(model).__name__} has no edges; a label graph shows a fitted MultiLabel"
            )
        labels = model.classes_ if names is None else names
        if len(labels) != len(model.classes_):
            raise ParameterError(f"{len(model.classes_)} names are needed, got {len(labels)}")
        frequencies = (
            None if frequencies is None else np.asarray(frequencies, dtype=np.float64).ravel()
        )
        if frequencies is not None and len(frequencies) != len(labels):
            raise ParameterError(f"{len(labels)} frequencies are needed, got {len(frequencies)}")
        found = cls(tuple(map(str, labels)), model.edges_, model.pair_weights_, frequencies)
        return found.plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw the graph.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; new axes by default.

        Returns
        -------
        LabelGraphDisplay
            This display.
        """
        self._open(ax)
        angle = 2 * np.pi * np.arange(len(self.names)) / len(self.names)
        x, y = np.cos(angle), np.sin(angle)
        strongest = float(np.abs(self.weights).max(initial=0.0)) or 1.0
        self.lines_ = []
        for (a, b), weight in zip(self.edges, self.weights, strict=True):
            share = abs(float(weight)) / strongest
            self.lines_ += self.ax_.plot(
                x[[a, b]],
                y[[a, b]],
                color=COLORS[0] if weight > 0 else COLORS[1],
                linestyle="-" if weight > 0 else "--",
                linewidth=0.3 + 5.0 * share,
                alpha=0.15 + 0.75 * share,
                zorder=1,
            )
        sizes: Any = 120.0
        if self.frequencies is not None:
            sizes = 40.0 + 900.0 * self.frequencies
        self.ax_.scatter(x, y, s=sizes, color="white", edgecolor="black", zorder=2)
        radii = np.broadcast_to(np.sqrt(sizes / np.pi), x.shape)  # in points, as sizes are
        for name, across, up, radius in zip(self.names, x, y, radii, strict=True):
            side = "center" if abs(across) < 0.2 else "left" if across > 0 else "right"
            self.ax_.annotate(
                name,
                (across, up),
                ((radius + 5) * across, (radius + 8) * up),
                textcoords="offset points",
                ha=side,
                va="center",
                fontsize="small",
            )
        for color, style, words in ((COLORS[0], "-", "attract"), (COLORS[1], "--", "repel")):
            self.ax_.plot([], [], color=color, linestyle=style, label=words)
        self.ax_.legend(loc="lower right", frameon=False, fontsize="small")
        self.ax_.set(aspect="equal", xlim=(-1.8, 1.8), ylim=(-1.4, 1.4))
        self.ax_.set_axis_off()
        return self
