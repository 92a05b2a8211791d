"""Scorecards: points of a row add up to its score."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

from separatrix import BayesianLinearRegression, LogisticRegression, TextVectorizer
from separatrix.errors import ParameterError
from separatrix.features import TableEncoder
from separatrix.features.tables.scorecard import scorecard

RANDOM = np.random.default_rng(0)
N = 300
AGE = np.where(RANDOM.random(N) < 0.1, np.nan, RANDOM.gamma(3, 10, N).round())
CITY = np.array(RANDOM.choice(["Rome", "Oslo", None], N), dtype=object)
TABLE = {"age": AGE, "city": CITY, "member": RANDOM.random(N) < 0.5}
Y = np.where(np.sin(np.nan_to_num(AGE) / 10) + (CITY == "Rome") > 0.3, "yes", "no")


@pytest.mark.parametrize("numbers", ["standard", "robust", "splines", "bins", "both"])
def test_points_add_up_to_the_score(numbers):
    model = make_pipeline(TableEncoder(numbers=numbers), LogisticRegression()).fit(TABLE, Y)
    card = scorecard(model)
    by_column = {one.column: one for one in card.cards}
    assert set(by_column) == {"age", "city", "member"}
    age = by_column["age"]
    rows = np.arange(len(age.x))
    # The curve, category by category, is the score of such rows.
    for city in ("Rome", "Oslo"):
        table = {
            "age": age.x,
            "city": np.array([city] * len(rows), dtype=object),
            "member": np.ones(len(rows), dtype=bool),
        }
        cities = by_column["city"]
        told = card.intercept[0] + age.y[:, 0] + cities.points[cities.values.index(city), 0]
        told = told + by_column["member"].points[0, 0]
        np.testing.assert_allclose(told, model.decision_function(table), atol=1e-9)
    assert card.scores == ("yes",)
    assert "<missing>" in age.values[-1]
    assert card.rows[0][0] == "(intercept)"
    assert "positive speaks for yes" in str(card)
    assert card.to_dict()["columns"][0]["points"]


def test_pairs_classes_and_quantities():
    y = np.where(np.isnan(AGE), "old", Y)
    encoder = TableEncoder(numbers="bins", pairs=[("age", "city")])
    card = scorecard(make_pipeline(encoder, LogisticRegression()).fit(TABLE, y))
    assert card.scores == ("no", "old", "yes")
    assert "age & city" in {one.column for one in card.cards}
    assert card.headings[2:] == ("points for no", "points for old", "points for yes")
    model = make_pipeline(TableEncoder(), BayesianLinearRegression())
    card = scorecard(model.fit(TABLE, np.nan_to_num(AGE)), "price")
    assert card.scores == ("price",)


def test_what_has_none_is_refused():
    model = make_pipeline(TextVectorizer(), LogisticRegression()).fit(["a cat", "a dog"] * 4, Y[:8])
    with pytest.raises(ParameterError, match="a scorecard is for linear models of tables"):
        scorecard(model)
