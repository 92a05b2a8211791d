"""The application: routes, and what stands around them."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, PlainTextResponse
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Route

from separatrix.serve.batching import Batcher
from separatrix.serve.documents import describe_api, error_responses
from separatrix.serve.metrics import Metrics
from separatrix.serve.observing import Observer
from separatrix.serve.page import add_page
from separatrix.serve.predicting import PredictEndpoint
from separatrix.serve.problems import Problem
from separatrix.serve.schemas import Card, ModelList, Status
from separatrix.serve.security import Guard
from separatrix.serve.settings import Settings
from separatrix.serve.store import ModelStore, Reloads

__all__ = ["Service", "create_app"]

_NAMES = {404: "not_found", 405: "method_not_allowed"}


class Service:
    """A service: its models, its counters, and its ASGI application `app`.

    Parameters
    ----------
    store : ModelStore
    """

    def __init__(self, store: ModelStore) -> None:
        self.settings = store.settings
        self.store = store
        self.metrics = Metrics()
        #: What /metrics and the list of models tell; of several processes, of all of them.
        self.counted: Callable[[], tuple[Metrics, Reloads]] = lambda: (
            self.metrics,
            self.store.reloads(),
        )
        self.batcher = Batcher(self.settings, self.metrics)
        self.observer = Observer(store, self.metrics, self.settings.sample)
        self.app = Guard(self._routes(), self.settings, self.metrics)

    def _routes(self) -> FastAPI:
        @asynccontextmanager
        async def lifespan(_: FastAPI) -> AsyncIterator[None]:
            yield
            self.batcher.stop()
            self.observer.stop()

        app = FastAPI(
            title="separatrix",
            description="Predictions of linear models.",
            docs_url=None,
            redoc_url=None,
            openapi_url=None,
            lifespan=lifespan,
        )
        predict = PredictEndpoint(self.store, self.batcher, self.observer, self.metrics)
        app.router.routes.append(Route("/v1/predict", predict, methods=["POST"]))
        self._add_models(app)
        self._add_health(app)
        add_page(app, self.store, self.settings)
        describe_api(app, self.store)
        _add_handlers(app)
        return app

    def _add_models(self, app: FastAPI) -> None:
        @app.get("/v1/models", tags=["models"], responses=error_responses(401))
        async def list_models() -> ModelList:
            """All models of the service."""
            models = [model.short() for model in self.store.models.values()]
            return ModelList.model_validate({"models": models, "complaints": self.counted()[1][2]})

        @app.get("/v1/models/{name}", tags=["models"], responses=error_responses(401, 404))
        async def show_model(name: str) -> Card:
            """The card of a model: task, classes, features, training, test score."""
            return Card.model_validate(self.store.get(name).card())

    def _add_health(self, app: FastAPI) -> None:
        @app.get("/healthz", tags=["health"], response_model_exclude_none=True)
        async def healthz() -> Status:
            """Whether the service lives."""
            return Status(status="ok", reload=None)

        @app.get("/readyz", tags=["health"], responses=error_responses(503),
                 response_model_exclude_none=True)  # fmt: skip
        async def readyz() -> Status:
            """Whether the service takes requests."""
            if self.app.stopping:
                raise Problem("stopping", "the service is about to stop")
            # No names here: nobody needs a token to ask this.
            return Status(status="ready", reload="failed" if self.counted()[1][2] else None)

        @app.get("/metrics", tags=["health"], response_class=PlainTextResponse,
                 responses=error_responses(401))  # fmt: skip
        async def metrics() -> Response:
            """Counters, in the text format of Prometheus."""
            versions = {name: model.version for name, model in self.store.models.items()}
            counted, (n_reloaded, n_failed, _) = self.counted()
            text = counted.text(n_reloaded, n_failed, versions)
            return PlainTextResponse(text, media_type="text/plain; version=0.0.4; charset=utf-8")


def create_app(paths: Iterable[str | os.PathLike[str]], settings: Settings | None = None) -> Guard:
    """An ASGI application that serves model files.

    Parameters
    ----------
    paths : iterable of path
        Model files; each is served under the name of its file without the ending.
    settings : Settings, optional
        Limits and access.

    Returns
    -------
    ASGI application
        For uvicorn or another server; `separatrix serve` runs it.
    """
    return Service(ModelStore(paths, settings or Settings())).app


def _add_handlers(app: FastAPI) -> None:
    @app.exception_handler(Problem)
    async def problem_handler(_: Request, problem: Problem) -> Response:
        return _response(problem)

    @app.exception_handler(Exception)
    async def failure_handler(_: Request, error: Exception) -> Response:
        return _response(Problem("internal", "the service failed; see its log"))

    @app.exception_handler(RequestValidationError)
    async def invalid_handler(_: Request, error: RequestValidationError) -> Response:
        # FastAPI's own handler sends back what it was sent, and fails on NaN.
        found = error.errors()[0]
        return _response(Problem("invalid", str(found["msg"]), str(found["loc"][-1])))

    @app.exception_handler(HTTPException)
    async def http_handler(_: Request, error: HTTPException) -> Response:
        code = _NAMES.get(error.status_code, "invalid")
        response = _response(Problem(code, str(error.detail).lower()))
        response.headers.update(error.headers or {})
        return response


def _response(problem: Problem) -> JSONResponse:
    content: dict[str, Any] = {"error": problem.content}
    headers = {name.decode(): value.decode() for name, value in problem.headers}
    return JSONResponse(content, problem.status, headers)
