# SPDX-License-Identifier: BSD-3-Clause
"""Limits and access control of a server."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass

from rushlight.errors import InvalidArgument


@dataclass(frozen=True)
class Settings:
    """
    name: the model's name for clients.
    max_tokens: maximum tokens of an answer; None: what the context holds.
    max_body: maximum bytes of a request.
    max_queue: maximum number of waiting requests; further ones get 503.
    body_seconds: time limit for receiving a request's body.
    api_key: the bearer token that clients must send; None: no authentication.
    """

    name: str = "model"
    host: str = "127.0.0.1"
    port: int = 8000
    max_tokens: int | None = None
    max_body: int = 1 << 20
    max_queue: int = 32
    body_seconds: float = 30.0
    api_key: str | None = None

    def __post_init__(self) -> None:
        for name, least, most in (
            ("port", 0, 65535),
            ("max_body", 1, 1 << 40),
            ("max_queue", 0, 1 << 20),
            ("max_tokens", 1, 1 << 40),
        ):
            value = getattr(self, name)
            if value is not None and not least <= value <= most:
                raise InvalidArgument(f"{name}: expected {least} to {most}, got {value}")
        if self.api_key is not None and not (self.api_key.isascii() and self.api_key.isprintable()):
            raise InvalidArgument("api_key: expected printable ASCII")
        if self.api_key == "":
            raise InvalidArgument("api_key: expected a key, got an empty one")

    @property
    def is_loopback(self) -> bool:
        """True if only this machine reaches the server."""
        return is_loopback(self.host)


def is_loopback(host: str) -> bool:
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
