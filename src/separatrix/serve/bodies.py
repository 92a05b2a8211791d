"""Reading requests: their kind, their size, their JSON."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any
from urllib.parse import parse_qsl

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import from_json

from separatrix.serve.batching import SHORT
from separatrix.serve.json_rows import find_rows
from separatrix.serve.problems import RETRY, Problem
from separatrix.serve.schemas import PredictRequest
from separatrix.serve.security import Receive, Scope
from separatrix.serve.settings import Settings
from separatrix.tasks import Options

__all__ = ["ARROW", "JSON", "LINES", "Memory", "QueryOptions", "media_type", "parse", "parse_query",
           "single_or_many", "whole_body"]  # fmt: skip

JSON = "application/json"
LINES = "application/x-ndjson"
ARROW = "application/vnd.apache.arrow.stream"
#: Bytes from which on the rows of a body are parsed one by one.
_LONG = 1 << 16
#: Values that are parsed at once: some milliseconds.
_MOST_AT_ONCE = 1 << 16
_ALIASES = {"application/jsonl": LINES, "application/ndjson": LINES}


class QueryOptions(BaseModel):
    """Options of a request of JSON lines or Arrow, in its address."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    model: str | None = None
    probabilities: bool = False
    top: int | None = Field(None, ge=1, le=100)
    level: float = Field(0.95, gt=0, lt=1)

    @property
    def options(self) -> Options:
        """What is wanted."""
        return Options(self.probabilities, self.top, level=self.level)


def media_type(headers: Mapping[bytes, bytes]) -> str:
    """The kind of a body, one of JSON, LINES and ARROW.

    Raises
    ------
    Problem
        It is another one, in another character set, or packed.
    """
    given = headers.get(b"content-type", b"").decode("latin-1")
    kind, *parameters = [part.strip().lower() for part in given.split(";")]
    kind = _ALIASES.get(kind, kind)
    charsets = [part for part in parameters if part.replace('"', "") != "charset=utf-8"]
    if kind not in (JSON, LINES, ARROW) or (charsets and kind != ARROW):
        raise Problem(
            "unsupported_media_type",
            f"must be {JSON}, {LINES} or {ARROW}, in UTF-8",
            "Content-Type",
        )
    if headers.get(b"content-encoding", b"identity") != b"identity":
        raise Problem("unsupported_media_type", "packed bodies are not read", "Content-Encoding")
    return kind


class Memory:
    """Bytes of the bodies and answers that a service holds.

    Short bodies always find room; the number of connections bounds them.

    Parameters
    ----------
    most : int
        Bytes of all of them together.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self.held = 0

    def take(self, n_bytes: int, size: int) -> None:
        """Hold more bytes of a body of which `size` are there.

        Raises
        ------
        Problem
            There is no room.
        """
        self.held += n_bytes
        if self.held > self._most and size > SHORT:
            told = "the service holds as many bytes of requests as it may; come again"
            raise Problem("too_many_requests", told, headers=RETRY)

    def give_back(self, n_bytes: int) -> None:
        """Hold fewer."""
        self.held -= n_bytes


@asynccontextmanager
async def whole_body(
    headers: Mapping[bytes, bytes], receive: Receive, most: int, memory: Memory
) -> AsyncIterator[bytearray]:
    """The whole body; what is too long is thrown away as it comes, up to a point.

    Raises
    ------
    Problem
        It has more than `most` bytes, never ended, or there is no room for it.
    """
    told = headers.get(b"content-length", b"")
    too_large = told.isdigit() and int(told) > most
    body = bytearray()
    size = held = 0
    try:
        more = True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise Problem("bad_json", "the connection ended before the body did")
            part = message.get("body", b"")
            more = message.get("more_body", False)
            size += len(part)
            if size > most:
                too_large = True
                body.clear()
                # A client that is cut off while it sends may never read the answer.
                if size > 4 * most:
                    break
            if not too_large:
                held += len(part)
                memory.take(len(part), size)
                body += part
        if too_large:
            told_ = f"the body has more than {most} bytes; send JSON lines"
            raise Problem("too_large", told_, "body")
        yield body
    finally:
        memory.give_back(held)
        # Whoever still refers to it, a request whose time was over or an error, keeps no bytes.
        with suppress(BufferError):
            body.clear()


def parse(body: bytes | bytearray, settings: Settings) -> PredictRequest:
    """The request in a body of JSON.

    Of a long body the rows are parsed one by one: a parser that runs for long would hold the
    interpreter's lock, and everybody else up.

    Raises
    ------
    Problem
        With the field that is wrong.
    """
    rows = None
    if len(body) > _LONG:
        if _n_values(body) > settings.max_values:
            told = f"the body has more than {settings.max_values} values; send JSON lines"
            raise Problem("too_large", told, "body")
        found = find_rows(body, settings.max_rows)
        if found is not None:
            if len(found.spans) > settings.max_rows:
                raise _too_many(settings.max_rows)
            rows = [_row(body[start:end], at) for at, (start, end) in enumerate(found.spans)]
            body = body[: found.first] + body[found.last :]
        _check_size(body, "body")
    try:
        content = from_json(body)
    except ValueError as error:
        raise Problem("bad_json", f"the body is no JSON: {error}", "body") from None
    if isinstance(content, dict):
        for name in content:
            if name not in PredictRequest.model_fields:
                raise Problem("invalid", "is no field of a request", name[:200])
        if rows is not None:
            if content.get("rows"):
                raise Problem("invalid", "is there twice", "rows")
            content["rows"] = rows
    try:
        return PredictRequest.model_validate(content)
    except ValidationError as error:
        raise _first(error) from None


def _n_values(text: bytes | bytearray) -> int:
    """At most so many values are in a text of JSON."""
    return text.count(b",") + text.count(b"[") + text.count(b"{")


def _check_size(text: bytes | bytearray, field: str) -> None:
    if len(text) > _MOST_AT_ONCE and _n_values(text) > _MOST_AT_ONCE:
        raise Problem("too_large", f"holds more than {_MOST_AT_ONCE} values", field)


def _row(text: bytes | bytearray, at: int) -> Any:
    _check_size(text, f"rows[{at}]")
    try:
        return from_json(text)
    except ValueError as error:
        raise Problem("bad_json", f"is no JSON: {error}", f"rows[{at}]") from None


def parse_query(scope: Scope) -> QueryOptions:
    """The options in an address."""
    try:
        pairs = parse_qsl(scope["query_string"].decode("ascii"), strict_parsing=True,
                          keep_blank_values=True) if scope["query_string"] else []  # fmt: skip
        return QueryOptions.model_validate(dict(pairs))
    except ValidationError as error:
        raise _first(error) from None
    except ValueError:
        raise Problem("invalid", "the query of the address cannot be read", "query") from None


def _first(error: ValidationError) -> Problem:
    """The first complaint of pydantic, without what was sent."""
    found = error.errors(include_input=False, include_url=False, include_context=False)[0]
    field = ""
    for part in found["loc"]:
        field += f"[{part}]" if isinstance(part, int) else f".{part}" if field else str(part)
    message = found["msg"]
    return Problem("invalid", message[0].lower() + message[1:], field[:200] or "body")


def single_or_many(request: PredictRequest, most: int) -> list[Any]:
    """The rows of a request.

    Raises
    ------
    Problem
        There are none, or more than `most`.
    """
    rows = request.rows
    if rows is None:
        if "row" not in request.model_fields_set:
            raise Problem("invalid", "is needed, or row", "rows")
        return [request.row]
    if "row" in request.model_fields_set:
        raise Problem("invalid", "give row or rows, not both", "row")
    if not rows:
        raise Problem("invalid", "must hold at least one row", "rows")
    if len(rows) > most:
        raise _too_many(most)
    return rows


def _too_many(most: int) -> Problem:
    return Problem("too_large", f"must hold at most {most} rows; send JSON lines", "rows")
