"""Several bags of words, each with probabilities of its own that sum to one."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from separatrix import NaiveBayes
from separatrix.errors import DataError, ParameterError

RANDOM = np.random.default_rng(0)
CITY, COLOR = RANDOM.integers(3, size=60), RANDOM.integers(4, size=60)
Y = (CITY + RANDOM.integers(2, size=60)) % 3
FLAGS = np.hstack([np.eye(3)[CITY], np.eye(4)[COLOR]])
KINDS = ["multinomial:city"] * 3 + ["multinomial:color"] * 4


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_flags_of_a_category_in_a_bag_are_the_category(make):
    flags = NaiveBayes(KINDS, smoothing=0.5).fit(make(FLAGS), Y)
    plain = NaiveBayes("categorical", smoothing=0.5).fit(np.column_stack([CITY, COLOR]), Y)
    np.testing.assert_allclose(
        flags.predict_joint_log_proba(make(FLAGS)),
        plain.predict_joint_log_proba(np.column_stack([CITY, COLOR])),
    )
    shares = np.exp(flags.feature_log_prob_)
    np.testing.assert_allclose(shares[:, :3].sum(axis=1), 1)
    np.testing.assert_allclose(shares[:, 3:].sum(axis=1), 1)


def test_an_unknown_category_says_nothing():
    model = NaiveBayes(KINDS).fit(FLAGS, Y)
    row = FLAGS[:1].copy()
    row[:, :3] = 0
    alone = NaiveBayes("multinomial").fit(FLAGS[:, 3:], Y)
    np.testing.assert_allclose(model.predict_proba(row), alone.predict_proba(row[:, 3:]))


def test_bags_are_kept_by_partial_fit_and_merge():
    whole = NaiveBayes(KINDS).fit(FLAGS, Y)
    first = NaiveBayes(KINDS).partial_fit(FLAGS[:30], Y[:30], classes=[0, 1, 2])
    second = NaiveBayes(KINDS).partial_fit(FLAGS[30:], Y[30:], classes=[0, 1, 2])
    merged = first.merge(second)
    first.partial_fit(FLAGS[30:], Y[30:])
    for model in (merged, first):
        np.testing.assert_allclose(model.predict_proba(FLAGS), whole.predict_proba(FLAGS))
    with pytest.raises(DataError, match="different bags"):
        whole.merge(NaiveBayes("multinomial").fit(FLAGS, Y))


def test_names_of_bags_are_for_counts():
    with pytest.raises(ParameterError, match="name of a bag"):
        NaiveBayes(["gaussian:city"] * 7).fit(FLAGS, Y)


def test_variances_may_be_smoothed_after_the_fit():
    X = RANDOM.normal(size=(60, 3)) * [1, 5, 0.01]
    late = NaiveBayes().fit(X, Y).set_params(var_smoothing=0.1)
    np.testing.assert_allclose(
        late.predict_proba(X), NaiveBayes(var_smoothing=0.1).fit(X, Y).predict_proba(X)
    )
