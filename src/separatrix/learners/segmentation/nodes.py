"""From images to graphs of pixels or superpixels, and back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from separatrix.data import FeatureGraphs, Graphs
from separatrix.errors import MissingPackageError
from separatrix.learners.segmentation.pixels import pixel_features, shrunk, shrunk_shape

__all__ = ["Nodes", "as_graphs", "contrast_features", "make_nodes", "superpixels"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

#: Differences of color over which the evidence for an edge fades.
_CONTRASTS = (0.05, 0.15)


@dataclass(frozen=True, eq=False)
class Nodes:
    """One image as nodes.

    Attributes
    ----------
    features : array of shape (n_nodes, n_features)
    colors : array of shape (n_nodes, channels)
        Mean color, which the contrast of edges is made of.
    shape : (height, width)
        At which the image was worked on.
    node_of : int array of shape (height, width)
        The node of every pixel.
    """

    features: Floats
    colors: Floats
    shape: tuple[int, int]
    node_of: Integers

    def means(self, values: Floats) -> Floats:
        """Means of numbers per pixel, shape (height, width, n), over each node's pixels."""
        return _means(self.node_of, len(self.features), values)

    def painted(self, values: Floats) -> Floats:
        """Numbers per node, shape (n_nodes, n), for each of its pixels."""
        return values[self.node_of]

    def neighbors(self) -> Integers:
        """Pairs of nodes whose pixels touch along a side, each once, shape (n_edges, 2)."""
        places = self.node_of
        sides = ((places[:, :-1], places[:, 1:]), (places[:-1], places[1:]))
        pairs = np.concatenate([np.stack([a.ravel(), b.ravel()], axis=1) for a, b in sides])
        pairs = np.sort(pairs[pairs[:, 0] != pairs[:, 1]], axis=1)
        return np.unique(pairs, axis=0).reshape(-1, 2)


def _means(node_of: Integers, n_nodes: int, values: Floats) -> Floats:
    flat, columns = node_of.ravel(), values.reshape(node_of.size, -1).T
    sizes = np.bincount(flat, minlength=n_nodes)
    sums = [np.bincount(flat, weights=column, minlength=n_nodes) for column in columns]
    return np.stack(sums, axis=1) / sizes[:, None]


def make_nodes(
    image: Floats,
    features: Sequence[str],
    max_side: int | None,
    n_segments: int | None,
) -> Nodes:
    """The nodes of an image: its pixels, or about `n_segments` superpixels."""
    shape = shrunk_shape(image.shape, max_side)
    small = shrunk(image, shape)
    pixels = pixel_features(small, features)
    if n_segments is None:
        node_of = np.arange(shape[0] * shape[1], dtype=np.int64).reshape(shape)
        flat = pixels.reshape(node_of.size, -1)
        return Nodes(flat, small.reshape(node_of.size, -1), shape, node_of)
    node_of = superpixels(small, n_segments)
    n_nodes = int(node_of.max()) + 1
    return Nodes(_means(node_of, n_nodes, pixels), _means(node_of, n_nodes, small), shape, node_of)


def superpixels(image: Floats, n_segments: int) -> Integers:
    """Patches of like color (SLIC, Achanta et al. 2012), numbered from zero, shape (h, w).

    Raises
    ------
    MissingPackageError
        scikit-image is not installed.
    """
    try:
        from skimage.segmentation import slic
    except ImportError:
        raise MissingPackageError(
            "superpixels need scikit-image: pip install 'separatrix[images]'"
        ) from None
    found = slic(
        image, n_segments=n_segments, compactness=0.1, start_label=0, channel_axis=-1,
        convert2lab=False,
    )  # fmt: skip
    # Numbers without gaps, whatever was merged.
    return np.unique(found, return_inverse=True)[1].reshape(image.shape[:2]).astype(np.int64)


def contrast_features(colors: Floats, edges: Integers) -> Floats:
    """How alike the ends of every edge are, at several scales, shape (n_edges, 2).

    exp(-|c_i - c_j|^2 / scale^2): one where both have the same color (Boykov and Jolly 2001).
    """
    difference = colors[edges[:, 0]] - colors[edges[:, 1]]
    square = (difference**2).mean(axis=1, keepdims=True)
    alike: Floats = np.exp(-square / np.square(_CONTRASTS))
    return alike


def as_graphs(
    nodes: Sequence[Nodes], matrix: Floats, neighborhood: int, grid: bool, contrast: bool
) -> FeatureGraphs:
    """A graph per image: none, four or eight neighbors of pixels, or touching superpixels."""
    if not neighborhood:
        none = np.zeros((0, 2), dtype=np.int64)
        return FeatureGraphs(
            matrix, Graphs.of([len(one.features) for one in nodes], [none] * len(nodes))
        )
    if grid:
        graphs = Graphs.grids([one.shape for one in nodes], neighborhood)
    else:
        sizes = [len(one.features) for one in nodes]
        graphs = Graphs.of(sizes, [one.neighbors() for one in nodes])
    if not contrast:
        return FeatureGraphs(matrix, graphs)
    colors = np.concatenate([one.colors for one in nodes])
    return FeatureGraphs(matrix, graphs, contrast_features(colors, graphs.edges))
