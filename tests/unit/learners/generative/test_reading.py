"""The table of running totals and the odds ratios of the notes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from separatrix.errors import ParameterError
from separatrix.learners.generative import LaplaceSmoothing, MaximumLikelihood, NaiveBayes

# Word, P(w | spam), P(w | ham), and the totals as the notes print them.
TABLE = [
    ("(prior)", 0.33333, 0.66666, -1.1, -0.4),
    ("Gary", 0.00002, 0.00021, -11.8, -8.9),
    ("would", 0.00069, 0.00084, -19.1, -16.0),
    ("you", 0.00881, 0.00304, -23.8, -21.8),
    ("like", 0.00086, 0.00083, -30.9, -28.9),
    ("to", 0.01517, 0.01339, -35.1, -33.2),
    ("lose", 0.00008, 0.00002, -44.5, -44.0),
    ("weight", 0.00016, 0.00002, -53.3, -55.0),
    ("while", 0.00027, 0.00027, -61.5, -63.2),
    ("you", 0.00881, 0.00304, -66.2, -69.0),
    ("sleep", 0.00006, 0.00001, -76.0, -80.5),
]
WORDS = [row[0] for row in TABLE[1:]]


@pytest.fixture
def spam_filter():
    """A filter with the probabilities of the notes: 100,000 words of each class."""
    names = list(dict.fromkeys(WORDS))
    rates = {row[0]: row[1:3] for row in TABLE}
    seen = np.array([[round(1e5 * rates[name][k]) for name in names] for k in (1, 0)], dtype=float)
    seen = np.column_stack([seen, 1e5 - seen.sum(axis=1)])
    frame = pd.DataFrame(seen, columns=[*names, "(all others)"])
    model = NaiveBayes("multinomial", smoothing=MaximumLikelihood(), priors=[2 / 3, 1 / 3])
    return model.fit(frame, ["ham", "spam"])


def test_the_table_of_the_notes(spam_filter):
    found = spam_filter.explain(WORDS, classes=["spam", "ham"])
    assert len(found.names) == 11
    for (name, spam, ham, *totals), *row in zip(
        TABLE, found.names, found.probabilities, found.totals, strict=True
    ):
        assert row[0] == name
        np.testing.assert_allclose(row[1], [spam, ham], atol=1.1e-5)
        np.testing.assert_allclose(np.round(row[2], 1), totals, rtol=0, atol=0.2 + 1e-9)
    assert round(found.totals[-1, 0], 1) == -76.0
    assert round(found.totals[-1, 1], 1) == -80.3
    assert found.posterior[0] == pytest.approx(0.987, abs=5e-4)
    text = str(found)
    assert "total spam" in text.splitlines()[0]
    assert text.splitlines()[1].split() == ["(prior)", "0.33333", "0.66667", "-1.1", "-0.4"]
    assert text.splitlines()[-1] == "P(spam | x) = 98.7 %"


def test_a_row_and_its_words_explain_alike(spam_filter):
    names = list(spam_filter.feature_names_in_)
    row = np.bincount([names.index(word) for word in WORDS], minlength=len(names)).astype(float)
    by_words, by_row = spam_filter.explain(WORDS), spam_filter.explain(row)
    np.testing.assert_allclose(by_row.totals[-1], by_words.totals[-1], rtol=1e-12)
    assert "you x 2" in by_row.names
    sparse = spam_filter.explain(sp.csr_array(row[None]))
    np.testing.assert_array_equal(sparse.totals, by_row.totals)
    joint = spam_filter.predict_joint_log_proba(pd.DataFrame([row], columns=names))
    np.testing.assert_allclose(by_row.totals[-1], joint[0], rtol=1e-12)
    shortened = spam_filter.explain(row, top=3)
    assert shortened.names[-1] == "(6 others)"
    np.testing.assert_allclose(shortened.totals[-1], joint[0], rtol=1e-12)
    assert np.isnan(shortened.probabilities[-1]).all()


def test_unknown_words_are_told(spam_filter):
    found = spam_filter.explain(["Gary", "xyzzy"])
    assert found.unknown == ("xyzzy",)
    assert "xyzzy" in str(found)


def test_every_kind_is_explained():
    random = np.random.default_rng(0)
    X = np.column_stack(
        [random.integers(2, size=60), random.integers(3, size=60), random.normal(size=60)]
    )
    y = random.integers(3, size=60)
    model = NaiveBayes(["bernoulli", "categorical", "gaussian"]).fit(X, y)
    for row in (X[0], np.array([np.nan, 1.0, 0.5])):
        found = model.explain(row, feature_names=["lamp", "color", "length"])
        np.testing.assert_allclose(
            found.totals[-1], model.predict_joint_log_proba(row[None])[0], rtol=1e-12
        )
        np.testing.assert_allclose(found.posterior, model.predict_proba(row[None])[0], rtol=1e-12)
    assert found.names == ("(prior)", "color = 1", "length = 0.5")


def test_odds_ratios_of_two_classes():
    X = np.array([[8.0, 1, 1, 0], [0, 1, 2, 7]])
    names = ["helvetica", "the", "group", "verdana"]
    model = NaiveBayes("multinomial", smoothing=LaplaceSmoothing(1)).fit(X, ["ham", "spam"])
    shares = (X + 1) / 14
    found = model.odds_ratios("spam", feature_names=names)
    assert found.names == ("verdana", "group", "the", "helvetica")
    np.testing.assert_allclose(found.ratios, sorted(shares[1] / shares[0], reverse=True))
    top = model.odds_ratios(top=1, feature_names=names)
    assert top.names == ("verdana", "helvetica")
    lines = str(top).splitlines()
    assert lines[0] == "P(x | spam) / P(x | ham)"
    assert lines[1].split() == ["verdana", "8.0"]
    assert lines[3].split() == ["helvetica", "9.0"]


def test_maximum_likelihood_has_infinite_odds():
    X = np.array([[8.0, 0], [1.0, 7]])
    with pytest.warns(UserWarning, match="zero"):
        model = NaiveBayes("multinomial", smoothing=MaximumLikelihood()).fit(X, [0, 1])
    assert np.isinf(model.odds_ratios().ratios[0])
    assert "inf" in str(model.odds_ratios())


def test_odds_ratios_against_the_rest_and_of_categories():
    random = np.random.default_rng(0)
    y = random.integers(3, size=300)
    X = np.column_stack(
        [random.random(300) < 0.2 + 0.3 * y, (y + random.integers(2, size=300)) % 3]
    )
    X = np.column_stack([X, random.normal(size=300)])
    model = NaiveBayes(["bernoulli", "categorical", "gaussian"]).fit(X, y)
    found = model.odds_ratios(0, top=None)
    assert len(found.names) == 4  # the Gaussian column has none
    own, rest = X[y == 0], X[y != 0]
    on = (own[:, 0].sum() + 1) / (len(own) + 2) / ((rest[:, 0].sum() + 1) / (len(rest) + 2))
    assert found.ratios[found.names.index("x0")] == pytest.approx(on)
    two = ((own[:, 1] == 2).sum() + 1) / (len(own) + 3)
    two /= ((rest[:, 1] == 2).sum() + 1) / (len(rest) + 3)
    assert found.ratios[found.names.index("x1 = 2")] == pytest.approx(two)
    assert found.rest == "not 0"


@pytest.mark.parametrize(
    "call",
    [
        lambda m: m.explain(["a", "b"]),  # no names
        lambda m: m.explain(np.zeros((2, 3))),
        lambda m: m.explain(np.zeros(3), classes=[0, 9]),
        lambda m: m.explain(np.zeros(3), classes=[0]),
        lambda m: m.explain(np.zeros(3), feature_names=["a"]),
        lambda m: m.odds_ratios(9),
        lambda m: m.conditional_table(0),
        lambda m: m.conditional_table("no such"),
        lambda m: NaiveBayes("gaussian").fit(np.eye(3), [0, 1, 1]).odds_ratios(),
        lambda m: NaiveBayes("gaussian").fit(np.eye(3), [0, 1, 1]).explain(["a"]),
        lambda m: m.set_params(complement=True).explain(np.ones(3)),
    ],
)
def test_what_cannot_be_read(call):
    model = NaiveBayes("multinomial").fit([[1, 2, 0], [0, 1, 3]], [0, 1])
    with pytest.raises(ParameterError):
        call(model)
