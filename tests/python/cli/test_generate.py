# SPDX-License-Identifier: BSD-3-Clause
"""rushlight generate, chat and serve."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rushlight import llm
from rushlight.cli.main import main
from support.tiny_language_model import save_tiny_language_model
from support.tiny_vocabulary import add_texts

pytestmark = pytest.mark.heavy

Printed = tuple[int, str, str]


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("cli") / "tiny.pte"
    save_tiny_language_model(path)
    add_texts(path)
    return path


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Any:
    def run(*arguments: object) -> Printed:
        with pytest.raises(SystemExit) as ended:
            main([str(word) for word in arguments])
        printed = capsys.readouterr()
        return ended.value.code or 0, printed.out, printed.err

    return run


def typed(lines: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines that the user types, then the end."""
    words: Iterator[str] = iter(lines)

    def read(_prompt: str = "") -> str:
        for word in words:
            return word
        raise EOFError

    monkeypatch.setattr("builtins.input", read)


def test_text_is_printed_and_numbers_are_on_stderr(path: Path, run: Any) -> None:
    expected = llm.load(path).generate("then", seed=2, max_tokens=9, temperature=0.5, stop="zz").read()
    options = ["--seed", 2, "--max-tokens", 9, "--temperature", 0.5, "--stop", "zz"]
    code, out, err = run("generate", path, "then", *options)
    assert (code, out) == (0, expected + "\n")
    assert "generated at" in err and "peak memory" in err


def test_as_json_it_is_one_document(path: Path, run: Any) -> None:
    code, out, _ = run("generate", path, "--tokens", "1,7,8", "--seed", 1, "--json", "--ignore-end")
    result = json.loads(out)
    assert code == 0
    assert result["finish_reason"] == "context"
    assert result["statistics"]["prompt_tokens"] == 3
    assert len(result["tokens"]) == result["statistics"]["generated_tokens"]


def test_a_message_is_put_into_the_models_format(path: Path, run: Any) -> None:
    messages = [{"role": "system", "content": "ant"}, {"role": "user", "content": "hi"}]
    expected = llm.load(path).generate(messages, seed=2, max_tokens=5).read()
    options = ["--chat", "--system", "ant", "--seed", 2, "--max-tokens", 5]
    assert run("generate", path, "hi", *options)[1] == expected + "\n"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "expected either PROMPT or --tokens"),
        (["x", "--tokens", "1"], "expected either PROMPT or --tokens"),
        (["--tokens", "1,a"], "expected token ids with commas"),
        (["x", "--system", "y"], "expected --chat beside it, got none"),
        (["x", "--top-p", "2"], "top_p: expected a number from 0 to 1"),
        (["x" * 60], "tokens (the context), got"),
    ],
)
def test_what_cannot_be_is_refused(path: Path, run: Any, arguments: list[str], words: str) -> None:
    code, _, err = run("generate", path, *arguments)
    assert code == 11 and words in err


def test_text_of_a_model_reaches_the_terminal_without_escapes(tmp_path: Path, run: Any) -> None:
    path = tmp_path / "hostile.pte"
    save_tiny_language_model(path)
    letters = [bytes([letter]) for letter in b"abcdefghijklmnopqrstuvwxyz"]
    add_texts(path, replaced={letter: b"\x1b[2J" + letter for letter in letters})
    code, out, err = run("generate", path, "!", "--seed", 1, "--ignore-end")
    assert code == 0
    assert "\\x1b[2J" in out
    assert [c for c in out + err if not c.isprintable() and c != "\n"] == []


def test_a_chat_answers_each_line(path: Path, run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    chat = llm.load(path).chat(system="ant", seed=3, max_tokens=6)
    answers = [chat.say(question).read() for question in ("hi", "th")]
    typed(["hi", "", "th", "/stats", "/nonsense", "/help"], monkeypatch)
    code, out, err = run("chat", path, "--system", "ant", "--seed", 3, "--max-tokens", 6)
    assert code == 0
    assert out.startswith(f"{answers[0]}\n{answers[1]}\n/help ")
    assert err.count("first after") == 3 and "context" in err and "/nonsense: expected a command" in err


def test_a_chat_forgets_what_it_is_told_to(path: Path, run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    first = llm.load(path).chat(system="ant", seed=3, max_tokens=6).say("hi").read()
    other = llm.load(path).chat(system="bee", seed=3, max_tokens=6).say("hi").read()
    none = llm.load(path).chat(seed=3, max_tokens=6).say("hi").read()
    lines = ["hi", "/undo", "hi", "/reset", "hi", "/system bee", "hi", "/system", "hi", "/exit", "x"]
    typed(lines, monkeypatch)
    code, out, _ = run("chat", path, "--system", "ant", "--seed", 3, "--max-tokens", 6)
    assert code == 0
    assert out == "".join(f"{text}\n" for text in (first, first, first, other, none))


def test_ctrl_c_ends_the_answer_and_not_the_chat(
    path: Path, run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[int] = []
    step = llm.TextModel.native_step

    def interrupted(model: llm.TextModel) -> tuple[bytes, int | None, float, int]:
        steps.append(1)
        if len(steps) == 3:
            raise KeyboardInterrupt
        return step(model)

    monkeypatch.setattr(llm.TextModel, "native_step", interrupted)
    typed(["hi", "th"], monkeypatch)
    code, _, err = run("chat", path, "--seed", 3, "--max-tokens", 6)
    assert code == 0
    assert err.count("stopped, ") == 1 and err.count("first after") == 2


def test_a_chat_needs_a_template(tmp_path: Path, run: Any) -> None:
    path = tmp_path / "tiny.pte"
    save_tiny_language_model(path)
    add_texts(path, with_template=False)
    code, _, err = run("chat", path)
    assert code == 11 and "expected a chat template" in err


def test_a_server_says_where_it_is_and_ends_by_ctrl_c(path: Path) -> None:
    pytest.importorskip("uvicorn", reason="uvicorn is missing: pip install 'rushlight[serve]'")
    serve = [sys.executable, "-m", "rushlight.cli", "serve", str(path), "--port", "0", "--host", "localhost"]
    with subprocess.Popen(serve, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            line = server.stdout.readline()
            assert line.startswith("serving tiny at http://localhost:")
            with urllib.request.urlopen(f"{line.split()[-1]}/models", timeout=10) as answer:
                assert json.load(answer)["data"][0]["id"] == "tiny"
            server.send_signal(signal.SIGINT)
            _, err = server.communicate(timeout=20)
            assert "Traceback" not in err
        finally:
            server.kill()


def test_a_server_that_others_reach_without_a_key_warns(
    path: Path, run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("uvicorn", reason="uvicorn is missing: pip install 'rushlight[serve]'")
    from rushlight.llm import serve

    monkeypatch.setattr(serve, "serve", lambda *arguments, **options: None)
    everywhere = ("serve", path, "--host", "0.0.0.0")
    assert "warning: anyone who can reach 0.0.0.0 can use the model" in run(*everywhere)[2]
    assert "warning" not in run(*everywhere, "--api-key", "k")[2]
    assert "warning" not in run("serve", path)[2]
