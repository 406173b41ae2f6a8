# SPDX-License-Identifier: BSD-3-Clause
"""Official files lowered to XNNPACK, on targets: plain calls instead of the delegate give the official
runtime's outputs."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from rushlight.convert.files import convert_file
from rushlight.run.api import run
from rushlight.run.cases import Call, Case, load_case
from support.boards import marker, need
from support.interop.models import DsCnn
from support.samples import sampled

pytestmark = pytest.mark.device

INTEROP = Path(__file__).parents[1] / "interop"
CASES = ("delegated_cnn", "delegated_cnn_int8", "delegated_mlp_dynamic", "delegated_linear_4bit")
TARGETS = ("cortex-m55", "rv32imac", "linux-aarch64")


# Continuous integration takes half: each program, and each target with some of them.
@pytest.mark.parametrize(
    ("case", "name"),
    sampled(
        [(case, name) for case in CASES for name in TARGETS],
        2,
        name="-".join,
        marks=lambda each: [marker(each[1])],
    ),
)
def test_a_delegated_program_gives_the_official_outputs(name: str, case: str, tmp_path: Path) -> None:
    need(name)
    folder = INTEROP / case
    path = tmp_path / f"{case}.pte"
    assert convert_file(folder / "model_xnnpack.pte", path).is_changed
    outcome = run(path, load_case(folder / "case.json"), target=name, build_folder=tmp_path / "build")
    assert outcome.passed, outcome.reasons
    assert len(outcome.calls) == 2


@pytest.mark.cortex_m55
def test_rounding_in_float_takes_no_more_instructions_than_it_did(tmp_path: Path) -> None:
    need("cortex-m55")
    pytest.importorskip("executorch")
    from support import official_xnnpack

    torch.manual_seed(7)
    inputs = (torch.randn(1, 1, 49, 10),)
    graph = official_xnnpack.quantized(DsCnn().eval(), inputs)
    path = tmp_path / "dscnn.pte"
    path.write_bytes(official_xnnpack.lower(graph, inputs).data)
    expected = graph(*inputs).detach().numpy()
    call = Call("forward", [inputs[0].numpy()], [expected])
    outcome = run(path, Case("dscnn", 0.05, [call]), target="cortex-m55", build_folder=tmp_path / "build")
    assert outcome.passed, outcome.reasons
    # 3 % more than measured; that is 4 % more than with the rounding of rushlight's own programs.
    assert 20_000 < (outcome.calls[0].result.instructions or 0) < 1_170_000
