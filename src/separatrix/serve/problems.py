"""What a service says when it cannot answer: a status, a code, a sentence and a field."""

from __future__ import annotations

from typing import Any

from pydantic_core import to_json

from separatrix.tasks import FieldError

__all__ = ["RETRY", "STATUS_CODES", "Problem"]

#: Header of a refusal that another time may not meet: seconds to wait.
RETRY = ((b"retry-after", b"1"),)

#: Status of every code.
STATUS_CODES = {
    "bad_json": 400,
    "bad_arrow": 400,
    "bad_host": 400,
    "unauthorized": 401,
    "not_found": 404,
    "unknown_model": 404,
    "method_not_allowed": 405,
    "too_large": 413,
    "unsupported_media_type": 415,
    "invalid": 422,
    "too_many_requests": 429,
    "head_too_large": 431,
    "internal": 500,
    "timeout": 503,
    "stopping": 503,
    "too_many_connections": 503,
}


class Problem(Exception):
    """A request that gets no answer, and why.

    Parameters
    ----------
    code : str
        One of `STATUS_CODES`.
    message : str
        What is wrong and what to do.
    field : str or None
        Where in the request, such as ``rows[3].age``.
    headers : tuple of (bytes, bytes)
        Further headers of the response.

    Examples
    --------
    >>> problem = Problem("invalid", "must be a number", "rows[0].age")
    >>> problem.status, problem.body.decode()
    (422, '{"error":{"code":"invalid","message":"must be a number","field":"rows[0].age"}}')
    """

    def __init__(
        self,
        code: str,
        message: str,
        field: str | None = None,
        headers: tuple[tuple[bytes, bytes], ...] = (),
    ) -> None:
        super().__init__(message)
        self.code, self.message, self.field, self.headers = code, message, field, headers

    @classmethod
    def of(cls, error: FieldError) -> Problem:
        """The problem of a field of a request."""
        return cls(error.code, error.message, error.field)

    @property
    def status(self) -> int:
        """Status of the response."""
        return STATUS_CODES[self.code]

    @property
    def content(self) -> dict[str, Any]:
        """The error as plain values."""
        return {"code": self.code, "message": self.message, "field": self.field}

    @property
    def body(self) -> bytes:
        """The error as JSON."""
        return to_json({"error": self.content})
