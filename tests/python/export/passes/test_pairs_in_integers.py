# SPDX-License-Identifier: BSD-3-Clause
"""Sums, differences, products and quotients between dequantize and quantize compute in integers."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
import torch
import torch.ao.quantization.fx._decomposed

import rushlight
from rushlight.export.passes import PassContext
from rushlight.export.passes.compute_in_integers import ComputeInIntegers
from rushlight.export.passes.remove_dead_code import RemoveDeadCode
from support.graphs import LIBRARY, Fn, apply, core_aten, operators, run

Q = torch.ops.quantized_decomposed
Sum = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
SUMS: dict[str, Sum] = {
    "sum": lambda a, b: a + b,
    "difference": lambda a, b: a - b,
    "weighted": lambda a, b: torch.add(a, b, alpha=2),
    "weighted difference": lambda a, b: torch.sub(a, b, alpha=0.5),
    "sum that is rectified": lambda a, b: (a + b).relu(),
    "sum of a row": lambda a, b: a + b[:1],
}

PRODUCTS: dict[str, Sum] = {
    "product": lambda a, b: a * b,
    "product that is rectified": lambda a, b: (a * b).relu(),
    "product that is clamped": lambda a, b: (a * b).clamp(-1.0, 2.5),
    "product with a row": lambda a, b: b[:1] * a,
    "product with a column": lambda a, b: a * b[:, 7:8],
}
QUOTIENTS: dict[str, Sum] = {
    "quotient": lambda a, b: a / b,
    "quotient that is rectified": lambda a, b: (a / b).relu(),
    "quotient by a row": lambda a, b: a / b[:1],
}
KINDS = {
    **dict.fromkeys(SUMS, "quantized_add"),
    **dict.fromkeys(PRODUCTS, "quantized_mul"),
    **dict.fromkeys(QUOTIENTS, "quantized_div"),
}


def quantized(
    function: Sum, scales: tuple[float, float, float], dtype: torch.dtype = torch.int8
) -> tuple[Fn, tuple[torch.Tensor, torch.Tensor]]:
    """dequantize, dequantize -> function -> quantize, and all pairs of numbers."""
    info = torch.iinfo(dtype)
    points = (3, -7, 11) if dtype == torch.int8 else (131, 120, 139)

    def whole(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        real = [
            Q.dequantize_per_tensor(x, scale, point, info.min, info.max, dtype)
            for x, scale, point in zip((a, b), scales, points, strict=False)
        ]
        return Q.quantize_per_tensor(function(*real), scales[2], points[2], info.min, info.max, dtype)

    every = torch.arange(info.min, info.max + 1).to(dtype)
    a, b = torch.meshgrid(every, every, indexing="ij")
    return Fn(whole), (a.contiguous(), b.contiguous())


@pytest.mark.parametrize("dtype", [torch.int8, torch.uint8])
@pytest.mark.parametrize(
    "scales", [(0.021, 0.034, 0.047), (0.5, 0.0011, 0.31), (0.013, 0.017, 0.0029)], ids=str
)
@pytest.mark.parametrize("name", KINDS)
def test_results_of_all_pairs_are_those_of_floats(
    name: str, scales: tuple[float, float, float], dtype: torch.dtype
) -> None:
    module, inputs = quantized((SUMS | PRODUCTS | QUOTIENTS)[name], scales, dtype)
    program = core_aten(module, inputs)
    apply(program, ComputeInIntegers(), RemoveDeadCode())
    assert operators(program)[-1] == KINDS[name]
    assert not any("quantize_per" in each for each in operators(program))
    (result,) = run(program, *inputs)
    off = (result.int() - module(*inputs).int()).abs()
    if name == "quotient that is rectified":
        # 0 / 0: PyTorch casts NaN to the number 0, which is below 0 here; the operator stays in its range.
        off[
            inputs[0][:, 0] == (3 if dtype == torch.int8 else 131),
            inputs[1][0] == (-7 if dtype == torch.int8 else 120),
        ] = 0
    assert off.max() <= 1
    assert (off > 0).float().mean() < 1e-3


def test_quotients_that_are_rounded_down_stay_in_floats() -> None:
    module, inputs = quantized(lambda a, b: torch.div(a, b, rounding_mode="floor"), (0.1, 0.2, 0.3))
    program = core_aten(module, inputs)
    assert not apply(program, ComputeInIntegers())


def test_scales_far_below_the_result_add_nothing() -> None:
    module, inputs = quantized(SUMS["sum"], (1e-12, 1e-12, 1e3))
    program = core_aten(module, inputs)
    apply(program, ComputeInIntegers(), RemoveDeadCode())
    assert operators(program) == ["quantized_add"]
    assert torch.equal(run(program, *inputs)[0], module(*inputs))


def test_what_stays_in_floats_says_why() -> None:
    module, inputs = quantized(SUMS["sum"], (1e9, 1e9, 1e-9))
    program = core_aten(module, inputs)
    context = PassContext(LIBRARY)
    assert not ComputeInIntegers().run(program, context)
    assert context.remarks[0].endswith("its scales are out of range")


def test_a_report_says_what_stays_in_floats() -> None:
    module, inputs = quantized(SUMS["sum"], (1e9, 1e9, 1e-9))
    (method,) = rushlight.export(module, inputs).report.methods
    (remark,) = method.remarks
    assert re.search(r"\.py:\d+\) computes in float: its scales", remark)
    assert method.to_json()["remarks"] == [remark]
