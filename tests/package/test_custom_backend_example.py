# SPDX-License-Identifier: BSD-3-Clause
"""examples/custom_backend: the example delegate computes what PyTorch does and refuses damaged payloads."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from rushlight.build import BuildResult
from rushlight.errors import RushlightError
from rushlight.run.api import run
from rushlight.run.cases import bundled_case
from support.example_scripts import EXAMPLES, run_example, skip_without

pytest.importorskip("torch", reason="missing: torch")

pytestmark = pytest.mark.package

DEFINES = {"RUSHLIGHT_BACKENDS": str(EXAMPLES / "custom_backend" / "backend")}
MAGIC = b"DNS1"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the example has exported its model."""
    folder = tmp_path_factory.mktemp("custom_backend")
    printed = run_example("custom_backend", "host", "-o", folder).stdout
    assert re.search(r"^host +10 calls as PyTorch", printed, re.MULTILINE)
    assert len(re.findall(r"^  dense0 +aten\.linear\.default", printed, re.MULTILINE)) == 3
    assert "delegates of the program: Dense (" in printed and "aten::linear.out" not in printed
    return folder


@pytest.mark.device
@pytest.mark.cortex_m55
def test_a_board_computes_what_pytorch_does(tmp_path: Path) -> None:
    skip_without("cortex-m55")
    printed = run_example("custom_backend", "cortex-m55", "-o", tmp_path).stdout
    assert re.search(r"^cortex-m55 +10 calls as PyTorch", printed, re.MULTILINE)


@pytest.fixture(scope="module")
def runner(folder: Path) -> BuildResult:
    """The example's build for the host."""
    model = folder / "gestures.bpte"
    outcome = run(model, bundled_case(model), build_folder=folder / "host", defines=DEFINES)
    assert outcome.passed and outcome.build is not None
    return outcome.build


def with_word(index: int, value: int) -> Callable[[bytes], bytes]:
    """Replaces the u32 `index` behind the magic."""

    def change(data: bytes) -> bytes:
        at = data.index(MAGIC) + 4 + 4 * index
        return data[:at] + struct.pack("<I", value) + data[at + 4 :]

    return change


DAMAGE = {
    "no layers": with_word(0, 0),
    "more layers than there are": with_word(0, 4),
    "fewer layers than there are": with_word(0, 2),
    "too many layers": with_word(0, 1 << 31),
    "no inputs": with_word(1, 0),
    "more inputs": with_word(1, 129),
    "inputs and outputs whose product is large": lambda data: with_word(2, 1 << 20)(
        with_word(1, 1 << 20)(data)
    ),
    "a flag that is neither 0 nor 1": with_word(3, 2),
    "another magic": lambda data: data.replace(MAGIC, b"DNS2"),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_payload_is_refused(damage: str, folder: Path, runner: BuildResult, tmp_path: Path) -> None:
    whole = (folder / "gestures.bpte").read_bytes()
    data = DAMAGE[damage](whole)
    assert data != whole
    damaged = tmp_path / "damaged.bpte"
    damaged.write_bytes(data)
    with pytest.raises(RushlightError, match=r"dense payload: .*expected"):
        run(damaged, bundled_case(damaged), built=runner, defines=DEFINES)
