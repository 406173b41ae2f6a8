# SPDX-License-Identifier: BSD-3-Clause
"""The RAM that is computed ahead is what the runtime takes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import rushlight
from rushlight.cli.main import main
from rushlight.errors import InvalidArgument, RushlightError
from rushlight.program import arena_bytes, method_memory, read_program

INTEROP = Path(__file__).parents[2] / "interop"
PROGRAMS = sorted(f"{path.parent.name}/{path.name}" for path in INTEROP.glob("*/*.pte"))


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_method_arena_is_what_loading_takes(name: str) -> None:
    """On this 64-bit host; tests/device compares what 32-bit boards report."""
    plans = read_program(INTEROP / name).plans
    if any(plan.delegates or method_memory(plan).method_arena[64] == 0 for plan in plans):
        return  # a delegate's own memory is the backend's affair
    loaded = rushlight.load(INTEROP / name)
    for plan in plans:
        try:
            memory = loaded.load_method(plan.name).memory
        except RushlightError as error:
            assert "data file" in error.message  # of external_ptd
            continue
        assert memory["method_arena"] == method_memory(plan).method_arena[64]
        assert list(memory["planned"]) == list(method_memory(plan).planned)


def test_inspect_says_what_memory_a_method_takes(capsys: pytest.CaptureFixture[str]) -> None:
    path = INTEROP / "model_dscnn" / "model.pte"
    with pytest.raises(SystemExit):
        main(["inspect", "--json", str(path)])
    [method] = json.loads(capsys.readouterr().out)["methods"]
    memory = method["memory"]
    assert memory["planned"] == [64000] and memory["temporary_peak"] == 0
    assert memory["method_arena"]["32"] < memory["method_arena"]["64"]
    assert memory["total"]["32"] == memory["method_arena"]["32"] + 64000
    with pytest.raises(SystemExit):
        main(["inspect", str(path)])
    assert "pointers have 32 bits" in capsys.readouterr().out.replace("\n", " ")


def test_other_pointers_are_refused() -> None:
    with pytest.raises(InvalidArgument, match="16"):
        arena_bytes(read_program(INTEROP / PROGRAMS[0]).plans[0], 16)
