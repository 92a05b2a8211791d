"""One name for one thing: parameters and methods of everything that is exported."""

from __future__ import annotations

import inspect

import pytest
from sklearn.base import BaseEstimator

import separatrix

#: What is not said, and what is.
PARAMETERS = {
    "passes": "max_iter",
    "n_iter": "max_iter",
    "max_passes": "max_iter",
    "epochs": "max_iter",
    "eta0": "learning_rate",
    "step_size": "learning_rate",
    "top_k": "k",
    "k_best": "k",
    "node": "loss",
    "update": "loss",
    "regularizer": "penalty",
    "regularization": "penalty",
    "classifier": "estimator",
    "base_estimator": "estimator",
    "class_prior": "priors",
    "seed": "random_state",
    "threads": "n_jobs",
    "n_threads": "n_jobs",
    "tolerance": "tol",
    "xi": "gamma",
    "width": "gamma",
}
#: The same for methods.
METHODS = {
    "predict_kbest": "predict_top",
    "predict_top_k": "predict_top",
    "top_k": "predict_top",
    "predict_marginals": "predict_proba",
    "predict_set_log_proba": "log_likelihood",
}
#: Of estimators alone: conjugate families have a `rate` and remember a `prior`.
OF_ESTIMATORS = {"rate": "learning_rate", "prior": "priors"}


def signatures():
    """Where -> signature of every exported function, class, and public method of a class."""
    found = {}
    for name in separatrix.__all__:
        thing = getattr(separatrix, name)
        found[name] = thing
        if inspect.isclass(thing):
            for method in dir(thing):
                if not method.startswith("_") and inspect.isfunction(getattr(thing, method, None)):
                    found[f"{name}.{method}"] = getattr(thing, method)
    return {where: inspect.signature(thing) for where, thing in found.items()}


def estimators():
    """The exported estimators by name."""
    things = ((name, getattr(separatrix, name)) for name in separatrix.__all__)
    return {n: t for n, t in things if inspect.isclass(t) and issubclass(t, BaseEstimator)}


def test_parameters_have_one_name():
    wrong = [
        f"{where}({name}): say {PARAMETERS[name]}"
        for where, signature in signatures().items()
        for name in signature.parameters
        if name in PARAMETERS
    ]
    wrong += [
        f"{where}({name}): say {OF_ESTIMATORS[name]}"
        for where, thing in estimators().items()
        for name in inspect.signature(thing).parameters
        if name in OF_ESTIMATORS
    ]
    assert not wrong, wrong


def test_methods_have_one_name():
    wrong = [
        f"{where}: say {METHODS[method]}"
        for where in signatures()
        if (method := where.rpartition(".")[2]) in METHODS
    ]
    assert not wrong, wrong


@pytest.mark.parametrize("name", ["random_state", "n_jobs", "class_weight"])
def test_defaults_that_are_the_same_everywhere(name):
    wrong = [
        where
        for where, thing in estimators().items()
        if name in (found := inspect.signature(thing).parameters)
        and found[name].default is not None
    ]
    assert not wrong, wrong


def test_predictions_take_the_arguments_of_scikit_learn():
    for where, signature in signatures().items():
        method = where.rpartition(".")[2]
        names = list(signature.parameters)
        if method in ("predict", "predict_proba", "predict_log_proba"):
            assert names[1] == "X", where
            given = [p for p in list(signature.parameters.values())[2:] if p.default is p.empty]
            assert not given, f"{where} needs {given}"
        if method == "predict_top":
            assert names[1:3] == ["X", "k"], where
            assert signature.parameters["k"].default == 5, where
        if method == "log_likelihood":
            assert names[1:3] == ["X", "y"], where
        if method == "fit" and where.partition(".")[0] in estimators():
            assert names[1] == "X", where
            assert len(names) == 2 or names[2] == "y", where
