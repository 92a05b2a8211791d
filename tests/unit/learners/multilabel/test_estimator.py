from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.metrics import accuracy_score, hamming_loss
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from separatrix import FrequentLabels, LogisticRegression, MultiLabel
from separatrix.data import LabelSets
from separatrix.errors import DataError, NotFittedError, ParameterError
from separatrix.learners.multilabel import estimator as module
from separatrix.structures.label_set.complete import all_sets


def planted(n=400, L=4, seed=0, strength=1.0):
    """Rows whose labels depend on the features and on each other."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 5))
    sets = all_sets(L)
    unary = X @ random.normal(size=(5, L)) * 0.7
    i, j = np.triu_indices(L, 1)
    pairs = strength * np.where((i + j) % 2 == 1, 1.5, -2.0)
    scores = unary @ sets.T + (sets[:, i] * sets[:, j]) @ pairs
    shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    rows = (shares.cumsum(axis=1) > random.random((n, 1))).argmax(axis=1)
    return X, sets[rows]


X, Y = planted()


@pytest.fixture(scope="module", params=["tree", "full"])
def model(request):
    return MultiLabel(edges=request.param).fit(X, Y)


def joint(model, X):
    """p(set | x) of every set, by the weights alone."""
    sets = all_sets(len(model.classes_))
    logs = [model.log_likelihood(X, np.tile(one, (len(X), 1))) for one in sets]
    return sets, np.exp(np.stack(logs, axis=1))


def test_probabilities_are_those_of_enumeration(model):
    sets, shares = joint(model, X[:30])
    np.testing.assert_allclose(shares.sum(axis=1), 1.0, rtol=1e-8)
    np.testing.assert_allclose(model.predict_proba(X[:30]), shares @ sets, atol=1e-8)
    np.testing.assert_allclose(model._set_shares(X[:30], sets), shares, atol=1e-10)


@pytest.mark.parametrize("decision", ["subset", "hamming", "f1"])
def test_decisions_are_best(model, decision):
    sets, shares = joint(model, X[:60])
    both = sets @ sets.T
    sizes = sets.sum(axis=1)
    total = sizes[:, None] + sizes
    worth = {
        "subset": np.eye(len(sets)),
        "hamming": -(total - 2.0 * both),
        "f1": np.where(total > 0, 2.0 * both / np.maximum(total, 1), 1.0),
    }[decision]
    expected = shares @ worth
    said = clone(model).set_params(decision=decision)
    said.__dict__.update({k: v for k, v in vars(model).items() if k.endswith("_")})
    numbers = said.predict(X[:60]) @ (1 << np.arange(4))
    np.testing.assert_allclose(expected[np.arange(60), numbers], expected.max(axis=1), atol=1e-9)


def test_draws_stand_for_many_labels(model, monkeypatch):
    exact = clone(model).set_params(decision="f1", random_state=0).fit(X, Y)
    counted = exact.predict(X)
    monkeypatch.setattr(module, "_COUNTED", 0)
    drawn = exact.predict(X)
    assert np.mean((counted == drawn).all(axis=1)) > 0.9


def test_without_edges_labels_are_logistic_regressions():
    model = MultiLabel(edges=[], C=0.7, tol=1e-9, max_iter=1000).fit(X, Y)
    assert model.edges_.shape == (0, 2)
    found = model.predict_proba(X)
    for label in range(4):
        alone = LogisticRegression(C=0.7, tol=1e-9).fit(X, Y[:, label])
        np.testing.assert_allclose(found[:, label], alone.predict_proba(X)[:, 1], atol=1e-4)
    np.testing.assert_array_equal(model.predict(X), (found > 0.5).astype(int))


def test_pairs_of_labels_help():
    more, truth = planted(2000, strength=3.0)
    train, test = slice(0, 1000), slice(1000, None)
    scores = {
        edges: MultiLabel(edges=[] if edges == "none" else edges)
        .fit(more[train], truth[train])
        .score(more[test], truth[test])
        for edges in ("none", "tree", "full")
    }
    assert scores["full"] > scores["none"] + 0.05
    assert scores["tree"] > scores["none"]
    constant = FrequentLabels().fit(more[train], truth[train]).score(more[test], truth[test])
    assert scores["none"] > constant


@pytest.mark.parametrize("learner", ["crf", "svm", "perceptron"])
def test_all_learners_learn(learner):
    model = MultiLabel(learner, "full", random_state=0).fit(X, Y)
    constant = FrequentLabels().fit(X, Y).score(X, Y)
    assert model.score(X, Y) > constant + 0.1
    assert model.score(X, Y) == accuracy_score(Y, model.predict(X))
    assert model.pair_weights_.shape == (6,)
    assert hasattr(model, "predict_proba") == (learner == "crf")
    if learner != "crf":
        with pytest.raises(AttributeError, match="has no attribute 'predict_proba'"):
            model.predict_proba(X)


def test_learning_in_parts():
    names = np.array(["a", "b", "c", "d"])
    sets = [names[row.astype(bool)].tolist() for row in Y]
    model = MultiLabel("perceptron", "full", random_state=0)
    for first in (0, 200, 0, 200):
        model.partial_fit(X[first : first + 200], sets[first : first + 200], classes=[*names, "e"])
    assert model.classes_.tolist() == [*names, "e"]
    constant = FrequentLabels().fit(X, sets).score(X, sets)
    assert model.score(X, sets) > constant + 0.1
    with pytest.raises(DataError, match="is not the same as on the last call"):
        model.partial_fit(X, sets, classes=names)
    with pytest.raises(DataError, match="row 0 has the label 'z'"):
        model.partial_fit(X[:1], [["z"]])
    with pytest.raises(AttributeError, match="has no attribute 'partial_fit'"):
        MultiLabel().partial_fit(X, Y)


def test_forms_of_y():
    names = np.array(["a", "b", "c", "d"])
    sets = [names[row.astype(bool)].tolist() for row in Y]
    plain = MultiLabel().fit(X, Y)
    by_name = MultiLabel().fit(X, sets)
    sparse = MultiLabel().fit(X, sp.csr_matrix(Y))
    frame = MultiLabel().fit(pd.DataFrame(X, columns=list("vwxyz")), pd.DataFrame(Y, columns=names))
    expected = plain.predict(X)
    assert expected.dtype == np.int64
    found = by_name.predict(X)
    assert isinstance(found, LabelSets)
    assert by_name.classes_.tolist() == names.tolist()
    np.testing.assert_array_equal(found.matrix(names).toarray(), expected)
    np.testing.assert_array_equal(sparse.predict(X).toarray(), expected)
    assert frame.classes_.tolist() == names.tolist()
    assert frame.feature_names_in_.tolist() == list("vwxyz")
    np.testing.assert_array_equal(frame.predict(pd.DataFrame(X, columns=list("vwxyz"))), expected)
    assert by_name.score(X, sets) == plain.score(X, Y) == sparse.score(X, sp.csr_matrix(Y))


def test_sparse_is_dense():
    thin = np.where(np.abs(X) > 0.8, X, 0.0)
    dense = MultiLabel(edges="full").fit(thin, Y)
    sparse = MultiLabel(edges="full").fit(sp.csr_matrix(thin), Y)
    np.testing.assert_allclose(
        dense.predict_proba(thin), sparse.predict_proba(sp.csr_matrix(thin)), atol=1e-6
    )


def test_one_thread_is_many():
    one = MultiLabel(edges="full", n_jobs=1).fit(X, Y)
    two = MultiLabel(edges="full", n_jobs=2).fit(X, Y)
    np.testing.assert_array_equal(one.pair_weights_, two.pair_weights_)
    np.testing.assert_array_equal(one.predict_proba(X), two.predict_proba(X))


def test_edges_by_name():
    sets = [[("a", "b", "c", "d")[at] for at in np.flatnonzero(row)] for row in Y]
    model = MultiLabel(edges=[("a", "b"), ("d", "b")]).fit(X, sets)
    assert {frozenset(edge) for edge in model.edges_.tolist()} == {
        frozenset((0, 1)),
        frozenset((1, 3)),
    }


def test_a_tree_joins_all_labels():
    edges = MultiLabel().fit(X, Y).edges_
    assert len(edges) == 3
    assert set(edges.ravel().tolist()) == {0, 1, 2, 3}


def test_weights_count_rows():
    weights = np.random.default_rng(0).integers(0, 3, len(X))
    rows = np.repeat(np.arange(len(X)), weights)
    edges = [(0, 1), (1, 2), (2, 3)]  # a tree by mutual information would depend on the weights
    weighted = MultiLabel(edges=edges, tol=1e-8).fit(X, Y, sample_weight=weights)
    repeated = MultiLabel(edges=edges, tol=1e-8).fit(X[rows], Y[rows])
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-3)


def test_labels_without_any_row_or_in_all():
    constant = np.c_[Y, np.zeros(len(Y), int), np.ones(len(Y), int)]
    model = MultiLabel().fit(X, constant)
    shares = model.predict_proba(X)
    assert np.isfinite(shares).all()
    assert shares[:, 4].max() < 0.5 < shares[:, 5].min()


def test_more_labels_than_can_be_counted():
    random = np.random.default_rng(0)
    many = (X @ random.normal(size=(5, 18)) + random.normal(size=(len(X), 18)) > 0).astype(int)
    model = MultiLabel(decision="f1", random_state=0).fit(X, many)
    assert model.predict(X[:20]).shape == (20, 18)
    assert hamming_loss(many[:20], model.predict(X[:20])) < 0.4
    loopy = MultiLabel(edges="full", C=0.01, max_iter=20, tol=0.1).fit(X[:60], many[:60])
    assert loopy.learner_.features_.method == "loopy"
    assert loopy.predict_proba(X[:3]).shape == (3, 18)
    with pytest.raises(ParameterError, match="of 18 labels needs draws, and inference 'loopy'"):
        loopy.set_params(decision="f1").predict(X[:3])


def test_frame_of_scikit_learn():
    model = MultiLabel(edges="full", C=0.5)
    assert clone(model).get_params() == model.get_params()
    pipe = make_pipeline(StandardScaler(), model).fit(X, Y)
    assert pipe.predict(X).shape == Y.shape
    assert cross_val_score(model, X, Y, cv=3).min() > 0.1
    search = GridSearchCV(model, {"C": [0.01, 1.0]}, cv=3).fit(X, Y)
    assert search.best_params_["C"] in (0.01, 1.0)
    again = pickle.loads(pickle.dumps(pipe))
    np.testing.assert_array_equal(again.predict(X), pipe.predict(X))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"learner": "forest"}, "learner must be one of"),
        ({"edges": "ring"}, "edges must be one of"),
        ({"edges": 3}, "edges must be 'tree', 'full' or pairs of labels"),
        ({"edges": [(0, 9)]}, "edge 0 names the label 9, which Y has not"),
        ({"edges": [(0, 1), (2, 2)]}, "edge 1 joins the label 2 with itself"),
        ({"edges": [(0, 1, 2)]}, "edge 0 must be a pair of labels"),
        ({"decision": "auc"}, "decision must be one of"),
        ({"decision": "hamming", "learner": "svm"}, "needs probabilities"),
        ({"C": 0.0}, "C must be a positive finite number"),
        ({"inference": "magic"}, "inference must be one of"),
    ],
)
def test_bad_parameters_are_named(settings, message):
    with pytest.raises(ParameterError, match=message):
        MultiLabel(**settings).fit(X, Y)


def test_bad_input_is_named():
    with pytest.raises(DataError, match=r"Y holds \d in row 0, column 0"):
        MultiLabel().fit(X, Y + 2)
    with pytest.raises(DataError, match="X has 400 rows, Y has 399"):
        MultiLabel().fit(X, Y[1:])
    with pytest.raises(ValueError, match=r"NaN|finite"):
        MultiLabel().fit(np.where(X > 2.5, np.nan, X), Y)
    with pytest.raises(NotFittedError):
        MultiLabel().predict(X)
    model = MultiLabel().fit(X, Y)
    with pytest.raises(ValueError, match="features"):
        model.predict(X[:, :3])
    with pytest.raises(DataError, match="Y has 3 labels, the model knows 4"):
        model.score(X, Y[:, :3])


def test_frequent_labels_are_the_best_constants():
    random = np.random.default_rng(3)
    sets = all_sets(4)
    truth = sets[random.choice(16, size=200, p=random.dirichlet(np.full(16, 0.4)))]
    sizes = sets.sum(axis=1)[:, None] + truth.sum(axis=1)
    both = sets @ truth.T
    worth = {
        "subset": (2 * both == sizes).mean(axis=1),
        "hamming": -(sizes - 2 * both).mean(axis=1),
        "f1": np.where(sizes > 0, 2 * both / np.maximum(sizes, 1), 1.0).mean(axis=1),
    }
    for decision, values in worth.items():
        baseline = FrequentLabels(decision).fit(truth, truth)
        number = baseline.labels_ @ (1 << np.arange(4))
        assert values[number] == pytest.approx(values.max())
    np.testing.assert_allclose(baseline.predict_proba(truth)[0], truth.mean(axis=0))
    with pytest.raises(ValueError, match="zero"):
        FrequentLabels().fit(truth, truth, sample_weight=np.zeros(200))
