"""What fit takes, and answers that keep its partitions."""

from __future__ import annotations

from typing import Any

import dask.array as da
import dask.bag as db
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline

from separatrix import CRF, LogisticRegression, TableEncoder, TextVectorizer
from separatrix.distributed import (
    cross_validate,
    fit,
    peak_memory,
    predict,
    regularization_path,
    transform,
)
from separatrix.errors import DataError, ParameterError
from separatrix.learners.linear import regularization_path as path_on_one_machine
from tests.unit.distributed.sequences import sentences


@pytest.fixture(scope="module")
def iris() -> tuple[np.ndarray, np.ndarray]:
    return load_iris(return_X_y=True)


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    generator = np.random.default_rng(0)
    n = 120
    frame = pd.DataFrame(
        {
            "age": generator.normal(40, 10, n),
            "visits": generator.poisson(0.3, n).astype(float),
            "city": np.array(["Rome", "Oslo", "Lima", "Nuuk"])[generator.integers(0, 4, n)],
            "member": generator.integers(0, 2, n).astype(bool),
            "when": pd.Timestamp("2024-01-01")
            + pd.to_timedelta(generator.integers(0, 900, n), "D"),
            "review": [f"text number {i} about thing {i % 7}" for i in range(n)],
        }
    )
    frame.loc[[3, 77], "age"] = np.nan
    frame.loc[[5], "city"] = None
    frame["label"] = np.where(frame["age"].fillna(40) + 5 * frame["member"] > 42, "old", "young")
    return frame


def test_tables_of_all_kinds(client: Any, table: pd.DataFrame) -> None:
    X, y = table.drop(columns="label"), table["label"]
    lazy = dd.from_pandas(table, npartitions=4)
    here = TableEncoder(min_frequency=2).fit(X)
    there = fit(TableEncoder(min_frequency=2), lazy.drop(columns="label"), client=client)
    assert there.kinds_ == here.kinds_
    assert there.get_feature_names_out().tolist() == here.get_feature_names_out().tolist()
    difference = there.transform(X) - here.transform(X)
    assert abs(difference).max() < 1e-10
    pipeline = make_pipeline(TableEncoder(), LogisticRegression(tol=1e-9, C=0.01, solver="lbfgs"))
    fit(pipeline, lazy.drop(columns="label"), lazy["label"], client=client)
    own = make_pipeline(TableEncoder(), LogisticRegression(tol=1e-10, C=0.01)).fit(X, y)
    wanted = own[-1].solution_.objective
    assert abs(pipeline[-1].solution_.objective - wanted) <= 1e-8 * wanted
    answers = predict(pipeline, lazy.drop(columns="label"))
    assert answers.npartitions == 4
    assert (answers.compute() == own.predict(X)).all()


def test_kinds_that_partitions_do_not_agree_about(client: Any) -> None:
    texts = ["one", "two"] * 20 + [f"quite a long text with number {i}" for i in range(40)]
    lazy = dd.from_pandas(pd.DataFrame({"note": texts}), npartitions=2)
    with pytest.raises(DataError, match=r"partitions 0 and 1 take column 'note' for category and"):
        fit(TableEncoder(), lazy, client=client)
    found = fit(TableEncoder({"note": "text"}), lazy, client=client)
    assert found.kinds_ == {"note": "text"}


def test_columns_that_are_no_numbers_name_the_way(client: Any, table: pd.DataFrame) -> None:
    lazy = dd.from_pandas(table, npartitions=2)
    with pytest.raises(DataError, match="column 'city'"):
        fit(LogisticRegression(), lazy[["age", "city"]], lazy["label"], client=client)


def test_text_pipeline_and_bags(client: Any) -> None:
    texts = ["good thing", "bad thing", "good good", "bad bad day", "good day", "so bad"] * 5
    y = [text.count("bad") > 0 for text in texts]
    bag, labels = (db.from_sequence(part, npartitions=3) for part in (texts, y))
    pipeline = make_pipeline(TextVectorizer(), LogisticRegression(tol=1e-9, C=0.1))
    there = fit(pipeline, bag, labels, client=client)
    own = make_pipeline(TextVectorizer(), LogisticRegression(tol=1e-10, C=0.1)).fit(texts, y)
    wanted = own[-1].solution_.objective
    assert abs(there[-1].solution_.objective - wanted) <= 1e-8 * wanted
    answers = predict(there, bag)
    assert answers.npartitions == 3
    assert client.gather(client.compute(answers)) == own.predict(texts).tolist()


def test_sparse_blocks_and_unknown_lengths(client: Any, iris: Any) -> None:
    X, y = iris
    vectorizer = TextVectorizer().fit(["one two three", "three four"])
    rows = transform(vectorizer, db.from_sequence(["one three", "four", "two"], npartitions=2))
    assert sp.issparse(rows.blocks[0].compute())
    frame = dd.from_pandas(pd.DataFrame(X, columns=list("abcd")).assign(y=y), npartitions=3)
    there = fit(LogisticRegression(), frame[list("abcd")].values, frame["y"].values, client=client)
    assert there.score(X, y) > 0.95
    named = fit(LogisticRegression(), frame[list("abcd")], frame["y"], client=client)
    assert named.feature_names_in_.tolist() == list("abcd")
    with pytest.raises(DataError, match="lengths of the partitions of X are not known"):
        fit(LogisticRegression(), frame[list("abcd")], y, client=client)
    short = dd.from_pandas(pd.Series(y), npartitions=2)
    with pytest.raises(DataError, match="3 partitions, y has 2"):
        fit(LogisticRegression(), frame[list("abcd")], short, client=client)


def test_empty_partitions_and_odd_chunks(client: Any, iris: Any) -> None:
    X, y = iris
    frame = dd.from_pandas(pd.DataFrame(X, columns=list("abcd")).assign(y=y), npartitions=3)
    some = frame[frame["y"] != 1]  # the partition in the middle is left without rows
    there = fit(LogisticRegression(tol=1e-9), some[list("abcd")], some["y"], client=client)
    here = LogisticRegression(tol=1e-9).fit(X[y != 1], y[y != 1])
    wanted = here.solution_.objective
    assert abs(there.solution_.objective - wanted) <= 1e-8 * wanted
    one = frame[frame["y"] == 1]
    with pytest.raises(DataError, match="one class only"):
        fit(LogisticRegression(), one[list("abcd")], one["y"], client=client)


def test_pairs_of_sequences(client: Any) -> None:
    X, y = sentences(30)
    pairs = db.from_sequence(list(zip(X, y, strict=True)), npartitions=3)
    there = fit(CRF(tol=1e-2), pairs, client=client)
    assert there.score(X, y) > 0.8
    answers = predict(there, db.from_sequence(X, npartitions=2))
    assert answers.npartitions == 2
    assert client.gather(client.compute(answers)) == there.predict(X)
    with pytest.raises(DataError, match="pairs"):
        fit(CRF(), db.from_sequence([1, 2], npartitions=1), client=client)


def test_probabilities_keep_partitions(client: Any, iris: Any) -> None:
    X, y = iris
    model = LogisticRegression().fit(X, y)
    lazy = da.from_array(X, chunks=(60, 2))
    shares = predict(model, lazy, "predict_proba")
    assert shares.chunks == ((60, 60, 30), (3,))
    np.testing.assert_allclose(shares.compute(), model.predict_proba(X))
    assert (predict(model, lazy).compute() == model.predict(X)).all()
    frame = dd.from_pandas(pd.DataFrame(X, columns=list("abcd")), npartitions=3)
    named = LogisticRegression().fit(frame.compute(), np.array(["u", "v", "w"])[y])
    found = predict(named, frame, "predict_proba").compute()
    assert found.columns.tolist() == ["u", "v", "w"]
    assert predict(named, frame).compute().tolist() == named.predict(frame.compute()).tolist()
    with pytest.raises(ParameterError, match="no method 'sing'"):
        predict(model, lazy, "sing")


def test_path_and_cross_validation(client: Any, iris: Any) -> None:
    X, y = iris
    lazy = da.from_array(X, chunks=(40, 4))
    grid = [1.0, 0.01, 0.1]
    model = LogisticRegression(tol=1e-10)
    there = regularization_path(model, lazy, y, grid, client=client)
    here = path_on_one_machine(model, X, y, grid)
    np.testing.assert_allclose(there.objectives, here.objectives, rtol=1e-8)
    assert not hasattr(model, "coef_")
    found = cross_validate(LogisticRegression(), lazy, y, [1e-4, 1.0], cv=3, client=client)
    assert found.scores.shape == (2, 3)
    assert found.best_C == 1.0
    assert found.scores[1].mean() > 0.9
    # What a fold gives is a fit without its rows.
    fold = np.concatenate(
        [
            np.random.default_rng([_seed(), part]).permutation(np.arange(n) % 3)
            for part, n in enumerate((40, 40, 40, 30))
        ]
    )
    own = LogisticRegression(tol=1e-8).fit(X[fold != 1], y[fold != 1])
    assert found.scores[1, 1] == pytest.approx(own.score(X[fold == 1], y[fold == 1]), abs=0.03)


def _seed() -> int:
    from separatrix.validation import seed_from

    return seed_from(0)


def test_active_client_is_found(client: Any, iris: Any) -> None:
    X, y = iris
    with client.as_current():
        assert fit(LogisticRegression(), da.from_array(X, chunks=(70, 4)), y).score(X, y) > 0.95
    assert all(1e7 < peak < 1e10 for peak in peak_memory(client).values())


def test_other_estimators_are_refused(client: Any, iris: Any) -> None:
    from separatrix import Calibrated

    X, y = iris
    lazy = da.from_array(X, chunks=(70, 4))
    with pytest.raises(TypeError, match="Calibrated cannot be fitted on Dask"):
        fit(Calibrated(LogisticRegression()), lazy, y, client=client)
    with pytest.raises(TypeError, match="takes dask"):
        fit(LogisticRegression(), X, y, client=client)


def test_sequences_of_numbers_must_agree(client: Any) -> None:
    X = [np.ones((2, 3)), np.ones((2, 4))]
    y = [["a", "b"], ["a", "b"]]
    with pytest.raises(DataError, match=r"\[3, 4\] attributes"):
        fit(
            CRF(),
            db.from_sequence(X, npartitions=2),
            db.from_sequence(y, npartitions=2),
            client=client,
        )
