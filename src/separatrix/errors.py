"""Every error and warning that separatrix raises on purpose."""

from __future__ import annotations

from sklearn.exceptions import ConvergenceWarning as _SklearnConvergenceWarning
from sklearn.exceptions import NotFittedError

__all__ = [
    "ConvergenceWarning",
    "DataError",
    "NotFittedError",
    "ParameterError",
    "SeparatrixError",
    "SolverError",
    "ZeroProbabilityWarning",
]


class SeparatrixError(Exception):
    """Base of every error of this package."""


class DataError(SeparatrixError, ValueError):
    """The data cannot be used; the message names the place and says what to do."""


class ParameterError(SeparatrixError, ValueError):
    """A parameter has a value that is not allowed, alone or together with another."""


class SolverError(SeparatrixError, TypeError):
    """The chosen solver cannot handle the chosen objective."""


class ConvergenceWarning(_SklearnConvergenceWarning):  # type: ignore[misc]
    """A fit ended before its certificate reached the tolerance."""


class ZeroProbabilityWarning(UserWarning):
    """An estimate is exactly zero, so that one value can rule out a class."""
