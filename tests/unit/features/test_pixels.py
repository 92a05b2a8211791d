import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import ndimage
from sklearn.datasets import load_digits

from separatrix.errors import DataError, ParameterError
from separatrix.features import PixelGrid

EIGHT, FOUR = np.ones((3, 3)), ndimage.generate_binary_structure(2, 1)


def truth(image, connectivity):
    on = np.pad(image > 0.5, 1)
    ink, paper = (EIGHT, FOUR) if connectivity == 8 else (FOUR, EIGHT)
    rows, columns = np.flatnonzero(on.any(axis=1)), np.flatnonzero(on.any(axis=0))
    aspect = (np.ptp(columns) + 1) / (np.ptp(rows) + 1) if len(rows) else 0
    return ndimage.label(on, ink)[1], ndimage.label(~on, paper)[1] - 1, aspect


@settings(max_examples=80)
@given(
    images=st.tuples(st.integers(1, 3), st.integers(1, 8), st.integers(1, 8)).flatmap(
        lambda shape: arrays(np.float64, shape, elements=st.sampled_from([0.0, 0.5, 0.6, 1.0]))
    ),
    connectivity=st.sampled_from([4, 8]),
)
def test_shapes_equal_ndimage(images, connectivity):
    grid = PixelGrid(pixels=False, connectivity=connectivity)
    expected = [truth(image, connectivity) for image in images]
    np.testing.assert_allclose(grid.fit_transform(images), expected)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_many_images_on_threads(dtype):
    images = np.random.default_rng(0).random((400, 28, 28)).astype(dtype)
    results = [PixelGrid(n_jobs=n).fit_transform(images) for n in (1, 2, 3)]
    assert results[0].dtype == dtype
    for result in results[1:]:
        np.testing.assert_array_equal(result, results[0])
    np.testing.assert_array_equal(results[0][:, :784], images.reshape(400, -1) > 0.5)
    np.testing.assert_allclose(results[0][:20, 784:], [truth(i, 8) for i in images[:20]], rtol=1e-6)


def test_loops_of_digits():
    X, y = load_digits(return_X_y=True)
    grid = PixelGrid(pixels=False, connectivity=4, threshold=0.2).fit(X / 16)  # thin strokes
    loops = grid.transform(X / 16)[:, 1]
    assert loops[y == 0].mean() > 0.8
    assert loops[y == 1].mean() < 0.2


def test_forms_of_input_and_names():
    images = np.random.default_rng(0).random((5, 2, 3))
    flat = images.reshape(5, 6)
    expected = PixelGrid().fit_transform(images)
    for shape in ((2, 3), (-1, 3), (2, -1)):
        np.testing.assert_array_equal(PixelGrid(shape).fit_transform(flat), expected)
        np.testing.assert_array_equal(PixelGrid(shape).fit_transform(sp.csr_array(flat)), expected)
    sparse = PixelGrid((2, 3), sparse_output=True).fit_transform(flat)
    assert sp.issparse(sparse)
    np.testing.assert_array_equal(sparse.toarray(), expected)
    grid = PixelGrid().fit(images)
    assert grid.get_feature_names_out()[[0, 5, 6]].tolist() == [
        "pixel_0_0",
        "pixel_1_2",
        "n_components",
    ]
    np.testing.assert_array_equal(grid.transform(flat), expected)


def test_errors():
    with pytest.raises(DataError, match="not a square"):
        PixelGrid().fit(np.ones((2, 6)))
    with pytest.raises(DataError, match="do not fit"):
        PixelGrid((2, 2)).fit(np.ones((2, 6)))
    with pytest.raises(DataError, match="do not fit"):
        PixelGrid((-1, 4)).fit(np.ones((2, 6)))
    with pytest.raises(DataError, match="those of fit"):
        PixelGrid().fit(np.ones((2, 2, 3))).transform(np.ones((2, 3, 2)))
    with pytest.raises(DataError, match="NaN at row 0, column 1"):
        PixelGrid((1, 2)).fit([[0.0, np.nan]])
    for bad in ({"pixels": False, "shapes": False}, {"connectivity": 6}, {"threshold": np.inf}):
        with pytest.raises(ParameterError):
            PixelGrid(**bad).fit(np.ones((2, 4)))
