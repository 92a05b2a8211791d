import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.preprocessing import OneHotEncoder, PolynomialFeatures

from separatrix.errors import DataError, ParameterError
from separatrix.features import Conjunctions


def test_equal_to_products_of_one_hot_columns():
    generator = np.random.default_rng(0)
    X = generator.integers(0, 3, size=(50, 4)).astype(str)
    one_hot = OneHotEncoder(sparse_output=False).fit(X)
    products = PolynomialFeatures(3, interaction_only=True, include_bias=False)
    expected = products.fit_transform(one_hot.transform(X))
    expected = expected[:, expected.any(axis=0)]  # those that occur
    maker = Conjunctions(3)
    result = maker.fit_transform(X)
    np.testing.assert_array_equal(result.toarray(), expected)
    np.testing.assert_array_equal(maker.transform(X).toarray(), expected)
    names = maker.get_feature_names_out()
    assert len(set(names)) == result.shape[1]
    column = names.tolist().index("x0=0 & x2=1 & x3=2")
    on = (X[:, 0] == "0") & (X[:, 2] == "1") & (X[:, 3] == "2")
    np.testing.assert_array_equal(result[:, [column]].toarray()[:, 0], on)


def test_unseen_values_and_pairs_are_zero():
    maker = Conjunctions((2, 2)).fit([["a", "x"], ["b", "y"]])
    assert maker.get_feature_names_out().tolist() == ["x0=a & x1=x", "x0=b & x1=y"]
    result = maker.transform([["a", "x"], ["a", "y"], ["c", "x"]])
    np.testing.assert_array_equal(result.toarray(), [[1, 0], [0, 0], [0, 0]])


def test_min_count():
    maker = Conjunctions(min_count=2).fit([[1, 1], [1, 1], [0, 1]])
    assert maker.get_feature_names_out().tolist() == ["x0", "x1", "x0 & x1"]
    assert Conjunctions(min_count=3).fit([[1, 1], [1, 1], [0, 1]]).conjunctions_.tolist() == [1]
    with pytest.raises(DataError, match="no conjunction"):
        Conjunctions(min_count=4).fit([[1, 1], [1, 1], [0, 1]])


def test_sparse_entries_are_features_that_are_on():
    X = sp.csr_array(np.array([[0, 2.5, -1], [1, 0, 3], [0, 0, 0]]))
    maker = Conjunctions()
    result = maker.fit_transform(X)
    assert maker.get_feature_names_out().tolist() == ["x0", "x1", "x2", "x0 & x2", "x1 & x2"]
    np.testing.assert_array_equal(
        result.toarray(), [[0, 1, 1, 0, 1], [1, 0, 1, 1, 0], [0, 0, 0, 0, 0]]
    )
    np.testing.assert_array_equal(maker.transform(X.toarray()).toarray(), result.toarray())


def test_frames_by_name_with_missing_values():
    frame = pd.DataFrame({"city": ["Rome", None, "Oslo"], "member": [True, False, True]})
    maker = Conjunctions(dtype=np.float32)
    result = maker.fit_transform(frame)
    assert result.dtype == np.float32
    assert maker.get_feature_names_out().tolist() == [
        "city=Oslo",
        "city=Rome",
        "city=<missing>",
        "member",
        "city=Oslo & member",
        "city=Rome & member",
    ]
    turned = maker.transform(frame[["member", "city"]])
    np.testing.assert_array_equal(turned.toarray(), result.toarray())
    with pytest.raises(DataError, match="now missing:\n- member"):
        maker.transform(frame[["city"]])


def test_binary_columns_stay_binary():
    maker = Conjunctions(1).fit([[0, "u"], [1, "v"]])
    np.testing.assert_array_equal(
        maker.transform([[2, "u"], [None, "v"], ["1", "w"]]).toarray(),
        [[0, 1, 0], [0, 0, 1], [0, 0, 0]],
    )


def test_hashed_conjunctions_keep_inner_products():
    X = np.random.default_rng(1).integers(0, 5, size=(20, 3))
    exact, hashed = Conjunctions(3).fit_transform(X), Conjunctions(3, n_features=2**20)
    rows = hashed.fit_transform(X)
    np.testing.assert_allclose((rows @ rows.T).toarray(), (exact @ exact.T).toarray())
    np.testing.assert_array_equal(hashed.transform(X[:3]).toarray(), rows[:3].toarray())


def test_limits():
    X = np.random.default_rng(1).integers(0, 50, size=(200, 3))
    with pytest.raises(DataError, match="hash them"):
        Conjunctions(max_features=10).fit(X)
    for bad in ({"degree": (0, 1)}, {"min_count": 0}, {"min_count": 2, "n_features": 8}):
        with pytest.raises(ParameterError):
            Conjunctions(**bad).fit(X)
    wide = sp.csr_array(([1.0], ([0], [5])), shape=(1, 2**30))
    with pytest.raises(DataError, match="hash them"):
        Conjunctions(5).fit(wide)
