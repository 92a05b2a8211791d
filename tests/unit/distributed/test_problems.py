"""What lies on workers travels to others at any time, after kernels have used it too."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from separatrix import CRF, LogisticRegression
from separatrix.data import as_attribute_sequences
from separatrix.distributed.problems import Problem, Setting, make_problem
from separatrix.distributed.rows import Rows, aligned
from separatrix.distributed.sentences import ChainProblem
from separatrix.structures.chain.structure import observed_chain
from separatrix.structures.coded_labels import encode_tags
from tests.unit.distributed.sequences import sentences


@pytest.fixture(params=["dense", "sparse"])
def problem(request: pytest.FixtureRequest) -> Problem:
    generator = np.random.default_rng(0)
    X: Any = generator.normal(size=(30, 300))
    if request.param == "sparse":
        X = sp.csr_array(np.where(np.abs(X) > 1.5, X, 0.0))
    y = generator.integers(0, 3, 30)
    setting = Setting(LogisticRegression(), np.arange(3), np.dtype(np.float64))
    return make_problem(Rows(0, X, y, None), setting)


def travelled(value: Any) -> Any:
    """What arrives elsewhere, in a buffer that begins at an odd byte."""
    buffers: list[pickle.PickleBuffer] = []
    text = pickle.dumps(value, protocol=5, buffer_callback=buffers.append)
    moved = [memoryview(b"x" + buffer.raw().tobytes())[1:] for buffer in buffers]
    return pickle.loads(text, buffers=moved)


def test_rows_travel_after_use(problem: Problem) -> None:
    w = np.random.default_rng(1).normal(size=(301, 3))
    value, grad = problem.value_and_grad(w)
    product = problem.hessian_product(w, w)
    last, average, mistakes = problem.epoch(np.zeros((301, 3)), "perceptron", 1.0, 7)
    there = travelled(problem)
    assert there.value_and_grad(w)[0] == value
    assert (there.value_and_grad(w)[1] == grad).all()
    assert (there.hessian_product(w, w) == product).all()
    again = there.epoch(np.zeros((301, 3)), "perceptron", 1.0, 7)
    assert (again[0] == last).all()
    assert (again[1] == average).all()
    assert again[2] == mistakes


def test_sequences_travel_after_use() -> None:
    X, y = sentences(20)
    found = as_attribute_sequences(X)
    tags = encode_tags(y, found.offsets)
    chain = observed_chain(found, len(tags.classes), tags.codes)
    problem = ChainProblem(0, found, tags, None, chain)
    w = np.random.default_rng(0).normal(size=(chain.n_weights, 1))
    value, _, grad = problem.evaluate(w, False)
    last, _, mistakes = problem.epoch(np.zeros(chain.n_weights), "mira", 1.0, 3)
    there = travelled(problem)
    assert there.evaluate(w, False)[0] == value
    assert (there.evaluate(w, False)[2] == grad).all()
    again = there.epoch(np.zeros(chain.n_weights), "mira", 1.0, 3)
    assert (again[0] == last).all()
    assert again[2] == mistakes
    own = CRF(tol=1e-3).fit(X, y)
    assert own.coef_.shape == (chain.n_weights,)


def test_gradient_of_sequences_against_differences() -> None:
    X, y = sentences(8)
    found = as_attribute_sequences(X)
    tags = encode_tags(y, found.offsets)
    chain = observed_chain(found, len(tags.classes), tags.codes)
    problem = ChainProblem(0, found, tags, None, chain)
    w = np.random.default_rng(0).normal(size=(chain.n_weights, 1))
    _, _, grad = problem.evaluate(w, False)
    for place in range(0, chain.n_weights, 7):
        step = np.zeros_like(w)
        step[place] = 1e-5
        high, low = (problem.evaluate(w + s, False)[0] for s in (step, -step))
        assert grad[place, 0] == pytest.approx((high - low) / 2e-5, rel=1e-5, abs=1e-5)


def test_alignment() -> None:
    odd = np.frombuffer(b"x" + np.arange(5.0).tobytes(), dtype=np.float64, offset=1)
    assert not odd.flags.aligned
    assert aligned(odd).flags.aligned
    assert (aligned(odd) == np.arange(5.0)).all()
    whole = np.arange(3.0)
    assert aligned(whole) is whole
