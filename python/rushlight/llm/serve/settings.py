# SPDX-License-Identifier: BSD-3-Clause
"""Limits and access of a server."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass

from rushlight.errors import InvalidArgument


@dataclass(frozen=True)
class Settings:
    """
    name: of the model, as clients name it.
    max_tokens: of an answer, at most; None: what the context holds.
    max_body: bytes of a request.
    max_queue: requests that wait; those beyond are told to come again.
    body_seconds: within which a request's body has to arrive.
    api_key: that clients must give as a bearer token; None: anybody may ask.
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
