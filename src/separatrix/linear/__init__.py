"""Flat linear classifiers."""

from separatrix.linear.classifier import LinearClassifier
from separatrix.linear.logistic import LogisticRegression
from separatrix.linear.mira import MIRA
from separatrix.linear.path import RegularizationPath, follow_path, regularization_path
from separatrix.linear.perceptron import Perceptron
from separatrix.linear.svm import LinearSVM

__all__ = [
    "MIRA",
    "LinearClassifier",
    "LinearSVM",
    "LogisticRegression",
    "Perceptron",
    "RegularizationPath",
    "follow_path",
    "regularization_path",
]
