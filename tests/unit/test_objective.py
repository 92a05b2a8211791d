"""The objective: kernels against the plain composition, derivatives, certificates."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp

from separatrix._core import Csr, Dense, fused_value_and_grad, gram, losses_at
from separatrix.errors import DataError
from separatrix.losses import MARGIN_LOSSES, Logistic, multiclass_hinge, multiclass_logistic
from separatrix.objective import Objective
from separatrix.penalties import L1, L2, Unpenalized
from separatrix.structures.labels import FlatScores, make_design
from tests.unit.solvers.problems import SMOOTH, make


class Own(Logistic):
    """A user's loss, which must not be taken for the built-in one."""

    def value(self, margin):
        return 3 * super().value(margin)

    def derivative(self, margin):
        return 3 * super().derivative(margin)


def plain(objective):
    """The same objective without kernels."""
    twin = Objective(
        objective.score_map,
        objective.loss,
        objective.penalty,
        objective.targets,
        C=objective.C,
        sample_weight=objective.sample_weight,
        exempt=objective.exempt,
    )
    twin.__dict__["_kernel"] = None
    assert not twin.has_fused_pass
    return twin


@pytest.mark.parametrize("loss", SMOOTH)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("sparse", [False, True])
def test_kernels_agree_with_the_plain_composition(loss, dtype, sparse):
    rng = np.random.default_rng(1)
    tight = 3e-5 if dtype == np.float32 else 1e-12
    for n, d, n_classes in [(1, 1, 2), (63, 5, 3), (64, 16, 5), (130, 33, 6), (700, 80, 11)]:
        for intercept, weighted in [(True, True), (False, False)]:
            objective = make(
                loss,
                n=n,
                d=d,
                n_classes=n_classes,
                dtype=dtype,
                sparse=sparse,
                intercept=intercept,
                weighted=weighted,
            )
            assert objective.has_fused_pass is not sparse
            reference = plain(objective)
            w = rng.normal(size=objective.score_map.weight_shape)
            value, grad = objective.value_and_grad(w)
            expected, expected_grad = reference.value_and_grad(w)
            assert grad.dtype == np.float64
            assert value == pytest.approx(expected, rel=tight)
            scale = max(1.0, np.abs(expected_grad).max())
            np.testing.assert_allclose(grad, expected_grad, rtol=0, atol=10 * tight * scale)
            scores = objective.score_map(w)
            total, ds = objective.loss_at(scores)
            expected_total, expected_ds = reference.loss_at(scores)
            assert total == pytest.approx(expected_total, rel=tight)
            np.testing.assert_allclose(ds, expected_ds, rtol=tight, atol=10 * tight)
            v = rng.normal(size=w.shape)
            np.testing.assert_allclose(
                objective.hessian(w)(v),
                reference.hessian(w)(v),
                rtol=0,
                atol=100 * tight * max(1.0, np.abs(expected_grad).max()),
            )
            design = objective.score_map.design
            name, targets, weights, _ = objective._kernel
            fused = fused_value_and_grad(design, name, targets, weights, w.astype(dtype), 2)
            assert objective.C * fused[0] == pytest.approx(
                value - objective.penalty.value(objective.penalized(w)), rel=1e-5
            )


@pytest.mark.parametrize("loss", SMOOTH)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_any_number_of_threads_gives_the_same_bits(loss, dtype):
    results = []
    for n_threads in [1, 2, 3]:
        objective = make(loss, n=6000, d=70, dtype=dtype, n_threads=n_threads, weighted=True)
        w = np.random.default_rng(0).normal(size=objective.score_map.weight_shape)
        value, grad = objective.value_and_grad(w)
        scores = objective.score_map(w)
        total, ds = objective.loss_at(scores)
        results.append((value, grad, scores, total, ds, objective.score_map.adjoint(ds)))
    for other in results[1:]:
        for a, b in zip(results[0], other, strict=True):
            np.testing.assert_array_equal(a, b)


def test_one_row_scores_as_in_a_batch():
    X = np.random.default_rng(0).normal(size=(70, 45)).astype(np.float32)
    for n_scores in [1, 2, 7, 10]:
        w = np.random.default_rng(1).normal(size=(46, n_scores)).astype(np.float32)
        batch = FlatScores(make_design(X, 1), n_scores, intercept=True, dtype=X.dtype)(w)
        for i in [0, 3, 69]:
            row = FlatScores(make_design(X[i : i + 1], 1), n_scores, intercept=True, dtype=X.dtype)
            np.testing.assert_array_equal(row(w)[0], batch[i])


SCRIPT = """
import json, sys
import numpy as np
from tests.unit.solvers.problems import SMOOTH, make
from separatrix import _core
out = {"isa": _core.isa}
for loss in SMOOTH:
    objective = make(loss, n=200, d=37, weighted=True)
    w = np.random.default_rng(0).normal(size=objective.score_map.weight_shape)
    value, grad = objective.value_and_grad(w)
    out[loss] = [value, float(np.abs(grad).sum()), float(np.vdot(grad, w))]
X = np.random.default_rng(0).normal(size=(90, 40))
c = np.linspace(0, 1, 90)
out["gram"] = _core.gram(_core.Dense(X), None, c, True, 1).ravel()[::50].tolist()
print(json.dumps(out))
"""


def test_every_instruction_set_agrees():
    results = {}
    for isa in ["scalar", "avx2", "best"]:
        environment = {**os.environ, "SEPARATRIX_ISA": isa}
        environment["PYTHONPATH"] = os.pathsep.join([os.getcwd(), *sys.path])
        ran = subprocess.run(
            [sys.executable, "-c", SCRIPT],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        results[isa] = json.loads(ran.stdout)
    assert results["scalar"].pop("isa") == "scalar"
    results["avx2"].pop("isa")
    results["best"].pop("isa")
    for isa in ["avx2", "best"]:
        for name, values in results["scalar"].items():
            np.testing.assert_allclose(results[isa][name], values, rtol=1e-10)


def test_gram_matches_numpy():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 21))
    weights = rng.random(300)
    rows = rng.permutation(300)[:150].astype(np.int64)
    ones = np.hstack([X, np.ones((300, 1))])
    expected = (ones[rows] * weights[rows, None]).T @ ones[rows]
    np.testing.assert_allclose(gram(Dense(X), rows, weights[rows], True, 2), expected, rtol=1e-10)
    np.testing.assert_allclose(
        gram(Dense(X), None, weights, False, 1), (X * weights[:, None]).T @ X, rtol=1e-9, atol=1e-9
    )


@pytest.mark.parametrize("loss", SMOOTH)
def test_gradient_and_hessian_against_finite_differences(loss):
    objective = make(loss, n=20, d=3, weighted=True)
    rng = np.random.default_rng(0)
    w, v = rng.normal(size=(2, *objective.score_map.weight_shape))
    step = 1e-6
    above, grad_above = objective.value_and_grad(w + step * v)
    below, grad_below = objective.value_and_grad(w - step * v)
    _, grad = objective.value_and_grad(w)
    assert np.vdot(grad, v) == pytest.approx((above - below) / (2 * step), rel=1e-6)
    np.testing.assert_allclose(
        objective.hessian(w)(v), (grad_above - grad_below) / (2 * step), rtol=1e-5, atol=1e-5
    )


def test_a_users_loss_runs_through_the_plain_composition():
    built_in = make("logistic", Unpenalized())
    own = Objective(built_in.score_map, Own(), Unpenalized(), built_in.targets, C=built_in.C)
    assert not own.has_fused_pass
    w = np.ones(built_in.score_map.weight_shape)
    value, grad = built_in.value_and_grad(w)
    own_value, own_grad = own.value_and_grad(w)
    assert own_value == pytest.approx(3 * value)
    np.testing.assert_allclose(own_grad, 3 * grad, rtol=1e-10, atol=1e-10)


def test_capabilities():
    assert {"smooth", "smooth_loss", "hvp", "value_grad", "dual"} <= make("logistic").can
    assert "smooth" not in make("hinge").can
    assert "smooth_loss" in make("logistic", L1()).can
    assert "smooth" not in make("logistic", L1()).can
    assert "hvp" not in make("perceptron").can
    X = np.eye(3)
    scores = FlatScores(make_design(X, 1), 3, intercept=False, dtype=X.dtype)
    assert "smooth" not in Objective(scores, multiclass_hinge(), L2(), np.arange(3)).can


def test_the_bound_holds():
    objective = make("logistic")
    from tests.unit.solvers.problems import reference

    best = reference(objective)
    rng = np.random.default_rng(0)
    for _ in range(20):
        w = 0.3 * rng.normal(size=objective.score_map.weight_shape)
        value, grad = objective.value_and_grad(w)
        assert value - best <= objective.gap_bound(w, grad, value)


@pytest.mark.parametrize("sparse", [False, True])
def test_bad_arguments_of_the_kernels_are_named(sparse):
    X = np.ones((4, 2))
    design = Csr(*_csr(X), 2) if sparse else Dense(X)
    y = np.array([1.0, -1.0, 1.0, -1.0])
    classes = np.array([0, 1, 2, 0])
    w = np.zeros((3, 3))
    fine = (design, "multiclass_logistic", classes, None, w, 1)
    assert fused_value_and_grad(*fine)[0] == pytest.approx(4 * np.log(3))
    bad = [
        (design, "hinge", y, None, np.zeros((3, 1)), 1),
        (design, "multiclass_logistic", y, None, w, 1),
        (design, "multiclass_logistic", classes - 1, None, w, 1),
        (design, "multiclass_logistic", classes + 1, None, w, 1),
        (design, "multiclass_logistic", classes[:3], None, w, 1),
        (design, "multiclass_logistic", classes, np.ones(3), w, 1),
        (design, "multiclass_logistic", classes, None, np.zeros((5, 3)), 1),
        (design, "multiclass_logistic", classes, None, np.zeros((3, 3), np.float32), 1),
        (design, "multiclass_logistic", classes, None, np.zeros((3, 0)), 1),
        (design, "logistic", y, None, np.zeros((3, 2)), 1),
        ("design", "logistic", y, None, np.zeros((3, 1)), 1),
    ]
    for arguments in bad:
        with pytest.raises(DataError):
            fused_value_and_grad(*arguments)
    with pytest.raises(DataError):
        losses_at("logistic", np.zeros((4, 2)), y, None, 1)
    with pytest.raises(DataError):
        losses_at("logistic", np.zeros((4, 1), dtype=int), y, None, 1)
    total, ds = losses_at("logistic", np.zeros((0, 1)), y[:0], None, 2)
    assert total == 0.0
    assert ds.shape == (0, 1)


def _csr(X):
    matrix = sp.csr_array(X)
    return matrix.indptr, matrix.indices, matrix.data


def test_rows_of_weight_zero_are_not_there():
    X = np.array([[1.0], [1e6]])
    scores = FlatScores(make_design(X, 1), 1, intercept=False, dtype=X.dtype)
    y = np.array([1.0, -1.0])
    objective = Objective(
        scores, MARGIN_LOSSES["exponential"], L2(), y, sample_weight=np.array([1.0, 0.0])
    )
    value, grad = objective.value_and_grad(np.ones((1, 1)))
    assert value == pytest.approx(np.exp(-1) + 0.5)
    assert np.isfinite(grad).all()


def test_probabilities_are_the_softmax():
    objective = make("multiclass_logistic")
    scores = np.random.default_rng(0).normal(size=(90, 4)) * 10
    p = objective.probabilities(scores)
    expected = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(p, expected, rtol=1e-12, atol=1e-15)
    assert multiclass_logistic().smooth
