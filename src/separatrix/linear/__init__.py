"""Flat linear classifiers."""

from separatrix.linear.classifier import LinearClassifier
from separatrix.linear.logistic import LogisticRegression
from separatrix.linear.path import RegularizationPath, regularization_path
from separatrix.linear.svm import LinearSVM

__all__ = [
    "LinearClassifier",
    "LinearSVM",
    "LogisticRegression",
    "RegularizationPath",
    "regularization_path",
]
