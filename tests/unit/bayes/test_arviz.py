"""Draws for ArviZ: both of its calling conventions, and a clear error where it is missing."""

from __future__ import annotations

import sys
from types import ModuleType

import numpy as np
import pytest

from separatrix.bayes import BetaBernoulli, DirichletCategorical, NormalInverseGamma
from separatrix.bayes.interchange import draws_to_arviz
from separatrix.errors import DataError, MissingPackageError


def test_without_arviz_the_error_names_the_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "arviz", None)
    with pytest.raises(MissingPackageError, match=r"pip install 'separatrix\[arviz\]'"):
        BetaBernoulli().to_arviz()
    with pytest.raises(ImportError):
        BetaBernoulli().to_arviz()


@pytest.mark.parametrize("version", [0, 1])
def test_both_calling_conventions(monkeypatch, version):
    def from_dict_0(posterior=None, *, prior=None, coords=None, dims=None):
        return {"posterior": posterior, "prior": prior}

    def from_dict_1(data, *, coords=None, dims=None):
        return data

    arviz = ModuleType("arviz")
    arviz.from_dict = (from_dict_0, from_dict_1)[version]
    monkeypatch.setitem(sys.modules, "arviz", arviz)
    found = NormalInverseGamma().to_arviz(n_draws=7, n_chains=3, random_state=0)["posterior"]
    assert set(found) == {"mean", "variance"}
    assert found["mean"].shape == (3, 7)
    assert (found["variance"] > 0).all()
    shares = DirichletCategorical([1, 2, 3]).to_arviz(5, 2)["posterior"]["probabilities"]
    assert shares.shape == (2, 5, 3)
    np.testing.assert_allclose(shares.sum(axis=-1), 1)
    with pytest.raises(DataError, match="chain"):
        draws_to_arviz({"w": [1.0, 2.0]})


def test_with_arviz_itself():
    arviz = pytest.importorskip("arviz")
    belief = BetaBernoulli(3, 2)
    data = belief.to_arviz(n_draws=2000, n_chains=2, random_state=0)
    draws = np.asarray(data["posterior"]["probability"])
    assert draws.shape == (2, 2000)
    assert draws.mean() == pytest.approx(0.6, abs=0.02)
    assert arviz.summary(data) is not None
