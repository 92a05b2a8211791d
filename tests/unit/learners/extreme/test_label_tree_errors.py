"""What label trees say about input that they cannot use, and about further labels."""

import numpy as np
import pytest
import scipy.sparse as sp

from separatrix import LabelTree
from separatrix.errors import ConvergenceWarning, DataError, ParameterError

from .test_label_tree import SETS, X_NEW, Y_NEW, K, X, Y


def test_a_label_without_examples_is_named():
    holes = SETS.toarray()
    holes[:, [3, 9]] = 0
    with pytest.raises(DataError, match=r"label 3 \(column 3 of y\) has no example, and 1 more"):
        LabelTree().fit(X, holes)
    names = [f"name {i}" for i in range(K)]
    with pytest.raises(DataError, match="label 'name 3'"):
        LabelTree().fit(X, sp.csr_array(holes), labels=names)


def test_a_label_without_features_is_named():
    empty = X.toarray()
    empty[Y == 5] = 0
    with pytest.raises(DataError, match="label 5 has no features: its 8 rows are empty"):
        LabelTree(4).fit(empty, Y)
    with pytest.raises(DataError, match="label '' has no features"):
        LabelTree(4, tree="text").fit(X, np.array([str(i) if i else "" for i in range(K)])[Y])


def test_empty_rows_are_answered_by_the_intercepts():
    rows = X.toarray()
    rows[0] = 0
    tree = LabelTree(4, random_state=0).fit(rows, Y)
    shares = tree.predict_proba(np.zeros((2, X.shape[1])))
    assert np.isfinite(shares).all()
    assert np.array_equal(shares[0], shares[1])
    assert shares.sum(axis=1) == pytest.approx(1)
    sets = LabelTree(4, random_state=0).fit(rows, SETS)
    assert np.isfinite(sets.predict_proba(np.zeros((1, X.shape[1])))).all()


def test_rows_without_labels_are_examples_of_none():
    sets = sp.vstack([SETS, sp.csr_array((20, K), dtype=int)], format="csr")
    rows = sp.vstack([X, X[:20]], format="csr")
    with_them = LabelTree(4, random_state=0).fit(rows, sets).predict_proba(X[:20])
    without = LabelTree(4, random_state=0).fit(X, SETS).predict_proba(X[:20])
    assert with_them.sum() < without.sum()


def test_names_that_occur_twice_are_refused():
    names = [f"name {i}" for i in range(K)]
    names[7] = names[2]
    with pytest.raises(DataError, match="label 'name 2' occurs twice, at columns 2 and 7"):
        LabelTree().fit(X, SETS, labels=names)
    with pytest.raises(DataError, match="shape"):
        LabelTree().fit(X, SETS, labels=names[:5])
    with pytest.raises(DataError, match="y is a vector"):
        LabelTree().fit(X, Y, labels=names)


def test_other_bad_targets():
    wrong = SETS.toarray().astype(float)
    with pytest.raises(DataError, match="rows"):
        LabelTree().fit(X, SETS[:5])
    wrong[4, 6] = 2.0
    with pytest.raises(DataError, match=r"y\[4, 6\] = .*2.0.*: an indicator matrix holds 0 and 1"):
        LabelTree().fit(X, sp.csr_array(wrong))
    with pytest.raises(DataError, match="label 0 has no place in the hierarchy"):
        LabelTree(tree={1: ()}).fit(X, Y)
    with pytest.raises(ParameterError, match="sequence of names"):
        LabelTree(tree=dict.fromkeys(range(K), "animal")).fit(X, Y)


@pytest.mark.parametrize(
    "parameters",
    [
        {"branching": 1},
        {"branching": 2.5},
        {"beam": 0},
        {"loss": "forest"},
        {"tree": "none"},
        {"prune": 1.0},
        {"precision": "float32"},
        {"C": 0},
        {"tol": -1},
        {"max_iter": 0},
    ],
    ids=str,
)
def test_bad_parameters(parameters):
    with pytest.raises(ParameterError, match=next(iter(parameters))):
        LabelTree(**parameters).fit(X, Y)


def test_budget_and_beam_are_spoken_of():
    with pytest.warns(ConvergenceWarning, match="max_iter=1"):
        LabelTree(tol=1e-12, max_iter=1).fit(X, Y)
    tree = LabelTree(4, 1, random_state=0).fit(X, Y)
    with pytest.raises(ParameterError, match="raise beam"):
        tree.predict_top(X_NEW, 20)
    with pytest.raises(ParameterError, match="n must be"):
        tree.candidates(X_NEW, 0)


def test_a_bar_is_shown_when_asked_for(capsys):
    LabelTree(4, random_state=0, verbose=1).fit(X, Y)
    said = capsys.readouterr().out
    assert "groups of labels" in said
    assert "nodes" in said
    assert "100 %" in said


# -- further rows ----------------------------------------------------------------------------


def test_new_labels_are_learned_and_old_ones_kept():
    known = Y < 35
    tree = LabelTree(6, random_state=0).fit(X[known], Y[known])
    before = tree.score(X_NEW[Y_NEW < 35], Y_NEW[Y_NEW < 35])
    tree.partial_fit(X[~known], Y[~known])
    assert tree.classes_.tolist() == [*range(K)]
    assert tree.score(X_NEW[Y_NEW >= 35], Y_NEW[Y_NEW >= 35]) > 0.5
    assert tree.score(X_NEW[Y_NEW < 35], Y_NEW[Y_NEW < 35]) > before - 0.2
    np.testing.assert_allclose(tree.predict_proba(X_NEW).sum(axis=1), 1.0, rtol=1e-9)


def test_new_columns_of_label_sets():
    tree = LabelTree(6, random_state=0).fit(X, SETS[:, :35])
    rows = np.flatnonzero(Y >= 35)
    tree.partial_fit(X[rows], SETS[rows])
    assert tree.shape_.n_labels == K
    shares = tree.predict_proba(X[rows])
    assert np.isfinite(shares).all()
    own = shares[np.arange(len(rows)), Y[rows]]
    assert own.mean() > 3 * shares[:, 35:].mean()
    with pytest.raises(DataError, match="columns"):
        tree.partial_fit(X[rows], SETS[rows, :5])
    with pytest.raises(DataError, match="column 0 of y is label 'a'"):
        tree.partial_fit(X[rows], SETS[rows], labels=["a", *range(1, K)])


@pytest.mark.parametrize("node", ["logistic", "svm", "perceptron"])
def test_the_first_call_is_fit_and_further_rows_help(node):
    tree = LabelTree(6, loss=node, random_state=0).partial_fit(X, Y)
    same = LabelTree(6, loss=node, random_state=0).fit(X, Y)
    assert np.array_equal(tree.weights_.values, same.weights_.values)
    tree.partial_fit(X_NEW, Y_NEW)
    assert tree.score(X_NEW, Y_NEW) >= same.score(X_NEW, Y_NEW)
    assert tree.score(X_NEW, Y_NEW) > 0.9


def test_nodes_without_further_rows_stay_as_they_are():
    tree = LabelTree(4, random_state=0).fit(X, Y)
    before = tree.shape_, tree.weights_
    tree.partial_fit(X_NEW[:1], Y_NEW[:1])
    same = 0
    for node in range(tree.shape_.n_nodes):
        now = tree.weights_.node(tree.shape_, node, X.shape[1])
        same += (now != before[1].node(before[0], node, X.shape[1])).nnz == 0
    assert same == tree.shape_.n_nodes - tree.shape_.depth()
