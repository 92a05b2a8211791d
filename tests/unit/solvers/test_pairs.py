"""The memory of L-BFGS: the two forms of its recursion."""

import numpy as np
import pytest

from separatrix.solvers.points import Point
from separatrix.solvers.primal.pairs import Pairs


def plain_recursion(kept, grad, inner=None):
    """Nocedal's two loops over pairs (s, y), the oldest first."""
    q, shares = grad.copy(), []
    for s, y in reversed(kept):
        shares.append(np.vdot(s, q) / np.vdot(s, y))
        q -= shares[-1] * y
    if inner is not None:
        q = inner(q)
    elif kept:
        s, y = kept[-1]
        q *= np.vdot(s, y) / np.vdot(y, y)
    for (s, y), share in zip(kept, reversed(shares), strict=True):
        q += (share - np.vdot(y, q) / np.vdot(s, y)) * s
    return q


@pytest.mark.parametrize("preconditioned", [False, True])
def test_inner_products_give_the_plain_recursion(preconditioned):
    rng = np.random.default_rng(0)
    d, memory = 30, 4
    A = rng.normal(size=(d, d))
    A = A @ A.T + np.eye(d)
    inner = (lambda q: q / np.diag(A)[:, None]) if preconditioned else None
    pairs, kept = Pairs(memory), []
    pairs.inner = inner
    w = rng.normal(size=(d, 2))
    point = Point(w, 0.0, A @ w)
    for _ in range(3 * memory):
        direction = pairs(point.grad)
        np.testing.assert_allclose(
            direction, plain_recursion(kept, point.grad, inner), rtol=1e-9, atol=1e-9
        )
        other = rng.normal(size=(d, 2))
        np.testing.assert_allclose(
            pairs(other), plain_recursion(kept, other, inner), rtol=1e-9, atol=1e-9
        )
        w = point.w - 0.01 * direction + 1e-3 * rng.normal(size=w.shape)
        after = Point(w, 0.0, A @ w)
        pairs.add(point, after)
        kept = [*kept, (after.w - point.w, after.grad - point.grad)][-memory:]
        point = after
    assert len(pairs) == memory


def test_a_step_without_curvature_is_not_remembered():
    pairs = Pairs(3)
    before = Point(np.array([[1.0], [0.0]]), 0.0, np.array([[1.0], [1.0]]))
    pairs.add(before, Point(np.array([[0.0], [0.0]]), 0.0, np.array([[np.inf], [1.0]])))
    pairs.add(before, Point(np.array([[0.0], [0.0]]), 0.0, np.array([[2.0], [1.0]])))
    assert len(pairs) == 0
    pairs.add(before, Point(np.array([[0.0], [0.0]]), 0.0, np.array([[0.5], [1.0]])))
    assert len(pairs) == 1
    np.testing.assert_allclose(pairs(np.array([[1.0], [1.0]])), [[2.0], [2.0]])
    pairs.clear()
    assert len(pairs) == 0
