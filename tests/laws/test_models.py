"""Laws of the fitted models."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from separatrix import MIRA, LinearClassifier, LinearSVM, LogisticRegression, Perceptron
from separatrix.features import Conjunctions, JointMap, Polynomial
from separatrix.losses import multiclass_logistic
from tests.laws.conftest import SETS, binary, objective

TIGHT = {"tol": 1e-10, "max_iter": 5000, "random_state": 0}


def close(first, second, rtol=1e-6):
    return abs(first - second) <= rtol * max(1, abs(first), abs(second))


def test_softmax_at_C_is_sigmoid_at_2C():
    X, y = SETS["breast_cancer"]()
    softmax = LinearClassifier(multiclass_logistic(), C=1.0, **TIGHT).fit(X, y)
    sigmoid = LogisticRegression(C=2.0, **TIGHT).fit(X, y)
    assert softmax.coef_.shape == sigmoid.coef_.shape == (1, X.shape[1])
    np.testing.assert_allclose(softmax.coef_, sigmoid.coef_, atol=1e-4)
    np.testing.assert_allclose(softmax.predict_proba(X), sigmoid.predict_proba(X), atol=1e-4)


def test_softmax_is_sigmoid_without_penalty():
    X, y = SETS["iris"]()
    X, y = X[50:, :2], y[50:]  # two classes that overlap
    softmax = LinearClassifier(multiclass_logistic(), None, **TIGHT).fit(X, y)
    sigmoid = LogisticRegression(None, **TIGHT).fit(X, y)
    np.testing.assert_allclose(softmax.coef_, sigmoid.coef_, rtol=1e-4)
    np.testing.assert_allclose(softmax.intercept_, sigmoid.intercept_, rtol=1e-4)


def test_scores_may_be_translated():
    X, y = SETS["iris"]()
    model = LogisticRegression().fit(X, y)
    probabilities, labels = model.predict_proba(X), model.predict(X)
    model.coef_ = model.coef_ + np.arange(4.0)
    model.intercept_ = model.intercept_ + 7
    np.testing.assert_allclose(model.predict_proba(X), probabilities, atol=1e-12)
    assert (model.predict(X) == labels).all()


def test_softmax_weights_sum_to_zero_over_classes():
    X, y = SETS["wine"]()
    model = LogisticRegression(**TIGHT).fit(X, y)
    np.testing.assert_allclose(model.coef_.sum(axis=0), 0, atol=1e-6)
    np.testing.assert_allclose(model.intercept_.sum(), 0, atol=1e-9)


MINIMIZERS = {
    "logistic": (LogisticRegression(**TIGHT), "logistic", True),
    "logistic, few classes": (LogisticRegression(**TIGHT), "logistic", False),
    "hinge": (LinearSVM(**TIGHT), "hinge", True),
    "hinge, few classes": (LinearSVM(**TIGHT), "hinge", False),
    "squared hinge": (LinearSVM("squared_hinge", **TIGHT), "squared_hinge", True),
    "exponential": (LinearClassifier("exponential", **TIGHT), "exponential", True),
    "squared": (LinearClassifier("squared", **TIGHT), "squared", True),
}


@pytest.mark.parametrize("case", MINIMIZERS)
def test_weight_two_is_the_row_twice(case):
    model, loss, two = MINIMIZERS[case]
    X, y = SETS["iris"]()
    y = binary(y) if two else y
    weights = 1.0 + (np.arange(len(y)) % 3)
    weighted = model.fit(X, y, sample_weight=weights)
    first = objective(weighted, X, y, loss=loss, weights=weights)
    repeated = model.fit(
        np.repeat(X, weights.astype(int), axis=0), np.repeat(y, weights.astype(int))
    )
    second = objective(repeated, X, y, loss=loss, weights=weights)
    assert close(first, second)


@pytest.mark.parametrize("case", MINIMIZERS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sparse_equals_dense(case, dtype):
    model, loss, two = MINIMIZERS[case]
    model = clone(model).set_params(tol=1e-6)
    X, y = SETS["digits"]()
    X, y = X[:300].astype(dtype), y[:300]
    y = binary(y) if two else y
    values = []
    for form in (X, sp.csr_array(X), sp.csr_matrix(X), np.asfortranarray(X), sp.csc_array(X)):
        fitted = model.fit(form, y)
        assert fitted.coef_.dtype == dtype
        values.append(objective(fitted, X.astype(float), y, loss=loss))
        np.testing.assert_allclose(
            fitted.decision_function(X),
            fitted.decision_function(sp.csr_array(X)),
            rtol=1e-3,
            atol=1e-4,
        )
    assert max(values) <= min(values) * (1 + 5e-6)


@pytest.mark.parametrize("case", MINIMIZERS)
def test_any_number_of_threads_reaches_the_same_optimum(case):
    model, loss, two = MINIMIZERS[case]
    X, y = SETS["digits"]()
    y = binary(y) if two else y
    values = [
        objective(
            model.__class__(**{**model.get_params(), "tol": 1e-7, "n_jobs": n}).fit(X, y),
            X,
            y,
            loss=loss,
        )
        for n in (1, 2, 3)
    ]
    assert max(values) <= min(values) * (1 + 1e-6)


@pytest.mark.parametrize(
    "learner", [Perceptron(random_state=0), MIRA(random_state=0), LinearSVM(random_state=0)]
)
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_the_same_seed_gives_the_same_weights(learner, n_jobs):
    X, y = SETS["digits"]()
    learner.set_params(n_jobs=n_jobs)
    first = learner.fit(X, y).coef_.copy()
    assert (learner.fit(X, y).coef_ == first).all()


def test_one_row_and_a_batch_score_alike_to_the_bit():
    X, y = SETS["digits"]()
    model = LogisticRegression().fit(X, y)
    batch = model.decision_function(X)
    for n_jobs in (1, 3):
        model.set_params(n_jobs=n_jobs)
        assert (
            np.vstack([model.decision_function(row[None]) for row in X[:50]]) == batch[:50]
        ).all()


@pytest.mark.parametrize("learner", [LogisticRegression, LinearSVM])
def test_the_intercept_is_not_penalized(learner):
    X, y = SETS["iris"]()
    y = binary(y)
    near = learner(C=0.01, **TIGHT).fit(X, y)
    far = learner(C=0.01, **TIGHT).fit(X + 100.0, y)
    first, second = (
        objective(m, x, y, 0.01, loss=m_loss)
        for m, x, m_loss in (
            (near, X, "logistic" if learner is LogisticRegression else "hinge"),
            (far, X + 100.0, "logistic" if learner is LogisticRegression else "hinge"),
        )
    )
    assert close(first, second, 1e-5)


def truth_table(n):
    return np.array([[(row >> bit) & 1 for bit in range(n)] for row in range(2**n)], dtype=float)


BOOLEAN = {
    "and": lambda X: X.all(axis=1),
    "or": lambda X: X.any(axis=1),
    "not": lambda X: X[:, 0] == 0,
    "majority": lambda X: X.sum(axis=1) > X.shape[1] / 2,
    "at least 2 of 5": lambda X: X.sum(axis=1) >= 2,
}
LEARNERS = {
    "perceptron": Perceptron(averaging="none", max_iter=1000, random_state=0),
    "mira": MIRA(averaging="none", max_iter=1000, random_state=0),
    "svm": LinearSVM(C=1e3, random_state=0),
    "logistic": LogisticRegression(C=1e3),
}


@pytest.mark.filterwarnings("ignore::separatrix.errors.ConvergenceWarning")
@pytest.mark.parametrize("name", BOOLEAN)
@pytest.mark.parametrize("learner", LEARNERS.values(), ids=list(LEARNERS))
def test_threshold_functions_are_learned_exactly(name, learner):
    X = truth_table(5)
    y = BOOLEAN[name](X)
    assert learner.fit(X, y).score(X, y) == 1


@pytest.mark.filterwarnings("ignore::separatrix.errors.ConvergenceWarning")
@pytest.mark.parametrize("learner", LEARNERS.values(), ids=list(LEARNERS))
def test_xor_is_not_linear_but_with_conjunctions_it_is(learner):
    X = truth_table(2)
    y = X.sum(axis=1) == 1
    assert learner.fit(X, y).score(X, y) < 1
    for maker in (Conjunctions(), Polynomial(2, interaction_only=True)):
        with_product = maker.fit_transform(X)
        assert with_product.shape[1] == 3
        assert learner.fit(with_product, y).score(with_product, y) == 1
    line = X.sum(axis=1, keepdims=True)  # on the line, the middle point against the ends
    assert learner.fit(line, y).score(line, y) < 1
    with_square = Polynomial(2).fit_transform(line)
    np.testing.assert_array_equal(with_square, np.hstack([line, line**2]))
    assert learner.fit(with_square, y).score(with_square, y) == 1


def test_spam_weights_of_the_notes():
    model = Perceptron()
    model.classes_ = np.array(["ham", "spam"])
    model.coef_, model.intercept_, model.n_features_in_ = (
        np.array([[4.0, 2.0]]),
        np.array([-3.0]),
        2,
    )
    emails = np.array([[1.0, 1.0], [0.0, 1.0], [1.0, 0.0]])  # free, money
    np.testing.assert_array_equal(model.decision_function(emails), [3, -1, 1])
    assert model.predict(emails).tolist() == ["spam", "ham", "spam"]


def test_multivector_weights_of_the_notes():
    half = np.sqrt(2) / 2
    W = np.array([[-half, half], [0, 1], [half, half]])
    model = Perceptron()
    model.classes_, model.n_features_in_ = np.array([1, 2, 3]), 2
    model.coef_, model.intercept_ = W, np.zeros(3)
    points = np.random.default_rng(0).normal(size=(50, 2))
    joint = JointMap().fit(points, labels=[1, 2, 3])
    by_psi = np.column_stack([joint.features(points, [y] * 50) @ W.ravel() for y in (1, 2, 3)])
    np.testing.assert_allclose(model.decision_function(points), by_psi)
    np.testing.assert_allclose(joint.scores(points, W.ravel()), by_psi)
    assert (model.predict(points) == by_psi.argmax(axis=1) + 1).all()


def test_run_as_a_noun_has_one_feature():
    inputs = np.array([[1, 0, 0], [0, 1, 0], [0, 1, 0], [0, 0, 1.0]])  # apple, run, run, -ly
    tags = ["NOUN", "NOUN", "VERB", "ADVERB"]
    psi = JointMap("seen").fit(inputs, tags, labels=["NOUN", "VERB", "ADVERB"])
    assert psi.features(inputs[[1]], ["NOUN"]).toarray().tolist() == [[0, 1, 0, 0]]
    assert psi.features(inputs[[3]], ["ADVERB"]).toarray().tolist() == [[0, 0, 0, 1]]


@pytest.mark.parametrize("C", [0.05, 1.0, 20.0])
def test_the_one_knob_under_its_other_names(C):
    """The gradient of each objective of the notes vanishes at our optimum for its own knob."""
    from scipy.special import softmax

    X, y = SETS["wine"]()
    model = LogisticRegression(C=C, tol=1e-12).fit(X, y)
    W, n = model.coef_, len(y)
    S, T = softmax(X @ W.T + model.intercept_, axis=1), np.eye(3)[y]
    nll_gradient = (S - T).T @ X
    for gradient in (
        nll_gradient / n + 2 * (1 / (2 * n * C)) * W,  # gamma |W|^2 on ACE
        (nll_gradient + (1 / C) * W) / n,  # gamma after the substitution
        nll_gradient / n + (1 / (n * C)) * W,  # lambda/2 |w|^2 on NLL / N
        nll_gradient + 2 * (1 / (2 * C)) * W,  # c2 |w|^2 on NLL
        W + (n * C / n) * nll_gradient,  # C of the averaged form is m C
        W / C + nll_gradient,  # Gaussian prior of variance C
    ):
        assert np.abs(gradient).max() < 1e-5 * n * max(1, 1 / C)


@pytest.mark.parametrize("two", [True, False])
def test_refit_on_the_support_vectors_gives_the_same_weights(two):
    X, y = SETS["wine"]()
    y = binary(y) if two else y
    model = LinearSVM(**TIGHT).fit(X, y)
    assert 0 < len(model.support_) < len(y)
    again = LinearSVM(**TIGHT).fit(X[model.support_], y[model.support_])
    assert close(objective(model, X, y, loss="hinge"), objective(again, X, y, loss="hinge"))
    np.testing.assert_allclose(model.coef_, again.coef_, atol=1e-3)


def test_large_C_is_the_hard_margin():
    X, y = SETS["iris"]()
    y = binary(y)
    model = LinearSVM(C=1e5, tol=1e-8, random_state=0).fit(X, y)
    margins = np.where(y == 1, 1, -1) * model.decision_function(X)
    assert margins.min() == pytest.approx(1, abs=1e-3)
    harder = LinearSVM(C=1e6, tol=1e-8, random_state=0).fit(X, y)
    np.testing.assert_allclose(model.coef_, harder.coef_, rtol=1e-2)


def test_cost_matrix_moves_the_boundary():
    X, y = SETS["iris"]()
    X = X[:, :2]  # classes 1 and 2 overlap
    even = LinearSVM(**TIGHT).fit(X, y)
    cost = np.array([[0, 1, 1], [1, 0, 1], [1, 10.0, 0]])  # calling class 2 class 1 is bad
    careful = LinearSVM(cost=cost, **TIGHT).fit(X, y)
    missed = [(m.predict(X[y == 2]) == 1).sum() for m in (even, careful)]
    assert missed[1] < missed[0]
    assert objective(careful, X, y, loss="hinge", cost=cost) <= objective(
        even, X, y, loss="hinge", cost=cost
    )


def test_two_class_cost_matrix_is_a_target_margin():
    from scipy.optimize import minimize

    X, y = SETS["breast_cancer"]()
    X = X[:120, :6]
    y = y[:120]
    cost = np.array([[0, 5.0], [1.0, 0]])
    model = LinearSVM(cost=cost, **TIGHT).fit(X, y)
    sign, target = np.where(y == 1, 1, -1), np.where(y == 1, 1.0, 5.0)

    def value(w, b):
        return 0.5 * w @ w + np.maximum(0, target - sign * (X @ w + b)).sum()

    found = value(model.coef_[0], model.intercept_[0])
    assert model.solution_.objective == pytest.approx(found, rel=1e-6)
    smooth = minimize(
        lambda v: (
            0.5 * v[:-1] @ v[:-1]
            + (1e-3 * np.logaddexp(0, (target - sign * (X @ v[:-1] + v[-1])) / 1e-3)).sum()
        ),
        np.zeros(7),
        method="BFGS",
        options={"maxiter": 2000},
    ).x
    assert found <= value(smooth[:-1], smooth[-1]) + 1e-9


@pytest.mark.parametrize(
    "learner", [LogisticRegression(), LinearSVM(random_state=0), Perceptron(random_state=0)]
)
def test_class_weight_is_a_row_weight(learner):
    X, y = SETS["iris"]()
    weights = {0: 1.0, 1: 3.0, 2: 0.5}
    first = learner.set_params(class_weight=weights).fit(X, y).coef_.copy()
    rows = np.array([weights[label] for label in y])
    second = learner.set_params(class_weight=None).fit(X, y, sample_weight=rows).coef_
    np.testing.assert_allclose(first, second, rtol=1e-12)
