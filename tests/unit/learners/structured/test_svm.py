"""StructuredSVM: solvers reach one optimum, the gap holds, flat problems are LinearSVM."""

import itertools
import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from separatrix import LinearSVM, StructuredSVM
from separatrix.data import AttributeSequences, as_attribute_sequences
from separatrix.errors import ConvergenceWarning, DataError, ParameterError
from separatrix.results import StopReason
from separatrix.solvers.dual.margin import SegmentDualAscent
from separatrix.structures import Chain
from separatrix.structures.coded_labels import encode_tags
from tests.unit.learners.structured.tagging import LABELS, encoded, sentences

SHORT, Y = encoded()
#: In double precision, for tight gaps.
X = AttributeSequences(SHORT.matrix.astype(np.float64), SHORT.vocabulary, SHORT.offsets)
#: Parameters of the structure.
CHAIN = ("order", "state_features", "transitions", "boundaries")
COST = np.array([[0.0, 1.5, 0.5], [1.0, 0.0, 2.0], [0.25, 3.0, 0.0]])


def objective(model, X, y, C, weights=1.0):
    """P(w) from the plain composition."""
    return C * float((weights * model.loss(X, y)).sum()) + 0.5 * float(model.coef_ @ model.coef_)


def fitted(X=X, y=Y, **options):
    of_chain = {name: options.pop(name) for name in CHAIN if name in options}
    options = {"C": 0.5, "tol": 1e-7, "random_state": 0, **options}
    return StructuredSVM(Chain(**of_chain), **options).fit(X, y)


@pytest.mark.parametrize("cost", ["hamming", "hamming_mean", COST])
@pytest.mark.parametrize("order", [1, 2])
def test_the_loss_is_the_maximum_over_all_labellings(cost, order):
    model = fitted(cost=cost, order=order, tol=1e-2)
    few = [i for i in range(len(Y)) if len(Y[i]) <= 4][:8]
    for i in few:
        one, y = X.take(np.array([i])), Y[i]
        own = model.decision_function(one, [y])[0]
        best = -np.inf
        for other in itertools.product(LABELS, repeat=len(y)):
            pairs = [(LABELS.index(a), LABELS.index(b)) for a, b in zip(y, other, strict=True)]
            wrong = [
                COST[pair] if isinstance(cost, np.ndarray) else float(pair[0] != pair[1])
                for pair in pairs
            ]
            delta = sum(wrong) / (len(y) if isinstance(cost, str) and "mean" in cost else 1)
            best = max(best, delta + model.decision_function(one, [list(other)])[0] - own)
        assert model.loss(one, [y])[0] == pytest.approx(best, abs=1e-9)
        assert best >= 0


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"boundaries": False, "transitions": "observed", "C": 0.1},
        {"cost": COST, "state_features": "all"},
        {"cost": "hamming_mean", "C": 1.0},
        {"order": 2},
        {"order": 2, "boundaries": False, "transitions": "observed", "cost": COST},
    ],
)
def test_the_solvers_reach_one_optimum(options):
    exact = fitted(**options)
    C = options.get("C", 0.5)
    assert exact.solution_.stopped is StopReason.CONVERGED
    best = objective(exact, X, Y, C)
    assert exact.solution_.objective == pytest.approx(best, rel=1e-9)
    assert exact.solution_.certificate == "duality gap"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        wolfe = fitted(solver="frank_wolfe", tol=1e-4, max_iter=3000, **options)
        steps = fitted(solver="subgradient", tol=1e-3, max_iter=300, **options)
    for model, near in ((wolfe, 1e-3), (steps, 5e-2)):
        value = objective(model, X, Y, C)
        assert model.solution_.objective == pytest.approx(value, rel=1e-9)
        assert best * (1 - 1e-7) <= value <= best * (1 + near)
        # The gap bounds the distance from the optimum.
        assert model.dual_bound_ <= best * (1 + 1e-9)
        assert value - best <= model.solution_.gap + 1e-9


@pytest.mark.parametrize("solver", ["dual", "frank_wolfe", "subgradient"])
def test_dual_values_stay_below_primal_ones_all_the_way(solver):
    best = fitted().solution_.objective
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = fitted(solver=solver, tol=1e-12, max_iter=40)
    rows = [row for row in model.solution_.trace.rows if np.isfinite(row.gap)]
    assert len(rows) >= 5
    for row in rows:
        assert row.objective - row.gap <= best * (1 + 1e-7)
        assert row.objective >= best * (1 - 1e-7)
    gaps = [row.gap for row in rows]
    assert gaps == sorted(gaps, reverse=True)
    assert gaps[-1] < 0.2 * gaps[0]


@pytest.mark.parametrize("cost", [None, COST])
def test_a_chain_of_length_one_is_the_multiclass_svm(cost):
    random = np.random.default_rng(0)
    rows = random.normal(size=(80, 5))
    labels = (rows @ random.normal(size=(5, 3)) + random.normal(size=(80, 3))).argmax(axis=1)
    one = AttributeSequences.of(rows, np.ones(80, dtype=int))
    chain = StructuredSVM(
        Chain(boundaries=False, state_features="all"),
        C=0.7,
        cost="hamming" if cost is None else cost,
        tol=1e-9,
        random_state=0,
    ).fit(one, [[int(label)] for label in labels])
    flat = LinearSVM(C=0.7, cost=cost, fit_intercept=False, tol=1e-9, max_iter=10_000)
    flat.fit(rows, labels)
    assert chain.solution_.objective == pytest.approx(flat.solution_.objective, rel=1e-6)
    state = chain.coef_[chain.features_.sections["state"]].reshape(5, 3)
    np.testing.assert_allclose(state.T, flat.coef_, atol=1e-3)


def test_weight_two_is_a_sequence_twice():
    twice = np.ones(len(Y))
    twice[:5] = 2.0
    weighted = StructuredSVM(C=0.5, tol=1e-9, random_state=0).fit(X, Y, sample_weight=twice)
    order = np.r_[np.arange(len(Y)), np.arange(5)]
    repeated = fitted(X.take(order), [Y[i] for i in order], tol=1e-9)
    assert weighted.solution_.objective == pytest.approx(repeated.solution_.objective, rel=1e-8)
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-3)
    none = StructuredSVM(C=0.5, tol=1e-7, random_state=0).fit(
        X, Y, sample_weight=(twice > 1).astype(float)
    )
    alone = fitted(X.take(np.arange(5)), Y[:5], tol=1e-9, state_features="all")
    # Features of the sequences left out have weight zero.
    assert none.solution_.objective >= alone.solution_.objective * (1 - 1e-6)


def test_class_and_token_weights_count_by_their_mean():
    weights = {"B-X": 2.0, "I-X": 1.0, "O": 1.0}
    by_label = fitted(class_weight=weights)
    means = np.array([np.mean([weights[label] for label in labels]) for labels in Y])
    by_sequence = StructuredSVM(C=0.5, tol=1e-7, random_state=0).fit(X, Y, sample_weight=means)
    by_token = StructuredSVM(C=0.5, tol=1e-7, random_state=0).fit(
        X, Y, token_weight=[[weights[label] for label in labels] for labels in Y]
    )
    np.testing.assert_array_equal(by_label.coef_, by_sequence.coef_)
    np.testing.assert_array_equal(by_token.coef_, by_sequence.coef_)


@pytest.mark.parametrize("solver", ["dual", "frank_wolfe", "subgradient"])
def test_threads_and_repeats_do_not_change_the_result(solver):
    many, labels = encoded(800, seed=3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        models = [
            fitted(many, labels, solver=solver, tol=1e-3, max_iter=6, n_jobs=jobs)
            for jobs in (1, 2, 3, 1)
        ]
    for model in models[1:]:
        np.testing.assert_array_equal(model.coef_, models[0].coef_)
        assert model.solution_.gap == models[0].solution_.gap


def test_attributes_of_edges_are_learned():
    random = np.random.default_rng(1)
    tokens, edges, y = [], [], []
    for _ in range(60):
        length = int(random.integers(2, 7))
        label = int(random.integers(2))
        labels, row = [label], [{"none": 1.0}]
        for _ in range(length - 1):
            turn = bool(random.integers(2))
            label = label ^ int(turn)
            labels.append(label)
            row.append({"turn": 1.0} if turn else {"stay": 1.0})
        tokens.append([{"start": labels[0] if t == 0 else -1.0} for t in range(length)])
        edges.append(row)
        y.append(labels)
    tokens, edges = as_attribute_sequences(tokens), as_attribute_sequences(edges)
    double = AttributeSequences(
        tokens.matrix.astype(np.float64),
        tokens.vocabulary,
        tokens.offsets,
        edges.matrix.astype(np.float64),
        edges.vocabulary,
    )
    exact = fitted(double, y, C=5.0)
    assert exact.score(double, y) == 1.0
    assert exact.solution_.objective == pytest.approx(objective(exact, double, y, 5.0), rel=1e-9)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        wolfe = fitted(double, y, C=5.0, solver="frank_wolfe", tol=1e-3, max_iter=2000)
    assert wolfe.solution_.objective == pytest.approx(exact.solution_.objective, rel=2e-3)
    with pytest.raises(ParameterError, match="order=1"):
        fitted(double, y, order=2)


def test_a_warm_start_begins_where_the_last_fit_ended():
    model = fitted(warm_start=True)
    value, cold = model.solution_.objective, model.solution_.n_passes
    model.fit(X, Y)
    assert model.solution_.objective <= value * (1 + 1e-12)
    assert model.solution_.n_passes == 1 < cold
    # Another C: the dual variables stay feasible.
    model.set_params(C=0.6, tol=2e-3).fit(X, Y)
    fresh = fitted(C=0.6, tol=2e-3)
    assert model.solution_.objective == pytest.approx(fresh.solution_.objective, rel=4e-3)
    assert model.solution_.n_passes < fresh.solution_.n_passes
    # Other sequences: what does not fit is left out.
    other, labels = encoded(20, seed=9)
    model.set_params(tol=1e-5).fit(other, labels)
    assert model.solution_.objective == pytest.approx(
        fitted(other, labels, C=0.6, tol=1e-5).solution_.objective, rel=2e-5
    )


@pytest.mark.parametrize("solver", ["frank_wolfe", "subgradient"])
def test_a_warm_start_of_the_other_solvers_is_not_worse(solver):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = fitted(solver=solver, warm_start=True, max_iter=20)
        before = model.solution_.objective
        model.set_params(max_iter=1).fit(X, Y)
    assert model.solution_.objective <= before


def test_early_stopping_keeps_the_best_and_progress_tells_the_score(capsys):
    many, labels = encoded(200, seed=5)
    model = fitted(
        many, labels, early_stopping=True, n_iter_no_change=2, tol=1e-12, verbose=2, C=2.0
    )
    assert model.solution_.stopped in (StopReason.HELD_OUT, StopReason.CONVERGED)
    held_out = model.solution_.trace.held_out
    assert np.isfinite(held_out).all()
    assert "held-out score 0." in capsys.readouterr().out
    new, truth = encoded(50, seed=6)
    scored = StructuredSVM(random_state=0, scoring="chunk_f1", max_iter=50).fit(
        many, labels, validation=(new, truth)
    )
    from separatrix.metrics import chunk_f1

    assert scored.solution_.trace.held_out[-1] == pytest.approx(
        chunk_f1(truth, scored.predict(new))
    )


def test_merged_and_single_precision_data_give_the_same_optimum():
    single = fitted(SHORT, tol=1e-5)
    assert single.solution_.objective == pytest.approx(fitted().solution_.objective, rel=1e-5)
    doubled = [[{**token, "again": token["word"]} for token in tokens] for tokens in sentences()[0]]
    merged = fitted(doubled, tol=1e-5)
    names = merged.attributes_
    state = merged.coef_[merged.features_.sections["state"]]
    starts = merged.features_.state.starts
    for name in ("o1", "b2", "i3"):
        a, b = names.index(f"word:{name}"), names.index(f"again:{name}")
        np.testing.assert_allclose(
            state[starts[a] : starts[a + 1]], state[starts[b] : starts[b + 1]], atol=1e-12
        )


def test_empty_sequences_one_label_and_hopeless_data():
    one = StructuredSVM().fit([[["a"]], []], [["A"], []])
    assert one.predict([[["b"], ["a"]]]) == [["A", "A"]]
    assert one.solution_.objective == 0.0
    same = StructuredSVM(C=1.0).fit([[["a"]], [["a"]]], [["A"], ["B"]])
    # No weights can tell the two apart: one mistake each way, loss one each.
    assert same.solution_.objective == pytest.approx(2.0, rel=1e-3)


def test_bad_parameters_are_named():
    for options, words in (
        ({"cost": "zero_one"}, "cost must be one of"),
        ({"cost": None}, "got None"),
        ({"cost": np.ones((3, 3))}, "a right answer must cost nothing"),
        ({"cost": 1 - np.eye(2)}, "3 classes"),
        ({"solver": "newton"}, "solver must be one of"),
        ({"solver": 3}, "protocols.Solver"),
        ({"C": -1.0}, "C must be"),
        ({"structure": Chain(order=3)}, "order must be"),
        ({"structure": "tree"}, "structure must be"),
    ):
        with pytest.raises(ParameterError, match=words):
            StructuredSVM(**options).fit(X, Y)
    with pytest.raises(DataError, match="only models of partially labeled"):
        StructuredSVM().fit([[["a"], ["b"]]], [["A", None]])
    with pytest.warns(ConvergenceWarning, match="relative gap"):
        StructuredSVM(max_iter=2, tol=1e-9).fit(X, Y)


def test_it_lives_with_scikit_learn():
    tokens, labels = sentences(40)
    model = clone(StructuredSVM(C=0.3, random_state=1)).fit(tokens, labels)
    again = pickle.loads(pickle.dumps(model))
    assert again.predict(tokens) == model.predict(tokens)
    grid = GridSearchCV(StructuredSVM(random_state=0), {"C": [0.01, 1.0]}, cv=3)
    assert grid.fit(tokens, labels).best_score_ > 0.7


def test_an_interrupted_fit_keeps_what_it_has():
    class Stopping:
        needs = frozenset({"chain_margin"})

        def minimize(self, objective, w0, monitor):
            record = monitor.record

            def interrupt(n_passes, *rest):
                result = record(n_passes, *rest)
                if n_passes >= 6:
                    raise KeyboardInterrupt
                return result

            monitor.record = interrupt
            return SegmentDualAscent(seed=0).minimize(objective, w0, monitor)

    model = fitted(solver=Stopping(), on_interrupt="keep", tol=1e-12)
    assert model.solution_.stopped is StopReason.INTERRUPTED
    assert model.score(X, Y) > 0.8
    assert encode_tags(Y, X.offsets).classes.tolist() == model.classes_.tolist()
    with pytest.raises(KeyboardInterrupt):
        fitted(solver=Stopping(), tol=1e-12)
