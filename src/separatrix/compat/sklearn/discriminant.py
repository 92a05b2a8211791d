"""scikit-learn's LinearDiscriminantAnalysis from the moments of GaussianDiscriminant."""

from __future__ import annotations

import warnings
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
    eigenvectors of the scatters between and within the classes, whose signs are arbitrary. With a
    `covariance_estimator`, which is a function of Python, the fit is scikit-learn's own, and there
    is no ``native_``.

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
            self.__dict__.pop("native_", None)
            return super().fit(X, y)  # type: ignore[no-any-return]
        if self.solver == "svd" and self.shrinkage is not None:
            raise NotImplementedError("shrinkage not supported with 'svd' solver.")
        X, y = validate_data(self, X, y, ensure_min_samples=2, dtype=[np.float64, np.float32])
        if len(X) <= len(np.unique(y)):
            raise ParameterError("The number of samples must be more than the number of classes.")
        native = GaussianDiscriminant(shrinkage=self.shrinkage, priors=self._shares()).fit(X, y)
        self.native_, self.classes_ = native, native.classes_
        k, d = native.means_.shape
        most = min(k - 1, d)
        self._max_components = most if self.n_components is None else self.n_components
        if self._max_components > most:
            raise ValueError("n_components cannot be larger than min(n_features, n_classes - 1).")
        self.priors_ = np.exp(native.class_log_prior_)
        self.means_, self.xbar_ = native.means_, self.priors_ @ native.means_
        self.coef_ = native.coef_.astype(X.dtype, copy=False)
        self.intercept_ = native.intercept_.astype(X.dtype, copy=False)
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

    def _shares(self) -> Any:
        """The priors as shares of one, with scikit-learn's words where they are not."""
        if self.priors is None:
            return "fit"
        priors = np.asarray(self.priors, dtype=np.float64)
        if (priors < 0).any():
            raise ParameterError("priors must be non-negative")
        if abs(priors.sum() - 1.0) > 1e-5:
            warnings.warn("The priors do not sum to 1. Renormalizing", UserWarning, stacklevel=3)
        return priors / priors.sum()
