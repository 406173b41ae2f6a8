# SPDX-License-Identifier: BSD-3-Clause
"""The server answers as OpenAI's, and refuses what it does not do."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import rushlight
from rushlight import llm
from rushlight.errors import InvalidArgument
from support.tiny_language_model import CONTEXT, save_tiny_language_model
from support.tiny_vocabulary import add_texts

httpx = pytest.importorskip("httpx", reason="httpx is missing: pip install 'rushlight[test]'")
openai = pytest.importorskip("openai", reason="openai is missing: pip install 'rushlight[test]'")
pytest.importorskip("uvicorn", reason="uvicorn is missing: pip install 'rushlight[serve]'")

from rushlight.llm.serve import Settings  # noqa: E402
from rushlight.llm.serve.server import bound_socket  # noqa: E402
from support.serving import SlowModel, serving, wait_until  # noqa: E402
from support.serving_load import run_load  # noqa: E402

pytestmark = pytest.mark.heavy

MESSAGES = [{"role": "system", "content": "be an ant"}, {"role": "user", "content": "thin"}]
LONG = {"messages": MESSAGES, "seed": 1, "temperature": 100, "top_p": 1, "min_p": 0, "top_k": 0}
"""Seed 1 of this ends by the context, after more than 20 tokens."""


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("served") / "tiny.pte"
    save_tiny_language_model(path, metadata={"get_eos_ids": 2})
    add_texts(path)
    return path


@pytest.fixture(scope="module")
def address(path: Path) -> Iterator[str]:
    with serving(llm.load(path, threads=1), max_body=5000) as address:
        yield address


@pytest.fixture(scope="module")
def client(address: str) -> Any:
    return openai.OpenAI(base_url=f"{address}/v1", api_key="none", max_retries=0)


def post(address: str, body: Any, path: str = "/v1/chat/completions", **how: Any) -> Any:
    return httpx.post(f"{address}{path}", json=body, timeout=30, **how)


@pytest.mark.parametrize("seed", range(5))
def test_the_openai_client_gets_the_models_text(path: Path, client: Any, seed: int) -> None:
    generation = llm.load(path, threads=1).generate(MESSAGES, seed=seed, max_tokens=9)
    expected = generation.read()
    whole = client.chat.completions.create(model="tiny", messages=MESSAGES, seed=seed, max_tokens=9)
    assert whole.choices[0].message.content == expected
    assert whole.choices[0].message.role == "assistant"
    assert (
        whole.choices[0].finish_reason == {"end": "stop", "length": "length"}[generation.finish_reason or ""]
    )
    assert whole.usage.prompt_tokens == generation.statistics.prompt_tokens
    assert whole.usage.completion_tokens == generation.statistics.generated_tokens
    assert whole.usage.total_tokens == whole.usage.prompt_tokens + whole.usage.completion_tokens
    stream = client.chat.completions.create(
        model="tiny",
        messages=MESSAGES,
        seed=seed,
        max_completion_tokens=9,
        stream=True,
        stream_options={"include_usage": True},
    )
    chunks = list(stream)
    assert chunks[0].choices[0].delta.role == "assistant"
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks[:-1]) == expected
    assert chunks[-2].choices[0].finish_reason == whole.choices[0].finish_reason
    assert chunks[-1].usage.completion_tokens == whole.usage.completion_tokens
    assert chunks[-1].usage.prompt_tokens_details.cached_tokens == whole.usage.prompt_tokens - 1


def test_completions_take_texts_and_tokens(path: Path, client: Any) -> None:
    model = llm.load(path, threads=1)
    expected = model.generate("then", seed=4, max_tokens=12).read()
    for prompt in ("then", ["then"], model.tokens_of("then"), [model.tokens_of("then")]):
        answer = client.completions.create(model="tiny", prompt=prompt, seed=4, max_tokens=12)
        assert answer.choices[0].text == expected
    stream = client.completions.create(model="tiny", prompt="then", seed=4, max_tokens=12, stream=True)
    assert "".join(chunk.choices[0].text for chunk in stream) == expected


def test_a_stop_text_is_left_out(path: Path, client: Any) -> None:
    model = llm.load(path, threads=1)
    texts = {seed: model.generate("then", seed=seed, max_tokens=20).read() for seed in range(40)}
    seed, text = max(texts.items(), key=lambda item: len(item[1]))
    stop = text[5:8]
    answer = client.completions.create(
        model="tiny", prompt="then", seed=seed, max_tokens=20, stop=[stop, "~"]
    )
    assert answer.choices[0].text == text[: text.find(stop)]
    assert answer.choices[0].finish_reason == "stop"


def test_models_are_listed(client: Any) -> None:
    assert [model.id for model in client.models.list()] == ["tiny"]
    assert client.models.retrieve("tiny").owned_by == "rushlight"
    with pytest.raises(openai.NotFoundError):
        client.models.retrieve("other")


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"messages": []}, "messages"),
        ({"messages": "hi"}, "messages"),
        ({"messages": [5]}, "messages[0]"),
        ({"messages": [{"role": "wizard", "content": "x"}]}, "messages[0].role"),
        ({"messages": [{"role": "user", "content": 5}]}, "messages[0].content"),
        ({"messages": [{"role": "user", "content": "\ud800"}]}, "messages[0].content"),
        ({"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}, "messages[0].content[0]"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"max_tokens": "5"}, "max_tokens"),
        ({"max_completion_tokens": 1.5}, "max_tokens"),
        ({"temperature": -1}, "temperature"),
        ({"temperature": True}, "temperature"),
        ({"top_p": 2}, "top_p"),
        ({"seed": "x"}, "seed"),
        ({"stop": 5}, "stop"),
        ({"stop": ["a"] * 17}, "stop"),
        ({"stop": ""}, "stop"),
        ({"stream": "yes"}, "stream"),
        ({"stream_options": []}, "stream_options"),
        ({"n": 2}, "n"),
        ({"n": True}, "n"),
        ({"logprobs": True}, "logprobs"),
        ({"tools": [{"type": "function"}]}, "tools"),
        ({"response_format": {"type": "json_object"}}, "response_format"),
        ({"frequency_penalty": 0.5}, "frequency_penalty"),
        ({"no_such_field": 1}, "no_such_field"),
    ],
)
def test_fields_that_cannot_be_are_refused(address: str, fields: dict[str, Any], param: str) -> None:
    answer = httpx.post(
        f"{address}/v1/chat/completions",
        content=json.dumps({"messages": MESSAGES, **fields}),
        headers={"content-type": "application/json"},
    )
    assert answer.status_code == 400
    error = answer.json()["error"]
    assert (error["type"], error["param"]) == ("invalid_request_error", param)
    assert "expected" in error["message"]


def test_fields_that_change_nothing_are_taken(address: str) -> None:
    fields = {"user": "me", "n": 1, "logprobs": False, "presence_penalty": 0.0, "stop": None, "tools": []}
    parts = [{"role": "user", "content": [{"type": "text", "text": "th"}, {"type": "text", "text": "in"}]}]
    assert post(address, {"messages": parts, "max_tokens": 2, **fields}).status_code == 200


@pytest.mark.parametrize(
    ("content", "kind", "status"),
    [
        (b"{", "application/json", 400),
        (b"\xff\xfe", "application/json", 400),
        (b"[" * 4000, "application/json", 400),
        (b"[]", "application/json", 400),
        (b"", "application/json", 400),
        (b"{}", "application/json; charset=utf-8", 400),
        (b"{}", "text/plain", 415),
        (b" " * 5001, "application/json", 413),
    ],
)
def test_bodies_that_are_no_request_are_refused(address: str, content: bytes, kind: str, status: int) -> None:
    url = f"{address}/v1/chat/completions"
    answer = httpx.post(url, content=content, headers={"content-type": kind})
    assert answer.status_code == status
    assert answer.json()["error"]["message"]


def test_a_body_in_chunks_is_bounded_too(address: str) -> None:
    def chunks() -> Iterator[bytes]:
        for _ in range(600):
            yield b" " * 10

    headers = {"content-type": "application/json"}
    answer = httpx.post(f"{address}/v1/chat/completions", content=chunks(), headers=headers)
    assert answer.status_code == 413


def test_paths_and_methods_that_there_are_not_have_openais_errors(address: str) -> None:
    assert httpx.get(f"{address}/v1/nothing").json()["error"]["code"] == "no_such_path"
    assert httpx.get(f"{address}/v1/chat/completions").status_code == 405
    assert post(address, {"messages": MESSAGES, "model": "other"}).status_code == 404


def test_a_prompt_longer_than_the_context_is_refused(address: str) -> None:
    long = [{"role": "user", "content": "a b c " * CONTEXT}]
    for stream in (False, True):
        answer = post(address, {"messages": long, "stream": stream})
        assert answer.status_code == 400
        assert "context" in answer.json()["error"]["message"]


def test_pages_of_other_sites_do_not_reach_a_server_on_loopback(address: str) -> None:
    for host, status in (
        ("evil.example", 403),
        ("localhost:1", 200),
        ("[::1]:80", 200),
        ("127.0.0.1", 200),
    ):
        assert httpx.get(f"{address}/v1/models", headers={"host": host}).status_code == status


def test_a_key_is_asked_for(path: Path) -> None:
    with serving(llm.load(path, threads=1), api_key="secret") as address:
        for headers in ({}, {"authorization": "Bearer wrong"}, {"authorization": "secret"}):
            assert httpx.get(f"{address}/v1/models", headers=headers).status_code == 401
        client = openai.OpenAI(base_url=f"{address}/v1", api_key="secret")
        assert [model.id for model in client.models.list()] == ["tiny"]
        assert httpx.get(f"{address}/health").status_code == 200


def test_answers_are_bounded(path: Path) -> None:
    with serving(llm.load(path, threads=1), max_tokens=3) as address:
        answer = post(address, {**LONG, "max_tokens": 20}).json()
    assert answer["usage"]["completion_tokens"] == 3
    assert answer["choices"][0]["finish_reason"] == "length"


def load_of(address: str) -> tuple[int, int]:
    content = httpx.get(f"{address}/health").json()
    return content["running"], content["waiting"]


def test_requests_wait_in_order_and_those_beyond_the_queue_come_again(path: Path) -> None:
    ended: list[int] = []

    def ask(i: int) -> Any:
        answer = post(address, {**LONG, "user": str(i)})
        ended.append(i)
        return answer

    model = SlowModel(rushlight.load(path, threads=1))
    model.gate.clear()
    with serving(model, max_queue=2) as address:
        with ThreadPoolExecutor(4) as pool:
            asked = []
            try:
                for i in range(3):
                    asked.append(pool.submit(ask, i))
                    wait_until(lambda i=i: load_of(address) == (1, i))
                refused = pool.submit(post, address, LONG).result(timeout=20)
                assert refused.status_code == 503
                assert int(refused.headers["retry-after"]) >= 1
                assert refused.json()["error"]["code"] == "queue_full"
            finally:
                model.gate.set()
            texts = {each.result().json()["choices"][0]["message"]["content"] for each in asked}
        assert len(texts) == 1
        assert ended == [0, 1, 2]
        assert post(address, LONG).status_code == 200


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_a_request_whose_client_is_gone_is_cancelled(path: Path, stream: bool) -> None:
    model = SlowModel(rushlight.load(path, threads=1))
    model.seconds = 0.5  # 10 s and more for the answer
    body = json.dumps({**LONG, "stream": stream}).encode()
    head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n"
    message = f"{head}Content-Type: application/json\r\n\r\n".encode() + body
    with serving(model) as address:
        port = int(address.rpartition(":")[2])
        running = socket.create_connection(("127.0.0.1", port))
        running.sendall(message)
        wait_until(lambda: load_of(address) == (1, 0))
        waiting = socket.create_connection(("127.0.0.1", port))
        waiting.sendall(message)
        wait_until(lambda: load_of(address) == (1, 1))
        waiting.close()
        wait_until(lambda: load_of(address) == (1, 0), 3)
        running.close()
        wait_until(lambda: load_of(address) == (0, 0), 3)
        model.seconds = 0
        assert post(address, LONG).status_code == 200


def test_a_slow_body_is_not_waited_for(path: Path) -> None:
    request = (
        b"POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        b"Content-Length: 100\r\n\r\n{"
    )
    with (
        serving(llm.load(path, threads=1), body_seconds=0.2) as address,
        socket.create_connection(("127.0.0.1", int(address.rpartition(":")[2]))) as slow,
    ):
        slow.sendall(request)
        slow.settimeout(5)
        assert b" 408 " in slow.recv(100)


def test_a_server_that_ends_tells_those_who_wait(path: Path) -> None:
    model = SlowModel(rushlight.load(path, threads=1))
    model.seconds = 0.05
    answers: list[Any] = []
    with serving(model) as address:
        threads = [
            threading.Thread(target=lambda: answers.append(post(address, {**LONG, "max_tokens": 8})))
            for _ in range(2)
        ]
        for thread in threads:
            thread.start()
        wait_until(lambda: load_of(address) == (1, 1))
    for thread in threads:
        thread.join(10)
    assert {answer.status_code for answer in answers} <= {200, 503}
    assert len(answers) == 2


def test_a_failure_of_the_model_is_told_and_the_next_request_answered(path: Path) -> None:
    class Breaks(SlowModel):
        fails = True

        def native_step(self) -> tuple[bytes, int | None, float, int]:
            if self.fails:
                raise ValueError("words for nobody")
            return super().native_step()

    model = Breaks(rushlight.load(path, threads=1))
    with serving(model) as address:
        answer = post(address, LONG)
        assert answer.status_code == 500
        assert "nobody" not in answer.text
        streamed = post(address, {**LONG, "stream": True})
        assert '"error"' in streamed.text
        model.fails = False
        assert post(address, LONG).status_code == 200


def test_an_address_that_is_taken_is_an_error() -> None:
    with bound_socket(Settings(port=0)) as taken, pytest.raises(InvalidArgument, match="port"):
        bound_socket(Settings(port=taken.getsockname()[1]))
    with pytest.raises(InvalidArgument):
        bound_socket(Settings(host="no.such.host.invalid"))


@pytest.mark.parametrize(
    "wrong", [{"port": -1}, {"max_body": 0}, {"max_queue": -1}, {"max_tokens": 0}, {"api_key": ""}]
)
def test_settings_out_of_range_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgument):
        Settings(**wrong)


def test_nothing_is_lost_under_load(path: Path) -> None:
    seen, wrong = run_load(path, 4)
    assert wrong == []
    for what in ("whole", "streamed", "broken off", "garbage", "oversized", "bad field", "queue full"):
        assert seen[what] > 0, seen
