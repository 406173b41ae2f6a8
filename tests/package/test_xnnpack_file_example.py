# SPDX-License-Identifier: BSD-3-Clause
"""examples/xnnpack_file: an official XNNPACK file gives the official bytes, as it is and converted."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

import rushlight
from rushlight.run.cases import load_case
from support.example_scripts import EXAMPLES, run_example, skip_without

pytestmark = pytest.mark.package

EXAMPLE = EXAMPLES / "xnnpack_file"


@pytest.mark.device
@pytest.mark.parametrize(
    "name",
    [
        pytest.param("cortex-m55", marks=pytest.mark.cortex_m55),
        pytest.param("rv32imafc", marks=pytest.mark.rv32imafc),
    ],
)
def test_the_converted_file_has_the_official_outputs_on_a_board(name: str, tmp_path: Path) -> None:
    skip_without(name)
    printed = run_example("xnnpack_file", name, "-o", tmp_path).stdout
    assert "1 x XnnpackBackend" in printed and "3 x rushlight::quantized_convolution.out" in printed
    assert re.search(rf"{name} +95/100 +0e\+00 ", printed)


def test_the_delegate_has_the_official_outputs_on_the_host() -> None:
    program = rushlight.load(EXAMPLE / "digits_xnnpack.pte")
    for call in load_case(EXAMPLE / "case.json").calls:
        [output] = program.forward(*call.inputs)
        np.testing.assert_array_equal(output, call.expected[0])


@pytest.mark.device
@pytest.mark.cortex_m55
def test_an_output_that_is_one_step_off_fails(tmp_path: Path) -> None:
    skip_without("cortex-m55")
    examples = tmp_path / "a" / "examples"
    shutil.copytree(EXAMPLES / "digits", examples / "digits")
    shutil.copytree(EXAMPLE, examples / "xnnpack_file")
    with np.load(EXAMPLE / "tensors.npz") as file:
        arrays = dict(file)
    arrays["forward.7.output0"][0, 3] += 0.1
    np.savez_compressed(examples / "xnnpack_file" / "tensors.npz", **arrays)
    done = run_example(examples / "xnnpack_file", "cortex-m55", "-o", tmp_path, check=False)
    assert done.returncode == 1 and "1e-01" in done.stdout


def test_the_case_names_the_file_and_a_digit_for_each_image() -> None:
    described = json.loads((EXAMPLE / "case.json").read_text())
    assert described["files"] == ["digits_xnnpack.pte"] and described["tolerance"] == 0
    assert len(described["labels"]) == len(described["methods"]["forward"]) == 100
