# SPDX-License-Identifier: BSD-3-Clause
"""Checks requests before their fields are read: origin, size, and JSON syntax."""

from __future__ import annotations

import asyncio
import hmac
from typing import Any

from starlette.requests import Request

from rushlight.documents import parse_json
from rushlight.errors import InvalidArgument
from rushlight.llm.serve.errors import ApiError
from rushlight.llm.serve.settings import Settings, is_loopback

_CLOSE = {"Connection": "close"}


def check_host(request: Request, settings: Settings) -> None:
    """A server on loopback answers only to names of this machine: otherwise a page in a browser could reach
    it under the attacker's host name (DNS rebinding)."""
    host = request.headers.get("host", "")
    name = host[1 : host.find("]")] if host.startswith("[") else host.partition(":")[0]
    if settings.is_loopback and not is_loopback(name):
        raise ApiError(403, f"host: expected a name of this machine, got {host!r:.80}", code="wrong_host")


def check_key(request: Request, settings: Settings) -> None:
    if settings.api_key is None:
        return
    kind, _, key = request.headers.get("authorization", "").partition(" ")
    if kind.lower() != "bearer" or not hmac.compare_digest(key.encode(), settings.api_key.encode()):
        raise ApiError(
            401,
            "authorization: expected the server's API key as a bearer token",
            code="invalid_api_key",
            headers={"WWW-Authenticate": "Bearer"},
        )


async def read_body(request: Request, settings: Settings) -> Any:
    """The JSON of a request. Error: ApiError (408, 413, 415, 400)."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":  # other sites' pages can send other types without permission (CORS)
        raise ApiError(415, f"content-type: expected application/json, got {kind!r:.80}", code="wrong_type")
    try:
        data = await asyncio.wait_for(_bytes_of(request, settings.max_body), settings.body_seconds)
    except asyncio.TimeoutError:
        raise ApiError(
            408, f"body: expected within {settings.body_seconds:g} s", code="too_slow", headers=_CLOSE
        ) from None
    try:
        return parse_json(data, what="body")
    except InvalidArgument as error:
        raise ApiError(400, error.message, code="invalid_json") from None


async def _bytes_of(request: Request, most: int) -> bytes:
    too_large = ApiError(413, f"body: expected at most {most} bytes", code="too_large", headers=_CLOSE)
    length = request.headers.get("content-length", "")
    if length.isdecimal() and int(length[:20]) > most:
        raise too_large
    data = bytearray()
    async for chunk in request.stream():
        if len(data) + len(chunk) > most:
            raise too_large
        data += chunk
    return bytes(data)
