"""Flat linear classifiers."""

from separatrix.learners.linear.classifier import LinearClassifier
from separatrix.learners.linear.logistic import LogisticRegression
from separatrix.learners.linear.mira import MIRA
from separatrix.learners.linear.path import RegularizationPath, follow_path, regularization_path
from separatrix.learners.linear.perceptron import Perceptron
from separatrix.learners.linear.svm import LinearSVM

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
