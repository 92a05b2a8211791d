from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import jaccard_score

from separatrix import LogisticRegression, Segmenter
from separatrix.errors import DataError, NotFittedError, ParameterError


def drawn(n, seed=0, shape=(14, 18)):
    """Squares that noise hides, and where they are."""
    random = np.random.default_rng(seed)
    images, masks = [], []
    for _ in range(n):
        mask = np.zeros(shape, dtype=int)
        top, left = random.integers(1, 6, size=2)
        mask[top : top + 7, left : left + 9] = 1
        images.append(mask + random.normal(0, 0.6, shape))
        masks.append(mask)
    return images, masks


IMAGES, MASKS = drawn(12)
MORE, TRUTH = drawn(8, seed=1)


def make(**settings):
    given = {"features": ["color"], "C": 0.1, "max_iter": 40, "tol": 1e-3}
    return Segmenter(**(given | settings))


def iou(model):
    said = model.predict(MORE)
    return jaccard_score(np.ravel(TRUTH), np.ravel(said))


@pytest.fixture(scope="module")
def fitted():
    return make().fit(IMAGES, MASKS)


@pytest.fixture(scope="module")
def unary():
    return make(neighborhood=0).fit(IMAGES, MASKS)


def test_neighbors_help(fitted, unary):
    assert iou(fitted) > iou(unary) + 0.1
    assert fitted.score(MORE, TRUTH) > unary.score(MORE, TRUTH)


def test_probabilities(fitted):
    shares = fitted.predict_proba(MORE)
    assert [one.shape for one in shares] == [(14, 18, 2)] * 8
    np.testing.assert_allclose(np.sum(shares, axis=-1), 1.0, atol=1e-6)
    for share, said in zip(shares, fitted.predict(MORE), strict=True):
        np.testing.assert_array_equal(share.argmax(axis=2), said)


def test_pixels_on_their_own_are_a_softmax_regression(unary):
    # The penalty of two weight vectors w and -w is that of one at twice the C.
    model = clone(unary).set_params(tol=1e-9, max_iter=500).fit(IMAGES, MASKS)
    rows = model._graphs([model._nodes(image[..., None]) for image in IMAGES]).matrix
    flat = LogisticRegression(C=0.2, tol=1e-9).fit(rows, np.ravel(MASKS))
    shares = np.concatenate([one[..., 1].ravel() for one in model.predict_proba(IMAGES)])
    np.testing.assert_allclose(shares, flat.predict_proba(rows)[:, 1], atol=2e-3)


@pytest.mark.parametrize("learner", ["svm", "perceptron"])
def test_other_learners(learner, unary):
    model = make(learner=learner, random_state=0).fit(IMAGES, MASKS)
    assert iou(model) > iou(unary)
    with pytest.raises(AttributeError, match="has no probabilities"):
        model.predict_proba(MORE)


@pytest.mark.parametrize(
    "settings",
    [
        {"neighborhood": 8},
        {"contrast": False},
        {"pairs": "associative"},
        {"loss": "pseudo"},
        {"inference": "loopy"},
        {"features": ["color", "position", "texture"]},
    ],
)
def test_settings(settings, unary):
    assert iou(make(**settings).fit(IMAGES, MASKS)) > iou(unary)


def test_images_of_many_sizes_are_labeled_at_their_own():
    large, masks = drawn(4, shape=(30, 26))
    model = make(max_side=14).fit(IMAGES[:4] + large, MASKS[:4] + masks)
    assert [one.shape for one in model.predict(MORE[:1] + large[:1])] == [(14, 18), (30, 26)]
    assert model.score(large, masks) > 0.8


def test_superpixels():
    pytest.importorskip("skimage")
    random = np.random.default_rng(0)
    images = [mask * 0.5 + random.normal(0.25, 0.1, mask.shape) for mask in MASKS]
    model = make(units="superpixels", n_segments=60).fit(images, MASKS)
    assert model.score(images, MASKS) > 0.9
    assert model.predict(images)[0].shape == (14, 18)


def test_labels_of_any_kind_and_number():
    names = np.array(["ground", "horse", "sky"])
    labels = [mask.copy() for mask in MASKS]
    for one in labels:
        one[:, :2] = 2
    images = [image + 2.0 * (label == 2) for image, label in zip(IMAGES, labels, strict=True)]
    model = make().fit(images, [names[one] for one in labels])
    assert model.classes_.tolist() == names.tolist()
    said = model.predict(images)
    assert set(np.unique(said)) <= set(names)
    assert model.score(images, [names[one] for one in labels]) > 0.85


def test_one_thread_is_many():
    one, two = (make(n_jobs=n).fit(IMAGES[:4], MASKS[:4]) for n in (1, 2))
    np.testing.assert_array_equal(one.learner_.coef_, two.learner_.coef_)


def test_frame_of_scikit_learn(fitted):
    assert clone(fitted).get_params() == fitted.get_params()
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.predict(MORE), fitted.predict(MORE))


def test_bad_input_is_named(fitted):
    with pytest.raises(DataError, match="there are 12 images, but 11 label images"):
        make().fit(IMAGES, MASKS[1:])
    with pytest.raises(
        DataError, match=r"image 2 has shape \(14, 18\), its label image \(13, 18\)"
    ):
        make().fit(IMAGES, [*MASKS[:2], MASKS[2][1:], *MASKS[3:]])
    with pytest.raises(DataError, match="all pixels have the label"):
        make().fit(IMAGES, [0 * mask for mask in MASKS])
    with pytest.raises(DataError, match="images have 3 channels, the model was fitted on 1"):
        fitted.predict([np.zeros((4, 4, 3))])
    with pytest.raises(NotFittedError):
        make().predict(MORE)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"units": "atoms"}, "units must be one of"),
        ({"learner": "forest"}, "learner must be one of"),
        ({"neighborhood": 6}, "neighborhood must be one of"),
        ({"C": -1.0}, "C must be a positive"),
        ({"features": "color"}, "features must be a list"),
        ({"features": ["smell"]}, "got 'smell'"),
        ({"max_side": 0}, "max_side must be a positive"),
    ],
)
def test_bad_parameters_are_named(settings, message):
    with pytest.raises(ParameterError, match=message):
        make(**settings).fit(IMAGES, MASKS)
