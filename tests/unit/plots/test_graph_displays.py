"""Pictures of label graphs and of segmented images show the models' own numbers."""

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from separatrix import LogisticRegression, MultiLabel, Segmenter
from separatrix.errors import DataError, ParameterError
from separatrix.plots import LabelGraphDisplay, SegmentationDisplay

mpl.use("agg")
from matplotlib import pyplot as plt

random = np.random.default_rng(0)
X = random.normal(size=(80, 3))
Y = (X[:, [0, 0, 1]] + random.normal(0, 1, (80, 3)) > 0).astype(int)
MASKS = [np.zeros((8, 10), dtype=int) for _ in range(4)]
for at, mask in enumerate(MASKS):
    mask[2:6, at : at + 5] = 1
IMAGES = [mask * 0.5 + random.random(mask.shape) * 0.5 for mask in MASKS]


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def segmenter():
    return Segmenter(features=["color"], C=0.1, max_iter=30, tol=1e-2).fit(IMAGES, MASKS)


def test_a_label_graph_has_the_edges_of_the_model():
    model = MultiLabel(edges="full").fit(X, Y)
    display = LabelGraphDisplay.from_estimator(
        model, names=["a", "b", "c"], frequencies=Y.mean(axis=0)
    )
    assert len(display.lines_) == 3
    np.testing.assert_array_equal(display.weights, model.pair_weights_)
    widths = [line.get_linewidth() for line in display.lines_]
    assert np.argmax(widths) == np.argmax(np.abs(model.pair_weights_))
    texts = {text.get_text() for text in display.ax_.texts}
    assert texts == {"a", "b", "c"}


def test_a_label_graph_of_a_pipeline_on_given_axes():
    model = make_pipeline(StandardScaler(), MultiLabel(edges=[])).fit(X, Y)
    _, ax = plt.subplots()
    display = LabelGraphDisplay.from_estimator(model, ax=ax)
    assert display.ax_ is ax
    assert display.lines_ == []
    assert display.names == ("0", "1", "2")


def test_what_is_no_label_graph():
    with pytest.raises(ParameterError, match="LogisticRegression has no edges"):
        LabelGraphDisplay.from_estimator(LogisticRegression().fit(X, Y[:, 0]))
    model = MultiLabel().fit(X, Y)
    with pytest.raises(ParameterError, match="3 names are needed, got 1"):
        LabelGraphDisplay.from_estimator(model, names=["a"])
    with pytest.raises(ParameterError, match="3 frequencies are needed, got 2"):
        LabelGraphDisplay.from_estimator(model, frequencies=[0.1, 0.2])


def test_a_segmentation_shows_labels_and_probabilities(segmenter):
    display = SegmentationDisplay.from_estimator(segmenter, IMAGES[0], y=MASKS[0])
    assert len(display.axes_) == 4
    np.testing.assert_array_equal(display.labels, segmenter.predict(IMAGES[:1])[0])
    shares = segmenter.predict_proba(IMAGES[:1])[0][..., 1]
    np.testing.assert_array_equal(display.axes_[2].images[0].get_array(), shares)
    right = np.mean(display.labels == MASKS[0])
    assert f"{right:.1%} right" in display.axes_[3].get_title()
    assert len(SegmentationDisplay.from_estimator(segmenter, IMAGES[0]).axes_) == 3


def test_a_segmentation_on_given_axes(segmenter):
    _, axes = plt.subplots(2, 2)
    display = SegmentationDisplay.from_estimator(segmenter, IMAGES[0], y=MASKS[0], axes=axes)
    assert display.axes_ == tuple(axes.ravel())
    with pytest.raises(ParameterError, match="3 axes are needed, got 4"):
        SegmentationDisplay.from_estimator(segmenter, IMAGES[0], axes=axes)


def test_a_segmentation_of_three_labels_in_color():
    labels = [np.where(mask == 1, "horse", "grass").astype(object) for mask in MASKS]
    for one in labels:
        one[:2] = "sky"
    labels = [one.astype(str) for one in labels]
    images = [np.repeat(image[..., None], 3, axis=2) for image in IMAGES]
    model = Segmenter(C=0.1, max_iter=30, tol=1e-2).fit(images, labels)
    display = SegmentationDisplay.from_estimator(model, images[0], y=labels[0])
    assert display.classes == ("grass", "horse", "sky")
    assert display.axes_[2].get_title() == "probability of the predicted label"


def test_what_is_no_segmentation(segmenter):
    with pytest.raises(ParameterError, match="shows a fitted Segmenter"):
        SegmentationDisplay.from_estimator(Segmenter(), IMAGES[0])
    with pytest.raises(
        DataError, match=r"the image has shape \(8, 10\), its label image \(7, 10\)"
    ):
        SegmentationDisplay.from_estimator(segmenter, IMAGES[0], y=MASKS[0][1:])
    with pytest.raises(DataError, match="label 9 in row 0, column 0 is not known"):
        SegmentationDisplay.from_estimator(segmenter, IMAGES[0], y=MASKS[0] + 9)
