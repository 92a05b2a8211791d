"""scikit-learn's LinearDiscriminantAnalysis from the moments of GaussianDiscriminant."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import scipy.linalg
from sklearn import discriminant_analysis
from sklearn.utils.validation import validate_data

from separatrix.errors import ParameterError
from separatrix.learners.generative import GaussianDiscriminant

__all__ = ["LinearDiscriminantAnalysis"]


class LinearDiscriminantAnalysis(discriminant_analysis.LinearDiscriminantAnalysis):  # type: ignore[misc]
    """scikit-learn's `LinearDiscriminantAnalysis`, from one pass of `GaussianDiscriminant`.

    All solvers give the same scores here; the directions of `transform` are the generalized
    eigenvectors of the scatters between and within the classes, whose signs are arbitrary.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LinearDiscriminantAnalysis().fit(X, y)
    >>> round(model.score(X, y), 2), model.transform(X).shape
    (0.98, (150, 2))
    """

    def fit(self, X: Any, y: Any) -> Self:
        """Fit means, covariance and directions; see scikit-learn."""
        self._validate_params()
        if self.covariance_estimator is not None:
            raise ParameterError(
                "covariance_estimator is not honored: take shrinkage, or the class of scikit-learn"
            )
        if self.solver == "svd" and self.shrinkage is not None:
            raise NotImplementedError("shrinkage not supported with 'svd' solver.")
        X, y = validate_data(self, X, y, ensure_min_samples=2, dtype=[np.float64, np.float32])
        native = GaussianDiscriminant(
            shrinkage=self.shrinkage, priors="fit" if self.priors is None else self.priors
        ).fit(X, y)
        self.native_, self.classes_ = native, native.classes_
        k, d = native.means_.shape
        most = min(k - 1, d)
        self._max_components = most if self.n_components is None else self.n_components
        if self._max_components > most:
            raise ValueError("n_components cannot be larger than min(n_features, n_classes - 1).")
        self.priors_ = np.exp(native.class_log_prior_)
        self.means_, self.xbar_ = native.means_, self.priors_ @ native.means_
        self.coef_, self.intercept_ = native.coef_, native.intercept_
        if self.solver != "svd" or self.store_covariance:
            self.covariance_ = native.covariance_
        if self.solver != "lsqr":
            away = (native.means_ - self.xbar_) * np.sqrt(self.priors_)[:, None]
            values, vectors = scipy.linalg.eigh(away.T @ away, native.covariance_)
            order = np.argsort(values)[::-1]
            values = np.maximum(values[order], 0.0)
            self.scalings_ = vectors[:, order][:, : most if self.solver == "svd" else d]
            self.explained_variance_ratio_ = (values / values.sum())[: self._max_components]
        self._n_features_out = self._max_components
        return self
