import contextlib
import datetime as dt
import json
import pickle
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from separatrix.data import chunks, read
from separatrix.data.schema import is_missing
from separatrix.errors import DataError, ParameterError
from separatrix.features import TableEncoder

TABLE = {
    "age": [20.0, 40.0, None, 60.0],
    "visits": [0, 0, 7, 0],
    "city": ["Rome", "Oslo", None, "Rome"],
    "member": [True, None, False, True],
    "since": [dt.date(2020, 1, 31), dt.date(2021, 6, 5), None, dt.date(2024, 2, 29)],
}
NAMES = [
    *("age", "age=<missing>", "visits", "city=Oslo", "city=Rome", "city=<missing>"),
    *("member", "member=<missing>", "since.days", "since.year", "since.month_sin"),
    *("since.month_cos", "since.day_sin", "since.day_cos", "since.weekday_sin"),
    *("since.weekday_cos", "since.weekend", "since=<missing>"),
]


def forms():
    frame = pd.DataFrame(TABLE)
    return {
        "dict": TABLE,
        "dict of arrays": {name: np.array(values, dtype=object) for name, values in TABLE.items()},
        "dict of series": {name: pl.Series(values) for name, values in TABLE.items()},
        "pandas": frame,
        "pandas nullable": frame.convert_dtypes(),
        "pandas category": frame.astype({"city": "category"}),
        "pandas dates": frame.astype({"since": "datetime64[ns]"}),
        "pandas arrow": pl.DataFrame(TABLE).to_pandas(use_pyarrow_extension_array=True),
        "polars": pl.DataFrame(TABLE),
        "polars category": pl.DataFrame(TABLE).with_columns(pl.col("city").cast(pl.Categorical)),
        "pyarrow": pa.table(TABLE),
        "strings": {**TABLE, "since": ["2020-01-31", "2021-06-05", None, "2024-02-29"]},
        "decimals": {**TABLE, "age": [Decimal(20), Decimal(40), None, Decimal(60)]},
    }


def dense(result):
    return result.toarray() if sp.issparse(result) else result


@pytest.fixture(scope="module")
def expected():
    encoder = TableEncoder()
    return encoder.fit_transform(TABLE).toarray()


@pytest.mark.parametrize("form", forms())
def test_all_kinds_of_tables_give_the_same(form, expected):
    encoder = TableEncoder()
    X = forms()[form]
    result = encoder.fit_transform(X)
    assert isinstance(result, sp.csr_matrix)
    assert result.indices.dtype == np.int32
    assert encoder.get_feature_names_out().tolist() == NAMES
    np.testing.assert_allclose(result.toarray(), expected, atol=1e-12)
    assert list(encoder.kinds_.values()) == ["number", "number", "category", "flag", "date"]
    np.testing.assert_allclose(encoder.transform(TABLE).toarray(), expected, atol=1e-12)
    again = pickle.loads(pickle.dumps(encoder))
    np.testing.assert_array_equal(again.transform(X).toarray(), result.toarray())


def test_values(expected):
    column = dict(zip(NAMES, expected.T, strict=True))
    deviation = np.std([20, 40, 60])
    np.testing.assert_allclose(column["age"], np.array([-20, 0, 0, 20]) / deviation)
    np.testing.assert_array_equal(column["age=<missing>"], [0, 0, 1, 0])
    # Mostly zero: scaled, not centered.
    np.testing.assert_allclose(column["visits"], np.array([0, 0, 7, 0]) / np.std([0, 0, 7, 0]))
    np.testing.assert_array_equal(column["city=Rome"], [1, 0, 0, 1])
    np.testing.assert_array_equal(column["member"], [1, 0, 0, 1])
    np.testing.assert_array_equal(column["member=<missing>"], [0, 1, 0, 0])
    np.testing.assert_array_equal(column["since.weekend"], [0, 1, 0, 0])  # a Saturday
    month = 2 * np.pi * np.array([0, 5, 0, 1]) / 12
    present = np.array([1, 1, 0, 1])
    np.testing.assert_allclose(column["since.month_cos"], np.cos(month) * present, atol=1e-12)
    weekday = 2 * np.pi * np.array([4, 5, 0, 3]) / 7  # Friday, Saturday, -, Thursday
    np.testing.assert_allclose(column["since.weekday_sin"], np.sin(weekday) * present, atol=1e-12)
    day = 2 * np.pi * np.array([30 / 31, 4 / 30, 0, 28 / 29])
    np.testing.assert_allclose(column["since.day_sin"], np.sin(day) * present, atol=1e-12)
    assert abs(column["since.days"].sum()) < 1e-9


@pytest.mark.parametrize("center", ["auto", True, False])
def test_numbers_equal_scikit_learns_scaler(center):
    generator = np.random.default_rng(0)
    X = generator.normal(3, 2, size=(50, 3))
    X[:, 2] *= generator.random(50) < 0.2
    result = TableEncoder(center=center, sparse_output=False).fit_transform(X)
    with_mean = StandardScaler().fit_transform(X)
    without = StandardScaler(with_mean=False).fit_transform(X)
    centered = [True, True, False] if center == "auto" else [center] * 3
    np.testing.assert_allclose(result, np.where(centered, with_mean, without), atol=1e-12)


def test_zeros_stay_zero():
    X = sp.random(200, 10, density=0.1, random_state=0).toarray()
    result = TableEncoder().fit_transform(X)
    assert result.nnz == np.count_nonzero(X)


def test_categories_equal_scikit_learns_encoder():
    X = np.random.default_rng(0).choice(list("abcdefg"), size=(60, 3)).astype(object)
    for options in ({}, {"min_frequency": 9}, {"max_categories": 4}, {"min_frequency": 0.15}):
        ours = TableEncoder(**options).fit_transform(X)
        theirs = OneHotEncoder(**options, handle_unknown="infrequent_if_exist").fit_transform(X)
        np.testing.assert_array_equal(ours.toarray().sum(axis=0), theirs.toarray().sum(axis=0))


def test_unseen_categories_are_zero_and_counted():
    encoder = TableEncoder().fit({"city": ["Rome", "Oslo"], "code": ["x", "y"]})
    assert encoder.n_unseen_ == {"city": 0, "code": 0}
    new = {"city": ["Lima", "Rome", None, "Bern"], "code": ["x", "x", "z", "y"]}
    np.testing.assert_array_equal(
        encoder.transform(new).toarray(), [[0, 0, 1, 0], [0, 1, 1, 0], [0, 0, 0, 0], [0, 0, 0, 1]]
    )
    assert encoder.n_unseen_ == {"city": 2, "code": 1}
    city, code = encoder.report(new)
    assert city == ("city", "category", 2, 1, 2)
    assert code.n_unseen == 1
    encoder.transform({"city": ["Rome"], "code": ["x"]})
    assert encoder.n_unseen_ == {"city": 0, "code": 0}


def test_rare_categories_share_a_column():
    encoder = TableEncoder(min_frequency=2)
    result = encoder.fit_transform({"c": ["a", "a", "b", "d", None]}).toarray()
    assert encoder.get_feature_names_out().tolist() == ["c=a", "c=<rare>", "c=<missing>"]
    np.testing.assert_array_equal(result.argmax(axis=1), [0, 0, 1, 1, 2])
    # Rare is what training saw seldom; what it never saw is zero.
    assert encoder.transform({"c": ["new"]}).nnz == 0
    many = {"id": [f"user {i}" for i in range(3000)]}
    assert TableEncoder().fit_transform(many).shape == (3000, 1000)
    assert TableEncoder(max_categories=None).fit_transform(many).shape == (3000, 3000)


def test_columns_are_found_by_name(expected):
    encoder = TableEncoder().fit(pd.DataFrame(TABLE))
    turned = pl.DataFrame(TABLE).select(list(reversed(TABLE)))
    np.testing.assert_allclose(encoder.transform(turned).toarray(), expected, atol=1e-12)
    with pytest.raises(DataError, match="unseen at fit time:\n- extra"):
        encoder.transform({**TABLE, "extra": [1, 2, 3, 4]})
    with pytest.raises(DataError, match="now missing:\n- age\n- city"):
        encoder.transform({k: v for k, v in TABLE.items() if k not in ("age", "city")})


def test_kinds_can_be_given():
    table = {"zip": [10115, 20095, 10115], "score": ["1.5", " 2 ", None], "note": ["a", "b", "c"]}
    kinds = {"zip": "category", "score": "number", "note": "drop"}
    encoder = TableEncoder(kinds=kinds)
    encoder.fit(table)
    names = ["zip=10115", "zip=20095", "score", "score=<missing>"]
    assert encoder.get_feature_names_out().tolist() == names
    assert encoder.report(table)[2] == ("note", "drop", 0, 0, 0)
    with pytest.raises(DataError, match="'score' holds numbers, but row 2 holds 'many'"):
        encoder.transform({**table, "score": ["1", "many", "2"]})
    yes = TableEncoder({"b": "flag"}).fit_transform({"b": ["yes", "No", "T"]})
    np.testing.assert_array_equal(yes.toarray(), [[1], [0], [1]])
    with pytest.raises(DataError, match="'b' holds yes and no, but row 1 holds 2"):
        TableEncoder({"b": "flag"}).fit({"b": [2, 1]})
    with pytest.raises(DataError, match=r"'d' holds dates, but row 2 holds '31\.12\.2020'"):
        TableEncoder({"d": "date"}).fit({"d": ["2020-12-31", "31.12.2020"]})
    with pytest.raises(ParameterError, match="'nowhere', which is no column"):
        TableEncoder({"nowhere": "text"}).fit(table)
    with pytest.raises(ParameterError, match="there is no kind 'digits'"):
        TableEncoder({"zip": "digits"}).fit(table)
    with pytest.raises(ParameterError, match="'labels' cannot be encoded"):
        TableEncoder({"zip": "labels"}).fit(table)


def test_times_and_zones():
    utc = pd.to_datetime(["2024-03-01 06:00", "2024-03-02 18:00"])
    local = utc.tz_localize("UTC").tz_convert("America/New_York")
    results = [
        TableEncoder().fit_transform(pd.DataFrame({"t": values})).toarray()
        for values in (utc, local, utc.strftime("%Y-%m-%dT%H:%M:%SZ"), utc.to_pydatetime())
    ]
    for result in results[1:]:
        np.testing.assert_allclose(result, results[0], atol=1e-12)
    encoder = TableEncoder().fit(pd.DataFrame({"t": utc}))
    column = encoder.get_feature_names_out().tolist().index("t.time_sin")
    np.testing.assert_allclose(results[0][:, column], [1, -1], atol=1e-12)
    span = {"d": np.array([1, 2, "NaT"], dtype="timedelta64[h]")}
    np.testing.assert_allclose(
        TableEncoder().fit_transform(span).toarray(), [[-1, 0], [1, 0], [0, 1]]
    )


def test_text_columns():
    texts = ["the cat sat on the mat", "a dog ran in the park", None, "the dog and the cat met"]
    table = {"n": [1.0, 2.0, 3.0, 4.0], "text": texts, "flag": [True, False, True, True]}
    encoder = TableEncoder(text_options={"min_df": 2})
    result = encoder.fit_transform(table)
    assert encoder.kinds_["text"] == "text"
    assert encoder.get_feature_names_out().tolist() == [
        *("n", "text:cat", "text:dog", "text:the", "text=<missing>", "flag")
    ]
    expected = TfidfVectorizer(min_df=2).fit_transform([t or "" for t in texts])
    np.testing.assert_allclose(result[:, 1:4].toarray(), expected.toarray())
    np.testing.assert_array_equal(result[:, [4]].toarray()[:, 0], [0, 0, 1, 0])
    np.testing.assert_array_equal(result[:, [5]].toarray()[:, 0], [1, 0, 1, 1])
    assert clone(encoder).get_params()["text_options"] == {"min_df": 2}


words = st.sampled_from(["", " ", "red", "New York City", "it broke after one week", "1", "2.5"])


@settings(deadline=None, max_examples=60)
@given(st.lists(st.one_of(words, st.integers().map("the number is {}".format)), min_size=1))
def test_what_is_text_is_the_same_for_files_and_for_tables(cells):
    rows = [{"n": 0, "c": cell} for cell in cells]
    content = "\n".join(map(json.dumps, rows)).encode()
    data = read(content, "jsonl")
    kinds = TableEncoder().fit(data.X).kinds_
    assert [name for name, kind in kinds.items() if kind == "text"] == list(data.text_names)
    for chunk in chunks(content, 3, "jsonl"):
        assert chunk.text_names == data.text_names


def test_texts_are_told_by_their_words_and_by_being_distinct():
    def kind(values):
        return TableEncoder().fit({"c": values}).kinds_["c"]

    assert kind(["one two three", "four five six"]) == "text"
    assert kind(["one two three", "four five"]) == "category"
    assert kind(["one two three"] * 2 + ["four five six"] * 2) == "category"
    assert kind(["one two three"] * 2 + ["four five six"]) == "text"
    assert kind(["", None, " ", "", "one two three"]) == "text"
    # Ten thousand values decide.
    late = ["one two three"] * 10_000 + [f"the number is {i}" for i in range(30_000)]
    assert kind(late) == "category"


def test_dense_output_and_precision():
    result = TableEncoder(sparse_output=False, dtype=np.float32).fit_transform(TABLE)
    assert result.dtype == np.float32
    wide = {"id": [str(i) for i in range(10_001)]}
    with pytest.raises(ParameterError, match="sparse_output=True"):
        TableEncoder(max_categories=None, sparse_output=False).fit_transform(wide)


def test_names_are_distinct():
    table = {"a": ["b", "<missing>", None], "a=b": [1.0, 2.0, 3.0], "m": [1, "1", 2.5]}
    names = TableEncoder().fit(table).get_feature_names_out().tolist()
    assert len(set(names)) == len(names)
    assert {"a=b", "a=<missing>", "a=b#2", "m=1", "m='1'"} <= set(names)


ODD = st.one_of(
    st.sampled_from([None, pd.NA, pd.NaT, np.float32("nan"), np.datetime64("2020-02-02")]),
    st.booleans(),
    st.integers(-5, 5),
    st.floats(allow_infinity=False, width=32),
    st.text(max_size=4),
    st.binary(max_size=2),
    st.dates(dt.date(1900, 1, 1), dt.date(2100, 1, 1)),
    st.tuples(st.integers(0, 2)),
    st.decimals(allow_nan=False, allow_infinity=False, places=2),
)
COLUMNS = st.one_of(
    st.lists(ODD, min_size=4, max_size=4),
    st.lists(st.sampled_from(["x", "y", None]), min_size=4, max_size=4),
    st.lists(st.floats(allow_infinity=False) | st.none(), min_size=4, max_size=4),
    st.lists(st.booleans() | st.none(), min_size=4, max_size=4),
    st.lists(st.datetimes(dt.datetime(1800, 1, 1)) | st.none(), min_size=4, max_size=4),
)


@settings(max_examples=150)
@given(train=COLUMNS, test=COLUMNS)
def test_odd_columns(train, test):
    """Any column is encoded, and again alike; another one is encoded too, or refused."""
    encoder = TableEncoder()
    result = encoder.fit_transform({"c": train}).toarray()
    assert np.isfinite(result).all()
    assert result.shape == (4, len(encoder.get_feature_names_out()))
    assert sum(encoder.n_unseen_.values()) == 0
    np.testing.assert_array_equal(encoder.transform({"c": train}).toarray(), result)
    (report,) = encoder.report({"c": train})
    marks = [name == "c=<missing>" for name in encoder.get_feature_names_out()]
    assert result[:, marks].sum() == report.n_missing
    if encoder.kinds_["c"] == "category":
        known = {v for v in train if not is_missing(v)}
        values = [v for v in test if not is_missing(v)]
        encoder.transform({"c": test})
        assert encoder.n_unseen_ == {"c": sum(v not in known for v in values)}
    else:
        with contextlib.suppress(DataError):  # a value that is no number, no date, ...
            assert np.isfinite(encoder.transform({"c": test}).toarray()).all()


def test_extreme_numbers():
    X = np.array([[1e308, 5.0], [-1e308, 5.0], [0.0, 5.0]])
    result = TableEncoder(sparse_output=False).fit_transform(X)
    assert np.isfinite(result).all()
    np.testing.assert_allclose(result[:, 0], [1.22474487, -1.22474487, 0])
    np.testing.assert_array_equal(result[:, 1], 0)


def test_errors():
    with pytest.raises(DataError, match="infinity at row 2, column 'a'"):
        TableEncoder().fit({"a": np.array([1, np.inf])})
    with pytest.raises(DataError, match="'b' has 3 rows, but 'a' has 2"):
        TableEncoder().fit({"a": [1, 2], "b": [1, 2, 3]})
    nested = pa.table({"a": [[1], [2, 3]], "b": [1, 2]})
    with pytest.raises(DataError, match=r"'a': row 1 holds list, .* 'drop'"):
        TableEncoder().fit(nested)
    assert TableEncoder({"a": "drop"}).fit_transform(nested).shape == (2, 1)
    with pytest.raises(DataError, match=r"\.collect\(\)"):
        TableEncoder().fit(pl.DataFrame({"a": [1]}).lazy())
    with pytest.raises(DataError, match="row 2 holds list, which cannot be a category"):
        TableEncoder().fit({"a": [1, [2]]})
    with pytest.raises(DataError, match="sparse matrix"):
        TableEncoder().fit(sp.eye_array(3))
    with pytest.raises(DataError, match="no columns"):
        TableEncoder().fit({})
    with pytest.raises(DataError, match="0 sample"):
        TableEncoder().fit({"a": []})
    with pytest.raises(DataError, match="different lengths"):
        TableEncoder().fit([[1, 2], [3]])
    with pytest.raises(DataError, match="must be a list"):
        TableEncoder().fit({"a": 3})
    for bad in ({"center": "yes"}, {"min_frequency": 0}, {"max_categories": 0}, {"dtype": "int8"}):
        with pytest.raises(ParameterError):
            TableEncoder(**bad).fit(TABLE)
    with pytest.raises(ParameterError, match="drops every column"):
        TableEncoder({"a": "drop"}).fit({"a": [1]})
