"""The likelihood of labelled graphs: gradients, parity with softmax, bounds, learning."""

import numpy as np
import pytest
from scipy.special import log_softmax

from separatrix.data import FeatureGraphs
from separatrix.objective import PseudoLikelihood
from separatrix.objective.passes import pseudo_likelihood
from separatrix.results import Monitor
from separatrix.solvers import Lbfgs
from separatrix.structures import PairwiseGraph
from tests.unit.structures.chains import objective_of
from tests.unit.structures.test_graph import graphs

OPERATORS = {"likelihood": None, "pseudo": PseudoLikelihood()}


def objective(method="forest", loss="likelihood", tree=True, edge_features=1, **options):
    X = graphs(5, tree=tree, edge_features=edge_features, n_graphs=3)
    structure = PairwiseGraph(3, 3, 2, edge_features, "symmetric", method)
    y = np.random.default_rng(0).integers(3, size=X.graphs.n_nodes)
    c = np.array([1.0, 0.5, 2.0])
    operator = OPERATORS[loss]
    return objective_of(structure, X, y, C=0.7, weights=c, operator=operator, **options)


@pytest.mark.parametrize(
    ("method", "loss", "tree"),
    [
        ("forest", "likelihood", True),
        ("junction", "likelihood", False),
        ("loopy", "pseudo", False),
        ("loopy", "likelihood", False),
        ("tree_reweighted", "likelihood", False),
    ],
)
def test_gradients_match_differences(method, loss, tree):
    P = objective(method, loss, tree)
    w = 0.3 * np.random.default_rng(1).normal(size=P.weight_shape)
    for _ in range(4):  # messages settle further with every pass that begins at the last ones
        _, grad = P.value_and_grad(w)
    tolerance = 1e-6 if method in ("forest", "junction") or loss == "pseudo" else 2e-3
    for j in range(len(w)):
        step = np.zeros_like(w)
        step[j] = 1e-4
        slope = (P.value(w + step) - P.value(w - step)) / 2e-4
        assert grad[j, 0] == pytest.approx(slope, abs=tolerance)


def test_single_nodes_give_softmax():
    random = np.random.default_rng(0)
    X = FeatureGraphs.of([random.normal(size=(1, 3)) for _ in range(30)], [[]] * 30)
    y = random.integers(2, size=30)
    structure = PairwiseGraph(2, 3, 0, method="forest")
    P = objective_of(structure, X, y)
    w = random.normal(size=P.weight_shape)
    scores = X.matrix @ w[:-2, 0].reshape(3, 2) + w[-2:, 0]
    expected = -log_softmax(scores, axis=1)[np.arange(30), y].sum() + 0.5 * (w[:-2] ** 2).sum()
    assert P.value(w) == pytest.approx(expected)
    same, nodes, _ = pseudo_likelihood(structure.scores(w[:, 0], X), y)
    assert same.sum() + 0.5 * (w[:-2] ** 2).sum() == pytest.approx(expected)
    assert nodes.sum() == pytest.approx(0.0, abs=1e-12)


def test_the_bound_of_trees_is_above_the_exact_loss():
    exact, bound = objective("junction", tree=False), objective("tree_reweighted", tree=False)
    for seed in range(5):
        w = np.random.default_rng(seed).normal(size=exact.weight_shape)
        assert bound.value(w) >= exact.value(w) - 1e-9


@pytest.mark.parametrize("loss", ["likelihood", "pseudo"])
def test_a_grid_learns_that_neighbors_agree(loss):
    random = np.random.default_rng(0)
    images, labels = [], []
    for _ in range(6):
        truth = np.zeros((16, 20), dtype=np.int64)
        top, left = random.integers(2, 6, size=2)
        truth[top : top + 8, left : left + 10] = 1
        images.append(truth + random.normal(scale=0.8, size=truth.shape))
        labels.append(truth.ravel())
    X, y = FeatureGraphs.from_images(images), np.concatenate(labels)
    structure = PairwiseGraph(2, 1, 2, pairs="potts")
    P = objective_of(structure, X, y, operator=OPERATORS[loss])
    solution = Lbfgs().minimize(P, None, Monitor(tol=1e-4, max_passes=60))
    w = solution.w[:, 0]
    assert (w[structure.sections["pairs"]] > 0.5).all()
    if loss == "likelihood":
        # The pseudo-likelihood makes pairs of such clean shapes too strong to decode with.
        found = structure.best(structure.scores(w, X)).labels
        alone = ((X.matrix[:, 0] > 0.5) != y).mean()
        assert (found != y).mean() < 0.5 * alone
