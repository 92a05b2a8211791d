"""The three estimators: one pass or one by one, weights, costs, parts, and what is refused."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_digits, load_iris
from sklearn.linear_model import Ridge, SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from separatrix import (
    AllPairs,
    Calibrated,
    CodeMatrix,
    LinearClassifier,
    LinearSVM,
    LogisticRegression,
    OneVsAll,
    OutputCode,
    Perceptron,
    TextVectorizer,
)
from separatrix.errors import ConvergenceWarning, DataError, ParameterError
from separatrix.reductions import shared as shared_module
from separatrix.reductions.columns import FittedColumns, LinearColumns, SupportColumns
from separatrix.reductions.output_code import decoding_loss

IRIS, IRIS_LABELS = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])[IRIS_LABELS]

_random = np.random.default_rng(0)
N, D, K = 400, 600, 7
CODES = np.arange(N) % K
_cells = np.where(_random.random((N, D)) < 0.03, _random.random((N, D)), 0.0)
_cells[np.arange(N), CODES] += 0.5 * (_random.random(N) < 0.8)
SPARSE = sp.csr_matrix(_cells)

REDUCTIONS = [
    OneVsAll(),
    AllPairs(),
    AllPairs(decode="scores"),
    OutputCode(code="random_sparse", random_state=3),
    OutputCode(code="random_dense", n_columns=12, decode="hamming", random_state=3),
]
BASES = [
    LinearSVM("squared_hinge", tol=1e-9),
    LinearSVM("hinge", tol=1e-7, max_iter=20_000),
    LogisticRegression(tol=1e-9),
    LogisticRegression(tol=1e-9, penalize_intercept=True),
    LinearSVM("squared_hinge", tol=1e-9, fit_intercept=False, class_weight="balanced"),
    LinearSVM("squared_hinge", tol=1e-9, class_weight={-1: 2.0, 1: 3.0}),
]


def both_ways(reduction, base, X, y, **options):
    together = clone(reduction).set_params(estimator=base).fit(X, y, **options)
    apart = clone(reduction).set_params(estimator=base, shared=False).fit(X, y, **options)
    assert isinstance(apart.columns_, FittedColumns)
    assert not isinstance(together.columns_, FittedColumns)
    return together, apart


@pytest.mark.parametrize("reduction", REDUCTIONS, ids=repr)
@pytest.mark.parametrize("base", BASES, ids=repr)
def test_one_pass_predicts_what_separate_fits_predict(reduction, base):
    together, apart = both_ways(reduction, base, SPARSE, CODES)
    assert "dual coordinate descent" in together.report_.solver
    np.testing.assert_array_equal(together.predict(SPARSE), apart.predict(SPARSE))
    np.testing.assert_allclose(
        together.column_scores(SPARSE), apart.column_scores(SPARSE), atol=2e-3
    )
    objectives = [model.solution_.objective for model in apart.estimators_]
    np.testing.assert_allclose(together.report_.objective, objectives, rtol=1e-6)


@pytest.mark.parametrize("reduction", REDUCTIONS[:4], ids=repr)
@pytest.mark.parametrize(
    "base",
    [
        LinearSVM("squared_hinge"),
        LinearSVM("hinge"),
        LinearSVM("squared_hinge", solver="dual", tol=1e-6, max_iter=20_000, C=0.01),
        LogisticRegression(penalty="l1"),
        LinearClassifier("exponential", C=0.1),
        LinearClassifier("squared"),
    ],
    ids=repr,
)
def test_dense_rows_too(reduction, base):
    y = NAMES
    together, apart = both_ways(reduction, base, IRIS, y)
    assert together.predict(IRIS).dtype == NAMES.dtype
    assert (together.predict(IRIS) == apart.predict(IRIS)).mean() >= 0.993
    np.testing.assert_allclose(
        together.report_.objective,
        [model.solution_.objective for model in apart.estimators_],
        rtol=2e-4,
    )


@pytest.mark.parametrize("reduction", REDUCTIONS, ids=repr)
def test_weights_of_rows_pass_through(reduction):
    weights = np.random.default_rng(5).integers(0, 3, N).astype(float)
    base = LogisticRegression(tol=1e-9)
    together, apart = both_ways(reduction, base, SPARSE, CODES, sample_weight=weights)
    repeated = np.repeat(np.arange(N), weights.astype(int))
    again = clone(together).fit(SPARSE[repeated], CODES[repeated])
    for other in (apart, again):
        np.testing.assert_allclose(
            together.column_scores(SPARSE), other.column_scores(SPARSE), atol=1e-3
        )


@pytest.mark.parametrize("reduction", REDUCTIONS, ids=repr)
def test_threads_change_nothing(reduction):
    models = [clone(reduction).set_params(n_jobs=n).fit(SPARSE, CODES) for n in (1, 3)]
    first, second = (model.columns_ for model in models)
    np.testing.assert_array_equal(first.coef, second.coef)
    np.testing.assert_array_equal(first.intercept, second.intercept)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_precision_is_kept_and_sparse_equals_dense(dtype):
    base = LinearSVM("squared_hinge", tol=1e-6, solver="dual")
    X = SPARSE.astype(dtype)
    for reduction in (OneVsAll(base), AllPairs(base)):
        sparse = clone(reduction).fit(X, CODES)
        dense = clone(reduction).fit(X.toarray(), CODES)
        assert sparse.columns_.coef.dtype == dtype
        np.testing.assert_allclose(
            sparse.column_scores(X), dense.column_scores(X.toarray()), atol=2e-2
        )
        np.testing.assert_allclose(
            sparse.column_scores(X), sparse.column_scores(X.toarray()), atol=1e-5
        )


def test_columns_kept_as_rows_and_duals_score_the_same(monkeypatch):
    base = LinearSVM("squared_hinge", solver="dual", random_state=0)
    weights = AllPairs(base).fit(SPARSE, CODES)
    # Stands for more columns than rows: with these few the weights take less room.
    monkeypatch.setattr(shared_module._Fit, "_wants_duals", lambda self: True)
    duals = AllPairs(base).fit(SPARSE, CODES)
    assert isinstance(weights.columns_, LinearColumns)
    assert isinstance(duals.columns_, SupportColumns)
    np.testing.assert_allclose(
        duals.column_scores(SPARSE), weights.column_scores(SPARSE), atol=1e-10
    )
    np.testing.assert_allclose(duals.columns_.coef.toarray(), weights.columns_.coef, atol=1e-10)
    np.testing.assert_array_equal(
        duals.estimators_[4].predict(SPARSE), np.sign(weights.column_scores(SPARSE)[:, 4])
    )


def test_a_column_that_stalls_goes_on_as_it_would_alone():
    rng = np.random.default_rng(0)
    scales = 10.0 ** rng.uniform(-2, 2, 300)
    X = sp.csr_matrix(
        np.where(rng.random((200, 300)) < 0.2, scales * rng.normal(size=(200, 300)), 0)
    )
    y = rng.integers(0, 3, 200)
    base = LogisticRegression(C=1e3, tol=1e-7, max_iter=5000, random_state=0)
    together, apart = both_ways(OneVsAll(), base, X, y)
    np.testing.assert_allclose(
        together.report_.objective,
        [model.solution_.objective for model in apart.estimators_],
        rtol=1e-5,
    )


def test_c_sets_the_strength_of_the_estimator():
    model = OneVsAll(LinearSVM("squared_hinge", random_state=0), C=0.03).fit(SPARSE, CODES)
    given = OneVsAll(LinearSVM("squared_hinge", C=0.03, random_state=0)).fit(SPARSE, CODES)
    np.testing.assert_array_equal(model.columns_.coef, given.columns_.coef)
    assert model.estimators_[0].C == 0.03
    with pytest.raises(ParameterError, match="GaussianNB has no C"):
        OneVsAll(GaussianNB(), C=1.0).fit(IRIS, NAMES)


def test_the_solution_sums_over_the_columns():
    model = OneVsAll(C=0.1).fit(SPARSE, CODES)
    W, b = model.columns_.coef, model.columns_.intercept
    targets = np.where(CODES[:, None] == np.arange(K), 1, -1)
    losses = np.maximum(0, 1 - targets * (SPARSE @ W.T + b)) ** 2
    objective = 0.5 * np.square(W).sum() + 0.1 * losses.sum()
    assert model.solution_.objective == pytest.approx(objective, rel=1e-9)
    assert 0 <= model.solution_.gap <= 1e-3 * objective
    assert model.solution_.stopped.name == "CONVERGED"
    assert not hasattr(OneVsAll(shared=False).fit(IRIS, NAMES), "solution_")


def test_a_used_up_budget_is_told():
    with pytest.warns(ConvergenceWarning, match="columns of OneVsAll used up max_iter=2"):
        OneVsAll(LinearSVM("hinge", max_iter=2, tol=1e-9)).fit(SPARSE, CODES)


@pytest.mark.parametrize("intercept", [{}, {"penalize_intercept": True}, {"fit_intercept": False}])
def test_least_squares_factors_one_matrix(intercept):
    weights = np.random.default_rng(1).uniform(0.5, 2, len(IRIS))
    base = LinearClassifier("squared", C=0.7, tol=1e-10, **intercept)
    fast = OneVsAll(base).fit(IRIS, IRIS_LABELS, sample_weight=weights)
    slow = OneVsAll(clone(base).set_params(solver="newton"))
    slow.fit(IRIS, IRIS_LABELS, sample_weight=weights)
    assert "Cholesky" in fast.report_.solver
    assert "Cholesky" not in slow.report_.solver
    np.testing.assert_allclose(fast.columns_.coef, slow.columns_.coef, atol=1e-5)
    np.testing.assert_allclose(fast.columns_.intercept, slow.columns_.intercept, atol=1e-4)
    np.testing.assert_allclose(fast.report_.objective, slow.report_.objective, rtol=1e-8)


@pytest.mark.parametrize("intercept", [{}, {"penalize_intercept": True}, {"fit_intercept": False}])
@pytest.mark.parametrize("n_rows", [40, 400])  # fewer and more than there are columns
def test_least_squares_of_pairs_and_of_few_rows(intercept, n_rows):
    X = SPARSE.toarray()[:n_rows, :60]
    base = LinearClassifier("squared", C=0.7, tol=1e-10, class_weight="balanced", **intercept)
    for reduction in (AllPairs(), OneVsAll()):
        together, apart = both_ways(reduction, base, X, CODES[:n_rows])
        assert "Cholesky" in together.report_.solver
        np.testing.assert_allclose(
            together.column_scores(X), apart.column_scores(X), rtol=1e-4, atol=1e-5
        )


@pytest.mark.parametrize(
    "base",
    [
        GaussianNB(),
        DecisionTreeClassifier(random_state=0),
        Ridge(),
        make_pipeline(StandardScaler(), LogisticRegression()),
        Calibrated(LinearSVM(), "sigmoid", random_state=0),
        Perceptron(random_state=0),
    ],
    ids=lambda base: type(base).__name__,
)
@pytest.mark.parametrize("reduction", REDUCTIONS, ids=repr)
def test_any_estimator_serves(reduction, base):
    model = clone(reduction).set_params(estimator=base).fit(IRIS, NAMES)
    # The class in the middle seldom has the largest sum of scores, and few bits err together.
    assert model.score(IRIS, NAMES) > 0.55
    assert len(model.estimators_) == model.code_.n_columns
    if hasattr(base, "predict_proba"):
        p = model.predict_proba(IRIS)
        np.testing.assert_allclose(p.sum(axis=1), 1)
        assert (model.classes_[p.argmax(axis=1)] == NAMES).mean() > 0.6
    np.testing.assert_array_equal(
        pickle.loads(pickle.dumps(model)).predict(IRIS), model.predict(IRIS)
    )


def test_rows_need_not_be_numbers():
    texts = [
        "see you at noon",
        "cheap pills",
        "match tonight",
        "noon again",
        "pills!",
        "a match",
    ] * 4
    topics = ["meet", "spam", "sport"] * 8
    model = AllPairs(make_pipeline(TextVectorizer(), LogisticRegression())).fit(texts, topics)
    assert model.predict(["cheap cheap pills", "the match"]).tolist() == ["spam", "sport"]


@pytest.mark.parametrize("reduction", REDUCTIONS, ids=repr)
def test_parts_add_up(reduction):
    X, y = load_digits(return_X_y=True)
    X, y = X[:600] / 16, y[:600]
    base = SGDClassifier(random_state=0)
    model = clone(reduction).set_params(estimator=base)
    model.partial_fit(X[:300], y[:300], classes=np.arange(10))
    model.partial_fit(X[300:], y[300:])
    code = model.code_.values
    for column, fitted in enumerate(model.estimators_):
        alone = clone(base)
        for part in (slice(300), slice(300, 600)):
            entries = code[y[part], column]
            used = entries != 0
            alone.partial_fit(X[part][used], entries[used].astype(int), classes=[-1, 1])
        np.testing.assert_array_equal(fitted.coef_, alone.coef_)
    assert model.score(X, y) > 0.7


def test_classes_that_have_not_come_yet_do_not_win():
    X, y = load_digits(return_X_y=True)
    few = y < 3
    model = AllPairs(SGDClassifier(random_state=0))
    model.partial_fit(X[few], y[few], classes=np.arange(10))
    assert model.estimators_[-1] is None
    assert (model.column_scores(X)[:, -1] == 0).all()
    assert set(model.predict(X[few])) <= {0, 1, 2}
    with pytest.raises(DataError, match="not the same as on the last call"):
        model.partial_fit(X, y, classes=[0, 1])


def test_parts_are_refused_where_they_cannot_be():
    assert not hasattr(OneVsAll(LinearSVM()), "partial_fit")
    with pytest.raises(AttributeError):
        OneVsAll(LinearSVM()).partial_fit(IRIS, IRIS_LABELS)
    with pytest.raises(ParameterError, match="needs all rows at once"):
        OneVsAll(Perceptron(), class_weight="balanced").partial_fit(IRIS, IRIS_LABELS)


@pytest.mark.parametrize("reduction", REDUCTIONS, ids=repr)
def test_zero_one_cost_is_no_cost(reduction):
    plain = clone(reduction).fit(SPARSE, CODES)
    costly = clone(reduction).set_params(cost=1 - np.eye(K)).fit(SPARSE, CODES)
    np.testing.assert_allclose(plain.column_scores(SPARSE), costly.column_scores(SPARSE), atol=1e-6)


def test_costs_are_weights_of_the_rows_in_a_column():
    cost = np.array([[0, 1.0, 4.0], [2.0, 0, 1.0], [1.0, 3.0, 0]])
    model = AllPairs(LogisticRegression(tol=1e-9), cost=cost).fit(IRIS, IRIS_LABELS)
    for column, (i, j) in enumerate([(0, 1), (0, 2), (1, 2)]):
        used = np.isin(IRIS_LABELS, (i, j))
        labels = np.where(IRIS_LABELS[used] == i, 1, -1)
        weights = np.where(labels == 1, cost[i, j], cost[j, i])
        alone = LogisticRegression(tol=1e-9).fit(IRIS[used], labels, sample_weight=weights)
        np.testing.assert_allclose(
            model.column_scores(IRIS)[:, column], alone.decision_function(IRIS), atol=1e-3
        )
    one = OneVsAll(LogisticRegression(), cost=cost).fit(IRIS, IRIS_LABELS)
    task = one._task(one.code_, IRIS_LABELS, None)
    # A row of class 1 in the column of class 0 weighs what taking 1 for 0 costs.
    np.testing.assert_allclose(task.table, [[2.5, -1, -4], [-2, 1.5, -1], [-1, -3, 2]])


def test_a_costly_class_is_missed_less_often():
    X, y = IRIS[:, :2], IRIS_LABELS
    cost = 1 - np.eye(3)
    cost[1, :] *= 8
    for reduction in (OneVsAll(), AllPairs(), OutputCode(code="exhaustive")):
        missed = [
            (clone(reduction).set_params(cost=c).fit(X, y).predict(X)[y == 1] != 1).mean()
            for c in (None, cost)
        ]
        assert missed[1] < missed[0]


def test_class_weights_weigh_the_rows_of_a_class():
    weights = {"setosa": 1.0, "versicolor": 3.0, "virginica": 0.5}
    rows = np.array([weights[name] for name in NAMES])
    base = LogisticRegression(tol=1e-9)
    one = OneVsAll(base, class_weight=weights).fit(IRIS, NAMES)
    other = OneVsAll(base).fit(IRIS, NAMES, sample_weight=rows)
    np.testing.assert_allclose(one.decision_function(IRIS), other.decision_function(IRIS))


@pytest.mark.parametrize("name", ["random_dense", "random_sparse", "exhaustive"])
def test_hamming_decoding_by_brute_force(name):
    model = OutputCode(code=name, decode="hamming", random_state=1).fit(IRIS, IRIS_LABELS)
    answers = np.column_stack([one.predict(IRIS) for one in model.estimators_])
    for row, taken in zip(answers, model.predict(IRIS), strict=True):
        distances = [
            sum(0.5 if m == 0 else float(m != a) for m, a in zip(word, row, strict=True))
            for word in model.code_.values
        ]
        assert taken == int(np.argmin(distances))


def test_codes_of_the_user_and_of_the_confusion():
    own = [[1, 1, 0], [-1, 0, 1], [0, -1, -1]]
    pairs, given = AllPairs(decode="scores").fit(IRIS, NAMES), OutputCode(code=own).fit(IRIS, NAMES)
    np.testing.assert_allclose(pairs.column_scores(IRIS), given.column_scores(IRIS))
    learned = OutputCode(code="confusion", random_state=0).fit(IRIS, NAMES)
    assert any((column != 0).sum() == 2 for column in learned.code_.values.T)
    assert learned.score(IRIS, NAMES) > 0.9


def test_one_vs_all_is_a_code_with_loss_decoding():
    plain = OneVsAll(LogisticRegression()).fit(IRIS, NAMES)
    for loss in ("hinge", "logistic", "squared", "exponential"):
        coded = OutputCode(LogisticRegression(), code="one_vs_all", loss=loss).fit(IRIS, NAMES)
        # phi(f) - phi(-f) falls in f for these losses: the same class wins.
        assert (plain.predict(IRIS) == coded.predict(IRIS)).mean() > 0.99


def test_the_loss_of_an_estimator():
    assert decoding_loss(LinearSVM()) == "hinge"
    assert decoding_loss(LogisticRegression()) == "logistic"
    assert decoding_loss(SGDClassifier(loss="log_loss")) == "logistic"
    assert decoding_loss(GaussianNB()) == "logistic"
    assert decoding_loss(LinearClassifier("squared")) == "squared"
    assert decoding_loss(Ridge()) == "squared"
    assert decoding_loss(Perceptron()) == "hinge"


class LabelsOnly(ClassifierMixin, BaseEstimator):
    """Has neither scores nor probabilities."""

    def fit(self, X, y):
        self.model_ = LinearSVM().fit(X, y)
        self.classes_ = self.model_.classes_
        return self

    def predict(self, X):
        return self.model_.predict(X)


def test_labels_alone_can_vote_but_have_no_loss():
    with pytest.raises(ParameterError, match="gives labels only"):
        OutputCode(LabelsOnly()).fit(IRIS, NAMES)
    hamming = OutputCode(LabelsOnly(), decode="hamming", random_state=0).fit(IRIS, NAMES)
    assert hamming.score(IRIS, NAMES) > 0.7
    assert AllPairs(LabelsOnly()).fit(IRIS, NAMES).score(IRIS, NAMES) > 0.9
    with pytest.raises(ParameterError, match="takes no sample_weight"):
        AllPairs(LabelsOnly()).fit(IRIS, NAMES, sample_weight=np.ones(150))


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (OutputCode(code=[[1, 1], [1, -1], [1, -1]]), "column 0 of the code has no -1"),
        (OutputCode(code=[[1, 1], [-1, -1], [-1, -1]]), "rows 1 and 2 of the code are equal"),
        (OutputCode(code=CodeMatrix([[1], [-1]])), "has 2 rows, but y has 3 classes"),
        (OutputCode(code="golay"), "code must be one of"),
        (OutputCode(decode="nearest"), "decode must be one of"),
        (OutputCode(loss="zero_one"), "loss must be one of"),
        (AllPairs(decode="hamming"), "decode must be one of"),
        (AllPairs(coupling="none"), "coupling must be one of"),
        (OneVsAll(cost=np.ones((3, 3))), "a right answer must cost nothing"),
        (OneVsAll(cost=np.zeros((2, 2))), "but there are 3 classes"),
        (OneVsAll(LinearSVM(C=-1.0)), "C must be a positive"),
    ],
    ids=repr,
)
def test_what_cannot_be_is_named(model, words):
    with pytest.raises(ParameterError, match=words):
        model.fit(IRIS, NAMES)


def test_bad_rows_are_named():
    X = IRIS.copy()
    X[7, 2] = np.nan
    with pytest.raises(DataError, match="NaN at row 7, column 2"):
        OneVsAll().fit(X, NAMES)
    weights = (NAMES != "setosa").astype(float)
    with pytest.raises(DataError, match="no rows of positive weight"):
        OneVsAll().fit(IRIS, NAMES, sample_weight=weights)
    with pytest.raises(DataError, match="no rows of positive weight"):
        AllPairs(GaussianNB()).fit(IRIS, NAMES, sample_weight=weights)
    with pytest.raises(AttributeError, match="predict_proba"):
        OneVsAll(LinearSVM()).fit(IRIS, NAMES).predict_proba(IRIS)
