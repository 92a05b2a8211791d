"""Maps from scores to probabilities: temperature, sigmoid, isotonic."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize, minimize_scalar
from scipy.special import expit, logsumexp, softmax
from sklearn.isotonic import IsotonicRegression

__all__ = [
    "METHODS",
    "FloatArray",
    "Isotonic",
    "Map",
    "OneByOne",
    "Sigmoid",
    "Temperature",
    "fit_map",
]

FloatArray = npt.NDArray[np.float64]

METHODS = ("temperature", "sigmoid", "isotonic")

#: Bounds of the logarithm of 1 / T.
COLDEST, HOTTEST = 12.0, -12.0


class Map(Protocol):
    """From scores of shape (n, K) to probabilities of shape (n, K)."""

    def __call__(self, scores: FloatArray) -> FloatArray:
        """The probabilities for scores."""
        ...


@dataclass(frozen=True)
class Temperature:
    """softmax(scores / T)."""

    temperature: float

    @classmethod
    def fit(cls, scores: FloatArray, codes: npt.NDArray[np.int64], weights: FloatArray) -> Self:
        """The temperature of the highest likelihood.

        Targets are drawn in from 0 and 1 as Platt (1999) does, by one part in n + 2: with scores
        that make no mistake the temperature would be zero, and every probability 0 or 1.
        """
        own = scores[np.arange(len(codes)), codes]
        drawn = 1 / (float(weights.sum()) + 2)
        target = (1 - drawn) * own + drawn * scores.mean(axis=1)

        def loss(log_rate: float) -> float:
            rate = np.exp(log_rate)
            return float(weights @ (logsumexp(rate * scores, axis=1) - rate * target))

        # Convex in the rate, so that it falls and then rises in its logarithm too.
        found = minimize_scalar(
            loss, bounds=(HOTTEST, COLDEST), method="bounded", options={"xatol": 1e-10}
        )
        return cls(float(np.exp(-found.x)))

    def __call__(self, scores: FloatArray) -> FloatArray:
        """The probabilities for scores."""
        probabilities: FloatArray = softmax(scores / self.temperature, axis=1)
        return probabilities


@dataclass(frozen=True, eq=False)
class OneByOne:
    """A map for the score of each class against the rest; results are scaled to sum to 1."""

    maps: tuple[Any, ...]
    raw: bool

    @classmethod
    def fit(
        cls,
        fit: Any,
        scores: FloatArray,
        codes: npt.NDArray[np.int64],
        weights: FloatArray,
        raw: bool,
    ) -> Self:
        """A map for every class; `fit` makes one from margins, hits and weights."""
        margins = _margins(scores, raw)
        k = scores.shape[1]
        classes = [1] if k == 2 else range(k)
        maps = [
            fit(margins[:, at], (codes == c).astype(float), weights) for at, c in enumerate(classes)
        ]
        return cls(tuple(maps), raw)

    def __call__(self, scores: FloatArray) -> FloatArray:
        """The probabilities for scores."""
        margins = _margins(scores, self.raw)
        proba = np.column_stack([one(margins[:, at]) for at, one in enumerate(self.maps)])
        if proba.shape[1] == 1:
            return np.hstack([1 - proba, proba])
        total = proba.sum(axis=1, keepdims=True)
        uniform = np.full_like(proba, 1 / proba.shape[1])
        normed: FloatArray = np.divide(proba, total, out=uniform, where=total > 0)
        return normed


def _margins(scores: FloatArray, raw: bool) -> FloatArray:
    """The score of each class against the rest: log-odds, or raw scores as they are."""
    if scores.shape[1] == 2:
        difference: FloatArray = scores[:, 1:] - scores[:, :1]
        return difference
    if raw:
        return scores
    columns = range(scores.shape[1])
    rest = [logsumexp(np.delete(scores, k, axis=1), axis=1) for k in columns]
    odds: FloatArray = scores - np.column_stack(rest)
    return odds


@dataclass(frozen=True)
class Sigmoid:
    """1 / (1 + exp(-(a s + b))), with the targets of Platt (1999) drawn in from 0 and 1."""

    slope: float
    intercept: float

    @classmethod
    def fit(cls, margins: FloatArray, hits: FloatArray, weights: FloatArray) -> Self:
        """The maximum of the likelihood."""
        above, below = float(weights @ hits), float(weights @ (1 - hits))
        targets = np.where(hits > 0, (above + 1) / (above + 2), 1 / (below + 2))
        center = float(np.average(margins, weights=weights))
        scale = float(np.sqrt(np.average((margins - center) ** 2, weights=weights))) or 1.0
        unit = (margins - center) / scale

        def loss(w: FloatArray) -> tuple[float, FloatArray]:
            s = w[0] * unit + w[1]
            away = weights * (expit(s) - targets)
            value = float(weights @ (np.logaddexp(0, s) - targets * s))
            return value, np.array([away @ unit, away.sum()])

        start = np.array([0.0, np.log((above + 1) / (below + 1))])
        found = minimize(loss, start, jac=True, method="BFGS", options={"gtol": 1e-9})
        slope = float(found.x[0]) / scale
        return cls(slope, float(found.x[1]) - slope * center)

    def __call__(self, margins: FloatArray) -> FloatArray:
        """The probabilities for margins."""
        proba: FloatArray = expit(self.slope * margins + self.intercept)
        return proba


@dataclass(frozen=True, eq=False)
class Isotonic:
    """The rising function closest to what came true, straight between its knots, level outside."""

    margins: FloatArray
    shares: FloatArray

    @classmethod
    def fit(cls, margins: FloatArray, hits: FloatArray, weights: FloatArray) -> Self:
        """The least squares fit."""
        found = IsotonicRegression(y_min=0.0, y_max=1.0).fit(margins, hits, sample_weight=weights)
        return cls(
            np.asarray(found.X_thresholds_, dtype=np.float64),
            np.asarray(found.y_thresholds_, dtype=np.float64),
        )

    def __call__(self, margins: FloatArray) -> FloatArray:
        """The probabilities for margins."""
        proba: FloatArray = np.interp(margins, self.margins, self.shares)
        return proba


def fit_map(
    method: str,
    scores: FloatArray,
    codes: npt.NDArray[np.int64],
    weights: FloatArray,
    raw: bool,
) -> Map:
    """The map of a method, from scores of shape (n, K); `raw` if they are no log-probabilities."""
    if method == "temperature":
        return Temperature.fit(scores, codes, weights)
    kind = Sigmoid if method == "sigmoid" else Isotonic
    return OneByOne.fit(kind.fit, scores, codes, weights, raw)
