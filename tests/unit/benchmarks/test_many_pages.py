"""The pages about very many labels: data as described, figures that are there."""

import numpy as np
from benchmarks import delicious, many_labels, many_softmax


def test_rows_of_a_label_share_its_features():
    labels = np.repeat(np.arange(40), 3)
    X = many_labels.make_rows(labels, seed=1)
    np.testing.assert_allclose(np.sqrt((X.multiply(X)).sum(axis=1)), 1.0, rtol=1e-5)
    alike = (X @ X.T).toarray()
    same = labels[:, None] == labels
    off = ~np.eye(len(labels), dtype=bool)
    assert alike[same & off].mean() > 2 * alike[~same].mean()
    assert np.array_equal(many_labels.make_rows(labels, 1).indices, X.indices)


def test_a_small_tree_is_measured_and_put_on_the_page():
    found = many_labels.measure(150, verbose=0)
    assert found["rows"] == 450
    assert found["depth"] == 2
    assert found["p1"] > 0.5
    assert 0 < found["model_mb"] < found["peak_mb"]
    larger = {**found, "labels": 15_000, "row_us": 300.0}
    page = many_labels.page([{**found, "row_us": 100.0}, larger])
    assert "| 15,000 | 450 | 2 |" in page
    assert "a row alone: 100 → 300 us; the line through them rises by 100 us" in page


def test_dense_rows_lie_around_their_classes():
    data = many_softmax.make_rows(20)
    centers = np.array([data.X_train[data.y_train == k].mean(axis=0) for k in range(20)])
    nearest = (data.X_test @ centers.T).argmax(axis=1)
    assert (nearest == data.y_test).mean() > 0.9


def test_a_line_has_medians_and_the_range():
    runs = [
        {"train": t, "row_us": 9.0, "P@1": p, "P@3": 0.5, "P@5": 0.4}
        for t, p in ((1.0, 0.66), (3.0, 0.68), (2.0, 0.67))
    ]
    line = delicious._line("tree", runs)
    assert line == "| tree | 2.0 s | 9 us | 67.00 | 66.00 | 68.00 | 50.00 | 40.00 |"
