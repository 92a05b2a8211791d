"""Laws of every learner, found in the package and in the registry rather than listed here."""

from __future__ import annotations

import inspect
import re
import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator, is_classifier, is_regressor
from sklearn.datasets import load_iris

import separatrix
from separatrix.errors import DataError, WarmStartWarning
from separatrix.registry import LEARNERS, load

X, Y = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])


def _public() -> list[type]:
    found = [getattr(separatrix, name) for name in separatrix.__all__]
    return [c for c in found if inspect.isclass(c) and issubclass(c, BaseEstimator)]


def _flat(estimator) -> bool:
    """Whether it learns one label or number for every row of a matrix."""
    home = set(type(estimator).__module__.split("."))
    kinds = {"structured", "multilabel", "segmentation"}
    return not home & kinds and (is_classifier(estimator) or is_regressor(estimator))


def _made() -> dict[str, BaseEstimator]:
    """An estimator of every class without obligatory parameters, and of every line."""
    made = {}
    for kind in _public():
        try:
            made[kind.__name__] = kind()
        except TypeError:  # wraps another estimator
            continue
    for line in LEARNERS:
        made[line.name] = load(line.target)(**dict(line.params))
    return made


MADE = _made()
FLAT = sorted(name for name, estimator in MADE.items() if _flat(estimator))
WARM = sorted({type(e).__name__ for e in MADE.values() if "warm_start" in e.get_params()})


def test_learners_are_found():
    assert {"Perceptron", "SampledSoftmax", "ManyClass", "stochastic_logistic"} <= set(FLAT)
    assert {"CRF", "LinearSVM", "MIRA", "StructuredPerceptron"} <= set(WARM)


def _rows(estimator):
    """Rows and labels that it can learn from: some learn two classes only."""
    loss = getattr(estimator, "loss", None)
    keep = Y < 2 if loss in ("exponential", "squared", "squared_hinge") else Y < 3
    return X[keep], Y[keep]


@pytest.mark.parametrize("name", FLAT)
def test_weights_are_finite_or_there_is_an_error(name):
    estimator = MADE[name]
    rows, labels = _rows(estimator)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            estimator.fit(rows / rows.max() * 1e308, labels)
        except (FloatingPointError, DataError) as error:
            said = re.search("not finite|infinity|overflow", str(error))
            estimator, message = None, str(error)
    if estimator is None:
        assert said, message
        return
    names = ("coef_", "intercept_", "theta_", "var_", "feature_log_prob_")
    learned = [getattr(estimator, name, None) for name in names]
    for weights in learned:
        assert weights is None or np.isfinite(np.asarray(weights, dtype=np.float64)).all()


@pytest.mark.parametrize("averaging", ["average", "none"])
def test_weights_of_chains_are_finite_or_there_is_an_error(averaging):
    words = [[{"x": 1e308 / 3 * (j % 3 + 1)} for j in range(4)] for _ in range(6)]
    model = separatrix.StructuredPerceptron(averaging=averaging)
    with np.errstate(all="ignore"), pytest.raises(FloatingPointError, match="not finite"):
        model.fit(words, [["a", "b", "c", "a"]] * 6)


def _twice(estimator, first, second):
    """The messages of a second fit with warm_start=True."""
    estimator.set_params(warm_start=True, max_iter=5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        estimator.fit(*first)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        estimator.fit(*second)
    return [str(one.message) for one in caught if one.category is WarmStartWarning]


def _examples(kind):
    """What a class learns from, and the same with other labels."""
    if "structured" not in kind.__module__.split("."):
        return (X, Y), (X, NAMES[Y])
    words = [[{"word": f"w{j % 3}"} for j in range(4)] for _ in range(6)]
    tags = [["a", "b", "c", "a"] for _ in words]
    return (words, tags), (words, [[tag.upper() for tag in row] for row in tags])


@pytest.mark.parametrize("name", WARM)
def test_warm_start_says_that_labels_are_new(name):
    kind = getattr(separatrix, name)
    first, second = _examples(kind)
    assert _twice(kind(), first, first) == []
    (message,) = _twice(kind(), first, second)
    assert "other labels" in message
    assert "starts over" in message


@pytest.mark.parametrize("name", [n for n in WARM if _flat(getattr(separatrix, n)())])
def test_warm_start_says_that_columns_are_new(name):
    kind = getattr(separatrix, name)
    (message,) = _twice(kind(), (X, Y), (X[:, :3], Y))
    assert "other features (4, now 3)" in message
    (message,) = _twice(kind(fit_intercept=False), (X, Y), (X[:, :3], Y))
    assert "other features" in message
