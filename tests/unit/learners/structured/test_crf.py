"""CRF: solvers reach one optimum, its conditions hold, predictions obey what they are told."""

import pickle
import warnings
from itertools import pairwise

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score

from separatrix import CRF, StructuredPerceptron, StructuredSVM
from separatrix.data import AttributeSequences, TokenColumn
from separatrix.errors import ConvergenceWarning, DataError, ParameterError, SolverError
from separatrix.learners.structured import Constraints
from separatrix.metrics import token_accuracy
from separatrix.results import StopReason
from separatrix.structures import Chain
from separatrix.structures.chain import log_partition, path_scores
from separatrix.structures.coded_labels import encode_tags
from tests.unit.learners.structured.tagging import LABELS, encoded, sentences
from tests.unit.structures.chains import objective_of

X, Y = encoded()


def objective(model, X, y, C):
    """P(w) from the plain composition."""
    scores = model.features_.scores(model.coef_, X)
    codes = encode_tags(y, X.offsets, model.classes_).codes
    loss = float((log_partition(scores) - path_scores(scores, codes)).sum())
    return C * loss + 0.5 * float(model.coef_ @ model.coef_)


@pytest.mark.parametrize("boundaries", [True, False])
@pytest.mark.parametrize("transitions", ["observed", "all"])
def test_the_solvers_reach_one_optimum(boundaries, transitions):
    values = []
    for solver in ("lbfgs", "dual", "auto"):
        model = CRF(
            Chain(boundaries=boundaries, transitions=transitions),
            C=2.0,
            solver=solver,
            tol=1e-9,
            random_state=0,
        )
        model.fit(X, Y)
        assert model.solution_.stopped is StopReason.CONVERGED
        values.append(objective(model, X, Y, 2.0))
        assert model.solution_.objective == pytest.approx(values[-1], rel=1e-5)
    np.testing.assert_allclose(values, values[0], rtol=1e-6)


def test_dual_passes_alone_approach_the_optimum():
    best = CRF(solver="lbfgs", tol=1e-10).fit(X, Y).solution_.objective
    model = CRF(solver="dual", tol=1e-12, random_state=3)
    model.fit(X, Y)
    rows = [row for row in model.solution_.trace.rows if np.isinf(row.gap)]
    assert len(rows) >= 3
    assert rows[0].objective > rows[-1].objective
    assert rows[-1].objective <= best * 1.05


def test_at_the_optimum_observed_minus_expected_features_are_w_over_c():
    C = 0.7
    model = CRF(C=C, solver="lbfgs", tol=1e-12).fit(
        AttributeSequences(X.matrix.astype(np.float64), X.vocabulary, X.offsets), Y
    )
    chain = model.features_
    scores = chain.scores(model.coef_, X)
    found = chain.log_sum_exp(scores, edges=True)
    codes = encode_tags(Y, X.offsets, model.classes_).codes
    difference = chain.features(X, codes) - chain.adjoint(X, found.parts)
    np.testing.assert_allclose(difference, model.coef_ / C, atol=2e-4)


@pytest.mark.parametrize("options", [{"penalty": "l1"}, {"penalty": "elasticnet", "l1_ratio": 0.4}])
def test_sparse_penalties_obey_their_optimality_conditions(options):
    model = CRF(C=1.0, tol=1e-10, **options).fit(
        AttributeSequences(X.matrix.astype(np.float64), X.vocabulary, X.offsets), Y
    )
    ratio = options.get("l1_ratio", 1.0)
    plain = objective_of(model.features_, X, encode_tags(Y, X.offsets).codes)
    _, grad = plain.loss_value_and_grad(plain.variables(model.coef_))
    slope = plain.weights(grad)
    w = model.coef_
    slope = slope + (1 - ratio) * w
    assert (w == 0).mean() > 0.2
    assert np.abs(slope[w == 0]).max() <= ratio + 1e-3
    np.testing.assert_allclose(slope[w != 0], -ratio * np.sign(w[w != 0]), atol=1e-3)


def test_a_chain_of_length_one_is_softmax_regression():
    random = np.random.default_rng(0)
    rows = random.normal(size=(80, 5))
    labels = (rows @ random.normal(size=(5, 3))).argmax(axis=1)
    one = AttributeSequences.of(rows, np.ones(80, dtype=int))
    crf = CRF(Chain(boundaries=False, state_features="all"), C=3.0, tol=1e-11, solver="lbfgs")
    crf.fit(one, [[int(label)] for label in labels])
    flat = LogisticRegression(C=3.0, fit_intercept=False, tol=1e-10, max_iter=5000).fit(
        rows, labels
    )
    state = crf.coef_[crf.features_.sections["state"]].reshape(5, 3)
    np.testing.assert_allclose(state.T, flat.coef_, atol=1e-3)
    np.testing.assert_allclose(
        np.vstack(crf.predict_proba(one)), flat.predict_proba(rows), atol=1e-4
    )


@pytest.mark.parametrize("order", [1, 2])
def test_probabilities_belong_together(order):
    model = CRF(Chain(order=order), C=0.5).fit(X, Y)
    few, labels = X.take(np.arange(5)), Y[:5]
    nodes = model.predict_proba(few)
    edges = model.predict_edge_marginals(few)
    for node, edge in zip(nodes, edges, strict=True):
        np.testing.assert_allclose(node.sum(axis=1), 1.0)
        assert edge.shape == (len(node) - 1, 3, 3)
        np.testing.assert_allclose(edge.sum(axis=1), node[1:], atol=1e-9)
        np.testing.assert_allclose(edge.sum(axis=2), node[:-1], atol=1e-9)
    log_p = model.log_likelihood(few, labels)
    assert (log_p < 0).all()
    best = model.predict(few)
    np.testing.assert_array_less(log_p - 1e-12, model.log_likelihood(few, best) + 1e-9)
    for i, paths in enumerate(model.predict_top(few, 3)):
        assert paths[0][0] == best[i]
        scores = [score for _, score in paths]
        assert scores == sorted(scores, reverse=True)
        assert len({tuple(path) for path, _ in paths}) == len(paths)
    draws = model.sample(few, 400, random_state=0)
    share = np.mean([draw[0][0] == "O" for draw in draws])
    assert share == pytest.approx(nodes[0][0, 2], abs=0.12)


def test_second_order_sees_what_first_order_cannot():
    # The third label depends on the first alone: B . x -> 1, O . x -> 0.
    X = [[["start"], ["same"], ["same"]]] * 40
    y = [["0", "m", "0"], ["1", "m", "1"]] * 20
    X = [[[f"start{tags[0]}"], ["same"], ["same"]] for tags in y]
    for order in (1, 2):
        chain = Chain(order=order, boundaries=False)
        score = CRF(chain, C=50.0, max_iter=2000).fit(X, y).score(X, y)
        assert score == 1.0 if order == 2 else score < 1.0


def test_constraints_are_obeyed():
    model = CRF(C=0.01).fit(X, Y)
    new, _ = encoded(30, seed=9)
    for tags in model.predict(new, constraints="BIO"):
        assert tags[0] != "I-X"
        assert ("O", "I-X") not in list(pairwise(tags))
    given = [[None] * n for n in new.lengths.tolist()]
    given[0][0] = "I-X"
    given[1][-1] = {"B-X", "I-X"}
    found = model.predict(new, constraints=given)
    assert found[0][0] == "I-X"
    assert found[1][-1] in {"B-X", "I-X"}
    rules = Constraints(forbidden=[("O", "O")], given=given)
    for tags in model.predict(new, constraints=rules):
        assert ("O", "O") not in list(pairwise(tags))
    node = model.predict_proba(new, constraints=given)[0][0]
    np.testing.assert_allclose(node, [0, 1, 0])
    with pytest.raises(DataError, match="every labelling of sequence 0 is forbidden"):
        model.predict(new, constraints=Constraints(given=given, grammar="BIO"))
    with pytest.raises(DataError, match="label 'Z' of token 0 of sequence 0 is not among"):
        model.predict([[["a"]]], constraints=[["Z"]])


def test_predictions_in_parts_are_the_same(monkeypatch):
    model = CRF().fit(X, Y)
    expected = model.predict(X), model.predict(X, constraints="BIO")
    monkeypatch.setattr("separatrix.structures.chain.structure._SCORES", 40)
    assert (model.predict(X), model.predict(X, constraints="BIO")) == expected


def test_labels_from_attributes_are_those_of_the_scores():
    new, _ = encoded(30, seed=9)
    for precision in (np.float32, np.float64):
        rows = AttributeSequences(new.matrix.astype(precision), new.vocabulary, new.offsets)
        model = CRF(n_jobs=2).fit(X, Y)
        inputs, features, scores = model._scores(rows)
        assert model.predict(rows) == model._labels(features.best(scores).labels, inputs)


def test_predictions_follow_weights_that_are_changed_in_place():
    model = CRF().fit(X, Y)
    before = model.predict(X)
    model.coef_ *= -1.0
    assert model.predict(X) != before
    model.coef_ *= -1.0
    assert model.predict(X) == before


def test_minimum_risk_follows_the_cost():
    model = CRF(C=0.1).fit(X, Y)
    nodes = np.vstack(model.predict_proba(X))
    plain = [tag for tags in model.predict_minimum_risk(X) for tag in tags]
    assert plain == np.array(LABELS)[nodes.argmax(axis=1)].tolist()
    cost = np.array([[0.0, 1.0, 100.0], [1.0, 0.0, 100.0], [1.0, 1.0, 0.0]])
    careful = [tag for tags in model.predict_minimum_risk(X, cost) for tag in tags]
    assert careful.count("O") < plain.count("O")
    expected = np.array(LABELS)[(nodes @ cost).argmin(axis=1)].tolist()
    assert careful == expected


def test_partial_labels_teach():
    X, y = sentences(120, seed=4)
    random = np.random.default_rng(0)
    partial = [[None if random.random() < 0.5 else tag for tag in tags] for tags in y]
    partial[0] = [{"B-X", "O"} for _ in partial[0]]
    model = CRF(partial=True, C=5.0).fit(X, partial)
    new, labels = sentences(60, seed=5)
    full = CRF(C=5.0).fit(X, y)
    assert model.score(new, labels) > full.score(new, labels) - 0.05
    # Known labels in the form of sets of one are known labels.
    full = CRF(C=1.0, solver="lbfgs", tol=1e-9).fit(X, y)
    sets = CRF(C=1.0, solver="lbfgs", tol=1e-9, partial=True)
    sets.fit(X, [[{tag} for tag in tags] for tags in y])
    assert sets.solution_.objective == pytest.approx(full.solution_.objective, rel=1e-6)
    with pytest.raises(DataError, match="a label is None"):
        CRF().fit(X[1:], partial[1:])
    with pytest.raises(DataError, match="partial=True"):
        CRF().fit(X, partial)


def test_weights_are_repetitions():
    few, labels = sentences(12, seed=2)
    weights = np.array([1, 2, 0, 3] * 3)
    repeated = [s for s, n in zip(few, weights, strict=True) for _ in range(n)]
    tags = [s for s, n in zip(labels, weights, strict=True) for _ in range(n)]
    options = {"structure": Chain(state_features="all"), "tol": 1e-9}
    a = CRF(**options).fit(few, labels, sample_weight=weights)
    b = CRF(**options).fit(
        few, labels, token_weight=[[n] * len(s) for n, s in zip(weights, few, strict=True)]
    )
    c = CRF(**options).fit(repeated, tags)
    assert a.solution_.objective == pytest.approx(c.solution_.objective, rel=1e-6)
    assert a.solution_.objective == pytest.approx(b.solution_.objective, rel=1e-6)
    heavy = CRF(class_weight={"I-X": 5.0}, **options).fit(few, labels)
    assert heavy.solution_.objective > CRF(**options).fit(few, labels).solution_.objective
    with pytest.raises(ParameterError, match="'Z', which is not a label"):
        CRF(class_weight={"Z": 1.0}).fit(few, labels)


def test_forms_of_input_agree():
    dicts, labels = sentences()
    reference = CRF(tol=1e-8).fit(dicts, labels)
    new, _ = sentences(20, seed=1)
    expected = reference.predict(new)
    column = TokenColumn.of(labels)
    model = CRF(tol=1e-8).fit(X, column)
    assert model.predict(new) == expected
    bare = CRF(tol=1e-8).fit((X.matrix, X.lengths), labels)
    dense = [X.matrix[a:b].toarray() for a, b in zip(X.offsets[:-1], X.offsets[1:], strict=True)]
    assert bare.predict(dense) == reference.predict(dicts)
    assert bare.attributes_ is None
    assert model.attributes_[0] == "bias"


def test_threads_and_pickling_change_nothing():
    one = CRF(n_jobs=1, random_state=0).fit(X, Y)
    two = CRF(n_jobs=2, random_state=0).fit(X, Y)
    np.testing.assert_array_equal(one.coef_, two.coef_)
    again = pickle.loads(pickle.dumps(one))
    assert again.predict(X) == one.predict(X)
    assert "CRF(" in repr(clone(one))


def test_scikit_learn_can_search():
    dicts, labels = sentences(40)
    search = GridSearchCV(CRF(max_iter=300), {"C": [0.01, 1.0]}, cv=3).fit(dicts, labels)
    assert search.best_score_ > 0.8
    assert search.best_params_["C"] == 1.0
    assert cross_val_score(CRF(), X, Y, cv=3).min() > 0.8


def test_early_stopping_keeps_the_best_weights():
    X, y = sentences(80)
    model = CRF(C=100.0, early_stopping=True, n_iter_no_change=3, random_state=0, tol=1e-12)
    model.fit(X, y)
    scores = model.solution_.trace.held_out
    assert np.isfinite(scores).all()
    assert model.solution_.stopped in (StopReason.HELD_OUT, StopReason.CONVERGED)
    new, labels = sentences(40, seed=3)
    watched = CRF(early_stopping=True, random_state=0).fit(X, y, validation=(new, labels))
    best = watched.solution_.trace.held_out.max()
    assert watched.score(new, labels) == pytest.approx(best)
    with pytest.raises(DataError, match="too few"):
        CRF(early_stopping=True).fit(X[:1], y[:1])


@pytest.mark.parametrize("solver", ["dual", "lbfgs"])
@pytest.mark.parametrize("calls", [1, 4])
def test_an_interrupt_keeps_the_weights_so_far(solver, calls, monkeypatch):
    from separatrix.learners.structured import held_out

    seen = []

    def measure(y, found):
        seen.append(1)
        if len(seen) == calls:
            raise KeyboardInterrupt
        return token_accuracy(y, found)

    monkeypatch.setattr(held_out, "token_accuracy", measure)
    model = CRF(C=10.0, tol=1e-12, solver=solver, on_interrupt="keep", random_state=0)
    model.fit(X, Y, validation=(X, Y))
    assert model.solution_.stopped is StopReason.INTERRUPTED
    assert len(seen) == calls
    assert np.isfinite(model.coef_).all()
    assert calls == 1 or model.score(X, Y) > 0.8
    seen.clear()
    with pytest.raises(KeyboardInterrupt):
        model.set_params(on_interrupt="raise").fit(X, Y, validation=(X, Y))
    assert hasattr(model, "coef_")


def test_warm_start_goes_on():
    model = CRF(warm_start=True, tol=1e-9, solver="lbfgs").fit(X, Y)
    passes = model.solution_.n_passes
    model.fit(X, Y)
    assert model.solution_.n_passes < passes


@pytest.mark.parametrize("order", [1, 2])
def test_a_warm_start_grows(order):
    words = [["the", "cat", "runs"], ["a", "cat", "sleeps", "now"], ["the", "dog", "runs"]]
    tags = [["D", "N", "V"], ["D", "N", "V", "A"], ["D", "N", "V"]]
    few = [[[word] for word in row] for row in words[::2]]
    more = [[[word] for word in row] for row in words]
    options = {"tol": 1e-10, "solver": "lbfgs"}
    model = CRF(Chain(order=order), warm_start=True, **options).fit(few, tags[::2])
    first, old = model.coef_.copy(), model.features_
    start = old.moved(first, CRF(Chain(order=order)).fit(more, tags).features_, np.array([1, 2, 3]))
    fresh = CRF(Chain(order=order), **options).fit(more, tags)
    assert np.count_nonzero(start) == np.count_nonzero(first)
    warm = model.fit(more, tags)
    np.testing.assert_allclose(warm.coef_, fresh.coef_, atol=1e-4)
    assert warm.classes_.tolist() == ["A", "D", "N", "V"]
    # The weights of the last fit score its sequences as they did.
    given = fresh.features_.scores(start, Chain().read(few, fresh.features_))
    before = old.scores(first, Chain().read(few, old))
    np.testing.assert_allclose(given.nodes[:, 1:], before.nodes, atol=1e-12)
    again = warm.fit(few, tags[::2])
    assert again.classes_.tolist() == ["D", "N", "V"]
    np.testing.assert_allclose(
        again.coef_, CRF(Chain(order=order), **options).fit(few, tags[::2]).coef_, atol=1e-4
    )


def test_extremes():
    single = CRF().fit([[["a"], ["b"]], []], [["only", "only"], []])
    assert single.predict([[["a"], ["new"]], []]) == [["only", "only"], []]
    model = CRF().fit(X, Y)
    assert model.predict([]) == []
    assert model.predict([[]]) == [[]]
    assert model.predict_proba([[]])[0].shape == (0, 3)
    long = [X[0] * 12_000]
    assert len(model.predict(long)[0]) == len(X[0]) * 12_000
    np.testing.assert_allclose(model.predict_proba(long)[0].sum(axis=1), 1.0, atol=1e-6)
    model.coef_ = model.coef_ * 1e3
    assert np.isfinite(model.log_likelihood(X, Y)).all()
    huge = AttributeSequences(X.matrix * np.float32(1000), X.vocabulary, X.offsets)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        fitted = CRF(max_iter=30).fit(huge, Y)
    assert np.isfinite(fitted.coef_).all()


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        ([[["a"]]], [["A", "B"]], "sequence 0 has 1 tokens, but 2 labels"),
        ([[["a"]]], [["A"], ["B"]], "X has 1 sequences, y has 2"),
        ([[["a"]]], ["A"], "the labels of sequence 0 are 'A'"),
        ([[["a"]]], None, "the target y is None"),
        ([], [], "0 sample"),
        ([[["a"], ["b"]]], [["A", 1]], "labels of different types"),
        (
            [[["a"]], [{"b": 1, "c": float("nan")}]],
            [["A"], ["B"]],
            "NaN at sequence 1, token 0, attribute 'c'",
        ),
    ],
)
def test_bad_input_is_named(X, y, message):
    with pytest.raises(DataError, match=message):
        CRF().fit(X, y)


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"C": 0.0}, ParameterError),
        ({"structure": "tree"}, ParameterError),
        ({"penalty": "l3"}, ParameterError),
        ({"structure": Chain(order=3)}, ParameterError),
        ({"solver": "magic"}, ParameterError),
        ({"solver": "dual", "penalty": "l1"}, SolverError),
        ({"solver": "lbfgs", "penalty": "l1"}, SolverError),
        ({"structure": Chain(transitions="none")}, ParameterError),
    ],
)
def test_bad_parameters_are_named(options, error):
    with pytest.raises(error):
        CRF(**options).fit(X, Y)


def test_unknown_labels_in_a_score_are_named():
    model = CRF().fit(X, Y)
    with pytest.raises(DataError, match="label 'Z' of token 1 of sequence 0"):
        model.log_likelihood([[["a"], ["b"]]], [["O", "Z"]])
    assert token_accuracy(Y, model.predict(X)) > 0.9


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("learner", [CRF, StructuredPerceptron, StructuredSVM])
def test_a_shifted_label_scores_more_once_per_token(learner, order):
    """The score of a labelling grows by the amount times its number of such labels, no other."""
    X = [[["a"], ["b"], ["a", "c"]], [["c"]], [["b"], ["b"]]]
    y = [["O", "B", "I"], ["O"], ["B", "O"]]
    plain = learner(Chain(order=order)).fit(X, y)
    moved = plain.shifted("O", -1.5)
    for labels in (y, [["O", "O", "O"], ["O"], ["O", "O"]], [["B", "B", "I"], ["I"], ["B", "I"]]):
        counts = np.array([row.count("O") for row in labels])
        change = moved.decision_function(X, labels) - plain.decision_function(X, labels)
        np.testing.assert_allclose(change, -1.5 * counts, atol=1e-12)
    assert plain.shifted("O", 99.0).predict(X) == [["O", "O", "O"], ["O"], ["O", "O"]]
    with pytest.raises(ParameterError, match="no label 'X'"):
        plain.shifted("X", 1.0)
    with pytest.raises(ParameterError, match="amount"):
        plain.shifted("O", float("nan"))


def test_labels_are_shifted_where_all_transitions_have_weights():
    X, y = [[["a"], ["b"]]], [["O", "B"]]
    with pytest.raises(ParameterError, match="boundaries"):
        CRF(Chain(boundaries=False)).fit(X, y).shifted("O", 1.0)
    with pytest.raises(ParameterError, match="transitions"):
        CRF(Chain(transitions="observed")).fit(X, y).shifted("O", 1.0)


def test_logs_of_marginals_and_of_labellings():
    X, y = [[["a"], ["b"]], [["b"]]], [["A", "B"], ["B"]]
    model = CRF().fit(X, y)
    for logs, marginals in zip(model.predict_log_proba(X), model.predict_proba(X), strict=True):
        np.testing.assert_allclose(np.exp(logs), marginals)
    # A sequence of one token: its labelling is its label.
    alone = model.predict_log_proba(X)[1][0, list(model.classes_).index("B")]
    assert model.log_likelihood(X, y)[1] == pytest.approx(alone)
