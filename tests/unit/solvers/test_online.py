"""Online runs against the formulas of the notes, written plainly."""

import numpy as np
import pytest
import scipy.sparse as sp

from separatrix._core import Csr, vote_shares
from separatrix.errors import DataError
from separatrix.results import Monitor, StopReason
from separatrix.solvers.online.flat import OnlineLearner
from separatrix.structures.labels import make_design

RNG = np.random.default_rng(0)


def run(X, y, K, rule="perceptron", step=1.0, averaging="none", passes=5, seed=None, **rest):
    k = 1 if K == 2 else K
    start = rest.pop("start", np.zeros((X.shape[1] + 1, k), dtype=X.dtype))
    learner = OnlineLearner(rule, step, averaging, seed)
    design = rest.pop("design", None) or make_design(X, 1)
    weights = rest.pop("weights", None)
    monitor = Monitor(tol=0.0, max_passes=passes)
    return learner.run(design, y, weights, K, start=start, monitor=monitor, **rest)


def plain(X, y, K, rule, step, passes, weights=None):
    """The multiclass rules of seed 003, one vector per class; all weights after each row."""
    F = np.hstack([X, np.ones((len(X), 1))])
    W, history, mistakes = np.zeros((K, F.shape[1])), [], []
    for _ in range(passes):
        wrong = 0
        for i, f in enumerate(F):
            c = 1.0 if weights is None else weights[i]
            if c == 0:
                continue
            s = W @ f
            others = np.delete(np.arange(K), y[i])
            k = others[s[others].argmax()]
            if s[k] >= s[y[i]]:
                wrong += 1
                tau = step * c
                if rule == "mira":
                    tau = min((s[k] - s[y[i]] + 1) / (2 * f @ f), tau)
                W[y[i]] += tau * f
                W[k] -= tau * f
            history.append(W.copy())
        mistakes.append(wrong)
        if wrong == 0:
            break
    return W, history, mistakes


@pytest.mark.parametrize("rule", ["perceptron", "mira"])
@pytest.mark.parametrize("weighted", [False, True])
def test_many_classes_follow_the_notes(rule, weighted):
    X, y = RNG.normal(size=(60, 4)), RNG.integers(0, 3, 60)
    c = RNG.integers(0, 3, 60) / 2 if weighted else None
    W, history, mistakes = plain(X, y, 3, rule, 0.3, 6, c)
    found = run(X, y, 3, rule, 0.3, passes=6, weights=c)
    np.testing.assert_allclose(found.weights, W.T, atol=1e-12)
    assert found.mistakes.tolist() == mistakes
    average = run(X, y, 3, rule, 0.3, "average", passes=6, weights=c)
    np.testing.assert_allclose(average.solution.w, np.mean(history, axis=0).T, atol=1e-12)


@pytest.mark.parametrize("rule", ["perceptron", "mira"])
def test_two_classes_are_the_two_class_case(rule):
    X, y = RNG.normal(size=(80, 3)), RNG.integers(0, 2, 80)
    W, _, mistakes = plain(X, y, 2, rule, 0.3, 6)
    # One vector w = w_1 - w_0: a perceptron's rate is doubled on it, MIRA's cap by itself.
    found = run(X, y, 2, rule, 0.6 if rule == "perceptron" else 0.3, passes=6)
    np.testing.assert_allclose(found.weights[:, 0], W[1] - W[0], atol=1e-12)
    assert found.mistakes.tolist() == mistakes


def test_the_perceptron_with_two_classes_ignores_its_rate():
    X, y = RNG.normal(size=(80, 3)), RNG.integers(0, 2, 80)
    one, other = run(X, y, 2, step=1.0), run(X, y, 2, step=0.25)
    np.testing.assert_allclose(one.weights, 4 * other.weights, atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("K", [2, 3])
def test_sparse_borrowed_and_dense_rows_agree(dtype, K):
    X = np.where(RNG.random((70, 12)) < 0.4, RNG.normal(size=(70, 12)), 0).astype(dtype)
    y = RNG.integers(0, K, 70)
    S = sp.csr_array(X)
    results = [
        run(X, y, K, "mira", averaging="average", seed=1, design=design)
        for design in (
            make_design(X, 1),
            make_design(S, 2),
            Csr(S.indptr, S.indices, S.data, 12),
            Csr(S.indptr.astype(np.int64), S.indices.astype(np.int64), S.data, 12),
        )
    ]
    tolerance = 1e-4 if dtype == np.float32 else 1e-12
    for other in results[1:]:
        assert other.solution.w.dtype == dtype
        np.testing.assert_allclose(other.solution.w, results[0].solution.w, atol=tolerance)


def test_shuffles_depend_on_the_seed_and_on_nothing_else():
    X, y = RNG.normal(size=(50, 3)), RNG.integers(0, 3, 50)
    a, b, c = (run(X, y, 3, seed=s).weights for s in (1, 1, 2))
    np.testing.assert_array_equal(a, b)
    assert not np.array_equal(a, c)


def test_averaging_goes_on_where_it_stopped():
    X, y = RNG.normal(size=(50, 3)), RNG.integers(0, 3, 50)
    whole = run(X, y, 3, averaging="average", passes=2)
    first = run(X, y, 3, averaging="average", passes=1)
    rest = {"start": first.weights, "average": first.solution.w, "seen": first.seen}
    second = run(X, y, 3, averaging="average", passes=1, **rest)
    np.testing.assert_allclose(second.solution.w, whole.solution.w, atol=1e-12)
    assert second.seen == 100


def test_the_log_tells_every_weight_vector():
    X, y = RNG.normal(size=(40, 2)), RNG.integers(0, 3, 40)
    _, history, _ = plain(X, y, 3, "mira", 0.5, 3)
    log = run(X, y, 3, "mira", 0.5, "vote", passes=3).log
    assert log.survived.sum() + log.start_survived == len(history)
    points = RNG.normal(size=(9, 2))
    expected = np.zeros((9, 3))
    for W in history:
        expected[np.arange(9), (np.c_[points, np.ones(9)] @ W.T).argmax(axis=1)] += 1
    gram = points @ X.T + 1
    shares = vote_shares(np.zeros((9, 3)), gram, *log, 3, 2)
    np.testing.assert_allclose(shares, expected / len(history), atol=1e-12)


def test_it_stops_at_the_first_pass_without_mistakes():
    X = np.array([[1.0, 1], [1, 0], [0, 1], [0, 0]])
    result = run(X, np.array([1, 0, 0, 0]), 2, passes=100)
    assert result.solution.stopped is StopReason.CONVERGED
    assert result.mistakes[-1] == 0
    assert (result.mistakes[:-1] > 0).all()
    xor = run(X, np.array([0, 1, 1, 0]), 2, passes=30)
    assert xor.solution.stopped is StopReason.BUDGET
    assert xor.separation is None


def test_wrong_calls_are_errors():
    X, y = np.eye(3), np.array([0, 1, 2])
    with pytest.raises(DataError, match="class number"):
        run(X, y, 2)
    with pytest.raises(DataError, match="weights"):
        run(X, y, 3, start=np.zeros((9, 3)))
    with pytest.raises(DataError, match="rate"):
        run(X, y, 3, step=-1.0)
    with pytest.raises(DataError, match="rule"):
        run(X, y, 3, rule="other")


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("seed", [None, 3])
@pytest.mark.parametrize("weight", [0.0, 1.0])
def test_bad_cells_are_named_on_the_way(index, dtype, K, seed, weight):
    n, d, per_row = 40, 50, 30
    columns = np.concatenate([RNG.permutation(d)[:per_row] for _ in range(n)]).astype(index)
    values = RNG.normal(size=n * per_row).astype(dtype)
    starts = np.arange(0, n * per_row + 1, per_row, dtype=index)
    weights = np.ones(n)
    weights[[7, 30]] = weight
    bad = [7 * per_row + 20, 30 * per_row]
    column = columns[bad[0]]

    def run_on(columns, values):
        design = Csr(starts, columns, values, d)
        y = np.arange(n) % K
        run(np.empty((n, d), dtype), y, K, seed=seed, design=design, weights=weights)

    for value, name in ((np.nan, "NaN"), (np.inf, "infinity"), (-np.inf, "infinity")):
        wrong = values.copy()
        wrong[bad] = value
        with pytest.raises(DataError, match=f"contains {name} at row 7, column {column}"):
            run_on(columns, wrong)
    for outside in (d, -1, 2**31 - 1):
        wrong = columns.copy()
        wrong[bad] = outside
        with pytest.raises(DataError, match=f"column index {outside} in row 7 is outside 0..50"):
            run_on(wrong, values)
    run_on(columns, values)


def test_repeated_columns_add_up_in_steps_and_norms():
    n, d = 60, 9
    rows = RNG.normal(size=(n, d))
    y = RNG.integers(0, 2, n)
    twice = np.hstack([0.25 * rows, 0.75 * rows[:, ::-1]])
    columns = np.tile(np.r_[np.arange(d), np.arange(d)[::-1]], n).astype(np.int32)
    starts = np.arange(0, n * 2 * d + 1, 2 * d, dtype=np.int32)
    view = Csr(starts, columns, twice.ravel(), d)
    expected = run(rows, y, 2, "mira", averaging="average", seed=1)
    found = run(rows, y, 2, "mira", averaging="average", seed=1, design=view)
    np.testing.assert_allclose(found.solution.w, expected.solution.w, atol=1e-10)
    y = (rows[:, 0] > 0).astype(np.int64)
    expected = run(rows, y, 2, "perceptron", passes=500)
    found = run(rows, y, 2, "perceptron", passes=500, design=view)
    assert found.separation.radius == pytest.approx(expected.separation.radius)


def test_malformed_views_are_errors():
    with pytest.raises(DataError, match="row pointer"):
        Csr(np.array([0, 2, 1]), np.array([0]), np.array([1.0]), 3)
    with pytest.raises(DataError, match="indices"):
        Csr(np.array([0, 1]), np.array([0, 1]), np.array([1.0]), 3)
