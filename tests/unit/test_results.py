import numpy as np
import pytest

from separatrix.results import Monitor, StopReason


def weights():
    return np.zeros((1, 1))


def test_monitor_stops_on_the_gap_or_the_budget():
    monitor = Monitor(tol=1e-2, max_passes=3)
    assert monitor.record(1, 100.0, 5.0, weights) is None
    assert monitor.record(2, 100.0, 1.0, weights) is StopReason.CONVERGED
    assert monitor.record(3, 100.0, 5.0, weights) is StopReason.BUDGET
    assert monitor.record(3, 0.5, 0.01, weights) is StopReason.CONVERGED  # tol * max(1, |P|)


def test_monitor_keeps_a_trace_with_the_held_out_score():
    seen = []
    monitor = Monitor(tol=0, max_passes=9, report=seen.append, score=lambda w: float(w.sum()) + 0.5)
    monitor.record(1, 2.0, 3.0, weights)
    monitor.record(2.5, 1.0, 2.0, weights)
    trace = monitor.trace
    assert seen == trace.rows
    np.testing.assert_array_equal(trace.n_passes, [1, 2.5])
    np.testing.assert_array_equal(trace.objective, [2, 1])
    np.testing.assert_array_equal(trace.held_out, [0.5, 0.5])
    with pytest.raises(AttributeError):
        trace.nothing  # noqa: B018


def test_nan_is_never_converged():
    assert Monitor(tol=1.0, max_passes=5).record(1, float("nan"), float("nan"), weights) is None
