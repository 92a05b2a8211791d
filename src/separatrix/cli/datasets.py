"""`separatrix datasets`: the bundled data sets."""

from __future__ import annotations

from separatrix.cli.options import Debug, Json, OutputFormat

__all__ = ["datasets"]


def datasets(format: OutputFormat = None, json: Json = False, debug: Debug = False) -> None:
    """List the bundled data sets."""
    from separatrix.cli.source import BUNDLED
    from separatrix.cli.tables import Table

    rows = [(name, *facts) for name, facts in BUNDLED.items()]
    Table(("name", "rows", "columns", "classes", "what it is"), rows).show(format, json=json)
