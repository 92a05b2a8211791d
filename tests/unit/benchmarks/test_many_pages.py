"""The pages about very many labels: data as described, figures that are there."""

import numpy as np
import pytest
from benchmarks import many, many_labels, many_softmax
from scipy import sparse


def test_rows_of_a_label_share_its_features():
    labels = np.repeat(np.arange(40), 3)
    X = many_labels.make_rows(labels, seed=1)
    np.testing.assert_allclose(np.sqrt((X.multiply(X)).sum(axis=1)), 1.0, rtol=1e-5)
    alike = (X @ X.T).toarray()
    same = labels[:, None] == labels
    off = ~np.eye(len(labels), dtype=bool)
    assert alike[same & off].mean() > 2 * alike[~same].mean()
    assert np.array_equal(many_labels.make_rows(labels, 1).indices, X.indices)


def test_a_small_model_is_measured_and_put_on_the_page():
    found = many_labels.measure(150)
    assert found["rows"] == 450
    assert found["p1"] > 0.5
    assert 0 < found["model_mb"] < found["peak_mb"]
    larger = {**found, "labels": 15_000, "row_us": 300.0}
    page = many_labels.page([{**found, "row_us": 100.0}, larger])
    assert "| 15,000 | 450 |" in page
    assert "a row alone: 100 → 300 us; the line through them rises by 100 us" in page


def test_dense_rows_lie_around_their_classes():
    data = many_softmax.make_rows(20)
    centers = np.array([data.X_train[data.y_train == k].mean(axis=0) for k in range(20)])
    nearest = (data.X_test @ centers.T).argmax(axis=1)
    assert (nearest == data.y_test).mean() > 0.9


def test_every_corpus_line_has_medians_and_the_range():
    runs = {
        str(seed): {"P@1": p, "P@5": 0.4, "PSP@1": 0.3, "PSP@5": 0.2, "train_cpu": t}
        | {"row_cpu_us": 9.0, "model_mb": 1.5}
        for seed, (t, p) in enumerate(((1.0, 0.66), (3.0, 0.68), (2.0, 0.67)))
    }
    kept = {"delicious": {"shape": [10, 5, 4, 3, 2.0], "runs": {"separatrix": runs, "gone": runs}}}
    text = many.page(kept)
    line = "3 | 67.00 (66.00 … 68.00) | 40.00 | 30.00 | 20.00 | 2.00 s | 9 us | 1.5 MB |"
    assert f"| separatrix | {line}" in text
    assert f"| gone (dropped since) | {line}" in text
    assert "10 rows to train, 5 to test, 4 features, 3 labels, 2.0 labels a row" in text


def test_ranks_are_scored_by_the_measures_of_the_library():
    Y = sparse.csr_matrix(np.eye(6)[[0, 1, 2, 0]])
    top = np.array([[0, 1, 2, 3, 4], [0, 1, 2, 3, 4], [3, 4, 5, -1, -1], [0, 1, 2, 3, 4]])
    found = many.scores_of(top, {"Y_train": Y, "Y_test": Y})
    assert found["P@1"] == 0.5
    assert found["P@5"] == pytest.approx(3 / 20)
    # Label 1, found second, is rarer than label 0.
    assert found["PSP@1"] < found["P@1"]
