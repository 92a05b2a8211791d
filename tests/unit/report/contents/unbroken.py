"""Long words that have no place to break, and large numbers, wherever a report shows any."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from separatrix.report import Content
from tests.unit.report.contents.digits import digits
from tests.unit.report.contents.regression import regression
from tests.unit.report.contents.sentences import sentences
from tests.unit.report.contents.spam import spam

WORD = "incomprehensibility_of_counterrevolutionaries_0123456789"
#: Fields whose values have a meaning of their own.
FIXED = {"role", "unit", "digits"}


def unbroken() -> Content:
    """Every kind of part, its words long and without spaces, its counts large."""
    parts = {}
    for content in (spam(), sentences(), regression(), digits()):
        parts |= {type(part): _enlarged(part) for part in content.parts}
    content: Content = _enlarged(dataclasses.replace(digits(), parts=()))
    return dataclasses.replace(content, parts=tuple(parts.values()))


def _enlarged(value: Any) -> Any:
    if isinstance(value, str):
        return value and f"{value.replace(' ', '_')[:20]}_{WORD}"
    if isinstance(value, int) and not isinstance(value, bool):
        return value * 10**7
    if isinstance(value, np.ndarray) and value.dtype.kind == "i":
        return value * 10**5
    if isinstance(value, tuple):
        return tuple(map(_enlarged, value))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {
            field.name: _enlarged(getattr(value, field.name))
            for field in dataclasses.fields(value)
            if field.name not in FIXED
        }
        return dataclasses.replace(value, **fields)
    return value
