"""One test set: the credible interval of an accuracy, and two models on the same rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import optimize, stats

from separatrix.bayes.comparison.result import ModelComparison, check_rope
from separatrix.bayes.conjugate import BetaBernoulli
from separatrix.bayes.estimates import Kind
from separatrix.bayes.posterior import check_level
from separatrix.bayes.quadrature import Panels
from separatrix.errors import DataError, ParameterError

__all__ = ["AccuracyInterval", "accuracy_interval", "compare_predictions"]


@dataclass(frozen=True)
class AccuracyInterval:
    """An accuracy with its credible interval; prints itself in one line.

    Attributes
    ----------
    n_right, n_rows : int
        Right predictions, and all.
    posterior : BetaBernoulli
        Belief about the accuracy.
    interval : tuple of two floats
        The credible interval.
    level : float
        Its mass.
    kind : {"equal", "highest"}
        Equal tails, or the shortest one.
    """

    n_right: int
    n_rows: int
    posterior: BetaBernoulli
    interval: tuple[float, float]
    level: float
    kind: Kind = "highest"

    @property
    def name(self) -> str:
        """What interval it is, in words."""
        shape = "equal-tailed" if self.kind == "equal" else "highest-density"
        return f"{shape} credible interval"

    @property
    def accuracy(self) -> float:
        """Share of right predictions."""
        return self.n_right / self.n_rows

    def __str__(self) -> str:
        low, high = self.interval
        return (
            f"accuracy {self.accuracy:.4f} ({self.n_right} of {self.n_rows}; "
            f"{100 * self.level:g} % {self.name} {low:.4f} to {high:.4f})"
        )


def accuracy_interval(
    y_true: npt.ArrayLike,
    y_pred: npt.ArrayLike,
    *,
    level: float = 0.95,
    kind: Kind = "highest",
    prior: BetaBernoulli | None = None,
) -> AccuracyInterval:
    """Credible interval of the accuracy, from predictions on a test set.

    With s of n predictions right, the belief is Beta(alpha + s, beta + n - s). Under the uniform
    prior its mode is the accuracy s / n, which the highest-density interval therefore always holds;
    an interval of equal tails does not where (nearly) all predictions are right, or wrong.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,)
        Labels.
    level : float, default=0.95
        Mass inside the interval.
    kind : {"highest", "equal"}, default="highest"
        The shortest interval, or equal tails.
    prior : BetaBernoulli, optional
        Belief before the test; uniform by default.

    Returns
    -------
    AccuracyInterval
        The accuracy and its interval.

    Examples
    --------
    >>> print(accuracy_interval([1] * 100, [1] * 90 + [0] * 10))
    accuracy 0.9000 (90 of 100; 95 % highest-density credible interval 0.8313 to 0.9485)
    >>> print(accuracy_interval([1, 0], [1, 0]))
    accuracy 1.0000 (2 of 2; 95 % highest-density credible interval 0.3684 to 1.0000)
    """
    right = _right(y_true, y_pred, "y_pred")
    posterior = (prior or BetaBernoulli()).update(right)
    interval = posterior.credible_interval(level, kind)
    return AccuracyInterval(int(right.sum()), len(right), posterior, interval, level, kind)


def compare_predictions(
    y_true: npt.ArrayLike,
    predicted_a: npt.ArrayLike,
    predicted_b: npt.ArrayLike,
    *,
    rope: float = 0.0,
    level: float = 0.95,
    prior: float | npt.ArrayLike = 1.0,
) -> ModelComparison:
    r"""Probability that A beats B, from their predictions on one test set.

    The rows fall in four cells: both right, only A, only B, none. With a Dirichlet belief about the
    cells, the difference of the accuracies is :math:`\delta = p_A - p_B = s (2 b - 1)`, where
    :math:`s = p_A + p_B` and :math:`b = p_A / s` are independent Betas: :math:`P(\delta > 0)` is a
    value of the Beta distribution, and other probabilities are one-dimensional integrals.

    Parameters
    ----------
    y_true, predicted_a, predicted_b : array-like of shape (n,)
        Labels, and what the two models say for the same rows.
    rope : float, default=0
        Largest difference of accuracies that counts as equivalent.
    level : float, default=0.95
        Mass of the credible interval of the difference.
    prior : float or array-like of shape (4,), default=1
        Dirichlet parameters of the cells (both right, only A, only B, none).

    Returns
    -------
    ModelComparison
        Probabilities, difference of the accuracies and its interval.

    Examples
    --------
    >>> y = [0] * 100
    >>> a, b = [0] * 92 + [1] * 8, [1] * 6 + [0] * 80 + [1] * 14
    >>> print(compare_predictions(y, a, b, rope=0.02))
    paired predictions on 100 rows: A - B = +0.1154 (95 % credible interval +0.0544 to +0.1874)
    P(A better) = 0.999, P(equivalent within 0.02) = 0.001, P(B better) = 0.000
    """
    check_level(level)
    check_rope(rope)
    a, b = _right(y_true, predicted_a, "predicted_a"), _right(y_true, predicted_b, "predicted_b")
    weights = np.asarray(prior, dtype=np.float64)
    if weights.shape not in ((), (4,)) or not ((weights > 0) & np.isfinite(weights)).all():
        raise ParameterError(f"prior must be one or four positive numbers, got {prior!r}")
    counts = np.array([(a & b).sum(), (a & ~b).sum(), (~a & b).sum(), (~a & ~b).sum()])
    alpha = counts + weights
    only_a, only_b = float(alpha[1]), float(alpha[2])
    either = Panels(stats.beta(only_a + only_b, float(alpha[0] + alpha[3])))

    def above(margin: float) -> float:
        """P(delta > margin)."""
        if margin >= 0:
            return _exceeds(only_a, only_b, either, margin)
        return 1.0 - _exceeds(only_b, only_a, either, -margin)

    p_a, p_b = _exceeds(only_a, only_b, either, rope), _exceeds(only_b, only_a, either, rope)
    tail = (1 - level) / 2
    ends = [
        float(optimize.brentq(lambda d, q=q: above(d) - q, -1.0, 1.0, xtol=1e-10))
        for q in (1 - tail, tail)
    ]
    return ModelComparison(
        f"paired predictions on {len(a)} rows",
        p_a,
        max(0.0, 1.0 - p_a - p_b) if rope > 0 else 0.0,
        p_b,
        rope,
        (only_a - only_b) / float(alpha.sum()),
        (ends[0], ends[1]),
        level,
    )


def _exceeds(more: float, less: float, either: Panels, margin: float) -> float:
    """P(s (2 b - 1) > margin), s as in `either`, b ~ Beta(more, less), margin >= 0."""
    if margin == 0:
        return float(stats.beta.sf(0.5, more, less))
    s, weights = either.split_at(margin)
    return min(1.0, float(weights @ stats.beta.sf((1 + margin / s) / 2, more, less)))


def _right(y_true: npt.ArrayLike, y_pred: npt.ArrayLike, name: str) -> npt.NDArray[np.bool_]:
    truth, predictions = np.asarray(y_true), np.asarray(y_pred)
    if truth.ndim != 1 or truth.shape != predictions.shape or len(truth) == 0:
        raise DataError(
            f"y_true and {name} must be two lists of labels of the same length, at least one; "
            f"got shapes {truth.shape} and {predictions.shape}"
        )
    return np.asarray(truth == predictions)
