"""From the moments of Gaussian classes to what prediction needs."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from separatrix.errors import DataError
from separatrix.learners.generative.gaussian import Whitener, whitener
from separatrix.learners.generative.moments import ClassMoments

__all__ = ["Solved", "solve"]

FloatArray = npt.NDArray[np.float64]


class Solved(NamedTuple):
    """What prediction needs.

    Attributes
    ----------
    covariances : ndarray of shape (1, d, d) or (K, d, d)
        The shared covariance, or those of the classes.
    log_prior : ndarray of shape (K,)
        log P(y).
    whiteners : tuple of Whitener
        Their inverses, in factors.
    linear : ndarray of shape (d + 1, K) or None
        Weights and intercepts of linear scores, with a shared covariance.
    """

    covariances: FloatArray
    log_prior: FloatArray
    whiteners: tuple[Whitener, ...]
    linear: FloatArray | None


def solve(
    moments: ClassMoments,
    classes: npt.NDArray[Any],
    priors: FloatArray,
    *,
    shared: bool,
    shrinkage: float | str | None,
    precision: float,
) -> Solved:
    """Invert the covariances; DataError where a density does not exist."""
    empty = (moments.count == 0) & np.isfinite(priors)
    if empty.any():
        name = classes.tolist()[int(np.argmax(empty))]
        raise DataError(f"there are no rows of class {name!r}, but its prior is not zero")
    covariances = moments.covariances(shrinkage)
    seen = moments.count > 0
    center = moments.count @ moments.mean / moments.count.sum()
    means = np.where(seen[:, None], moments.mean - center, 0.0)
    if shared:
        if len(covariances) > 1:
            shares = moments.count / moments.count.sum()
            covariances = np.einsum("k,kij->ij", shares, covariances)[None]
        return _solve_shared(covariances, priors, means, center, precision)
    dead = _dead(covariances[seen], means[seen], center, precision)
    covariances[:, dead, :] = covariances[:, :, dead] = 0.0
    whiteners = []
    for k, covariance in enumerate(covariances):
        found = whitener(covariance, precision)
        if seen[k] and found.rank < (~dead).sum():
            raise DataError(
                f"the covariance of class {classes.tolist()[k]!r} ({moments.count[k]:g} rows) is "
                f"singular: its rank is {found.rank}, and {(~dead).sum()} columns vary. Give "
                'shrinkage="auto" (or a number), shared_covariance=True, or more rows.'
            )
        whiteners.append(found)
    return Solved(covariances, priors, tuple(whiteners), None)


def _dead(
    covariances: FloatArray, means: FloatArray, center: FloatArray, precision: float
) -> npt.NDArray[np.bool_]:
    """Columns that are constant over all classes, up to rounding: they tell nothing."""
    size = 16 * precision * (np.abs(center) + np.abs(means).max(axis=0))
    variance = np.diagonal(covariances, axis1=1, axis2=2).max(axis=0)
    still = np.sqrt(np.maximum(variance, 0.0)) <= size
    dead: npt.NDArray[np.bool_] = still & (np.abs(means).max(axis=0) <= size)
    return dead


def _solve_shared(
    covariances: FloatArray,
    priors: FloatArray,
    means: FloatArray,
    center: FloatArray,
    precision: float,
) -> Solved:
    """Linear scores x' w_k + b_k; `means` are less the `center`, for small numbers."""
    dead = _dead(covariances, means, center, precision)
    covariances[:, dead, :] = covariances[:, :, dead] = 0.0
    means = np.where(dead, 0.0, means)
    found = whitener(covariances[0], precision)
    # Means that differ where no class varies would have the classes infinitely far apart.
    size = np.sqrt(np.diagonal(covariances[0]) + (means**2).max(axis=0))
    null = found.null * size[:, None]
    null = null / np.maximum(np.linalg.norm(null, axis=0), 1e-300)
    unit = means / np.where(size > 0, size, 1.0)
    if null.size and np.abs(unit @ null).max() > np.sqrt(precision):
        raise DataError(
            "the classes differ in a direction in which no class varies (the shared covariance "
            f"has rank {found.rank} for {means.shape[1]} columns), so that no density exists. "
            'Give shrinkage="auto" (or a number), or more rows.'
        )
    white = found.whiten(means)
    coef = found.weights(white)
    intercept = priors - 0.5 * (white**2).sum(axis=1) - coef @ center
    return Solved(covariances, priors, (found,), np.vstack([coef.T, intercept]))
