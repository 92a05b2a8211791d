"""Connections that cost something before anybody knows who asks."""

from __future__ import annotations

import http.client
import json
import socket
import time

import pytest

from tests.unit.serve.served import PATIENCE, service

SHORT_HEAD_TIME = 1.0


@pytest.fixture(scope="module")
def port(paths):
    """A service that waits a second for heads and lets twenty connections of one address in."""
    options = ["--no-access-log", "--time-limit", str(SHORT_HEAD_TIME), "--max-per-address", "20"]
    with service(paths["mail"], options=options) as (_, port):
        yield port


def connect(port):
    return socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)


def answer(connection):
    """All bytes until the service hangs up."""
    parts = []
    while part := connection.recv(65536):
        parts.append(part)
    return b"".join(parts)


def predicts(port):
    client = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    body = json.dumps({"row": "free money"})
    client.request("POST", "/v1/predict", body, {"Content-Type": "application/json"})
    status = client.getresponse().status
    client.close()
    return status == 200


def until_it_predicts(port):
    end = time.monotonic() + PATIENCE
    while not predicts(port):
        assert time.monotonic() < end
        time.sleep(0.05)


def test_a_head_that_never_ends_is_refused(port):
    with connect(port) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\n")
        try:
            for _ in range(2000):
                connection.sendall(b"x-more: " + b"a" * 1000 + b"\r\n")
            found = answer(connection)
        except (ConnectionResetError, BrokenPipeError):
            found = b""
        assert b" 431 " in found or not found
    assert predicts(port)


def test_a_head_that_does_not_come_is_not_waited_for(port):
    with connect(port) as silent, connect(port) as slow:
        slow.sendall(b"POST /v1/predict HTTP/1.1\r\nhost: localh")
        assert b"timeout" in answer(silent)
        assert b"timeout" in answer(slow)


def test_a_second_head_has_its_own_time(port):
    with connect(port) as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n")
        assert connection.recv(65536).startswith(b"HTTP/1.1 200")
        connection.sendall(b"GET /healthz HT")
        assert b"timeout" in answer(connection)


def test_too_many_connections_of_one_address_are_turned_away(port):
    inside = [connect(port) for _ in range(20)]
    try:
        with connect(port) as further:
            assert b"too_many_connections" in answer(further)
    finally:
        for connection in inside:
            connection.close()
    until_it_predicts(port)
