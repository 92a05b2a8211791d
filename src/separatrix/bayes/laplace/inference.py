"""What a Laplace posterior of logistic regression says: probabilities, intervals, odds ratios."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import stats
from scipy.special import expit
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from separatrix.bayes.interchange import ArvizDraws
from separatrix.bayes.laplace.moderation import monte_carlo, probit
from separatrix.bayes.laplace.posterior import LaplacePosterior
from separatrix.bayes.laplace.results import OddsRatios
from separatrix.bayes.posterior import check_level
from separatrix.bayes.regression.results import WeightIntervals
from separatrix.errors import ParameterError
from separatrix.learners.linear.base import checked_design
from separatrix.learners.linear.likelihood import LikelihoodClassifier
from separatrix.validation import check_choice, float_type, is_sparse, number_of_threads, validate_X

__all__ = ["LaplaceInference"]

FloatArray = npt.NDArray[np.float64]


class LaplaceInference(ArvizDraws, LikelihoodClassifier):
    """The side of `LaplaceLogisticRegression` that uses the posterior."""

    prediction: str
    posterior_: LaplacePosterior
    _points: FloatArray

    def _moments(self, X: Any) -> tuple[FloatArray, FloatArray]:
        """Mean and covariance of the scores."""
        check_is_fitted(self, "posterior_")
        X = validate_X(self, X, reset=False)
        checked_design(self, X, number_of_threads(self.n_jobs))
        return self.posterior_.scores(X.tocsr() if is_sparse(X) else X)

    def predict_proba(self, X: Any) -> npt.NDArray[Any]:
        """Class probabilities averaged over the posterior, by `prediction`.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n, d)
            Rows.

        Returns
        -------
        ndarray of shape (n, K)
            P(y = k | x, D), columns in the order of `classes_`.
        """
        mean, covariance = self._moments(X)
        basis = self.posterior_.basis
        if self.prediction == "probit":
            proba = probit(mean, covariance, basis)
        else:
            proba = monte_carlo(mean, covariance, basis, self._points)
        return proba.astype(float_type(X), copy=False)

    def predict_log_proba(self, X: Any) -> npt.NDArray[Any]:
        """Logarithms of `predict_proba`, shape (n, K)."""
        with np.errstate(divide="ignore"):
            logs: npt.NDArray[Any] = np.log(self.predict_proba(X))
            return logs

    def decision_function(self, X: Any) -> npt.NDArray[Any]:
        """Logarithms of the averaged probabilities, of their ratio for two classes.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n, d)
            Rows.

        Returns
        -------
        ndarray of shape (n,) or (n, K)
            log P(second) / P(first) for two classes, log P(y = k | x, D) otherwise.
        """
        logs = self.predict_log_proba(X)
        return logs[:, 1] - logs[:, 0] if logs.shape[1] == 2 else logs

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The label of the highest averaged probability; the first label wins a tie.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n, d)
            Rows.

        Returns
        -------
        ndarray of shape (n,)
            Labels.
        """
        winners = self.predict_proba(X).argmax(axis=1)
        labels: npt.NDArray[Any] = self.classes_[winners]
        return labels

    def probability_interval(self, X: Any, level: float = 0.95) -> FloatArray:
        """Credible intervals of the class probabilities sigmoid(s) or softmax(s), equal tails.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n, d)
            Rows.
        level : float, default=0.95
            Posterior probability of each interval.

        Returns
        -------
        ndarray of shape (n, K, 2)
            Lower and upper ends; exact for two classes, from `n_draws` draws for more.
        """
        tail = (1 - check_level(level)) / 2
        mean, covariance = self._moments(X)
        basis = self.posterior_.basis
        if basis.shape != (1, 1):
            return monte_carlo(mean, covariance, basis, self._points, (tail, 1 - tail))
        reach = stats.norm.isf(tail) * np.sqrt(np.maximum(covariance[:, 0, 0], 0.0))
        low, high = mean[:, 0] - reach, mean[:, 0] + reach
        second = np.stack([expit(low), expit(high)], axis=-1)
        return np.stack([1 - second[:, ::-1], second], axis=1)

    def credible_interval(self, level: float = 0.95, kind: str = "equal") -> WeightIntervals:
        """Credible intervals of the weights and of the intercepts.

        Parameters
        ----------
        level : float, default=0.95
            Posterior probability of each interval.
        kind : {"equal", "highest"}, default="equal"
            Equal tails or highest density; normal distributions have them in common.

        Returns
        -------
        WeightIntervals
            `coef` of shape (1, d, 2) or (K, d, 2), `intercept` of shape (1, 2) or (K, 2).
        """
        check_is_fitted(self, "posterior_")
        check_choice("kind", kind, ("equal", "highest"))
        mean, std = self.posterior_.contrasts(np.eye(len(self.coef_)))
        reach = stats.norm.isf((1 - check_level(level)) / 2) * std
        ends = np.stack([mean - reach, mean + reach], axis=-1)
        d = self.n_features_in_
        intercept = ends[:, d] if self.fit_intercept else np.zeros((len(ends), 2))
        return WeightIntervals(ends[:, :d], intercept)

    def odds_ratios(
        self,
        label: Any = None,
        *,
        level: float = 0.95,
        reference: Any = None,
        top: int | None = None,
        feature_names: Any = None,
    ) -> OddsRatios:
        """Factors exp(w_j) by which one unit of a feature multiplies the odds of a class.

        Parameters
        ----------
        label : object, optional
            The class whose odds are told; all by default, of two the second.
        level : float, default=0.95
            Posterior probability of each interval.
        reference : label, optional
            The class that the odds are against; with more than two classes the geometric mean of
            all of them by default.
        top : int, optional
            Features to print for every class, the clearest first.
        feature_names : sequence of str, optional
            Names of the columns; those of the training frame by default.

        Returns
        -------
        OddsRatios
            With arrays of shape (1, d) for two classes or one `label`, and (K, d) otherwise.
        """
        check_is_fitted(self, "posterior_")
        n_scores = len(self.coef_)
        directions = np.eye(n_scores)
        against = None if reference is None else self._number_of("reference", reference)
        chosen = None if label is None else self._number_of("label", label)
        if n_scores == 1:
            if None not in (against, chosen) and against == chosen:
                raise ParameterError(f"label and reference are both {label!r}")
            # One score tells the odds of the second class, its negative those of the first.
            first = chosen == 0 or against == 1
            directions = -directions if first else directions
            labels = [str(self.classes_[0 if first else 1])]
        else:
            labels = [str(one) for one in self.classes_]
            if against is not None:
                directions = directions - directions[against]
            if chosen is not None:
                directions, labels = directions[[chosen]], [labels[chosen]]
        mean, std = self.posterior_.contrasts(directions)
        d = self.n_features_in_
        mean, std = mean[:, :d], std[:, :d]
        reach = stats.norm.isf((1 - check_level(level)) / 2) * std
        names = getattr(self, "feature_names_in_", [f"x{j}" for j in range(d)])
        if feature_names is not None:
            names = list(feature_names)
        if len(names) != d:
            raise ParameterError(f"feature_names has {len(names)} names, but there are {d} columns")
        return OddsRatios(
            tuple(str(name) for name in names),
            tuple(labels),
            np.exp(mean),
            np.exp(mean - reach),
            np.exp(mean + reach),
            float(level),
            top,
        )

    def _number_of(self, parameter: str, label: Any) -> int:
        at = np.flatnonzero(self.classes_ == label)
        if len(at) != 1:
            raise ParameterError(
                f"{parameter} must be one of {self.classes_.tolist()}, got {label!r}"
            )
        return int(at[0])

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
        ndarray of shape (n_draws, 1, d + 1) or (n_draws, K, d + 1), or d without intercepts
            Draws in the shape of `coef_`, with the intercepts as last column.
        """
        check_is_fitted(self, "posterior_")
        return self.posterior_.sample(n_draws, check_random_state(random_state))

    def log_evidence(self) -> float:
        """Laplace approximation of log p(y | X, C), the weights integrated out.

        Returns
        -------
        float
            In nats. It needs a proper prior of the intercepts, ``penalize_intercept=True``; to
            compare values of C, `evidence_path_` does not.
        """
        check_is_fitted(self, "posterior_")
        if not self.posterior_.proper:
            raise ParameterError(
                "the prior of the intercepts is flat, so that there is no evidence; give them a "
                "proper one with penalize_intercept=True"
            )
        return self.posterior_.log_evidence
