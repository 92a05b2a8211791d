"""Bayes actions of a probabilistic classifier under a cost matrix."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from separatrix.bayes.decision.losses import CostMatrix
from separatrix.bayes.posterior import FloatArray
from separatrix.errors import DataError, ParameterError
from separatrix.validation import refuse_dask

__all__ = ["BayesDecision"]


def _has_log_probabilities(estimator: BayesDecision) -> bool:
    inner = getattr(estimator, "estimator_", estimator.estimator)
    return hasattr(inner, "predict_log_proba")


@dataclass(eq=False, repr=False)
class BayesDecision(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    r"""Predicts the Bayes action under a cost matrix, from any classifier with probabilities.

    The prediction is :math:`\arg\min_j \sum_i P(y = i \mid x)\, C_{ij}`. With a cost of rejection
    r, rows whose least expected cost is above r are rejected; under the 0-1 cost that is Chow's
    rule (1970), reject where the largest probability is below 1 - r.

    Costs are as good as the probabilities: calibrate them first where they are not.

    Parameters
    ----------
    estimator : estimator with `predict_proba`
        Of this package or of scikit-learn. It is cloned and fitted; wrap a fitted one in
        `sklearn.frozen.FrozenEstimator` to keep it.
    cost : CostMatrix, array-like of shape (K, K), or None, default=None
        C[i, j] is paid when class i is predicted to be class j, classes in the order of
        `classes_`; a `CostMatrix` may also hold the cost of rejection and other actions than the
        classes. None costs 1 per mistake.
    reject : float or array-like of shape (K,), optional
        Cost of rejection, where `cost` is not a `CostMatrix`.
    reject_label : object, optional
        What `predict` says for rejected rows; by default -1 among numbers and "reject" otherwise.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
        Labels, sorted.
    estimator_ : estimator
        The fitted classifier.
    cost_ : CostMatrix
        The costs in use.
    actions_ : ndarray of shape (A,) or (A + 1,)
        What `predict` can say, in the order of the columns of `expected_costs`; the label of
        rejection comes last.
    reject_label_ : object or None
        The label of rejection; None where there is none.
    n_features_in_, feature_names_in_
        As seen by the classifier, where it tells.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from separatrix import LogisticRegression
    >>> from separatrix.bayes import BayesDecision
    >>> X, y = load_iris(return_X_y=True)
    >>> model = BayesDecision(LogisticRegression(), reject=0.1).fit(X, y)
    >>> rejected = model.rejected(X)
    >>> bool(rejected.any()), bool((model.predict(X)[rejected] == -1).all())
    (True, True)
    """

    __sx_state__: ClassVar[tuple[str, ...]] = (
        "estimator_",
        "classes_",
        "cost_",
        "actions_",
        "reject_label_",
    )

    estimator: Any
    cost: Any = None
    _: KW_ONLY
    reject: Any = None
    reject_label: Any = None

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the classifier and check the costs against its classes.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n, d)
            Whatever the classifier takes.
        y : array-like of shape (n,)
            Labels.
        sample_weight : array-like of shape (n,), optional
            Handed to the classifier.

        Returns
        -------
        self
            The fitted meta-estimator.
        """
        refuse_dask(self, X, y)
        if not hasattr(self.estimator, "predict_proba"):
            raise ParameterError(
                f"{type(self.estimator).__name__} has no predict_proba; wrap it in a calibration "
                "that turns its scores into probabilities"
            )
        options = {} if sample_weight is None else {"sample_weight": sample_weight}
        self.estimator_ = clone(self.estimator).fit(X, y, **options)
        self.classes_: npt.NDArray[Any] = np.asarray(self.estimator_.classes_)
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
            elif hasattr(self, name):
                delattr(self, name)
        self.cost_ = self._check_cost()
        self._name_actions()
        return self

    def _check_cost(self) -> CostMatrix:
        n_classes = len(self.classes_)
        if isinstance(self.cost, CostMatrix):
            if self.reject is not None:
                raise ParameterError("give the cost of rejection to the CostMatrix or here")
            cost = self.cost
        else:
            table = 1.0 - np.eye(n_classes) if self.cost is None else self.cost
            cost = CostMatrix(table, self.reject)
        if cost.n_states != n_classes:
            raise ParameterError(
                f"cost has {cost.n_states} rows, but there are {n_classes} classes "
                f"({self.classes_.tolist()})"
            )
        if cost.actions is None and cost.n_actions != n_classes:
            raise ParameterError(
                f"cost has {cost.n_actions} columns for {n_classes} classes; name the actions: "
                "CostMatrix(cost, actions=[...])"
            )
        return cost

    def _name_actions(self) -> None:
        given = self.cost_.actions
        names = self.classes_ if given is None else _as_labels(list(given))
        self.reject_label_ = None
        if self.cost_.reject is not None:
            label = self.reject_label
            if label is None:
                label = -1 if names.dtype.kind in "iuf" else "reject"
            if label in names.tolist():
                raise ParameterError(
                    f"the label of rejection, {label!r}, is one of the actions; choose another "
                    "with reject_label"
                )
            self.reject_label_ = label
            # Concatenating whole numbers stays whole, and strings keep their length.
            names = _as_labels([*names.tolist(), label])
        self.actions_: npt.NDArray[Any] = names

    def predict_proba(self, X: Any) -> FloatArray:
        """Probabilities of the classes, from the classifier.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n, d)
            Examples.

        Returns
        -------
        ndarray of shape (n, K)
            P(y | x).
        """
        check_is_fitted(self)
        return np.asarray(self.estimator_.predict_proba(X))

    @available_if(_has_log_probabilities)  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> FloatArray:
        """Logarithms of the probabilities, from the classifier.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n, d)
            Examples.

        Returns
        -------
        ndarray of shape (n, K)
            ln P(y | x).
        """
        check_is_fitted(self)
        return np.asarray(self.estimator_.predict_log_proba(X))

    def expected_costs(self, X: Any) -> FloatArray:
        """Expected cost of every action.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n, d)
            Examples.

        Returns
        -------
        ndarray of shape (n, A) or (n, A + 1)
            In the order of `actions_`; rejection comes last.
        """
        probabilities = self.predict_proba(X)
        return self.cost_.risks(probabilities)

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Predict the action of least expected cost.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n, d)
            Examples.

        Returns
        -------
        ndarray of shape (n,)
            Classes (or names of actions), `reject_label_` for rejected rows.
        """
        cheapest = self.expected_costs(X).argmin(axis=1)
        labels: npt.NDArray[Any] = self.actions_[cheapest]
        return labels

    def rejected(self, X: Any) -> npt.NDArray[np.bool_]:
        """Tell which rows are rejected.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n, d)
            Examples.

        Returns
        -------
        ndarray of shape (n,)
            True where rejection is cheaper than every other action.
        """
        cheapest = self.expected_costs(X).argmin(axis=1)
        return np.asarray(cheapest == self.cost_.n_actions)

    def mean_cost(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Mean cost of the predictions, rejections included.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n, d)
            Examples.
        y : array-like of shape (n,)
            Their labels.
        sample_weight : array-like of shape (n,), optional
            Weight of each example.

        Returns
        -------
        float
            (1/n) sum_i C[y_i, action_i].
        """
        cheapest = self.expected_costs(X).argmin(axis=1)
        y = np.asarray(y)
        if y.shape != cheapest.shape:
            raise DataError(f"X has {len(cheapest)} rows, but y has shape {y.shape}")
        unknown = ~np.isin(y, self.classes_)
        if unknown.any():
            raise DataError(f"y[{int(np.argmax(unknown))}] is not one of the classes of the fit")
        codes = np.searchsorted(self.classes_, y)
        return float(np.average(self.cost_.table[codes, cheapest], weights=sample_weight))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.input_tags = inner.input_tags
        tags.classifier_tags = inner.classifier_tags
        return tags


def _as_labels(names: list[Any]) -> npt.NDArray[Any]:
    """Names as an array; of mixed kinds they stay the objects they are."""
    array = np.asarray(names)
    if array.ndim != 1 or any(
        type(a) is not type(b) for a, b in zip(array.tolist(), names, strict=True)
    ):
        array = np.empty(len(names), dtype=object)
        array[:] = names
    return array
