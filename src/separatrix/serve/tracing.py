"""Spans of OpenTelemetry, one per request, where its package is there.

Its API does nothing until a program sets it up: `opentelemetry-instrument separatrix serve ...`.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Any

__all__ = ["Span", "request_span"]


class Span:
    """What is told of a request; nothing where nobody listens."""

    def __init__(self, inner: Any = None) -> None:
        self._inner = inner

    def done(self, status: int, **attributes: str) -> None:
        """Tell how it ended."""
        if self._inner is not None:
            self._inner.set_attributes({"http.response.status_code": status, **attributes})
            if status >= 500:
                trace = importlib.import_module("opentelemetry.trace")
                self._inner.set_status(trace.Status(trace.StatusCode.ERROR))


@cache
def _opentelemetry() -> tuple[Any, Any] | None:
    """Its modules; None where it is not there."""
    try:
        trace = importlib.import_module("opentelemetry.trace")
        return trace, importlib.import_module("opentelemetry.propagate")
    except ImportError:
        return None


@contextmanager
def request_span(method: str, route: str, headers: Mapping[str, str]) -> Iterator[Span]:
    """A span of a server, in the trace that the headers of its client name (W3C traceparent)."""
    found = _opentelemetry()
    if found is None:
        yield Span()
        return
    trace, propagate = found
    with trace.get_tracer("separatrix.serve").start_as_current_span(
        f"{method} {route}",
        context=propagate.extract(headers),
        kind=trace.SpanKind.SERVER,
        attributes={"http.request.method": method, "http.route": route},
    ) as inner:
        yield Span(inner)
