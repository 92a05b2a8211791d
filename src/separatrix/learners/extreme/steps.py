"""Adam's steps for the rows of a large matrix, some or all of them at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Adam"]

Floats = npt.NDArray[np.float32]

_FIRST, _SECOND, _TINY = 0.9, 0.999, 1e-12


class Adam:
    """Weights, intercepts and running moments of their gradients, in single precision.

    Moments and their corrections are those of Kingma & Ba (2015), counted for each row on its own,
    so that a row that is seldom chosen moves as one that is always chosen does; rates fall
    linearly to zero.

    Parameters
    ----------
    shape : (int, int)
        Rows (classes) and columns (features).
    rate : float
        First rate.
    n_steps : int
        Steps after which the rate is zero.

    Examples
    --------
    >>> steps = Adam((2, 1), 0.5, 2)
    >>> steps.move(slice(None), np.ones((2, 1), np.float32), np.zeros(2, np.float32))
    >>> steps.weights.ravel().round(3).tolist()
    [-0.5, -0.5]
    """

    def __init__(self, shape: tuple[int, int], rate: float, n_steps: int) -> None:
        self.weights: Floats = np.zeros(shape, dtype=np.float32)
        self.intercepts: Floats = np.zeros(shape[0], dtype=np.float32)
        self._moments = [np.zeros(shape, np.float32), np.zeros(shape, np.float32)]
        self._intercept_moments = [np.zeros(shape[0], np.float32), np.zeros(shape[0], np.float32)]
        self._counts = np.zeros(shape[0], dtype=np.int64)
        self._rate, self._n_steps, self._made = rate, max(1, n_steps), 0

    def move(self, rows: Any, grad: Floats, intercept_grad: Floats) -> None:
        """Step against a gradient for some of the rows; `grad` is used up."""
        rate = self._rate * max(0.0, 1.0 - self._made / self._n_steps)
        self._made += 1
        self._counts[rows] += 1
        counts = self._counts[rows]
        first, second = 1.0 - _FIRST**counts, np.sqrt(1.0 - _SECOND**counts)
        rates = (rate * second / first).astype(np.float32)
        _move(self.weights, rows, self._moments, grad, rates[:, None])
        _move(self.intercepts, rows, self._intercept_moments, intercept_grad, rates)


def _move(target: Floats, rows: Any, moments: list[Floats], grad: Floats, rates: Floats) -> None:
    mean, square = moments
    m, s = mean[rows], square[rows]
    m *= np.float32(_FIRST)
    m += np.float32(1 - _FIRST) * grad
    grad *= grad
    s *= np.float32(_SECOND)
    s += np.float32(1 - _SECOND) * grad
    if not isinstance(rows, slice):
        mean[rows], square[rows] = m, s
    np.sqrt(s, out=grad)
    grad += np.float32(_TINY)
    np.divide(m, grad, out=grad)
    grad *= rates
    target[rows] -= grad
