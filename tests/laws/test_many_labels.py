"""Learners of very many labels have one surface, and take rows of any kind."""

import inspect

import numpy as np
import pytest
import scipy.sparse as sp

from separatrix.registry import LEARNERS, load

N, D, K = 120, 9, 6
CLASSES = {load(line.target) for line in LEARNERS if line.many}
EACH = pytest.mark.parametrize("learner", sorted(CLASSES, key=lambda one: one.__name__))


def made(kind):
    """Rows with signs, of which some are empty, and the label of each."""
    random = np.random.default_rng(3)
    y = random.integers(0, K, N)
    X = np.eye(K, D)[y] * 3 * np.where(y % 2, -1, 1)[:, None] + random.normal(size=(N, D)) / 4
    X[::17] = 0
    if kind == "counts":
        X = np.round(np.abs(X))
    return (sp.csr_array(X) if kind == "sparse" else X), np.array([f"label {k}" for k in y])


def targets(learner, y):
    """The labels, or sets of one label where a learner wants sets."""
    return [[label] for label in y] if learner.__name__ == "ManyLabels" else y


@EACH
def test_they_have_the_same_parameters(learner):
    parameters = inspect.signature(learner).parameters
    for name in ("candidates", "C", "learning_rate", "max_iter", "n_jobs"):
        assert name in parameters, name
    assert parameters["random_state"].default is None


@EACH
@pytest.mark.parametrize("kind", ["signed", "sparse", "counts"])
def test_rows_of_any_kind_are_learned_and_ranked(learner, kind):
    X, y = made(kind)
    model = learner(candidates=4, max_iter=30, random_state=0).fit(X, targets(learner, y))
    first = model.predict_top(X, 1).labels[:, 0]
    full = np.flatnonzero(np.arange(N) % 17)
    assert np.mean(first[full] == y[full]) > 0.9
    labels, probabilities = model.predict_top(X, 3)
    assert labels.shape == probabilities.shape == (N, 3)
    assert np.isfinite(probabilities).all()
    assert (np.diff(probabilities) <= 0).all()
    if learner.__name__ != "ManyLabels":
        np.testing.assert_array_equal(model.predict(X), first)
    # The candidates have all of the probability, up to what an index says it misses.
    chances = model.predict_proba(X)
    best = np.searchsorted(model.classes_, labels)
    assert chances.shape == (N, K)
    np.testing.assert_allclose(
        np.take_along_axis(chances, best, axis=1), probabilities, rtol=1e-3, atol=1e-6
    )
    assert (np.sort(chances)[:, : K - 4] <= 0.2 / (K - 4)).all()
    again = learner(candidates=4, max_iter=30, random_state=0, n_jobs=2)
    np.testing.assert_array_equal(again.fit(X, targets(learner, y)).predict_proba(X), chances)
    with pytest.raises(ValueError, match="from 1 to 4"):
        model.predict_top(X, 5)


@EACH
def test_rows_of_each_kind_and_alone_lead_to_the_same(learner):
    X, y = made("signed")
    model = learner(max_iter=5, random_state=0).fit(X, targets(learner, y))
    dense = model.predict_top(X, 3)
    for other in (sp.csr_array(X), sp.csr_matrix(X)):
        np.testing.assert_array_equal(model.predict_top(other, 3).labels, dense.labels)
    alone = [model.predict_top(X[i : i + 1], 3).labels[0] for i in range(20)]
    np.testing.assert_array_equal(alone, dense.labels[:20])


@EACH
def test_a_strong_penalty_shrinks_what_is_learned(learner):
    X, y = made("signed")
    y = targets(learner, y)
    free, held = (learner(C=C, max_iter=5, random_state=0).fit(X, y) for C in (1e3, 1e-4))
    spread = [model.predict_proba(X).std() for model in (free, held)]
    assert spread[1] < spread[0]


@EACH
@pytest.mark.parametrize("wrong", [0, -1, "some", 1.5])
def test_wrong_candidates_are_refused(learner, wrong):
    X, y = made("signed")
    with pytest.raises(ValueError, match="candidates"):
        learner(candidates=wrong).fit(X, targets(learner, y))
