"""`separatrix learners`: what can be compared."""

from __future__ import annotations

from separatrix.cli.options import Debug, Json, OutputFormat

__all__ = ["learners"]

_WAYS = {
    "none": "nothing to tune",
    "passes": "passes, early stopping",
    "path": "path of C",
    "counts": "model of the columns, smoothing",
    "grid": "a fit for every value",
}


def learners(format: OutputFormat = None, json: Json = False, debug: Debug = False) -> None:
    """List the learners and how each is tuned."""
    from separatrix.cli.tables import Table
    from separatrix.registry import LEARNERS

    rows = [
        (entry.name, ", ".join(entry.tasks), _WAYS.get(entry.kind, entry.kind), entry.summary)
        for entry in LEARNERS
    ]
    Table(("learner", "tasks", "tuned by", "what it is"), rows).show(format, json=json)
