# SPDX-License-Identifier: BSD-3-Clause
"""Errors in OpenAI's format."""

from __future__ import annotations

from typing import Any

from rushlight.errors import InvalidArgument, RushlightError


class ApiError(Exception):
    """A refused request. `param` names the field concerned, `code` is machine-readable."""

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
        """The answer to a failed generation. Messages of unknown errors stay on the server."""
        if isinstance(error, InvalidArgument):
            return cls(400, error.message, code="invalid_value")
        words = error.message if isinstance(error, RushlightError) else "the model failed"
        return cls(500, words, code="model_failed")

    def to_json(self) -> dict[str, Any]:
        kind = "invalid_request_error" if self.status < 500 else "server_error"
        return {"error": {"message": self.message, "type": kind, "param": self.param, "code": self.code}}


def bad_field(param: str, expected: str, got: Any) -> ApiError:
    """The error for an invalid value of a field."""
    return ApiError(400, f"{param}: expected {expected}, got {got!r:.80}", param=param, code="invalid_value")
