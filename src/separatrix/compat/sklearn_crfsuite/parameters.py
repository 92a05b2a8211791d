"""CRFsuite's algorithms, their parameters and the values these have when none is given."""

from __future__ import annotations

import math
from typing import Any

from separatrix.errors import ParameterError

__all__ = ["ALGORITHMS", "settings_of"]

_UNLIMITED = 2**31 - 1
_FEATURES: dict[str, Any] = {
    "min_freq": 0.0,
    "all_possible_states": False,
    "all_possible_transitions": False,
}
#: Parameters of every algorithm, with their defaults.
ALGORITHMS: dict[str, dict[str, Any]] = {
    "lbfgs": {
        **_FEATURES,
        "c1": 0.0,
        "c2": 1.0,
        "max_iterations": _UNLIMITED,
        "num_memories": 6,
        "epsilon": 1e-5,
        "period": 10,
        "delta": 1e-5,
        "linesearch": "MoreThuente",
        "max_linesearch": 20,
    },
    "l2sgd": {
        **_FEATURES,
        "c2": 1.0,
        "max_iterations": 1000,
        "period": 10,
        "delta": 1e-6,
        "calibration_eta": 0.1,
        "calibration_rate": 2.0,
        "calibration_samples": 1000,
        "calibration_candidates": 10,
        "calibration_max_trials": 20,
    },
    "ap": {**_FEATURES, "max_iterations": 100, "epsilon": 0.0},
    "pa": {
        **_FEATURES,
        "pa_type": 1,
        "c": 1.0,
        "error_sensitive": True,
        "averaging": True,
        "max_iterations": 100,
        "epsilon": 0.0,
    },
    "arow": {**_FEATURES, "variance": 1.0, "gamma": 1.0, "max_iterations": 100, "epsilon": 0.0},
}
_ALIASES = {None: "lbfgs", "averaged-perceptron": "ap", "passive-aggressive": "pa"}
_CHOICES = {
    "linesearch": ("MoreThuente", "Backtracking", "StrongBacktracking"),
    "pa_type": (0, 1, 2),
}
#: Numbers that must be more than zero; the others must not be negative.
_POSITIVE = {
    "c",
    "variance",
    "gamma",
    "max_iterations",
    "num_memories",
    "period",
    "delta",
    "max_linesearch",
    "calibration_eta",
    "calibration_rate",
    "calibration_samples",
    "calibration_candidates",
    "calibration_max_trials",
}


def settings_of(params: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The algorithm, and the values of all its parameters.

    A parameter that the algorithm does not have is an error, as it is for CRFsuite.

    Examples
    --------
    >>> settings_of({"algorithm": "ap", "max_iterations": 5, "c1": None})[1]["max_iterations"]
    5
    >>> settings_of({"algorithm": "ap", "c1": 0.1})
    Traceback (most recent call last):
    separatrix.errors.ParameterError: algorithm='ap' has no parameter c1; it has min_freq, ...
    """
    given = dict(params)
    name = given.pop("algorithm", None)
    algorithm = _ALIASES.get(name, name)
    if algorithm not in ALGORITHMS:
        raise ParameterError(f"algorithm must be one of {', '.join(ALGORITHMS)}, got {name!r}")
    settings = dict(ALGORITHMS[algorithm])
    for parameter, value in given.items():
        if value is None:
            continue
        if parameter not in settings:
            raise ParameterError(
                f"algorithm={algorithm!r} has no parameter {parameter}; it has "
                f"{', '.join(settings)}"
            )
        settings[parameter] = _checked(parameter, value, settings[parameter])
    return algorithm, settings


def _checked(name: str, value: Any, default: Any) -> Any:
    """The value in the type of the default."""
    if name in _CHOICES:
        if value not in _CHOICES[name]:
            raise ParameterError(f"{name} must be one of {_CHOICES[name]}, got {value!r}")
        return value
    if isinstance(default, bool):
        return bool(value)
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise ParameterError(f"{name} must be a number, got {value!r}") from None
    least = "more than zero" if name in _POSITIVE else "zero or more"
    if not math.isfinite(number) or number < 0 or (number == 0 and name in _POSITIVE):
        raise ParameterError(f"{name} must be {least}, got {value!r}")
    return int(number) if isinstance(default, int) else number
