"""Laplace's approximation of logistic regression."""
