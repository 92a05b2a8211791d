"""The options of reading, and which format takes which."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from separatrix.data.formats.source import LINE_LIMIT, UNPACK_LIMIT
from separatrix.data.tables.values import MISSING
from separatrix.errors import ParameterError
from separatrix.validation import number_of_threads

__all__ = ["Options"]


#: Options that every format takes.
_ANY = ("line_limit", "unpack_limit", "n_jobs")


@dataclass(frozen=True)
class Options:
    """Options of `separatrix.data.read`; the reader's docstring says what each means."""

    target: Any = "auto"
    text: Any = "auto"
    columns: Sequence[str] | None = None
    kinds: Mapping[str, str] = field(default_factory=dict)
    schema: Any = None
    header: bool | str = "auto"
    delimiter: str | None = None
    missing: Sequence[str] = MISSING
    encoding: str | None = None
    names: Sequence[str] | None = None
    n_features: int | None = None
    zero_based: bool | str = "auto"
    multilabel: bool | str = "auto"
    dtype: Any = np.float64
    drop_missing_target: bool = False
    line_limit: int | None = LINE_LIMIT
    unpack_limit: int | None = UNPACK_LIMIT
    n_jobs: int | None = None

    def check(self, format: str, takes: frozenset[str]) -> None:
        """Raise ParameterError for an option that the format would not look at."""
        for option in fields(self):
            value = getattr(self, option.name)
            if option.name in takes or option.name in _ANY or value is option.default:
                continue
            if value != (option.default if option.name != "kinds" else {}):
                raise ParameterError(f"{option.name} means nothing for {format} files")
        for name in ("zero_based", "multilabel", "header"):
            value = getattr(self, name)
            if value not in (True, False, "auto"):
                raise ParameterError(f"{name} must be True, False or 'auto', got {value!r}")

    @property
    def n_threads(self) -> int:
        """Threads to parse with."""
        return number_of_threads(self.n_jobs)
