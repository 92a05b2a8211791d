"""From runs to the numbers of the table: seconds per target, ratio to the best peer, verdicts.

Everything returned here is plain JSON, the form in which results are kept and merged.
"""

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from typing import Any

from benchmarks.harness import Race, default_targets
from benchmarks.ladder import Track
from benchmarks.spec import Bound, Run

Json = dict[str, Any]


def summarize(race: Race, machine: Json) -> Json:
    """Return the record of a finished case.

    Returns
    -------
    dict
        ``columns`` (one per target, then "default"; or "time", "memory", "accuracy"),
        ``contenders``, ``bounds`` with the ratio and whether it is met, ``optima``, ``machine``.
    """
    case = race.case
    if case.throughput:
        columns = [_time_column(race)]
        if any(bound.at == "memory" for bound in case.bounds):
            columns.append(_memory_column(race))
        if any(bound.at == "accuracy" for bound in case.bounds):
            columns.append(_accuracy_column(race))
    else:
        columns = [_target_column(race, f"{t:g}", t) for t in case.targets]
        columns.append(_default_column(race))
    return {
        "name": case.name,
        "title": case.title,
        "note": case.note,
        "throughput": case.throughput,
        "repetitions": race.repetitions,
        "cap": case.cap,
        "optima": list(race.optima),
        "trusted": race.trusted or race.case.throughput,
        "quoted": case.quoted,
        "contenders": [_contender(track, race) for track in race.tracks],
        "columns": columns,
        "bounds": [_verdict(bound, columns, race.ours() is not None) for bound in case.bounds],
        "machine": machine,
    }


def _contender(track: Track, race: Race) -> Json:
    """Return one line of the table: the tightest rung's figures, and every rung measured."""
    rungs: list[Json] = []
    for i in sorted(track.runs):
        run = track.runs[i][0]
        gap = None if race.case.throughput else _finite(track.gap(i, race.optima))
        rungs.append(
            {
                "setting": track.contender.ladder[i].label,
                "default": track.contender.ladder[i].default,
                "seconds": track.seconds(i),
                "all_seconds": [r.seconds for r in track.runs[i]],
                "objectives": list(track.objectives(i) or ()),
                "gap": gap,
                "accuracy": run.accuracy,
                "peak_mb": run.peak_mb,
                "passes": run.passes,
                "stopped": run.stopped,
            }
        )
    finished = [r for r in rungs if not r["stopped"]]
    shown = _shown(track, race, finished)
    return {
        "name": track.contender.name,
        "ours": track.contender.ours,
        "rival": track.contender.rival,
        "error": track.error,
        "broken": track.broken,
        "best_gap": min((r["gap"] for r in rungs if r["gap"] is not None), default=None),
        "accuracy": shown.get("accuracy"),
        "passes": shown.get("passes"),
        "peak_mb": max((r["peak_mb"] for r in finished if r["peak_mb"] is not None), default=None),
        "rungs": rungs,
    }


def _shown(track: Track, race: Race, finished: list[Json]) -> Json:
    """Return the rung whose accuracy and passes are shown: the best one reached."""
    if not finished:
        return {}
    if race.case.throughput:
        return finished[0]
    for target in sorted(race.case.targets):
        rung = track.reaching(target, race.optima)
        if rung is not None:
            label = track.contender.ladder[rung].label
            return next(r for r in finished if r["setting"] == label)
    return min(finished, key=lambda r: r["gap"] if r["gap"] is not None else float("inf"))


def _time_column(race: Race) -> Json:
    cells = {
        track.contender.name: {"seconds": track.seconds(0), "reached": not track.failed}
        for track in race.tracks
        if track.runs and not track.error
    }
    return _with_ratio(race, {"label": "time", "cells": cells})


def _cells(
    race: Race,
    value: Callable[[Run], float | None],
    summary: Callable[[list[float]], float],
) -> Json:
    """Return a number of every contender that has one, in the place of seconds."""
    cells = {}
    for track in race.tracks:
        found = [v for run in track.runs.get(0, ()) if (v := value(run)) is not None]
        if found and not track.error:
            cells[track.contender.name] = {"seconds": summary(found), "reached": not track.failed}
    return cells


def _memory_column(race: Race) -> Json:
    """Return the column of peak megabytes, which stand in the place of seconds."""
    cells = _cells(race, lambda run: run.peak_mb, max)
    return _with_ratio(race, {"label": "memory", "cells": cells})


def _accuracy_column(race: Race) -> Json:
    """Return the column of test accuracies, in the place of seconds: ours over that of any peer."""
    cells = _cells(race, lambda run: run.accuracy, median)
    mine = race.ours()
    ours = cells.get(mine.contender.name, {}).get("seconds") if mine else None
    peers = {t.contender.name for t in race.tracks if not t.contender.ours} & cells.keys()
    best = max(peers, key=lambda name: cells[name]["seconds"], default=None)
    ratio = ours / cells[best]["seconds"] if ours is not None and best else None
    column = {"label": "accuracy", "cells": cells, "at_least": False}
    return {**column, "best_peer": best, "ratio": ratio, "ours": ours}


def _target_column(race: Race, label: str, target: float) -> Json:
    cells = {t.contender.name: _cell(t, race, target) for t in race.tracks if not t.error}
    return _with_ratio(race, {"label": label, "gap": target, "cells": cells})


def _cell(track: Track, race: Race, target: float) -> Json:
    rung = track.reaching(target, race.optima)
    if rung is not None:
        setting = track.contender.ladder[rung].label
        return {"seconds": track.seconds(rung), "reached": True, "setting": setting}
    best = _finite(track.best_gap(race.optima))
    return {"seconds": track.longest(), "reached": False, "best_gap": best}


def _with_ratio(race: Race, column: Json) -> Json:
    """Add the best peer and the ratio of its time to ours.

    Where no peer reached the target the ratio is a lower bound: the shortest of the peers' longest
    runs over our time. Where ours did not reach it there is no ratio.
    """
    cells = column["cells"]
    ours = race.ours()
    peers = {t.contender.name: cells[t.contender.name] for t in race.peers()}
    peers = {name: cell for name, cell in peers.items() if cell["seconds"] > 0}
    reached = {name: cell for name, cell in peers.items() if cell["reached"]}
    pool = reached or peers
    best = min(pool, key=lambda name: pool[name]["seconds"], default=None)
    column |= {"best_peer": best, "ratio": None, "at_least": not reached, "ours": None}
    if ours is not None and cells[ours.contender.name]["reached"]:
        column["ours"] = cells[ours.contender.name]["seconds"]
        if best is not None:
            column["ratio"] = pool[best]["seconds"] / column["ours"]
    return column


def _default_column(race: Race) -> Json:
    """Compare at what each peer reaches at its default; the peer closest to us is the best one."""
    ours = race.ours()
    cells: dict[str, Json] = {}
    for name, gap in default_targets(race.case, race.peers(), race.optima).items():
        track = next(t for t in race.peers() if t.contender.name == name)
        rung = track.default_rung()
        assert rung is not None  # default_targets has it from there
        mine = _cell(ours, race, gap) if ours else None
        seconds = track.seconds(rung)
        reached = mine is not None and mine["reached"]
        cells[name] = {
            "seconds": seconds,
            "reached": True,
            "gap": gap,
            "ours": mine["seconds"] if mine and reached else None,
            "ratio": seconds / mine["seconds"] if mine and reached else None,
        }
    column: Json = {"label": "default", "cells": cells, "at_least": False}
    compared = {name: cell for name, cell in cells.items() if cell["ratio"] is not None}
    best = min(compared, key=lambda name: compared[name]["ratio"], default=None)
    # One peer's result that we never reach is a loss, whatever the others say.
    lost = ours is not None and len(compared) < len(cells)
    column["best_peer"] = best
    column["ratio"] = compared[best]["ratio"] if best and not lost else None
    column["ours"] = compared[best]["ours"] if best and not lost else None
    return column


def _verdict(bound: Bound, columns: list[Json], measured: bool) -> Json:
    """Judge a column; ours not reaching it is a miss, ours not running at all is no verdict."""
    label = bound.at if isinstance(bound.at, str) else f"{bound.at:g}"
    column = next(c for c in columns if c["label"] == label)
    ratio = column["ratio"]
    return {
        "at": label,
        "must": bound.must,
        "goal": bound.goal,
        "best_peer": column["best_peer"],
        "ours": column["ours"],
        "ratio": ratio,
        "at_least": column["at_least"],
        "must_met": _met(ratio, bound.must, measured),
        "goal_met": _met(ratio, bound.goal, measured),
    }


def _met(ratio: float | None, wanted: float, measured: bool) -> bool | None:
    if not measured:
        return None
    return ratio is not None and ratio >= wanted


def _finite(value: float) -> float | None:
    return value if value < float("inf") else None
