"""Flat linear classifiers as scikit-learn's classes."""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix.learners.linear import LinearSVM
from separatrix.models.export.learners import check_flat

__all__ = ["to_sklearn"]


def to_sklearn(model: Any) -> Any:
    """A scikit-learn classifier with the same weights, and so the same predictions.

    Parameters
    ----------
    model : LogisticRegression, LinearSVM, LinearClassifier, Perceptron or MIRA
        A fitted classifier.

    Returns
    -------
    sklearn.linear_model.LogisticRegression, sklearn.svm.LinearSVC or \
sklearn.linear_model.SGDClassifier
        The first for models with probabilities, the second for `LinearSVM`, the last for others.
        Its parameters are scikit-learn's defaults: it is for prediction, not for fitting again.

    Raises
    ------
    NotSavableError
        The model is not flat and linear.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from separatrix import LogisticRegression, to_sklearn
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LogisticRegression().fit(X, y)
    >>> bool((to_sklearn(model).predict(X) == model.predict(X)).all())
    True
    """
    from sklearn import linear_model, svm

    check_flat(model)
    if hasattr(model, "predict_proba"):
        result = linear_model.LogisticRegression(C=getattr(model, "C", 1.0))
    elif isinstance(model, LinearSVM):
        result = svm.LinearSVC(C=model.C)
    else:
        result = linear_model.SGDClassifier()
    result.coef_ = np.array(model.coef_)
    result.intercept_ = np.array(model.intercept_)
    result.classes_ = np.array(model.classes_)
    result.n_features_in_ = model.n_features_in_
    if hasattr(model, "feature_names_in_"):
        result.feature_names_in_ = np.array(model.feature_names_in_)
    result.n_iter_ = np.array([model.n_iter_], dtype=np.int32)
    return result
