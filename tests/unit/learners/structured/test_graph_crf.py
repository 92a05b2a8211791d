"""CRFs on graphs: the optimum is that of chains, softmax and enumeration; errors are named."""

import pickle
from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.model_selection import GridSearchCV, cross_val_score

from separatrix import CRF, FeatureGraphs, Forest, Graph, Grid, LabelSet, LogisticRegression
from separatrix.errors import ConvergenceWarning, DataError, ParameterError, SolverError
from separatrix.structures import Chain, ChainFeatures, PairwiseGraph
from tests.unit.structures.graphs import random_edges, random_tree


def sequences(n=12, seed=0, n_features=4):
    random = np.random.default_rng(seed)
    rows = [random.normal(size=(length, n_features)) for length in random.integers(1, 6, size=n)]
    return rows, [random.choice(["a", "b", "c"], size=len(row)) for row in rows]


def as_paths(rows):
    return [(row, [(i, i + 1) for i in range(len(row) - 1)]) for row in rows]


def labelled(n_nodes=5, n_graphs=8, *, tree=False, seed=0, edge_features=0):
    random = np.random.default_rng(seed)
    X = []
    for i in range(n_graphs):
        edges = random_tree(n_nodes, i) if tree else random_edges(n_nodes, n_nodes + 1, i)
        item = (random.normal(size=(n_nodes, 2)), edges)
        X.append(
            (*item, random.normal(size=(len(edges), edge_features))) if edge_features else item
        )
    return X, [random.integers(2, size=n_nodes) for _ in X]


@pytest.mark.parametrize("structure", [Forest(bias=False), Graph(bias=False)])
def test_a_chain_as_a_graph_has_the_optimum_of_the_chain(structure):
    rows, y = sequences()
    matrix = sp.csr_matrix(np.concatenate(rows))
    lengths = [len(row) for row in rows]
    options = {"tol": 1e-13, "C": 0.7, "solver": "lbfgs"}
    chain = CRF(Chain(state_features="all", boundaries=False), **options).fit((matrix, lengths), y)
    graph = CRF(structure, **options).fit(as_paths(rows), y)
    assert graph.features_.method == "forest"
    assert graph.solution_.objective == pytest.approx(chain.solution_.objective, rel=1e-10)
    np.testing.assert_allclose(
        graph.pair_weights_[0], chain.transition_weights_, atol=2e-6, rtol=1e-6
    )
    # The same weights give the same numbers.
    K, d = 3, 4
    state = chain.coef_[chain.features_.sections["state"]].reshape(d, K)
    graph.coef_ = np.concatenate([chain.transition_weights_.ravel(), state.ravel()])
    args = (matrix, lengths)
    for one, other in zip(
        chain.predict_proba(args), graph.predict_proba(as_paths(rows)), strict=True
    ):
        np.testing.assert_allclose(one, other, atol=1e-8)
    np.testing.assert_allclose(
        chain.log_likelihood(args, y), graph.log_likelihood(as_paths(rows), y), atol=1e-8
    )
    np.testing.assert_allclose(
        chain.decision_function(args, y), graph.decision_function(as_paths(rows), y), atol=1e-8
    )
    for one, other in zip(chain.predict(args), graph.predict(as_paths(rows)), strict=True):
        assert one == other.tolist()
    for one, other in zip(
        chain.predict_edge_marginals(args),
        graph.predict_edge_marginals(as_paths(rows)),
        strict=True,
    ):
        np.testing.assert_allclose(one, other, atol=1e-8)


@pytest.mark.parametrize("inference", ["junction", "loopy", "tree_reweighted"])
def test_all_inference_is_exact_on_a_chain(inference):
    rows, y = sequences()
    exact = CRF(Forest(bias=False), tol=1e-12).fit(as_paths(rows), y)
    other = CRF(Graph(bias=False, inference=inference), tol=1e-9).fit(as_paths(rows), y)
    assert other.solution_.objective == pytest.approx(exact.solution_.objective, rel=1e-8)
    other.coef_ = exact.coef_
    ways = [model.predict_proba(as_paths(rows)) for model in (exact, other)]
    for one, two in zip(*ways, strict=True):
        # Damped messages end where they change by `tol`.
        np.testing.assert_allclose(one, two, atol=1e-5 if inference == "tree_reweighted" else 1e-8)


def test_single_nodes_have_the_optimum_of_softmax():
    random = np.random.default_rng(0)
    features = random.normal(size=(60, 3))
    y = random.integers(3, size=60)
    crf = CRF("forest", C=0.5, tol=1e-13).fit([(row[None], []) for row in features], y[:, None])
    softmax = LogisticRegression(C=0.5, tol=1e-13).fit(features, y)
    assert crf.solution_.objective == pytest.approx(softmax.solution_.objective, rel=1e-10)
    found = np.concatenate(crf.predict_proba([(row[None], []) for row in features]))
    np.testing.assert_allclose(found, softmax.predict_proba(features), atol=1e-6)


@pytest.mark.parametrize("edges", [[], "tree", "full"])
def test_label_sets(edges):
    random = np.random.default_rng(0)
    X = random.normal(size=(80, 3))
    shared = X @ random.normal(size=(3, 1)) + random.normal(size=(80, 1))
    Y = (shared + 0.5 * random.normal(size=(80, 4)) > 0).astype(int)
    crf = CRF(LabelSet(edges), C=0.3, tol=1e-12).fit(X, Y)
    same = CRF(LabelSet(edges), C=0.3, tol=1e-12).fit(sp.csr_matrix(X), sp.csr_matrix(Y))
    np.testing.assert_allclose(crf.coef_, same.coef_, atol=1e-6)
    found = crf.predict_proba(X)
    assert found.shape == Y.shape
    if not len(edges):
        for label in range(4):
            alone = LogisticRegression(C=0.3, tol=1e-12).fit(X, Y[:, label])
            np.testing.assert_allclose(found[:, label], alone.predict_proba(X)[:, 1], atol=1e-6)
        return
    assert (crf.pair_weights_ > 0).sum() >= 3
    # Enumeration of the sets of the first row.
    sets = np.array(list(product((0, 1), repeat=4)))
    p = np.exp(crf.log_likelihood(np.repeat(X[:1], 16, axis=0), sets))
    assert p.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(p @ sets, found[0], atol=1e-8)
    np.testing.assert_array_equal(sets[p.argmax()], crf.predict(X[:1])[0])
    draws = crf.sample(X[:1], 4000, random_state=0)
    assert draws.shape == (4000, 1, 4)
    np.testing.assert_allclose(draws[:, 0].mean(axis=0), found[0], atol=0.04)
    np.testing.assert_array_equal(crf.predict_minimum_risk(X), found > 0.5)
    assert crf.score(X, Y) == pytest.approx((crf.predict(X) == Y).mean())


@pytest.mark.parametrize("tree", [True, False])
def test_probabilities_are_those_of_enumeration(tree):
    X, y = labelled(tree=tree, edge_features=2)
    crf = CRF("forest" if tree else "graph", C=2.0, tol=1e-10).fit(X, y)
    assert crf.features_.method == ("forest" if tree else "junction")
    labellings = np.array(list(product((0, 1), repeat=5)))
    one = [X[0]] * 32
    p = np.exp(crf.log_likelihood(one, labellings))
    assert p.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(p @ labellings, crf.predict_proba(X)[0][:, 1], atol=1e-8)
    np.testing.assert_array_equal(labellings[p.argmax()], crf.predict(X)[0])
    draws = np.array([draw[0] for draw in crf.sample(X, 3000, random_state=1)])
    np.testing.assert_allclose(draws.mean(axis=0), p @ labellings, atol=0.05)
    edges = crf.predict_edge_marginals(X)[0]
    assert edges.shape == (len(X[0][1]), 2, 2)
    # Loopy and tree-reweighted inference see the same weights.
    loose = CRF(Graph(inference="tree_reweighted"), C=2.0, tol=1e-6).fit(X, y)
    assert loose.solution_.objective >= crf.solution_.objective - 1e-6


@pytest.mark.parametrize("penalty", ["l1", "elasticnet"])
def test_sparse_penalties_leave_biases_free(penalty):
    X, y = labelled(tree=True, n_graphs=10)
    crf = CRF("forest", C=0.05, penalty=penalty, tol=1e-8).fit(X, y)
    state = crf.coef_[crf.features_.sections["state"]]
    assert penalty == "elasticnet" or (np.abs(state) < 1e-12).any()
    share = np.concatenate(y).mean()
    odds = np.diff(crf.coef_[crf.features_.sections["bias"]])[0]
    if penalty == "l1" and not np.abs(crf.coef_[:-2]).any():
        assert odds == pytest.approx(np.log(share / (1 - share)), abs=1e-3)


def test_images_keep_their_shape_and_threads_change_nothing():
    random = np.random.default_rng(0)
    truth = [np.zeros(shape, dtype=int) for shape in ((9, 7), (8, 8))]
    for image in truth:
        image[2:6, 2:5] = 1
    images = [image + random.normal(scale=0.7, size=image.shape) for image in truth]
    words = [np.array(["back", "fore"])[image] for image in truth]
    for neighborhood in (4, 8):
        options = {"C": 0.05, "tol": 1e-4}
        crf = CRF(Grid(neighborhood=neighborhood), n_jobs=1, **options).fit(images, words)
        many = CRF(Grid(neighborhood=neighborhood), n_jobs=3, **options).fit(images, words)
        np.testing.assert_array_equal(crf.coef_, many.coef_)
        assert [image.shape for image in crf.predict(images)] == [(9, 7), (8, 8)]
        assert [p.shape for p in crf.predict_proba(images)] == [(9, 7, 2), (8, 8, 2)]
        assert crf.pair_weights_.shape == (neighborhood // 2, 2, 2)
        assert (np.diagonal(crf.pair_weights_, axis1=1, axis2=2) > 0).all()
    exact = CRF(Grid(shape=(3, 4), pairs="full")).fit([np.eye(3, 4)], [np.eye(3, 4, dtype=int)])
    assert exact.features_.method == "junction"


def test_pseudo_likelihood_edge_weights_and_starts():
    X, y = labelled(edge_features=1, n_graphs=12)
    pseudo = CRF("graph", loss="pseudo", tol=1e-10).fit(X, y)
    weighted = CRF("graph", loss="pseudo", tol=1e-10).fit(X + X[:2], y + y[:2])
    again = CRF("graph", loss="pseudo", tol=1e-10).fit(X, y, [2, 2] + [1] * 10)
    assert weighted.solution_.objective == pytest.approx(again.solution_.objective, rel=1e-9)
    assert not np.allclose(pseudo.coef_, again.coef_)
    exact = CRF("graph", warm_start=True, tol=1e-8).fit(X, y)
    passes = exact.n_iter_
    assert exact.fit(X, y).n_iter_ < passes
    early = CRF("graph", early_stopping=True, random_state=0, validation_fraction=0.3).fit(X, y)
    assert len(early.solution_.trace.rows) >= 1
    watched = CRF("graph", tol=1e-3).fit(X, y, validation=(X[:3], y[:3]))
    assert 0 <= watched.solution_.trace.rows[-1].held_out <= 1


def test_a_model_survives_pickling_and_changes_structure():
    X, y = labelled(tree=True)
    crf = CRF("forest").fit(X, y)
    copy = pickle.loads(pickle.dumps(crf))
    np.testing.assert_array_equal(copy.decision_function(X, y), crf.decision_function(X, y))
    rows, tags = sequences()
    data = [[{f"x{j}": v for j, v in enumerate(token)} for token in row] for row in rows]
    chain = crf.set_params(structure="chain").fit(data, tags)
    assert isinstance(chain.predict(data)[0], list)
    assert isinstance(chain.features_, ChainFeatures)
    # What a chain needs during a fit is not taken from the graph before it.
    other = CRF("forest", warm_start=True).fit(X, y).set_params(structure="chain")
    assert other.fit(data, tags, validation=(data, tags)).score(data, tags) > 0.3
    back = chain.set_params(structure="forest").fit(X, y)
    np.testing.assert_allclose(back.coef_, copy.coef_)
    assert isinstance(back.features_, PairwiseGraph)


def test_errors_are_named():
    X, y = labelled(tree=True)
    crf = CRF("forest").fit(X, y)
    ring = [(np.ones((3, 2)), [(0, 1), (1, 2), (2, 0)])]
    with pytest.raises(DataError, match="cycle"):
        CRF("forest").fit(ring, [[0, 1, 0]])
    with pytest.raises(DataError, match="cycle"):
        crf.predict(ring)
    with pytest.raises(DataError, match="edge 0 joins the nodes 0 and 3, but its graph 0"):
        CRF("graph").fit([(np.ones((3, 2)), [(0, 3)])], [[0, 1, 0]])
    with pytest.raises(DataError, match="edge 0 of graph 0 is a self loop at node 1"):
        CRF("graph").fit([(np.ones((3, 2)), [(1, 1)])], [[0, 1, 0]])
    with pytest.raises(DataError, match="label 7 of node 1 of graph 0 is not among the known"):
        crf.decision_function(X[:1], [[0, 7, 0, 0, 0]])
    with pytest.raises(DataError, match="graph 1 has 5 nodes, but 4 labels"):
        CRF("forest").fit(X[:2], [y[0], y[1][:4]])
    with pytest.raises(DataError, match="X has 8 graphs, y has labels of 2"):
        CRF("forest").fit(X, y[:2])
    with pytest.raises(DataError, match="feature 1 of node 0 of graph 0 is nan"):
        crf.predict([(np.array([[1.0, np.nan]]), [])])
    with pytest.raises(DataError, match="X has 3 features of nodes and 0 of edges; expected 2"):
        crf.predict([(np.ones((1, 3)), [])])
    with pytest.raises(DataError, match="expected FeatureGraphs, networkx graphs"):
        crf.predict([np.ones((2, 2))])
    with pytest.raises(ParameterError, match="structure must be one of 'chain', 'forest'"):
        CRF("tree").fit(X, y)
    with pytest.raises(ParameterError, match="constraints need structure='chain'"):
        crf.predict(X, constraints="BIO")
    for call in (
        lambda: crf.predict_top(X, 2),
        crf.top_weights,
        lambda: crf.explain_sequence(X, ["a"]),
        lambda: crf.to_crfsuite("never.model"),
    ):
        with pytest.raises(ParameterError, match="need structure='chain'"):
            call()
    with pytest.raises(SolverError, match="needs structure='chain'"):
        CRF("forest", solver="dual").fit(X, y)
    with pytest.raises(ParameterError, match="partial=True needs structure='chain'"):
        CRF("forest", partial=True).fit(X, y)
    with pytest.raises(ParameterError, match="loss='pseudo' needs another structure"):
        CRF(loss="pseudo").fit([[["a"]]], [["x"]])
    with pytest.raises(DataError, match=r"image 0 has shape \(3, 3\); expected \(2, 2\)"):
        CRF(Grid(shape=(2, 2))).fit(np.zeros((1, 3, 3)), np.zeros((1, 3, 3), dtype=int))
    with pytest.raises(DataError, match=r"image 0 has shape \(2, 3\), its labels \(3, 2\)"):
        CRF(Grid()).fit(np.zeros((1, 2, 3)), np.zeros((1, 3, 2), dtype=int))
    with pytest.raises(DataError, match="expected images with 4 neighbors"):
        CRF(Grid()).fit(FeatureGraphs.from_images([np.zeros((2, 2))], 8), [[0, 1, 1, 0]])
    with pytest.raises(DataError, match="y is 2 at row 0, label 1"):
        CRF("label_set").fit(np.ones((1, 1)), [[0, 2]])
    with pytest.raises(ParameterError, match="edges name the labels 0 and 5"):
        CRF(LabelSet([(0, 5)])).fit(np.ones((2, 1)), [[0, 1], [1, 0]])


def test_scikit_learn_splits_graphs():
    X, y = labelled(n_graphs=12)
    for data in (X, FeatureGraphs.of([f for f, _ in X], [e for _, e in X])):
        search = GridSearchCV(CRF(Graph(pairs="potts"), tol=1e-3), {"C": [0.01, 1.0]}, cv=3)
        search.fit(data, y)
        assert search.best_estimator_.features_.pairs == "potts"
    rows = np.random.default_rng(0).normal(size=(30, 2))
    assert len(cross_val_score(CRF("label_set"), rows, (rows > 0).astype(int), cv=3)) == 3


def test_networkx_graphs_are_read():
    networkx = pytest.importorskip("networkx")
    X, y = labelled(n_graphs=6)
    graphs = []
    for features, edges in X:
        graph = networkx.Graph(list(map(tuple, np.asarray(edges).tolist())))
        graph.add_nodes_from((i, {"x": row}) for i, row in enumerate(features))
        graphs.append(graph)
    order = [list(graph.nodes) for graph in graphs]
    labels = [row[nodes] for row, nodes in zip(y, order, strict=True)]
    # Edges of networkx have no first node.
    symmetric = Graph(pairs="symmetric")
    plain = [(X[i][0], list(graph.edges)) for i, graph in enumerate(graphs)]
    same, wanted = CRF(symmetric).fit(graphs, labels), CRF(symmetric).fit(plain, y)
    assert same.solution_.objective == pytest.approx(wanted.solution_.objective, rel=1e-5)


def squares():
    noise = np.random.default_rng(0).normal(size=(4, 12, 12))
    truth = np.zeros((4, 12, 12), dtype=int)
    truth[:, 3:9, 3:9] = 1
    return truth + noise, truth


def test_poor_fixed_points_do_not_pass_for_low_losses():
    images, truth = squares()
    crf = CRF(Grid(), loss="likelihood").fit(images, truth)
    assert crf.solution_.stopped.value == "stationary"
    # Messages that start at those of a distant trial settle elsewhere, where the loss seems lower.
    assert crf.solution_.objective == pytest.approx(43.65, abs=0.1)
    assert crf.score(images, truth) > ((images > 0.5) == truth).mean() + 0.1


def test_an_estimate_that_is_not_smooth_enough_warns_once():
    images, truth = squares()
    with pytest.warns(ConvergenceWarning, match="inference='tree_reweighted'") as caught:
        CRF(Grid(), C=30.0, loss="likelihood").fit(images, truth)
    assert len(caught) == 1
    with pytest.warns(ConvergenceWarning, match="stopped after 3 passes"):
        CRF(Grid(), max_iter=3, loss="likelihood").fit(images, truth)
