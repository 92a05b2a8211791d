"""An image, its true labels, and what a segmenter makes of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from separatrix.errors import DataError, ParameterError
from separatrix.plots.canvas import COLORS, canvas

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["SegmentationDisplay"]


@dataclass
class SegmentationDisplay:
    """One image beside its labels: the truth where it is known, the prediction, a probability.

    Use `from_estimator` to make one.

    Attributes
    ----------
    image : ndarray of shape (height, width) or (height, width, 3)
        What is segmented.
    labels : ndarray of shape (height, width)
        Predicted labels, as numbers of `classes`.
    classes : tuple of str
        Names of the labels.
    truth : ndarray of shape (height, width) or None
        True labels, as numbers of `classes`.
    probabilities : ndarray of shape (height, width) or None
        Probability of the last label, of two; of the predicted one, of more.
    figure_, axes_
        The figure and the axes, after `plot`.
    """

    image: npt.NDArray[np.float64]
    labels: npt.NDArray[np.int64]
    classes: tuple[str, ...]
    truth: npt.NDArray[np.int64] | None = None
    probabilities: npt.NDArray[np.float64] | None = None
    figure_: Figure = field(init=False, repr=False)
    axes_: tuple[Axes, ...] = field(init=False, repr=False)

    @classmethod
    def from_estimator(cls, estimator: Any, image: Any, *, y: Any = None, axes: Any = None) -> Self:
        """Draw what a fitted segmenter makes of one image.

        Parameters
        ----------
        estimator : Segmenter
            Fitted.
        image : array of shape (height, width) or (height, width, channels)
        y : array of shape (height, width), optional
            The true labels.
        axes : sequence of Axes, optional
            Where to draw, one for each of the pictures; new ones by default.

        Returns
        -------
        SegmentationDisplay
            The picture, with `figure_` and `axes_`.
        """
        if not (hasattr(estimator, "predict") and hasattr(estimator, "classes_")):
            raise ParameterError("a segmentation shows a fitted Segmenter")
        classes = np.asarray(estimator.classes_)
        probabilities = None
        if getattr(estimator, "learner", "") == "crf":
            found = estimator.predict_proba([image])[0]
            labels = found.argmax(axis=2)
            probabilities = found[..., 1] if len(classes) == 2 else found.max(axis=2)
        else:
            labels = np.searchsorted(classes, estimator.predict([image])[0])
        picture = np.asarray(image)
        if picture.ndim == 3 and picture.shape[2] not in (3, 4):
            picture = picture.mean(axis=2)
        truth = None if y is None else _codes(np.asarray(y), classes, labels.shape)
        names = tuple(str(label) for label in classes)
        return cls(picture, labels.astype(np.int64), names, truth, probabilities).plot(axes)

    def plot(self, axes: Any = None) -> Self:
        """Draw the pictures.

        Parameters
        ----------
        axes : sequence of Axes, optional
            One for each picture: the image, the truth and the probability where there are any, and
            the labels over the image. New ones by default.

        Returns
        -------
        SegmentationDisplay
            This display.
        """
        pictures: list[tuple[str, Any]] = [("image", None)]
        if self.truth is not None:
            pictures.append(("truth", self.truth))
        if self.probabilities is not None:
            what = self.classes[1] if len(self.classes) == 2 else "the predicted label"
            pictures.append((f"probability of {what}", self.probabilities))
        pictures.append((self._words(), self.labels))
        if axes is None:
            self.figure_ = canvas(None)[0]
            self.figure_.clear()
            height, width = self.labels.shape
            side = 3.0
            self.figure_.set_size_inches(
                side * len(pictures), side * min(2.0, max(0.5, height / width)) + 0.4
            )
            axes = self.figure_.subplots(1, len(pictures), squeeze=False)[0]
        else:
            axes = np.ravel(axes)
            if len(axes) != len(pictures):
                raise ParameterError(f"{len(pictures)} axes are needed, got {len(axes)}")
            self.figure_ = canvas(axes[0])[0]
        self.axes_ = tuple(axes)
        for ax, (title, values) in zip(axes, pictures, strict=True):
            if values is not None and values is self.probabilities:
                ax.imshow(values, cmap="gray", vmin=0.0, vmax=1.0)
            else:
                ax.imshow(self.image, cmap="gray")
                if values is not None:
                    ax.imshow(_tinted(values))
            ax.set_title(title, fontsize="medium")
            ax.set_xticks([])
            ax.set_yticks([])
        return self

    def _words(self) -> str:
        if self.truth is None:
            return "prediction"
        return f"prediction, {np.mean(self.truth == self.labels):.1%} right"


def _codes(
    truth: npt.NDArray[Any], classes: npt.NDArray[Any], shape: tuple[int, ...]
) -> npt.NDArray[np.int64]:
    if truth.shape != shape:
        raise DataError(f"the image has shape {shape}, its label image {truth.shape}")
    known = np.isin(truth, classes)
    if not known.all():
        row, column = np.argwhere(~known)[0].tolist()
        label = truth[row, column].item()
        raise DataError(f"label {label!r} in row {row}, column {column} is not known to the model")
    return np.searchsorted(classes, truth).astype(np.int64)


def _tinted(labels: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """A color for every label but the first, half transparent."""
    from matplotlib.colors import to_rgb

    colors = np.array([to_rgb(color) for color in COLORS])
    tint = np.zeros((*labels.shape, 4))
    tint[..., :3] = colors[labels % len(colors)]
    tint[..., 3] = np.where(labels == 0, 0.0, 0.55)
    return tint
