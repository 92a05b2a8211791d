"""Around everything: who may ask, what every response carries, and what the log is told."""

from __future__ import annotations

import base64
import binascii
import hmac
import logging
import re
import secrets
import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from separatrix.serve.metrics import Metrics
from separatrix.serve.problems import Problem
from separatrix.serve.settings import Settings, is_loopback
from separatrix.serve.tracing import request_span

__all__ = ["Guard", "Receive", "Scope", "Send", "send_problem", "send_whole"]

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

log = logging.getLogger("separatrix.serve")
access = logging.getLogger("separatrix.serve.access")

#: The page is allowed its own script and style, and to ask its own server; nothing else.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = [
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
    (b"cache-control", b"no-store"),
]
#: Answered without a token: they tell nothing but that the service is there.
_OPEN = {"/healthz", "/readyz"}
_ROUTES = {"/", "/healthz", "/readyz", "/metrics", "/openapi.json", "/v1/models"}
_ROUTES |= {"/v1/predict"}
_REQUEST_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")
_FOLDERS = ("/v1/models/", "/static/")


async def send_whole(send: Send, status: int, body: bytes, kind: bytes, headers: Any = ()) -> None:
    """Send a response in one piece."""
    length = str(len(body)).encode()
    start = [(b"content-type", kind), (b"content-length", length), *headers]
    await send({"type": "http.response.start", "status": status, "headers": start})
    await send({"type": "http.response.body", "body": body})


async def send_problem(send: Send, problem: Problem) -> None:
    """Send what is wrong."""
    await send_whole(send, problem.status, problem.body, b"application/json", problem.headers)


class Guard:
    """The outermost layer of a service.

    Checks host and token, adds the headers of security, counts and logs requests (never what they
    hold), and turns whatever was not expected into a plain 500.

    Parameters
    ----------
    app : ASGI application
    settings : Settings
    metrics : Metrics
    """

    def __init__(self, app: App, settings: Settings, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics
        self._token = None if settings.token is None else settings.token.encode()
        # A page of another site that had its name point here could otherwise ask.
        self._local_only = settings.token is None and not settings.no_auth
        #: Set when the service is about to stop: connections end with their next answer.
        self.stopping = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            else:
                await receive()
                await send({"type": "websocket.close", "code": 1008})
            return
        began = time.perf_counter()
        status, whole = 0, False
        request_id = _request_id(scope)

        async def guarded(message: Message) -> None:
            nonlocal status, whole
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = [*message.get("headers", ()), *_HEADERS]
                headers.append((b"x-request-id", request_id.encode()))
                if self.stopping:
                    headers.append((b"connection", b"close"))
                message = {**message, "headers": headers}
            elif not message.get("more_body", False):
                whole = True
            await send(message)

        try:
            with request_span(_method(scope), _route(scope), _trace_headers(scope)) as span:
                try:
                    self._admit(scope)
                    await self._app(scope, receive, guarded)
                finally:
                    span.done(status, request_id=request_id)
        except Problem as problem:
            if not status:
                await send_problem(guarded, problem)
        except Exception:
            told = {"request_id": request_id}
            log.exception("%s %s failed", scope["method"], _route(scope), extra=told)
            if status and not whole:
                raise  # half of a response is out: the connection is closed
            if not status:
                await send_problem(guarded, Problem("internal", "the service failed; see its log"))
        finally:
            self._done(scope, status, time.perf_counter() - began, request_id)

    def _admit(self, scope: Scope) -> None:
        """Raise the Problem of a request that may not come in."""
        host, given = b"", b""
        for name, value in scope["headers"]:
            if name == b"host":
                host = value
            elif name == b"authorization":
                given = value
        if self._local_only and not is_loopback(_name(host)):
            told = "this service answers to localhost; give it a token to use another name"
            raise Problem("bad_host", told, "Host")
        if self._token is None or scope["path"] in _OPEN:
            return
        if not hmac.compare_digest(_brought(given), self._token):
            challenges = (b'Basic realm="separatrix"', b'Bearer realm="separatrix"')
            raise Problem(
                "unauthorized",
                "a token is needed: Authorization: Bearer TOKEN",
                "Authorization",
                tuple((b"www-authenticate", challenge) for challenge in challenges),
            )

    def _done(self, scope: Scope, status: int, seconds: float, request_id: str) -> None:
        method, route = _method(scope), _route(scope)
        self._metrics.request(method, route, status, seconds)
        if access.isEnabledFor(logging.INFO):
            client = (scope.get("client") or ("-",))[0]
            told = {
                "request_id": request_id,
                "client": client,
                "method": method,
                "route": route,
                "status": status,
                "ms": round(1000 * seconds, 1),
            }
            access.info("%s %s %s %d %.1f ms", client, method, route, status, 1000 * seconds,
                        extra=told)  # fmt: skip


def _method(scope: Scope) -> str:
    return scope["method"] if scope["method"] in ("GET", "POST", "HEAD") else "other"


def _route(scope: Scope) -> str:
    """The path as metrics and logs tell it.

    Never as it was sent: a name per path would fill the memory, and the log with payload.
    """
    path: str = scope["path"]
    if path in _ROUTES:
        return path
    folder = next((one for one in _FOLDERS if path.startswith(one)), None)
    return "other" if folder is None else f"{folder}*"


def _trace_headers(scope: Scope) -> dict[str, str]:
    """The headers that name a trace."""
    wanted = (b"traceparent", b"tracestate")
    return {
        str(name, "latin-1"): str(value, "latin-1")
        for name, value in scope["headers"]
        if name in wanted
    }


def _request_id(scope: Scope) -> str:
    """What the client calls its request, in X-Request-ID, if that can stand in a log; else new."""
    for name, value in scope["headers"]:
        if name == b"x-request-id" and _REQUEST_ID.fullmatch(value):
            return str(value, "ascii")
    return secrets.token_hex(8)


def _name(host: bytes) -> str:
    """Name in a Host header, without the port."""
    text = host.decode("latin-1")
    if text.startswith("["):
        return text.partition("]")[0] + "]"
    return text.partition(":")[0]


def _brought(given: bytes) -> bytes:
    """The token of an Authorization header: a bearer's, or the password of a browser's dialog."""
    scheme, _, value = given.partition(b" ")
    if scheme.lower() == b"bearer":
        return value.strip()
    if scheme.lower() == b"basic":
        try:
            return base64.b64decode(value.strip(), validate=True).partition(b":")[2]
        except (binascii.Error, ValueError):
            return b""
    return b""
