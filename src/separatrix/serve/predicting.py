"""POST /v1/predict: one request from its bytes to the bytes of its answer."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

from pydantic_core import to_json

from separatrix.models import Model
from separatrix.serve.arrow import arrow_rows, arrow_table
from separatrix.serve.batching import SHORT, Batcher, Finish, Prepared
from separatrix.serve.bodies import (
    JSON,
    LINES,
    Memory,
    media_type,
    parse,
    parse_query,
    single_or_many,
    whole_body,
)
from separatrix.serve.metrics import Metrics
from separatrix.serve.observing import Observer
from separatrix.serve.problems import RETRY, Problem
from separatrix.serve.security import Receive, Scope, Send, send_problem, send_whole
from separatrix.serve.store import ModelStore
from separatrix.serve.streaming import LineStream
from separatrix.tasks import FieldError, Options

__all__ = ["PredictEndpoint"]


class PredictEndpoint:
    """The ASGI application behind the route; the event loop only moves bytes.

    Parameters
    ----------
    store : ModelStore
    batcher : Batcher
    observer : Observer
    metrics : Metrics
    """

    def __init__(
        self, store: ModelStore, batcher: Batcher, observer: Observer, metrics: Metrics
    ) -> None:
        self._store, self._batcher, self._metrics = store, batcher, metrics
        self._observer, self._settings = observer, store.settings
        self._memory = Memory(self._settings.max_held)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        metrics = self._metrics
        metrics.in_progress += 1
        try:
            headers = dict(scope["headers"])
            kind = media_type(headers)
            client = (scope.get("client") or ("",))[0]
            if kind == LINES:
                await self._stream(scope, receive, send, client)
                return
            prepare = self._json if kind == JSON else partial(self._arrow, scope)
            # Arrow is never short: a few bytes may stand for many rows.
            least = 0 if kind == JSON else SHORT
            try:
                async with (
                    asyncio.timeout(self._settings.time_limit),
                    whole_body(headers, receive, self._settings.max_body, self._memory) as body,
                ):
                    found: bytes = await self._batcher.submit(
                        partial(prepare, body), max(least, len(body)), client
                    )
            except TimeoutError:
                told = f"not done within {self._settings.time_limit:g} seconds"
                raise Problem("timeout", told, headers=RETRY) from None
            self._memory.held += len(found)
            try:
                await send_whole(send, 200, found, kind.encode())
            finally:
                self._memory.held -= len(found)
        except Problem as problem:
            await send_problem(send, problem)
        finally:
            metrics.in_progress -= 1

    def _json(self, body: bytearray) -> Prepared:
        settings = self._settings
        request = parse(body, settings)
        model = self._store.get(request.model)
        if request.labels is not None:
            try:
                model = model.with_labels(request.labels)
            except FieldError as error:
                raise Problem.of(error) from None
        rows = single_or_many(request, settings.max_rows)
        if request.explain:
            if len(rows) > settings.max_explained:
                told = f"explains at most {settings.max_explained} rows of a request"
                raise Problem("too_large", told, "explain")
            if sum(len(row) for row in rows if isinstance(row, str)) > settings.max_text:
                told = f"explains texts of at most {settings.max_text} letters together"
                raise Problem("too_large", told, "explain")
        options = Options(
            request.probabilities,
            request.top,
            request.cost,
            request.reject,
            request.terms if request.explain else None,
            request.level,
        )
        try:
            ready = self._checked(model, rows, options, json_answer)
            self._observer.see(model, rows, len(body))
            return ready
        except Problem as problem:
            if request.rows is None and problem.field is not None:
                problem.field = problem.field.replace("rows[0]", "row", 1)
            raise

    def _arrow(self, scope: Scope, body: bytearray) -> Prepared:
        options = parse_query(scope)
        model = self._store.get(options.model)
        if options.top is not None:
            raise Problem("invalid", "is not available in Arrow; request probabilities", "top")
        rows = arrow_rows(body, model, self._settings)
        return self._checked(model, rows, options.options, arrow_table)

    def _checked(self, model: Model, rows: list[Any], options: Options, finish: Finish) -> Prepared:
        """A request whose rows and options fit the model, and are not too much work.

        Raises
        ------
        Problem
            With the field that is wrong.
        """
        most = self._settings.max_values
        try:
            model.task.check(model, options)
            checked, form = model.reader.check(rows, self._settings.max_tokens)
        except FieldError as error:
            raise Problem.of(error) from None
        n_places = model.reader.n_places(checked)
        work = n_places * model.width
        if work > most and len(rows) > 1:
            told = f"{n_places} predictions of {model.width} numbers each are more than {most}"
            raise Problem("too_large", f"{told}; send fewer rows, or JSON lines", "rows")
        return Prepared(model, checked, form, options, finish, work)

    async def _stream(self, scope: Scope, receive: Receive, send: Send, client: str) -> None:
        options = parse_query(scope)
        model = self._store.get(options.model)
        wanted = options.options
        try:
            model.task.check(model, wanted)
        except FieldError as error:
            raise Problem.of(error) from None

        def prepare(rows: list[Any]) -> Prepared:
            return self._checked(model, rows, wanted, lines_answer)

        def submit(piece: Any) -> asyncio.Future[bytes]:
            return self._batcher.submit(piece, SHORT, client)

        most_rows = max(1, self._settings.max_values // model.width)
        stream = LineStream(receive, send, prepare, submit, self._settings, self._memory, most_rows)
        await stream.run()


def json_answer(found: Any, places: slice, asked: Prepared) -> bytes:
    """The body of a response; made in the thread that predicted."""
    model = asked.model
    content: dict[str, Any] = {"model": model.name, "version": model.version}
    if asked.options.probabilities:
        content["classes"] = model.labels
    answers = model.answers(found, places, asked.rows, asked.options)
    # One by one: all at once would hold the interpreter's lock, and everybody else up.
    parts = b",".join([to_json(answer, inf_nan_mode="null") for answer in answers])
    return to_json(content, inf_nan_mode="null")[:-1] + b',"predictions":[' + parts + b"]}"


def lines_answer(found: Any, places: slice, asked: Prepared) -> bytes:
    """Lines of JSON, one per row."""
    answers = asked.model.answers(found, places, asked.rows, asked.options)
    return b"".join([to_json(answer, inf_nan_mode="null") + b"\n" for answer in answers])
