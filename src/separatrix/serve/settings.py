"""What a service allows: where it listens, who may ask, and how much."""

from __future__ import annotations

import ipaddress
import os
from dataclasses import dataclass, fields

from separatrix.errors import ParameterError

__all__ = ["Settings", "is_loopback"]

_SHORTEST_TOKEN = 16


def is_loopback(host: str) -> bool:
    """Whether an address can be reached from this machine only.

    Examples
    --------
    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


@dataclass(frozen=True)
class Settings:
    """Address, access and limits of a service.

    Parameters
    ----------
    host, port : str and int
        Where to listen; port 0 takes a free one.
    token : str or None
        What requests must bring along, as ``Authorization: Bearer`` or as password of basic
        authentication. At least 16 characters.
    no_auth : bool
        Allow other addresses than this machine's own without a token.
    max_body : int
        Bytes of a request, of JSON and Arrow.
    max_stream : int
        Bytes of a request of JSON lines, which is read piece by piece.
    max_rows : int
        Rows of a request, of JSON and Arrow.
    max_explained : int
        Rows of a request that asks for explanations.
    max_tokens : int
        Tokens of all sequences of a request.
    max_text : int
        Letters of all texts of a request that asks for explanations.
    max_values : int
        Values in the rows of a request; and rows (of sequences tokens, of images pixels) times the
        features and classes of the model.
    max_held : int
        Bytes of all requests and answers that are held at a time; beyond, only short requests are
        let in, others are told to come again (429).
    max_concurrent : int
        Prediction requests that wait at a time, short ones and long ones each; beyond, those of
        the client with most of them are told to come again (429).
    max_connections, max_per_address : int
        Connections at a time, in all and from one address; further ones are turned away (503). A
        proxy in front of the service is one address.
    max_head : int
        Bytes of the head of a request: its address and headers.
    head_time : float
        Seconds in which the head of a request must arrive.
    idle_time : float
        Seconds for which a connection without a request is kept.
    time_limit : float
        Seconds for a request, from its head to its answer; for JSON lines, for each piece. A client
        that does not read its answer is cut off after as many.
    workers : int
        Processes that answer, at one socket; they share the memory of the models.
    batch_rows : int
        Rows of requests that arrive together and are predicted in one call.
    stream_rows : int
        Lines of a piece of a stream.
    drain : float
        Seconds after the signal to stop in which connections that are still in use are closed
        with their next answer.
    shadow : tuple of str
        Model files whose predictions are compared with those that are answered: one for the only
        model, or of the names of the models that they shadow.
    sample : int
        Rows per second that are looked at for drift, and by shadows; 0 for none.
    watch : float or None
        Seconds between looks at the model files; None looks upon SIGHUP only.

    Examples
    --------
    >>> Settings(host="0.0.0.0")
    Traceback (most recent call last):
    separatrix.errors.ParameterError: 0.0.0.0 can be reached from other machines: give a token \
(--token), or say that everybody may ask (--no-auth)
    """

    host: str = "127.0.0.1"
    port: int = 8000
    token: str | None = None
    no_auth: bool = False
    max_body: int = 8 << 20
    max_stream: int = 1 << 30
    max_rows: int = 10_000
    max_explained: int = 20
    max_tokens: int = 100_000
    max_text: int = 200_000
    max_values: int = 1 << 20
    max_held: int = 16 << 20
    max_concurrent: int = 256
    max_connections: int = 2000
    max_per_address: int = 1000
    max_head: int = 1 << 16
    head_time: float = 10.0
    idle_time: float = 30.0
    time_limit: float = 30.0
    workers: int = 1
    batch_rows: int = 2048
    stream_rows: int = 1000
    drain: float = 1.0
    shadow: tuple[str, ...] = ()
    sample: int = 50
    watch: float | None = None

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            is_limit = field.name.startswith("max_") or field.name in (
                "batch_rows",
                "stream_rows",
                "workers",
            )
            if is_limit and value < 1:
                raise ParameterError(f"{field.name} must be at least 1, got {value}")
        if self.sample < 0:
            raise ParameterError(f"sample must not be negative, got {self.sample}")
        if self.workers > 1 and not hasattr(os, "fork"):
            raise ParameterError("several workers need a system that can fork")
        times = (self.time_limit, self.head_time, self.idle_time, self.watch or 1.0)
        if min(times) <= 0 or self.drain < 0 or self.watch == 0:
            raise ParameterError(
                "time_limit, head_time, idle_time and watch must be positive, drain not negative"
            )
        token = self.token
        if token is not None and (len(token) < _SHORTEST_TOKEN or not token.isascii()):
            raise ParameterError(
                f"the token must be ASCII of at least {_SHORTEST_TOKEN} characters; "
                "python -c 'import secrets; print(secrets.token_urlsafe())' makes one"
            )
        if self.token is None and not self.no_auth and not is_loopback(self.host):
            raise ParameterError(
                f"{self.host} can be reached from other machines: give a token (--token), or say "
                "that everybody may ask (--no-auth)"
            )
