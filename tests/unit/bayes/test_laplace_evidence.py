"""Laplace posterior of logistic regression: the evidence, and C chosen by it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit

from separatrix import (
    LaplaceLogisticRegression,
    regularization_path,
)
from separatrix.errors import ParameterError
from tests.unit.bayes.laplace_problems import grid_posterior, problem


@pytest.mark.parametrize("classes", [2, 3])
def test_evidence_chooses_the_highest(classes):
    X, y = problem(classes, n=80, d=8, seed=2)
    model = LaplaceLogisticRegression("evidence", penalize_intercept=True, tol=1e-10).fit(X, y)
    path = model.evidence_path_
    assert path.Cs[path.log_evidences.argmax()] == model.C_
    assert model.log_evidence() == pytest.approx(path.log_evidences.max(), abs=1e-4)
    for factor in (0.8, 1.25):
        other = LaplaceLogisticRegression(
            model.C_ * factor, penalize_intercept=True, tol=1e-10
        ).fit(X, y)
        assert other.log_evidence() < model.log_evidence() + 1e-4
    flat = LaplaceLogisticRegression("evidence").fit(X, y)
    with pytest.raises(ParameterError, match="penalize_intercept"):
        flat.log_evidence()


def test_evidence_against_exact_integration_along_C():
    X, y = problem(n=150, d=1, seed=3)
    for C in (0.1, 1.0, 30.0):
        model = LaplaceLogisticRegression(C, penalize_intercept=True, tol=1e-12).fit(X, y)
        exact = grid_posterior(X, y, C)[3]
        assert model.log_evidence() == pytest.approx(exact, abs=0.05)


def test_evidence_finds_the_scale_of_the_prior():
    generator = np.random.default_rng(0)
    X = generator.standard_normal((3000, 60))
    for C in (0.05, 1.0):
        w = np.sqrt(C) * generator.standard_normal(60)
        y = generator.random(3000) < expit(X @ w)
        model = LaplaceLogisticRegression("evidence").fit(X, y)
        assert np.log(model.C_ / C) == pytest.approx(0, abs=0.7)


def test_a_path_gives_posteriors():
    X, y = problem(3)
    path = regularization_path(LaplaceLogisticRegression(tol=1e-10), X, y, [0.1, 10.0])
    for C, model in zip(path.Cs, path.estimators, strict=True):
        single = LaplaceLogisticRegression(C, tol=1e-10).fit(X, y)
        np.testing.assert_allclose(model.predict_proba(X), single.predict_proba(X), atol=1e-5)
        assert C == model.C_
