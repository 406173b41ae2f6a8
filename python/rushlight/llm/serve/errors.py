# SPDX-License-Identifier: BSD-3-Clause
"""Errors in OpenAI's form."""

from __future__ import annotations

from typing import Any

from rushlight.errors import InvalidArgument, RushlightError


class ApiError(Exception):
    """A request that is not answered. `param` names the field it is about, `code` is for programs."""

    def __init__(
        self,
        status: int,
        message: str,
        *,
        param: str | None = None,
        code: str | None = None,
        headers: dict[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.param = param
        self.code = code
        self.headers = headers or {}

    @classmethod
    def of(cls, error: Exception) -> ApiError:
        """The answer to an error of a generation. Messages of foreign errors stay in the server."""
        if isinstance(error, InvalidArgument):
            return cls(400, error.message, code="invalid_value")
        words = error.message if isinstance(error, RushlightError) else "the model failed"
        return cls(500, words, code="model_failed")

    def to_json(self) -> dict[str, Any]:
        kind = "invalid_request_error" if self.status < 500 else "server_error"
        return {"error": {"message": self.message, "type": kind, "param": self.param, "code": self.code}}


def bad_field(param: str, expected: str, got: Any) -> ApiError:
    """A field with another value than it may have."""
    return ApiError(400, f"{param}: expected {expected}, got {got!r:.80}", param=param, code="invalid_value")
