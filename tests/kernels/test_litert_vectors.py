# SPDX-License-Identifier: BSD-3-Clause
"""Rounding "double" against LiteRT's reference kernels, "float" against its XNNPACK: the same bytes.

quantized/make_litert_vectors.py created the layers and ran them with LiteRT.
"""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from rushlight.integers.arithmetic import requantization
from support.harness import Kernels, poison, with_dim_order

FOLDER = Path(__file__).parent / "quantized"
with np.load(FOLDER / "litert.npz") as _file:
    ARRAYS: dict[str, np.ndarray] = dict(_file)
LAYERS: list[dict[str, Any]] = json.loads(ARRAYS["layers"].tobytes())
WIDE = [index for index, layer in enumerate(LAYERS) if layer["dtype"] == "int16"]
ROUNDINGS = [
    (index, rounding)
    for index in range(len(LAYERS))
    for rounding in ("double", "float")
    if not (index in WIDE and rounding == "float")
]
IDS = [f"{index}-{layer['kind']}-{layer['dtype']}" for index, layer in enumerate(LAYERS)]


def bounds(layer: dict[str, Any]) -> tuple[int, int]:
    """The range of the output, as limited by its activation."""
    info = np.iinfo(layer["dtype"])
    low, high = int(info.min), int(info.max)
    if layer["activation"] == "none":
        return low, high
    zero_point = layer["output_zero_point"]
    most = high if layer["activation"] == "relu" else round(6 / layer["output_scale"]) + zero_point
    return max(low, zero_point), min(high, most)


def padded(x: torch.Tensor, layer: dict[str, Any], kernel: tuple[int, ...]) -> torch.Tensor:
    """The input [N, C, H, W] with the padding "same", whose larger half is at the end."""
    if layer["padding"] == "valid":
        return x
    ends: list[int] = []
    for axis in (1, 0):
        size, stride = x.shape[2 + axis], layer["stride"][axis]
        reach = layer["dilation"][axis] * (kernel[axis] - 1) + 1
        total = max((-(-size // stride) - 1) * stride + reach - size, 0)
        ends += [total // 2, total - total // 2]
    return torch.nn.functional.pad(x, ends, value=layer["input_zero_point"])


def call(index: int, rounding: str, like: str) -> tuple[str, list[Any], torch.Tensor]:
    """The operator, its arguments without the out, and what LiteRT returned with the rounding `like`."""
    layer = LAYERS[index]
    x, weight, bias, y = (
        torch.from_numpy(ARRAYS[f"{index}.{name}"]) for name in ("input", "weight", "bias", like)
    )
    scales = np.array(layer["weight_scales"]) * layer["input_scale"] / layer["output_scale"]
    if rounding == "float":  # as XNNPACK computes them
        narrow = [
            np.array(layer[f"{name}"], np.float32)
            for name in ("input_scale", "weight_scales", "output_scale")
        ]
        scales = np.array(narrow[0] * narrow[1] / narrow[2], np.float64)
    made = requantization(scales, rounding)
    assert made is not None
    shifts = None if made.shifts is None else torch.from_numpy(made.shifts)
    low, high = bounds(layer)
    numbers = [torch.from_numpy(made.multipliers), shifts]
    to = [rounding, layer["output_zero_point"], low, high]
    if layer["kind"] == "linear":
        bias = (bias - layer["input_zero_point"] * weight.sum(1)).to(bias.dtype)
        return "rushlight::quantized_linear.out", [x, weight, bias, *numbers, *to], y
    # The weight [1, H, W, C] of a depthwise convolution is [C, H, W, 1] elsewhere.
    weight = weight.permute(3, 0, 1, 2) if layer["kind"] == "depthwise" else weight.permute(0, 3, 1, 2)
    bias = (bias - layer["input_zero_point"] * weight.sum((1, 2, 3))).to(bias.dtype)
    x = padded(x.permute(0, 3, 1, 2), layer, tuple(weight.shape[2:]))
    plain = [layer["stride"], [0, 0], layer["dilation"], False, [0, 0], layer["groups"]]
    x, weight = with_dim_order(x, [0, 2, 3, 1]), with_dim_order(weight, [0, 2, 3, 1])
    arguments = [x, layer["input_zero_point"], weight, bias, *numbers, *plain, *to]
    return "rushlight::quantized_convolution.out", arguments, y.permute(0, 3, 1, 2)


def outputs(kernels: Kernels, name: str, arguments: list[Any], expected: torch.Tensor) -> list[torch.Tensor]:
    """The outputs of all variants of a kernel."""
    found = []
    for variant, threads in itertools.product(kernels.variants(name), (1, 3)):
        out = poison(torch.empty_like(expected, memory_format=torch.contiguous_format))
        kernels.run(name, [*arguments, out], variant=variant, threads=threads)
        found.append(out)
    return found


@pytest.mark.parametrize(("index", "rounding"), ROUNDINGS, ids=[f"{IDS[i]}-{each}" for i, each in ROUNDINGS])
def test_a_rounding_has_the_bytes_of_litert(kernels: Kernels, index: int, rounding: str) -> None:
    name, arguments, expected = call(index, rounding, rounding)
    assert len(expected.unique()) > 8
    for out in outputs(kernels, name, arguments, expected):
        assert torch.equal(out, expected)


@pytest.mark.parametrize("like", ["double", "float"])
def test_other_roundings_are_a_step_away_at_most(kernels: Kernels, like: str) -> None:
    for rounding in {"single", "double", "float"} - {like}:
        differ = 0
        for index in [index for index in range(len(LAYERS)) if index not in WIDE]:
            name, arguments, expected = call(index, rounding, like)
            distances = (outputs(kernels, name, arguments, expected)[0].int() - expected.int()).abs()
            assert distances.max() <= 1
            differ += int(distances.sum())
        assert differ > 5  # the vectors distinguish the roundings


@pytest.mark.parametrize("index", WIDE, ids=[IDS[index] for index in WIDE])
def test_of_16_bits_other_roundings_are_as_far_away_as_15_bits_of_a_scale(
    kernels: Kernels, index: int
) -> None:
    for rounding in ("single", "float"):
        name, arguments, expected = call(index, rounding, "double")
        out = outputs(kernels, name, arguments, expected)[0]
        assert ((out.int() - expected.int()).abs() <= expected.int().abs() / (1 << 15) + 1).all()


def test_the_vectors_are_what_litert_returns() -> None:
    pytest.importorskip("ai_edge_litert")
    from importlib.util import module_from_spec, spec_from_file_location

    spec = spec_from_file_location("make_litert_vectors", FOLDER / "make_litert_vectors.py")
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    made = module.make_all()
    assert made.keys() == ARRAYS.keys()
    assert all(np.array_equal(made[name], ARRAYS[name]) for name in made)
