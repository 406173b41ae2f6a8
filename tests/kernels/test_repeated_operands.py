# SPDX-License-Identifier: BSD-3-Clause
"""Elementwise loops of the hosts' builds: operands that repeat an element beside others that advance, and
results that are the same for every variant of the processor."""

from __future__ import annotations

import hashlib
import os
import sys
from pathlib import Path

import pytest
import torch

from rushlight import process
from support.harness import FLOATING, REAL, Kernels, Variant, random_tensor, with_dim_order
from support.kernel_module import load_kernels

# Shapes of two operands: several buffers and a rest, rows, and rows too short to spread.
SHAPES = [
    ((9001,), ()),
    ((9001,), (1,)),
    ((), (9001,)),
    ((3, 4099), (3, 1)),
    ((3, 1), (1, 4099)),
    ((5, 7), (5, 1)),
    ((5, 8), (5, 1)),
    ((700, 2), (700, 1)),
    ((2, 0), (2, 1)),
    ((2, 3, 5, 7), (3, 1, 1)),
]


@pytest.mark.parametrize("dtype", [torch.bool, *REAL, torch.complex64, torch.complex128], ids=str)
@pytest.mark.parametrize("shapes", SHAPES, ids=str)
def test_one_operand_repeats(
    kernels: Kernels, shapes: tuple[tuple[int, ...], tuple[int, ...]], dtype: torch.dtype
) -> None:
    a, b = (random_tensor(shape, dtype, seed=seed) for seed, shape in enumerate(shapes))
    kernels.check("aten::mul.out", a, b)
    kernels.check("aten::ne.Tensor_out", a, b)
    # Also between dtypes, in which buffers hold converted elements.
    kernels.check("aten::add.out", a, b.to(torch.bool))
    if len(shapes[0]) == 4:
        kernels.check("aten::mul.out", with_dim_order(a, (0, 2, 3, 1)), b)


@pytest.mark.parametrize("dtype", FLOATING, ids=str)
def test_some_of_three_operands_repeat(kernels: Kernels, dtype: torch.dtype) -> None:
    full = random_tensor((3, 5001), dtype)
    row, column, one = full[0], full[:, :1].contiguous(), full[1, 1]
    for others in ((row, column), (column, row), (one, row), (column, one), (full, one)):
        kernels.check("aten::lerp.Tensor_out", full, *others)
        kernels.check("aten::clamp.Tensor_out", full, *others)


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int64, torch.float64], ids=str)
def test_the_output_may_be_the_operand_that_advances(kernels: Kernels, dtype: torch.dtype) -> None:
    values, column = random_tensor((3, 9001), dtype), random_tensor((3, 1), dtype, seed=1)
    expected = torch.maximum(values, column)
    for variant in kernels.variants("aten::maximum.out"):
        out = values.clone()
        kernels.run("aten::maximum.out", [out, column, out], variant=variant)
        assert torch.equal(out, expected)


UNARY = ["abs", "frac", "floor", "trunc", "sign", "neg", "bitwise_not", "relu", "signbit"]
BINARY = ["mul", "sub", "div", "floor_divide", "remainder", "fmax", "ne", "bitwise_xor.Tensor", "hypot"]
DTYPES = [torch.bool, torch.uint8, torch.int16, torch.int64, torch.float16, torch.float32, torch.float64]


def digests() -> list[str]:
    """Lists the results of portable kernels: the operator, the dtype and a hash of the bytes."""
    kernels = load_kernels()
    found = []
    for name, count in [*((each, 1) for each in UNARY), *((each, 2) for each in BINARY)]:
        called = f"aten::{name}_out" if "." in name else f"aten::{name}.out"
        if called not in kernels.signatures:
            called = f"aten::{name}.Tensor_out"
        function = getattr(torch, name.partition(".")[0])
        variant = Variant(portable=True)
        if variant not in kernels.variants(called):
            variant = Variant()
        for dtype in DTYPES:
            operands = [random_tensor((3, 1003), dtype, low=1, high=90, seed=seed) for seed in range(count)]
            try:
                out = torch.empty_like(function(*operands))
            except (RuntimeError, NotImplementedError):
                continue  # not for this dtype
            extra = [1] if name == "sub" else []
            kernels.run(called, [*operands, *extra, out], variant=variant)
            found.append(f"{name} {dtype} {hashlib.sha256(out.numpy().tobytes()).hexdigest()}")
    return found


def test_portable_results_are_the_same_on_every_processor() -> None:
    own = digests()
    assert len(own) > 80
    script = "import test_repeated_operands as t; print(*t.digests(), sep='\\n')"
    folder = Path(__file__).parent
    environment = {
        "RUSHLIGHT_CPU": "native",
        "PYTHONPATH": os.pathsep.join([str(folder), str(folder.parent), os.environ.get("PYTHONPATH", "")]),
    }
    told = process.run([sys.executable, "-c", script], env=environment, timeout=120)
    assert told.stdout.split("\n")[:-1] == own
