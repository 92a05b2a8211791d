"""Pixel grids: which pixels are on, and the shape of what is drawn."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from math import isqrt
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from separatrix._core import Dense, measure_pixels
from separatrix.errors import DataError, ParameterError
from separatrix.validation import (
    check_choice,
    is_sparse,
    number_of_threads,
    refuse_dask,
    validate_X,
)

__all__ = ["PixelGrid"]

_SHAPES = ("n_components", "n_loops", "aspect_ratio")


@dataclass(eq=False, repr=False)
class PixelGrid(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Pixels on or off, and counts of components, loops and the aspect ratio of the drawing.

    A pixel is on when its value is above the threshold. Components are maximal sets of connected
    on pixels; loops are components of off pixels that do not reach the border (one in a 0 or 6,
    two in an 8); the aspect ratio is width / height of the bounding box of the on pixels (0 for an
    empty image). On pixels that touch at a corner are connected with ``connectivity=8``, off pixels
    then are not, and the other way round with 4.

    Parameters
    ----------
    shape : (int, int) or None, default=None
        Height and width of the images in rows of h*w values; one of them may be -1, to be found
        from the other. None: square images, or images of shape (n, h, w).
    threshold : float, default=0.5
        Values above it are on: 0.5 for intensities in [0, 1]. Scale other images first.
    pixels : bool, default=True
        Give a column of 0 and 1 per pixel.
    shapes : bool, default=True
        Give the columns n_components, n_loops and aspect_ratio.
    connectivity : {8, 4}, default=8
        Neighbors of an on pixel.
    sparse_output : bool, default=False
        Give CSR instead of a dense array.
    n_jobs : int or None, default=None
        Threads; the result does not depend on it.

    Attributes
    ----------
    shape_ : (int, int)
        Height and width.
    n_features_in_ : int
        Pixels of an image.

    Examples
    --------
    >>> import numpy as np
    >>> from separatrix.features import PixelGrid
    >>> zero = np.array([[0, 1, 1], [1, 0, 1], [1, 1, 1]])
    >>> grid = PixelGrid(pixels=False)
    >>> grid.fit_transform(zero[None])
    array([[1., 1., 1.]])
    >>> grid.get_feature_names_out()
    array(['n_components', 'n_loops', 'aspect_ratio'], dtype=object)
    """

    __sx_state__: ClassVar[tuple[str, ...]] = ("shape_",)

    shape_: tuple[int, int] = field(init=False)
    n_features_in_: int = field(init=False)

    shape: Any = None
    _: KW_ONLY
    threshold: float = 0.5
    pixels: bool = True
    shapes: bool = True
    connectivity: int = 8
    sparse_output: bool = False
    n_jobs: int | None = None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array = True
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find height and width.

        Parameters
        ----------
        X : array of shape (n, h*w) or (n, h, w), or sparse matrix of shape (n, h*w)
            The images.
        y : ignored
        """
        refuse_dask(self, X, y)
        check_choice("connectivity", self.connectivity, (8, 4))
        if not isinstance(self.threshold, int | float | np.number) or not np.isfinite(
            self.threshold
        ):
            raise ParameterError(f"threshold must be a finite number, got {self.threshold!r}")
        if not (self.pixels or self.shapes):
            raise ParameterError("pixels=False and shapes=False leave no column")
        self._read(X, reset=True)
        return self

    def _read(self, X: Any, *, reset: bool) -> npt.NDArray[Any]:
        """The images as rows of a finite float matrix, their size checked."""
        size = None
        if getattr(X, "ndim", 2) == 3 and not is_sparse(X):
            X = np.asarray(X)
            size = X.shape[1:]
            if not reset and size != self.shape_:
                raise DataError(f"images are {size}, but those of fit were {self.shape_}")
            X = X.reshape(len(X), -1)
        rows = validate_X(self, X, reset=reset)
        rows = np.ascontiguousarray(rows.toarray() if is_sparse(rows) else rows)
        if reset:
            self.shape_ = self._find_shape(rows.shape[1], size)
        Dense(rows).check(number_of_threads(self.n_jobs))
        return rows

    def _find_shape(self, n_pixels: int, size: Any) -> tuple[int, int]:
        shape = self.shape
        if shape is None:
            if size is None:
                side = isqrt(n_pixels)
                if side * side != n_pixels:
                    raise DataError(
                        f"{n_pixels} pixels are not a square; give shape=(height, width)"
                    )
                size = (side, side)
            return int(size[0]), int(size[1])
        if len(shape) != 2 or any(int(n) != n or (n < 1 and n != -1) for n in shape):
            raise ParameterError(f"shape must be (height, width), got {shape!r}")
        height, width = int(shape[0]), int(shape[1])
        if height == -1 or width == -1:
            known = max(height, width)
            if known == -1 or n_pixels % known:
                raise DataError(f"{n_pixels} pixels do not fit shape={shape}")
            other = n_pixels // known
            height, width = (other, known) if height == -1 else (known, other)
        if height * width != n_pixels or (size is not None and size != (height, width)):
            found = f"{n_pixels} pixels" if size is None else f"images of {size}"
            raise DataError(f"{found} do not fit shape={shape}")
        return height, width

    def transform(self, X: Any) -> npt.NDArray[Any] | sp.csr_matrix:
        """On/off pixels and shapes.

        Parameters
        ----------
        X : array of shape (n, h*w) or (n, h, w), or sparse matrix of shape (n, h*w)
            The images.

        Returns
        -------
        array or CSR matrix of shape (n, n_features_out)
            Zeros and ones, then the shapes.
        """
        check_is_fitted(self)
        X = self._read(X, reset=False)
        parts = []
        if self.pixels:
            parts.append((self.threshold < X).astype(X.dtype))
        if self.shapes:
            counts = measure_pixels(
                Dense(X),
                *self.shape_,
                float(self.threshold),
                self.connectivity == 8,
                number_of_threads(self.n_jobs),
            )
            height, width = counts[:, 3], counts[:, 4]
            aspect = width / np.maximum(height, 1)
            parts.append(np.column_stack([counts[:, 1], counts[:, 2], aspect]).astype(X.dtype))
        result = np.hstack(parts)
        return sp.csr_matrix(result) if self.sparse_output else result

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[np.object_]:
        """Names: pixel_row_column (or those of the columns of X), then the shapes.

        Parameters
        ----------
        input_features : array of str or None, default=None
            Names of the columns of X; those of `fit`, if any, by default.
        """
        check_is_fitted(self)
        names: list[str] = []
        if self.pixels:
            if input_features is None and not hasattr(self, "feature_names_in_"):
                height, width = self.shape_
                names = [f"pixel_{y}_{x}" for y in range(height) for x in range(width)]
            else:
                names = list(_check_feature_names_in(self, input_features))
        return np.array([*names, *(_SHAPES if self.shapes else ())], dtype=object)
