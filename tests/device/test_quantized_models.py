# SPDX-License-Identifier: BSD-3-Clause
"""Instructions, stack and planned memory of int8 programs on boards; QEMU counts instructions exactly.
Expected outputs come from PyTorch's quantized graph."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

import rushlight
from rushlight.quantize import quantize
from rushlight.run.api import run
from rushlight.run.cases import Call, Case
from support.boards import need
from support.interop.models import DsCnn, ResNet8, mlp

pytestmark = pytest.mark.device

MODELS: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...]]] = {
    "dscnn": (DsCnn, (1, 1, 49, 10)),
    "resnet8": (ResNet8, (1, 3, 32, 32)),
    "mlp": (lambda: mlp(640, 128, 128, 8, 128, 640), (1, 640)),
}
PLANNED = {"dscnn": 16_000, "resnet8": 49_152, "mlp": 3_200}  # bytes
# Limits for one inference, about 3 % more than measured.
INSTRUCTIONS = {
    ("cortex-m0plus", "dscnn"): 15_800_000,
    ("cortex-m3", "dscnn"): 7_290_000,
    ("cortex-m4", "resnet8"): 17_600_000,
    ("cortex-m55", "dscnn"): 1_130_000,
    ("cortex-m55", "resnet8"): 3_040_000,
    ("rv32imac", "resnet8"): 42_500_000,
    ("rv32imac", "mlp"): 2_000_000,
    ("rv64gc", "dscnn"): 6_650_000,
    ("rv64gcv", "resnet8"): 1_720_000,
    ("rv64gcv", "mlp"): 34_000,
}
STACK = 8_300  # bytes on 32-bit cores


@dataclass(frozen=True)
class Quantized:
    """A program, its input and the output of PyTorch's quantized graph."""

    program: bytes
    input: Tensor
    expected: Tensor


@pytest.fixture(scope="module")
def programs() -> dict[str, Quantized]:
    """MODELS, quantized with random inputs."""
    made = {}
    for name, (build, shape) in MODELS.items():
        torch.manual_seed(7)
        module, example = build().eval(), torch.randn(shape)
        with torch.no_grad():
            graph = quantize(module, (example,), [(torch.randn(shape),) for _ in range(4)])
            expected = graph(example)
        made[name] = Quantized(rushlight.export(graph, (example,)).buffer, example, expected)
    return made


@pytest.mark.parametrize(
    ("board", "name"),
    [
        pytest.param(board, name, id=f"{board}-{name}", marks=[getattr(pytest.mark, board.replace("-", "_"))])
        for board, name in INSTRUCTIONS
    ],
)
def test_an_int8_program_takes_no_more_than_it_did(
    board: str, name: str, programs: dict[str, Quantized], tmp_path: Path
) -> None:
    need(board)
    quantized = programs[name]
    model = tmp_path / "model.pte"
    model.write_bytes(quantized.program)
    call = Call("forward", [quantized.input.numpy()], [quantized.expected.numpy()])
    outcome = run(model, Case(name, 0.05, [call]), target=board, build_folder=tmp_path / "build")
    assert [each.comparison.reason for each in outcome.calls if each.comparison] == [""]
    report = outcome.report
    assert report is not None and report.planned_bytes == PLANNED[name]
    assert outcome.stack_peak is not None
    assert board.startswith("rv64") or 1_000 < outcome.stack_peak < STACK
    assert 20_000 < outcome.calls[0].result.instructions < INSTRUCTIONS[board, name]
