"""The door of a service: who is let in while it closes, with and without filters of the system."""

from __future__ import annotations

import socket
import sys

import pytest

from separatrix.serve.listening import listen, take_in_waiting, turn_away

#: `SO_LOCK_FILTER` of Linux: from then on filters are refused, to root as well.
LOCK_FILTER = 44


@pytest.mark.skipif(sys.platform != "linux", reason="filters of sockets are Linux's")
def test_a_service_that_may_not_filter_still_closes():
    with listen("127.0.0.1", 0) as listener:
        listener.setsockopt(socket.SOL_SOCKET, LOCK_FILTER, 1)
        with socket.create_connection(listener.getsockname()) as client:
            assert not turn_away(listener)
            (connection,) = take_in_waiting(listener)
            with connection:
                client.sendall(b"a")
                connection.setblocking(True)
                assert connection.recv(1) == b"a"


def test_whoever_is_at_the_door_gets_in():
    with (
        listen("127.0.0.1", 0) as listener,
        socket.create_connection(listener.getsockname()) as one,
    ):
        filtered = turn_away(listener)
        (connection,) = take_in_waiting(listener)
        with connection, socket.socket() as late:
            late.settimeout(0.1)
            if filtered:
                with pytest.raises(TimeoutError):
                    late.connect(listener.getsockname())
            else:  # not root, or another system
                late.connect(listener.getsockname())
            one.sendall(b"a")
            connection.setblocking(True)
            assert connection.recv(1) == b"a"
