"""What users of scikit-learn expect of every estimator, whoever wrote it."""

from __future__ import annotations

import inspect
import typing
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, clone
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.utils.estimator_checks import check_estimator

import separatrix
from separatrix import (
    Calibrated,
    GaussianDiscriminant,
    JointMap,
    LinearSVM,
    LogisticRegression,
    NaiveBayes,
    OneVsAll,
    Perceptron,
    TextVectorizer,
    registry,
)
from separatrix.errors import DataError, ParameterError, UnusedParameterWarning
from separatrix.metrics import log_loss
from separatrix.results import Solution

X, Y = load_iris(return_X_y=True)
SMALL = slice(None, None, 2)

#: Classifiers of rows in the table of learners, and the reductions and wrappers beside them.
FLAT = {
    learner.name: registry.load(learner.target)
    for learner in registry.LEARNERS
    if set(learner.tasks) & {"binary", "multiclass"} and not (learner.raw or learner.features)
}
FLAT |= {
    name: getattr(separatrix, name)
    for name in ("OneVsAll", "AllPairs", "OutputCode", "LaplaceLogisticRegression")
}
FLAT |= {
    "Calibrated": lambda: Calibrated(NaiveBayes(), random_state=0),
    "pairs of naive Bayes": lambda: separatrix.AllPairs(NaiveBayes()),
    "pairs of logistic regressions": lambda: separatrix.AllPairs(LogisticRegression()),
    "codes of logistic regressions": lambda: separatrix.OutputCode(LogisticRegression()),
    "votes": lambda: Perceptron("vote", random_state=0),
}
ANSWERS = ("decision_function", "predict_proba", "predict_log_proba")


def made(name):
    """The estimator of this name, with a seed where it takes one."""
    model = FLAT[name]()
    return model.set_params(random_state=0) if "random_state" in model.get_params() else model


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", FLAT)
def test_single_precision_stays_single(name, n_classes):
    rows = np.isin(Y, range(n_classes))
    single, labels = X[rows].astype(np.float32), Y[rows]
    try:
        model = made(name).fit(single, labels)
    except DataError as error:
        pytest.skip(str(error))
    for answer in ANSWERS:
        if hasattr(model, answer):
            assert getattr(model, answer)(single).dtype == np.float32, answer
            assert getattr(model, answer)(single.astype(float)).dtype == np.float64, answer


@pytest.mark.filterwarnings("ignore:.*columns|.*passes|.*precision")
@pytest.mark.parametrize("name", FLAT)
def test_names_of_columns_are_missed_once(name):
    frame = pd.DataFrame(X[SMALL], columns=list("abcd"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = made(name).fit(frame, Y[SMALL])
    for answer in ("predict", *ANSWERS):
        if not hasattr(model, answer) or not hasattr(model, "feature_names_in_"):
            continue
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            getattr(model, answer)(X[:5])
        about = [str(w.message) for w in told if "feature names" in str(w.message)]
        assert len(about) <= 1, (answer, about)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", FLAT)
def test_what_a_fit_leaves_is_typed(name):
    model = made(name).fit(np.abs(X), Y)
    typed = {"n_features_in_", "feature_names_in_"}  # scikit-learn sets these
    for one in type(model).__mro__:
        typed |= set(vars(one).get("__annotations__", ()))
    assert {attribute for attribute in vars(model) if attribute.endswith("_")} <= typed
    if isinstance(getattr(type(model), "solution_", None), property):
        assert type(model).solution_.fget.__annotations__["return"] in ("Solution", Solution)
    elif hasattr(model, "solution_"):
        assert typing.get_type_hints(type(model))["solution_"] is not Any


def test_fit_returns_the_estimator_it_was_called_on():
    for name in separatrix.__all__:
        thing = getattr(separatrix, name)
        if inspect.isclass(thing) and issubclass(thing, BaseEstimator):
            for method in ("fit", "partial_fit"):
                if hasattr(thing, method):
                    hints = typing.get_type_hints(inspect.unwrap(getattr(thing, method)))
                    assert hints["return"] is typing.Self, f"{name}.{method}"


#: Names of scikit-learn, where they come from, and a word of what is said instead.
REFUSED = [
    (LogisticRegression, "dual", "solver='dual'"),
    (LogisticRegression, "alpha", "C = 1 / (alpha"),
    (LogisticRegression, "multi_class", "OneVsAll"),
    (LogisticRegression, "eta0", "StochasticGradient"),
    (LogisticRegression, "early_stopping", "tol"),
    (LinearSVM, "dual", "solver='dual'"),
    (LinearSVM, "intercept_scaling", "penalize_intercept"),
    (Perceptron, "eta0", "learning_rate"),
    (Perceptron, "early_stopping", "max_iter"),
    (Perceptron, "alpha", "LinearSVM"),
    (NaiveBayes, "alpha", "LaplaceSmoothing(alpha)"),
    (NaiveBayes, "fit_prior", "priors='uniform'"),
    (NaiveBayes, "class_prior", "priors"),
    (GaussianDiscriminant, "solver", "shrinkage"),
    (GaussianDiscriminant, "reg_param", "shrinkage"),
    (separatrix.BayesianLinearRegression, "alpha_1", "noise_shape"),
    (separatrix.BayesianLinearRegression, "lambda_1", "ridge"),
    (separatrix.OutputCode, "code_size", "n_columns"),
    (TextVectorizer, "tokenizer", "token_pattern"),
    (TextVectorizer, "preprocessor", "lowercase"),
    (TextVectorizer, "input", "read files first"),
    (TextVectorizer, "encoding", "decode"),
]


@pytest.mark.parametrize(("kind", "name", "serves"), REFUSED)
def test_a_name_of_scikit_learn_is_refused_with_the_one_that_serves(kind, name, serves):
    for attempt in (lambda: kind(**{name: 1}), lambda: kind().set_params(**{name: 1})):
        with pytest.raises(ParameterError) as refused:
            attempt()
        assert serves in str(refused.value)
    with pytest.raises(TypeError):
        kind(no_such_name=1)
    assert clone(kind()).get_params().keys() == kind().get_params().keys()


@pytest.mark.parametrize("solver", ["liblinear", "newton-cg", "newton-cholesky", "sag", "saga"])
def test_solvers_of_scikit_learn_are_refused_with_ours(solver):
    with pytest.raises(ParameterError, match=r"say solver='\w+'"):
        LogisticRegression(solver=solver).fit(X, Y)


def test_an_infinite_C_is_no_penalty():
    rows = Y > 0
    free = LogisticRegression(None, tol=1e-8).fit(X[rows, :2], Y[rows])
    infinite = LogisticRegression(C=np.inf, tol=1e-8).fit(X[rows, :2], Y[rows])
    assert np.allclose(infinite.coef_, free.coef_)
    with pytest.raises(ParameterError, match="hard margin"):
        LinearSVM(C=np.inf).fit(X, Y)


def test_an_l1_penalty_of_the_svm_leaves_few_weights():
    target = Y == 1
    model = LinearSVM("squared_hinge", penalty="l1", C=0.02).fit(X, target)
    assert 0 < (model.coef_ == 0).sum() < 4
    assert model.solution_.gap <= 1e-4 * model.solution_.objective
    with pytest.raises(ParameterError, match="squared_hinge"):
        LinearSVM(penalty="l1").fit(X, target)


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA, pd.NaT])
@pytest.mark.parametrize("kind", ["object", "category"])
def test_a_missing_label_is_named_with_its_row(kind, missing):
    y = pd.Series(["a", "b", missing, "a"] * 5, dtype=kind)
    for model in (LogisticRegression(), NaiveBayes(), OneVsAll(), GaussianDiscriminant()):
        with pytest.raises(DataError, match="label of row 2 is missing"):
            model.fit(X[:20], y)


def test_a_column_of_labels_is_taken_with_a_warning():
    for model in (LogisticRegression(), NaiveBayes(), OneVsAll()):
        with pytest.warns(Warning, match="column-vector"):
            assert model.fit(X, Y[:, None]).predict(X).shape == (150,)


def test_the_joint_map_passes_the_checks_of_scikit_learn():
    check_estimator(JointMap())


@pytest.mark.parametrize("stored", [np.asarray, sp.csr_array])
def test_one_vs_all_learns_label_sets(stored):
    sets = np.column_stack([Y > 0, Y < 2, X[:, 1] > 3]).astype(int)
    model = OneVsAll(LogisticRegression(C=10.0)).fit(X, stored(sets))
    alone = [LogisticRegression(C=10.0).fit(X, column) for column in sets.T]
    assert np.array_equal(model.predict(X), np.column_stack([m.predict(X) for m in alone]))
    shares = np.column_stack([m.predict_proba(X)[:, 1] for m in alone])
    assert np.allclose(model.predict_proba(X), shares, atol=1e-2)
    assert np.array_equal(model.decision_function(X) > 0, model.predict(X) == 1)
    assert model.score(X, sets) > 0.8
    with pytest.raises(DataError, match="label 1 is in no row"):
        model.fit(X, stored(sets * [1, 0, 1]))
    with pytest.raises(DataError, match="row 0, column 2"):
        model.fit(X, stored(sets + 2 * np.eye(150, 3, 2, dtype=int)))


def test_the_discriminant_shows_the_space_of_scikit_learn():
    ours, theirs = GaussianDiscriminant().fit(X, Y), LinearDiscriminantAnalysis().fit(X, Y)
    mine, peer = ours.transform(X), theirs.transform(X)
    assert mine.shape == peer.shape
    for column in range(2):
        assert abs(np.corrcoef(mine[:, column], peer[:, column])[0, 1]) > 1 - 1e-9
    within = sum(np.cov(mine[k == Y].T, bias=True) * (k == Y).mean() for k in range(3))
    assert np.allclose(within, np.eye(2))
    scores = ours.decision_function(X)
    assert np.array_equal(scores.argmax(axis=1), ours.predict(X))
    two = GaussianDiscriminant().fit(X[:100], Y[:100])
    assert np.array_equal(two.decision_function(X[:100]) > 0, two.predict(X[:100]) == 1)
    own = GaussianDiscriminant(shared_covariance=False).fit(X, Y)
    assert np.allclose(own.transform(X), mine)


def test_a_subclass_of_the_vectorizer_may_have_fewer_parameters():
    class Pairs(TextVectorizer):
        def __init__(self, min_df: Any = 1) -> None:
            super().__init__("char", (2, 2), use_idf=False, norm=None, min_df=min_df)

    texts = ["abab", "abc"]
    assert clone(Pairs()).fit_transform(texts).toarray().tolist() == [[2, 1, 0], [1, 0, 1]]
    assert Pairs(2).fit(texts).get_feature_names_out().tolist() == ["ab"]
    first = Pairs().partial_fit(texts[:1]).merge(Pairs().partial_fit(texts[1:]))
    assert first.transform(texts).shape == (2, 3)


def test_stop_words_that_match_nothing_are_told():
    with pytest.warns(UnusedParameterWarning, match="'THE', not 'the'"):
        TextVectorizer(stop_words=["THE"]).fit(["the cat"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        TextVectorizer(stop_words=["THE"], lowercase=False).fit(["THE cat"])
        TextVectorizer(stop_words="english").fit(["the cat"])


def test_naive_bayes_answers_alike_however_rows_are_stored():
    generator = np.random.default_rng(0)
    words = generator.poisson(0.2, (150, 12)) * (1 + (Y[:, None] == np.arange(12) % 3))
    for table in (words, words > 0, X, X - 3.0, words * 0.5):
        dense, sparse = (NaiveBayes().fit(kind(table), Y) for kind in (np.asarray, sp.csr_array))
        assert np.array_equal(dense.kinds_, sparse.kinds_)
        logs = dense.predict_log_proba(table), sparse.predict_log_proba(sp.csr_array(table))
        assert np.allclose(*logs)


def test_folds_calibrate_better_than_one_split():
    """Isotonic steps need rows: with folds all of them serve, and the estimator sees all too."""
    generator = np.random.default_rng(0)
    losses = {"folds": 0.0, "split": 0.0}
    for seed in range(5):
        order = generator.permutation(150)
        train, test = order[:75], order[75:]
        for name, given in (("folds", {}), ("split", {"held_out": 0.25})):
            model = Calibrated(NaiveBayes(), "isotonic", random_state=seed, **given)
            shares = model.fit(X[train], Y[train]).predict_proba(X[test])
            losses[name] += log_loss(Y[test], shares)
    assert losses["folds"] < losses["split"]
