"""Connections that cost something before anybody knows who asks."""

from __future__ import annotations

import contextlib
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


def test_blank_lines_do_not_keep_a_connection(port):
    with connect(port) as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n")
        assert b" 200 " in connection.recv(65536)
        connection.sendall(b"\r\n")
        assert b"timeout" in answer(connection)


def test_the_rest_of_a_refused_body_is_not_waited_for(port):
    with connect(port) as connection:
        connection.sendall(
            b"POST /healthz HTTP/1.1\r\nhost: localhost\r\ncontent-length: 99\r\n\r\n"
        )
        response = http.client.HTTPResponse(connection)
        response.begin()
        assert response.status == 405
        response.read()
        connection.sendall(b"a")
        with contextlib.suppress(ConnectionResetError):
            assert answer(connection) == b""


def test_a_body_that_does_not_come_is_not_waited_for(port):
    head = b"POST /v1/predict HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
    with connect(port) as connection:
        connection.sendall(head + b"content-length: 99\r\n\r\n{")
        assert b" 503 " in connection.recv(65536)


def test_an_answer_that_is_not_read_is_given_up(port):
    rows = b",".join([b'"free"'] * 10_000)
    body = b'{"probabilities": true, "rows": [' + rows + b"]}"
    head = b"POST /v1/predict HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.settimeout(PATIENCE)
    with connection:
        connection.connect(("127.0.0.1", port))
        connection.sendall(head + b"content-length: %d\r\n\r\n" % len(body) + body)
        end = time.monotonic() + PATIENCE
        # Not read: the service hangs up, which a write finds out.
        while time.monotonic() < end:
            try:
                connection.sendall(b"\r\n")
            except (ConnectionResetError, BrokenPipeError):
                break
            time.sleep(0.1)
        else:
            raise AssertionError("the service still waits")
    until_it_predicts(port)
