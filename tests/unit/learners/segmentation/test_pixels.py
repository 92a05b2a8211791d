from __future__ import annotations

import numpy as np
import pytest

from separatrix.errors import DataError, ParameterError
from separatrix.learners.segmentation.nodes import contrast_features, make_nodes
from separatrix.learners.segmentation.pixels import (
    FEATURES,
    enlarged,
    pixel_features,
    read_images,
    shrunk,
    shrunk_shape,
)

random = np.random.default_rng(0)


def test_whole_numbers_are_shares_of_the_largest():
    found = read_images([np.array([[0, 255]], dtype=np.uint8), np.array([[0, 65535]], np.uint16)])
    assert [one.ravel().tolist() for one in found] == [[0.0, 1.0], [0.0, 1.0]]
    assert read_images([np.array([[True, False]])])[0].ravel().tolist() == [1.0, 0.0]
    assert read_images(np.zeros((3, 4, 5)))[2].shape == (4, 5, 1)


@pytest.mark.parametrize(
    ("images", "message"),
    [
        ([], "there are no images"),
        ("horse.jpg", "images must be a sequence"),
        ([np.zeros(4)], r"image 0 has shape \(4,\)"),
        ([np.zeros((2, 2)), np.zeros((0, 2))], r"image 1 has shape \(0, 2\)"),
        ([np.array([["a"]])], "image 0 holds <U1"),
        (
            [np.zeros((2, 2)), np.array([[0.0, 1.0], [np.nan, 0.0]])],
            "image 1 is not finite in row 1",
        ),
        ([np.zeros((2, 2)), np.zeros((2, 2, 3))], "image 1 has 3 channels, image 0 has 1"),
    ],
)
def test_bad_images_are_named(images, message):
    with pytest.raises(DataError, match=message):
        read_images(images)


def test_sizes():
    assert shrunk_shape((100, 50), 20) == (20, 10)
    assert shrunk_shape((100, 50), None) == (100, 50)
    assert shrunk_shape((1000, 1), 10) == (10, 1)
    image = random.random((40, 30, 2))
    assert shrunk(image, (40, 30)) is image
    assert shrunk(image, (20, 15)).shape == (20, 15, 2)
    assert enlarged(image, (41, 67)).shape == (41, 67, 2)


def test_shrinking_keeps_means_and_flat_images():
    flat = np.full((33, 47, 1), 0.3)
    np.testing.assert_allclose(shrunk(flat, (8, 11)), 0.3)
    np.testing.assert_allclose(enlarged(flat, (80, 99)), 0.3)
    image = random.random((64, 64, 1))
    assert abs(shrunk(image, (16, 16)).mean() - image.mean()) < 0.01


def test_halves_stay_in_place():
    half = np.zeros((40, 60, 1))
    half[:, 30:] = 1.0
    small = shrunk(half, (10, 15))
    assert (small[:, :7] < 0.5).all()
    assert (small[:, 8:] > 0.5).all()
    back = enlarged(small, (40, 60))[..., 0] > 0.5
    assert np.mean(back == (half[..., 0] > 0.5)) > 0.98


@pytest.mark.parametrize("channels", [1, 3])
def test_features_are_finite_and_as_many_for_all_sizes(channels):
    shapes = [(9, 14), (1, 5), (30, 3)]
    found = [pixel_features(random.random((*shape, channels))) for shape in shapes]
    assert [one.shape[:2] for one in found] == shapes
    assert len({one.shape[2] for one in found}) == 1
    assert all(np.isfinite(one).all() for one in found)
    parts = [pixel_features(random.random((9, 14, channels)), [name]) for name in FEATURES]
    assert sum(one.shape[2] for one in parts) == found[0].shape[2]


def test_position_does_not_see_color():
    first, second = (pixel_features(random.random((6, 7, 1)), ["position"]) for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_color_does_not_see_position():
    image = random.random((6, 7, 1))
    there = pixel_features(image, ["color"])
    turned = pixel_features(image[::-1, ::-1], ["color"])
    np.testing.assert_allclose(turned, there[::-1, ::-1], atol=1e-12)


def test_unknown_features():
    with pytest.raises(ParameterError, match="got 'smell'"):
        pixel_features(np.zeros((2, 2, 1)), ["smell"])
    with pytest.raises(ParameterError, match="must name some of"):
        pixel_features(np.zeros((2, 2, 1)), [])


def test_contrast_is_one_for_equal_colors():
    colors = np.array([[0.2], [0.2], [0.9]])
    found = contrast_features(colors, np.array([[0, 1], [1, 2]]))
    np.testing.assert_allclose(found[0], 1.0)
    assert (found[1] < 0.01).all()


def test_superpixels_cover_the_image():
    pytest.importorskip("skimage")
    image = np.zeros((30, 40, 1))
    image[:, 20:] = 1.0
    nodes = make_nodes(image, ("color",), None, 20)
    assert nodes.node_of.shape == (30, 40)
    assert set(np.unique(nodes.node_of)) == set(range(len(nodes.features)))
    # No patch crosses the edge of the square.
    assert set(np.unique(nodes.colors)) <= {0.0, 1.0}
    edges = nodes.neighbors()
    assert (edges[:, 0] < edges[:, 1]).all()
    assert len(np.unique(edges, axis=0)) == len(edges)
    np.testing.assert_allclose(nodes.painted(nodes.means(image)), image)
