"""scikit-learn's BayesianRidge from the moments of `BayesianLinearRegression`."""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np
from sklearn import linear_model
from sklearn.utils.validation import _check_sample_weight, validate_data

from separatrix.bayes.regression.moments import Moments
from separatrix.bayes.regression.spectrum import Spectrum
from separatrix.validation import number_of_threads

__all__ = ["BayesianRidge"]


class BayesianRidge(linear_model.BayesianRidge):  # type: ignore[misc]
    """scikit-learn's `BayesianRidge`: one pass over the rows, then its updates on d numbers.

    The rows are summed up as by `separatrix.BayesianLinearRegression`; a turn of MacKay's updates
    then costs d operations, not n times d. ``alpha_`` and ``lambda_``, the precisions of the noise
    and of the weights, end where scikit-learn's end. `separatrix.BayesianLinearRegression` finds
    the maximum of the evidence itself, without the gamma priors, and shows the evidence.

    Examples
    --------
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [1.0, 2.9, 5.1, 7.0]
    >>> model = BayesianRidge().fit(X, y)
    >>> model.coef_.round(2), round(float(model.intercept_), 2)
    (array([2.02]), 0.97)
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find both precisions and the posterior of the weights; see scikit-learn."""
        self._validate_params()
        X, y = validate_data(self, X, y, dtype=[np.float64, np.float32], y_numeric=True, order="C")
        d, kind = X.shape[1], X.dtype
        weights = None
        if sample_weight is not None:
            weights = _check_sample_weight(sample_weight, X, dtype=np.float64)
        target = np.asarray(y, dtype=np.float64)
        moments = Moments.of(X, target, weights, number_of_threads(None))
        total = moments.total
        rows = moments.root
        if not self.fit_intercept:
            rows = np.vstack([rows, math.sqrt(total) * moments.mean])
        spectrum = Spectrum.of(rows[:, :-1], rows[:, -1], total)
        variance = float(
            np.average((target - np.average(target, weights=weights)) ** 2, weights=weights)
        )
        alpha = 1 / (variance + np.finfo(float).eps) if self.alpha_init is None else self.alpha_init
        alpha, rate = float(alpha), float(1.0 if self.lambda_init is None else self.lambda_init)
        scores: list[float] = []
        before = None
        for turn in range(self.max_iter):
            coef, errors = self._posterior(spectrum, rate / alpha)
            scores.append(self._evidence(spectrum, d, total, alpha, rate, coef, errors))
            squares = alpha * spectrum.values**2
            known = float((squares / (rate + squares)).sum())
            rate = (known + 2 * self.lambda_1) / (float(coef @ coef) + 2 * self.lambda_2)
            alpha = (total - known + 2 * self.alpha_1) / (errors + 2 * self.alpha_2)
            if turn and float(np.abs(before - coef).sum()) < self.tol:
                if self.verbose:
                    print("Convergence after ", str(turn), " iterations")
                break
            before = coef
        self.n_iter_ = turn + 1
        self.alpha_, self.lambda_ = kind.type(alpha), kind.type(rate)
        coef, errors = self._posterior(spectrum, rate / alpha)
        scores.append(self._evidence(spectrum, d, total, alpha, rate, coef, errors))
        self.scores_: Any = np.array(scores) if self.compute_score else []
        covariance = spectrum.spread(np.eye(d), rate / alpha, 1.0) / alpha
        self.coef_, self.sigma_ = coef.astype(kind), covariance.astype(kind)
        self.X_scale_ = np.ones(d, dtype=kind)
        self.X_offset_ = (moments.mean[:-1] if self.fit_intercept else np.zeros(d)).astype(kind)
        self.intercept_ = 0.0
        if self.fit_intercept:
            self.intercept_ = kind.type(moments.mean[-1] - moments.mean[:-1] @ coef)
        return self

    @staticmethod
    def _posterior(spectrum: Spectrum, ridge: float) -> tuple[Any, float]:
        """The mean of the weights at a ridge, and its sum of squared errors."""
        coef = spectrum.mean(np.array(ridge))
        shrunk = ridge / (spectrum.values**2 + ridge)
        errors = spectrum.rest + float(((spectrum.projection * shrunk) ** 2).sum())
        return coef, errors

    def _evidence(
        self,
        spectrum: Spectrum,
        d: int,
        total: float,
        alpha: float,
        rate: float,
        coef: Any,
        errors: float,
    ) -> float:
        """The log evidence with the gamma priors of both precisions."""
        volume = float(np.log(rate + alpha * spectrum.values**2).sum())
        volume += (d - len(spectrum.values)) * math.log(rate)
        return float(
            self.lambda_1 * math.log(rate)
            - self.lambda_2 * rate
            + self.alpha_1 * math.log(alpha)
            - self.alpha_2 * alpha
            + 0.5
            * (
                d * math.log(rate)
                + total * math.log(alpha / (2 * math.pi))
                - alpha * errors
                - rate * float(coef @ coef)
                - volume
            )
        )
