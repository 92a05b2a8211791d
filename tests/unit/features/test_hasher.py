"""The hasher takes what scikit-learn's takes and names what it cannot take."""

import collections
import pickle

import numpy as np
import pytest
from sklearn.feature_extraction import FeatureHasher
from sklearn.utils.estimator_checks import check_estimator

from separatrix.errors import DataError, ParameterError
from separatrix.features import Hasher

ROWS = [
    {"dog": 1, "cat": 2.5, "town": "Oslo", "off": False, "zero": 0},
    collections.OrderedDict(dog=np.float32(4), run=np.int64(-5)),
    {},
    {b"bytes": 2, "ünï": True, "dog": -1e300},
]


@pytest.mark.parametrize("dtype", ["float64", np.float32])
def test_dicts(dtype):
    rows = ROWS if dtype == "float64" else ROWS[:3]
    ours = Hasher(16, dtype=dtype).fit_transform(rows)
    theirs = FeatureHasher(16, dtype=dtype).transform(rows)
    np.testing.assert_array_equal(ours.toarray(), theirs.toarray())
    assert ours.dtype == dtype
    assert ours.indices.dtype == np.int32
    assert pickle.loads(pickle.dumps(Hasher(16))).transform(rows).shape == (len(rows), 16)


def test_repeats_are_added_up_and_cancel():
    pairs = [[("a", 1.0), ("a", 2.0), ("b", 3.0), ("a", -3.0)]]
    X = Hasher(2**20, input_type="pair").transform(pairs)
    assert X.nnz == 2
    assert sorted(np.abs(X.data)) == [0.0, 3.0]


@pytest.mark.parametrize(
    ("kind", "rows", "words"),
    [
        ("dict", [{}, {3: 1}], "feature names must be strings; in row 1 there is 3"),
        ("dict", [{"a": 1}, {"b": None}], "None in row 1 is neither a number nor a string"),
        ("dict", [{"a": np.nan}], "'a' in row 0 is NaN"),
        ("dict", [[1, 2]], "Row 0 is .* expected a dict"),
        ("dict", [{"\ud800": 1}], "row 0 holds a lone surrogate"),
        ("pair", [[("a", 1)], [("a", 1, 2)]], "Row 1 holds .* expected a pair"),
        ("string", [["a"], "word"], "single string. Row 1"),
        ("string", [3], "Row 0 is 3"),
        ("string", "word", "single string"),
    ],
)
def test_bad_rows_are_named(kind, rows, words):
    with pytest.raises(DataError, match=words):
        Hasher(8, input_type=kind).transform(rows)


@pytest.mark.parametrize(
    "parameters", [{"n_features": 0}, {"n_features": 2.5}, {"input_type": "x"}, {"dtype": int}]
)
def test_bad_parameters(parameters):
    with pytest.raises(ParameterError):
        Hasher(**parameters).fit()


def test_names_and_checks():
    assert list(Hasher(3).get_feature_names_out()) == ["hash0", "hash1", "hash2"]
    check_estimator(Hasher())
    check_estimator(Hasher(input_type="string"))
