"""scikit-learn's classes over the kernels of separatrix: a program changes one import.

Each class derives from scikit-learn's own of the same name, so that its parameters, its checks, its
methods and `isinstance` stay what they were; `fit` is done here, and leaves the attributes that
scikit-learn's leaves. ``native_`` is the separatrix model behind it, where there is one, with its
certificate in ``native_.solution_``. A parameter that cannot be honored raises `ParameterError`
and says what serves.

Examples
--------
>>> from sklearn.datasets import load_iris
>>> from separatrix.compat.sklearn import LogisticRegression
>>> X, y = load_iris(return_X_y=True)
>>> model = LogisticRegression().fit(X, y)
>>> model.coef_.shape, model.native_.solution_.stopped.value
((3, 4), 'converged')
"""

from separatrix.compat.sklearn.discriminant import LinearDiscriminantAnalysis
from separatrix.compat.sklearn.linear import LinearSVC, LogisticRegression, Perceptron
from separatrix.compat.sklearn.multiclass import (
    OneVsOneClassifier,
    OneVsRestClassifier,
    OutputCodeClassifier,
)
from separatrix.compat.sklearn.naive_bayes import (
    BernoulliNB,
    ComplementNB,
    GaussianNB,
    MultinomialNB,
)
from separatrix.compat.sklearn.regression import BayesianRidge
from separatrix.compat.sklearn.text import CountVectorizer, HashingVectorizer, TfidfVectorizer

__all__ = [
    "BayesianRidge",
    "BernoulliNB",
    "ComplementNB",
    "CountVectorizer",
    "GaussianNB",
    "HashingVectorizer",
    "LinearDiscriminantAnalysis",
    "LinearSVC",
    "LogisticRegression",
    "MultinomialNB",
    "OneVsOneClassifier",
    "OneVsRestClassifier",
    "OutputCodeClassifier",
    "Perceptron",
    "TfidfVectorizer",
]
