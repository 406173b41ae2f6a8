# SPDX-License-Identifier: BSD-3-Clause
"""examples/little_language_model: a board continues a prompt by the tokens that the host chooses."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

from rushlight import llm, process, targets
from rushlight.targets.bare_metal import BareMetal
from support.environments import ROOT

pytest.importorskip("tokenizers", reason="missing: tokenizers")
pytest.importorskip("safetensors", reason="missing: safetensors")

pytestmark = [pytest.mark.package, pytest.mark.device]

EXAMPLE = ROOT / "examples" / "little_language_model"
PROMPT = "A board has"
NEW_TOKENS = 40
TEXT = (
    "A board has little memory, so that weights of four bits stay where they are in flash. Each token reads "
    "all of them once: what is kept of earlier tokens is one row of keys and values for each layer."
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


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=getattr(pytest.mark, name.replace("-", "_")))
        for name in ("cortex-m55", "rv32imafc")
    ],
)
def test_a_board_generates_the_text_of_the_host(name: str, program: Path, tmp_path: Path) -> None:
    board = targets.get(name)
    if missing := board.requirements():
        pytest.skip(f"{name}: missing " + ", ".join(item.name for item in missing))
    assert isinstance(board, BareMetal)
    entries = {**board.toolchain, "MODEL": program}
    if ccache := process.find_program("ccache"):
        entries["CMAKE_CXX_COMPILER_LAUNCHER"] = ccache
    defines = [f"-D{key}={value}" for key, value in entries.items()]
    process.run(["cmake", "-S", EXAMPLE, "-B", tmp_path, "-G", "Ninja", *defines], check=True)
    process.run(["cmake", "--build", tmp_path, "-j", "2"], check=True, timeout=300)
    printed = process.run(board.command(tmp_path / "little"), check=True, timeout=60).stdout

    text = llm.load(program).generate(PROMPT, temperature=0.0, max_tokens=NEW_TOKENS).read()
    assert len(set(text)) > 10
    assert f"{PROMPT}{text}\n---\n" in printed
    counted = re.search(r"text: (\d+) tokens, (\d+) instructions each", printed)
    assert counted and int(counted[1]) == NEW_TOKENS
    assert 50_000 < int(counted[2]) < 2_000_000
