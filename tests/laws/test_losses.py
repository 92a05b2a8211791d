"""Every loss against finite differences, convexity, and the 0-1 loss."""

import numpy as np
import pytest

from separatrix.losses import (
    MARGIN_LOSSES,
    MULTICLASS_LOSSES,
    kernel_of,
    multiclass_hinge,
    multiclass_logistic,
)

MARGINS = np.linspace(-3.05, 3.05, 62)  # none of them on a kink at 0 or 1
COST = np.array([[0, 1, 4, 0.5], [2, 0, 1, 1], [1, 3, 0, 0], [1, 1, 1, 0]], dtype=float)
MULTICLASS = {name: made() for name, made in MULTICLASS_LOSSES.items()}
MULTICLASS["hinge with costs"] = multiclass_hinge(COST)


def scores_and_labels(n=40, n_classes=4, seed=0):
    rng = np.random.default_rng(seed)
    return 2 * rng.normal(size=(n, n_classes)), rng.integers(0, n_classes, size=n)


@pytest.mark.parametrize("loss", MARGIN_LOSSES.values(), ids=list(MARGIN_LOSSES))
@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_margin_gradient_equals_finite_differences(loss, sign):
    scores, y, h = sign * MARGINS[:, None], np.full(len(MARGINS), sign), 1e-6
    _, grad = loss.value_and_grad(scores, y)
    up, _ = loss.value_and_grad(scores + h, y)
    down, _ = loss.value_and_grad(scores - h, y)
    np.testing.assert_allclose(grad[:, 0], (up - down) / (2 * h), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("loss", MARGIN_LOSSES.values(), ids=list(MARGIN_LOSSES))
def test_conjugates_touch_where_the_derivative_says(loss):
    """loss*(-a) >= -a m - loss(m) for all m, with equality where -a is the derivative at m."""
    kernel = kernel_of(loss)
    if kernel is None or kernel.conjugate is None:
        pytest.skip("no conjugate is known")
    a = -loss.derivative(MARGINS)
    conjugates = kernel.conjugate(a)
    np.testing.assert_allclose(conjugates, -a * MARGINS - loss.value(MARGINS), atol=1e-12)
    a, m = np.meshgrid(a, MARGINS)
    assert (kernel.conjugate(a) >= -a * m - loss.value(m) - 1e-12).all()
    assert kernel.in_unit == bool(np.isfinite(loss.derivative(MARGINS)).all() and a.max() <= 1)


@pytest.mark.parametrize("loss", [loss for loss in MARGIN_LOSSES.values() if loss.smooth])
def test_second_derivative_equals_finite_differences(loss):
    h = 1e-6
    numeric = (loss.derivative(MARGINS + h) - loss.derivative(MARGINS - h)) / (2 * h)
    np.testing.assert_allclose(loss.second(MARGINS), numeric, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("loss", MULTICLASS.values(), ids=list(MULTICLASS))
def test_multiclass_gradient_equals_finite_differences(loss):
    scores, y = scores_and_labels()
    _, grad = loss.value_and_grad(scores, y)
    h = 1e-6
    for k in range(scores.shape[1]):
        step = np.zeros_like(scores)
        step[:, k] = h
        up, _ = loss.value_and_grad(scores + step, y)
        down, _ = loss.value_and_grad(scores - step, y)
        np.testing.assert_allclose(grad[:, k], (up - down) / (2 * h), rtol=1e-5, atol=1e-7)


def test_softmax_curvature_equals_finite_differences():
    loss = multiclass_logistic()
    scores, y = scores_and_labels()
    direction, _ = scores_and_labels(seed=1)
    h = 1e-5
    _, up = loss.value_and_grad(scores + h * direction, y)
    _, down = loss.value_and_grad(scores - h * direction, y)
    product = loss.curvature_product(scores, y, direction)
    np.testing.assert_allclose(product, (up - down) / (2 * h), rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("loss", [loss for loss in MARGIN_LOSSES.values() if loss.convex])
def test_margin_losses_lie_above_their_tangents(loss):
    a, b = np.meshgrid(MARGINS, MARGINS)
    tangent = loss.value(a) + loss.derivative(a) * (b - a)
    assert (loss.value(b) >= tangent - 1e-9 * np.abs(tangent)).all()


@pytest.mark.parametrize("loss", MULTICLASS.values(), ids=list(MULTICLASS))
def test_multiclass_losses_lie_above_their_tangents(loss):
    a, y = scores_and_labels(n=200)
    b, _ = scores_and_labels(n=200, seed=1)
    value, grad = loss.value_and_grad(a, y)
    other, _ = loss.value_and_grad(b, y)
    assert (other >= value + (grad * (b - a)).sum(axis=1) - 1e-9).all()


def bounds_zero_one(loss, scale=1.0):
    margins = np.concatenate([MARGINS, [0.0]])
    return bool((loss.value(margins) / scale >= (margins <= 0)).all())


@pytest.mark.parametrize("loss", MARGIN_LOSSES.values(), ids=list(MARGIN_LOSSES))
def test_which_surrogates_bound_zero_one(loss):
    assert bounds_zero_one(loss) == loss.bounds_zero_one


def test_the_bounding_losses_are_the_ones_of_the_notes():
    names = {loss.name for loss in MARGIN_LOSSES.values() if loss.bounds_zero_one}
    assert names == {
        "zero_one", "hinge", "squared_hinge", "exponential", "squared"
    }  # fmt: skip
    assert not bounds_zero_one(MARGIN_LOSSES["perceptron"])
    assert bounds_zero_one(MARGIN_LOSSES["logistic"], np.log(2))  # in bits, as the notes show


def test_generalized_hinge_bounds_the_cost_of_the_prediction():
    scores, y = scores_and_labels(n=500)
    loss, _ = multiclass_hinge(COST).value_and_grad(scores, y)
    assert (loss >= COST[y, scores.argmax(axis=1)] - 1e-12).all()


def test_two_class_softmax_is_the_logistic_loss_of_the_difference():
    scores, _ = scores_and_labels(n_classes=2)
    y = np.arange(len(scores)) % 2
    many, _ = multiclass_logistic().value_and_grad(scores, y)
    difference = (scores[:, 1] - scores[:, 0])[:, None]
    one, _ = MARGIN_LOSSES["logistic"].value_and_grad(difference, np.where(y == 1, 1.0, -1.0))
    np.testing.assert_allclose(many, one, rtol=1e-12)


def test_losses_are_finite_at_huge_scores():
    huge = np.array([[1e4, -1e4, 0.0, 1.0]])
    for loss in MULTICLASS.values():
        value, grad = loss.value_and_grad(huge, np.array([1]))
        assert np.isfinite(value).all()
        assert np.isfinite(grad).all()
    value, grad = MARGIN_LOSSES["logistic"].value_and_grad(np.array([[-1e4]]), np.array([1.0]))
    assert value[0] == 1e4
    assert grad[0, 0] == -1
