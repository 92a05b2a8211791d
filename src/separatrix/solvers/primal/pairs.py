"""The memory of L-BFGS: past steps and changes of the gradient as an inverse Hessian."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from separatrix.protocols import Array
from separatrix.solvers.points import Point

__all__ = ["Pairs"]

#: Entries of the vectors that are scaled at a time.
_CHUNK = 1 << 14


class Pairs:
    """The last steps s and changes of the gradient y, as an approximate inverse Hessian.

    The two-loop recursion of Nocedal (1980); the inner matrix is the preconditioner or, without
    one, s'y / y'y of the last pair. Without a preconditioner the loops run over inner products of
    all vectors (Chen, Wang & Zhou 2014): one product with all s and y, and one sum of them, in
    place of four passes over each.

    Examples
    --------
    >>> pairs = Pairs(5)
    >>> start = Point(np.array([[1.0], [0.0]]), 1.0, np.array([[2.0], [0.0]]))
    >>> pairs.add(start, Point(np.array([[0.0], [0.0]]), 0.0, np.array([[0.0], [0.0]])))
    >>> pairs(np.array([[2.0], [4.0]])).ravel()
    array([1., 2.])
    """

    def __init__(self, memory: int) -> None:
        self._memory = memory
        self.inner: Callable[[Array], Array] | None = None
        # Numbers of the rows below, the oldest pair first; one row more than pairs is for the next.
        self._order: list[int] = []
        self._steps: Array = np.empty((0, 0))
        self._changes: Array = np.empty((0, 0))
        size = memory + 1
        self._products = np.zeros(size)
        #: s_i'y_j for a pair j that is newer than pair i, and y_i'y_j.
        self._cross = np.zeros((size, size))
        self._gram = np.zeros((size, size))
        # A gradient, and its products with all s and y.
        self._seen: tuple[Array, Array, Array] | None = None

    def __len__(self) -> int:
        return len(self._order)

    def clear(self) -> None:
        """Forget all pairs."""
        self._order.clear()
        self._seen = None

    def _with_all(self, vector: Array) -> tuple[Array, Array]:
        """Products of a vector with all s and with all y."""
        if self._seen is not None and self._seen[0] is vector:
            return self._seen[1:]
        used, flat = max(self._order) + 1, vector.reshape(-1)
        with_steps: Any = np.zeros(self._memory + 1)
        with_changes: Any = np.zeros(self._memory + 1)
        with_steps[:used] = self._steps[:used] @ flat
        with_changes[:used] = self._changes[:used] @ flat
        return with_steps, with_changes

    def add(self, before: Point, after: Point) -> None:
        """Remember a step, unless the curvature along it is not positive."""
        if len(self._steps) == 0:
            # Rows that are not used yet take no memory.
            self._steps = np.empty((self._memory + 1, before.w.size))
            self._changes = np.empty((self._memory + 1, before.w.size))
        row = next(i for i in range(self._memory + 1) if i not in self._order)
        s, y = self._steps[row], self._changes[row]
        np.subtract(after.w.reshape(-1), before.w.reshape(-1), out=s)
        np.subtract(after.grad.reshape(-1), before.grad.reshape(-1), out=y)
        product, squares = float(np.vdot(s, y)), float(np.vdot(y, y))
        if not product > 1e-12 * float(np.linalg.norm(s)) * np.sqrt(squares):
            s.fill(0.0)  # the row stays among those that are multiplied by zero
            y.fill(0.0)
            return
        if self.inner is None:
            self._extend(row, before.grad, after.grad, squares)
        self._products[row] = product
        self._order.append(row)
        if len(self._order) > self._memory:
            self._order.pop(0)

    def _extend(self, row: int, before: Array, after: Array, squares: float) -> None:
        """Inner products of the pair in `row` with the others, from those of the gradients."""
        with_steps: Any = np.zeros(self._memory + 1)
        with_changes: Any = np.zeros(self._memory + 1)
        if self._order:
            with_steps, with_changes = self._with_all(after)
            old_steps, old_changes = self._with_all(before)
            self._cross[:, row] = with_steps - old_steps
            self._gram[:, row] = self._gram[row] = with_changes - old_changes
        self._gram[row, row] = squares
        with_steps[row] = float(np.vdot(self._steps[row], after))
        with_changes[row] = float(np.vdot(self._changes[row], after))
        self._seen = after, with_steps, with_changes

    def __call__(self, grad: Array) -> Array:
        """The approximate inverse Hessian times `grad`."""
        if self.inner is not None:
            return self._loops(grad, self.inner)
        if not self._order:
            return grad.copy()
        with_steps, with_changes = self._with_all(grad)
        newest = self._order[-1]
        scale = float(self._products[newest] / self._gram[newest, newest])
        shares = np.zeros(self._memory + 1)
        for i in reversed(self._order):
            shares[i] = (with_steps[i] - self._cross[i] @ shares) / self._products[i]
        inner = scale * (with_changes - self._gram @ shares)
        steps = np.zeros(self._memory + 1)
        for i in self._order:
            steps[i] = shares[i] - (inner[i] + steps @ self._cross[:, i]) / self._products[i]
        used = max(self._order) + 1
        result: Any = steps[:used] @ self._steps[:used]
        result -= (scale * shares[:used]) @ self._changes[:used]
        result += scale * grad.reshape(-1)
        direction: Array = result.reshape(grad.shape)
        return direction

    def flattest(self, grad: Array, scale: Array | None = None) -> tuple[Array, float]:
        """The step s along the pairs after which the gradient should be shortest, and its length.

        On a quadratic the gradient changes by a sum of the y as w changes by that of the s. Where
        gradients do not get shorter for k steps, as those of conjugate directions do not, it is
        shorter by the root of k (Weiss 1994, residual smoothing).

        With `scale`, entries of all s are multiplied by it and those of all y divided; where it is
        zero, both are zero.
        """
        rows, used, flat = self._order, max(self._order) + 1, grad.reshape(-1)
        steps, changes = self._steps[:used], self._changes[:used]
        # 1 / scale, zero where that is zero: copies of all vectors would take as much memory again.
        inverse = None
        if scale is not None:
            factor = scale.reshape(-1)
            inverse = np.divide(1.0, factor, out=np.zeros_like(factor), where=factor != 0)
        if self.inner is None and inverse is None:
            gram = self._gram[np.ix_(rows, rows)]
        else:
            gram = np.zeros((used, used))
            for at in range(0, len(flat), _CHUNK):
                part = changes[:, at : at + _CHUNK]
                if inverse is not None:
                    part = part * inverse[at : at + _CHUNK]
                gram += part @ part.T
            gram = gram[np.ix_(rows, rows)]
        unit = 1.0 / np.sqrt(np.maximum(np.diagonal(gram), 1e-300))
        scaled = flat if inverse is None else flat * inverse
        with_changes = (changes @ scaled)[rows] * unit
        found = np.linalg.lstsq(gram * unit * unit[:, None], -with_changes, rcond=1e-12)[0]
        shares = np.zeros(used)
        shares[rows] = found * unit
        change: Any = shares @ changes
        step: Any = shares @ steps
        if inverse is not None:
            change *= inverse
            step *= factor
        left = flat + change
        return step.reshape(grad.shape), float(np.linalg.norm(left))

    def _loops(self, grad: Array, inner: Callable[[Array], Array]) -> Array:
        """The recursion with a preconditioner."""
        q = grad.copy()
        shares = {}
        for i in reversed(self._order):
            shares[i] = float(np.vdot(self._steps[i], q)) / self._products[i]
            q -= shares[i] * self._changes[i].reshape(q.shape)
        q = inner(q)
        for i in self._order:
            share = shares[i] - float(np.vdot(self._changes[i], q)) / self._products[i]
            q += share * self._steps[i].reshape(q.shape)
        return q
