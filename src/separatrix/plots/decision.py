"""What a classifier says where: regions of the plane by predicted class, rejected area hatched."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import narwhals.stable.v1 as nw
import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from separatrix.errors import DataError, ParameterError
from separatrix.plots.canvas import COLORS, Display

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["DecisionRegionDisplay"]

_MARKERS = ("o", "^", "s", "D", "v", "P", "X")


@dataclass
class DecisionRegionDisplay(Display):
    """The predictions of a classifier over two features, with the rejected area hatched.

    Use `from_estimator` to make one.

    Attributes
    ----------
    xx0, xx1 : ndarray of shape (m, m)
        The grid of the two features.
    codes : ndarray of shape (m, m)
        At each point the place of the prediction in `actions`.
    actions : ndarray of shape (A,)
        What the classifier can say; the label of rejection, if there is one, comes last.
    n_rejected : int
        How many of the last `actions` stand for rejection: 0 or 1.
    names : tuple of two str
        Names of the features.
    figure_, ax_, surface_
        The figure, the axes and the filled contours, after `plot`.
    """

    xx0: npt.NDArray[np.float64]
    xx1: npt.NDArray[np.float64]
    codes: npt.NDArray[np.intp]
    actions: npt.NDArray[Any]
    n_rejected: int = 0
    names: tuple[str, str] = ("feature 0", "feature 1")
    surface_: Any = field(init=False, repr=False)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any = None,
        *,
        grid_resolution: int = 200,
        eps: float = 0.5,
        ax: Axes | None = None,
        **contour_options: Any,
    ) -> Self:
        """Draw the regions of a fitted classifier of two features.

        Parameters
        ----------
        estimator : fitted classifier
            Any classifier; one with `reject_label_` (such as `BayesDecision`) shows where it
            rejects.
        X : array-like or DataFrame of shape (n, 2)
            Data that span the picture.
        y : array-like of shape (n,), optional
            Labels; with them the rows of X are drawn as points.
        grid_resolution : int, default=200
            Points per axis at which the classifier is asked.
        eps : float, default=0.5
            How far the picture goes beyond the data.
        ax : Axes, optional
            Where to draw; new axes by default.
        **contour_options
            Handed to `Axes.contourf`.

        Returns
        -------
        DecisionRegionDisplay
            The picture, with `figure_` and `ax_`.

        Examples
        --------
        >>> import matplotlib; matplotlib.use("agg")
        >>> from sklearn.datasets import load_iris
        >>> from separatrix import BayesDecision, LogisticRegression
        >>> X, y = load_iris(return_X_y=True)
        >>> model = BayesDecision(LogisticRegression(), reject=0.2).fit(X[:, :2], y)
        >>> display = DecisionRegionDisplay.from_estimator(model, X[:, :2], y)
        >>> display.actions
        array([ 0,  1,  2, -1])
        >>> matplotlib.pyplot.close(display.figure_)
        """
        check_is_fitted(estimator)
        if grid_resolution < 2:
            raise ParameterError(f"grid_resolution must be at least 2, got {grid_resolution!r}")
        if not eps >= 0:
            raise ParameterError(f"eps must not be negative, got {eps!r}")
        frame = nw.from_native(X, pass_through=True, eager_only=True)
        named = isinstance(frame, nw.DataFrame)
        points = np.asarray(frame.to_numpy() if named else X, dtype=np.float64)
        if points.ndim != 2 or points.shape[1] != 2 or len(points) == 0:
            raise DataError(f"X must have two columns and at least one row, got {points.shape}")
        if y is not None and np.shape(y) != (len(points),):
            raise DataError(f"X has {len(points)} rows, but y has shape {np.shape(y)}")
        names = tuple(frame.columns) if named else cls.names
        low, high = points.min(axis=0) - eps, points.max(axis=0) + eps
        xx0, xx1 = np.meshgrid(
            np.linspace(low[0], high[0], grid_resolution),
            np.linspace(low[1], high[1], grid_resolution),
        )
        grid = np.column_stack([xx0.ravel(), xx1.ravel()])
        asked: Any = grid
        if named:  # a classifier that was fitted on names wants them back
            columns = {name: grid[:, i] for i, name in enumerate(frame.columns)}
            asked = nw.from_dict(columns, backend=frame.implementation).to_native()
        actions = np.asarray(getattr(estimator, "actions_", estimator.classes_))
        predicted = estimator.predict(asked).tolist()
        places = {action: place for place, action in enumerate(actions.tolist())}
        codes = np.array([places[label] for label in predicted], dtype=np.intp).reshape(xx0.shape)
        rejects = getattr(estimator, "reject_label_", None) is not None
        display = cls(xx0, xx1, codes, actions, int(rejects), (str(names[0]), str(names[1])))
        display.plot(ax=ax, **contour_options)
        if y is not None:
            display._scatter(points, np.asarray(y))
        return display

    def plot(self, ax: Axes | None = None, **contour_options: Any) -> Self:
        """Draw the regions.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; new axes by default.
        **contour_options
            Handed to `Axes.contourf`.

        Returns
        -------
        DecisionRegionDisplay
            This display.
        """
        self._open(ax)
        from matplotlib.patches import Patch

        n = len(self.actions)
        colors = [self._color(place) for place in range(n)]
        options: dict[str, Any] = {
            "levels": np.arange(n + 1) - 0.5,
            "colors": colors,
            "hatches": [None] * (n - self.n_rejected) + ["////"] * self.n_rejected,
            "alpha": 0.3,
        }
        self.surface_ = self.ax_.contourf(
            self.xx0, self.xx1, self.codes, **(options | contour_options)
        )
        handles = [
            Patch(
                facecolor=colors[place],
                alpha=0.3,
                label="rejected" if self._is_rejection(place) else str(action),
                hatch="////" if self._is_rejection(place) else None,
            )
            for place, action in enumerate(self.actions)
        ]
        self.ax_.legend(handles=handles, frameon=True, framealpha=0.9)
        self.ax_.set(xlabel=self.names[0], ylabel=self.names[1])
        return self

    def _is_rejection(self, place: int) -> bool:
        return place >= len(self.actions) - self.n_rejected

    def _color(self, place: int) -> str:
        return "0.6" if self._is_rejection(place) else COLORS[place % len(COLORS)]

    def _scatter(self, points: npt.NDArray[np.float64], y: npt.NDArray[Any]) -> None:
        known = self.actions.tolist()
        for number, label in enumerate(np.unique(y).tolist()):
            place = known.index(label) if label in known else number
            chosen = points[y == label]
            self.ax_.scatter(
                chosen[:, 0],
                chosen[:, 1],
                s=18,
                marker=_MARKERS[place % len(_MARKERS)],
                color=COLORS[place % len(COLORS)],
                edgecolors="white",
                linewidths=0.5,
            )
