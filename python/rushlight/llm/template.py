# SPDX-License-Identifier: BSD-3-Clause
"""Compiles chat templates to the blob that rushlight.llm.ChatTemplate reads: the named data KEY of a program.

A template is a Jinja program, which only Jinja can run. The compiler renders it for made-up conversations
in Jinja's sandbox and keeps the texts around their messages. The result must agree with the template on
other conversations; otherwise the template is refused. Dates are rendered as of DAY; text that depends on
tools is left out.
"""

from __future__ import annotations

import datetime
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import product
from typing import Any

from rushlight.errors import InvalidArgument, MissingDependency
from rushlight.llm.chat_template import ChatTemplate

KEY = "rushlight.chat_template"
DAY = datetime.datetime(2024, 7, 26)

Conversation = Sequence[Mapping[str, str]]
Render = Callable[[Conversation, bool], str]

_TRIM_SYSTEM, _TRIM_USER, _TRIM_ASSISTANT, _NO_SYSTEM = 1, 2, 4, 8
_SYSTEM, _USER, _ASSISTANT, _LAST = "SYSTEMtext", "USERtext", "ASSISTANTtext", "LASTtext"
_REASONING_END = "</think>"


@dataclass(frozen=True)
class _Parts:
    """The strings of runtime/llm/chat_template.h in that order, and the flags."""

    without_system: str = ""
    system_before: str = ""
    system_after: str = ""
    user_before: str = ""
    user_before_after_system: str = ""
    user_after: str = ""
    assistant_before: str = ""
    assistant_after: str = ""
    generation_prompt: str = ""
    reasoning_end: str = ""
    flags: int = 0

    def pack(self) -> bytes:
        names = [field.name for field in fields(self) if field.name != "flags"]
        texts = [getattr(self, name).encode() for name in names]
        offsets = [sum(map(len, texts[:i])) for i in range(len(texts) + 1)]
        head = struct.pack(f"<{2 + len(offsets)}I", self.flags, len(texts), *offsets)
        return b"RLC1" + head + b"".join(texts)


def from_gguf(metadata: Mapping[str, Any]) -> bytes | None:
    """The blob of a GGUF file's `tokenizer.chat_template`; None without one. Errors: InvalidArgument."""
    source = metadata.get("tokenizer.chat_template")
    tokens = metadata.get("tokenizer.ggml.tokens", ())

    def text_of(name: str) -> str:
        token = int(metadata.get(f"tokenizer.ggml.{name}_token_id", -1))
        return str(tokens[token]) if 0 <= token < len(tokens) else ""

    return compile_template(str(source), text_of("bos"), text_of("eos")) if source else None


def from_tokenizer_config(config: Mapping[str, Any]) -> bytes | None:
    """The blob of a tokenizer_config.json's `chat_template` (of several, the one named `default`); None
    without one. Errors: InvalidArgument."""
    source = config.get("chat_template")
    if isinstance(source, list):
        source = {one["name"]: one["template"] for one in source}.get("default")

    def text_of(name: str) -> str:
        token = config.get(f"{name}_token") or ""
        return str(token["content"] if isinstance(token, Mapping) else token)

    return compile_template(source, text_of("bos"), text_of("eos")) if source else None


def compile_template(source: str, bos_token: str = "", eos_token: str = "") -> bytes:
    """The blob of a Jinja template. Errors: InvalidArgument for a template that does more than put texts
    around messages."""
    render = _renderer(source, {"bos_token": bos_token, "eos_token": eos_token})
    parts = _with_reasoning(render, _with_system(render, _derived(render)))
    parts = _with_trims(render, parts)
    for conversation in _conversations(bool(parts.flags & _NO_SYSTEM)):
        expected = render(conversation, True)
        got = ChatTemplate(parts.pack()).render(conversation)
        if got != expected:
            raise _refusal(f"{expected!r:.300}, got {got!r:.300}")
    return parts.pack()


def _refusal(what: str) -> InvalidArgument:
    return InvalidArgument(
        f"chat template: expected texts around messages of system, user and assistant: {what}",
        next_step="Export without a chat template; the model then only completes texts.",
    )


def _renderer(source: str, tokens: Mapping[str, str]) -> Render:
    """Renders a template as Hugging Face's `apply_chat_template` does. The renderer's errors:
    InvalidArgument."""
    try:
        from jinja2 import TemplateError, nodes
        from jinja2.ext import Extension, loopcontrols
        from jinja2.parser import Parser
        from jinja2.sandbox import ImmutableSandboxedEnvironment
    except ModuleNotFoundError as missing:
        raise MissingDependency("jinja2", "llm") from missing

    class Generation(Extension):
        """`{% generation %}`: marks the assistant's text, for training."""

        tags = {"generation"}  # noqa: RUF012

        def parse(self, parser: Parser) -> list[nodes.Node]:
            next(parser.stream)
            return parser.parse_statements(("name:endgeneration",), drop_needle=True)

    def raise_exception(message: str) -> None:
        raise TemplateError(message)

    def environment(functions: Mapping[str, Any]) -> Any:
        made = ImmutableSandboxedEnvironment(
            trim_blocks=True, lstrip_blocks=True, extensions=[loopcontrols, Generation]
        )
        made.globals.update(functions)
        return made.from_string(source)

    def render(conversation: Conversation, generation_prompt: bool) -> str:
        try:
            return str(
                template.render(
                    messages=[dict(message) for message in conversation],
                    add_generation_prompt=generation_prompt,
                    tools=None,
                    documents=None,
                    **tokens,
                )
            )
        except (TemplateError, TypeError, ValueError, KeyError, AttributeError, IndexError) as error:
            raise _refusal(f"a template that renders, got {error}") from error

    functions = {"raise_exception": raise_exception, "strftime_now": DAY.strftime}
    try:
        template = environment(functions)
    except TemplateError as error:
        raise _refusal(f"a Jinja template, got {error}") from error
    return render


def _say(*texts: str) -> Conversation:
    roles = {_SYSTEM: "system", _USER: "user", _ASSISTANT: "assistant", _LAST: "user"}
    return [{"role": roles[text], "content": text} for text in texts]


def _between(text: str, *marks: str) -> list[str]:
    """The texts before, between and after the marks. Errors: InvalidArgument unless each mark occurs exactly
    once."""
    parts = []
    for mark in marks:
        before, found, text = text.partition(mark)
        if not found or mark in text:
            raise _refusal(f"each message exactly once, got another count of {mark}")
        parts.append(before)
    return [*parts, text]


def _tail(render: Render, conversation: Conversation) -> str:
    """The text after the last message without a generation prompt; empty if the template refuses the
    conversation."""
    try:
        return render(conversation, False).rpartition(conversation[-1]["content"])[2]
    except InvalidArgument:
        return ""


def _derived(render: Render) -> _Parts:
    """The texts around messages of users and assistants."""
    opening, asked, answered, end = _between(
        render(_say(_USER, _ASSISTANT, _LAST), True), _USER, _ASSISTANT, _LAST
    )
    user_after = _tail(render, _say(_USER))
    if not (asked.startswith(user_after) and end.startswith(user_after)):
        user_after = ""
    assistant_after = _tail(render, _say(_USER, _ASSISTANT))
    if not answered.startswith(assistant_after):
        assistant_after = ""
    user_before = answered.removeprefix(assistant_after)
    if not opening.endswith(user_before):
        raise _refusal(f"equal texts before questions, got {opening!r} first and {user_before!r} later")
    return _Parts(
        without_system=opening[: len(opening) - len(user_before)],
        user_before=user_before,
        user_after=user_after,
        assistant_before=asked.removeprefix(user_after),
        assistant_after=assistant_after,
        generation_prompt=end.removeprefix(user_after),
    )


def _with_system(render: Render, parts: _Parts) -> _Parts:
    """The texts around the system message, which may be part of the first question."""
    try:
        before, between, _ = _between(render(_say(_SYSTEM, _USER), True), _SYSTEM, _USER)
    except InvalidArgument:
        return replace(parts, flags=parts.flags | _NO_SYSTEM)
    own_question = between.endswith(parts.user_before)
    return replace(
        parts,
        system_before=before,
        system_after=between.removesuffix(parts.user_before),
        user_before_after_system=parts.user_before if own_question else "",
    )


def _with_reasoning(render: Render, parts: _Parts) -> _Parts:
    """Sets `reasoning_end` if the template drops the reasoning of the assistant's earlier messages."""
    said = {"role": "assistant", "content": f"<think>\nREASON\n{_REASONING_END}\n\n{_ASSISTANT}"}
    [first], [last] = _say(_USER), _say(_LAST)
    lost = "REASON" not in render([first, said, last], True)
    return replace(parts, reasoning_end=_REASONING_END if lost else "")


def _with_trims(render: Render, parts: _Parts) -> _Parts:
    """Sets the flags of the roles whose messages are stripped of surrounding whitespace."""
    spaced = [
        {"role": message["role"], "content": f" \n {message['content']}\t \n"}
        for message in _say(_SYSTEM, _USER, _ASSISTANT, _LAST)[bool(parts.flags & _NO_SYSTEM) :]
    ]
    expected = render(spaced, True)
    for trims in product((0, _TRIM_SYSTEM), (0, _TRIM_USER), (0, _TRIM_ASSISTANT)):
        tried = replace(parts, flags=parts.flags | sum(trims))
        if ChatTemplate(tried.pack()).render(spaced) == expected:
            return tried
    raise _refusal(f"spaces around messages kept or stripped, got {expected!r:.300}")


def _conversations(no_system: bool) -> list[Conversation]:
    """Test conversations, different from the conversations that the parts come from."""
    texts = [
        "What is 2 + 2?",
        '4.\n\nIt is four, "exactly" <b>&amp;</b> {{ braces }} {% percent %}.',
        "Und auf Deutsch? \u00e4\u00f6\u00fc \U0001f600",
        "```python\nprint('x')\n```",
        "Say it again, user: [INST] assistant",
        "No.",
        "Why?",
    ]
    turns = [{"role": ("user", "assistant")[i % 2], "content": text} for i, text in enumerate(texts)]
    system = [{"role": "system", "content": "You answer in one sentence.\nBe kind."}]
    openings: list[Conversation] = [[]] if no_system else [[], system]
    return [[*opening, *turns[:count]] for opening in openings for count in (1, 3, 5, 7)]
