"""Running a case: every contender in children of its own, interleaved, up its ladder, repeated."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks import child, ladder
from benchmarks.data import CACHE, recipe
from benchmarks.ladder import Track
from benchmarks.spec import Case, Contender, Run, Setting

Runner = Callable[[Case, Contender, Setting], Run]
Listener = Callable[[Contender, Setting, Run], None]


@dataclass(frozen=True)
class Race:
    """The runs of a finished case.

    Parameters
    ----------
    case : Case
    tracks : tuple of Track
        One per contender, in the order of the case.
    optima : tuple of float
        The best value any contender ever reached, per objective; empty for throughput.
    repetitions : int
    trusted : bool
        Whether a very tight run stands behind the optima.
    """

    case: Case
    tracks: tuple[Track, ...]
    optima: tuple[float, ...]
    repetitions: int
    trusted: bool = False

    def ours(self) -> Track | None:
        """Return our track, if ours ran without error."""
        return next((t for t in self.tracks if t.contender.ours and not t.error), None)

    def peers(self) -> list[Track]:
        """Return the tracks of the peers that count and ran without error."""
        return [t for t in self.tracks if is_rival(t)]


def race(
    case: Case,
    repetitions: int = 3,
    runner: Runner = child.measure,
    listener: Listener | None = None,
    known: Sequence[float] = (),
) -> Race:
    """Run all contenders of a case, round robin, until every cell of its table is decided.

    Parameters
    ----------
    case : Case
    repetitions : int
        Runs of every rung that counts; medians are reported.
    runner : callable
        Measures one run; a stand-in in the tests.
    listener : callable, optional
        Told of every run, for progress.
    known : sequence of float
        Best objective values of earlier runs on the same data. Without them the case's very
        tight reference run goes first. Without either, and as soon as somebody gets clearly below
        them, every ladder is climbed to its end.

    Returns
    -------
    Race
    """
    tracks = tuple(Track(contender) for contender in case.contenders)
    optima = tuple(known)
    if case.reference is not None and not optima:
        name, setting = case.reference
        contender = next(c for c in case.contenders if c.name == name)
        run = runner(replace(case, cap=5 * case.cap), contender, setting)
        optima = tuple(run.objectives)
        if listener:
            listener(contender, setting, run)
    trusted = bool(optima)
    while True:
        ran = False
        for track in tracks:
            for rung in _next(case, track, tracks, optima, repetitions, trusted):
                setting = track.contender.ladder[rung]
                run = runner(case, track.contender, setting)
                track.add(rung, run)
                better = ladder.lower(optima, run.objectives)
                if trusted and ladder.relative_gap(optima, better) > 0.1 * min(case.targets):
                    trusted = False
                optima = better
                ran = True
                if listener:
                    listener(track.contender, setting, run)
        if not ran:
            return Race(case, tracks, optima, repetitions, trusted)


def is_rival(track: Track) -> bool:
    """Return whether a track is a peer's, one that counts, without error."""
    return not track.contender.ours and track.contender.rival and not track.error


def default_targets(
    case: Case, peers: Sequence[Track], optima: Sequence[float]
) -> dict[str, float]:
    """Return, per peer, the gap it reaches at its default setting.

    The gap is not taken below the case's tightest target: closer than that counts as equal.
    """
    targets = {}
    for track in peers:
        rung = track.default_rung()
        if rung is not None and rung in track.runs:
            gap = track.gap(rung, optima)
            if gap < float("inf"):
                targets[track.contender.name] = max(gap, min(case.targets))
    return targets


def _next(
    case: Case,
    track: Track,
    tracks: Sequence[Track],
    optima: Sequence[float],
    repetitions: int,
    trusted: bool,
) -> list[int]:
    if case.throughput:
        short = len(track.runs.get(0, ())) < repetitions and not track.failed
        return [0] if short else []
    targets = list(case.targets)
    if track.contender.ours:
        peers = [t for t in tracks if is_rival(t)]
        targets += default_targets(case, peers, optima).values()
    return ladder.wanted(track, targets, optima, repetitions, trusted)


def known_optima(case: Case, path: Path = CACHE / "optima.json") -> tuple[float, ...]:
    """Return the best objective values that earlier runs reached on this machine, if any."""
    try:
        values = json.loads(path.read_text())[_key(case)]
    except (OSError, KeyError, ValueError):
        return ()
    return tuple(values) if len(values) == len(case.objectives) else ()


def remember_optima(
    case: Case, optima: Sequence[float], path: Path = CACHE / "optima.json"
) -> None:
    """Keep the best objective values for the next run."""
    try:
        table = json.loads(path.read_text())
    except (OSError, ValueError):
        table = {}
    table[_key(case)] = list(ladder.lower(table.get(_key(case), ()), optima))
    write_atomically(path, json.dumps(table, indent=1) + "\n")


def _key(case: Case) -> str:
    """Name the problem, so that a changed one does not inherit a wrong optimum."""
    parts = [f"{o.loss.__name__} C={o.C:g} b={o.penalize_intercept:d}" for o in case.objectives]
    return " | ".join([case.name, case.data, recipe(case.data), *parts])


def write_atomically(path: Path, text: str) -> None:
    """Write `text` to `path` through a temporary file beside it and a rename."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(
        "w", dir=path.parent, prefix=path.name, delete=False, encoding="utf-8"
    ) as stream:
        stream.write(text)
    Path(stream.name).chmod(0o644)
    os.replace(stream.name, path)
