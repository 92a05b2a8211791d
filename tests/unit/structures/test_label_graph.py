"""Mutual information of labels, and the tree made of it."""

import numpy as np
import pytest

from separatrix.structures.label_set.structure import chow_liu, mutual_information


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("n", [3, 10, 97])
def test_a_label_of_all_rows_or_of_none_tells_nothing(n):
    Y = (np.random.default_rng(0).random((n, 4)) < 0.5).astype(int)
    Y[:, 0], Y[:, 3] = 1, 0
    information = mutual_information(Y)
    np.testing.assert_allclose(information[[0, 3]], 0.0, atol=1e-12)
    assert np.isfinite(information).all()
    edges = chow_liu(Y)
    assert len(edges) == 3  # a tree over all four
    assert [1, 2] in edges.tolist()
