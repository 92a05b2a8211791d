"""What a model is fed, and that files are read again as the first one was."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.pipeline import make_pipeline, make_union

from separatrix import LogisticRegression, SpamFeatures, TableEncoder, TextVectorizer
from separatrix.data import Dataset, read
from separatrix.errors import DataError, ParameterError
from separatrix.experiment.source import as_dataset, fingerprint
from separatrix.tasks.inputs import Inputs
from tests.unit.experiment.problems import blobs, table, texts


def useless(**columns):
    n = len(next(iter(columns.values())))
    rest = {"kept": np.arange(n) / 7}
    return dict(Inputs.of(Dataset("table", {**rest, **columns}, np.arange(n) % 2)).left_out)


def test_columns_that_tell_nothing_are_left_out_and_said_to_be():
    words = np.array([f"name {row}" for row in range(30)], dtype=object)
    lists = np.empty(30, dtype=object)
    lists[1:] = [[row] for row in range(29)]
    found = useless(
        empty=np.full(30, np.nan),
        nothing=np.full(30, None),
        flat=np.ones(30),
        same=np.full(30, "x", dtype=object),
        name=words,
        user_id=np.arange(30),
        id=np.arange(30) // 2,
        lists=lists,
    )
    assert found == {
        "empty": "is empty",
        "nothing": "is empty",
        "flat": "has one value only",
        "same": "has one value only",
        "name": "every row has its own value",
        "user_id": "counts the rows",
        "id": "looks like an identifier",
        "lists": "holds lists",
    }


def test_columns_that_may_tell_something_stay():
    gaps = np.where(np.arange(30) % 2, np.nan, 1.0)
    assert (
        useless(
            numbers=np.arange(30) * 1.5,
            gaps=gaps,
            id=np.arange(30) // 5,
            count=np.arange(30) + 5,
            city=np.array(["a", "b", "c"] * 10, dtype=object),
            flag=np.arange(30) % 2 == 0,
            day=np.datetime64("2024-01-01") + np.arange(30),
        )
        == {}
    )


def test_nearly_empty():
    column = np.full(1000, np.nan)
    column[:4] = [1, 2, 3, 4]
    assert useless(rare=column) == {"rare": "is nearly empty"}
    column[4:10] = 5
    assert useless(rare=column) == {}


def test_drop():
    data = as_dataset(table())
    inputs = Inputs.of(data, ["noise"])
    assert inputs.columns == ("age", "city")
    assert inputs.left_out == (("noise", "on request"),)
    with pytest.raises(
        ParameterError, match=r"drop: there is no column 'noize'; did you mean 'noi"
    ):
        Inputs.of(data, ["noize"])
    with pytest.raises(DataError, match=r"no column is left to learn from: 'age' on request; "):
        Inputs.of(data, ["age", "city", "noise"])
    with pytest.raises(ParameterError, match="matrix, no table to drop columns from"):
        Inputs.of(as_dataset(blobs()), ["noise"])


def test_a_table_with_one_text_is_a_text():
    rows = b"id,body,class\n" + b"".join(
        f"{row},free money for you number {row} now or never again,a{row % 2}\n".encode()
        for row in range(30)
    )
    data = read(rows, text="body")
    inputs = Inputs.of(data)
    assert (inputs.kind, inputs.columns, inputs.texts) == ("text", ("body",), ("body",))
    assert inputs.take(data)[0].startswith("free money")
    assert inputs.take(inputs.read(rows))[3] == inputs.take(data)[3]


def test_words_stay_words_in_another_file():
    data = read(b"code,size,class\n007,1,10\n12,2,x\n9a,3,10\n")
    inputs = Inputs.of(data)
    assert [inputs.schema[name].kind for name in ("code", "class")] == ["category"] * 2
    again = inputs.read(b"class,size,code\n10,1,007\n10,2,12\n", target=True)
    assert again.y.tolist() == ["10", "10"]
    assert inputs.take(again)["code"].tolist() == ["007", "12"]
    unlabeled = inputs.read(b"size,code\n1,007\n")
    assert unlabeled.y is None
    assert list(inputs.take(unlabeled)) == ["code", "size"]
    pieces = list(inputs.chunks(b"size,code\n1,007\n2,12\n3,13\n", 2))
    assert [len(piece) for piece in pieces] == [2, 1]


def test_take_names_the_column_that_is_missing():
    inputs = Inputs.of(as_dataset(table()))
    short = Dataset("table", {"age": np.zeros(2)}, source="new.csv")
    with pytest.raises(DataError, match=r"new.csv: column 'city', .* is missing; there are 'age'"):
        inputs.take(short)
    with pytest.raises(DataError, match="holds a matrix, the model was trained on a table"):
        inputs.take(as_dataset(blobs()))


def test_sparse_rows_get_the_width_of_the_training():
    inputs = Inputs("matrix", n_features=3)
    for width in (2, 3, 5):
        X = sp.csr_array(np.arange(1, 2 * width + 1).reshape(2, width))
        taken = inputs.take(Dataset("matrix", X)).toarray()
        common = min(width, 3)
        np.testing.assert_array_equal(taken[:, :common], X.toarray()[:, :common])
        assert taken.shape == (2, 3)
        assert not taken[:, common:].any()


def test_images_are_flat_and_of_one_size():
    pictures = np.arange(24.0).reshape(2, 3, 4)
    data = Dataset("images", pictures, np.array([0, 1]))
    inputs = Inputs.of(data)
    np.testing.assert_array_equal(inputs.take(data), pictures.reshape(2, 12))
    with pytest.raises(DataError, match="6 features, the model was trained on 12"):
        inputs.take(Dataset("images", pictures[:, :, :2]))
    # A table of numbers is as good as a matrix.
    columns = {f"p{at}": pictures.reshape(2, 12)[:, at] for at in range(12)}
    np.testing.assert_array_equal(inputs.take(Dataset("table", columns)), pictures.reshape(2, 12))
    with pytest.raises(DataError, match="column 'p0' holds no numbers"):
        inputs.take(Dataset("table", {**columns, "p0": np.array(["a", "b"], dtype=object)}))


@pytest.mark.parametrize("data", [table(), texts(), blobs()], ids=["table", "text", "matrix"])
def test_a_dictionary_keeps_everything_that_is_needed(data):
    data = as_dataset(data)
    inputs = Inputs.of(data)
    again = Inputs.from_dict(inputs.to_dict())
    first, second = inputs.take(data), again.take(data)
    if isinstance(first, dict):
        assert list(first) == list(second)
    else:
        np.testing.assert_array_equal(first, second)
    assert again.options(target=True) == inputs.options(target=True)


def test_inputs_of_models_that_were_made_in_python():
    X, y = blobs()
    rows = table()
    label = rows.pop("class")
    assert Inputs.of_model(LogisticRegression().fit(X, y)).n_features == 4
    encoder = TableEncoder().fit(rows, label)
    assert Inputs.of_model(encoder).columns == ("age", "city", "noise")
    assert Inputs.of_model(TextVectorizer()).kind == "text"
    spam = make_union(SpamFeatures(), TextVectorizer())
    assert Inputs.of_model(make_pipeline(spam, LogisticRegression())).kind == "text"


def test_data_of_any_kind_becomes_a_data_set():
    import pandas as pd
    import polars as pl

    rows = table(30)
    for frame in (rows, pd.DataFrame(rows), pl.DataFrame(rows)):
        data = as_dataset(frame)
        assert (data.kind, data.target_name) == ("table", "class")
        assert data.X["city"].dtype == object
        assert [value is None for value in data.X["city"]] == [v is None for v in rows["city"]]
    features = {name: values for name, values in rows.items() if name != "class"}
    pair = as_dataset((pd.DataFrame(features), rows["class"]))
    assert list(pair.X) == ["age", "city", "noise"]
    assert as_dataset((features, rows["class"])).kind == "table"
    assert as_dataset((["free money", "lunch"], [1, 0])).kind == "text"
    assert as_dataset((np.zeros((2, 3, 3)), [0, 1])).kind == "images"
    assert as_dataset((sp.csr_array(np.eye(2)), [0, 1])).kind == "matrix"
    assert as_dataset(rows, "city").target_name == "city"
    assert as_dataset(as_dataset(rows), "city").feature_names == ("age", "noise")


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ((np.zeros((3, 2)), [0, 1]), "X has 3 rows, y has 2"),
        (({"a": [1, 2]}, [0]), "X has 2 rows, y has 1"),
        (({"a": [1, 2], "b": [1]}, [0, 1]), r"different lengths: \[1, 2\]"),
        ((np.zeros(3), [0, 1, 0]), r"array of shape \(3,\) and type float64"),
        ((np.array([["a"], ["b"]]), [0, 1]), "X must be a matrix of numbers"),
        ((np.array([[1.0], [np.nan]]), [0, 1]), "NaN or infinity; missing values"),
        ((sp.csr_array([[1.0], [np.inf]]), [0, 1]), "NaN or infinity"),
        ((np.zeros((2, 2)), np.zeros((2, 2, 2, 2))), "one value for every row"),
    ],
)
def test_bad_arrays(data, words):
    with pytest.raises(DataError, match=words):
        as_dataset(data)


def test_the_fingerprint_is_that_of_rows_and_target():
    rows = table(30)
    first = fingerprint(as_dataset(rows))
    assert fingerprint(as_dataset({k: v.copy() for k, v in rows.items()})) == first
    for name, value in (("age", 1.0), ("city", "Rome?"), ("class", "other")):
        changed = {k: v.copy() for k, v in rows.items()}
        changed[name][7] = value
        assert fingerprint(as_dataset(changed)) != first
    assert fingerprint(as_dataset((sp.csr_array(np.eye(2)), [0, 1]))) != fingerprint(
        as_dataset((sp.csr_array(2 * np.eye(2)), [0, 1]))
    )


def test_dates_have_a_fingerprint():
    days = np.datetime64("2024-01-01") + np.arange(3)
    first = Dataset("table", {"day": days}, np.array(["a", "b", "a"]))
    assert fingerprint(first) != fingerprint(Dataset("table", {"day": days + 1}, first.y))
