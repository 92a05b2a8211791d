"""Supervised bins, robust numbers and pairs of columns."""

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline

from separatrix import LogisticRegression
from separatrix.errors import DataError, ParameterError
from separatrix.features import SupervisedBins, TableEncoder
from separatrix.features.tables.bins import BinEncoder
from separatrix.features.tables.columns import Column


def _waves(n=600, seed=0):
    """Two classes that alternate along the first column; the second one is noise."""
    X = np.random.default_rng(seed).uniform(0, 4, (n, 2))
    return X, (X[:, 0].astype(int) % 2).astype(int)


def test_bins_see_what_a_line_cannot():
    X, y = _waves()
    train, test, y_train, y_test = train_test_split(X, y, random_state=0)
    plain = LogisticRegression().fit(train, y_train).score(test, y_test)
    binned = make_pipeline(SupervisedBins(8), LogisticRegression(C=10)).fit(train, y_train)
    assert plain < 0.7
    assert binned.score(test, y_test) > 0.97


def test_the_cuts_lie_where_the_classes_change():
    X, y = _waves()
    cuts = SupervisedBins(4).fit(X, y).cuts_
    np.testing.assert_allclose(cuts[0], [1, 2, 3], atol=0.05)
    assert len(cuts[1]) == 3


def test_every_row_is_in_one_bin_of_each_column():
    X, y = _waves()
    X[::7, 1] = np.nan
    bins = SupervisedBins().fit(X, y)
    found = bins.transform(X)
    assert (np.asarray(found.sum(axis=1)) == 2).all()
    gone = bins.get_feature_names_out().tolist().index("x1=<missing>")
    np.testing.assert_array_equal(np.flatnonzero(found[:, gone].toarray()), np.arange(0, 600, 7))


def test_missing_values_that_training_did_not_have_are_in_no_bin():
    X, y = _waves()
    assert SupervisedBins().fit(X, y).transform([[np.nan, 1.0]]).sum() == 1


@pytest.mark.parametrize("y_of", [lambda x: np.sin(3 * x) + x, lambda x: np.floor(x)])
def test_quantities(y_of):
    x = np.linspace(0, 4, 400)
    y = y_of(x)
    bins = SupervisedBins(16, target="quantities").fit(x[:, None], y)
    codes = bins.transform(x[:, None]).indices
    means = np.array([y[codes == k].mean() for k in range(codes.max() + 1)])
    assert np.var(y - means[codes]) < 0.1 * np.var(y)


def test_large_values_that_differ_little_are_told_apart():
    # In single precision they would all be one number.
    x = 1.7e9 + np.arange(100.0)
    bins = SupervisedBins(2).fit(x[:, None], x > 1.7e9 + 49)
    np.testing.assert_allclose(bins.cuts_[0], [1.7e9 + 49.5])


@pytest.mark.parametrize("way", [1, -1])
def test_monotone_bins(way):
    generator = np.random.default_rng(1)
    x = generator.uniform(0, 1, (2000, 1))
    y = way * x[:, 0] + 0.4 * np.sin(12 * x[:, 0]) + generator.normal(0, 0.1, 2000)

    def means(**given):
        codes = SupervisedBins(12, **given).fit(x, y).transform(x).indices
        return np.array([y[codes == k].mean() for k in range(codes.max() + 1)])

    assert (np.diff(means()) * way < 0).any()
    assert (np.diff(means(monotonic_cst=[way])) * way >= 0).all()
    named = pd.DataFrame(x, columns=["dose"])
    cuts = SupervisedBins(12, monotonic_cst={"dose": way}).fit(named, y).cuts_
    np.testing.assert_array_equal(cuts, SupervisedBins(12, monotonic_cst=[way]).fit(x, y).cuts_)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"max_bins": 1}, "max_bins must be a number >= 2"),
        ({"min_rows": 0}, "min_rows must be a number >= 1"),
        ({"target": "sets"}, "target"),
        ({"monotonic_cst": [1]}, "each of 2 columns"),
        ({"monotonic_cst": {"nose": 1}}, "'nose', which is no column"),
        ({"dtype": int}, "float64 or float32"),
    ],
)
def test_parameters_are_checked(given, words):
    with pytest.raises((ParameterError, ValueError), match=words):
        SupervisedBins(**given).fit(*_waves(50))


def test_monotone_bins_need_two_classes():
    X, _ = _waves(60)
    with pytest.raises(ParameterError, match="two classes"):
        SupervisedBins(monotonic_cst=[1, 0]).fit(X, np.arange(60) % 3)


def _table(n=400):
    generator = np.random.default_rng(3)
    age = generator.uniform(18, 80, n)
    city = generator.choice(np.array(["Rome", "Oslo"], dtype=object), n)
    member = generator.random(n) < 0.5
    return {"age": age, "city": city, "member": member}


def test_the_table_encoder_cuts_its_numbers():
    table = _table()
    y = np.where((table["age"] > 30) & (table["age"] < 50), "yes", "no")
    encoder = TableEncoder(numbers="bins", bin_options={"max_bins": 3}).fit(table, y)
    names = encoder.get_feature_names_out().tolist()
    assert [name.split(" ")[-2] for name in names[:3]] == ["<=", "<=", ">"]
    assert names[3:] == ["city=Oslo", "city=Rome", "member"]
    assert encoder.feature_kinds()[0] == ("age", "category")
    with pytest.raises(DataError, match="y is None"):
        TableEncoder(numbers="bins").fit(table)


def test_pairs_of_columns():
    table = _table()
    y = (table["city"] == "Rome") ^ table["member"]
    apart = make_pipeline(TableEncoder(), LogisticRegression()).fit(table, y)
    pairs = TableEncoder(pairs=[("city", "member")])
    together = make_pipeline(pairs, LogisticRegression()).fit(table, y)
    assert apart.score(table, y) < 0.7
    assert together.score(table, y) == 1.0
    names = together[0].get_feature_names_out().tolist()
    assert names[-2:] == ["city=Oslo & member", "city=Rome & member"]
    assert together[0].feature_kinds()[-1] == ("city & member", "category")
    new = {"age": [30.0], "city": ["Lima"], "member": [True]}
    assert together[0].transform(new).shape == (1, len(names))


@pytest.mark.parametrize(
    ("pairs", "words"),
    [
        ([("city", "nose")], "'nose', which is no column"),
        ([("city", "city")], "pairs of two columns"),
        (["ab"], "pairs of two columns"),
        ([("since", "city")], "'since' holds date"),
    ],
)
def test_pairs_are_checked(pairs, words):
    table = _table() | {"since": np.arange(400).astype("datetime64[D]")}
    with pytest.raises(ParameterError, match=words):
        TableEncoder(pairs=pairs).fit(table, np.arange(400) % 2)


def test_pairs_cut_numbers_into_few_bins():
    table = _table()
    y = (table["age"] > 40) ^ (table["city"] == "Rome")
    pairs = TableEncoder(pairs=[("age", "city")])
    model = make_pipeline(pairs, LogisticRegression()).fit(table, y)
    assert model.score(table, y) > 0.97
    names = model[0].get_feature_names_out().tolist()
    assert names[0] == "age"
    assert 4 <= sum(" & city=" in name for name in names) <= 16


def test_bins_and_numbers_beside_them():
    table = _table()
    table["age"][::9] = np.nan
    y = table["age"] > 40
    both = TableEncoder(numbers="both", bin_options={"max_bins": 2}).fit(table, y)
    names = both.get_feature_names_out().tolist()
    assert names[0] == "age"
    assert names[3] == "age=<missing>"
    assert [kind for _, kind in both.feature_kinds()[:4]] == ["number", *["category"] * 3]
    rows = both.transform(table).toarray()
    np.testing.assert_array_equal(rows[:, 1:4].sum(axis=1), 1)
    np.testing.assert_array_equal(rows[::9, 0], 0)


def test_robust_numbers_do_not_mind_a_wild_value():
    x = np.random.default_rng(0).normal(size=200)
    x[0] = 1e12
    plain = TableEncoder(sparse_output=False).fit_transform({"x": x})[1:]
    robust = TableEncoder(numbers="robust", sparse_output=False).fit_transform({"x": x})[1:]
    assert plain.std() < 1e-6
    assert 0.3 < robust.std() < 1
    np.testing.assert_array_equal(np.argsort(robust[:, 0]), np.argsort(x[1:]))


def test_robust_numbers_of_constant_and_huge_columns():
    huge = np.array([-1.7e308, 0.0, 1.7e308])
    found = TableEncoder(numbers="robust", sparse_output=False).fit_transform(
        {"one": np.ones(3), "huge": huge, "gone": np.array([1.0, np.nan, 3.0])}
    )
    assert np.isfinite(found).all()


@pytest.mark.parametrize("monotone", [0, 1, -1])
@pytest.mark.parametrize("quantity", [False, True])
def test_cuts_are_those_of_a_tree(quantity, monotone):
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    generator = np.random.default_rng(0)
    x = generator.normal(size=900).round(4)
    y = np.sin(2 * x) + generator.normal(size=900)
    y = y if quantity else (y > 0).astype(np.int64)
    make = DecisionTreeRegressor if quantity else DecisionTreeClassifier
    tree = make(
        max_leaf_nodes=12, min_samples_leaf=5, monotonic_cst=[monotone] if monotone else None
    )
    # Trees compare in single precision; places among the values are exact there.
    known, places = np.unique(x, return_inverse=True)
    inner = tree.fit(places[:, None], y).tree_
    below = np.sort(np.floor(inner.threshold[inner.feature >= 0])).astype(int)
    encoder = BinEncoder(12, 5, quantity, monotone).fit(Column("x", x, np.isnan(x)), y)
    np.testing.assert_allclose(encoder.cuts, (known[below] + known[below + 1]) / 2)


def test_cuts_of_many_values_lie_between_groups():
    x = np.random.default_rng(0).normal(size=20_000)
    encoder = BinEncoder().fit(Column("x", x, np.isnan(x)), (x > 0.3).astype(np.int64))
    # A group holds 20 rows, so that the step is found to within as many.
    nearest = encoder.cuts[np.argmin(np.abs(encoder.cuts - 0.3))]
    assert np.count_nonzero((x > 0.3) != (x > nearest)) <= 20
