"""scikit-learn's own checks, and its machinery around the transformers."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.utils.estimator_checks import check_dataframe_column_names_consistency

from separatrix import LogisticRegression
from separatrix.features import (
    Conjunctions,
    PixelGrid,
    Polynomial,
    RadialBasis,
    SpamFeatures,
    SupervisedBins,
    TableEncoder,
)
from tests.checks import check, each

TRANSFORMERS = [
    Polynomial(),
    Polynomial((0, 3), interaction_only=True),
    Polynomial(n_features=64),
    Conjunctions(),
    Conjunctions(n_features=64),
    PixelGrid((1, -1)),
    PixelGrid((-1, 1), pixels=False, connectivity=4),
    RadialBasis(),
    RadialBasis("nystroem", centers="random", n_components=1),
    RadialBasis(centers="kmeans", n_components=1),
    RadialBasis("fourier", n_components=8),
    SupervisedBins(),
    TableEncoder(),
    TableEncoder(sparse_output=False),
    TableEncoder(numbers="robust"),
    TableEncoder(numbers="splines"),
    SpamFeatures(),
]


@each(TRANSFORMERS[:-1])
def test_scikit_learn_checks(estimator):
    check(estimator)


@pytest.mark.parametrize("transformer", TRANSFORMERS[:12], ids=repr)
def test_column_names_are_checked(transformer):
    if not isinstance(transformer, Conjunctions):  # which finds columns by name, in any order
        check_dataframe_column_names_consistency(type(transformer).__name__, transformer)


DENSE = [
    Polynomial(),
    PixelGrid((1, -1)),
    RadialBasis(),
    RadialBasis("nystroem"),
    RadialBasis("fourier", n_components=8),
    TableEncoder(sparse_output=False),
]


@pytest.mark.parametrize("transformer", DENSE, ids=repr)
def test_pandas_output_and_names(transformer):
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(12, 3)), columns=list("abc"))
    transformer = clone(transformer).set_output(transform="pandas")
    result = transformer.fit_transform(frame)
    assert isinstance(result, pd.DataFrame)
    assert list(result.columns) == list(transformer.get_feature_names_out())
    assert result.columns.is_unique
    np.testing.assert_array_equal(result.index, frame.index)


@pytest.mark.parametrize("transformer", TRANSFORMERS[:-1], ids=repr)
def test_in_pipeline_column_transformer_and_pickle(transformer):
    X = (np.random.default_rng(0).random((40, 3)) > 0.4).astype(float)
    y = X[:, 0] != X[:, 1]
    columns = ColumnTransformer([("part", clone(transformer), [0, 1])], remainder="passthrough")
    model = make_pipeline(columns, LogisticRegression()).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(model.decision_function(X), again.decision_function(X))
    made = columns.fit(X, y).transform(X)
    assert len(columns.get_feature_names_out()) == made.shape[1]


def test_spam_features_in_a_union():
    messages = ["WIN $99 NOW!!!", "see you at noon", "FREE!!! $10", "lunch?"] * 3
    union = FeatureUnion([("signs", SpamFeatures()), ("sparse", SpamFeatures(sparse_output=True))])
    model = make_pipeline(union, LogisticRegression()).fit(messages, [1, 0, 1, 0] * 3)
    assert model.score(messages, [1, 0, 1, 0] * 3) == 1
    frame = SpamFeatures().set_output(transform="pandas").fit_transform(messages)
    assert frame.shape == (12, 15)
    assert pickle.loads(pickle.dumps(model)).predict(["$5!!!"]) == [1]
