from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import f1_score

from separatrix.learners.multilabel.decisions import best_f1_sets, drawn_f1_tables, f1_tables
from separatrix.structures.label_set.complete import all_sets


def _f1(truth, said):
    total = truth.sum() + said.sum()
    return 1.0 if total == 0 else 2.0 * (truth * said).sum() / total


@pytest.mark.parametrize("L", [1, 2, 3, 5])
def test_best_f1_is_that_of_enumeration(L):
    random = np.random.default_rng(L)
    sets = all_sets(L)
    shares = random.dirichlet(np.full(len(sets), 0.5), size=40)
    worth = np.array([[_f1(truth, said) for truth in sets] for said in sets])
    expected = shares @ worth.T
    found = best_f1_sets(*f1_tables(shares, sets))
    numbers = found @ (1 << np.arange(L))
    np.testing.assert_allclose(expected[np.arange(40), numbers], expected.max(axis=1), rtol=1e-12)


def test_gains_are_expected_f1():
    sets = all_sets(3)
    shares = np.random.default_rng(0).dirichlet(np.ones(8), size=1)
    gains, empty = f1_tables(shares, sets)
    said = np.array([1, 0, 1])
    total = sum(p * _f1(truth, said) for p, truth in zip(shares[0], sets, strict=True))
    assert gains[0, [0, 2], 1].sum() == pytest.approx(total)
    assert empty[0] == pytest.approx(shares[0, 0])


def test_draws_are_sets_of_equal_weight():
    random = np.random.default_rng(2)
    draws = random.integers(0, 2, (30, 4, 3))
    found = drawn_f1_tables(draws)
    for row in range(4):
        expected = f1_tables(np.full((1, 30), 1 / 30), draws[:, row])
        np.testing.assert_allclose(found[0][row], expected[0][0], rtol=1e-12)
        np.testing.assert_allclose(found[1][row], expected[1][0], rtol=1e-12)


def test_f1_is_scikit_learns():
    random = np.random.default_rng(1)
    truth, said = random.integers(0, 2, (50, 4)), random.integers(0, 2, (50, 4))
    own = np.mean([_f1(a, b) for a, b in zip(truth, said, strict=True)])
    assert own == pytest.approx(f1_score(truth, said, average="samples", zero_division=1))


def test_all_sets_are_different():
    sets = all_sets(4)
    assert sets.shape == (16, 4)
    assert len(np.unique(sets, axis=0)) == 16
