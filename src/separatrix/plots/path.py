"""What C does: held-out accuracy or weights along a regularization path."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
import numpy.typing as npt

from separatrix.errors import ParameterError
from separatrix.metrics import accuracy
from separatrix.plots.canvas import COLORS, Display

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

__all__ = ["PathDisplay"]


@dataclass
class PathDisplay(Display):
    """Held-out accuracy or weights against C, on a log scale.

    Use `from_path` to make one.

    Attributes
    ----------
    Cs : ndarray of shape (m,)
        The grid, rising.
    values : ndarray of shape (m, p)
        One column per line: the accuracy, or the weights of one class.
    kind : {"score", "coefficients"}
        What the lines are.
    name : str
        Label of the accuracy.
    best_C : float or None
        The smallest C of the best accuracy, where it is marked.
    figure_, ax_, lines_
        The figure, the axes and the lines, after `plot`.
    """

    Cs: npt.NDArray[np.float64]
    values: npt.NDArray[np.float64]
    kind: Literal["score", "coefficients"]
    name: str = "held-out"
    best_C: float | None = None
    lines_: list[Line2D] = field(init=False, repr=False)

    @classmethod
    def from_path(
        cls,
        path: Any,
        X: Any = None,
        y: Any = None,
        *,
        class_index: int = 0,
        name: str = "held-out",
        mark_best: bool = True,
        ax: Axes | None = None,
        **line_options: Any,
    ) -> Self:
        """Draw the accuracy on (X, y) along a path, or without them the weights.

        Parameters
        ----------
        path : RegularizationPath
            What `regularization_path` returned.
        X, y : array-like of shape (n, d) and (n,), optional
            Held-out rows and labels.
        class_index : int, default=0
            The class whose weights are drawn, where there are no X and y.
        name : str, default="held-out"
            Label of the accuracy.
        mark_best : bool, default=True
            Mark the smallest C of the best accuracy.
        ax : Axes, optional
            Where to draw; new axes by default.
        **line_options
            Handed to `Axes.plot`.

        Returns
        -------
        PathDisplay
            The picture, with `figure_` and `ax_`.
        """
        if (X is None) != (y is None):
            raise ParameterError("give both X and y for the accuracy, or neither for the weights")
        order = np.argsort(path.Cs, kind="stable")
        Cs = np.asarray(path.Cs, dtype=np.float64)[order]
        if X is None:
            weights = np.asarray(path.coefs)[order, class_index]
            display = cls(Cs, weights, "coefficients", name)
        else:
            scores = np.array([accuracy(y, path.estimator(i).predict(X)) for i in order])
            best = float(Cs[scores.argmax()]) if mark_best else None
            display = cls(Cs, scores[:, None], "score", name, best)
        return display.plot(ax=ax, **line_options)

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
        PathDisplay
            This display.
        """
        self._open(ax)
        options: dict[str, Any]
        if self.kind == "score":
            options = {"marker": "o", "label": self.name}
            self.lines_ = self.ax_.plot(self.Cs, self.values[:, 0], **(options | line_options))
            if self.best_C is not None:
                self.ax_.axvline(
                    self.best_C,
                    color=self.lines_[0].get_color(),
                    linestyle=":",
                    linewidth=1.2,
                    label=f"best on {self.name}: C = {self.best_C:.3g}",
                )
            self.ax_.set_ylabel("accuracy")
            self.ax_.legend(frameon=False)
        else:
            self.lines_ = []
            for number, weights in enumerate(self.values.T):
                options = {"color": COLORS[number % len(COLORS)], "linewidth": 1.0, "alpha": 0.8}
                self.lines_ += self.ax_.plot(self.Cs, weights, **(options | line_options))
            self.ax_.axhline(0, color="0.8", linewidth=0.8, zorder=0)
            self.ax_.set_ylabel("weight")
        self.ax_.set_xscale("log")
        self.ax_.set_xlabel("C (weak penalty to the right)")
        return self
