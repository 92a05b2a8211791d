"""Templates on their way to the kernel: what is read, what shares names, what shares values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from separatrix._core import TemplatePlan
from separatrix.errors import ParameterError
from separatrix.features.templates.spec import On, TemplateTerm, TokenPart, TokenValue

__all__ = ["CompiledTemplates", "Template", "compile_templates", "templates_of"]

#: (column, offset, absolute) as the kernel takes it.
_Place = tuple[int, int, bool]


class Template(NamedTuple):
    """One template: its parts, the text around them, and what its attributes go with."""

    parts: tuple[TokenPart, ...]
    literals: tuple[str, ...]
    on: On


@dataclass(frozen=True)
class CompiledTemplates:
    """Templates with numbers for values, groups and spaces; see the kernel `templates`.

    Attributes
    ----------
    values : tuple of TokenValue
        The distinct values that are read: the kernel's columns.
    spaces : tuple of int
        For each value, the set of words that it shares numbers with.
    literals : tuple of tuples of str
        Text of each group of templates, around its parts.
    on : tuple of str
        What the attributes of each group go with.
    templates : tuple of (int, tuple)
        Group of each template, and its parts (value, offset, absolute).
    label_bigrams : bool
        Whether pairs of labels are requested as such.
    marks : {None, "_B", "_x"}
        How places outside the sequence are written (CRF++, Wapiti); None if they have no value.
    reach : int
        The farthest place that is read.
    escape : bool
        Whether names of conjunctions escape "|" in words.
    """

    values: tuple[TokenValue, ...]
    spaces: tuple[int, ...]
    literals: tuple[tuple[str, ...], ...]
    on: tuple[str, ...]
    templates: tuple[tuple[int, tuple[_Place, ...]], ...]
    label_bigrams: bool
    marks: str | None
    reach: int
    escape: bool

    @property
    def handle(self) -> TemplatePlan:
        """The plan of the kernel."""
        return TemplatePlan(self.literals, self.templates, self.spaces, self.escape)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns that are read."""
        return tuple(dict.fromkeys(value.column for value in self.values))

    @property
    def pads(self) -> tuple[str, ...]:
        """Words for one, two, … places before the start, then as many after the end."""
        if self.marks is None or not self.values:
            return ()
        # Wapiti tells four places apart and calls all others "#".
        reach = self.reach if self.marks == "_B" else min(self.reach, 5)
        far = [str(d) if self.marks == "_B" or d < 5 else "#" for d in range(1, reach + 1)]
        return tuple(f"{self.marks}{sign}{d}" for sign in "-+" for d in far)

    def goes_with(self, what: str, offsets: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """Which attributes go with "states" or "transitions"; `offsets` are those of the groups."""
        marked = np.array([on in (what, "both") for on in self.on], dtype=bool)
        return np.repeat(marked, np.diff(offsets))


def templates_of(terms: Iterable[TemplateTerm]) -> list[Template]:
    """The templates that terms stand for, with the names of their attributes."""
    templates = []
    for term in terms:
        mark = "" if term.on == "states" else f"{term.on}:"
        for parts in term.alternatives:
            label = "|".join(part.label for part in parts) + "=" if parts else "bias"
            inner = ("|",) * (len(parts) - 1) + ("",) * bool(parts)
            templates.append(Template(parts, (mark + label, *inner), term.on))
    return templates


def compile_templates(
    templates: Sequence[Template],
    *,
    marks: str | None,
    escape: bool,
    unique: bool,
    label_bigrams: bool,
) -> CompiledTemplates:
    """Number values and groups; values that meet in one place of a group share a space.

    A template without parts that goes with pairs of labels makes no attribute: it asks for the
    pairs as such, and sets `label_bigrams`. With `unique`, one that stands twice counts once.
    """
    constant = [t for t in templates if not t.parts and t.on != "states"]
    kept = [t for t in templates if t.parts or t.on != "transitions"]
    if not kept and not constant:
        raise ParameterError("there is no template")
    values: dict[TokenValue, int] = {}
    groups: dict[tuple[tuple[str, ...], str], int] = {}
    spaces: list[int] = []
    first: dict[tuple[int, int], int] = {}
    numbered = []
    for template in kept:
        on = template.on if template.parts else "states"
        group = groups.setdefault((template.literals, on), len(groups))
        places = []
        for at, part in enumerate(template.parts):
            value = values.setdefault(part.value, len(values))
            if value == len(spaces):
                spaces.append(value)
            # Join the space of the value that stood here first.
            old, new = spaces[value], spaces[first.setdefault((group, at), value)]
            spaces = [new if space == old else space for space in spaces]
            places.append((value, part.offset, part.absolute))
        if not unique or (group, tuple(places)) not in numbered:
            numbered.append((group, tuple(places)))
    ranks = {space: rank for rank, space in enumerate(dict.fromkeys(spaces))}
    return CompiledTemplates(
        values=tuple(values),
        spaces=tuple(ranks[space] for space in spaces),
        literals=tuple(literals for literals, _ in groups),
        on=tuple(on for _, on in groups),
        templates=tuple(numbered),
        label_bigrams=label_bigrams or bool(constant),
        marks=marks,
        reach=max(
            (max(abs(part.offset), part.absolute) for t in kept for part in t.parts), default=0
        ),
        escape=escape,
    )
