"""Choosing among regressions from one decomposition: evidence, ridge values, leave-one-out."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import stats
from sklearn.utils.validation import check_is_fitted

from separatrix.bayes.regression.base import BaseGaussianRegression
from separatrix.bayes.regression.results import LeaveOneOut, RidgePath
from separatrix.errors import DataError, ParameterError
from separatrix.validation import is_sparse

__all__ = ["SelectionMixin"]

FloatArray = npt.NDArray[np.float64]


class SelectionMixin(BaseGaussianRegression):
    """What a fitted regression says about itself and about other ridge values."""

    def log_evidence(self) -> float:
        """log p(y | X), weights, intercept (and noise, if conjugate) integrated out.

        Returns
        -------
        float
            In nats. It needs proper priors, of the intercept too (`intercept_prior`).
        """
        check_is_fitted(self, "coef_")
        intercept = self._proper_intercept(self.noise_variance_)
        self._require_proper_noise()
        path = self._log_evidences(np.array(self.ridge_))
        return float(path) - 0.5 * math.log1p(self.moments_.total * intercept.ratio)

    def ridge_path(self, ridges: Any) -> RidgePath:
        """Posterior means and evidence for many ridge values, from the one decomposition.

        Parameters
        ----------
        ridges : array-like of shape (m,)
            Values of sigma^2 over the scale of the prior covariance.

        Returns
        -------
        RidgePath
            `coefs`, `intercepts` and `log_evidences`.
        """
        check_is_fitted(self, "coef_")
        grid = self._check_ridges(ridges)
        posterior = self.posterior_
        coefs = posterior.prior.color(posterior.spectrum.mean(grid).T).T + posterior.prior.mean
        intercepts = posterior.offset - coefs @ posterior.center
        constant = 0.0
        intercept = self._intercept(self.noise_variance_)
        if not intercept.flat:
            constant = -0.5 * math.log1p(self.moments_.total * intercept.ratio)
        return RidgePath(grid, coefs, intercepts, self._log_evidences(grid) + constant)

    def leave_one_out(
        self, X: Any, y: Any, sample_weight: Any = None, ridges: Any = None
    ) -> LeaveOneOut:
        """Predictions of every training row from all others, without fitting again.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n, d)
            The rows of `fit`.
        y : array-like of shape (n,)
            Their targets.
        sample_weight : array-like of shape (n,), optional
            Their weights.
        ridges : array-like of shape (m,), optional
            Ridge values to try; the fitted one by default.

        Returns
        -------
        LeaveOneOut
            Means, errors and log densities for every ridge. The noise and the ridge stay as they
            are when a row is left out.
        """
        X = self._check_X(X)
        y = self._check_y(y, X.shape[0])
        weights = self._check_weights(sample_weight, X)
        if weights is None:
            weights = np.ones(len(y))
        grid = self._check_ridges([self.ridge_] if ridges is None else ridges)
        path = self.ridge_path(grid)
        means = path.coefs @ X.T if not is_sparse(X) else (X @ path.coefs.T).T
        means = np.asarray(means) + path.intercepts[:, None]
        return self._leave_out(X, y, weights, grid, means)

    def _check_ridges(self, ridges: Any) -> FloatArray:
        grid = np.atleast_1d(np.asarray(ridges, dtype=np.float64))
        if grid.ndim != 1 or len(grid) == 0 or not ((grid > 0) & np.isfinite(grid)).all():
            raise ParameterError("ridges must be a list of positive finite numbers")
        return grid

    def _log_evidences(self, grid: FloatArray) -> FloatArray:
        """log p(y) at every ridge, without the part of the intercept's prior."""
        spectrum = self.posterior_.spectrum
        if self.noise == "conjugate":
            if not (self.noise_shape > 0 and self.noise_scale > 0):
                return np.full(grid.shape, math.nan)
            return spectrum.conjugate_log_evidence(grid, self.noise_shape, self.noise_scale)
        if self.noise_variance is not None:
            return spectrum.log_evidence(grid, self.noise_variance)
        noise = np.array([spectrum.best_noise(float(ridge)) for ridge in grid.ravel()])
        return spectrum.log_evidence(grid, noise.reshape(grid.shape))

    def _leave_out(
        self, X: Any, y: FloatArray, weights: FloatArray, grid: FloatArray, means: FloatArray
    ) -> LeaveOneOut:
        """Leave-one-out from leverages: the others' mean is y - r / (1 - h)."""
        posterior = self.posterior_
        rows = X.toarray() if is_sparse(X) else np.asarray(X, dtype=np.float64)
        whitened = posterior.prior.whiten(rows - posterior.center)
        unit = posterior.spectrum.variances(whitened, grid) + posterior.spread
        left = 1 - weights * unit
        if (left < 1e-12).any():
            row = int(np.argmin(left.min(axis=0)))
            raise DataError(
                f"row {row} cannot be left out: without it the others say nothing about it "
                "(they are too few under a flat intercept)"
            )
        residuals = y - means
        without = y - residuals / left
        error = ((y - without) ** 2) @ weights / weights.sum()
        squared = unit / left + 1.0
        if self.noise == "conjugate":
            squares = posterior.spectrum.squares(grid)[:, None]
            shape = self.noise_shape + (posterior.spectrum.size - weights) / 2
            scale = self.noise_scale + (squares - weights * residuals**2 / left) / 2
            if (shape <= 0).any():
                raise DataError("too few rows to leave one out; give a positive noise_shape")
            density = stats.t.logpdf(y, 2 * shape, without, np.sqrt(scale / shape * squared))
        else:
            density = stats.norm.logpdf(y, without, np.sqrt(self.noise_variance_ * squared))
        return LeaveOneOut(grid, without, error, np.asarray(density))
