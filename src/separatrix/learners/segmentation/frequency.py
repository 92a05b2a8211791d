"""The baseline on images: one label for all pixels."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from separatrix.learners.segmentation.pixels import read_images, read_label_images
from separatrix.validation import refuse_dask

__all__ = ["MajorityPixel"]


class MajorityPixel(BaseEstimator):  # type: ignore[misc]
    """Gives every pixel the label that most pixels have in training.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
        The labels, sorted.
    label_prior_ : ndarray of shape (K,)
        Share of the training pixels that have each label.

    Examples
    --------
    >>> from separatrix.learners.segmentation import MajorityPixel
    >>> baseline = MajorityPixel().fit([np.zeros((1, 3))], [np.array([[1, 0, 1]])])
    >>> baseline.predict([np.ones((2, 2))])[0].tolist()
    [[1, 1], [1, 1]]
    """

    #: What it takes, for model files.
    __sx_input__: ClassVar[str] = "pictures"
    #: The kind of its output, for model files.
    __sx_task__: ClassVar[str] = "label_images"
    __sx_state__: ClassVar[tuple[str, ...]] = ("classes_", "label_prior_")

    classes_: npt.NDArray[Any]
    label_prior_: npt.NDArray[np.float64]

    def fit(self, X: Any, y: Any) -> Self:
        """Count the labels.

        Parameters
        ----------
        X : sequence of n arrays of shape (height, width) or (height, width, channels)
            Images of any sizes.
        y : sequence of n arrays of shape (height, width)
            A label for every pixel.
        """
        refuse_dask(self, X, y)
        truth = read_label_images(y, read_images(X))
        self.classes_, counts = np.unique(
            np.concatenate([one.ravel() for one in truth]), return_counts=True
        )
        self.label_prior_ = counts / counts.sum()
        return self

    def predict(self, X: Any) -> list[npt.NDArray[Any]]:
        """The most frequent label for every pixel, arrays of shape (height, width)."""
        label = self.classes_[[self._shares().argmax()]]
        return [np.tile(label, image.shape[:2]) for image in read_images(X)]

    def predict_proba(self, X: Any) -> list[npt.NDArray[np.float64]]:
        """Shares of the labels for every pixel, arrays of shape (height, width, K)."""
        return [np.tile(self._shares(), (*image.shape[:2], 1)) for image in read_images(X)]

    def _shares(self) -> npt.NDArray[np.float64]:
        check_is_fitted(self)
        return self.label_prior_
