"""ManyLabels: sets out of many labels, their order, forms and errors."""

import numpy as np
import pytest
import scipy.sparse as sp

from separatrix import ManyLabels, MultiLabel
from separatrix.errors import DataError, ParameterError


def problem(n=600, k=40, d=60, seed=0):
    """Every label likes two features; a row has those of its two labels."""
    random = np.random.default_rng(seed)
    likes = random.permutation(np.tile(np.arange(d), 2))[: 2 * k].reshape(k, 2)
    labels = random.integers(0, k, size=(n, 2))
    X = np.zeros((n, d), dtype=np.float32)
    np.put_along_axis(X, likes[labels].reshape(n, 4), 1.0, axis=1)
    Y = np.zeros((n, k), dtype=np.int64)
    np.put_along_axis(Y, labels, 1, axis=1)
    return sp.csr_array(X), Y


@pytest.fixture(scope="module")
def data():
    return problem()


@pytest.fixture(scope="module")
def model(data):
    return ManyLabels(C=30.0, max_iter=20, random_state=0).fit(data[0][:400], data[1][:400])


def test_the_labels_of_new_rows_come_first(data, model):
    X, Y = data[0][400:], data[1][400:]
    labels, probabilities = model.predict_top(X, 5)
    right = np.take_along_axis(Y, labels, axis=1)
    assert right[:, 0].mean() > 0.95
    assert (np.diff(probabilities, axis=1) <= 0).all()
    P = model.predict_proba(X)
    np.testing.assert_allclose(np.take_along_axis(P, labels, axis=1), probabilities, rtol=1e-6)
    np.testing.assert_array_equal(model.predict(X), P > 0.5)
    assert model.score(X, Y) == (model.predict(X) == Y).all(axis=1).mean()
    assert model.losses_[-1] < model.losses_[0]


def test_many_passes_come_near_the_optimum():
    X, Y = problem(n=200, k=5, d=10)
    exact = MultiLabel(edges=[], C=1.0, tol=1e-6).fit(X, Y).predict_proba(X)
    near = ManyLabels(C=1.0, max_iter=300, random_state=0).fit(X, Y).predict_proba(X)
    assert np.abs(near - exact).max() < 0.03


def test_dense_and_sparse_rows_and_their_scale_lead_to_the_same_model(data):
    X, Y = data
    one = ManyLabels(random_state=0).fit(X, Y)
    for other, C in ((X.toarray(), 3.0), (8.0 * X, 3.0 / 64)):
        found = ManyLabels(C=C, random_state=0).fit(other, Y)
        np.testing.assert_allclose(
            found.decision_function(other), one.decision_function(X), atol=1e-4
        )


def test_sets_come_back_as_they_were_given(data):
    X, Y = data
    sets = [tuple(f"l{label:02d}" for label in np.flatnonzero(row)) for row in Y]
    expected = ManyLabels(random_state=0).fit(X, Y).predict(X)
    sparse = ManyLabels(random_state=0).fit(X, sp.csr_array(Y)).predict(X)
    np.testing.assert_array_equal(sparse.toarray(), expected)
    named = ManyLabels(random_state=0).fit(X, sets)
    assert named.classes_[0] == "l00"
    assert list(named.predict(X)) == [
        tuple(f"l{label:02d}" for label in np.flatnonzero(row)) for row in expected
    ]
    assert 0.0 <= named.score(X, sets) <= 1.0


def test_what_cannot_be_learned_is_named(data):
    X, Y = data
    with pytest.raises(DataError, match="row 1, column 0"):
        ManyLabels().fit(X[:2], sp.csr_array([[1, 0], [2, 1]]))
    with pytest.raises(DataError, match="X has 2 rows, Y has 3"):
        ManyLabels().fit(X[:2], sp.csr_array(Y[:3]))
    with pytest.raises(ParameterError, match="learning_rate"):
        ManyLabels(learning_rate=0.0).fit(X, Y)
    with pytest.raises(ParameterError, match="k must be from 1 to 40"):
        ManyLabels(random_state=0).fit(X, Y).predict_top(X, 41)


def test_a_loaded_model_must_agree(model):
    model.__sx_check__()
    broken = ManyLabels()
    broken.__dict__.update(model.__dict__)
    broken.steps_ = model.steps_[:, :-1]
    with pytest.raises(DataError, match="the weights have shape"):
        broken.__sx_check__()
