# SPDX-License-Identifier: BSD-3-Clause
"""examples/little_language_model and examples/chat: boards and an application in C++ continue a prompt by the
tokens that Python chooses."""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from rushlight import llm, process, targets
from rushlight.run.api import run
from rushlight.run.cases import Call, Case
from rushlight.targets.bare_metal import BareMetal
from support.environments import ROOT
from support.example_scripts import run_example, skip_without
from support.real_models import wheels

pytest.importorskip("tokenizers", reason="missing: tokenizers")
pytest.importorskip("safetensors", reason="missing: safetensors")

pytestmark = [pytest.mark.package, pytest.mark.device]

EXAMPLE = ROOT / "examples" / "little_language_model"
PROMPT = "A board has"
NEW_TOKENS = 40
QUESTION = "A board has little"
TEMPLATE = "{% for message in messages %}{{ message['content'] }}{% endfor %}{{ ' memory' }}"
"""The template of a chat whose answers continue the question."""
TEXT = (
    "A board has little memory, so that weights of four bits stay where they are in flash. Each token reads "
    "all of them once: what is kept of earlier tokens is one row of keys and values for each layer, rounded "
    "to bytes."
)


def script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"little_{name}", EXAMPLE / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look for it
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A smaller model, which learns one text by heart."""
    folder = tmp_path_factory.mktemp("little")
    train = script("train")
    shape = train.Shape(vocabulary=300, width=64, layers=2, hidden=96, context=64)
    train.make(folder / "model", shape, 100, [TEXT] * 40)
    script("export").export(
        folder / "model", folder / "little.pte", PROMPT, context=64, new_tokens=NEW_TOKENS
    )
    return folder / "little.pte"


def build(source: Path, target: targets.Target, program: Path, folder: Path, executable: str) -> Path:
    """Builds an example with the operators of the program."""
    entries = {**target.toolchain, "MODEL": program}
    if ccache := process.find_program("ccache"):
        entries["CMAKE_CXX_COMPILER_LAUNCHER"] = ccache
    defines = [f"-D{key}={value}" for key, value in entries.items()]
    process.run(["cmake", "-S", source, "-B", folder, "-G", "Ninja", *defines], check=True)
    process.run(["cmake", "--build", folder, "-j", "2"], check=True, timeout=300)
    return folder / executable


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("cortex-m55", marks=pytest.mark.cortex_m55),
        pytest.param("rv32imafc", marks=[pytest.mark.rv32imafc, pytest.mark.exhaustive]),
    ],
)
def test_a_board_generates_the_text_of_the_host(name: str, program: Path, tmp_path: Path) -> None:
    board = targets.get(name)
    skip_without(name)
    assert isinstance(board, BareMetal)
    executable = build(EXAMPLE, board, program, tmp_path, "little")
    printed = process.run(board.command(executable), check=True, timeout=60).stdout

    text = llm.load(program).generate(PROMPT, temperature=0.0, max_tokens=NEW_TOKENS).read()
    assert len(set(text)) > 10
    assert f"{PROMPT}{text}\n---\n" in printed
    counted = re.search(r"text: (\d+) tokens, (\d+) instructions each", printed)
    assert counted and int(counted[1]) == NEW_TOKENS
    assert 50_000 < int(counted[2]) < 2_000_000


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("linux-aarch64", marks=[pytest.mark.linux_aarch64, pytest.mark.exhaustive]),
        pytest.param("linux-riscv64", marks=[pytest.mark.linux_riscv64, pytest.mark.exhaustive]),
    ],
)
def test_an_application_in_c_plus_plus_writes_the_text_of_python(
    name: str, program: Path, tmp_path: Path
) -> None:
    target = targets.get(name)
    skip_without(name)
    executable = build(ROOT / "examples" / "chat", target, program, tmp_path, "chat")
    words = [str(program), PROMPT, str(NEW_TOKENS)]
    printed = process.run(target.command(executable, words), check=True, timeout=120).stdout

    text = llm.load(program).generate(PROMPT, temperature=0.0, max_tokens=NEW_TOKENS).read()
    assert printed == f"{text}\n"


@pytest.mark.cortex_m55
def test_its_command_prints_the_text_and_the_sizes_of_a_board(program: Path, tmp_path: Path) -> None:
    skip_without("cortex-m55")
    shutil.copytree(program.parent / "model", tmp_path / "model")
    words = ["cortex-m55", "--prompt", PROMPT, "--context", "64", "-o", tmp_path]
    printed = run_example("little_language_model", *words).stdout
    assert f"\n{PROMPT}" in printed
    assert re.search(r"^flash [\d,]+ B without the model, static RAM [\d,]+ B$", printed, re.MULTILINE)


def test_the_chat_answers_in_python_and_in_c_plus_plus(
    program: Path, tmp_path: Path, build_folder: Callable[[str], Path]
) -> None:
    folder = build_folder("chat")
    model = shutil.copytree(program.parent / "model", tmp_path / "model")
    (model / "tokenizer_config.json").write_text(json.dumps({"chat_template": TEMPLATE}))
    words = [model, "--question", QUESTION, "--cpp", "-o", folder]
    printed = run_example("chat", *words, timeout=900).stdout

    chat = llm.load(folder / "model.pte").chat(temperature=0.0, max_tokens=200)
    text = chat.say(QUESTION).read()
    assert len(set(text)) > 10
    first, second = printed.split("tokens/s", 1)
    assert f"> {QUESTION}\n{text}\n(" in first and f"\n{text}\n" in second


def test_the_chat_says_what_to_do_without_a_model(tmp_path: Path) -> None:
    done = run_example("chat", tmp_path / "none.gguf", "-o", tmp_path, check=False)
    assert done.returncode != 0 and "none.gguf" in done.stderr and "Traceback" not in done.stderr


@pytest.mark.models
def test_the_chat_of_the_readme_knows_the_capital(tmp_path: Path) -> None:
    if missing := wheels.missing("smollm2"):
        pytest.skip(missing)
    printed = run_example("chat", "-o", tmp_path).stdout
    assert "The capital of France is Paris." in printed and "tokens/s" in printed


@pytest.mark.cortex_m55
def test_a_baked_program_gives_the_logits_of_the_interpreter(program: Path, tmp_path: Path) -> None:
    skip_without("cortex-m55")
    tokens = [np.array([[5, 70, 9]]), np.array([[33]])]
    calls = [
        Call("forward", [tokens[0], np.array([0])], None),
        Call("forward", [tokens[1], np.array([3])], None),
    ]
    logits = []
    for is_baked in (False, True):
        folder = tmp_path / f"baked-{is_baked}"
        case = Case("two", 0.0, calls)
        outcome = run(program, case, target="cortex-m55", build_folder=folder, baked=is_baked)
        logits.append([np.asarray(each.result.outputs[0]) for each in outcome.calls])
    for interpreted, baked in zip(*logits, strict=True):
        assert np.abs(interpreted).max() > 0.1
        np.testing.assert_array_equal(interpreted, baked)
