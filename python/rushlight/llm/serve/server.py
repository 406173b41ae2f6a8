# SPDX-License-Identifier: BSD-3-Clause
"""Runs the application until a signal stops it."""

from __future__ import annotations

import socket
from collections.abc import Callable

import uvicorn

from rushlight.errors import InvalidArgument
from rushlight.llm.serve.app import Log, make_app
from rushlight.llm.serve.settings import Settings
from rushlight.llm.text_model import TextModel

_GRACE_SECONDS = 10
"""Seconds that running answers get to finish when the server stops; then they are cancelled."""

_MAX_CONNECTIONS = 256
"""Each connection may hold a body; further ones get 503 at once."""


def serve(
    model: TextModel,
    settings: Settings,
    *,
    listening: Callable[[str], None] = lambda address: None,
    log: Log = lambda line: None,
) -> None:
    """Answers requests until SIGINT or SIGTERM. `listening` is called with the server's address, `log` with a
    line for each answer. Error: InvalidArgument if the address cannot be bound."""
    with bound_socket(settings) as bound:
        listening(address_of(bound, settings))
        make_server(model, settings, log).run(sockets=[bound])


def make_server(model: TextModel, settings: Settings, log: Log = lambda line: None) -> uvicorn.Server:
    """The server, to be run with a socket; it ends when `should_exit` is set."""
    return uvicorn.Server(
        uvicorn.Config(
            make_app(model, settings, log),
            log_level="error",
            access_log=False,
            server_header=False,
            limit_concurrency=_MAX_CONNECTIONS,
            timeout_graceful_shutdown=_GRACE_SECONDS,
        )
    )


def address_of(bound: socket.socket, settings: Settings) -> str:
    """The URL of a socket, with its actual port."""
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    return f"http://{host}:{bound.getsockname()[1]}"


def bound_socket(settings: Settings) -> socket.socket:
    """A socket bound to the settings' address. Error: InvalidArgument."""
    where = f"{settings.host} port {settings.port}"
    try:
        stream, passive = socket.SOCK_STREAM, socket.AI_PASSIVE
        found = socket.getaddrinfo(settings.host, settings.port, type=stream, flags=passive)
        # Prefers IPv4 if a name (localhost) has both kinds of addresses.
        found.sort(key=lambda each: each[0] != socket.AF_INET)
        family, kind, protocol, _, address = found[0]
        bound = socket.socket(family, kind, protocol)
        try:
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            bound.bind(address)
            bound.listen()  # clients that connect before the server runs wait
        except OSError:
            bound.close()
            raise
        return bound
    except OSError as error:
        raise InvalidArgument(
            f"{where}: {error.strerror or error}", next_step="Choose another address: --host, --port."
        ) from error
