"""Every parameter of every learner is used, or refused or warned of by its name.

Learners come from the package, values from the defaults and from the choices that the docstrings
name. Each parameter is changed alone, and beside every other choice: what is learned and predicted
changes with one of its values at least, or an error or a warning names it.
"""

from __future__ import annotations

import inspect
import re
import warnings

import numpy as np
import pytest
from sklearn.base import is_classifier, is_regressor
from sklearn.datasets import load_iris

import separatrix
from separatrix.errors import UnusedParameterWarning

#: How a fit runs, not what it finds; and what takes an object that no default tells.
HOW = {
    "solver", "tol", "max_iter", "n_jobs", "random_state", "verbose", "on_interrupt", "warm_start",
    "shared", "shuffle", "class_weight", "cost", "estimator", "structure", "intercept_prior",
    "features", "code",
}  # fmt: skip
#: Values where the default is None.
VALUES = {
    "l1_ratio": 0.3,
    "smoothing": 5.0,
    "shrinkage": 0.5,
    "prior_precision": 3.0,
    "prior_covariance": 0.2,
    "ridge": 3.0,
    "noise_variance": 0.3,
    "n_categories": 9,
    "n_columns": 7,
    "C": 0.01,
}
#: Parameters that serve other methods than those that are looked at here.
ELSEWHERE = {
    ("AllPairs", "coupling"),  # predict_proba, which the SVM beneath does not offer
    ("CRF", "partial"),  # labels that are not known, of which there are none here
    ("LaplaceLogisticRegression", "n_draws"),  # intervals
    ("Perceptron", "learning_rate"),  # votes are those of any rate
}
ROWS, LABELS = (part[::3] for part in load_iris(return_X_y=True))
WORDS = [[{"word": f"w{(i * j) % 5}", "x": i % 3 + j} for j in range(4)] for i in range(12)]
TAGS = [[("a", "b", "c")[(i + j) % 3] for j in range(4)] for i in range(12)]


def _learners() -> dict[str, type]:
    """Learners of rows and of sequences that need no other to be made."""
    found = {}
    apart = {"multilabel", "segmentation", "extreme", "calibration", "decision"}
    for name in separatrix.__all__:
        kind = getattr(separatrix, name)
        if not inspect.isclass(kind) or not hasattr(kind, "fit") or not hasattr(kind, "predict"):
            continue
        if not apart & set(kind.__module__.split(".")):
            found[name] = kind
    return found


LEARNERS = _learners()


def _choices(kind: type, name: str) -> list[str]:
    """Strings that the docstring names in braces."""
    for one in kind.__mro__:
        found = re.search(rf"^{name} : .*?\{{(.*?)\}}", inspect.getdoc(one) or "", re.MULTILINE)
        if found:
            return re.findall(r'"([^"]*)"', found[1])
    return []


def _values(kind: type, name: str, default) -> list:
    """Other values of a parameter."""
    if isinstance(default, bool):
        return [not default]
    if isinstance(default, int):
        return [3 * default, 1]
    if isinstance(default, float):
        more = 3 * default if default >= 0.2 else max(3 * default, 0.4)  # some are shares
        return [default / 50, more]
    given = [VALUES[name]] if default is None and name in VALUES else []
    return given + [choice for choice in _choices(kind, name) if choice != default]


def _data(kind: type):
    if "structured" in kind.__module__.split("."):
        return WORDS, TAGS
    return (ROWS, LABELS + ROWS[:, 0]) if is_regressor(kind()) else (ROWS, LABELS)


def _learned(kind: type, parameters: dict) -> tuple[list[np.ndarray] | None, list[str]]:
    """What a fit gives, None where it is refused; and what was said."""
    if "random_state" in inspect.signature(kind).parameters:
        parameters = {"random_state": 0, **parameters}
    X, y = _data(kind)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            model = kind(**parameters).fit(X, y)
        except (ValueError, TypeError) as error:
            return None, [str(error)]
    found = [np.asarray(model.predict(X))]
    for method in ("predict_proba", "decision_function"):
        if X is ROWS and is_classifier(model) and hasattr(model, method):
            found.append(np.asarray(getattr(model, method)(X)))
    if is_regressor(model) and "return_std" in inspect.signature(model.predict).parameters:
        found += model.predict(X, return_std=True)
    solution = getattr(model, "solution_", None)
    found += [
        np.asarray(getattr(solution, part)) for part in ("w", "n_passes") if hasattr(solution, part)
    ]
    return found, [str(one.message) for one in caught]


def _same(one: list[np.ndarray], other: list[np.ndarray]) -> bool:
    return len(one) == len(other) and all(map(np.array_equal, one, other))


@pytest.mark.parametrize("name", LEARNERS)
def test_each_parameter_is_used_or_named(name):
    kind = LEARNERS[name]
    defaults = {key: p.default for key, p in inspect.signature(kind).parameters.items()}
    values = {key: _values(kind, key, d) for key, d in defaults.items() if key not in HOW}
    words = [
        {key: value}
        for key, options in values.items()
        for value in options
        if isinstance(value, str | bool)
    ]
    silent = []
    for beside in [{}, *words]:
        before, _ = _learned(kind, beside)
        for key, options in values.items():
            if before is None or key in beside or not options or (name, key) in ELSEWHERE:
                continue
            for value in options:
                after, said = _learned(kind, {**beside, key: value})
                if after is None or any(key in one for one in said) or not _same(before, after):
                    break
            else:
                silent.append((key, options, beside))
    assert not silent, silent


def test_it_finds_many():
    assert {"LogisticRegression", "NaiveBayes", "CRF", "OutputCode"} <= set(LEARNERS)


@pytest.mark.parametrize(
    ("model", "word"),
    [
        (separatrix.LogisticRegression(fit_intercept=False, penalize_intercept=True), "fit_inter"),
        (separatrix.NaiveBayes(smoothing=5.0), "var_smoothing"),
        (separatrix.NaiveBayes(n_categories=9), "categorical"),
        (separatrix.OutputCode(decode="hamming", loss="hinge", random_state=0), "decode='loss'"),
        (separatrix.LaplaceLogisticRegression(rank=3), "low_rank"),
    ],
)
def test_a_warning_says_what_is_missing(model, word):
    with pytest.warns(UnusedParameterWarning, match=word):
        model.fit(ROWS, LABELS)
