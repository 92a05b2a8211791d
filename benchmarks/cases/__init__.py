"""All cases, by family. A new family is a module with a list ``CASES``, named here."""

from __future__ import annotations

from benchmarks.cases import (
    bayes,
    chains,
    distributed,
    files,
    flat,
    generative,
    graphs,
    jobs,
    many,
    online,
    reductions,
    serving,
    small,
    tables,
    taggers,
    templates,
    text,
)
from benchmarks.spec import Case

CASES: tuple[Case, ...] = (
    *flat.CASES,
    *online.CASES,
    *small.CASES,
    *text.CASES,
    *files.CASES,
    *tables.CASES,
    *generative.CASES,
    *reductions.CASES,
    *many.CASES,
    *bayes.CASES,
    *jobs.CASES,
    *serving.CASES,
    *templates.CASES,
    *chains.CASES,
    *taggers.CASES,
    *graphs.CASES,
    *distributed.CASES,
)


def select(names: list[str]) -> list[Case]:
    """Return the cases named, or all; ``f7`` stands for ``f7a`` … ``f7e`` as well.

    Raises
    ------
    SystemExit
        If a name matches no case.
    """
    if not names:
        return list(CASES)
    for name in names:
        if not any(_matches(case, name) for case in CASES):
            known = ", ".join(case.name for case in CASES)
            raise SystemExit(f"no case {name!r}; there are: {known}")
    return [case for case in CASES if any(_matches(case, name) for name in names)]


def _matches(case: Case, name: str) -> bool:
    rest = case.name.removeprefix(name.lower())
    return rest != case.name and not rest[:1].isdigit()
