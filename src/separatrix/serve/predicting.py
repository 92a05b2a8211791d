"""POST /v1/predict: one request from its bytes to the bytes of its answer."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

from pydantic_core import to_json

from separatrix.models import Model
from separatrix.serve.arrow import arrow_rows, arrow_table
from separatrix.serve.batching import Batcher, Finish, Job
from separatrix.serve.bodies import (
    JSON,
    LINES,
    media_type,
    parse,
    parse_query,
    read_body,
    single_or_many,
)
from separatrix.serve.metrics import Metrics
from separatrix.serve.problems import Problem
from separatrix.serve.security import Receive, Scope, Send, send_problem, send_whole
from separatrix.serve.settings import Settings
from separatrix.serve.store import ModelStore
from separatrix.serve.streaming import LineStream
from separatrix.tasks import FieldError, Options

__all__ = ["PredictEndpoint"]

_RETRY = ((b"retry-after", b"1"),)
#: Bytes up to which a body of JSON is parsed on the event loop: a tenth of a millisecond, less than
#: the way to a thread and back.
_SHORT = 1 << 13

_Prepared = tuple[Model, list[Any], str, Options, Finish]


class PredictEndpoint:
    """The ASGI application behind the route; bodies are parsed once, by pydantic's own core.

    Parameters
    ----------
    store : ModelStore
    batcher : Batcher
    metrics : Metrics
    settings : Settings
    """

    def __init__(
        self, store: ModelStore, batcher: Batcher, metrics: Metrics, settings: Settings
    ) -> None:
        self._store, self._batcher, self._metrics = store, batcher, metrics
        self._settings = settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        metrics = self._metrics
        try:
            headers = dict(scope["headers"])
            kind = media_type(headers)
            if metrics.in_progress >= self._settings.max_concurrent:
                told = f"{metrics.in_progress} requests are under way; come again"
                raise Problem("too_many_requests", told, headers=_RETRY)
            metrics.in_progress += 1
            try:
                if kind == LINES:
                    await self._stream(scope, receive, send)
                    return
                async with asyncio.timeout(self._settings.time_limit):
                    body = await read_body(headers, receive, self._settings.max_body)
                    found = await self._submit(await self._prepared(kind, scope, body))
            except TimeoutError:
                told = f"not done within {self._settings.time_limit:g} seconds"
                raise Problem("timeout", told, headers=_RETRY) from None
            finally:
                metrics.in_progress -= 1
            await send_whole(send, 200, found, kind.encode())
        except Problem as problem:
            await send_problem(send, problem)

    async def _prepared(self, kind: str, scope: Scope, body: bytes) -> _Prepared:
        """The request, parsed and checked; off the event loop, but for a short one of JSON."""
        prepare = self._json if kind == JSON else partial(self._arrow, scope)
        if kind == JSON and len(body) < _SHORT:
            return prepare(body)
        return await asyncio.get_running_loop().run_in_executor(None, prepare, body)

    def _json(self, body: bytes) -> _Prepared:
        request = parse(body)
        model = self._store.get(request.model)
        rows = single_or_many(request, self._settings.max_rows)
        most = self._settings.max_explained
        if request.explain and len(rows) > most:
            raise Problem("too_large", f"explains at most {most} rows of a request", "explain")
        letters = self._settings.max_text
        if request.explain and any(isinstance(row, str) and len(row) > letters for row in rows):
            raise Problem("too_large", f"explains texts of at most {letters} letters", "explain")
        options = Options(
            request.probabilities,
            request.top,
            request.cost,
            request.reject,
            request.terms if request.explain else None,
            request.level,
        )
        try:
            return self._checked(model, rows, options, json_answer)
        except Problem as problem:
            if request.rows is None and problem.field is not None:
                problem.field = problem.field.replace("rows[0]", "row", 1)
            raise

    def _arrow(self, scope: Scope, body: bytes) -> _Prepared:
        options = parse_query(scope)
        model = self._store.get(options.model)
        if options.top is not None:
            raise Problem("invalid", "is not told in Arrow; ask for probabilities", "top")
        rows = arrow_rows(body, model, self._settings)
        return self._checked(model, rows, options.options, arrow_table)

    def _submit(self, prepared: _Prepared) -> asyncio.Future[bytes]:
        model, rows, _, _, _ = prepared
        self._metrics.rows[model.name] += len(rows)
        return self._batcher.submit(Job(*prepared))

    def _checked(
        self, model: Model, rows: list[Any], options: Options, finish: Finish
    ) -> _Prepared:
        _check_options(model, options)
        try:
            checked, form = model.reader.check(rows, self._settings.max_tokens)
        except FieldError as error:
            raise Problem.of(error) from None
        return model, checked, form, options, finish

    async def _stream(self, scope: Scope, receive: Receive, send: Send) -> None:
        options = parse_query(scope)
        model = self._store.get(options.model)
        wanted = options.options
        _check_options(model, wanted)

        def submit(rows: list[Any]) -> asyncio.Future[bytes]:
            return self._submit(self._checked(model, rows, wanted, lines_answer))

        await LineStream(receive, send, submit, self._settings).run()


def _check_options(model: Model, options: Options) -> None:
    try:
        model.task.check(model, options)
    except FieldError as error:
        raise Problem.of(error) from None


def json_answer(found: Any, places: slice, job: Job) -> bytes:
    """The body of a response; made in the thread that predicted."""
    model = job.model
    content: dict[str, Any] = {"model": model.name, "version": model.version}
    if job.options.probabilities:
        content["classes"] = model.labels
    content["predictions"] = model.answers(found, places, job.rows, job.options)
    return to_json(content, inf_nan_mode="null")


def lines_answer(found: Any, places: slice, job: Job) -> bytes:
    """Lines of JSON, one per row."""
    answers = job.model.answers(found, places, job.rows, job.options)
    return b"".join(to_json(answer, inf_nan_mode="null") + b"\n" for answer in answers)
