"""The address that a server of this toolkit listens on, and how it shuts down."""

import signal
import socket
from contextlib import suppress
from typing import TYPE_CHECKING

from judge.errors import InputError

if TYPE_CHECKING:
    import uvicorn


def listen_on(host: str, port: int) -> socket.socket:
    """A socket bound to the address that does not listen yet; port 0 picks a free one.

    Raises:
        InputError: if the address is taken, or does not belong to this machine.
    """
    listener = None
    try:
        family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, kind)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
    except OSError as error:
        if listener is not None:
            listener.close()
        raise InputError(
            f"cannot listen on {host}:{port} ({error.strerror}); take another --port, or an address of this "
            "machine"
        ) from None
    return listener


def address_of(listener: socket.socket) -> str:
    """Host and port, as in a URL."""
    host, port = listener.getsockname()[:2]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def run_until_stopped(config: "uvicorn.Config", listener: socket.socket) -> None:
    """Serve until SIGTERM or Ctrl-C; requests accepted by then are answered."""
    import uvicorn

    # Once all is answered, uvicorn raises the signal again for the handlers that were there before.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with suppress(KeyboardInterrupt):
        uvicorn.Server(config).run(sockets=[listener])
