"""Draws from the posterior of a linear regression: weights, functions, and ArviZ."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from separatrix.bayes.interchange import ArvizDraws
from separatrix.bayes.regression.base import BaseGaussianRegression

__all__ = ["DrawsMixin"]

FloatArray = npt.NDArray[np.float64]


class DrawsMixin(ArvizDraws, BaseGaussianRegression):
    """Sampling from the posterior."""

    def sample_weights(self, n_draws: int = 1, random_state: Any = None) -> FloatArray:
        """Draw weights (and intercepts, last) from the posterior.

        Parameters
        ----------
        n_draws : int, default=1
            Number of draws.
        random_state : int, RandomState or None, default=None
            Source of randomness.

        Returns
        -------
        ndarray of shape (n_draws, d + 1), or (n_draws, d) without an intercept
            Draws of (w, b).
        """
        check_is_fitted(self, "coef_")
        draws = self.posterior_.sample(n_draws, check_random_state(random_state))
        return draws if self.fit_intercept else draws[:, :-1]

    def sample_functions(self, X: Any, n_draws: int = 1, random_state: Any = None) -> FloatArray:
        """Draw functions x'w + b from the posterior, each evaluated at all rows.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n, d)
            Where to evaluate.
        n_draws : int, default=1
            Number of functions.
        random_state : int, RandomState or None, default=None
            Source of randomness.

        Returns
        -------
        ndarray of shape (n_draws, n)
            A function in every row.
        """
        X = self._check_X(X)
        draws = self.posterior_.sample(n_draws, check_random_state(random_state))
        return np.asarray(X @ draws[:, :-1].T).T + draws[:, -1:]
