"""Documents for the tests of the text vectorizer."""

import numpy as np

WORDS = np.array([f"{a}{b}{'é' * (b == 'q')}" for a in "abcdefghij" for b in "klmnopqrst"])


def documents(n, length=40, seed=0):
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(WORDS, rng.integers(0, length))) for _ in range(n)]


def assert_same(a, b):
    np.testing.assert_array_equal(a.indptr, b.indptr)
    np.testing.assert_array_equal(a.indices, b.indices)
    np.testing.assert_array_equal(a.data, b.data)
    assert a.shape == b.shape
