"""Images as arrays of numbers: checks, sizes, and features of every pixel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import ndimage

from separatrix.errors import DataError, ParameterError

__all__ = [
    "FEATURES",
    "enlarged",
    "pixel_features",
    "read_images",
    "read_label_images",
    "shrunk",
    "shrunk_shape",
]

Floats = npt.NDArray[np.float64]

#: Groups of features of a pixel.
FEATURES = ("color", "position", "texture")
#: Sides of the windows of texture, in pixels.
_WINDOWS = (3, 7, 15)
#: Bumps along an axis of the image, and along the brightness of a channel; their widths.
_PLACES, _LEVELS = 7, 8
_PLACE_WIDTH, _LEVEL_WIDTH = 0.32, 0.15


def read_images(images: Any) -> list[Floats]:
    """Images as arrays of shape (height, width, channels) of numbers from 0 to 1.

    Whole numbers are divided by the largest of their type, so that 255 is 1.

    Examples
    --------
    >>> [one.shape for one in read_images([np.zeros((2, 3)), np.zeros((4, 5, 1))])]
    [(2, 3, 1), (4, 5, 1)]
    """
    if isinstance(images, str) or not hasattr(images, "__len__"):
        raise DataError("images must be a sequence of arrays of shape (height, width[, channels])")
    if not len(images):
        raise DataError("there are no images")
    found: list[Floats] = []
    for number, image in enumerate(images):
        array = np.asarray(image)
        if array.ndim not in (2, 3) or 0 in array.shape:
            raise DataError(
                f"image {number} has shape {array.shape}; expected (height, width) or "
                "(height, width, channels)"
            )
        if array.dtype.kind not in "buif":
            raise DataError(f"image {number} holds {array.dtype}, no numbers")
        if array.dtype.kind in "ui":
            array = array / np.iinfo(array.dtype).max
        array = array.astype(np.float64)
        if not np.isfinite(array).all():
            row, column = np.argwhere(~np.isfinite(array))[0][:2].tolist()
            raise DataError(f"image {number} is not finite in row {row}, column {column}")
        found.append(array.reshape(*array.shape[:2], -1))
        if found[-1].shape[2] != found[0].shape[2]:
            raise DataError(
                f"image {number} has {found[-1].shape[2]} channels, image 0 has {found[0].shape[2]}"
            )
    return found


def read_label_images(labels: Any, images: Sequence[Floats]) -> list[npt.NDArray[Any]]:
    """A label for every pixel, as arrays of shape (height, width) of the images."""
    if len(labels) != len(images):
        raise DataError(f"there are {len(images)} images, but {len(labels)} label images")
    truth = [np.asarray(one) for one in labels]
    for number, (image, label) in enumerate(zip(images, truth, strict=True)):
        if label.shape != image.shape[:2]:
            raise DataError(
                f"image {number} has shape {image.shape[:2]}, its label image {label.shape}"
            )
    return truth


def shrunk_shape(shape: Sequence[int], max_side: int | None) -> tuple[int, int]:
    """Height and width at which an image is worked on: the longer side at most `max_side`.

    Examples
    --------
    >>> shrunk_shape((300, 200), 60), shrunk_shape((30, 20), 60)
    ((60, 40), (30, 20))
    """
    height, width = int(shape[0]), int(shape[1])
    share = 1.0 if max_side is None else min(1.0, max_side / max(height, width))
    return max(1, round(share * height)), max(1, round(share * width))


def shrunk(image: Floats, shape: tuple[int, int]) -> Floats:
    """An image at a smaller size, every new pixel about the mean of those it stands for."""
    if image.shape[:2] == shape:
        return image
    shares = [new / old for new, old in zip(shape, image.shape, strict=False)]
    blurred = ndimage.gaussian_filter(image, [0.4 / share for share in shares] + [0.0])
    return _zoomed(blurred, [*shares, 1.0], 1)


def enlarged(image: Floats, shape: tuple[int, int], order: int = 1) -> Floats:
    """An array of shape (height, width, n) at another size; order 0 repeats pixels."""
    if image.shape[:2] == shape:
        return image
    shares = [new / old for new, old in zip(shape, image.shape, strict=False)]
    return _zoomed(image, [*shares, 1.0], order)


def _zoomed(image: Floats, shares: list[float], order: int) -> Floats:
    # Cells of the old and the new grid cover the same square.
    zoom: Any = ndimage.zoom
    found: Floats = zoom(image, shares, order=order, mode="nearest", grid_mode=True)
    return found


def pixel_features(image: Floats, features: Sequence[str] = FEATURES) -> Floats:
    """Features of every pixel, shape (height, width, n_features).

    Parameters
    ----------
    image : array of shape (height, width, channels)
        Numbers from 0 to 1.
    features : sequence of {"color", "position", "texture"}
        "color": channels, their squares, their difference from the mean of the image, and bumps
        along that difference; "position": row, column, and bumps over a grid of places; "texture":
        means, deviations and edges in windows around the pixel.

    Examples
    --------
    >>> pixel_features(np.zeros((4, 5, 3)), ["color"]).shape[:2]
    (4, 5)
    """
    makers = {"color": _color, "position": _position, "texture": _texture}
    if not len(features):
        raise ParameterError(f"features must name some of {', '.join(FEATURES)}")
    for name in features:
        if name not in makers:
            raise ParameterError(f"features must be of {', '.join(FEATURES)}, got {name!r}")
    return np.concatenate([makers[name](image) for name in features], axis=2)


def _bumps(values: Floats, centers: Floats, width: float) -> Floats:
    """exp(-(v - c)^2 / width^2) of every value and center, side by side on the last axis."""
    found: Floats = np.exp(-(((values[..., None] - centers) / width) ** 2))
    return found.reshape(*values.shape[:2], -1)


def _color(image: Floats) -> Floats:
    relative = image - image.mean(axis=(0, 1))
    levels = _bumps(relative, np.linspace(-0.5, 0.5, _LEVELS), _LEVEL_WIDTH)
    return np.concatenate([image, image**2, relative, levels], axis=2)


def _position(image: Floats) -> Floats:
    height, width = image.shape[:2]
    row, column = np.meshgrid(
        np.linspace(-1.0, 1.0, height), np.linspace(-1.0, 1.0, width), indexing="ij"
    )
    centers = np.linspace(-1.0, 1.0, _PLACES)
    rows, columns = (_bumps(one[..., None], centers, _PLACE_WIDTH) for one in (row, column))
    places = (rows[..., :, None] * columns[..., None, :]).reshape(height, width, -1)
    return np.concatenate([row[..., None], column[..., None], places], axis=2)


def _texture(image: Floats) -> Floats:
    frame = np.concatenate([image[0], image[-1], image[:, 0], image[:, -1]]).mean(axis=0)
    steps = [np.abs(ndimage.sobel(image, axis=axis, mode="nearest")) for axis in (0, 1)]
    found = []
    for side in _WINDOWS:
        size = (side, side, 1)
        mean = ndimage.uniform_filter(image, size, mode="nearest")
        square = ndimage.uniform_filter(image**2, size, mode="nearest")
        deviation = np.sqrt(np.maximum(square - mean**2, 0.0))
        edges = [ndimage.uniform_filter(step, size, mode="nearest") for step in steps]
        levels = _bumps(mean, np.linspace(0.0, 1.0, _LEVELS), _LEVEL_WIDTH)
        found += [mean, np.abs(mean - frame), deviation, *edges, levels]
    return np.concatenate(found, axis=2)
