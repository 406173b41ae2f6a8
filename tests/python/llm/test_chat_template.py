# SPDX-License-Identifier: BSD-3-Clause
"""Chat templates in the manners of well-known models: the blob renders what Jinja does, or is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jinja2
import pytest

from rushlight.errors import InvalidArgument, RushlightError
from rushlight.llm import ChatTemplate
from rushlight.llm.template import compile_template, from_gguf, from_tokenizer_config

pytestmark = pytest.mark.heavy

CHATML = """{% for message in messages %}{% if loop.first and message.role != 'system' %}<|im_start|>system
You are helpful.<|im_end|>
{% endif %}<|im_start|>{{ message.role }}
{{ message.content }}<|im_end|>
{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant
{% endif %}"""
HEADERS = """{{- bos_token }}
{%- if strftime_now is defined %}{%- set day = strftime_now("%d %b %Y") %}
{%- else %}{%- set day = "26 Jul 2024" %}{%- endif %}
{%- if messages[0]['role'] == 'system' %}{%- set said = messages[0]['content']|trim %}
{%- set messages = messages[1:] %}
{%- else %}{%- set said = "" %}{%- endif %}
{{- "<|start|>system<|end|>\\n\\nToday Date: " + day + "\\n\\n" + said + "<|eot|>" }}
{%- if tools is not none %}{{- raise_exception("no tools") }}{%- endif %}
{%- for message in messages %}
{{- "<|start|>" + message['role'] + "<|end|>\\n\\n" + message['content'] | trim + "<|eot|>" }}
{%- endfor %}
{%- if add_generation_prompt %}{{- "<|start|>assistant<|end|>\\n\\n" }}{%- endif %}"""
MERGED = """{{ bos_token }}{% if messages[0]['role'] == 'system' %}
{%- set opening = messages[0]['content'] + '\n\n' %}
{%- set loop_messages = messages[1:] %}{% else %}
{%- set opening = '' %}{% set loop_messages = messages %}{% endif %}
{%- for message in loop_messages %}
{%- if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}
{{- raise_exception('roles must alternate') }}{% endif %}
{%- set role = 'model' if message['role'] == 'assistant' else message['role'] -%}
{{ '<turn>' + role + '\n' + (opening if loop.first else '') }}{{ message['content'] | trim }}{{ '<end>\n' }}
{%- endfor %}{% if add_generation_prompt %}{{ '<turn>model\n' }}{% endif %}"""
BRACKETS = """{{ bos_token }}{% for message in messages %}{% if message['role'] == 'user' %}
{{- '[INST] ' + message['content'] + ' [/INST]' }}
{%- elif message['role'] == 'assistant' %}{{ ' ' + message['content'] + eos_token }}
{%- else %}{{ raise_exception('only user and assistant') }}{% endif %}{% endfor %}"""
REASONING = """{%- for message in messages %}{%- set content = message.content %}
{%- if message.role == 'assistant' %}
{%- if '</think>' in content %}{%- set content = content.split('</think>')[-1].lstrip('\\n') %}{%- endif %}
{%- endif %}{{- '<|im_start|>' + message.role + '\\n' + content + '<|im_end|>' + '\\n' }}{%- endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}
{%- if enable_thinking is defined and not enable_thinking %}{{- '<think></think>' }}{%- endif %}
{%- endif %}"""
TRAINING = """{% for message in messages %}{% if message.role == 'assistant' %}<a>
{%- generation %}{{ message.content }}</a>{% endgeneration %}
{%- else %}{{ '<' + message.role + '>' + message.content }}{% endif %}{% endfor %}
{%- if add_generation_prompt %}<a>{% endif %}"""
EXPRESSIBLE = {
    "chatml": CHATML,
    "headers": HEADERS,
    "merged": MERGED,
    "brackets": BRACKETS,
    "reasoning": REASONING,
}
# Where the system text stands before the last question, not the first.
LAST_QUESTION = """{% for m in messages %}{% if m.role == 'user' %}[
{%- if loop.last and messages[0].role == 'system' %}{{ messages[0].content }} {% endif %}{{ m.content }}]
{%- elif m.role == 'assistant' %}{{ m.content }};{% endif %}{% endfor %}"""
COUNTED = "{% for m in messages %}{{ loop.index }}. {{ m.content }}\n{% endfor %}"
SPACED = "{% for m in messages %}<{{ m.role }}>{{ m.content | replace('  ', ' ') | lower }}{% endfor %}"


def by_jinja(source: str, messages: list[dict[str, str]], generation_prompt: bool) -> str:
    def raise_exception(text: str) -> None:
        raise jinja2.TemplateError(text)

    made = jinja2.Environment(trim_blocks=True, lstrip_blocks=True).from_string(source)
    return made.render(
        messages=messages,
        add_generation_prompt=generation_prompt,
        bos_token="<s>",
        eos_token="</s>",
        tools=None,
        raise_exception=raise_exception,
    )


def conversation(turns: int, system: bool) -> list[dict[str, str]]:
    texts = [
        "Hi!\nYou?",
        "<think>Hm.</think>\n\nI am 'well'.",
        " What is {{ 1 }}?",
        "One \u2264 two \U0001f600",
        "Bye",
    ]
    messages = [
        {"role": ("user", "assistant")[i % 2], "content": text} for i, text in enumerate(texts[:turns])
    ]
    return [{"role": "system", "content": "Be brief. "}, *messages] if system else messages


@pytest.mark.parametrize("name", EXPRESSIBLE)
@pytest.mark.parametrize("turns", [1, 2, 3, 5])
@pytest.mark.parametrize("system", [False, True])
def test_prompts_equal_those_of_jinja(name: str, turns: int, system: bool) -> None:
    source = EXPRESSIBLE[name]
    template = ChatTemplate(compile_template(source, "<s>", "</s>"))
    messages = conversation(turns, system)
    if system and name == "brackets":
        with pytest.raises(InvalidArgument, match="no role system"):
            template.render(messages)
        return
    asks = turns % 2 == 1
    if system and name == "merged":  # the system's text is trimmed in neither
        messages[0]["content"] = "Be brief."
    assert template.render(messages, generation_prompt=asks) == by_jinja(source, messages, asks)


def test_training_marks_are_passed_over() -> None:
    template = ChatTemplate(compile_template(TRAINING))
    messages = conversation(3, False)
    assert (
        template.render(messages)
        == "<user>Hi!\nYou?<a><think>Hm.</think>\n\nI am 'well'.</a><user> What is {{ 1 }}?<a>"
    )


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (LAST_QUESTION, "texts around messages"),
        (COUNTED, "equal texts before questions, got .*1. "),
        (SPACED, "each message exactly once, got another count of USERtext"),
        ("{{ nothing", "a Jinja template, got "),
        ("{{ raise_exception('never') }}", "a template that renders, got never"),
        (
            "{% for m in messages %}{{ m.content.__class__.__mro__[1].__subclasses__() }}{% endfor %}",
            "texts around",
        ),
        ("Hello", "each message exactly once"),
    ],
)
def test_other_templates_are_refused(source: str, message: str) -> None:
    with pytest.raises(InvalidArgument, match=message) as refused:
        compile_template(source)
    assert "Export without a chat template" in refused.value.next_step


def test_configurations_name_their_template_and_tokens() -> None:
    config: dict[str, Any] = {
        "bos_token": {"content": "<s>"},
        "eos_token": "</s>",
        "chat_template": [
            {"name": "tool_use", "template": COUNTED},
            {"name": "default", "template": BRACKETS},
        ],
    }
    blob = from_tokenizer_config(json.loads(json.dumps(config)))
    assert blob == compile_template(BRACKETS, "<s>", "</s>")
    assert from_tokenizer_config({}) is None
    metadata = {
        "tokenizer.chat_template": BRACKETS,
        "tokenizer.ggml.tokens": ["x", "<s>", "</s>"],
        "tokenizer.ggml.bos_token_id": 1,
        "tokenizer.ggml.eos_token_id": 2,
    }
    assert from_gguf(metadata) == blob
    assert from_gguf({}) is None


def test_messages_that_fit_no_template_are_refused() -> None:
    template = ChatTemplate(compile_template(CHATML))
    for messages, expected in (
        ([{"role": "tool", "content": "x"}], "expected the role system, user or assistant, got tool"),
        ([{"role": "user"}], "expected texts role and content"),
        ([{"role": "user", "content": "x"}, {"role": "system", "content": "y"}], "in the first message only"),
    ):
        with pytest.raises(InvalidArgument, match=expected):
            template.render(messages)


def test_damaged_blobs_are_refused(tmp_path: Path) -> None:
    blob = compile_template(CHATML)
    for length in range(len(blob)):
        with pytest.raises(RushlightError, match="chat template:"):
            ChatTemplate(blob[:length])
