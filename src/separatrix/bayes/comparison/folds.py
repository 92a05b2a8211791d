"""Pairs of scores, fold by fold or data set by data set: correlated t test and sign test."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import integrate, stats

from separatrix.bayes.comparison.result import ModelComparison, check_rope
from separatrix.bayes.posterior import FloatArray, check_level
from separatrix.errors import DataError, ParameterError

__all__ = ["correlated_t_test", "sign_test"]


def correlated_t_test(
    scores_a: npt.ArrayLike,
    scores_b: npt.ArrayLike,
    *,
    test_share: float | None = None,
    rope: float = 0.0,
    level: float = 0.95,
) -> ModelComparison:
    r"""Probability that A beats B, from scores on the same folds of a (repeated) cross-validation.

    Scores of overlapping training sets are correlated. With differences of mean :math:`\bar x` and
    variance :math:`\hat\sigma^2` over n folds and :math:`\rho` the share of rows in a test fold,
    the belief about the mean difference is Student's t with n - 1 degrees of freedom, location
    :math:`\bar x` and squared scale :math:`(1/n + \rho/(1-\rho)) \hat\sigma^2` (Corani & Benavoli
    2015); the correction is that of Nadeau & Bengio (2003), whose p-value comes along.

    Parameters
    ----------
    scores_a, scores_b : array-like of shape (n,) or (n_repeats, n_folds)
        Scores of the two models, fold by fold; more is better.
    test_share : float, optional
        Share of rows in each test fold, 1/k for k folds; taken from the shape of the scores where
        they are (n_repeats, n_folds).
    rope : float, default=0
        Largest difference that counts as equivalent.
    level : float, default=0.95
        Mass of the credible interval.

    Returns
    -------
    ModelComparison
        Probabilities, mean difference, interval and p-value.

    Examples
    --------
    >>> a = [0.92, 0.90, 0.93, 0.91, 0.94, 0.92, 0.90, 0.93, 0.91, 0.95]
    >>> b = [0.90, 0.89, 0.93, 0.89, 0.92, 0.91, 0.90, 0.91, 0.90, 0.92]
    >>> print(correlated_t_test(a, b, test_share=0.1, rope=0.01))
    correlated t test on 10 folds: A - B = +0.0140 (95 % credible interval +0.0040 to +0.0240)
    P(A better) = 0.805, P(equivalent within 0.01) = 0.195, P(B better) = 0.000
    """
    check_level(level)
    check_rope(rope)
    differences = _differences(scores_a, scores_b)
    if test_share is None:
        if differences.ndim != 2:
            raise ParameterError(
                "say how large a test fold is, test_share = 1/k for k folds, or give scores of "
                "shape (n_repeats, n_folds)"
            )
        test_share = 1.0 / differences.shape[1]
    if not 0 < test_share < 1:
        raise ParameterError(f"test_share must lie strictly between 0 and 1, got {test_share!r}")
    x = differences.ravel()
    n = len(x)
    if n < 2:
        raise DataError("a correlated t test needs the scores of at least two folds")
    center = float(x.mean())
    scale = math.sqrt((1 / n + test_share / (1 - test_share)) * float(x.var(ddof=1)))
    method = f"correlated t test on {n} folds"
    # Equal differences leave rounding behind; a belief without spread is a point.
    if scale <= 1e-12 * max(1.0, abs(center)):
        p_a, p_b = float(center > rope), float(center < -rope)
        p_value = 0.0 if center else 1.0
        point = (center, center)
        return ModelComparison(
            method, p_a, 1.0 - p_a - p_b, p_b, rope, center, point, level, p_value
        )
    belief = stats.t(n - 1, center, scale)
    p_a, p_b = float(belief.sf(rope)), float(belief.cdf(-rope))
    low, high = belief.interval(level)
    return ModelComparison(
        method,
        p_a,
        max(0.0, 1.0 - p_a - p_b) if rope > 0 else 0.0,
        p_b,
        rope,
        center,
        (float(low), float(high)),
        level,
        float(2 * stats.t.sf(abs(center) / scale, n - 1)),
    )


def sign_test(
    scores_a: npt.ArrayLike,
    scores_b: npt.ArrayLike,
    *,
    rope: float = 0.0,
    prior: float = 1.0,
) -> ModelComparison:
    r"""Bayesian sign test: which of A better, equivalent, B better is the most probable outcome.

    Each pair of scores falls in one of three cells, A better, within the rope, B better, with a
    Dirichlet belief about their probabilities; `p_a` is the probability that the first cell is the
    largest, and so on (Benavoli et al. 2017). It is found by quadrature, since the cells are
    independent Gammas up to their sum. Pairs are taken as independent: one pair per data set, or
    folds whose correlation one is ready to ignore (else see `correlated_t_test`).

    Parameters
    ----------
    scores_a, scores_b : array-like of shape (n,) or (n_repeats, n_folds)
        Scores of the two models; more is better.
    rope : float, default=0
        Largest difference that counts as equivalent. With 0 there are two cells, and ties count
        half for each.
    prior : float, default=1
        Strength of the prior: so many observations within the rope (half for each side with 0).

    Returns
    -------
    ModelComparison
        Probabilities, and the median difference.

    Examples
    --------
    >>> a = [0.81, 0.90, 0.77, 0.66, 0.95, 0.84]
    >>> b = [0.78, 0.86, 0.78, 0.61, 0.90, 0.80]
    >>> print(sign_test(a, b, rope=0.01))
    Bayesian sign test on 6 pairs: A - B = +0.0400
    P(A better) = 0.891, P(equivalent within 0.01) = 0.109, P(B better) = 0.000
    """
    check_rope(rope)
    if not isinstance(prior, int | float | np.number) or not 0 < float(prior) < math.inf:
        raise ParameterError(f"prior must be a positive finite number, got {prior!r}")
    x = _differences(scores_a, scores_b).ravel()
    # A difference of exactly the rope is equivalent, up to rounding of the scores.
    near = np.abs(x) <= rope + 1e-12
    a, b, equal = int((~near & (x > 0)).sum()), int((~near & (x < 0)).sum()), int(near.sum())
    method, center = f"Bayesian sign test on {len(x)} pairs", float(np.median(x))
    if rope == 0:
        half = (equal + prior) / 2
        p_a = float(stats.beta.sf(0.5, a + half, b + half))
        return ModelComparison(method, p_a, 0.0, 1.0 - p_a, rope, center)
    p_a, p_equal, p_b = _largest(np.array([a, equal + prior, b], dtype=np.float64))
    return ModelComparison(method, p_a, p_equal, p_b, rope, center)


def _largest(alpha: FloatArray) -> FloatArray:
    """P(theta_k is the largest) for theta ~ Dir(alpha); cells with alpha = 0 are never it."""
    chances = np.zeros(len(alpha))
    for k in np.flatnonzero(alpha > 0):
        own = stats.gamma(alpha[k])
        others = [stats.gamma(value) for i, value in enumerate(alpha) if i != k and value > 0]

        def integrand(x: float, own: Any = own, others: Any = others) -> float:
            return float(own.pdf(x) * math.prod(float(other.cdf(x)) for other in others))

        edges = own.ppf([1e-15, 1e-3, 0.05, 0.25, 0.5, 0.75, 0.95, 0.999, 1 - 1e-15])
        pairs = pairwise(edges)
        chances[k] = sum(integrate.quad(integrand, *pair)[0] for pair in pairs)
    return np.asarray(chances / chances.sum())


def _differences(scores_a: npt.ArrayLike, scores_b: npt.ArrayLike) -> FloatArray:
    a, b = np.asarray(scores_a, dtype=np.float64), np.asarray(scores_b, dtype=np.float64)
    if a.shape != b.shape or a.ndim not in (1, 2) or a.size == 0:
        raise DataError(
            "scores_a and scores_b must be of one shape, (n,) or (n_repeats, n_folds); "
            f"got {a.shape} and {b.shape}"
        )
    if not (np.isfinite(a) & np.isfinite(b)).all():
        raise DataError("scores must be finite; a fold that failed has no score to compare")
    return a - b
