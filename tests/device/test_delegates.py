# SPDX-License-Identifier: BSD-3-Clause
"""Official files that were lowered to XNNPACK, on targets: plain calls in place of the delegate give what the
official runtime gave."""

from __future__ import annotations

from pathlib import Path

import pytest

from rushlight.convert.files import convert_file
from rushlight.run.api import run
from rushlight.run.cases import load_case
from support.boards import need

pytestmark = pytest.mark.device

INTEROP = Path(__file__).parents[1] / "interop"
CASES = ("delegated_cnn", "delegated_cnn_int8", "delegated_mlp_dynamic", "delegated_linear_4bit")
TARGETS = ("cortex-m55", "rv32imac", "linux-aarch64")


@pytest.mark.parametrize(
    "name", [pytest.param(each, marks=getattr(pytest.mark, each.replace("-", "_"))) for each in TARGETS]
)
@pytest.mark.parametrize("case", CASES)
def test_a_delegated_program_gives_the_official_outputs(name: str, case: str, tmp_path: Path) -> None:
    need(name)
    folder = INTEROP / case
    path = tmp_path / f"{case}.pte"
    assert convert_file(folder / "model_xnnpack.pte", path).is_changed
    outcome = run(path, load_case(folder / "case.json"), target=name, build_folder=tmp_path / "build")
    assert outcome.passed, outcome.reasons
    assert len(outcome.calls) == 2
