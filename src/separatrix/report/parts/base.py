"""What the parts of a report have in common."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from separatrix.errors import ParameterError

__all__ = ["NAN", "Array", "Part", "check_lengths"]

Array = npt.NDArray[Any]
NAN = float("nan")


class Part:
    """Base of the optional parts; a part with a line in `sections.SECTIONS` can be shown."""


def check_lengths(owner: object, *names: str) -> None:
    """Raise ParameterError unless these sequences of `owner` have one length; None is passed by."""
    lengths = {
        name: len(getattr(owner, name)) for name in names if getattr(owner, name) is not None
    }
    if len(set(lengths.values())) > 1:
        found = ", ".join(f"{name} has {length}" for name, length in lengths.items())
        raise ParameterError(f"{type(owner).__name__} needs arrays of one length: {found}")
