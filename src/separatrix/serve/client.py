"""A client of the service, with nothing but the standard library behind it."""

from __future__ import annotations

import http.client
import importlib
import json
import random
import socket
import ssl
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from separatrix.errors import MissingPackageError, ParameterError, SeparatrixError

__all__ = ["Client", "ServiceError"]

_JSON, _LINES = "application/json", "application/x-ndjson"
_ARROW = "application/vnd.apache.arrow.stream"
#: Bytes of lines that are sent at a time.
_PIECE = 1 << 16
#: Seconds before the second attempt, and at most before a later one.
_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 5.0


class ServiceError(SeparatrixError):
    """What the service says instead of an answer.

    Attributes
    ----------
    status : int
        Of the response; 200 for an error in the middle of a stream.
    code, message : str
        What is wrong.
    field : str or None
        Where in the request.
    """

    def __init__(self, status: int, code: str, message: str, field: str | None) -> None:
        super().__init__(f"{field}: {message}" if field else message)
        self.status, self.code, self.message, self.field = status, code, message, field


class Client:
    """Asks a service; connections are kept, one per thread.

    Parameters
    ----------
    url : str
        Where the service is.
    token : str, optional
        What it was started with.
    timeout : float
        Seconds to wait for an answer.
    retries : int
        How often to come again when the service is busy (429), stops (503) or cannot be reached;
        the pause grows from 0.1 s to 5 s, unless the service says how long.

    Examples
    --------
    >>> client = Client("http://127.0.0.1:8000")
    >>> client.predict(["win a prize", "see you"], probabilities=True)  # doctest: +SKIP
    [{'label': 'spam', 'probabilities': [0.1, 0.9]}, {'label': 'ham', 'probabilities': [0.9, 0.1]}]
    """

    def __init__(
        self,
        url: str = "http://127.0.0.1:8000",
        *,
        token: str | None = None,
        timeout: float = 60.0,
        retries: int = 5,
    ) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ParameterError(f"url must be http://host:port, got {url!r}")
        self._parts = parts
        self._prefix = parts.path.rstrip("/")
        self._timeout = timeout
        self._retries = retries
        self._headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        self._local = threading.local()

    def predict(
        self,
        rows: Any,
        *,
        model: str | None = None,
        labels: Any = None,
        probabilities: bool = False,
        top: int | None = None,
        cost: Any = None,
        reject: float | None = None,
        explain: bool = False,
        terms: int | None = None,
        level: float | None = None,
    ) -> list[dict[str, Any]]:
        """What the service says of rows.

        Parameters
        ----------
        rows : list, array of shape (n, d), or data frame
            Texts, rows of a table (dicts, or a frame), rows of numbers, or sequences of tokens.
        model : str, optional
            Name of the model, where there are several.
        labels : list, or dict of label to str, optional
            Further labels, that training never saw; or the texts that describe them.
        probabilities : bool
            The probability of every class, in the order of the card's classes.
        top : int, optional
            So many of the most probable classes.
        cost : array-like of shape (K, K), optional
            ``cost[true][predicted]``, for the action of the least expected cost.
        reject : float, optional
            Cost of refusing to decide.
        explain : bool
            The sum behind every answer.
        terms : int, optional
            Terms of an explanation.
        level : float, optional
            Mass of the interval of a regression.

        Returns
        -------
        list of dict
            One per row, with "label", "labels" or "value", and what was requested.

        Raises
        ------
        ServiceError
            The service refuses; the message names the field.
        """
        options = {
            "model": model,
            "labels": labels,
            "probabilities": probabilities or None,
            "top": top,
            "cost": cost.tolist() if hasattr(cost, "tolist") else cost,
            "reject": reject,
            "explain": explain or None,
            "terms": terms,
            "level": level,
        }
        asked = {name: value for name, value in options.items() if value is not None}
        found: list[dict[str, Any]] = self._ask(
            "POST", "/v1/predict", {"rows": _listed(rows), **asked}
        )["predictions"]
        return found

    def stream(
        self,
        rows: Iterable[Any],
        *,
        model: str | None = None,
        probabilities: bool = False,
        top: int | None = None,
        level: float | None = None,
    ) -> Iterator[dict[str, Any]]:
        """What the service says of any number of rows, while they are still being sent.

        Parameters
        ----------
        rows : iterable
            Read as the service gets on with them.
        model, probabilities, top, level
            As in `predict`.

        Yields
        ------
        dict
            One per row, in their order.
        """
        path = self._path("/v1/predict", model, probabilities, top, level)
        connection = self._connect()
        try:
            connection.putrequest("POST", path)
            for name, value in {**self._headers, "Content-Type": _LINES}.items():
                connection.putheader(name, value)
            connection.putheader("Transfer-Encoding", "chunked")
            connection.endheaders()
            # Both sides would wait for ever if nobody read while much is sent.
            sender = threading.Thread(target=_send_lines, args=(connection, rows), daemon=True)
            sender.start()
            response = connection.getresponse()
            if response.status != 200:
                raise _error(response.status, response.read())
            for line in response:
                answer = json.loads(line)
                if "error" in answer:
                    told = answer["error"]
                    raise ServiceError(200, told["code"], told["message"], told["field"])
                yield answer
            sender.join()
        finally:
            connection.close()

    def predict_arrow(
        self,
        table: Any,
        *,
        model: str | None = None,
        probabilities: bool = False,
        level: float | None = None,
    ) -> Any:
        """The same for an Arrow table; the answers are one too.

        Parameters
        ----------
        table : pyarrow.Table
        model, probabilities, level
            As in `predict`.
        """
        try:
            pa = importlib.import_module("pyarrow")
        except ImportError as error:
            raise MissingPackageError(
                "Arrow needs pyarrow: pip install 'separatrix[parquet]'"
            ) from error
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
        path = self._path("/v1/predict", model, probabilities, None, level)
        body = self._exchange("POST", path, bytes(sink.getvalue()), _ARROW)
        with pa.ipc.open_stream(body) as stream:
            return stream.read_all()

    def models(self) -> list[dict[str, Any]]:
        """All models of the service."""
        found: list[dict[str, Any]] = self._ask("GET", "/v1/models")["models"]
        return found

    def card(self, name: str) -> dict[str, Any]:
        """What is known of a model: task, classes, features, training, test score."""
        found: dict[str, Any] = self._ask("GET", f"/v1/models/{quote(name, safe='')}")
        return found

    def is_ready(self) -> bool:
        """Whether the service takes requests."""
        try:
            response = self._request("GET", "/readyz", None, self._headers)
            response.read()
        except (OSError, http.client.HTTPException):
            self.close()
            return False
        return response.status == 200

    def close(self) -> None:
        """Close the connection of this thread."""
        connection = vars(self._local).pop("connection", None)
        if connection is not None:
            connection.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _path(
        self,
        path: str,
        model: str | None,
        probabilities: bool,
        top: int | None,
        level: float | None,
    ) -> str:
        given = {"model": model, "probabilities": "true" if probabilities else None, "top": top}
        given["level"] = level  # type: ignore[assignment]
        query = urlencode({name: value for name, value in given.items() if value is not None})
        return f"{path}?{query}" if query else path

    def _connect(self) -> http.client.HTTPConnection:
        host, port = self._parts.hostname, self._parts.port
        if self._parts.scheme == "https":
            context = ssl.create_default_context()
            return http.client.HTTPSConnection(
                str(host), port, timeout=self._timeout, context=context
            )
        return http.client.HTTPConnection(str(host), port, timeout=self._timeout)

    def _ask(self, method: str, path: str, content: Any = None) -> Any:
        body = None
        if content is not None:
            body = json.dumps(content, ensure_ascii=False, allow_nan=False).encode()
        return json.loads(self._exchange(method, path, body, _JSON))

    def _exchange(self, method: str, path: str, body: bytes | None, kind: str) -> bytes:
        headers = {**self._headers, **({"Content-Type": kind} if body is not None else {})}
        pause = _FIRST_PAUSE
        for left in range(self._retries, -1, -1):
            wait = pause
            try:
                response = self._request(method, path, body, headers)
                found = response.read()
            except (ConnectionError, http.client.HTTPException):
                self.close()
                if not left:
                    raise
            else:
                if response.status == 200:
                    return found
                if response.status not in (429, 503) or not left:
                    raise _error(response.status, found)
                told = response.headers.get("Retry-After", "")
                wait = float(told) if told.isdigit() else pause
            # Not all who were refused together come again together.
            time.sleep(wait * (1 + random.random() / 4))
            pause = min(2 * pause, _LONGEST_PAUSE)
        raise AssertionError("unreachable")

    def _request(
        self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]
    ) -> http.client.HTTPResponse:
        """Send on the kept connection; where the service had closed it, on a new one."""
        kept = vars(self._local).get("connection")
        for connection in (kept, self._connect()):
            if connection is None:
                continue
            try:
                connection.request(method, self._prefix + path, body, dict(headers))
                response: http.client.HTTPResponse = connection.getresponse()
            except (http.client.RemoteDisconnected, ConnectionError, BrokenPipeError):
                connection.close()
                if connection is not kept:
                    raise
            else:
                self._local.connection = connection
                return response
        raise AssertionError("unreachable")


def _send_lines(connection: http.client.HTTPConnection, rows: Iterable[Any]) -> None:
    """Send rows as lines in chunks of HTTP; a service that has enough hangs up."""
    piece = bytearray()
    try:
        for row in rows:
            piece += json.dumps(_plain(row), ensure_ascii=False, allow_nan=False).encode() + b"\n"
            if len(piece) >= _PIECE:
                connection.send(b"%x\r\n%b\r\n" % (len(piece), bytes(piece)))
                piece.clear()
        last = b"%x\r\n%b\r\n" % (len(piece), bytes(piece)) if piece else b""
        connection.send(last + b"0\r\n\r\n")
    except OSError:
        return
    except Exception:
        # The rows themselves failed: without an end the service gives the request up.
        if connection.sock is not None:
            connection.sock.shutdown(socket.SHUT_RDWR)
        raise


def _listed(rows: Any) -> list[Any]:
    """Rows as plain values."""
    if isinstance(rows, str | bytes | Mapping):
        raise ParameterError(f"rows must be a list of rows, got one {type(rows).__name__}")
    if hasattr(rows, "tolist") and not hasattr(rows, "columns"):
        rows = rows.tolist()
    elif hasattr(rows, "columns"):
        import narwhals.stable.v1 as nw

        rows = list(nw.from_native(rows, eager_only=True).iter_rows(named=True))
    return [_plain(row) for row in rows]


def _plain(value: Any) -> Any:
    """A value as JSON has it; what is missing is null."""
    if isinstance(value, Mapping):
        return {str(name): _plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    if isinstance(value, float) and value != value:
        return None
    return value.isoformat() if hasattr(value, "isoformat") else value


def _error(status: int, body: bytes) -> ServiceError:
    try:
        told = json.loads(body)["error"]
        return ServiceError(status, told["code"], told["message"], told["field"])
    except (ValueError, KeyError, TypeError):
        return ServiceError(status, "unknown", f"status {status}", None)
