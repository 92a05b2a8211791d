"""`separatrix schema`: what the columns of a table hold, what they are for, and why."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from separatrix.cli.options import (
    Debug,
    Delimiter,
    Encoding,
    Header,
    InputFormat,
    Json,
    Kind,
    Quiet,
    SchemaFile,
    Source,
    Target,
    parse_header,
    parse_kinds,
)

__all__ = ["schema"]


def schema(
    source: Source,
    target: Target = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Write it to this file, to be edited.")
    ] = None,
    header: Header = None,
    kind: Kind = None,
    given: SchemaFile = None,
    input_format: InputFormat = None,
    encoding: Encoding = None,
    delimiter: Delimiter = None,
    json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Show what the columns of a table hold, and why.

    Written with --out, edited and given back to compare or train with --schema, it decides
    instead; --kind decides for one column.
    """
    from separatrix.cli.files import check_writable
    from separatrix.cli.messages import note
    from separatrix.cli.source import read
    from separatrix.cli.tables import print_json
    from separatrix.data.tables.assembly import with_schema
    from separatrix.errors import DataError

    if out is not None:
        check_writable(out)
    data = with_schema(
        read(
            source,
            quiet=True,
            target=target,
            format=input_format,
            encoding=encoding,
            delimiter=delimiter,
            header=parse_header(header),
            kinds=parse_kinds(kind),
            schema=given,
        )
    )
    if data.schema is None:
        raise DataError(f"{source} holds {data.kind}, which have no columns")
    if json:
        print_json(data.schema.to_dict())
    elif out is None:
        typer.echo(str(data.schema))
    if out is not None:
        data.schema.save(out)
        note(f"{len(data.schema)} columns of {source} in {out}", quiet=quiet)
