"""Folders of images, and of their label images beside them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from separatrix.data.dataset import Dataset
from separatrix.data.tables.columns import objects
from separatrix.errors import DataError, FormatError, MissingPackageError, ParameterError

__all__ = ["read_pictures"]

_ENDS = (".png", ".jpg", ".jpeg", ".tif", ".tiff", ".bmp", ".pgm", ".ppm")
#: Names of folders that hold label images.
_LABELS = ("labels", "label", "masks", "mask", "truth", "ground_truth", "segmentation", "target")
#: JPEG blurs labels: gray values above it (half of 255) are one label, all others the other.
_HALF = 127


def read_pictures(path: Path, name: str, target: Any) -> Dataset | None:
    """Images, and a label for each of their pixels; None where the folder holds no images.

    Parameters
    ----------
    path : Path
        Holds images, or a folder of images and one of label images, alike but for their endings.
    name : str
        The folder as it was given, for messages.
    target : str or None
        The folder of label images; "auto": one of the usual names. None: they are not wanted.
    """
    found = _pictures(path)
    if found:
        return Dataset("images", _all(found.values()), source=name, format="pictures")
    folders = {one.name: _pictures(one) for one in sorted(path.iterdir()) if one.is_dir()}
    folders = {one: held for one, held in folders.items() if held}
    if not folders:
        return None
    usual = [one for one in folders if one.lower() in _LABELS]
    if target is None:
        others = [one for one in folders if one not in usual]
        if len(others) != 1:
            raise DataError(f"{name} holds images in {', '.join(map(repr, folders))}: name one")
        return Dataset("images", _all(folders[others[0]].values()), source=name, format="pictures")
    if target != "auto":
        usual = [target]
    if len(folders) != 2 or len(usual) != 1:
        raise DataError(
            f"{name} holds images in {', '.join(map(repr, folders))}; there must be a folder of "
            "images and one of label images. Which has the label images? Name it by -t (target=)"
        )
    labels = usual[0]
    if labels not in folders:
        raise ParameterError(f"{name} has no folder {labels!r}; it has {', '.join(folders)}")
    images = next(one for one in folders if one != labels)
    for one, other in ((images, labels), (labels, images)):
        alone = sorted(folders[one].keys() - folders[other].keys())
        if alone:
            raise DataError(f"{name}: {one}/{alone[0]} has nothing of its name in {other}")
    stems = list(folders[images])
    X = _all(folders[images].values())
    y = objects([_labels(folders[labels][stem]) for stem in stems])
    for stem, image, label in zip(stems, X, y, strict=True):
        if image.shape[:2] != label.shape:
            raise DataError(
                f"{name}: the image {stem} has shape {image.shape[:2]}, its label image "
                f"{label.shape}"
            )
    return Dataset("images", X, y, target_name=labels, source=name, format="pictures")


def _pictures(folder: Path) -> dict[str, Path]:
    """Name without ending -> image."""
    files = [
        one
        for one in sorted(folder.iterdir())
        if one.suffix.lower() in _ENDS and not one.name.startswith(".")
    ]
    twice = [stem for stem, n in Counter(one.stem for one in files).items() if n > 1]
    if twice:
        raise DataError(f"{folder}: there are several images of the name {twice[0]}")
    return {one.stem: one for one in files}


def _image(path: Path) -> npt.NDArray[Any]:
    try:
        from skimage.io import imread
    except ImportError:
        raise MissingPackageError(
            f"{path} is an image, which needs scikit-image: pip install 'separatrix[images]'"
        ) from None
    try:
        image: npt.NDArray[Any] = imread(path)
    except (OSError, ValueError, SyntaxError) as error:
        raise FormatError(f"not a whole image: {error}", None, str(path)) from None
    return image


def _all(paths: Any) -> npt.NDArray[np.object_]:
    return objects([_image(path) for path in paths])


def _labels(path: Path) -> npt.NDArray[Any]:
    """Gray values as labels, of JPEG (which blurs) dark and bright."""
    image = _image(path)
    if image.ndim == 3 and (image == image[..., :1]).all():
        image = image[..., 0]
    if image.ndim != 2:
        raise DataError(f"{path} is in color; label images hold a gray value for every label")
    if path.suffix.lower() in (".jpg", ".jpeg"):
        return (image > _HALF).astype(np.uint8)
    return image
