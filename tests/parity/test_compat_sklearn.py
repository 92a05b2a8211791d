"""The drop-ins for scikit-learn's classes leave the attributes, shapes and predictions of these."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.discriminant_analysis
import sklearn.feature_extraction.text
import sklearn.linear_model
import sklearn.multiclass
import sklearn.naive_bayes
import sklearn.svm
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import StandardScaler

from separatrix.compat import sklearn as ours
from separatrix.errors import ParameterError

MODULES = (
    sklearn.linear_model,
    sklearn.svm,
    sklearn.naive_bayes,
    sklearn.feature_extraction.text,
    sklearn.discriminant_analysis,
    sklearn.multiclass,
)
TEXTS = ["Free pills, FREE now", "see you at noon", "free entry: call now", "noon? see you then"]


def theirs(name):
    """The class of scikit-learn of this name."""
    return next(getattr(module, name) for module in MODULES if hasattr(module, name))


def problem(n_classes, kind="dense"):
    """Rows and labels: standardized measurements, or counts."""
    X, y = load_breast_cancer(return_X_y=True) if n_classes == 2 else load_iris(return_X_y=True)
    if kind == "counts":
        return np.floor(X), y
    X = StandardScaler().fit_transform(X)
    return (sp.csr_matrix(X) if kind == "sparse" else X), y


def attributes(model):
    """The public attributes that a fit left, without the model behind it."""
    return {name for name in vars(model) if name.endswith("_") and name != "native_"}


@pytest.mark.parametrize("name", ours.__all__)
def test_signatures_are_those_of_scikit_learn(name):
    mine, peer = getattr(ours, name), theirs(name)
    assert issubclass(mine, peer)
    assert inspect.signature(mine) == inspect.signature(peer)
    for method in ("fit", "transform", "fit_transform"):
        if hasattr(peer, method):
            names = [list(inspect.signature(getattr(c, method)).parameters) for c in (mine, peer)]
            assert names[0] == names[1], method
    given = (ours.LinearSVC(),) if hasattr(sklearn.multiclass, name) else ()
    found = clone(mine(*given)).get_params(), peer(*given).get_params()
    assert repr(found[0]) == repr(found[1])


#: Parameters under which both reach the same optimum to many digits.
LOGISTIC = {"tol": 1e-9, "max_iter": 10_000}
SVC = {"tol": 1e-9, "max_iter": 1_000_000, "random_state": 0}
FITS = [
    ("LogisticRegression", LOGISTIC),
    ("LogisticRegression", {**LOGISTIC, "C": 0.1, "fit_intercept": False}),
    ("LogisticRegression", {**LOGISTIC, "class_weight": "balanced"}),
    ("LogisticRegression", {**LOGISTIC, "solver": "newton-cg"}),
    ("LinearSVC", SVC),
    ("LinearSVC", {**SVC, "loss": "hinge", "dual": True, "C": 0.1}),
    ("LinearSVC", {**SVC, "class_weight": "balanced"}),
]


@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(("name", "params"), FITS)
def test_linear_classifiers_reach_the_same_weights(name, params, n_classes, kind):
    X, y = problem(n_classes, kind)
    labels = np.array(["a", "b", "c"])[y]
    mine = getattr(ours, name)(**params).fit(X, labels)
    peer = theirs(name)(**params).fit(X, labels)
    assert attributes(mine) == attributes(peer)
    assert mine.coef_.shape == peer.coef_.shape
    assert np.allclose(mine.coef_, peer.coef_, rtol=2e-3, atol=2e-3)
    assert np.allclose(mine.intercept_, peer.intercept_, rtol=2e-3, atol=2e-3)
    assert np.shape(mine.n_iter_) == np.shape(peer.n_iter_)
    assert (mine.predict(X) == peer.predict(X)).mean() > 0.995
    assert mine.decision_function(X).shape == peer.decision_function(X).shape


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_liblinear_penalizes_the_intercept_and_others_do_not():
    X, y = problem(2)
    X = X + 3.0
    for solver in ("liblinear", "lbfgs"):
        given = {"C": 0.01, "solver": solver, "tol": 1e-8, "max_iter": 10_000}
        mine = ours.LogisticRegression(**given).fit(X, y)
        peer = sklearn.linear_model.LogisticRegression(**given).fit(X, y)
        assert np.allclose(mine.intercept_, peer.intercept_, rtol=1e-3), solver


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_no_penalty_by_either_name():
    X, y = load_iris(return_X_y=True)
    X, y = X[50:, :2], y[50:]
    peer = sklearn.linear_model.LogisticRegression(penalty=None, tol=1e-10).fit(X, y)
    for given in ({"penalty": None}, {"C": np.inf}):
        mine = ours.LogisticRegression(**given, tol=1e-10).fit(X, y)
        assert np.allclose(mine.coef_, peer.coef_, rtol=1e-3), given


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_sparse_weights_of_an_l1_penalty():
    X, y = problem(2)
    given = {"penalty": "l1", "C": 0.1, "solver": "saga", "tol": 1e-7, "max_iter": 20_000}
    mine = ours.LogisticRegression(**given).fit(X, y)
    peer = sklearn.linear_model.LogisticRegression(**given).fit(X, y)
    assert np.allclose(mine.coef_, peer.coef_, atol=1e-3)
    given = {"penalty": "l1", "dual": False, "C": 0.05, "tol": 1e-7, "max_iter": 100_000}
    mine = ours.LinearSVC(**given).fit(X, y)
    peer = sklearn.svm.LinearSVC(**given).fit(X, y)
    assert np.allclose(mine.coef_, peer.coef_, atol=1e-3)


def test_crammer_singer_has_the_same_objective():
    X, y = problem(3)
    given = {"multi_class": "crammer_singer", "tol": 1e-8, "max_iter": 100_000}
    mine = ours.LinearSVC(**given).fit(X, y)
    peer = sklearn.svm.LinearSVC(**given, random_state=0).fit(X, y)

    def objective(model):
        scores = model.decision_function(X)
        right = scores[np.arange(len(y)), y][:, None]
        losses = (scores - right + (np.arange(3) != y[:, None])).max(axis=1)
        return 0.5 * (model.coef_**2).sum() + 0.5 * (model.intercept_**2).sum() + losses.sum()

    assert objective(mine) == pytest.approx(objective(peer), rel=1e-3)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_perceptron_in_the_order_of_the_rows(n_classes):
    X, y = load_iris(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    if n_classes == 2:
        y = (y == 0).astype(int)  # separable, so that both end after the same updates
    given = {"shuffle": False, "tol": None, "max_iter": 50, "eta0": 0.5}
    mine = ours.Perceptron(**given).fit(X, y)
    peer = sklearn.linear_model.Perceptron(**given).fit(X, y)
    assert np.allclose(mine.coef_, peer.coef_)
    assert np.allclose(mine.intercept_, peer.intercept_)
    assert attributes(mine) <= attributes(peer)
    assert np.array_equal(mine.predict(X), peer.predict(X))


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("MultinomialNB", {}),
        ("MultinomialNB", {"alpha": 0.1, "fit_prior": False}),
        ("ComplementNB", {"norm": True}),
        ("BernoulliNB", {"binarize": 3.0}),
        ("BernoulliNB", {"class_prior": [0.2, 0.3, 0.5]}),
        ("GaussianNB", {}),
        ("GaussianNB", {"priors": [0.2, 0.3, 0.5], "var_smoothing": 1e-3}),
    ],
)
def test_naive_bayes_counts_the_same(name, params, sparse):
    if sparse and name == "GaussianNB":
        pytest.skip("scikit-learn's takes dense rows only")
    X, y = problem(3, "counts")
    X = sp.csr_matrix(X) if sparse else X
    weights = np.random.default_rng(0).uniform(0.5, 2.0, len(y))
    mine = getattr(ours, name)(**params).fit(X, y, weights)
    peer = theirs(name)(**params).fit(X, y, weights)
    assert attributes(mine) == attributes(peer)
    for attribute in attributes(peer):
        assert np.allclose(getattr(mine, attribute), getattr(peer, attribute)), attribute
    assert np.allclose(mine.predict_proba(X), peer.predict_proba(X))


@pytest.mark.parametrize("name", ["MultinomialNB", "BernoulliNB", "ComplementNB"])
def test_naive_bayes_in_parts(name):
    X, y = problem(3, "counts")
    whole, parts = getattr(ours, name)().fit(X, y), getattr(ours, name)()
    for rows in (slice(0, 60), slice(60, 150)):
        parts.partial_fit(X[rows], y[rows], classes=[0, 1, 2])
    assert np.allclose(whole.predict_proba(X), parts.predict_proba(X))


def test_parts_after_a_fit_leave_the_model_behind_it_as_it_was():
    X, y = load_iris(return_X_y=True)
    mine, peer = (c().fit(X[::2], y[::2]) for c in (ours.GaussianNB, theirs("GaussianNB")))
    means = mine.native_.counts_.value.copy()
    for model in (mine, peer):
        model.partial_fit(X[1::2], y[1::2])
    assert np.allclose(mine.theta_, peer.theta_)
    assert np.allclose(mine.var_, peer.var_)
    assert np.array_equal(mine.native_.counts_.value, means)


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("CountVectorizer", {}),
        ("CountVectorizer", {"ngram_range": (1, 2), "min_df": 2, "binary": True}),
        ("CountVectorizer", {"vocabulary": ["now", "free"]}),
        ("CountVectorizer", {"preprocessor": str.upper, "stop_words": ["FREE"]}),
        ("CountVectorizer", {"analyzer": "char_wb", "ngram_range": (2, 3), "max_features": 7}),
        ("TfidfVectorizer", {}),
        ("TfidfVectorizer", {"sublinear_tf": True, "norm": "l1", "dtype": np.float32}),
        ("TfidfVectorizer", {"use_idf": False, "lowercase": False}),
        ("HashingVectorizer", {"n_features": 64}),
        ("HashingVectorizer", {"n_features": 64, "alternate_sign": False, "norm": None}),
    ],
)
def test_vectorizers_make_the_same_matrix(name, params):
    mine, peer = getattr(ours, name)(**params), theirs(name)(**params)
    first, second = mine.fit_transform(TEXTS), peer.fit_transform(TEXTS)
    assert first.dtype == second.dtype
    assert first.shape == second.shape
    assert np.allclose(first.toarray(), second.toarray())
    assert np.allclose(
        mine.transform(["free noon"]).toarray(), peer.transform(["free noon"]).toarray()
    )
    assert attributes(mine) == attributes(peer)
    if hasattr(peer, "vocabulary_"):
        assert mine.vocabulary_ == peer.vocabulary_
        assert np.array_equal(mine.get_feature_names_out(), peer.get_feature_names_out())
    if hasattr(peer, "idf_"):
        assert np.allclose(mine.idf_, peer.idf_)


def test_documents_in_files_and_in_bytes(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes("café café".encode("latin-1"))
    vectorizer = ours.CountVectorizer(input="filename", encoding="latin-1")
    assert vectorizer.fit_transform([str(path)]).toarray().tolist() == [[2]]
    assert ours.CountVectorizer().fit([b"one", "two"]).vocabulary_ == {"one": 0, "two": 1}


@pytest.mark.parametrize("solver", ["svd", "eigen", "lsqr"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_discriminant_has_the_same_scores_and_directions(solver, n_classes):
    X, y = problem(n_classes)
    X = X[:, :8]
    mine = ours.LinearDiscriminantAnalysis(solver=solver).fit(X, y)
    peer = sklearn.discriminant_analysis.LinearDiscriminantAnalysis(solver=solver).fit(X, y)
    assert attributes(peer) <= attributes(mine)
    assert np.allclose(mine.predict_proba(X), peer.predict_proba(X), atol=1e-6)
    assert np.allclose(mine.priors_, peer.priors_)
    if solver != "lsqr":
        first, second = mine.transform(X), peer.transform(X)
        signs = np.sign((first * second).sum(axis=0))
        assert np.allclose(first, second * signs, atol=1e-6)
        assert np.allclose(mine.explained_variance_ratio_, peer.explained_variance_ratio_)


@pytest.mark.parametrize(
    ("name", "params", "serves"),
    [
        ("LinearSVC", {"intercept_scaling": 10.0}, "LinearSVM"),
        ("LogisticRegression", {"intercept_scaling": 10.0, "solver": "liblinear"}, "LinearSVM"),
        ("Perceptron", {"penalty": "l2"}, "LinearSVM"),
        ("Perceptron", {"early_stopping": True}, "max_iter"),
        ("Perceptron", {"warm_start": True}, "partial_fit"),
    ],
)
def test_what_cannot_be_honored_is_refused_with_the_name_that_serves(name, params, serves):
    X, y = problem(2)
    with pytest.raises((ParameterError, ValueError), match=serves):
        getattr(ours, name)(**params).fit(X, y)


@pytest.mark.filterwarnings("ignore:The parameter 'token_pattern'")
@pytest.mark.parametrize(
    "params",
    [
        {"tokenizer": str.split},
        {"tokenizer": str.split, "ngram_range": (1, 2), "preprocessor": str.upper},
        {"analyzer": str.split},
        {"strip_accents": str.lower},
    ],
)
@pytest.mark.parametrize("name", ["CountVectorizer", "TfidfVectorizer", "HashingVectorizer"])
def test_analysis_in_python_is_as_in_scikit_learn(name, params):
    mine, peer = getattr(ours, name)(**params), theirs(name)(**params)
    assert (mine.fit_transform(TEXTS) != peer.fit_transform(TEXTS)).nnz == 0
    assert (mine.fit(TEXTS).transform(["free noon"]) != peer.transform(["free noon"])).nnz == 0
    mine.set_params(tokenizer=None, analyzer="word", preprocessor=None, strip_accents=None)
    assert mine.fit(TEXTS).transform(TEXTS).shape[0] == 4  # by the kernels again


@pytest.mark.parametrize("name", ["MultinomialNB", "BernoulliNB", "ComplementNB", "GaussianNB"])
def test_one_class_is_as_in_scikit_learn(name):
    X = problem(2, "counts")[0]
    mine, peer = (c().fit(X, np.ones(len(X))) for c in (getattr(ours, name), theirs(name)))
    assert np.array_equal(mine.predict(X), peer.predict(X))
    assert attributes(mine) == attributes(peer)


def test_a_warm_start_begins_at_the_last_weights():
    X, y = problem(2)
    model = ours.LogisticRegression(warm_start=True, tol=1e-6, max_iter=500).fit(X, y)
    first = model.n_iter_[0]
    assert model.fit(X, y).n_iter_[0] < first


@pytest.mark.parametrize("name", ["LogisticRegression", "LinearSVC"])
def test_single_precision_stays(name):
    X, y = problem(3)
    model = getattr(ours, name)().fit(X.astype(np.float32), y)
    assert model.coef_.dtype == model.decision_function(X.astype(np.float32)).dtype == np.float32


def test_grid_search_finds_its_way():
    X, y = problem(3)
    search = GridSearchCV(ours.LogisticRegression(), {"C": [0.01, 1.0]}, cv=3).fit(X, y)
    assert search.best_score_ > 0.9


REDUCTIONS = ["OneVsRestClassifier", "OneVsOneClassifier", "OutputCodeClassifier"]


@pytest.mark.parametrize("learner", ["LinearSVC", "LogisticRegression"])
@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions_share_rows_and_answer_as_scikit_learn(name, learner):
    X, y = problem(3)
    if name == "OutputCodeClassifier":  # of few classes, random columns have all on one side
        X, y = load_digits(return_X_y=True)
        X, y = X[:300] / 16, y[:300]
    labels = np.array(list("abcdefghij"))[y]
    given = {"random_state": 0, "code_size": 2} if name == "OutputCodeClassifier" else {}
    base = {**(LOGISTIC if learner == "LogisticRegression" else SVC), "C": 0.1}
    mine = getattr(ours, name)(getattr(ours, learner)(**base), **given).fit(X, labels)
    peer = theirs(name)(theirs(learner)(**base), **given).fit(X, labels)
    assert mine.native_.report_.gap.max() < 1e-3  # all columns in one fit
    assert attributes(mine) == attributes(peer)
    assert len(mine.estimators_) == len(peer.estimators_)
    for own, other in zip(mine.estimators_, peer.estimators_, strict=True):
        assert np.allclose(own.coef_, other.coef_, rtol=2e-3, atol=2e-3)
        assert attributes(own) == attributes(other)
    assert np.array_equal(mine.predict(X), peer.predict(X))
    if name != "OutputCodeClassifier":
        scores = mine.decision_function(X), peer.decision_function(X)
        assert np.allclose(*scores, rtol=2e-2, atol=2e-2)


def test_one_vs_rest_learns_label_sets_and_parts():
    X, y = problem(3)
    sets = np.column_stack([y > 0, y < 2]).astype(int)
    mine = ours.OneVsRestClassifier(ours.LinearSVC(**SVC)).fit(X, sets)
    peer = theirs("OneVsRestClassifier")(theirs("LinearSVC")(**SVC)).fit(X, sets)
    assert mine.multilabel_
    assert np.array_equal(mine.predict(X), peer.predict(X))
    rest = ours.OneVsRestClassifier(theirs("MultinomialNB")()).fit(np.abs(X), y)
    assert not hasattr(rest, "native_")  # scikit-learn's own loop serves other estimators


@pytest.mark.parametrize("shape", [(60, 5), (20, 30)])
@pytest.mark.parametrize(
    "params", [{}, {"fit_intercept": False}, {"alpha_1": 2.0, "lambda_2": 3.0}]
)
def test_bayesian_ridge_takes_the_same_turns(shape, params):
    generator = np.random.default_rng(0)
    X = generator.normal(size=shape) + 1.0
    y = X @ generator.normal(size=shape[1]) + generator.normal(size=shape[0])
    weights = generator.uniform(0.5, 2.0, shape[0])
    given = {"compute_score": True, "tol": 1e-6, **params}
    mine = ours.BayesianRidge(**given).fit(X, y, weights)
    peer = theirs("BayesianRidge")(**given).fit(X, y, weights)
    assert attributes(mine) == attributes(peer)
    for attribute in attributes(peer) - {"n_features_in_"}:
        found = getattr(mine, attribute), getattr(peer, attribute)
        assert np.allclose(*found, rtol=1e-5, atol=1e-8), attribute
    answers = mine.predict(X, return_std=True), peer.predict(X, return_std=True)
    assert np.allclose(*answers, rtol=1e-5)
