"""Big batches: JSON lines, read and answered piece by piece."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from pydantic_core import from_json, to_json

from separatrix.serve.batching import Prepared
from separatrix.serve.bodies import Memory
from separatrix.serve.problems import Problem
from separatrix.serve.security import Receive, Send
from separatrix.serve.settings import Settings

__all__ = ["LineStream"]

#: Bytes that are read before what there is becomes a piece, even of fewer rows.
_PIECE = 1 << 18


class LineStream:
    """A request of JSON lines: each line a row, each line of the answer the prediction for it.

    Memory holds one piece at a time. A client that sends much must read while it sends. What is
    wrong in the first piece is a status; later, when the status is out, it is a last line with the
    error.

    Parameters
    ----------
    receive, send : callables
        Of ASGI.
    prepare : callable
        From rows to a request, checked; called on the thread of a lane.
    submit : callable
        From a function that makes a request to the future of its lines.
    settings : Settings
    memory : Memory
    most_rows : int
        Rows of a piece that the model allows.
    """

    def __init__(
        self,
        receive: Receive,
        send: Send,
        prepare: Callable[[list[Any]], Prepared],
        submit: Callable[[Callable[[], Prepared]], asyncio.Future[bytes]],
        settings: Settings,
        memory: Memory,
        most_rows: int,
    ) -> None:
        self._receive, self._send = receive, send
        self._prepare, self._submit = prepare, submit
        self._settings, self._memory = settings, memory
        self._most_rows = min(settings.stream_rows, most_rows)
        # Bytes that were read and not yet taken, ends of lines in them, bytes after the last one.
        self._bytes = bytearray()
        self._n_ends = 0
        self._n_open = 0
        self._size = self._held = 0
        self._ended = False
        self._n_lines = 0
        self._numbers: list[int] = []
        self._started = False

    async def run(self) -> None:
        """Answer the request."""
        try:
            await self._answer()
        except TimeoutError:
            told = f"a piece was not done within {self._settings.time_limit:g} seconds"
            await self._fail(Problem("timeout", told))
            return
        except Problem as problem:
            await self._fail(problem)
            return
        finally:
            self._memory.give_back(self._held)
        if not self._started:
            raise Problem("invalid", "there are no rows", "body")
        await self._send({"type": "http.response.body", "body": b""})

    async def _answer(self) -> None:
        while True:
            async with asyncio.timeout(self._settings.time_limit):
                while not self._enough():
                    await self._more()
                if not self._bytes:
                    return
                answer = await self._submit(self._piece)
                self._memory.give_back(self._held - len(self._bytes))
                self._held = len(self._bytes)
                if answer:
                    await self._write(answer)

    def _enough(self) -> bool:
        full = len(self._bytes) >= _PIECE and self._n_ends
        return bool(self._ended or self._n_ends >= self._most_rows or full)

    async def _more(self) -> None:
        """Read on; lines are not looked at here, on the event loop."""
        message = await self._receive()
        if message["type"] == "http.disconnect":
            raise Problem("bad_json", "the connection ended before the body did")
        part = message.get("body", b"")
        self._size += len(part)
        self._ended = not message.get("more_body", False)
        if self._size > self._settings.max_stream:
            most = self._settings.max_stream
            raise Problem("too_large", f"the body has more than {most} bytes", "body")
        self._bytes += part
        self._held += len(part)
        self._memory.take(len(part), len(self._bytes))
        n_ends = part.count(b"\n")
        self._n_ends += n_ends
        self._n_open = len(part) - part.rfind(b"\n") - 1 if n_ends else self._n_open + len(part)
        if self._n_open > self._settings.max_body:
            raise self._too_long(self._n_lines + self._n_ends + 1)

    def _piece(self) -> Prepared:
        """The next rows, taken from the bytes; on the thread of a lane, while `_answer` waits."""
        numbers: list[int] = []
        rows: list[Any] = []
        at = 0
        while len(rows) < self._most_rows and at < len(self._bytes):
            end = self._bytes.find(b"\n", at)
            if end < 0:
                if not self._ended:
                    break
                end = len(self._bytes)
            line = bytes(self._bytes[at:end]).strip()
            at = end + 1
            self._n_ends -= end < len(self._bytes)
            self._n_lines += 1
            if len(line) > self._settings.max_body:
                raise self._too_long(self._n_lines)
            if line:
                numbers.append(self._n_lines)
                try:
                    rows.append(from_json(line))
                except ValueError as error:
                    field = f"line {self._n_lines}"
                    raise Problem("bad_json", f"is no JSON: {error}", field) from None
        del self._bytes[:at]
        self._numbers = numbers
        return self._prepare(rows)

    def _too_long(self, line: int) -> Problem:
        most = self._settings.max_body
        return Problem("too_large", f"a line has more than {most} bytes", f"line {line}")

    async def _write(self, body: bytes) -> None:
        if not self._started:
            self._started = True
            headers = [(b"content-type", b"application/x-ndjson")]
            await self._send({"type": "http.response.start", "status": 200, "headers": headers})
        await self._send({"type": "http.response.body", "body": body, "more_body": True})

    async def _fail(self, problem: Problem) -> None:
        field = problem.field or ""
        if field.startswith("rows["):
            at, _, rest = field[5:].partition("]")
            problem.field = f"line {self._numbers[int(at)]}{': ' if rest else ''}{rest.lstrip('.')}"
        if not self._started:
            raise problem
        line = to_json({"error": problem.content}) + b"\n"
        await self._send({"type": "http.response.body", "body": line})
