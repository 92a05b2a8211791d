"""The tightness benchmark: what it times, what it divides, and that it sees false certificates."""

import math
import time

import numpy as np
import pytest
from benchmarks import tightness
from benchmarks.tightness import Problem, Rows, Run, Seen, Watch, measure

from separatrix.results import Monitor, Solution, StopReason, Trace, TraceRow
from separatrix.solvers import make_solver


@pytest.fixture(scope="module")
def rows():
    random = np.random.default_rng(0)
    X = random.normal(size=(80, 3))
    return Rows(X, X[:, 0] + random.normal(size=80) > 0)


def made_run(values, *, passes, seconds, stopped=StopReason.CONVERGED):
    trace = Trace([TraceRow(float(i + 1), v, 0.0, 0.0, v) for i, v in enumerate(values)])
    solution = Solution(
        np.zeros((2, 1)), passes, 0.5, stopped, trace, values[-1], "duality gap", "made up"
    )
    seen = tuple(Seen(i + 1.0, i + 1.0, v) for i, v in enumerate(values))
    return Run(solution, seconds, seen, values[-1])


def test_ratios_are_to_stop_over_first_below():
    run = made_run([20.0, 10.0005, 10.0], passes=5.0, seconds=6.0)
    line = tightness._line("s", "logistic", "l2", "newton", 1e-4, run, 10.0)
    assert line.seconds_ratio == 6.0 / 2.0
    assert line.passes_ratio == 5.0 / 2.0
    assert line.true_gap == 0
    assert line.stopped == "converged"


def test_looking_takes_no_time_and_proofs_come_late(rows):
    def slow(w):
        time.sleep(0.02)
        return problem.value(w)

    problem = Problem.of(rows, "logistic", "l2")
    watch = Watch(slow)
    monitor = Monitor(tol=1e-6, max_passes=100, score=watch)
    with watch.over_proofs(problem.objective):
        solution = make_solver("exact_newton", seed=0).minimize(problem.objective, None, monitor)
    seen = watch.seen(solution.trace)
    assert len(watch.proofs) == 1
    assert len(seen) == len(solution.trace) + 1
    assert seen[-1].seconds < 0.02 * len(seen)
    # Every pass of the kernel was seen with its own weights, and the proof with those it proves.
    values = [value for *_, value in seen]
    assert values == sorted(values, reverse=True)
    assert len(set(values)) == len(values) - 1
    assert seen[-2].n_passes == solution.n_passes - 1


def test_false_certificates_are_named_and_have_no_ratio():
    run = made_run([20.0, 11.0], passes=2.0, seconds=2.0)
    line = tightness._line("s", "logistic", "l2", "newton", 1e-4, run, 10.0)
    assert line.stopped == "FALSE"
    assert math.isnan(line.passes_ratio)
    assert "converged above tol: 1" in tightness.summary([line], 1e-4)


def test_runs_out_of_budget_have_no_ratio():
    run = made_run([20.0, 10.0], passes=2.0, seconds=2.0, stopped=StopReason.BUDGET)
    line = tightness._line("s", "logistic", "l2", "newton", 1e-4, run, 10.0)
    assert math.isnan(line.seconds_ratio)
    assert "not converged: 1" in tightness.summary([line], 1e-4)


def test_values_are_those_of_the_objective(rows):
    problem = Problem.of(rows, "squared_hinge", "l2")
    w = np.array([[0.5], [-0.25], [0.0], [0.125]])
    margins = np.where(rows.y, 1, -1) * (rows.X @ w[:-1, 0] + w[-1, 0])
    expected = 0.5 * (w[:-1] ** 2).sum() + (np.maximum(1 - margins, 0) ** 2).sum()
    assert problem.value(w) == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize("loss", ["logistic", "hinge"])
def test_every_solver_that_fits_gets_a_line(rows, loss):
    lines = measure("made up", rows, loss, "l2", tightness.deterministic(), [1e-3], 5.0)
    solvers = {line.solver for line in lines}
    assert {"auto", "dual"} <= solvers
    assert ("newton" in solvers) == (loss == "logistic")
    assert all(line.true_gap >= 0 for line in lines)
