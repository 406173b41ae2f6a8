# SPDX-License-Identifier: BSD-3-Clause
"""Movement of quantized elements happens in integers, to the same bits."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import torch.ao.quantization.fx._decomposed
from torch.nn import functional

from rushlight.export.passes.compute_in_integers import ComputeInIntegers
from support.graphs import Fn, apply, assert_same, core_aten, operators

LEAST, MOST = -128, 127
NUMBERS = (0.05, 7)
OTHERS = (0.11, -20)


def dq(
    x: torch.Tensor, numbers: tuple[float, int] = NUMBERS, dtype: torch.dtype = torch.int8
) -> torch.Tensor:
    info = torch.iinfo(dtype)
    return torch.ops.quantized_decomposed.dequantize_per_tensor(x, *numbers, info.min, info.max, dtype)


def q(x: torch.Tensor, numbers: tuple[float, int] = NUMBERS, dtype: torch.dtype = torch.int8) -> torch.Tensor:
    info = torch.iinfo(dtype)
    return torch.ops.quantized_decomposed.quantize_per_tensor(x, *numbers, info.min, info.max, dtype)


def integers(*shape: int, dtype: torch.dtype = torch.int8, seed: int = 0) -> torch.Tensor:
    info = torch.iinfo(dtype)
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(info.min, info.max + 1, shape, generator=generator).to(dtype)


X = integers(2, 4, 6, 6)
Y = integers(2, 4, 6, 6, seed=1)

MOVES: dict[str, Any] = {
    "view": lambda x: x.reshape(8, 36),
    "permute": lambda x: x.permute(0, 2, 3, 1),
    "transpose": lambda x: x.transpose(1, 2),
    "slice": lambda x: x[:, 1:3, ::2],
    "select": lambda x: x[:, 2],
    "unsqueeze": lambda x: x.unsqueeze(1),
    "squeeze": lambda x: x[:1].squeeze(0),
    "expand": lambda x: x[:, :1].expand(2, 5, 6, 6),
    "flip": lambda x: x.flip(3),
    "roll": lambda x: x.roll(2, 3),
    "repeat": lambda x: x.repeat(1, 2, 1, 1),
    "clone": lambda x: x.clone(),
    "pixel_shuffle": lambda x: functional.pixel_shuffle(x, 2),
    "pad": lambda x: functional.pad(x, (1, 2, 0, 1)),
    "pad by a quantized number": lambda x: functional.pad(x, (1, 2, 0, 1), value=0.5),
    "reflection": lambda x: functional.pad(x, (1, 2, 2, 1), mode="reflect"),
    "replication": lambda x: functional.pad(x, (1, 2, 2, 1), mode="replicate"),
    "max_pool2d": lambda x: functional.max_pool2d(x, 3, 2, 1),
    "max_pool2d, ceil": lambda x: functional.max_pool2d(x, 3, 2, ceil_mode=True),
    "amax": lambda x: x.amax((2, 3)),
    "amin": lambda x: x.amin(1, keepdim=True),
    "index": lambda x: x[:, torch.tensor([2, 0])],
    "cat with itself": lambda x: torch.cat([x, x], 1),
    "stack": lambda x: torch.stack([x, x.flip(1)]),
}  # fmt: skip


@pytest.mark.parametrize("dtype", [torch.int8, torch.uint8])
@pytest.mark.parametrize("move", MOVES)
def test_what_moves_quantized_elements_moves_integers(move: str, dtype: torch.dtype) -> None:
    numbers = (0.05, 7)

    def function(x: torch.Tensor) -> torch.Tensor:
        return q(MOVES[move](dq(x, numbers, dtype)), numbers, dtype)

    x = integers(2, 4, 6, 6, dtype=dtype)
    program = core_aten(function, (x,))
    assert apply(program, ComputeInIntegers())
    assert not any("quantize" in name for name in operators(program))
    assert_same(program, function, x)


@pytest.mark.parametrize("chunks", ["split", "unbind", "chunk"])
def test_each_result_of_several_is_of_integers(chunks: str) -> None:
    def function(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        parts = {"split": x_split, "unbind": x_unbind, "chunk": x_chunk}[chunks](dq(x))
        return q(parts[0]), q(parts[1])

    def x_split(x: torch.Tensor) -> Any:
        return x.split([1, 3], 1)

    def x_unbind(x: torch.Tensor) -> Any:
        return x.unbind(0)

    def x_chunk(x: torch.Tensor) -> Any:
        return x.chunk(2, 1)

    program = core_aten(function, (X,))
    assert apply(program, ComputeInIntegers())
    assert not any("quantize" in name for name in operators(program))
    assert_same(program, function, X)


def test_places_of_maxima_stay_as_they_were() -> None:
    def function(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        values, indices = functional.max_pool2d(dq(x), 2, return_indices=True)
        return q(values), indices

    program = core_aten(function, (X,))
    assert apply(program, ComputeInIntegers())
    assert not any("quantize" in name for name in operators(program))
    assert_same(program, function, X)


def test_who_reads_floats_gets_them_after_the_movement() -> None:
    def function(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        moved = dq(x).permute(0, 2, 3, 1)
        return moved, q(moved), torch.softmax(moved, 3)

    program = core_aten(function, (X,))
    assert apply(program, ComputeInIntegers())
    names = operators(program)
    assert names.count("dequantize_per_tensor") == 1
    assert "quantize_per_tensor" not in names
    assert_same(program, function, X)


def test_inputs_of_other_scales_are_requantized_before_they_are_joined() -> None:
    def function(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return q(torch.cat([dq(x), dq(y, OTHERS)], 1))

    program = core_aten(function, (X, Y))
    assert apply(program, ComputeInIntegers())
    assert operators(program) == ["quantized_lookup", "cat"]
    assert_same(program, function, X, Y)


@pytest.mark.parametrize("name", ["maximum", "minimum"])
def test_maxima_of_two_tensors_are_of_integers(name: str) -> None:
    def function(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return q(torch.relu(getattr(torch, name)(dq(x), dq(y, OTHERS))), (0.09, -3))

    program = core_aten(function, (X, Y))
    assert apply(program, ComputeInIntegers())
    assert operators(program) == ["quantized_lookup", "quantized_lookup", name]
    assert_same(program, function, X, Y)


def test_quantization_moves_to_the_operator_that_made_the_elements() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        return q(torch.softmax(x, 1).reshape(2, -1).unsqueeze(1))

    x = torch.randn(2, 4, 3)
    program = core_aten(function, (x,))
    assert apply(program, ComputeInIntegers())
    assert operators(program) == ["_softmax", "quantize_per_tensor", "view_copy", "unsqueeze_copy"]
    assert_same(program, function, x)


def test_a_pad_by_a_number_between_the_steps_stays_in_float() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        return q(functional.pad(dq(x), (1, 1), value=0.512))

    program = core_aten(function, (X,))
    assert not apply(program, ComputeInIntegers())
    assert_same(program, function, X)


def test_sizes_may_be_dynamic() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        return q(dq(x).permute(0, 2, 3, 1).reshape(x.shape[0], -1, 4))

    shapes = ({0: torch.export.Dim("n", min=2, max=9), 2: torch.export.Dim("h", min=2, max=64)},)
    program = core_aten(function, (X,), shapes)
    assert apply(program, ComputeInIntegers())
    assert not any("quantize" in name for name in operators(program))
    assert_same(program, function, integers(3, 4, 5, 6))


def test_constants_stay_dequantized() -> None:
    def function(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        return functional.linear(x, dq(weight, (0.05, 0)).reshape(3, 36))

    program = core_aten(Fn(function, weight=integers(36, 3)), (torch.randn(2, 36),))
    assert not apply(program, ComputeInIntegers())
