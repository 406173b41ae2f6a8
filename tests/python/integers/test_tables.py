# SPDX-License-Identifier: BSD-3-Clause
"""Functions of one quantized number become tables, with the bits of the graph in float32."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import torch.ao.quantization.fx._decomposed
from torch.nn import functional

from rushlight.export.passes.compute_in_integers import ComputeInIntegers
from rushlight.export.passes.lift_scalars import LiftScalars
from support.graphs import apply, assert_same, core_aten, operators

FUNCTIONS: dict[str, Any] = {
    "sigmoid": torch.sigmoid,
    "tanh": torch.tanh,
    "gelu": functional.gelu,
    "gelu of tanh": lambda x: functional.gelu(x, approximate="tanh"),
    "silu": functional.silu,
    "elu": functional.elu,
    "leaky_relu": lambda x: functional.leaky_relu(x, 0.1),
    "hardswish": functional.hardswish,
    "hardsigmoid": functional.hardsigmoid,
    "relu": torch.relu,
    "relu6": functional.relu6,
    "clamp": lambda x: x.clamp(-1, 2),
    "neg": torch.neg,
    "abs": torch.abs,
    "exp": torch.exp,
    "log of abs": lambda x: (x.abs() + 0.1).log(),
    "sqrt": lambda x: x.abs().sqrt(),
    "rsqrt": lambda x: (x * x + 0.1).rsqrt(),
    "numbers": lambda x: (3 - x * 2 + 1) / 4,
    "powers": lambda x: x**2 - x**3,
    "mish": functional.mish,
    "softplus": functional.softplus,
    "its own factor": lambda x: x * torch.sigmoid(1.702 * x),
    "nothing": lambda x: x,
}


def quantized(function: Any, source: torch.dtype, target: torch.dtype) -> Any:
    ranges = {dtype: (torch.iinfo(dtype).min, torch.iinfo(dtype).max) for dtype in (source, target)}
    ops = torch.ops.quantized_decomposed

    def between(x: torch.Tensor) -> torch.Tensor:
        real = ops.dequantize_per_tensor(x, 0.043, 3, *ranges[source], source)
        return ops.quantize_per_tensor(function(real), 0.019, 5, *ranges[target], target)

    return between


def every(dtype: torch.dtype) -> torch.Tensor:
    """All numbers of a dtype, in another order."""
    info = torch.iinfo(dtype)
    return torch.arange(info.min, info.max + 1).flip(0).reshape(4, 64).to(dtype)


@pytest.mark.parametrize("source", [torch.int8, torch.uint8])
@pytest.mark.parametrize("target", [torch.int8, torch.uint8])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_of_one_number_is_a_table(name: str, source: torch.dtype, target: torch.dtype) -> None:
    function = quantized(FUNCTIONS[name], source, target)
    program = core_aten(function, (every(source),))
    assert apply(program, LiftScalars(), ComputeInIntegers())
    assert operators(program) == ["quantized_lookup"]
    assert_same(program, function, every(source))


def test_tables_behind_each_other_become_one() -> None:
    first, second = (quantized(f, torch.int8, torch.int8) for f in (torch.tanh, torch.sigmoid))
    program = core_aten(lambda x: second(first(x)), (every(torch.int8),))
    assert apply(program, ComputeInIntegers())
    assert operators(program) == ["quantized_lookup"]
    assert_same(program, lambda x: second(first(x)), every(torch.int8))


def test_a_table_stays_where_something_else_reads_its_result() -> None:
    first, second = (quantized(f, torch.int8, torch.int8) for f in (torch.tanh, torch.sigmoid))

    def function(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        y = first(x)
        return y, second(y)

    program = core_aten(function, (every(torch.int8),))
    assert apply(program, ComputeInIntegers())
    assert operators(program) == ["quantized_lookup", "quantized_lookup"]
    assert_same(program, function, every(torch.int8))


def test_a_narrower_range_clamps() -> None:
    ops = torch.ops.quantized_decomposed

    def function(x: torch.Tensor) -> torch.Tensor:
        real = ops.dequantize_per_tensor(x, 0.043, 3, -128, 127, torch.int8)
        return ops.quantize_per_tensor(real, 0.043, 3, -100, 99, torch.int8)

    program = core_aten(function, (every(torch.int8),))
    assert apply(program, ComputeInIntegers())
    assert operators(program) == ["quantized_lookup"]
    assert_same(program, function, every(torch.int8))


def test_a_function_of_two_tensors_is_none() -> None:
    ops = torch.ops.quantized_decomposed

    def function(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        real = [ops.dequantize_per_tensor(each, 0.043, 3, -128, 127, torch.int8) for each in (x, y)]
        return ops.quantize_per_tensor(torch.atan2(*real), 0.043, 3, -128, 127, torch.int8)

    program = core_aten(function, (every(torch.int8), every(torch.int8).flip(1)))
    assert not apply(program, ComputeInIntegers())


def test_a_vector_of_numbers_is_none() -> None:
    function = quantized(lambda x: x * torch.arange(64.0), torch.int8, torch.int8)
    program = core_aten(function, (every(torch.int8),))
    assert not apply(program, ComputeInIntegers())
