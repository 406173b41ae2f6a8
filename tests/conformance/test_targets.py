# SPDX-License-Identifier: BSD-3-Clause
"""All programs of tests/interop on one target of each kind, with one runner for each target.
Continuous integration takes a third of the programs on the RISC-V board."""

from __future__ import annotations

from pathlib import Path

import pytest

from rushlight import targets
from rushlight.run.conformance import Status, find_cases, run_conformance

pytestmark = [pytest.mark.device, pytest.mark.conformance, pytest.mark.slow]

INTEROP = Path(__file__).parents[1] / "interop"


@pytest.mark.parametrize(
    ("name", "step"),
    [
        pytest.param("linux-aarch64", 1, marks=pytest.mark.linux_aarch64),
        pytest.param("cortex-m55", 1, marks=pytest.mark.cortex_m55),
        pytest.param("rv32imafc", 1, marks=[pytest.mark.rv32imafc, pytest.mark.exhaustive]),
        pytest.param("rv32imafc", 3, marks=pytest.mark.rv32imafc),
    ],
)
def test_every_program_that_is_not_refused_gives_what_pytorch_gives(
    name: str, step: int, tmp_path: Path
) -> None:
    if missing := targets.get(name).requirements():
        pytest.skip(f"{name}: missing " + ", ".join(item.name for item in missing))
    result = run_conformance(find_cases(INTEROP)[::step], [name], tmp_path, root=INTEROP)
    assert [entry for entry in result.entries if entry.status is Status.FAILED] == []
    assert result.count(name, Status.DOES_NOT_FIT) == 0
    assert result.count(name, Status.PASSED) >= 45 // step
