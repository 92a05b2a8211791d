"""Probabilities of all classes out of those of some candidates."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["spread"]


def spread(
    places: npt.NDArray[np.int64],
    shares: npt.NDArray[np.float64],
    label_shares: npt.NDArray[Any],
    rest: float,
) -> npt.NDArray[np.float64]:
    """Give `rest` to the classes that are no candidates, by their frequency.

    Parameters
    ----------
    places : ndarray of shape (n, m)
        Numbers of the candidates; -1 where there is none.
    shares : ndarray of shape (n, m)
        What each of them gets of 1 - `rest`.
    label_shares : ndarray of shape (K,)
        Frequencies of the classes.
    rest : float
        Probability of all other classes.

    Returns
    -------
    ndarray of shape (n, K)
        Probabilities; each row sums to one.

    Examples
    --------
    >>> spread(np.array([[2, 0]]), np.array([[0.75, 0.25]]), np.array([0.4, 0.2, 0.4]), 0.2)
    array([[0.2, 0.2, 0.6]])
    """
    there = places >= 0
    rows = np.broadcast_to(np.arange(len(places))[:, None], places.shape)[there]
    result = np.tile(label_shares.astype(np.float64), (len(places), 1))
    result[rows, places[there]] = 0.0
    others = result.sum(axis=1, keepdims=True)
    left = np.where(others > 0, rest, 0.0)
    result *= left / np.maximum(others, 1e-300)
    shares = np.where(there, shares, 0.0)
    shares *= (1.0 - left) / shares.sum(axis=1, keepdims=True)
    result[rows, places[there]] = shares[there]
    return result
