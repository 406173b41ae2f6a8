# SPDX-License-Identifier: BSD-3-Clause
"""A failure on a device is reported with the model's line: from a log, or from numbers if there is none."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from rushlight import targets
from rushlight.errors import InvalidArgument
from rushlight.program import DebugRecord, read_program
from rushlight.program.debug import Frame, InstructionOrigin, MethodOrigins, fingerprint
from rushlight.run.api import run
from rushlight.run.cases import Call, Case

MODEL = Path(__file__).parents[1] / "interop" / "index_put_gather" / "model.pte"


@pytest.mark.device
@pytest.mark.parametrize(
    "name",
    [
        pytest.param("cortex-m3", marks=pytest.mark.cortex_m3),
        pytest.param("linux-aarch64", marks=pytest.mark.linux_aarch64),
    ],
)
def test_the_line_of_the_instruction_that_failed_is_told(name: str, tmp_path: Path) -> None:
    if missing := targets.get(name).requirements():
        pytest.skip(f"{name}: missing " + ", ".join(item.name for item in missing))
    model = tmp_path / "model.pte"
    shutil.copy(MODEL, model)
    origins = [
        InstructionOrigin(i, frames=(Frame("net.py", 7 + i, "forward", f"step {i}"),)) for i in range(9)
    ]
    record = DebugRecord(fingerprint(read_program(model)), (MethodOrigins("forward", tuple(origins)),))
    record.save(tmp_path / "model.debug.json")
    # The first instruction gathers rows by index.
    call = Call("forward", [np.zeros((5, 5), np.float32), np.array([7, 0, 1])], None)
    with pytest.raises(InvalidArgument) as caught:
        run(model, Case("rows", 0.0, [call]), target=name, build_folder=tmp_path / "build")
    assert (caught.value.instruction, caught.value.source) == (0, "net.py:7: step 0")
    assert caught.value.message.endswith("\n  instruction 0 is from net.py:7: step 0")
