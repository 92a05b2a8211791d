"""Class probabilities when the scores are Gaussian: E[sigmoid(s)] and E[softmax(s)].

Scores are m-dimensional, s ~ N(mean, covariance); `basis` of shape (K, m) takes them to K classes,
or stands as (1) for one score of two classes.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from scipy.special import expit, softmax

__all__ = ["monte_carlo", "normal_points", "probit", "score_draws"]

FloatArray = npt.NDArray[np.float64]

#: Numbers drawn at a time.
_BLOCK = 1 << 22


def probit(mean: FloatArray, covariance: FloatArray, basis: FloatArray) -> FloatArray:
    """Probabilities of shape (n, K) by the probit approximation.

    For two classes sigmoid(mean / sqrt(1 + pi/8 variance)) (MacKay 1992). For more, every pair of
    classes is moderated by the variance of the difference of its scores and
    p_k ~ 1 / sum_l exp(-(s_k - s_l) / sqrt(1 + pi/8 var_kl)) (Lu, Ie & Sha 2020), which gives the
    former for K = 2 and does not see a shift of all scores.
    """
    if basis.shape == (1, 1):
        moderated = mean[:, 0] / np.sqrt(1 + math.pi / 8 * covariance[:, 0, 0])
        return np.stack([expit(-moderated), expit(moderated)], axis=1)
    classes = len(basis)
    result = np.empty((len(mean), classes))
    step = max(1, _BLOCK // classes**2)
    for start in range(0, len(mean), step):
        rows = slice(start, start + step)
        scores = mean[rows] @ basis.T
        between = basis @ covariance[rows] @ basis.T
        single = np.einsum("nkk->nk", between)
        variance = single[:, :, None] + single[:, None, :] - 2 * between
        gaps = scores[:, None, :] - scores[:, :, None]
        gaps /= np.sqrt(1 + math.pi / 8 * np.maximum(variance, 0.0))
        # 1 / sum exp(gaps) as a softmax of logarithms, so that nothing overflows.
        top = gaps.max(axis=2)
        logs = -(top + np.log(np.exp(gaps - top[:, :, None]).sum(axis=2)))
        result[rows] = softmax(logs, axis=1)
    return result


def normal_points(n_draws: int, dimension: int, seed: int) -> FloatArray:
    """Standard normal points, (n_draws, dimension), each with its mirror image.

    Mirror images make E[s] exact, so that with two classes the likelier one stays the likelier.
    """
    half = np.random.RandomState(seed).standard_normal(((n_draws + 1) // 2, dimension))
    return np.vstack([half, -half])


def score_draws(mean: FloatArray, covariance: FloatArray, points: FloatArray) -> FloatArray:
    """Draws of the scores, shape (n, draws, m), from the same points for every row."""
    values, vectors = np.linalg.eigh(covariance)
    roots = vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :]
    draws: FloatArray = mean[:, None, :] + points @ roots.transpose(0, 2, 1)
    return draws


def monte_carlo(
    mean: FloatArray,
    covariance: FloatArray,
    basis: FloatArray,
    points: FloatArray,
    quantiles: tuple[float, ...] | None = None,
) -> FloatArray:
    """Mean of the probabilities over draws, (n, K), or their quantiles, (n, K, len(quantiles))."""
    classes = 2 if basis.shape == (1, 1) else len(basis)
    shape = (len(mean), classes) if quantiles is None else (len(mean), classes, len(quantiles))
    result = np.empty(shape)
    step = max(1, _BLOCK // (len(points) * classes))
    for start in range(0, len(mean), step):
        rows = slice(start, start + step)
        draws = score_draws(mean[rows], covariance[rows], points)
        if classes == 2 and basis.shape == (1, 1):
            p = np.concatenate([expit(-draws), expit(draws)], axis=2)
        else:
            p = softmax(draws @ basis.T, axis=2)
        if quantiles is None:
            result[rows] = p.mean(axis=1)
        else:
            result[rows] = np.moveaxis(np.quantile(p, quantiles, axis=1), 0, -1)
    return result
