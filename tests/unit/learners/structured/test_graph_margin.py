"""StructuredSVM and StructuredPerceptron on graphs: the optimum of chains, gaps, separable data."""

from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp

from separatrix import Forest, Graph, Grid, LabelSet, StructuredPerceptron, StructuredSVM
from separatrix._core import MarginPlanes
from separatrix.errors import DataError, ParameterError, SolverError
from separatrix.structures import Chain, LabelGraph, PairwiseGraph
from separatrix.structures.graph.scores import labelling_scores
from tests.unit.learners.structured.test_graph_crf import as_paths, labelled, sequences
from tests.unit.structures.test_graph import graphs


def rows_of(n=60, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 3))
    shared = X @ random.normal(size=(3, 1)) + random.normal(size=(n, 1))
    return X, (shared + 0.5 * random.normal(size=(n, 4)) > 0).astype(int)


def test_differences_are_those_of_the_features():
    random = np.random.default_rng(0)
    yes_no = (True, False)
    for tree, pairs, bias, sparse in product(yes_no, ("full", "potts"), yes_no, yes_no):
        X = graphs(tree=tree, edge_features=2, sparse=sparse)
        graph = PairwiseGraph(3, 3, 2, 2, pairs, bias=bias)
        y, z = random.integers(3, size=(2, X.graphs.n_nodes))
        found = graph.differences(X, y, z)
        for i in range(len(X)):
            nodes = slice(*X.graphs.node_offsets[i : i + 2])
            expected = graph.features(X[[i]], y[nodes]) - graph.features(X[[i]], z[nodes])
            np.testing.assert_allclose(found[i].toarray()[0], expected, atol=1e-12)
    matrix, _ = rows_of(5)
    for part in (matrix, sp.csr_matrix(matrix)):
        labels = LabelGraph(4, 3, np.array([[0, 1], [1, 3]]))
        rows = labels.rows(part)
        y, z = random.integers(2, size=(2, 20))
        found = labels.differences(rows, y, z).toarray()
        expected = labels.features(rows, y) - labels.features(rows, z)
        np.testing.assert_allclose(found.sum(axis=0), expected, atol=1e-12)
        w = random.normal(size=labels.n_weights)
        scores = labels.scores(w, rows)
        gaps = labelling_scores(scores, y) - labelling_scores(scores, z)
        np.testing.assert_allclose(found @ w, gaps, atol=1e-12)


@pytest.mark.parametrize("cost", ["hamming", "hamming_mean"])
def test_a_chain_as_a_graph_has_the_optimum_of_the_chain(cost):
    rows, y = sequences()
    matrix, lengths = sp.csr_matrix(np.concatenate(rows)), [len(row) for row in rows]
    options = {"C": 0.3, "cost": cost, "tol": 1e-7, "max_iter": 5000, "random_state": 0}
    chain = StructuredSVM(Chain(state_features="all", boundaries=False), **options)
    chain.fit((matrix, lengths), y)
    forest = StructuredSVM(Forest(bias=False), **options).fit(as_paths(rows), y)
    assert forest.solution_.objective == pytest.approx(chain.solution_.objective, rel=1e-6)
    assert forest.dual_bound_ <= chain.solution_.objective
    np.testing.assert_allclose(forest.pair_weights_[0], chain.transition_weights_, atol=3e-3)
    np.testing.assert_allclose(
        forest.loss(as_paths(rows), y), chain.loss((matrix, lengths), y), atol=1e-2
    )


@pytest.mark.parametrize("inference", ["junction", "tree_reweighted", "loopy"])
def test_the_gap_is_a_certificate(inference):
    X, y = labelled(edge_features=1, n_graphs=12)
    structure = Graph(inference=inference)
    options = {"C": 0.2, "tol": 1e-4, "max_iter": 300, "random_state": 0}
    svm = StructuredSVM(structure, **options).fit(X, y)
    exact = StructuredSVM(Graph(inference="junction"), **{**options, "tol": 1e-7}).fit(X, y)
    best = exact.solution_.objective
    assert svm.solution_.objective >= best - 1e-6 or inference == "loopy"
    assert svm.dual_bound_ <= best + 1e-6
    assert svm.solution_.objective == pytest.approx(best, rel=2e-2)
    # H is the maximum over all labellings.
    inputs, _, scores = exact._scores(X[:1])
    values = [
        labelling_scores(scores, np.array(z))[0] + (np.array(z) != y[0]).sum()
        for z in product((0, 1), repeat=5)
    ]
    own = labelling_scores(scores, exact._codes(y[:1], inputs))[0]
    assert exact.loss(X[:1], y[:1])[0] == pytest.approx(max(values) - own)


def test_label_sets_and_images():
    X, Y = rows_of()
    svm = StructuredSVM(LabelSet("full"), C=0.5, tol=1e-4, random_state=0).fit(X, Y)
    assert svm.solution_.gap <= 1e-4 * svm.solution_.objective
    assert svm.predict(X).shape == Y.shape
    same = StructuredSVM(LabelSet("full"), C=0.5, tol=1e-4, random_state=0, n_jobs=3).fit(X, Y)
    np.testing.assert_array_equal(svm.coef_, same.coef_)
    again = svm.set_params(warm_start=True).fit(X, Y)
    assert again.solution_.objective <= same.solution_.objective * (1 + 1e-9)
    random = np.random.default_rng(0)
    truth = np.zeros((3, 10, 10), dtype=int)
    truth[:, 2:8, 2:8] = 1
    images = truth + random.normal(scale=0.8, size=truth.shape)
    grid = StructuredSVM(Grid(inference="tree_reweighted"), C=0.1, random_state=0)
    grid.fit(images, truth)
    alone = ((images > 0.5) == truth).mean()
    assert grid.score(images, truth) > alone + 0.05
    early = StructuredSVM(LabelSet(), early_stopping=True, random_state=0).fit(X, Y)
    assert 0 <= early.solution_.trace.rows[-1].held_out <= 1


@pytest.mark.parametrize("averaging", ["none", "average"])
@pytest.mark.parametrize("loss", ["perceptron", "mira"])
def test_a_chain_as_a_graph_learns_the_same_online(averaging, loss):
    rows, y = sequences(20)
    matrix, lengths = sp.csr_matrix(np.concatenate(rows)), [len(row) for row in rows]
    options = {"averaging": averaging, "loss": loss, "shuffle": False, "max_iter": 3}
    weights = np.random.default_rng(0).uniform(0.5, 1.5, size=20)
    chain = StructuredPerceptron(Chain(state_features="all", boundaries=False), **options)
    chain.fit((matrix, lengths), y, weights)
    forest = StructuredPerceptron(Forest(bias=False), **options).fit(as_paths(rows), y, weights)
    np.testing.assert_array_equal(forest.mistakes_, chain.mistakes_)
    np.testing.assert_allclose(forest.pair_weights_[0], chain.transition_weights_, atol=1e-8)


def test_the_perceptron_separates_and_goes_on():
    random = np.random.default_rng(0)
    X, _ = labelled(tree=True, n_graphs=15)
    labels = [(features[:, 0] > 0).astype(int) for features, _ in X]
    model = StructuredPerceptron("forest", max_iter=100, random_state=0).fit(X, labels)
    assert model.mistakes_[-1] == 0
    assert model.score(X, labels) > 0.9
    passes = len(model.mistakes_)
    model.partial_fit(X[:3], labels[:3])
    assert len(model.mistakes_) == passes + 1
    fresh = StructuredPerceptron("graph", random_state=0)
    fresh.partial_fit(X[:3], [[0] * 5] * 3, classes=[0, 1])
    fresh.partial_fit(X[3:], labels[3:], classes=[0, 1])
    assert fresh.classes_.tolist() == [0, 1]
    with pytest.raises(DataError, match="is not the same as on the last call"):
        fresh.partial_fit(X, labels, classes=[0, 2])
    rows, Y = rows_of()
    sets = StructuredPerceptron("label_set", loss="mira", C=0.1, random_state=0).fit(rows, Y)
    assert sets.score(rows, Y) > 0.7
    images = random.normal(size=(4, 6, 6))
    grid = StructuredPerceptron("grid", random_state=0).fit(images, (images > 0).astype(int))
    assert grid.score(images, (images > 0).astype(int)) > 0.8


def test_errors_are_named():
    X, y = labelled(tree=True)
    with pytest.raises(SolverError, match="structure='chain'"):
        StructuredSVM("forest", solver="dual").fit(X, y)
    with pytest.raises(ParameterError, match="scoring='chunk_f1' needs structure='chain'"):
        StructuredSVM("forest", scoring="chunk_f1").fit(X, y)
    planes = (np.array([0, 0]), np.zeros(0, dtype=np.int64), np.zeros(0))
    with pytest.raises(DataError, match="there is no example 2"):
        MarginPlanes(np.ones(2), 3, 0).add(np.array([2]), planes, np.ones(1))
