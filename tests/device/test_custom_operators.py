# SPDX-License-Identifier: BSD-3-Clause
"""User-defined kernel libraries, on the host and on a board: rushlight's kernels and ExecuTorch's."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import torch

from rushlight import process, targets
from rushlight.export import export
from rushlight.run.api import run
from rushlight.run.cases import bundled_case
from rushlight.run.outcome import RunOutcome

pytestmark = pytest.mark.device

EXAMPLE = Path(__file__).parents[2] / "examples" / "custom_operator"
OFFICIAL = Path(__file__).parent / "official_kernels"
M55 = pytest.param("cortex-m55", marks=pytest.mark.cortex_m55)
# Symbols of heap and exceptions.
UNWANTED = re.compile(
    r"malloc|calloc|realloc|free|_?sbrk|_Zn[wa].*|_Zd[la].*|_Unwind_.*|__cxa_.*|_GLOBAL__.*"
)


class Official(torch.nn.Module):
    def forward(self, x: torch.Tensor, bias: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        ops = torch.ops.rushlight_official
        matrix = ops.shifted(ops.scale(x, 2.5), [1, 2])
        return matrix, ops.shifted(x.reshape(-1), [4], bias)


def check(model: Path, kernels: Path, where: str, folder: Path) -> RunOutcome:
    """Runs a bundled program's own case; its outputs are PyTorch's."""
    if missing := targets.get(where).requirements():
        pytest.skip(f"{where}: missing " + ", ".join(item.name for item in missing))
    outcome = run(model, bundled_case(model), target=where, build_folder=folder, kernels=[kernels])
    assert [call.comparison.reason for call in outcome.calls if call.comparison] == [""]
    return outcome


@pytest.mark.parametrize("where", ["host", M55])
def test_the_example_computes_what_pytorch_does(where: str, tmp_path: Path) -> None:
    outcome = check(EXAMPLE / "spikes.bpte", EXAMPLE / "kernels", where, tmp_path)
    assert outcome.build is not None
    assert outcome.build.selection["example::median_filter.out"] == ["float32"]


@pytest.mark.parametrize("where", [M55])
def test_kernels_with_the_official_signature_run_on_a_board_without_a_heap(
    where: str, tmp_path: Path
) -> None:
    model = tmp_path / "official.bpte"
    inputs = (torch.randn(3, 4), torch.tensor([0.5]))
    export(Official(), inputs, custom_ops=[OFFICIAL]).save_bundled(model)
    outcome = check(model, OFFICIAL, where, tmp_path / "build")
    assert outcome.build is not None
    listed = process.run(["arm-none-eabi-nm", "--format=just-symbols", outcome.build.executable], check=True)
    symbols = listed.stdout.split()
    assert any("scale_out" in symbol for symbol in symbols)
    assert [symbol for symbol in symbols if UNWANTED.fullmatch(symbol)] == []
