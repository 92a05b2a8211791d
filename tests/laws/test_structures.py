"""What must hold of every structure: inference by enumeration, one adjoint, one optimum.

`EXAMPLES` has a small problem for each structure; everything else follows from the contracts.
"""

import itertools
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp

from separatrix import (
    CRF,
    LinearClassifier,
    LinearSVM,
    LogisticRegression,
    Perceptron,
    StructuredPerceptron,
    StructuredSVM,
    load,
    save,
)
from separatrix.errors import DataError
from separatrix.losses import CostAugmentedMax, HardMax, LogSumExp
from separatrix.models import register
from separatrix.objective import Passes, StructuredObjective, objective_for
from separatrix.penalties import L2, ElasticNet
from separatrix.results import StopReason
from separatrix.solvers.online.structured import Updates, updates_for
from separatrix.structures import STRUCTURES, Labels
from tests.laws.structure_examples import EXAMPLES, OWN


@cache
def problem(name):
    """Features, inputs, labels and random weights."""
    structure, X, y, _ = EXAMPLES[name]
    inputs = structure.read(X)
    labels = structure.codes(y, inputs)
    features = structure.layout(inputs, labels)
    w = np.random.default_rng(7).normal(size=features.n_weights)
    return features, structure.read(inputs, features), labels, w


def labellings(name, features, size):
    every = itertools.product(range(features.n_labels), repeat=size)
    wanted = EXAMPLES[name].is_labelling
    return [np.array(codes) for codes in every if wanted is None or wanted(codes)]


def test_every_structure_has_an_example():
    assert set(STRUCTURES) <= set(EXAMPLES)
    assert {type(EXAMPLES[name].structure) for name in STRUCTURES} == set(STRUCTURES.values())


@pytest.mark.parametrize("name", EXAMPLES)
def test_inference_is_enumeration(name):
    features, inputs, labels, w = problem(name)
    cost = np.random.default_rng(3).random((features.n_labels, features.n_labels))
    np.fill_diagonal(cost, 0.0)
    for number in range(len(inputs)):
        one, own = inputs.take([number]), labels.take([number]).codes
        scores = features.scores(w, one)
        every = labellings(name, features, len(own))
        psi = np.stack([features.adjoint(one, features.parts(one, codes)) for codes in every])
        values = psi @ w
        found = [float(features.values(scores, codes)[0]) for codes in every]
        np.testing.assert_allclose(found, values, atol=1e-10)
        for costs in (None, cost):
            total, table = values.copy(), scores
            if costs is not None:
                total += [costs[own, codes].sum() for codes in every]
                table = features.augmented(scores, own, costs)
            best = features.best(table)
            assert best.scores[0] == pytest.approx(total.max())
            np.testing.assert_array_equal(best.labels, every[int(total.argmax())])
            sums = features.log_sum_exp(table, edges=True)
            log_z = np.logaddexp.reduce(total)
            assert sums[0][0] == pytest.approx(log_z)
            expected = np.exp(total - log_z) @ psi
            np.testing.assert_allclose(features.adjoint(one, sums.parts), expected, atol=1e-8)
            if sums.nodes is not None:
                shares = np.exp(total - log_z)
                p = [[shares[[c[t] == k for c in every]].sum() for k in range(features.n_labels)]
                     for t in range(len(own))]  # fmt: skip
                np.testing.assert_allclose(sums.nodes, p, atol=1e-8)


@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.parametrize("operator", [LogSumExp(), CostAugmentedMax(), HardMax()], ids=repr)
def test_gradients_are_differences_and_weights_are_copies(name, operator):
    features, inputs, labels, w = problem(name)
    weights = np.arange(1.0, len(inputs) + 1)
    passes = Passes(features, inputs, labels, operator, weights)
    value, _, grad = passes.evaluate(w[:, None])
    direction = np.random.default_rng(5).normal(size=(len(w), 1))
    steps = [passes.evaluate(w[:, None] + h * direction)[0] for h in (1e-6, -1e-6)]
    slope = float(np.vdot(grad, direction))
    assert (steps[0] - steps[1]) / 2e-6 == pytest.approx(slope, rel=1e-4, abs=1e-5)
    copies = np.repeat(np.arange(len(inputs)), weights.astype(int))
    same = Passes(features, inputs.take(copies), labels.take(copies), operator)
    assert same.evaluate(w[:, None])[0] == pytest.approx(value)
    assert value >= -1e-9


@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.parametrize("operator", [LogSumExp(), CostAugmentedMax()], ids=repr)
def test_kernels_are_the_plain_passes(name, operator):
    features, inputs, labels, w = problem(name)
    weights = np.arange(1.0, len(inputs) + 1)
    options = {"weights": weights, "C": 0.7}
    fast = objective_for(features, inputs, labels, operator, L2(), **options)
    plain = StructuredObjective(Passes(features, inputs, labels, operator, weights), L2(), C=0.7)
    w = fast.weights(fast.variables(w))  # weights that share a variable are equal
    assert fast.value(fast.variables(w)) == pytest.approx(plain.value(w[:, None]), rel=1e-12)


@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.parametrize("penalty", ["l2", "elasticnet"])
def test_solvers_of_a_likelihood_reach_one_optimum(name, penalty):
    structure, X, y, _ = EXAMPLES[name]
    options = {"penalty": penalty, "l1_ratio": 0.3 if penalty == "elasticnet" else None}
    found = {}
    for solver in ("auto", "owlqn") if penalty == "elasticnet" else ("auto", "lbfgs", "owlqn"):
        model = CRF(structure, C=2.0, solver=solver, tol=1e-7, random_state=0, **options).fit(X, y)
        assert model.solution_.stopped is StopReason.CONVERGED, (solver, model.solution_)
        found[solver] = model.solution_.objective
    assert max(found.values()) <= min(found.values()) * (1 + 1e-6)
    # The value is that of the plain composition.
    features, inputs, labels, _ = problem(name)
    penalty = L2() if penalty == "l2" else ElasticNet(0.3)
    plain = StructuredObjective(Passes(features, inputs, labels, LogSumExp()), penalty, C=2.0)
    assert plain.value_and_grad(model.coef_[:, None])[0] == pytest.approx(
        model.solution_.objective, rel=1e-6
    )


@pytest.mark.parametrize("name", EXAMPLES)
def test_margins_are_certified_and_bound_the_cost(name):
    structure, X, y, _ = EXAMPLES[name]
    found = []
    flat = hasattr(problem(name)[0], "score_map")
    for solver, tol in (("dual" if flat else "frank_wolfe", 1e-2), ("auto", 1e-3)):
        model = StructuredSVM(structure, C=1.0, solver=solver, tol=tol, random_state=0).fit(X, y)
        assert model.solution_.stopped is StopReason.CONVERGED
        found.append((model.dual_bound_, model.solution_.objective))
    assert max(lower for lower, _ in found) <= min(upper for _, upper in found)
    inputs, features = model._read(X)
    codes = features.best(features.scores(model.coef_, inputs)).labels
    wrong = codes != model._codes(y, inputs)
    owner = np.repeat(np.arange(len(inputs)), np.diff(inputs.offsets))
    cost = np.bincount(owner, weights=wrong, minlength=len(inputs))
    assert (model.loss(X, y) >= cost - 1e-9).all()


@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.parametrize("mira", [False, True])
@pytest.mark.parametrize("make", [updates_for, Updates])
def test_online_learners_separate_what_can_be_separated(name, mira, make):
    features, inputs, labels, w = problem(name)
    best = features.best(features.scores(w, inputs)).labels
    options = {"mira": mira, "step": 1.0, "seed": 0, "before": None}
    updates = make(features, inputs, replace(labels, codes=best), None, **options)
    mistakes = list(itertools.takewhile(bool, (updates.run_epoch() for _ in range(1000))))
    assert len(mistakes) < 1000
    np.testing.assert_array_equal(features.best(features.scores(updates.w, inputs)).labels, best)
    assert updates.seen == (len(mistakes) + 1) * len(inputs)


@pytest.mark.parametrize("name", EXAMPLES)
def test_models_are_saved(name, tmp_path):
    structure, X, y, _ = EXAMPLES[name]
    if name == "your own":
        register(OWN["Segments"], OWN["SegmentFeatures"])
    model = CRF(structure, tol=1e-3).fit(X, y)
    save(model, tmp_path / "model.sx")
    again = load(tmp_path / "model.sx")
    np.testing.assert_array_equal(again.coef_, model.coef_)
    np.testing.assert_array_equal(again.decision_function(X, y), model.decision_function(X, y))
    assert again.structure == structure


# -- labels are a structure: the linear learners are the structured ones on them -------------------


def _flat(seed=0, n=80, d=5):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d))
    scores = X @ random.normal(size=(d, 3)) + random.normal(size=(n, 3))
    return X, np.array(["a", "b", "c"])[scores.argmax(axis=1)], random.random(n)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
def test_crf_of_labels_is_softmax_regression(intercept, sparse):
    X, y, weights = _flat()
    X = sp.csr_matrix(X) if sparse else X
    options = {"C": 3.0, "tol": 1e-8}
    crf = CRF(Labels(intercept), **options).fit(X, y, weights)
    peer = LogisticRegression(fit_intercept=intercept, **options).fit(X, y, weights)
    assert crf.solution_.stopped is peer.solution_.stopped is StopReason.CONVERGED
    assert crf.solution_.objective == pytest.approx(peer.solution_.objective, rel=1e-8)
    np.testing.assert_allclose(crf.predict_proba(X), peer.predict_proba(X), atol=1e-3)
    assert crf.score(X, y) == peer.score(X, y)


@pytest.mark.parametrize("cost", [None, np.array([[0.0, 1, 3], [2, 0, 1], [1, 1, 0]])])
@pytest.mark.parametrize("intercept", [False, True])
def test_svm_of_labels_is_that_of_crammer_and_singer(intercept, cost):
    X, y, weights = _flat(1)
    options = {"C": 0.5, "tol": 1e-6, "random_state": 0}
    costs = "hamming" if cost is None else cost
    svm = StructuredSVM(Labels(intercept), cost=costs, **options).fit(X, y, weights)
    peer = LinearSVM(fit_intercept=intercept, penalize_intercept=True, cost=cost, **options).fit(
        X, y, weights
    )
    assert svm.solution_.stopped is StopReason.CONVERGED
    assert svm.solution_.objective == pytest.approx(peer.solution_.objective, rel=1e-5)
    assert svm.dual_bound_ <= peer.solution_.objective
    total = 0.5 * float(svm.coef_ @ svm.coef_) + 0.5 * float(weights @ svm.loss(X, y))
    assert total == pytest.approx(svm.solution_.objective, rel=1e-9)


@pytest.mark.parametrize("averaging", ["average", "none"])
def test_perceptron_of_labels_is_the_perceptron(averaging):
    X, y, _ = _flat(2)
    options = {"shuffle": False, "averaging": averaging, "max_iter": 4}
    structured = StructuredPerceptron(Labels(), **options).fit(X, y)
    flat = Perceptron(**options).fit(X, y)
    np.testing.assert_allclose(structured.coef_.reshape(-1, 3)[:-1].T, flat.coef_, atol=1e-9)
    np.testing.assert_array_equal(structured.predict(X), flat.predict(X))


def test_learners_of_labels_stop_early_and_take_all_flat_solvers():
    X, y, _ = _flat(3)
    early = StructuredSVM(
        Labels(), solver="dual", early_stopping=True, validation_fraction=0.2, random_state=0
    ).fit(X, y)
    assert np.isfinite(early.dual_bound_)
    values = [
        CRF(Labels(), solver=solver, tol=1e-6).fit(X, y).solution_.objective
        for solver in ("newton", "lbfgs", "dual", "proximal_newton")
    ]
    assert max(values) <= min(values) * (1 + 1e-5)
    plain = LinearClassifier("hinge", fit_intercept=False).fit(X, y).solution_.objective
    assert StructuredSVM(Labels(False), C=1.0).fit(X, y).dual_bound_ <= plain * (1 + 1e-3)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([1, 2], "3 rows, y has the shape"),
        ([0.5, 1.5, 2.5], "continuous"),
        (["a", 1, None], "one type"),
    ],
)
def test_labels_that_cannot_be_learned(y, message):
    with pytest.raises(DataError, match=message):
        CRF(Labels()).fit(np.eye(3), np.array(y, dtype=object) if None in y else y)


def test_unknown_labels_and_features_are_named():
    X, y, _ = _flat(4)
    crf = CRF(Labels()).fit(X, y)
    with pytest.raises(DataError, match="label 'z' of row 1 is not among"):
        crf.decision_function(X[:2], ["a", "z"])
    with pytest.raises(DataError, match="X has 4 features"):
        crf.predict(X[:, :4])
