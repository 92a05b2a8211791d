"""The arithmetic of a comparison: gaps, the rung that reaches a target, which runs are missing."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from benchmarks.spec import Contender, Run


@dataclass
class Track:
    """All runs of one contender so far, by rung of its ladder.

    A run that ends in an error is not kept: it ends the contender's race (`broken`), and what it
    reached before stands.
    """

    contender: Contender
    runs: dict[int, list[Run]] = field(default_factory=dict)
    broken: str | None = None

    def add(self, rung: int, run: Run) -> None:
        """Append a run of rung number `rung`."""
        if run.error:
            self.broken = f"{self.contender.ladder[rung].label}: {run.error}"
            return
        self.runs.setdefault(rung, []).append(run)

    @property
    def error(self) -> str | None:
        """The error, if there is no run without one."""
        return None if self.runs else self.broken

    @property
    def failed(self) -> bool:
        """Whether the last rung tried was stopped at the cap or ended in an error."""
        stopped = any(run.stopped for runs in self.runs.values() for run in runs)
        return stopped or self.broken is not None

    def seconds(self, rung: int) -> float:
        """Return the median time of a rung."""
        return statistics.median(run.seconds for run in self.runs[rung])

    def objectives(self, rung: int) -> tuple[float, ...] | None:
        """Return the median objective values of a rung, or None if it never finished."""
        values = [run.objectives for run in self.runs[rung] if not run.stopped]
        if not values or not values[0]:
            return None
        return tuple(statistics.median(column) for column in zip(*values, strict=True))

    def gap(self, rung: int, optima: Sequence[float]) -> float:
        """Return the largest relative gap of a rung over the objectives; infinite if unknown."""
        values = self.objectives(rung)
        return relative_gap(values, optima) if values is not None else float("inf")

    def reaching(self, target: float, optima: Sequence[float]) -> int | None:
        """Return the loosest measured rung whose gap is at most `target`."""
        return next((i for i in sorted(self.runs) if self.gap(i, optima) <= target), None)

    def best_gap(self, optima: Sequence[float]) -> float:
        """Return the smallest gap of any rung."""
        return min((self.gap(i, optima) for i in self.runs), default=float("inf"))

    def longest(self) -> float:
        """Return the time of the longest rung, stopped ones included."""
        return max((self.seconds(i) for i in self.runs), default=0.0)

    def default_rung(self) -> int | None:
        """Return the rung of the contender's default tolerance."""
        settings = enumerate(self.contender.ladder)
        return next((i for i, setting in settings if setting.default), None)


def relative_gap(values: Sequence[float], optima: Sequence[float]) -> float:
    """Return ``max_k (values_k - optima_k) / max(|optima_k|, tiny)``, not below zero.

    Examples
    --------
    >>> relative_gap([101.0, 50.0], [100.0, 50.0])
    0.01
    """
    gaps = ((v - o) / max(abs(o), 1e-300) for v, o in zip(values, optima, strict=True))
    return max(0.0, *gaps)


def lower(optima: Sequence[float], values: Iterable[float]) -> tuple[float, ...]:
    """Return the component-wise minimum; `optima` may be empty (nothing known yet)."""
    values = tuple(values)
    if not values or not optima:
        return values or tuple(optima)
    return tuple(min(o, v) for o, v in zip(optima, values, strict=True))


def wanted(
    track: Track,
    targets: Sequence[float],
    optima: Sequence[float],
    repetitions: int,
    trusted: bool = True,
) -> list[int]:
    """Return the rungs to run next: one step up the ladder, or repetitions of those that count.

    The ladder is climbed until the tightest target is reached, a run fails or is stopped, or the
    ladder ends; to its end where the optima are not `trusted`, since nobody can say then what has
    been reached. Then every rung that decides a cell of the table (the loosest that reaches a
    target, the default, and the longest where a target was missed) is run `repetitions` times;
    a rung that was stopped at the cap is not repeated.
    """
    last = len(track.contender.ladder) - 1
    if track.broken:
        return []
    reached = track.runs and track.reaching(min(targets), optima) is not None
    top = max((i for i in track.runs if _climbed(track, i)), default=-1)
    if not (reached and trusted) and not track.failed and top < last:
        return [top + 1]

    decisive = {track.reaching(target, optima) for target in targets} | {track.default_rung()}
    if not reached:
        decisive.add(max(track.runs, key=track.seconds, default=None))
    missing = []
    for rung in sorted(i for i in decisive if i is not None):
        runs = track.runs.get(rung, [])
        beyond_cap = any(run.stopped for run in runs) or (not runs and track.failed)
        if not beyond_cap and len(runs) < repetitions:
            missing.append(rung)
    return missing


def _climbed(track: Track, rung: int) -> bool:
    """Whether every rung below `rung` was run too (the default may have been run ahead)."""
    return all(i in track.runs for i in range(rung))
