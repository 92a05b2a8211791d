"""Every error and warning that separatrix raises on purpose."""

from __future__ import annotations

from sklearn.exceptions import ConvergenceWarning as _SklearnConvergenceWarning
from sklearn.exceptions import NotFittedError

__all__ = [
    "ConvergenceWarning",
    "DataError",
    "FormatError",
    "MissingPackageError",
    "ModelFileError",
    "NotFittedError",
    "NotSavableError",
    "ParameterError",
    "SeparatrixError",
    "SolverError",
    "UnusedParameterWarning",
    "WarmStartWarning",
    "ZeroProbabilityWarning",
]


class SeparatrixError(Exception):
    """Base of every error of this package."""


class DataError(SeparatrixError, ValueError):
    """The data cannot be used; the message names the place and says what to do."""


class FormatError(DataError):
    """A file does not follow its format: ``train.svm:17: index 12 after 40: indices must rise``.

    Parameters
    ----------
    message : str
        What is wrong.
    line : int or None
        Line of the file, from one, where a line is to blame.
    file : str or None
        Path of the file as it was given.

    Examples
    --------
    >>> str(FormatError("no label", 3, "train.svm"))
    'train.svm:3: no label'
    """

    def __init__(self, message: str, line: int | None = None, file: str | None = None) -> None:
        super().__init__(message, line, file)
        self.message, self.line, self.file = message, line, file

    def __str__(self) -> str:
        if self.file is None:
            place = "" if self.line is None else f"line {self.line}: "
        else:
            place = f"{self.file}: " if self.line is None else f"{self.file}:{self.line}: "
        return place + self.message


class MissingPackageError(SeparatrixError, ImportError):
    """An optional package is not installed; the message names it or the extra that brings it."""


class ParameterError(SeparatrixError, ValueError):
    """A parameter has a value that is not allowed, alone or together with another."""


class SolverError(SeparatrixError, TypeError):
    """The chosen solver cannot handle the chosen objective."""


class ModelFileError(SeparatrixError, ValueError):
    """A file cannot be loaded as a model; the message names the file and says why."""


class NotSavableError(SeparatrixError, TypeError):
    """A model holds something that a model file cannot; the message names the attribute."""


class ConvergenceWarning(_SklearnConvergenceWarning):  # type: ignore[misc]
    """A fit ended before its certificate reached the tolerance."""


class UnusedParameterWarning(UserWarning):
    """A parameter was set that has no effect beside the others, or on these data."""


class WarmStartWarning(UserWarning):
    """A fit with ``warm_start=True`` started over, since the last one was of another problem."""


class ZeroProbabilityWarning(UserWarning):
    """An estimate is exactly zero, so that one value can rule out a class."""
