"""`separatrix clusters`: Brown clusters of the words of raw text."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from separatrix.cli.options import Debug, Encoding, Quiet

__all__ = ["clusters"]


def clusters(
    source: Annotated[
        str,
        typer.Argument(metavar="TEXT", help="One sentence a line, words parted by spaces."),
    ],
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Write to this file.")] = None,
    classes: Annotated[int, typer.Option("--classes", min=1, help="Number of classes.")] = 500,
    min_count: Annotated[
        int, typer.Option("--min-count", min=1, help="Rarer words have no class.")
    ] = 2,
    lower: Annotated[bool, typer.Option("--lower", help="Words in lower case.")] = False,
    encoding: Encoding = None,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Make classes of words, Brown clusters, from raw text.

    Words with the same neighbors share a class. Prints a path of zeros and ones, a tab and the
    word, a line per word; words whose paths begin alike are alike. For --clusters of compare and
    train.
    """
    from separatrix.cli.files import check_writable, write_parts
    from separatrix.cli.messages import note, waiting
    from separatrix.data.formats.source import TextStream, naming, origin_of
    from separatrix.errors import DataError
    from separatrix.features.templates import brown_clusters

    if out is not None:
        check_writable(out)
    with naming(source), waiting("Clustering words", quiet=quiet):
        lines = TextStream(origin_of(source).recode(encoding))
        words = (line.lower().split() if lower else line.split() for line in lines)
        found = brown_clusters(words, classes, min_count=min_count)
        if not found:
            raise DataError(f"no word occurs {min_count} times or more")
    parts = (f"{path}\t{word}\n" for word, path in found.items())
    if out is None:
        for part in parts:
            typer.echo(part, nl=False)
    else:
        write_parts(out, parts)
    note(f"{len(found)} words in {len(set(found.values()))} classes", quiet=quiet)
