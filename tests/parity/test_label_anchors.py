"""Label sets and images: scikit-learn's numbers without edges, and what edges add on real data.

The settings are those that the examples choose on training data (`examples/label_sets.py`,
`examples/plot_horses.py`).
"""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, hamming_loss, jaccard_score
from sklearn.preprocessing import StandardScaler

from separatrix import MultiLabel, Segmenter, read


def load(folder):
    parts = [read(folder / f"{part}.svm.gz", multilabel=True) for part in ("train", "test")]
    labels = parts[0].y.classes
    scaler = StandardScaler().fit(parts[0].X.toarray())
    return [
        array
        for part in parts
        for array in (
            scaler.transform(part.X.toarray()),
            part.y.matrix(labels).toarray().astype(int),
        )
    ]


@pytest.mark.data("multilabel")
def test_without_edges_it_is_scikit_learns_logistic_regression(data_dir):
    X, Y, X_test, _ = load(data_dir / "multilabel" / "emotions")
    found = MultiLabel(edges=[], C=0.1, tol=1e-10, max_iter=2000).fit(X, Y).predict_proba(X_test)
    for label in range(Y.shape[1]):
        peer = LogisticRegression(C=0.1, tol=1e-10, max_iter=2000).fit(X, Y[:, label])
        np.testing.assert_allclose(found[:, label], peer.predict_proba(X_test)[:, 1], atol=1e-4)


@pytest.mark.data("multilabel")
@pytest.mark.parametrize(
    ("name", "alone", "gain"), [("scene", 0.03, 0.03), ("yeast_ml", 0.01, 0.03)]
)
def test_edges_add_whole_sets(data_dir, name, alone, gain):
    X, Y, X_test, Y_test = load(data_dir / "multilabel" / name)
    independent = MultiLabel(edges=[], C=alone, tol=1e-4, max_iter=300).fit(X, Y)
    edges = "full" if name == "scene" else "tree"
    joined = MultiLabel(edges=edges, C=0.1, tol=1e-4, max_iter=300).fit(X, Y)
    scores = [accuracy_score(Y_test, model.predict(X_test)) for model in (independent, joined)]
    assert scores[1] > scores[0] + gain
    likely = independent.set_params(decision="hamming").predict(X_test)
    assert hamming_loss(Y_test, likely) < {"scene": 0.11, "yeast_ml": 0.21}[name]


@pytest.mark.slow
@pytest.mark.data("weizmann_horses")
def test_neighbors_add_to_the_horse(data_dir):
    from matplotlib import pyplot as plt

    folder = data_dir / "weizmann_horses"
    images = [plt.imread(folder / "gray" / f"horse{k:03d}.jpg") for k in range(1, 329)]
    masks = [
        plt.imread(folder / "figure_ground" / f"horse{k:03d}.jpg") > 127 for k in range(1, 329)
    ]
    found = []
    for neighborhood in (0, 4):
        model = Segmenter(
            neighborhood=neighborhood, max_side=28, max_sweeps=12, C=0.1, tol=1e-3, max_iter=40
        ).fit(images[:228], masks[:228])
        said = np.concatenate([one.ravel() for one in model.predict(images[228:])])
        found.append(jaccard_score(np.concatenate([one.ravel() for one in masks[228:]]), said))
    assert found[1] > found[0] + 0.015
