"""Reading requests: their kind, their size, their JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import from_json

from separatrix.serve.problems import Problem
from separatrix.serve.schemas import PredictRequest
from separatrix.serve.security import Receive, Scope
from separatrix.tasks import Options

__all__ = ["ARROW", "JSON", "LINES", "QueryOptions", "media_type", "parse", "parse_query",
           "read_body"]  # fmt: skip

JSON = "application/json"
LINES = "application/x-ndjson"
ARROW = "application/vnd.apache.arrow.stream"
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


async def read_body(headers: Mapping[bytes, bytes], receive: Receive, most: int) -> bytes:
    """The whole body; what is too long is thrown away as it comes, up to a point.

    Raises
    ------
    Problem
        It has more than `most` bytes, or never ended.
    """
    told = headers.get(b"content-length", b"")
    too_large = told.isdigit() and int(told) > most
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Problem("bad_json", "the connection ended before the body did")
        part = message.get("body", b"")
        size += len(part)
        more = message.get("more_body", False)
        if size > most:
            too_large = True
        if not too_large:
            if not more and not parts:
                return part  # type: ignore[no-any-return]
            parts.append(part)
        # A client that is cut off while it sends may never read the answer.
        if not more or (too_large and size > 4 * most):
            break
    if too_large:
        raise Problem("too_large", f"the body has more than {most} bytes; send JSON lines", "body")
    return b"".join(parts)


def parse(body: bytes) -> PredictRequest:
    """The request in a body of JSON.

    Raises
    ------
    Problem
        With the field that is wrong.
    """
    try:
        content = from_json(body)
    except ValueError as error:
        raise Problem("bad_json", f"the body is no JSON: {error}", "body") from None
    try:
        return PredictRequest.model_validate(content)
    except ValidationError as error:
        raise _first(error) from None


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
    if found["type"] == "extra_forbidden":
        message = "is no field of a request"
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
        told = f"must hold at most {most} rows, got {len(rows)}; send JSON lines"
        raise Problem("too_large", told, "rows")
    return rows
