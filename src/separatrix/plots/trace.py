"""How a solver came down: objective or gap against passes or seconds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Self, get_args

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from separatrix.errors import ParameterError
from separatrix.plots.canvas import Display

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

__all__ = ["TraceDisplay"]

Quantity = Literal["gap", "objective", "held_out"]
Clock = Literal["passes", "seconds"]

_LABELS = {
    "gap": "relative gap",
    "objective": "objective P(w)",
    "held_out": "held-out score",
    "passes": "passes over the data",
    "seconds": "seconds",
}


@dataclass
class TraceDisplay(Display):
    """One line per run of a solver.

    Use `from_estimator` to make one; give its `ax_` to the next to lay runs over each other.

    Attributes
    ----------
    x, y : ndarray of shape (n,)
        Clock and quantity, one value per record of the trace.
    quantity : {"gap", "objective", "held_out"}
        What is drawn.
    clock : {"passes", "seconds"}
        Against what.
    name : str
        Label of the line.
    figure_, ax_, line_
        The figure, the axes and the line, after `plot`.
    """

    x: npt.NDArray[np.float64]
    y: npt.NDArray[np.float64]
    quantity: Quantity
    clock: Clock
    name: str
    line_: Line2D = field(init=False, repr=False)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        quantity: Quantity = "gap",
        clock: Clock = "passes",
        name: str | None = None,
        ax: Axes | None = None,
        **line_options: Any,
    ) -> Self:
        """Draw the trace of a fitted estimator.

        Parameters
        ----------
        estimator : estimator with `solution_`
            A fitted learner.
        quantity : {"gap", "objective", "held_out"}, default="gap"
            The relative gap gap / |P| on a log scale, the objective P(w), or the
            held-out score.
        clock : {"passes", "seconds"}, default="passes"
            The horizontal axis; the trace of a loaded model has no seconds.
        name : str, optional
            Label; the solver's name by default.
        ax : Axes, optional
            Where to draw; new axes by default.
        **line_options
            Handed to `Axes.plot`.

        Returns
        -------
        TraceDisplay
            The picture, with `figure_` and `ax_`.
        """
        if quantity not in get_args(Quantity) or clock not in get_args(Clock):
            raise ParameterError(
                f"quantity must be one of {get_args(Quantity)} and clock one of "
                f"{get_args(Clock)}, got {quantity!r} and {clock!r}"
            )
        check_is_fitted(estimator, "solution_")
        solution = estimator.solution_
        trace = solution.trace
        x = trace.n_passes if clock == "passes" else trace.seconds
        y = getattr(trace, quantity)
        if quantity == "gap":
            y = y / np.abs(trace.objective)
        for values, what in ((x, clock), (y, quantity.replace("_", "-"))):
            if not np.isfinite(values).any():
                raise ParameterError(f"the trace of {solution.solver!r} holds no {what} to draw")
        return cls(x, y, quantity, clock, name or solution.solver).plot(ax=ax, **line_options)

    def plot(self, ax: Axes | None = None, **line_options: Any) -> Self:
        """Draw the line.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; new axes by default.
        **line_options
            Handed to `Axes.plot`.

        Returns
        -------
        TraceDisplay
            This display.
        """
        self._open(ax)
        options: dict[str, Any] = {"label": self.name, "marker": ".", "linewidth": 1.5}
        (self.line_,) = self.ax_.plot(self.x, self.y, **(options | line_options))
        if self.quantity == "gap":
            self.ax_.set_yscale("log")
        self.ax_.set(xlabel=_LABELS[self.clock], ylabel=_LABELS[self.quantity])
        self.ax_.legend(frameon=False)
        return self
