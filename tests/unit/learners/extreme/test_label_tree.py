"""Laws of label trees: exact beams, sums of one, flat trees as the learners they are made of."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits

from separatrix import LabelTree, LogisticRegression, OneVsAll
from separatrix.learners.extreme.tree_shape import TreeShape, factors_of
from separatrix.learners.linear import LinearSVM

_random = np.random.default_rng(0)
K, D = 40, 60


def problem(n_per_label=8, seed=1):
    """Rows with three features of their label, and noise, over K labels."""
    random = np.random.default_rng(seed)
    y = np.repeat(np.arange(K), n_per_label)
    X = np.zeros((len(y), D))
    for row, label in enumerate(y):
        own = np.random.default_rng(label).choice(D, 4, replace=False)
        X[row, random.choice(own, 3, replace=False)] = random.uniform(0.5, 1.5, 3)
        X[row, random.choice(D, 2, replace=False)] += 0.3
    return sp.csr_array(X), y


X, Y = problem()
X_NEW, Y_NEW = problem(2, seed=2)
SETS = sp.csr_array((_random.random((len(Y), K)) < 0.05) | (np.eye(K)[Y] > 0)).astype(int)
EXACT = {"prune": 0.0, "precision": "double", "tol": 1e-10, "max_iter": 3000, "random_state": 0}


@pytest.mark.parametrize("node", ["logistic", "svm", "perceptron"])
@pytest.mark.parametrize("branching", ["auto", 2, 4, 7])
@pytest.mark.parametrize("beam", [1, 3, None])
def test_probabilities_sum_to_one(node, branching, beam):
    tree = LabelTree(branching, beam, node, random_state=0, max_iter=20, tol=0.1).fit(X, Y)
    shares = tree.predict_proba(X_NEW)
    assert shares.shape == (len(Y_NEW), K)
    assert (shares >= 0).all()
    np.testing.assert_allclose(shares.sum(axis=1), 1.0, rtol=1e-12)
    if beam != 1:
        assert (tree.predict(X_NEW) == Y_NEW).mean() > 0.5


def by_enumeration(tree, rows):
    """P of every label by walking all paths, from the arrays alone."""
    shape, weights = tree.shape_, tree.weights_
    shares = np.zeros((rows.shape[0], len(tree.classes_)))
    logs = {0: np.zeros(rows.shape[0])}
    for node in range(shape.n_nodes):
        W = weights.node(shape, node, rows.shape[1])
        edges = slice(shape.starts[node], shape.starts[node + 1])
        scores = (rows @ W).toarray() + weights.intercepts[edges]
        if tree.multilabel_:
            step = -np.logaddexp(0, -scores)
        else:
            step = scores - np.logaddexp.reduce(scores, axis=1, keepdims=True)
        for place, target in enumerate(shape.children(node)):
            log = logs[node] + step[:, place]
            if target < shape.n_nodes:
                logs[int(target)] = log
            else:
                shares[:, target - shape.n_nodes] = np.exp(log)
    return shares


@pytest.mark.parametrize("target", [Y, SETS], ids=["one label", "several"])
def test_a_beam_over_everything_is_exact(target):
    tree = LabelTree(3, None, random_state=0, precision="double").fit(X, target)
    exact = by_enumeration(tree, X_NEW)
    np.testing.assert_allclose(tree.predict_proba(X_NEW), exact, rtol=1e-9)
    tree.beam = K
    np.testing.assert_allclose(tree.predict_proba(X_NEW), exact, rtol=1e-9)
    found = tree.candidates(X_NEW, K)
    assert (np.diff(found.indptr) == K).all()
    order = np.argsort(-exact, axis=1, kind="stable")
    assert np.array_equal(found.indices.reshape(-1, K), order)
    np.testing.assert_allclose(
        found.log_scores.reshape(-1, K), np.log(np.take_along_axis(exact, order, axis=1)), rtol=1e-8
    )


def test_the_best_of_a_narrow_beam_have_their_exact_probabilities():
    tree = LabelTree(3, 2, random_state=0).fit(X, Y)
    exact = by_enumeration(tree, X_NEW)
    found = tree.candidates(X_NEW, 4)
    rows = np.repeat(np.arange(len(Y_NEW)), np.diff(found.indptr))
    np.testing.assert_allclose(np.exp(found.log_scores), exact[rows, found.indices], rtol=1e-6)
    assert (np.diff(found.log_scores)[np.diff(rows) == 0] <= 0).all()


def test_a_flat_logistic_tree_is_softmax_regression():
    tree = LabelTree(K, C=1.0, **EXACT).fit(X, Y)
    assert tree.shape_.depth() == 1
    model = LogisticRegression(C=1.0, solver="newton", tol=1e-14).fit(X, Y)
    np.testing.assert_allclose(tree.predict_proba(X_NEW), model.predict_proba(X_NEW), atol=1e-6)


def test_a_flat_tree_of_two_labels_is_logistic_regression():
    two = Y % 2
    tree = LabelTree(C=1.0, **EXACT).fit(X, two)
    model = LogisticRegression(C=1.0, solver="newton", tol=1e-14).fit(X, two)
    np.testing.assert_allclose(tree.predict_proba(X_NEW), model.predict_proba(X_NEW), atol=1e-6)


def test_a_flat_tree_of_label_sets_is_a_logistic_regression_per_label():
    tree = LabelTree(K, C=1.0, **EXACT).fit(X, SETS)
    shares = tree.predict_proba(X_NEW)
    for label in (0, 7, K - 1):
        model = LogisticRegression(C=1.0, solver="newton", tol=1e-14)
        model.fit(X, SETS[:, [label]].toarray().ravel())
        expected = model.predict_proba(X_NEW)[:, 1]
        np.testing.assert_allclose(shares[:, label], expected, atol=1e-6)


def test_a_flat_svm_tree_is_one_vs_all():
    tree = LabelTree(K, loss="svm", C=1.0, **{**EXACT, "tol": 1e-15}).fit(X, Y)
    model = OneVsAll(LinearSVM("squared_hinge", C=1.0, tol=1e-15, max_iter=10000)).fit(X, Y)
    W = tree.weights_.node(tree.shape_, 0, D)
    scores = (X_NEW @ W).toarray() + tree.weights_.intercepts
    np.testing.assert_allclose(scores, model.decision_function(X_NEW), atol=1e-8)
    assert np.array_equal(tree.predict(X_NEW), model.predict(X_NEW))


@pytest.mark.parametrize("node", ["logistic", "svm", "perceptron"])
@pytest.mark.parametrize("target", [Y, SETS], ids=["one label", "several"])
def test_the_number_of_threads_changes_nothing(node, target):
    one, three = (
        LabelTree(4, loss=node, random_state=3, n_jobs=n, tol=0.1, max_iter=30).fit(X, target)
        for n in (1, 3)
    )
    assert np.array_equal(one.shape_.targets, three.shape_.targets)
    for name, array in vars(one.weights_).items():
        assert np.array_equal(array, getattr(three.weights_, name))
    assert np.array_equal(one.predict_proba(X_NEW), three.predict_proba(X_NEW))


def test_dense_and_sparse_and_single_rows_agree():
    tree = LabelTree(4, random_state=0).fit(X.toarray(), Y)
    same = LabelTree(4, random_state=0).fit(X, Y)
    assert np.array_equal(tree.weights_.values, same.weights_.values)
    together = same.predict_proba(X_NEW)
    assert np.array_equal(tree.predict_proba(X_NEW.toarray()), together)
    alone = np.vstack([same.predict_proba(X_NEW[[i]]) for i in range(10)])
    assert np.array_equal(alone, together[:10])


@pytest.mark.parametrize("precision", ["half", "single", "double"])
def test_stored_precision(precision):
    tree = LabelTree(4, precision=precision, random_state=0).fit(X, Y)
    exact = LabelTree(4, precision="double", random_state=0).fit(X, Y)
    assert tree.weights_.values.dtype.itemsize == {"half": 2, "single": 4, "double": 8}[precision]
    bound = {"half": 2e-2, "single": 1e-5, "double": 0}[precision]
    difference = np.abs(tree.predict_proba(X_NEW) - exact.predict_proba(X_NEW)).max()
    assert difference <= bound


def test_pruning_drops_at_most_its_share_of_the_norm():
    whole = LabelTree(K, prune=0.0, precision="double", random_state=0).fit(X, Y)
    pruned = LabelTree(K, prune=0.3, precision="double", random_state=0).fit(X, Y)
    W, V = (tree.weights_.node(tree.shape_, 0, D).toarray() for tree in (whole, pruned))
    lost = np.linalg.norm(W - V, axis=0) / np.linalg.norm(W, axis=0)
    assert (lost <= 0.3).all()
    assert (lost > 0.1).any()
    assert len(pruned.weights_.values) < 0.7 * len(whole.weights_.values)


def test_label_sets_with_a_sparse_target_give_sparse_predictions():
    tree = LabelTree(4, random_state=0).fit(X, SETS)
    predicted = tree.predict(X)
    assert sp.issparse(predicted)
    dense = LabelTree(4, random_state=0).fit(X, SETS.toarray()).predict(X)
    assert np.array_equal(predicted.toarray(), dense)
    shares = tree.predict_proba(X)
    assert np.array_equal(predicted.toarray(), (shares >= 0.5).astype(int))


def test_trees_are_balanced_and_as_wide_as_asked():
    for n_labels in (2, 3, 17, 100, 101, 1000, 33_333):
        for branching in (2, 3, 10, "auto"):
            factors = factors_of(n_labels, branching)
            groups = int(np.prod(factors))
            widest = 100 if branching == "auto" else branching
            assert groups <= n_labels <= widest * groups
            assert all(
                2 <= factor <= (32 if branching == "auto" else branching) for factor in factors
            )
    tree = LabelTree(4, random_state=0).fit(X, Y)
    counts = np.diff(tree.shape_.starts)
    assert counts.max() <= 4
    assert sorted(tree.shape_.targets) == [*range(1, tree.shape_.n_nodes + K)]


def test_a_hierarchy_is_followed():
    paths = {label: (f"tens {label // 10}", f"fives {label // 5}") for label in range(K)}
    tree = LabelTree(tree=paths, random_state=0).fit(X, Y)
    assert len(tree.shape_.children(0)) == 4
    assert tree.shape_.depth() == 3
    assert tree.score(X_NEW, Y_NEW) > 0.5
    np.testing.assert_allclose(tree.predict_proba(X_NEW).sum(axis=1), 1.0)
    chain = TreeShape.of_paths(["a", "b"], {"a": ("x", "y"), "b": ("x", "y", "z")})
    assert chain.n_nodes == 1


def test_labels_whose_names_are_alike_stand_together():
    names = np.array([f"{word} {i}" for word in ("apple", "zebra", "quince") for i in range(10)])
    tree = LabelTree(10, tree="text", random_state=0).fit(X[:240], names[Y[:240]])
    groups = {
        tuple(sorted({tree.classes_[t - 4][:5] for t in tree.shape_.children(n)}))
        for n in (1, 2, 3)
    }
    assert groups == {("apple",), ("zebra",), ("quinc",)}


def test_digits():
    digits, labels = load_digits(return_X_y=True)
    tree = LabelTree(4, random_state=0).fit(digits[:1200] / 16, labels[:1200])
    assert tree.score(digits[1200:] / 16, labels[1200:]) > 0.85


def test_a_weight_of_two_is_a_row_twice():
    weights = np.where(np.arange(len(Y)) % 3 == 0, 2.0, 1.0)
    rows = np.repeat(np.arange(len(Y)), weights.astype(int))
    once = LabelTree(7, C=1.0, **EXACT).fit(X, Y, sample_weight=weights)
    twice = LabelTree(7, C=1.0, **EXACT).fit(X[rows], Y[rows])
    assert np.array_equal(once.shape_.targets, twice.shape_.targets)
    np.testing.assert_allclose(once.predict_proba(X_NEW), twice.predict_proba(X_NEW), atol=1e-6)
