"""What stands behind `BayesianLinearRegression`: data in, hyperparameters, posterior."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.utils.validation import (
    _check_sample_weight,
    assert_all_finite,
    check_is_fitted,
    column_or_1d,
)

from separatrix.bayes.regression.moments import Moments
from separatrix.bayes.regression.posterior import Intercept, LinearPosterior, decompose
from separatrix.bayes.regression.prior import GaussianPrior
from separatrix.errors import DataError, NotFittedError, ParameterError
from separatrix.structures.labels import make_design
from separatrix.validation import (
    NamesElsewhere,
    check_choice,
    check_given,
    check_positive,
    is_sparse,
    name_column,
    number_of_threads,
    validate_X,
    warn_unused,
)

__all__ = ["BaseGaussianRegression"]

FloatArray = npt.NDArray[np.float64]

#: Cells of a matrix of rows that are transformed at a time.
_BLOCK = 1 << 22


class BaseGaussianRegression(NamesElsewhere, BaseEstimator):  # type: ignore[misc]
    """Checks of data and parameters, and the way from moments to the posterior."""

    __sx_state__: ClassVar[tuple[str, ...]] = (
        "moments_",
        "posterior_",
        "coef_",
        "intercept_",
        "ridge_",
        "noise_variance_",
        "prior_scale_",
        "noise_shape_",
        "noise_scale_",
    )

    _elsewhere: ClassVar[Mapping[str, str]] = {
        "alpha": "say ridge",
        "alpha_1": "say noise='conjugate' with noise_shape; the evidence needs no prior",
        "alpha_2": "say noise='conjugate' with noise_scale; the evidence needs no prior",
        "alpha_init": "the evidence is searched over all values",
        "compute_score": "log_evidence() is always there",
        "lambda_1": "say ridge or prior_precision; the evidence needs no prior",
        "lambda_2": "say ridge or prior_precision; the evidence needs no prior",
        "lambda_init": "the evidence is searched over all values",
    }

    prior_mean: Any
    prior_covariance: Any
    prior_precision: Any
    ridge: float | None
    noise: str
    noise_variance: float | None
    noise_shape: float
    noise_scale: float
    fit_intercept: bool
    intercept_prior: tuple[float, float] | None
    n_jobs: int | None
    n_features_in_: int
    feature_names_in_: npt.NDArray[Any]
    moments_: Moments
    posterior_: LinearPosterior
    coef_: FloatArray
    intercept_: float
    ridge_: float
    noise_variance_: float
    prior_scale_: float

    # -- parameters ----------------------------------------------------------------------------

    def _check_parameters(self) -> None:
        check_choice("noise", self.noise, ("known", "conjugate", "evidence"))
        given = [self.prior_covariance, self.prior_precision, self.ridge]
        if sum(value is not None for value in given) > 1:
            raise ParameterError("give one of prior_covariance, prior_precision and ridge")
        if self.ridge is not None:
            check_positive(ridge=self.ridge)
        if self.noise_variance is not None:
            check_positive(noise_variance=self.noise_variance)
            if self.noise == "conjugate":
                raise ParameterError(
                    "noise='conjugate' takes noise_shape and noise_scale, not noise_variance"
                )
        elif self.noise == "known":
            raise ParameterError("noise='known' needs noise_variance")
        for name in ("noise_shape", "noise_scale"):
            value = getattr(self, name)
            if not isinstance(value, int | float | np.number) or not 0 <= float(value) < math.inf:
                raise ParameterError(f"{name} must be a finite number >= 0, got {value!r}")
        if self.noise != "conjugate":
            warn_unused(self, "noise='conjugate'", "noise_shape", "noise_scale")
        self._intercept(1.0)

    def _intercept(self, noise: float) -> Intercept:
        """The prior of the intercept, its variance in units of the noise variance."""
        if not self.fit_intercept:
            if self.intercept_prior is not None:
                raise ParameterError("intercept_prior needs fit_intercept=True")
            return Intercept(0.0, 0.0)
        if self.intercept_prior is None:
            return Intercept()
        try:
            mean, variance = (float(value) for value in self.intercept_prior)
        except (TypeError, ValueError):
            mean = variance = math.nan
        if not (math.isfinite(mean) and 0 <= variance < math.inf):
            raise ParameterError(
                "intercept_prior must be None or a pair (mean, variance) of finite numbers, got "
                f"{self.intercept_prior!r}"
            )
        return Intercept(mean, variance / noise if self.noise == "known" else variance)

    def _proper_intercept(self, noise: float) -> Intercept:
        intercept = self._intercept(noise)
        if intercept.flat:
            raise ParameterError(
                "the prior of the intercept is flat, so that neither evidence nor prior "
                "predictive exist; give a proper one, intercept_prior=(mean, variance)"
            )
        return intercept

    def _require_proper_noise(self) -> None:
        if self.noise == "conjugate" and not (self.noise_shape > 0 and self.noise_scale > 0):
            raise ParameterError(
                "the prior of the noise is improper, so that neither evidence nor prior "
                "predictive exist; give a positive noise_shape and noise_scale"
            )

    def _shape(self, n_features: int) -> GaussianPrior:
        return GaussianPrior.of(
            self.prior_mean, self.prior_covariance, self.prior_precision, n_features
        )

    def _fixed_ridge(self) -> float | None:
        """sigma^2 over the scale of the prior covariance, None where evidence decides."""
        if self.ridge is not None:
            return float(self.ridge)
        if self.noise == "evidence":
            return None
        given = self.prior_covariance is not None or self.prior_precision is not None
        if given and self.noise == "known":
            assert self.noise_variance is not None
            return float(self.noise_variance)
        return 1.0

    # -- data ----------------------------------------------------------------------------------

    def _take(self, X: Any, y: Any, sample_weight: Any, *, reset: bool) -> Moments:
        check_given(self, y)
        X = validate_X(self, X, reset=reset)
        y = self._check_y(y, X.shape[0])
        weights = self._check_weights(sample_weight, X)
        n_threads = number_of_threads(self.n_jobs)
        if is_sparse(X):
            X = self._finite(X, n_threads)
        try:
            moments = Moments.of(X, y, weights, n_threads)
        except DataError as error:
            raise name_column(error, self) from None
        if moments.total == 0:
            raise DataError("All sample weights are zero; at least one must be positive.")
        return moments

    def _finite(self, X: Any, n_threads: int) -> Any:
        try:
            make_design(X, n_threads)
        except DataError as error:
            raise name_column(error, self) from None
        return X

    def _check_X(self, X: Any) -> Any:
        check_is_fitted(self, "coef_")
        return self._finite(validate_X(self, X, reset=False), number_of_threads(self.n_jobs))

    def _check_y(self, y: Any, n_rows: int) -> FloatArray:
        y = column_or_1d(y, warn=True)
        if y.dtype.kind == "O" or y.dtype.kind in "US":
            y = y.astype(np.float64)
        if y.dtype.kind == "c":
            raise DataError("Complex data not supported: y must be real")
        y = np.ascontiguousarray(y, dtype=np.float64)
        if len(y) != n_rows:
            raise DataError(
                "Found input variables with inconsistent numbers of samples: X has "
                f"{n_rows} rows, y has {len(y)}"
            )
        assert_all_finite(y, input_name="y")
        values: FloatArray = y
        return values

    def _check_weights(self, sample_weight: Any, X: Any) -> FloatArray | None:
        if sample_weight is None:
            return None
        weights = _check_sample_weight(sample_weight, X, dtype=np.float64)
        if (weights < 0).any():
            row = int(np.argmax(weights < 0))
            raise DataError(f"sample_weight is negative at row {row} ({weights[row]:g})")
        return np.ascontiguousarray(weights)

    # -- posterior -----------------------------------------------------------------------------

    def _enough(self) -> bool:
        """Whether the rows seen so far speak about the noise where evidence has to decide it."""
        if self.noise != "evidence":
            return True
        # Frequencies may be fractions, but a single row tells nothing beyond a flat intercept.
        flat = self._intercept(1.0).flat
        return self.moments_.total > flat and self.moments_.n_rows > flat

    def _update(self) -> None:
        """From moments to the posterior."""
        if not self._enough():
            raise DataError(
                "noise='evidence' needs at least two rows (and a weight above one in all) beside "
                f"a flat intercept, got n_samples = {self.moments_.n_rows}; use noise='known' or "
                "'conjugate', or give intercept_prior"
            )
        prior = self._shape(self.n_features_in_)
        intercept = self._intercept(self.noise_variance or 1.0)
        spectrum = decompose(self.moments_, prior, intercept)
        ridge = self._fixed_ridge()
        if ridge is None:
            ridge = spectrum.best_ridge(self.noise_variance)
        degrees = math.inf
        if self.noise_variance is not None:
            noise = float(self.noise_variance)
        elif self.noise == "evidence":
            noise = spectrum.best_noise(ridge)
        else:
            squares = float(spectrum.squares(np.array(ridge)))
            self.noise_shape_ = self.noise_shape + spectrum.size / 2
            self.noise_scale_ = self.noise_scale + squares / 2
            if self.noise_shape_ <= 0 or self.noise_scale_ <= 0:
                raise DataError(
                    "the posterior of the noise is improper: give a positive noise_shape and "
                    f"noise_scale, or more rows (n_samples = {self.moments_.n_rows})"
                )
            noise, degrees = self.noise_scale_ / self.noise_shape_, 2 * self.noise_shape_
        self.posterior_ = LinearPosterior.of(
            self.moments_, prior, intercept, spectrum, ridge, noise, degrees
        )
        self.ridge_, self.noise_variance_, self.prior_scale_ = ridge, noise, noise / ridge
        self.coef_ = self.posterior_.weights()
        self.intercept_ = self.posterior_.intercept() if self.fit_intercept else 0.0

    def _before(self, n_features: int) -> LinearPosterior:
        """The prior as a `LinearPosterior` without data."""
        self._check_parameters()
        if self.noise == "evidence" and not hasattr(self, "coef_"):
            raise NotFittedError(
                "noise='evidence' takes the noise and the prior scale from the data: call fit "
                "before the prior is requested"
            )
        self._require_proper_noise()
        prior = self._shape(n_features)
        if self.noise == "conjugate":
            noise, degrees = self.noise_scale / self.noise_shape, 2.0 * self.noise_shape
        else:
            noise = self.noise_variance_ if self.noise_variance is None else self.noise_variance
            degrees = math.inf
        ridge = self._fixed_ridge()
        ridge = self.ridge_ if ridge is None else ridge
        return LinearPosterior.before(prior, self._proper_intercept(noise), ridge, noise, degrees)

    def _unit_variances(self, posterior: LinearPosterior, X: Any) -> FloatArray:
        """Squared scale of x'w + b over sigma^2, block by block."""
        size = max(1, _BLOCK // X.shape[1])
        parts = []
        for start in range(0, X.shape[0], size):
            rows = X[start : start + size]
            values = rows.toarray() if is_sparse(rows) else rows
            parts.append(posterior.unit_variances(np.asarray(values, dtype=np.float64)))
        return np.concatenate(parts)

    def _variance_parts(self, X: Any) -> tuple[FloatArray, FloatArray]:
        posterior: LinearPosterior = self.posterior_
        factor = posterior.noise * posterior.inflation
        parameter = factor * self._unit_variances(posterior, X)
        return parameter, np.full(len(parameter), factor)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
