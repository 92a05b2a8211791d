"""How a run ends: exit codes, and errors told in one sentence."""

from __future__ import annotations

import os
import re
import sys
import traceback

import typer

__all__ = [
    "BAD_DATA", "CLOSED_PIPE", "INTERRUPTED", "OK", "SUSPICIOUS", "USAGE", "close_pipe", "complain",
]  # fmt: skip

#: All well; data or files that cannot be used (and bugs); words of the command line that cannot;
#: a serious finding with --strict; Ctrl-C; a reader of the output that left (the last two as the
#: shell counts signals).
OK, BAD_DATA, USAGE, SUSPICIOUS, INTERRUPTED, CLOSED_PIPE = 0, 1, 2, 3, 130, 141

#: Advice of the Python API -> the same for the command line.
_ADVICE = (
    (r"pass format=", "give --input-format"),
    (r"pass encoding='([^']*)'", r"give --encoding \1"),
    (r"pass encoding= \(such as '([^']*)' or '([^']*)'\)", r"give --encoding (\1, \2, …)"),
    (r"pass encoding=", "give --encoding"),
    (r"pass names=", "rename one of them"),
    (r", or pass target=None", ""),
    (r" or choose another kind: kinds=\{.*\}", ""),
    (r"leave it out with columns=", "leave it out of the file"),
    (r"^target(=| must|: )", r"--target\1"),
)


def complain(error: Exception, *, debug: bool) -> int:
    """Print an error to stderr as one sentence and return the exit code for it."""
    if debug:
        traceback.print_exception(error)
    message, code = _explain(error)
    for advice, words in _ADVICE:
        message = re.sub(advice, words, message)
    typer.echo(f"error: {' '.join(message.split())}", err=True)
    return code


def _explain(error: Exception) -> tuple[str, int]:
    usage = getattr(error, "format_message", None)  # an error of the command line itself
    if usage is not None:
        return str(usage()), USAGE
    if isinstance(error, OSError) and error.strerror and error.filename is not None:
        return f"{os.fsdecode(error.filename)}: {error.strerror.lower()}", BAD_DATA
    if isinstance(error, MemoryError):
        return "there is not enough memory", BAD_DATA
    # Imported only now: scikit-learn comes with it.
    from separatrix.errors import ParameterError, SeparatrixError

    if isinstance(error, ParameterError):
        return str(error), USAGE
    if isinstance(error, SeparatrixError | ValueError | OSError):
        return str(error), BAD_DATA
    return f"{type(error).__name__}: {error} (a bug; --debug shows where)", BAD_DATA


def close_pipe() -> int:
    """Keep the interpreter from complaining at exit that the reader (head, less) has gone."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return CLOSED_PIPE
