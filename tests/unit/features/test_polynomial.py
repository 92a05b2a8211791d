import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.preprocessing import PolynomialFeatures

from separatrix.errors import DataError, ParameterError
from separatrix.features import Polynomial
from separatrix.features.polynomial import count_products


@settings(max_examples=60)
@given(
    X=st.integers(1, 5).flatmap(
        lambda d: arrays(float, (4, d), elements=st.sampled_from([0.0, 0.0, 1.0, -2.0, 0.5, 3.0]))
    ),
    low=st.integers(0, 2),
    more=st.integers(0, 2),
    interaction_only=st.booleans(),
)
def test_equals_scikit_learn_dense_and_sparse(X, low, more, interaction_only):
    high = max(1, low + more)
    total = count_products(X.shape[1], low, high, interaction_only=interaction_only)
    ours = Polynomial((low, high), interaction_only=interaction_only)
    if total == 0:
        with pytest.raises(DataError, match="no products"):
            ours.fit(X)
        return
    theirs = PolynomialFeatures(
        (low, high), interaction_only=interaction_only, include_bias=low == 0
    )
    expected = theirs.fit_transform(X)
    np.testing.assert_allclose(ours.fit_transform(X), expected, rtol=1e-15)
    sparse = ours.fit_transform(sp.csr_array(X))
    assert sparse.has_canonical_format
    assert sparse.indices.dtype == np.int32
    np.testing.assert_allclose(sparse.toarray(), expected, rtol=1e-15)
    assert ours.n_output_features_ == total == expected.shape[1]
    assert ours.get_feature_names_out().tolist() == theirs.get_feature_names_out().tolist()


def test_bias_and_names():
    X = np.array([[2.0, 3.0]])
    maker = Polynomial(2, include_bias=True)
    np.testing.assert_array_equal(maker.fit_transform(X), [[1, 2, 3, 4, 6, 9]])
    assert maker.get_feature_names_out(["a", "b"]).tolist() == ["1", "a", "b", "a^2", "a b", "b^2"]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_features", [None, 37])
def test_threads_and_precision(dtype, n_features):
    X = sp.random(900, 60, density=0.5, format="csr", random_state=0, dtype=dtype)
    results = [Polynomial(2, n_features=n_features, n_jobs=n).fit_transform(X) for n in (1, 2, 5)]
    for result in results:
        assert result.dtype == dtype
        assert (result != results[0]).nnz == 0
    if n_features is None:
        dense = Polynomial(2, n_jobs=2).fit_transform(X.toarray())
        assert dense.dtype == dtype
        np.testing.assert_array_equal(dense, results[0].toarray())


def test_hashing_keeps_inner_products_on_average():
    X = np.random.default_rng(0).normal(size=(6, 8))
    exact = Polynomial(3).fit_transform(X)
    hashed = Polynomial(3, n_features=2**20).fit_transform(X)
    assert hashed.shape == (6, 2**20)
    np.testing.assert_allclose((hashed @ hashed.T).toarray(), exact @ exact.T, rtol=1e-9)
    narrow = Polynomial(3, n_features=50).fit_transform(sp.csr_array(X))
    assert narrow.shape == (6, 50)
    assert narrow.has_sorted_indices


def test_unsorted_and_repeated_columns_are_added_up():
    X = sp.csr_array(
        (np.array([1.0, 2.0, 3.0]), np.array([2, 0, 2]), np.array([0, 3])), shape=(1, 3)
    )
    before = X.indices.copy()
    np.testing.assert_allclose(
        Polynomial().fit_transform(X).toarray(), Polynomial().fit_transform(np.array([[2.0, 0, 4]]))
    )
    np.testing.assert_array_equal(X.indices, before)


def test_too_many_products_say_to_hash():
    X = sp.csr_array(([1.0], ([0], [5])), shape=(2, 10_000))
    with pytest.raises(DataError, match=r"50015000 .*hash them"):
        Polynomial().fit(X)
    assert Polynomial(n_features=2**10).fit_transform(X).shape == (2, 2**10)
    wide = Polynomial(max_features=10**9).fit_transform(X)
    assert wide.shape == (2, 10_000 + 50_005_000)
    assert wide.nnz == 2


@pytest.mark.parametrize(
    "parameters",
    [{"degree": 0}, {"degree": (3, 2)}, {"degree": 17}, {"degree": 1.5}, {"n_features": 0}],
)
def test_bad_parameters(parameters):
    with pytest.raises(ParameterError):
        Polynomial(**parameters).fit([[1.0]])


def test_bad_cells_are_named():
    with pytest.raises(DataError, match="NaN at row 1, column 0"):
        Polynomial().fit([[1.0], [np.nan]])
