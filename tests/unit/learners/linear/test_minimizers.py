"""LogisticRegression, LinearSVM, LinearClassifier and the path, beyond the laws."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from scipy.special import softmax
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.linear_model import LogisticRegression as SklearnLogistic
from sklearn.preprocessing import scale
from sklearn.utils.fixes import parse_version

from separatrix import (
    LinearClassifier,
    LinearSVM,
    LogisticRegression,
    OneVsAll,
    regularization_path,
)
from separatrix.errors import ConvergenceWarning, ParameterError
from separatrix.losses import MARGIN_LOSSES
from separatrix.penalties import L2
from separatrix.results import StopReason
from separatrix.solvers import Lbfgs

X, Y = load_iris(return_X_y=True)


def test_probabilities_are_the_softmax_of_the_scores():
    model = LogisticRegression().fit(X, Y)
    np.testing.assert_allclose(model.predict_proba(X), softmax(model.decision_function(X), axis=1))
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), model.predict_proba(X))


def test_binary_probabilities_are_the_sigmoid():
    model = LogisticRegression().fit(X, Y == 2)
    s = model.decision_function(X)
    assert s.shape == (len(X),)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], 1 / (1 + np.exp(-s)))
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)).sum(axis=1), 1)
    assert (model.predict(X) == (s > 0)).all()


@pytest.mark.parametrize(("penalty", "ratio"), [("l1", None), ("elasticnet", 0.3)])
def test_l1_and_elastic_net_agree_with_scikit_learn(penalty, ratio):
    features, y = load_breast_cancer(return_X_y=True)
    features = scale(features)
    C = 0.2
    ours = LogisticRegression(penalty, C=C, l1_ratio=ratio, tol=1e-9, max_iter=50_000)
    ours.fit(features, y)
    share = 1.0 if penalty == "l1" else ratio
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        peer = SklearnLogistic(l1_ratio=share, C=C, solver="saga", tol=1e-10, max_iter=50_000)
        if parse_version(sklearn.__version__) < parse_version("1.8"):
            peer.set_params(penalty="elasticnet")  # the ratio alone says it since then
        peer.fit(features, y)

    def value(model):
        w, s = model.coef_, (2 * y - 1) * model.decision_function(features)
        penalty = share * np.abs(w).sum() + (1 - share) / 2 * (w**2).sum()
        return penalty + C * np.logaddexp(0, -s).sum()

    assert value(ours) == pytest.approx(value(peer), rel=1e-6)
    assert ours.solution_.objective == pytest.approx(value(ours), rel=1e-9)
    assert (ours.coef_ == 0).sum() > 0


def test_without_penalty_the_gradient_vanishes():
    overlap, y = X[50:, :2], Y[50:]
    model = LogisticRegression(None, tol=1e-12).fit(overlap, y)
    residual = model.predict_proba(overlap)[:, 1] - (y == 2)
    assert np.abs(overlap.T @ residual).max() < 1e-4
    assert abs(residual.sum()) < 1e-4


def test_separable_data_without_penalty_stays_finite():
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        model = LogisticRegression(None, max_iter=30, tol=1e-12).fit(X, Y == 0)
    assert np.isfinite(model.coef_).all()
    assert model.score(X, Y == 0) == 1


def test_a_fit_that_runs_out_of_passes_says_what_to_change():
    with pytest.warns(ConvergenceWarning, match=r"passes.*gap.*max_iter"):
        model = LinearSVM(max_iter=1, tol=1e-12, random_state=0).fit(X, Y)
    assert model.solution_.stopped is StopReason.BUDGET


@pytest.mark.parametrize("learner", [LogisticRegression, LinearSVM])
def test_warm_start_needs_fewer_passes(learner):
    features, y = load_digits(return_X_y=True)
    model = learner(C=0.01, warm_start=True, random_state=0, solver="dual").fit(features / 16, y)
    cold = model.solution_.n_passes
    warm = model.fit(features / 16, y).solution_.n_passes
    assert warm < cold
    model.fit(features[:500] / 16, y[:500])  # other data: starts afresh where it must


def test_verbose_shows_progress(capsys):
    LogisticRegression(verbose=2).fit(X, Y)
    assert "pass" in capsys.readouterr().out
    LinearSVM(verbose=1, random_state=0).fit(X, Y)
    assert "LinearSVM" in capsys.readouterr().out


def test_the_solution_says_what_was_picked():
    solution = LogisticRegression().fit(X, Y).solution_
    assert solution.solver
    assert solution.certificate == "duality gap"
    assert solution.stopped is StopReason.CONVERGED


def test_a_loss_of_your_own():
    class Huberized:
        """The hinge with a rounded corner (Rosset & Zhu 2007)."""

        n_scores = 1
        smooth = True

        def value_and_grad(self, scores, targets):
            m = scores[:, 0] * targets
            value = np.where(m > 1, 0, np.where(m < -1, -4 * m, (1 - m) ** 2))
            slope = np.where(m > 1, 0, np.where(m < -1, -4, -2 * (1 - m)))
            return value, (slope * targets)[:, None]

    for solver in ("lbfgs", "gradient_descent", "sgd", "auto", Lbfgs()):
        model = LinearClassifier(Huberized(), solver=solver, tol=1e-4, max_iter=300, random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            assert model.fit(X, Y == 0).score(X, Y == 0) == 1
    with pytest.raises(ParameterError, match="one-vs-all"):
        LinearClassifier(Huberized()).fit(X, Y)


@pytest.mark.parametrize("loss", [name for name in MARGIN_LOSSES if name != "zero_one"])
def test_every_loss_by_name(loss):
    features, y = load_breast_cancer(return_X_y=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = LinearClassifier(loss, C=0.1, max_iter=300, random_state=0).fit(scale(features), y)
    if loss == "perceptron":  # zero weights lose nothing: the learner for it is `Perceptron`
        assert model.solution_.objective < 1e-6
    else:
        assert model.score(scale(features), y) > 0.95
    assert hasattr(model, "predict_proba") == (loss == "logistic")


def test_unknown_names_are_refused():
    with pytest.raises(ParameterError, match="loss"):
        LinearClassifier("zero_one").fit(X, Y)
    with pytest.raises(ParameterError, match="loss"):
        LinearSVM("logistic").fit(X, Y)
    with pytest.raises(ParameterError, match="contract"):
        LinearClassifier(object()).fit(X, Y)
    with pytest.raises(ParameterError, match="contract"):
        LinearClassifier(penalty=object()).fit(X, Y)


@pytest.mark.parametrize(
    "estimator",
    [
        LogisticRegression(tol=1e-8),
        LinearSVM(tol=1e-8, random_state=0),
        LogisticRegression("l1", tol=1e-8),
    ],
    ids=repr,
)
def test_the_path_equals_single_fits(estimator):
    Cs = [1.0, 0.01, 10.0]
    seen = []
    path = regularization_path(estimator, X, Y, Cs, callback=seen.append)
    assert [model.C for model in seen] == [0.01, 1.0, 10.0]
    assert not hasattr(estimator, "coef_")
    for C, model, value in zip(Cs, path.estimators, path.objectives, strict=True):
        alone = estimator.__class__(**{**estimator.get_params(), "C": C}).fit(X, Y)
        assert value == pytest.approx(alone.solution_.objective, rel=1e-6)
        assert model.C == C
        assert (model.predict(X) == alone.predict(X)).mean() > 0.98
    assert path.coefs.shape == (3, 3, 4)
    assert path.intercepts.shape == (3, 3)
    assert path.estimator(1) is path.estimators[1]


def test_the_path_refuses_what_has_no_C():
    from separatrix import Perceptron

    with pytest.raises(ParameterError, match="Perceptron"):
        regularization_path(Perceptron(), X, Y)
    with pytest.raises(ParameterError, match="Cs"):
        regularization_path(LogisticRegression(), X, Y, [])


@pytest.mark.parametrize("penalty", ["l2", "l1", None])
def test_l1_ratio_is_refused_where_it_would_be_ignored(penalty):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ParameterError, match=r"l1_ratio=0\.3 needs penalty='elasticnet'"):
        LogisticRegression(penalty, l1_ratio=0.3).fit(X, y)
    with pytest.raises(ParameterError, match=r"l1_ratio=0\.3 needs penalty='elasticnet'"):
        LinearClassifier("logistic", penalty, l1_ratio=0.3).fit(X, y)
    with pytest.raises(ParameterError, match="got an object"):
        LinearClassifier("logistic", L2(), l1_ratio=0.3).fit(X, y)
    plain = LogisticRegression("elasticnet", tol=1e-9).fit(X, y)
    even = LogisticRegression("elasticnet", l1_ratio=0.5, tol=1e-9).fit(X, y)
    np.testing.assert_array_equal(plain.coef_, even.coef_)


@pytest.mark.parametrize(("n_classes", "made"), [(2, False), (3, True)])
def test_the_record_says_where_sparse_rows_were_made_dense(n_classes, made):
    rows = sp.random_array((60, 8), density=0.2, rng=0, format="csr")
    model = LogisticRegression().fit(rows, np.arange(60) % n_classes)
    assert model.solution_.solver.endswith("sparse rows made dense") == made
    shared = OneVsAll().fit(rows, np.arange(60) % 3)
    assert "made dense" not in shared.solution_.solver  # two classes each, and few cells are filled
    full = sp.csr_array(rows.toarray() + 1.0)
    assert OneVsAll().fit(full, np.arange(60) % 3).solution_.solver.endswith("made dense")
    dense = LogisticRegression().fit(rows.toarray(), np.arange(60) % n_classes)
    assert "made dense" not in dense.solution_.solver
