# SPDX-License-Identifier: BSD-3-Clause
"""Reads the fields of a request. Unknown fields are refused, since they might change the answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from rushlight.errors import InvalidArgument
from rushlight.llm.options import Options
from rushlight.llm.serve.errors import ApiError, bad_field
from rushlight.llm.serve.settings import Settings

_OPTIONS = ("temperature", "top_p", "top_k", "min_p", "repetition_penalty", "seed", "stop")
"""Fields that are options under the same name."""

_IGNORED = frozenset(
    {
        "metadata",
        "parallel_tool_calls",
        "prompt_cache_key",
        "safety_identifier",
        "service_tier",
        "store",
        "user",
    }
)
"""Fields that do not affect the answer."""

_ONLY: dict[str, tuple[Any, ...]] = {
    "n": (1,),
    "best_of": (1,),
    "echo": (False,),
    "frequency_penalty": (0, 0.0),
    "presence_penalty": (0, 0.0),
    "logit_bias": ({},),
    "logprobs": (False,),
    "top_logprobs": (0,),
    "suffix": ("",),
    "tools": ([],),
    "tool_choice": ("none", "auto"),
    "response_format": ({"type": "text"},),
    "modalities": (["text"],),
}
"""Fields that support only these values, and null."""

_ROLES = {"system": "system", "developer": "system", "user": "user", "assistant": "assistant"}
_MAX_STOPS, _MAX_STOP_LENGTH = 16, 256


@dataclass(frozen=True)
class Asked:
    """A request for text: `prompt` is a string, tokens, or messages."""

    prompt: Any
    options: Options
    stream: bool
    include_usage: bool


def read_chat(body: Any, settings: Settings) -> Asked:
    """The request of /v1/chat/completions. Error: ApiError."""
    return _read(body, settings, "messages", _messages)


def read_completion(body: Any, settings: Settings) -> Asked:
    """The request of /v1/completions. Error: ApiError."""
    return _read(body, settings, "prompt", _prompt)


def _read(body: Any, settings: Settings, field: str, read_prompt: Callable[[Any], Any]) -> Asked:
    if not isinstance(body, dict):
        raise ApiError(400, f"body: expected a JSON object, got {body!r:.80}", code="invalid_json")
    given = {name: value for name, value in body.items() if value is not None and name not in _IGNORED}
    _check_model(given.pop("model", settings.name), settings)
    if field not in given:
        raise ApiError(400, f"{field}: expected a value, got none", param=field, code="missing_field")
    prompt = read_prompt(given.pop(field))
    stream = _boolean("stream", given.pop("stream", False))
    include_usage = _include_usage(given.pop("stream_options", {}))
    options = _options(given, settings)
    for name, value in given.items():
        _check_only(name, value)
    return Asked(prompt, options, stream, include_usage)


def _check_model(name: Any, settings: Settings) -> None:
    if name != settings.name:
        raise ApiError(
            404,
            f"model: expected '{settings.name}', got {name!r:.80}",
            param="model",
            code="model_not_found",
        )


def _check_only(name: str, value: Any) -> None:
    if name not in _ONLY:
        words = f"{name!r:.80}: expected a field of OpenAI's that is supported"
        raise ApiError(400, words, param=name[:80], code="unknown_field")
    if not any(type(value) is type(allowed) and value == allowed for allowed in _ONLY[name]):
        expected = " or ".join(repr(allowed) for allowed in _ONLY[name])
        raise bad_field(name, f"{expected} (other values are not supported)", value)


def _boolean(name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise bad_field(name, "true or false", value)
    return value


def _include_usage(value: Any) -> bool:
    if not isinstance(value, dict) or not value.keys() <= {"include_usage", "include_obfuscation"}:
        raise bad_field("stream_options", "{'include_usage': true or false}", value)
    return _boolean("stream_options.include_usage", value.get("include_usage", False))


def _options(given: dict[str, Any], settings: Settings) -> Options:
    """Removes the option fields from `given` and returns them as Options."""
    chosen = {name: given.pop(name) for name in _OPTIONS if name in given}
    most = [given.pop(name) for name in ("max_tokens", "max_completion_tokens") if name in given]
    _check_stop(chosen.get("stop", ()))
    try:
        chosen["max_tokens"] = _smallest([Options(max_tokens=each).max_tokens for each in most], settings)
        return Options(**chosen)
    except InvalidArgument as error:
        raise ApiError(
            400, error.message, param=error.message.partition(":")[0], code="invalid_value"
        ) from None


def _smallest(asked: list[int | None], settings: Settings) -> int | None:
    return min((each for each in (*asked, settings.max_tokens) if each is not None), default=None)


def _check_stop(stop: Any) -> None:
    texts = [stop] if isinstance(stop, str) else stop
    right = isinstance(texts, (list, tuple)) and len(texts) <= _MAX_STOPS
    if not right or not all(isinstance(text, str) and 0 < len(text) <= _MAX_STOP_LENGTH for text in texts):
        raise bad_field("stop", f"up to {_MAX_STOPS} texts of 1 to {_MAX_STOP_LENGTH} characters", stop)


def _prompt(value: Any) -> str | list[int]:
    """A string or tokens; OpenAI's clients may also send a list with one string or one token list."""
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], (str, list)):
        value = value[0]
    if isinstance(value, str):
        return _text("prompt", value)
    if isinstance(value, list) and all(type(token) is int for token in value):
        return value
    raise bad_field("prompt", "one text, or tokens", value)


def _messages(value: Any) -> list[dict[str, str]]:
    if not isinstance(value, list) or not value:
        raise bad_field("messages", "a list of messages", value)
    return [_message(f"messages[{i}]", each) for i, each in enumerate(value)]


def _message(where: str, value: Any) -> dict[str, str]:
    if not isinstance(value, dict):
        raise bad_field(where, "an object with 'role' and 'content'", value)
    role = value.get("role")
    if not isinstance(role, str) or role not in _ROLES:
        raise bad_field(f"{where}.role", " or ".join(_ROLES), role)
    return {"role": _ROLES[role], "content": _content(f"{where}.content", value)}


def _content(where: str, message: Mapping[str, Any]) -> str:
    """The text of a message; several text parts are joined."""
    content = message.get("content")
    if isinstance(content, str):
        return _text(where, content)
    if not isinstance(content, list):
        raise bad_field(where, "a text", content)
    for i, part in enumerate(content):
        right = isinstance(part, dict) and part.get("type") == "text" and isinstance(part.get("text"), str)
        if not right:
            raise bad_field(f"{where}[{i}]", "a part {'type': 'text', 'text': ...}", part)
    return _text(where, "".join(part["text"] for part in content))


def _text(where: str, value: str) -> str:
    """Refuses lone surrogates: JSON can write them, UTF-8 cannot."""
    if any("\ud800" <= character <= "\udfff" for character in value):
        raise bad_field(where, "text that UTF-8 can write", value)
    return value
