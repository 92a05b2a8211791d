"""One name for one thing: parameters and methods of everything that is exported."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from pathlib import Path

import pytest
import typer
from sklearn.base import BaseEstimator

import separatrix
from separatrix.cli.app import app

ROOT = Path(__file__).parents[2]

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
    "tolerance": "tol",
    "xi": "gamma",
}
#: The same, where users stand: kernels take the numbers that come of these.
OF_THE_FRONT = {
    "seed": "random_state",
    "threads": "n_jobs",
    "n_threads": "n_jobs",
    "width": "gamma",
}
#: Where a word of the list is another thing: passes over rows as objects or as a count of results.
OTHER_THINGS = {
    ("Kernel", "passes"),  # how often a loss's kernel reads the rows
    ("StructuredObjective", "passes"),  # the object that makes a pass
    ("LeaderboardRow", "passes"),  # passes made, beside seconds taken
    ("Effort", "passes"),
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


def packages():
    """Every package of the library that exports names, but those with other libraries' names."""
    yield separatrix
    for module in pkgutil.walk_packages(separatrix.__path__, "separatrix."):
        if module.ispkg and ".compat" not in module.name:
            package = importlib.import_module(module.name)
            if hasattr(package, "__all__"):
                yield package


def signatures(package=separatrix):
    """Where -> signature of every exported function, class, and public method of a class."""
    found = {}
    for name in package.__all__:
        thing = getattr(package, name)
        if not callable(thing):
            continue
        found[name] = thing
        if inspect.isclass(thing):
            for method in dir(thing):
                if not method.startswith("_") and inspect.isfunction(getattr(thing, method, None)):
                    found[f"{name}.{method}"] = getattr(thing, method)
    return {where: inspect.signature(thing) for where, thing in found.items() if readable(thing)}


def readable(thing):
    """Whether a signature can be had."""
    try:
        inspect.signature(thing)
    except ValueError:  # of the extension, or a type without a constructor
        return False
    return True


def estimators():
    """The exported estimators by name."""
    things = ((name, getattr(separatrix, name)) for name in separatrix.__all__)
    return {n: t for n, t in things if inspect.isclass(t) and issubclass(t, BaseEstimator)}


@pytest.mark.parametrize("package", list(packages()), ids=lambda package: package.__name__)
def test_parameters_have_one_name(package):
    words = PARAMETERS | (OF_THE_FRONT if package is separatrix else {})
    wrong = [
        f"{where}({name}): say {words[name]}"
        for where, signature in signatures(package).items()
        for name in signature.parameters
        if name in words and (where.partition(".")[0], name) not in OTHER_THINGS
    ]
    wrong += [
        f"{where}({name}): say {OF_ESTIMATORS[name]}"
        for where, thing in estimators().items()
        for name in inspect.signature(thing).parameters
        if name in OF_ESTIMATORS
    ]
    assert not wrong, wrong


def test_options_of_commands_have_one_name():
    """On the command line a seed is a number, and threads are threads; all else is as in Python."""
    words = PARAMETERS | {"classifier": "learner", "n_jobs": "threads", "random_state": "seed"}
    commands = typer.main.get_command(app)
    context = typer.Context(commands)
    seen = 0
    for command in commands.list_commands(context):
        for parameter in commands.get_command(context, command).params:
            for option in parameter.opts:
                seen += 1
                assert option.lstrip("-").replace("-", "_") not in words, (command, option)
    assert seen > 100


def test_methods_have_one_name():
    wrong = [
        f"{where}: say {METHODS[method]}"
        for where in signatures()
        if (method := where.rpartition(".")[2]) in METHODS and "." in where
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


def test_a_tolerance_is_a_relative_gap_and_has_few_defaults():
    """The page on certificates says which, and why."""
    page = (ROOT / "docs" / "guide" / "certificates.md").read_text(encoding="utf-8")
    assert "`tol` is 1e-4, for structures 1e-3" in page
    assert "1e-8 in `LaplaceLogisticRegression`" in page
    for name, thing in estimators().items():
        if "tol" not in inspect.signature(thing).parameters:
            continue
        if "structured" in thing.__module__:
            expected = 1e-3
        elif name in ("MultiLabel", "Segmenter"):
            expected = None  # that of the learner inside
        else:
            expected = 1e-8 if name == "LaplaceLogisticRegression" else 1e-4
        assert inspect.signature(thing).parameters["tol"].default == expected, name
        if expected is not None:
            docs = "".join(inspect.getdoc(one) or "" for one in thing.__mro__)
            meaning = docs.partition("\ntol : ")[2][:200]
            assert "gap" in meaning or "min P" in meaning, name
            assert "tol * P" in meaning or "tol P(w)" in meaning, name
