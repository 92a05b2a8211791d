"""Which learners take part in an experiment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from separatrix.errors import ParameterError
from separatrix.registry import LEARNERS, MANY_CLASSES, Learner, get, names
from separatrix.tasks import Task

__all__ = ["Wanted", "candidates"]

Wanted = Literal["auto"] | Sequence[str | Learner]


def candidates(
    wanted: Wanted,
    task: Task,
    n_features: int,
    n_rows: int = 0,
    n_classes: int = 0,
    n_plain: int | None = None,
) -> tuple[Learner, ...]:
    """Baselines first, then the learners requested, in the order of the registry.

    Parameters
    ----------
    wanted : "auto" or sequence of str or Learner
        "auto" takes those that can learn the task and are not slow for so many rows,
        features and classes.
    task : Task
        What is learned.
    n_features : int
        Columns of the prepared rows.
    n_rows : int
        Rows to learn from.
    n_classes : int
        Classes among them.
    n_plain : int, optional
        Columns for learners that take plain features, where others were chosen.

    Examples
    --------
    >>> from separatrix.tasks import task_named
    >>> [one.name for one in candidates(["mira"], task_named("binary"), 4)]
    ['majority_class', 'prior_sampling', 'mira']
    """
    able = [entry for entry in LEARNERS if task.name in entry.tasks]
    if isinstance(wanted, str):
        if wanted != "auto":
            raise ParameterError(f'learners must be "auto" or a list of names, got {wanted!r}.')
        many = n_classes >= MANY_CLASSES and any(entry.many for entry in able)

        def width(entry: Learner) -> int:
            return n_plain if entry.plain and n_plain is not None else n_features

        return tuple(
            entry
            for entry in able
            if (entry.widest is None or width(entry) <= entry.widest)
            and (entry.longest is None or n_rows <= entry.longest)
            and (entry.baseline or entry.many == many)
        )
    chosen: dict[str, Learner] = {}
    for item in wanted:
        try:
            entry = item if isinstance(item, Learner) else get(item)
        except KeyError:
            known = ", ".join(names(task.name))
            raise ParameterError(f"there is no learner {item!r}; for this task: {known}") from None
        if task.name not in entry.tasks:
            raise ParameterError(
                f"{entry.name} learns {' and '.join(entry.tasks)} tasks; this one is {task.name}"
            )
        chosen[entry.name] = entry
    known_lines = tuple(e for e in able if e.baseline or chosen.get(e.name) == e)
    return known_lines + tuple(e for e in chosen.values() if e not in known_lines)
