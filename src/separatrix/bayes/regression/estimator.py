"""Linear regression with a Gaussian prior: closed-form posterior, predictive and evidence."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import RegressorMixin, clone
from sklearn.utils.validation import check_is_fitted

from separatrix.bayes.posterior import check_level
from separatrix.bayes.regression.draws import DrawsMixin
from separatrix.bayes.regression.results import WeightIntervals
from separatrix.bayes.regression.selection import SelectionMixin
from separatrix.errors import DataError, ParameterError
from separatrix.validation import check_choice, refuse_dask, validate_X

__all__ = ["BayesianLinearRegression"]

FloatArray = npt.NDArray[np.float64]


@dataclass(eq=False, repr=False)
class BayesianLinearRegression(RegressorMixin, SelectionMixin, DrawsMixin):  # type: ignore[misc]
    r"""Linear regression with a Gaussian prior on the weights.

    :math:`y_i = w^\top x_i + b + \varepsilon_i`, :math:`\varepsilon_i \sim N(0, \sigma^2 / c_i)` in
    effect for a row of weight :math:`c_i`, and :math:`w \sim N(\mu_0, \Sigma_0)`. The posterior is

    .. math:: w \mid D \sim N(\mu, \Sigma), \quad
       \Sigma = (\sigma^{-2} X^\top X + \Sigma_0^{-1})^{-1}, \quad
       \mu = \Sigma (\sigma^{-2} X^\top y + \Sigma_0^{-1} \mu_0),

    found by orthogonal decompositions, without forming an inverse. With
    :math:`\Sigma_0 = (\sigma^2 / \lambda) I` its mean is ridge regression. A weight of two
    counts as seeing the row twice.

    Parameters
    ----------
    prior_mean : float or array-like of shape (d,), default=0.0
        Prior mean of the weights.
    prior_covariance : float or array-like of shape (d,) or (d, d), optional
        Prior covariance (a number times I, a diagonal, a matrix): :math:`\Sigma_0` itself for
        ``noise="known"``, in units of :math:`\sigma^2` for ``"conjugate"``, up to a factor that is
        fitted for ``"evidence"``.
    prior_precision : float or array-like of shape (d,) or (d, d), optional
        The inverse of the above, in its place.
    ridge : float, optional
        :math:`\lambda`, in place of both: :math:`\Sigma_0 = (\sigma^2 / \lambda) I`. With nothing
        given it is 1, and fitted for ``noise="evidence"`` (where a value that is given is kept).
    noise : {"known", "conjugate", "evidence"}, default="evidence"
        :math:`\sigma^2` is `noise_variance`; or has an inverse gamma prior, which makes predictions
        t distributions; or maximizes the evidence, together with the scale of the prior.
    noise_variance : float, optional
        :math:`\sigma^2` for ``noise="known"``; for ``"evidence"`` it keeps :math:`\sigma^2` fixed.
    noise_shape, noise_scale : float, default=1.0
        :math:`\sigma^2 \sim` InvGamma(shape, scale) for ``noise="conjugate"``; zeros are allowed
        and improper.
    fit_intercept : bool, default=True
        Learn an intercept b.
    intercept_prior : tuple of (mean, variance), optional
        :math:`b \sim N` with this mean and variance, in units of :math:`\sigma^2` unless
        ``noise="known"``. Flat by default; then `prior_predictive` and `log_evidence` do not exist.
    n_jobs : int or None, default=None
        Threads; None asks SEPARATRIX_NUM_THREADS, OMP_NUM_THREADS, then the CPUs.

    Attributes
    ----------
    coef_ : ndarray of shape (d,)
        Posterior mean of the weights.
    intercept_ : float
        Posterior mean of the intercept.
    noise_variance_ : float
        :math:`\sigma^2`; for ``noise="conjugate"`` scale / shape of its posterior.
    noise_shape_, noise_scale_ : float
        Posterior InvGamma(shape, scale) of the noise, for ``noise="conjugate"``.
    ridge_ : float
        :math:`\sigma^2` over the scale of the prior covariance.
    prior_scale_ : float
        The factor of the prior covariance: :math:`\sigma^2` / `ridge_`.
    moments_ : Moments
        Summary of all rows seen; all that is kept of them.

    Examples
    --------
    >>> import numpy as np
    >>> from separatrix import BayesianLinearRegression
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([1.0, 2.9, 5.1, 7.0])
    >>> model = BayesianLinearRegression(ridge=0.1, noise="known", noise_variance=0.01).fit(X, y)
    >>> model.coef_.round(3), round(model.intercept_, 3)
    (array([1.98]), 1.029)
    >>> mean, std = model.predict([[1.5]], return_std=True)
    >>> mean.round(2), std.round(3)
    (array([4.]), array([0.112]))
    """

    prior_mean: Any = 0.0
    _: KW_ONLY
    prior_covariance: Any = None
    prior_precision: Any = None
    ridge: float | None = None
    noise: str = "evidence"
    noise_variance: float | None = None
    noise_shape: float = 1.0
    noise_scale: float = 1.0
    fit_intercept: bool = True
    intercept_prior: tuple[float, float] | None = None
    n_jobs: int | None = None

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the posterior of the weights.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n, d)
            Training rows.
        y : array-like of shape (n,)
            Targets.
        sample_weight : array-like of shape (n,), optional
            Weight c_i of every row; 2 counts as seeing it twice.

        Returns
        -------
        self
            The fitted estimator.
        """
        refuse_dask(self, X, y)
        self._check_parameters()
        self.moments_ = self._take(X, y, sample_weight, reset=True)
        self._update()
        return self

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Add rows to those seen before; the result equals one `fit` of all of them.

        With ``noise="evidence"`` the noise and the scale of the prior are chosen again; as long as
        the rows are too few for that (one, under a flat intercept) there are no predictions yet.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n, d)
            New rows.
        y : array-like of shape (n,)
            Their targets.
        sample_weight : array-like of shape (n,), optional
            Their weights.

        Returns
        -------
        self
            The estimator.
        """
        refuse_dask(self, X, y)
        self._check_parameters()
        first = not hasattr(self, "moments_")
        new = self._take(X, y, sample_weight, reset=first)
        self.moments_ = new if first else self.moments_.merge(new)
        if self._enough():
            self._update()
        return self

    def merge(self, other: Self) -> Self:
        """The estimator that has seen the rows of both; neither of them changes.

        Parameters
        ----------
        other : BayesianLinearRegression
            Fitted with the same parameters on other rows of the same features.

        Returns
        -------
        BayesianLinearRegression
            A new estimator.
        """
        for model in (self, other):
            check_is_fitted(model, "moments_")
        mine, theirs = self.get_params(), other.get_params()
        for name, value in mine.items():
            if name != "n_jobs" and not np.array_equal(value, theirs[name]):
                raise ParameterError(f"the two models differ in {name}, so they do not merge")
        names = [list(getattr(model, "feature_names_in_", ())) for model in (self, other)]
        if self.n_features_in_ != other.n_features_in_ or names[0] != names[1]:
            raise DataError("the two models were fitted on different features")
        merged: Self = clone(self)
        merged.n_features_in_ = self.n_features_in_
        if names[0]:
            merged.feature_names_in_ = self.feature_names_in_
        merged.moments_ = self.moments_.merge(other.moments_)
        if merged._enough():
            merged._update()
        return merged

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Predictive mean, and its standard deviation where requested.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n, d)
            Rows.
        return_std : bool, default=False
            Return the standard deviation of a new y as well.

        Returns
        -------
        mean : ndarray of shape (n,)
            E[y | x, D].
        std : ndarray of shape (n,)
            Only with `return_std`.
        """
        X = self._check_X(X)
        mean = np.asarray(X @ self.coef_) + self.intercept_
        if not return_std:
            return mean
        parameter, noise = self._variance_parts(X)
        return mean, np.sqrt(parameter + noise)

    def variance_parts(self, X: Any) -> tuple[FloatArray, FloatArray]:
        """The two parts of the predictive variance.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n, d)
            Rows.

        Returns
        -------
        parameter : ndarray of shape (n,)
            Variance of x'w + b under the posterior.
        noise : ndarray of shape (n,)
            Variance of y around it.
        """
        return self._variance_parts(self._check_X(X))

    def predictive(self, X: Any, *, noise: bool = True) -> Any:
        """Predictive distribution of every row.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n, d)
            Rows.
        noise : bool, default=True
            The distribution of a new y; False gives that of the function value x'w + b.

        Returns
        -------
        scipy.stats frozen distribution
            Normal, or t for ``noise="conjugate"``, with parameters of shape (n,): `mean`, `std`,
            `interval`, `logpdf`, `cdf`, `rvs` and so on.
        """
        X = self._check_X(X)
        posterior = self.posterior_
        unit = self._unit_variances(posterior, X) + (1.0 if noise else 0.0)
        return posterior.distribution(np.asarray(X @ self.coef_) + self.intercept_, unit)

    def prior_predictive(self, X: Any, *, noise: bool = True) -> Any:
        """Predictive distribution of every row before any data; the estimator needs no fit.

        With ``noise="evidence"`` it needs one, which gives the noise and the scale of the prior.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n, d)
            Rows.
        noise : bool, default=True
            The distribution of a new y; False gives that of the function value.

        Returns
        -------
        scipy.stats frozen distribution
            Normal, or t for ``noise="conjugate"``, with parameters of shape (n,).
        """
        probe = self if hasattr(self, "moments_") else clone(self)
        X = validate_X(probe, X, reset=not hasattr(self, "moments_"))
        prior = self._before(X.shape[1])
        unit = self._unit_variances(prior, X) + (1.0 if noise else 0.0)
        return prior.distribution(np.asarray(X @ prior.weights()) + prior.intercept(), unit)

    def posterior(self) -> Any:
        """Posterior of the weights and, last, of the intercept, as a scipy.stats distribution.

        Returns
        -------
        scipy.stats frozen distribution
            Multivariate normal, or t for ``noise="conjugate"``, of dimension d + 1 (d without an
            intercept).
        """
        check_is_fitted(self, "coef_")
        return self.posterior_.joint(self.fit_intercept)

    def prior(self, n_features: int | None = None) -> Any:
        """Prior of the weights and, last, of the intercept, as a scipy.stats distribution.

        Parameters
        ----------
        n_features : int, optional
            Number of features, needed before `fit`.

        Returns
        -------
        scipy.stats frozen distribution
            As for `posterior`; the prior of the intercept must be proper.
        """
        if n_features is None:
            n_features = getattr(self, "n_features_in_", None)
        if n_features is None:
            raise ParameterError("before fit, prior needs n_features")
        return self._before(n_features).joint(self.fit_intercept)

    def credible_interval(self, level: float = 0.95, kind: str = "equal") -> WeightIntervals:
        """Credible intervals of the weights and of the intercept.

        Parameters
        ----------
        level : float, default=0.95
            Posterior probability of each interval.
        kind : {"equal", "highest"}, default="equal"
            Equal tails or highest density; normal and t distributions have them in common.

        Returns
        -------
        WeightIntervals
            `coef` of shape (d, 2) and `intercept` of shape (2,): lower and upper ends.
        """
        check_is_fitted(self, "coef_")
        check_choice("kind", kind, ("equal", "highest"))
        center, unit = np.append(self.coef_, self.intercept_), self.posterior_.unit_marginals()
        if not self.fit_intercept:
            center, unit = center[:-1], unit[:-1]
        marginals = self.posterior_.distribution(center, unit)
        ends = np.stack(marginals.interval(check_level(level)), axis=-1)
        d = self.n_features_in_
        return WeightIntervals(ends[:d], ends[d] if self.fit_intercept else np.zeros(2))
