# SPDX-License-Identifier: BSD-3-Clause
"""gen_custom_ops_aot_lib: a library that registers a project's kernels with PyTorch."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from rushlight import process
from support.cmake_projects import CONSUMERS, configure
from support.environments import ROOT

pytestmark = pytest.mark.package

USER = """
import sys, torch
torch.ops.load_library(sys.argv[1])
x = torch.randn(3, 4)
out, transposed = torch.empty(3, 4), torch.empty(4, 3).t()
assert torch.ops.my_ops.mul3.out(x, output=out) is out
torch.ops.my_ops.mul3.out(x, output=transposed)
assert torch.equal(out, x * 3) and torch.equal(transposed, x * 3)
assert torch.equal(torch.ops.my_ops.mul3(x), x * 3)
assert not hasattr(torch.ops.my_ops, "mul4")
print("as PyTorch")
"""


def test_pytorch_calls_the_kernels(build_folder: Callable[[str], Path]) -> None:
    pytest.importorskip("torch", reason="torch is not installed")
    folder = build_folder("aot_library")
    configure(
        CONSUMERS / "aot_library",
        folder,
        CMAKE_BUILD_TYPE="Release",
        EXECUTORCH_ROOT=ROOT / "compat" / "executorch",
        EXECUTORCH_SELECT_OPS_LIST="aten::add.out",
        PYTHON_EXECUTABLE=sys.executable,
    )
    build = ["cmake", "--build", folder, "--target", "custom_ops_aot_lib"]
    process.run(build, check=True, timeout=600)
    # A separate process: a loaded library stays registered.
    ran = process.run([sys.executable, "-c", USER, folder / "libcustom_ops_aot_lib.so"], check=True)
    assert ran.stdout.strip() == "as PyTorch"
