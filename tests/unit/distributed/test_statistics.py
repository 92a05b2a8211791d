from __future__ import annotations

from typing import Any

import dask.array as da
import dask.bag as db
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from separatrix import (
    BayesianLinearRegression,
    GaussianDiscriminant,
    NaiveBayes,
    TextVectorizer,
)
from separatrix.bayes.conjugate import (
    BetaBernoulli,
    DirichletCategorical,
    GammaPoisson,
    NormalInverseGamma,
    NormalNormal,
)
from separatrix.distributed.fitting import fit
from separatrix.errors import DataError

CLOSE = {"rtol": 1e-10, "atol": 1e-10}


@pytest.fixture(scope="module")
def rows() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    generator = np.random.default_rng(0)
    X = generator.normal(size=(200, 5))
    X[:, 3] = generator.integers(0, 2, 200)
    y = np.array(["ant", "bee", "cicada"])[generator.integers(0, 3, 200)]
    X[y == "bee", :2] += 1.5
    return X, y, generator.uniform(0.5, 2.0, 200)


@pytest.mark.parametrize(("chunk", "weighted"), [(200, False), (45, True)])
def test_naive_bayes_and_gaussian_discriminant(
    client: Any, rows: Any, chunk: int, weighted: bool
) -> None:
    X, y, c = rows
    X = X.copy()
    # Only the last rows tell that this column is no Bernoulli variable.
    X[:, 4] = 0.0
    X[-1, 4] = 0.5
    weights = c if weighted else None
    for model in (
        NaiveBayes(),
        NaiveBayes({3: "categorical"}, smoothing=0.5),
        GaussianDiscriminant(shrinkage=0.1),
        GaussianDiscriminant(shared_covariance=False, shrinkage="auto"),
    ):
        here = type(model)(**model.get_params()).fit(X, y, sample_weight=weights)
        there = fit(
            type(model)(**model.get_params()),
            da.from_array(X, chunks=(chunk, 3)),
            da.from_array(y, chunks=50),
            None if weights is None else da.from_array(weights, chunks=33),
            client=client,
        )
        assert there.classes_.tolist() == here.classes_.tolist()
        assert there.get_params() == here.get_params()
        np.testing.assert_allclose(there.predict_log_proba(X), here.predict_log_proba(X), **CLOSE)


def test_naive_bayes_counts_words_in_sparse_blocks(client: Any) -> None:
    X = sp.random_array((90, 30), density=0.2, format="csr", random_state=0)
    X.data[:] = np.ceil(3 * X.data)
    y = np.arange(90) % 4
    blocks = da.from_array(X, chunks=(20, 30), asarray=False)
    there = fit(NaiveBayes(), blocks, y, client=client)
    here = NaiveBayes().fit(X, y)
    assert (there.kinds_ == "multinomial").all()
    np.testing.assert_allclose(there.predict_proba(X), here.predict_proba(X), **CLOSE)


@pytest.mark.parametrize("noise", ["evidence", "conjugate"])
def test_bayesian_linear_regression(client: Any, rows: Any, noise: str) -> None:
    X, _, c = rows
    y = X @ np.arange(5.0) + 3.0 + 0.1 * np.sin(100 * X[:, 0])
    frame = pd.DataFrame(X, columns=list("abcde"))
    table = dd.from_pandas(frame.assign(y=y, weight=c), npartitions=4)
    there = fit(
        BayesianLinearRegression(noise=noise),
        table[list("abcde")],
        table["y"],
        table["weight"],
        client=client,
    )
    here = BayesianLinearRegression(noise=noise).fit(frame, y, sample_weight=c)
    assert there.feature_names_in_.tolist() == list("abcde")
    np.testing.assert_allclose(there.coef_, here.coef_, **CLOSE)
    np.testing.assert_allclose(there.noise_variance_, here.noise_variance_, rtol=1e-9)
    np.testing.assert_allclose(
        there.predict(frame, return_std=True)[1], here.predict(frame, return_std=True)[1], rtol=1e-9
    )


DOCUMENTS = [
    "the cat sat", "the dog sat on the mat", "Überall Äpfel", "a cat and a dog", "", "mat mat mat",
    "the cat", "dogs and cats", "über den Äpfeln", "the end",
]  # fmt: skip


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"ngram_range": (1, 2), "min_df": 2},
        {"max_features": 4, "sublinear_tf": True},
        {"nb_log_ratio": True},
        {"n_features": 64},
        {"vocabulary": ["cat", "dog", "mat"]},
        {"analyzer": "char_wb", "ngram_range": (2, 3), "max_df": 0.8},
    ],
)
def test_text_vectorizer(client: Any, options: dict[str, Any]) -> None:
    y = np.arange(len(DOCUMENTS)) % 2
    here = TextVectorizer(**options).fit(DOCUMENTS, y)
    columns = dd.from_pandas(pd.DataFrame({"text": DOCUMENTS, "y": y}), npartitions=3)
    bag = db.from_sequence(DOCUMENTS, npartitions=4)
    for X, labels in ((columns["text"], columns["y"]), (bag, db.from_sequence(y, npartitions=4))):
        there = fit(TextVectorizer(**options), X, labels, client=client)
        assert there.n_documents_ == len(DOCUMENTS)
        assert there.get_feature_names_out().tolist() == here.get_feature_names_out().tolist()
        difference = there.transform(DOCUMENTS) - here.transform(DOCUMENTS)
        assert abs(difference).max() <= 1e-10


def test_conjugate_families(client: Any) -> None:
    generator = np.random.default_rng(1)
    cases = (
        (BetaBernoulli(2, 3), generator.integers(0, 2, 100)),
        (GammaPoisson(1, 2), generator.poisson(3.0, 100)),
        (NormalNormal(0.0, 4.0, 1.0), generator.normal(size=100)),
        (NormalInverseGamma(0.0, 1.0, 2.0, 2.0), generator.normal(size=100)),
        (DirichletCategorical(np.ones(3)), generator.integers(0, 3, 100)),
    )
    for prior, data in cases:
        before = prior.update(data[:10])
        there = fit(before, da.from_array(data[10:], chunks=23), client=client)
        here = prior.update(data)
        assert type(there) is type(here)
        assert there.origin == here.origin
        np.testing.assert_allclose(there.mean, here.mean, **CLOSE)
        np.testing.assert_allclose(
            np.ravel(there.credible_interval()), np.ravel(here.credible_interval()), **CLOSE
        )


def test_all_weights_zero(client: Any, rows: Any) -> None:
    X, y, _ = rows
    with pytest.raises(DataError, match="positive weight"):
        fit(NaiveBayes(), da.from_array(X, chunks=(50, 5)), y, np.zeros(200), client=client)
    # A partition whose rows weigh nothing is like one that is not there.
    weights = np.repeat([0.0, 1.0], 100)
    there = fit(NaiveBayes(), da.from_array(X, chunks=(50, 5)), y, weights, client=client)
    here = NaiveBayes().fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(there.predict_proba(X), here.predict_proba(X), **CLOSE)
