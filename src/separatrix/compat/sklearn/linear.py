"""scikit-learn's linear classifiers: LogisticRegression, LinearSVC, Perceptron.

scikit-learn's ``tol`` bounds norms of gradients, of which the gap to the optimum is about the
square: ``LogisticRegression`` proves a relative gap of ``tol**2`` here, so that weights agree to as
many digits; ``LinearSVC`` proves one of ``tol``. ``solver`` and ``dual`` choose a way to one
optimum, so that any of their values is taken and the solver is chosen from the data; the one that
changes the optimum is "liblinear", which penalizes the intercept, and so does the fit here.
"""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn import linear_model, svm
from sklearn.base import clone
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, validate_data

from separatrix.errors import ParameterError
from separatrix.learners import linear

__all__ = ["LinearSVC", "LogisticRegression", "Perceptron"]

#: Relative gap; far below it, sums of losses in double precision prove nothing.
_LEAST_GAP = 1e-10

#: Parameters that have the same name and meaning on both sides.
_SHARED = ("fit_intercept", "max_iter", "random_state", "verbose")


def _checked(model: Any, X: Any, y: Any) -> tuple[Any, npt.NDArray[Any]]:
    """X and y after scikit-learn's checks; sets what these leave, and `classes_`."""
    model._validate_params()
    X, y = validate_data(
        model, X, y, accept_sparse="csr", dtype=[np.float64, np.float32], order="C"
    )
    check_classification_targets(y)
    model.classes_ = np.unique(y)
    if len(model.classes_) < 2:
        raise ParameterError(
            "This solver needs samples of at least 2 classes in the data, but the data contains "
            f"only one class: {model.classes_[0]!r}"
        )
    return X, y


def _shared(model: Any) -> dict[str, Any]:
    return {name: getattr(model, name) for name in _SHARED}


def _unscaled_intercept(model: Any) -> None:
    if model.fit_intercept and model.intercept_scaling != 1:
        raise ParameterError(
            f"intercept_scaling={model.intercept_scaling!r} is not honored; to penalize the "
            "intercept less, append a column of that value to X and take fit_intercept=False, or "
            "take separatrix.LinearSVM, which leaves the intercept free"
        )


def _keep(model: Any, native: Any) -> None:
    model.native_ = native
    model.coef_, model.intercept_ = np.ascontiguousarray(native.coef_), native.intercept_


def _one_vs_rest(model: Any, native: Any, X: Any, y: Any, sample_weight: Any) -> int:
    """A fit for every class against the others; in each only its own class is weighted.

    Returns the largest number of passes.
    """
    classes = model.classes_
    weights = _check_sample_weight(sample_weight, X, dtype=np.float64)
    if len(classes) == 2:
        native.set_params(class_weight=model.class_weight).fit(X, y, weights)
        _keep(model, native)
        return int(native.n_iter_)
    own = np.ones(len(classes))
    if model.class_weight is not None:
        own = compute_class_weight(model.class_weight, classes=classes, y=y)
    fits = []
    for label, weight in zip(classes, own, strict=True):
        mine = y == label
        fits.append(clone(native).fit(X, mine, weights * np.where(mine, weight, 1.0)))
    model.native_ = fits
    model.coef_ = np.concatenate([fit.coef_ for fit in fits])
    model.intercept_ = np.concatenate([fit.intercept_ for fit in fits])
    return max(int(fit.n_iter_) for fit in fits)


class LogisticRegression(linear_model.LogisticRegression):  # type: ignore[misc]
    """scikit-learn's `LogisticRegression`, fitted by `separatrix.LogisticRegression`.

    Parameters, methods and attributes are those of scikit-learn's class; ``native_`` is the
    separatrix model.

    Examples
    --------
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    >>> LogisticRegression().fit(X, y).predict([[0.5], [2.5]])
    array([0, 1])
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the weights; see scikit-learn."""
        X, y = _checked(self, X, y)
        if self.solver == "liblinear" and len(self.classes_) > 2:
            raise ParameterError(
                "The 'liblinear' solver does not support multiclass classification (n_classes "
                ">= 3): take another solver, which fits softmax regression"
            )
        native = self.two_class_learner()
        if self.warm_start and hasattr(self, "native_"):
            native = self.native_.set_params(**native.get_params())
        native.fit(X, y, sample_weight)
        _keep(self, native)
        self.n_iter_ = np.array([native.n_iter_], dtype=np.int32)
        return self

    def two_class_learner(self) -> linear.LogisticRegression:
        """The separatrix learner of these parameters, not fitted."""
        liblinear = self.solver == "liblinear"
        if liblinear:
            _unscaled_intercept(self)
        return linear.LogisticRegression(
            **_shared(self),
            **self._penalty(),
            tol=max(self.tol**2, _LEAST_GAP) if self.tol < 1 else self.tol,
            class_weight=self.class_weight,
            warm_start=self.warm_start,
            n_jobs=self.n_jobs,
            penalize_intercept=liblinear,
        )

    def _penalty(self) -> dict[str, Any]:
        """Penalty, C and l1_ratio, whichever of scikit-learn's two ways to say it is taken."""
        penalty: Any = getattr(self, "penalty", "deprecated")
        ratio = self.l1_ratio
        if penalty == "deprecated":
            penalty = "l2" if not ratio else "l1" if ratio == 1 else "elasticnet"
        if penalty is None and self.C != 1.0:
            warnings.warn(
                "Setting penalty=None will ignore the C and l1_ratio parameters", stacklevel=3
            )
        if penalty is None or np.isinf(self.C):
            return {"penalty": None, "C": 1.0, "l1_ratio": None}
        own = ratio if penalty == "elasticnet" else None
        return {"penalty": penalty, "C": self.C, "l1_ratio": own}


class LinearSVC(svm.LinearSVC):  # type: ignore[misc]
    """scikit-learn's `LinearSVC`, fitted by `separatrix.LinearSVM`.

    As there, the intercept is penalized, and many classes are one against the rest unless
    ``multi_class="crammer_singer"``. ``native_`` is the separatrix model, or one for each class.

    Examples
    --------
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    >>> LinearSVC().fit(X, y).predict([[0.5], [2.5]])
    array([0, 1])
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the weights; see scikit-learn."""
        X, y = _checked(self, X, y)
        _unscaled_intercept(self)
        if self.multi_class == "crammer_singer":
            given = self._given() | {"class_weight": self.class_weight}
            native = linear.LinearSVM("hinge", **given).fit(X, y, sample_weight)
            _keep(self, native)
            self.n_iter_ = int(native.n_iter_)
            return self
        if self.penalty == "l1" and self.loss == "hinge":
            raise ParameterError(
                "penalty='l1' with loss='hinge' is not supported, as in scikit-learn: take "
                "loss='squared_hinge'"
            )
        native = self.two_class_learner()
        native.class_weight = None
        self.n_iter_ = _one_vs_rest(self, native, X, y, sample_weight)
        return self

    def _given(self) -> dict[str, Any]:
        return _shared(self) | {"tol": self.tol, "C": self.C, "penalize_intercept": True}

    def two_class_learner(self) -> linear.LinearClassifier:
        """The separatrix learner of two classes with these parameters, not fitted."""
        _unscaled_intercept(self)
        return linear.LinearClassifier(
            self.loss, self.penalty, class_weight=self.class_weight, **self._given()
        )


class Perceptron(linear_model.Perceptron):  # type: ignore[misc]
    """scikit-learn's `Perceptron`, fitted by `separatrix.Perceptron` without averages.

    Many classes are one against the rest. Passes end at `max_iter` or after the first without a
    mistake: `tol` and `n_iter_no_change`, which end them where the loss no longer falls, end
    nothing here. ``native_`` is the separatrix model, or one for each class.

    Examples
    --------
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    >>> Perceptron().fit(X, y).predict([[0.5], [2.5]])
    array([0, 1])
    """

    def fit(
        self,
        X: Any,
        y: Any,
        coef_init: Any = None,
        intercept_init: Any = None,
        sample_weight: Any = None,
    ) -> Self:
        """Learn from passes over the rows; see scikit-learn."""
        X, y = _checked(self, X, y)
        if self.penalty is not None:
            raise ParameterError(
                f"penalty={self.penalty!r} is not honored: the perceptron has none here; take "
                "separatrix.LinearSVM(C=1 / (alpha * n)), or penalty=None"
            )
        if self.early_stopping:
            raise ParameterError(
                "early_stopping=True is not honored; choose max_iter on held-out rows, as "
                "`separatrix compare` does"
            )
        if self.warm_start or coef_init is not None or intercept_init is not None:
            raise ParameterError(
                "warm_start, coef_init and intercept_init are not honored; take partial_fit of "
                "separatrix.Perceptron"
            )
        native = linear.Perceptron(
            "none",
            learning_rate=self.eta0,
            shuffle=self.shuffle,
            n_jobs=self.n_jobs,
            **_shared(self),
        )
        self.n_iter_ = _one_vs_rest(self, native, X, y, sample_weight)
        self.t_ = float(self.n_iter_ * X.shape[0] + 1)
        return self
