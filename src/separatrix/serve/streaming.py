"""Big batches: JSON lines, read and answered piece by piece."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pydantic_core import from_json, to_json

from separatrix.serve.problems import Problem
from separatrix.serve.security import Receive, Send
from separatrix.serve.settings import Settings

if TYPE_CHECKING:
    pass

__all__ = ["LineStream"]


class LineStream:
    """A request of JSON lines: each line a row, each line of the answer what is said of it.

    Memory holds one piece at a time. A client that sends much must read while it sends. What is
    wrong in the first piece is a status; later, when the status is out, it is a last line with the
    error.

    Parameters
    ----------
    receive, send : callables
        Of ASGI.
    submit : callable
        From rows to the future of their lines.
    settings : Settings
    """

    def __init__(
        self,
        receive: Receive,
        send: Send,
        submit: Callable[[list[Any]], asyncio.Future[bytes]],
        settings: Settings,
    ) -> None:
        self._receive, self._send, self._submit = receive, send, submit
        self._settings = settings
        self._whole: deque[bytes] = deque()
        self._begun: list[bytes] = []
        self._begun_size = 0
        self._size = 0
        self._ended = False
        self._n_lines = 0
        self._numbers: list[int] = []
        self._started = False

    async def run(self) -> None:
        """Answer the request."""
        try:
            while True:
                async with asyncio.timeout(self._settings.time_limit):
                    lines = await self._lines()
                    if not lines:
                        break
                    answer = await self._submit(self._rows(lines))
                    await self._write(answer)
        except TimeoutError:
            told = f"a piece was not done within {self._settings.time_limit:g} seconds"
            await self._fail(Problem("timeout", told))
            return
        except Problem as problem:
            await self._fail(problem)
            return
        if not self._started:
            raise Problem("invalid", "there are no rows", "body")
        await self._send({"type": "http.response.body", "body": b""})

    async def _lines(self) -> list[tuple[int, bytes]]:
        """The next lines that are not blank, with their numbers from 1 on."""
        found: list[tuple[int, bytes]] = []
        while len(found) < self._settings.stream_rows:
            if self._whole:
                line = self._whole.popleft()
                self._n_lines += 1
                if line.strip():
                    found.append((self._n_lines, line))
            elif self._ended:
                break
            else:
                await self._more()
        return found

    async def _more(self) -> None:
        """Read on: whole lines, and the beginning of the next."""
        message = await self._receive()
        if message["type"] == "http.disconnect":
            raise Problem("bad_json", "the connection ended before the body did")
        part = message.get("body", b"")
        self._size += len(part)
        self._ended = not message.get("more_body", False)
        if self._size > self._settings.max_stream:
            most = self._settings.max_stream
            raise Problem("too_large", f"the body has more than {most} bytes", "body")
        first, *others = part.split(b"\n")
        self._begun.append(first)
        self._begun_size += len(first)
        if self._begun_size > self._settings.max_body:
            most = self._settings.max_body
            place = f"line {self._n_lines + len(self._whole) + 1}"
            raise Problem("too_large", f"a line has more than {most} bytes", place)
        if others or self._ended:
            self._whole.append(b"".join(self._begun))
            self._whole.extend(others[:-1])
            self._begun = others[-1:]
            self._begun_size = sum(map(len, self._begun))
        if self._ended and others:
            self._whole.extend(self._begun)

    def _rows(self, lines: list[tuple[int, bytes]]) -> list[Any]:
        rows = []
        for number, line in lines:
            try:
                rows.append(from_json(line))
            except ValueError as error:
                raise Problem("bad_json", f"is no JSON: {error}", f"line {number}") from None
        self._numbers = [number for number, _ in lines]
        return rows

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
