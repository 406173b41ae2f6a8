# SPDX-License-Identifier: BSD-3-Clause
"""Programs built by ziglang for Linux."""

from __future__ import annotations

from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

from rushlight import targets
from rushlight.devtools.cases import load_case
from rushlight.devtools.run import RunOutcome, run

pytestmark = [pytest.mark.device, pytest.mark.zig]

INTEROP = Path(__file__).parents[1] / "interop"
# The first build for a target also compiles a C library, of a minute.
LINUX = [
    pytest.param("zig-linux-x86_64", "EM_X86_64"),
    pytest.param("zig-linux-aarch64", "EM_AARCH64", marks=pytest.mark.slow),
    pytest.param("zig-linux-armhf", "EM_ARM", marks=pytest.mark.slow),
    pytest.param("zig-linux-riscv64", "EM_RISCV", marks=pytest.mark.slow),
]


def _run(name: str, target: str, folder: Path) -> RunOutcome:
    if missing := targets.get(target).requirements():
        pytest.skip(f"{target}: missing " + ", ".join(item.name for item in missing))
    case = load_case(INTEROP / name / "case.json")
    outcome = run(INTEROP / name / "model.pte", case, target=target, build_folder=folder)
    assert [call.comparison.reason for call in outcome.calls if call.comparison] == [""] * len(case.calls)
    return outcome


@pytest.mark.parametrize(("name", "machine"), LINUX)
def test_a_static_linux_executable_gives_the_expected_outputs(
    name: str, machine: str, tmp_path: Path
) -> None:
    outcome = _run("model_dscnn", name, tmp_path)
    assert outcome.build is not None
    with outcome.build.executable.open("rb") as stream:
        elf = ELFFile(stream)
        assert elf["e_machine"] == machine
        assert not any(segment["p_type"] in ("PT_INTERP", "PT_DYNAMIC") for segment in elf.iter_segments())
