"""The socket at which a service listens: opening it, and closing it without cutting anybody off."""

from __future__ import annotations

import ctypes
import socket
import struct
import sys
from collections.abc import Iterator

__all__ = ["listen", "take_in_waiting", "turn_away"]

#: `SO_ATTACH_FILTER` of Linux, which Python does not name.
_ATTACH_FILTER = 26

#: Classic BPF over the TCP header: drop what asks for a new connection (SYN without ACK).
_NO_NEW_CONNECTIONS = (
    (0x30, 0, 0, 13),  # load the byte of the flags
    (0x54, 0, 0, 0x12),  # keep SYN and ACK
    (0x15, 0, 1, 0x02),  # SYN alone?
    (0x06, 0, 0, 0),  # drop it
    (0x06, 0, 0, 0xFFFFFFFF),  # let it pass
)


def listen(host: str, port: int) -> socket.socket:
    """Open a listening socket.

    Parameters
    ----------
    host : str
        Name or address; IPv6 with or without brackets.
    port : int

    Returns
    -------
    socket.socket

    Raises
    ------
    OSError
        The name is unknown, or the address is taken or not allowed.
    """
    found = socket.getaddrinfo(
        host.strip("[]"), port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )
    family, _, _, _, address = found[0]
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(2048)
    except OSError as error:
        listener.close()
        raise OSError(error.errno, error.strerror, f"{host}:{port}") from None
    return listener


def turn_away(listener: socket.socket) -> bool:
    """Let nobody new in; whoever is at the door already still gets in.

    Without it a client can connect between the last `accept` and the `close`, and is cut off with
    its request sent. With it the client's system asks again after a second, and is refused. Only
    Linux can do so, and where filters are kept to root it does not; there that moment stays.

    Parameters
    ----------
    listener : socket.socket

    Returns
    -------
    bool
        Whether the system did so.
    """
    if sys.platform != "linux":
        return False
    program = ctypes.create_string_buffer(
        b"".join(struct.pack("HBBI", *step) for step in _NO_NEW_CONNECTIONS)
    )
    # struct sock_fprog: the number of steps, and where they are.
    where = struct.pack("@HP", len(_NO_NEW_CONNECTIONS), ctypes.addressof(program))
    try:
        listener.setsockopt(socket.SOL_SOCKET, _ATTACH_FILTER, where)
    except OSError:
        return False
    return True


def take_in_waiting(listener: socket.socket) -> Iterator[socket.socket]:
    """Accept the connections that the system has taken in and nobody has accepted yet.

    Parameters
    ----------
    listener : socket.socket

    Yields
    ------
    socket.socket
        Not blocking.
    """
    listener.setblocking(False)
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:  # there is none, or no listener any more
            return
        connection.setblocking(False)
        yield connection
