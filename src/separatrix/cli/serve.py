"""`separatrix serve`: saved models as a service, with a page to try them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from separatrix.cli.options import Debug, Quiet, Threads

__all__ = ["serve"]


def serve(
    models: Annotated[
        list[Path],
        typer.Argument(metavar="MODEL...", help="Model files, as compare and train save them."),
    ],
    host: Annotated[str, typer.Option("--host", help="Address to listen at.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", "-p", min=0, max=65535, help="Port; 0 takes a free one.")
    ] = 8000,
    token: Annotated[
        str | None,
        typer.Option(
            "--token",
            envvar="SEPARATRIX_TOKEN",
            help="What requests must bring along; needed at other addresses than this machine's.",
        ),
    ] = None,
    no_auth: Annotated[
        bool, typer.Option("--no-auth", help="Let everybody ask, at any address.")
    ] = False,
    watch: Annotated[
        bool, typer.Option("--watch", help="Load a model again when its file changes.")
    ] = False,
    workers: Annotated[
        int, typer.Option("--workers", min=1, help="Processes; they share the models' memory.")
    ] = 1,
    max_body: Annotated[
        int, typer.Option("--max-body", min=1, help="Bytes of a request, in MiB.")
    ] = 8,
    max_rows: Annotated[int, typer.Option("--max-rows", min=1, help="Rows of a request.")] = 10_000,
    max_values: Annotated[
        int,
        typer.Option(
            "--max-values",
            min=1,
            help="Values of a request; and its rows times the model's features and classes.",
        ),
    ] = 1 << 20,
    max_held: Annotated[
        int, typer.Option("--max-held", min=1, help="Bytes of all requests at a time, in MiB.")
    ] = 16,
    max_concurrent: Annotated[
        int, typer.Option("--max-concurrent", min=1, help="Requests that wait at a time.")
    ] = 256,
    max_connections: Annotated[
        int, typer.Option("--max-connections", min=1, help="Connections at a time.")
    ] = 2000,
    max_per_address: Annotated[
        int, typer.Option("--max-per-address", min=1, help="Connections from one address.")
    ] = 1000,
    shadow: Annotated[
        list[Path] | None,
        typer.Option(
            "--shadow",
            help="Model file whose predictions are compared with the answers, in /metrics; of "
            "several models, one of the same name in another folder.",
        ),
    ] = None,
    sample: Annotated[
        int,
        typer.Option("--sample", min=0, help="Rows per second looked at for drift; 0 for none."),
    ] = 50,
    time_limit: Annotated[
        float, typer.Option("--time-limit", min=0.1, help="Seconds for a request.")
    ] = 30.0,
    access_log: Annotated[
        bool, typer.Option(help="Tell every request on standard error (never what it holds).")
    ] = True,
    log_format: Annotated[
        str, typer.Option("--log-format", help="Lines of the log: text, or json.")
    ] = "text",
    threads: Threads = None,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Serve saved models over HTTP, with a page to try them.

    SIGHUP loads the files again, SIGTERM and Ctrl-C finish what is under way and stop.
    """
    if log_format not in ("text", "json"):
        raise typer.BadParameter(
            f"must be text or json, got {log_format!r}", param_hint="--log-format"
        )
    for path in (*models, *(shadow or ())):
        with open(path, "rb"):  # a wrong name is told before everything is imported
            pass
    from separatrix.errors import MissingPackageError
    from separatrix.serve.settings import Settings

    settings = Settings(
        host=host,
        port=port,
        token=token,
        no_auth=no_auth,
        max_body=max_body << 20,
        max_held=max_held << 20,
        max_rows=max_rows,
        max_values=max_values,
        workers=workers,
        max_concurrent=max_concurrent,
        max_connections=max_connections,
        max_per_address=max_per_address,
        time_limit=time_limit,
        shadow=tuple(map(str, shadow or ())),
        sample=sample,
        watch=1.0 if watch else None,
    )
    try:
        from separatrix.serve.server import run
    except ModuleNotFoundError as error:
        raise MissingPackageError(
            f"the service needs {error.name}; install it with: pip install 'separatrix[serve]'"
        ) from error
    run(models, settings, access_log=access_log and not quiet, log_format=log_format)
