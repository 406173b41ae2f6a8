# SPDX-License-Identifier: BSD-3-Clause
"""Without a request, executor_runner executes each method on inputs of ones."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rushlight import process
from rushlight.program.dtypes import COMPLEX
from support.programs import Plan, jump_false, program, scalar, tensor

pytestmark = pytest.mark.heavy

RUNNER = Path(os.environ.get("RUSHLIGHT_TEST_BUILD", "")) / "executor_runner"
INTEGERS = ("bool", "uint8", "int8", "int16", "int32", "int64")


@pytest.mark.skipif(not RUNNER.is_file(), reason="RUSHLIGHT_TEST_BUILD has no executor_runner")
@pytest.mark.parametrize(
    "dtype",
    [*INTEGERS, "uint16", "uint32", "uint64", "float16", "bfloat16", "float32", "float64", *sorted(COMPLEX)],
)
def test_every_dtype_has_its_own_one(dtype: str, tmp_path: Path) -> None:
    """The method compares each of its two elements with 1, and never ends unless both are equal."""
    plan = Plan(
        values=[
            tensor(dtype, (2,)),
            scalar(1),
            tensor("bool", (2,), offset=64),
            tensor("bool", (), offset=128),
        ],
        operators=[("aten::eq", "Scalar_out"), ("aten::all", "all_out")],
        calls=[(0, [0, 1, 2]), (1, [2, 3]), jump_false(3, 0)],
        buffer_sizes=[0, 192],
        inputs=[0],
    )
    (tmp_path / "model.pte").write_bytes(program(plan))
    words = [str(RUNNER), f"--model_path={tmp_path / 'model.pte'}", "--max_instructions=100"]
    done = process.run(words, timeout=20)
    assert (done.returncode, done.stdout.strip()) == (0, "forward"), done.stderr
