# SPDX-License-Identifier: BSD-3-Clause
"""Single functions between dequantize and quantize: programs of the official exporter, converted, beside the
same programs as they were made, and rushlight's own of the same graphs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("executorch.exir", reason="executorch is not installed")

import executorch.kernels.quantized  # noqa: E402, F401 (registers out variants)
from executorch.exir import EdgeCompileConfig, to_edge  # noqa: E402
from torch.nn import functional as F  # noqa: E402

import rushlight  # noqa: E402
from rushlight.convert.api import convert  # noqa: E402
from rushlight.convert.files import own_operators  # noqa: E402
from rushlight.program import read_program  # noqa: E402
from support.graphs import Fn  # noqa: E402

Q = torch.ops.quantized_decomposed
IMAGE, VOLUME, ROWS = (2, 8, 10, 12), (2, 4, 6, 8, 7), (20, 48)
SAME, OTHER = (0.0213517, 5), (0.0141093, -9)
WEIGHT = torch.linspace(-1.3, 1.7, 48)


def resized(x: torch.Tensor, **how: Any) -> torch.Tensor:
    return F.interpolate(x, **how)


# The function, its inputs' shapes, scale and zero point of the result, and the operators.
FUNCTIONS: dict[str, tuple[Callable[..., Any], list[tuple[int, ...]], tuple[float, int], list[str]]] = {
    "quotient": (lambda a, b: a / b, [IMAGE, IMAGE], OTHER, ["quantized_div"]),
    "maximum": (torch.maximum, [IMAGE, IMAGE], SAME, ["maximum"]),
    "minimum": (torch.minimum, [IMAGE, IMAGE], OTHER, ["minimum", "quantized_lookup"]),
    "bilinear": (
        lambda x: resized(x, scale_factor=2, mode="bilinear"), [IMAGE], OTHER, ["quantized_interpolate2d"],
    ),
    "nearest": (lambda x: resized(x, scale_factor=2), [IMAGE], SAME, ["upsample_nearest2d"]),
    "flip": (lambda x: x.flip(2, 3), [IMAGE], SAME, ["flip"]),
    "flip with other numbers": (lambda x: x.flip(3), [IMAGE], OTHER, ["quantized_lookup", "flip"]),
    "group norm": (lambda x: F.group_norm(x, 4), [IMAGE], OTHER, ["quantized_group_norm"]),
    "layer norm": (lambda x: F.layer_norm(x, (48,)), [ROWS], OTHER, ["quantized_layer_norm"]),
    "rms norm": (
        lambda x: x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5) * WEIGHT,
        [ROWS],
        OTHER,
        ["quantized_rms_norm"],
    ),
    "clamp": (lambda x: x.clamp(-0.5, 1.0), [IMAGE], OTHER, ["quantized_lookup"]),
    "clamp that keeps the numbers": (lambda x: x.clamp(-0.5, 1.0), [IMAGE], SAME, ["quantized_lookup"]),
    "hardtanh": (F.hardtanh, [IMAGE], OTHER, ["quantized_lookup"]),
    "max pool": (lambda x: F.max_pool2d(x, 2), [IMAGE], SAME, ["max_pool2d"]),
    "max pool that is rectified": (
        lambda x: F.max_pool2d(x, 2).relu(), [IMAGE], SAME, ["max_pool2d", "quantized_lookup"],
    ),
    "roots": (lambda x: torch.log1p(x.abs()).sqrt(), [IMAGE], OTHER, ["quantized_lookup"]),
    "reciprocal root": (lambda x: torch.rsqrt(x.abs() + 0.5), [IMAGE], OTHER, ["quantized_lookup"]),
    "matrices": (torch.bmm, [(3, 7, 16), (3, 16, 9)], (0.11, 3), ["quantized_matmul"]),
    "softmax": (lambda x: x.softmax(-1), [ROWS], (1 / 256, -128), ["quantized_softmax"]),
}  # fmt: skip
# Functions that the official exporter refuses, or has no kernel for.
OWN_ALONE = {"volumes": (lambda x: F.avg_pool3d(x, 2), [VOLUME], OTHER, ["quantized_avg_pool3d"])}


def module(function: Callable[..., Any], numbers: tuple[float, int]) -> Fn:
    """Floats in and out; all between is quantized."""

    def whole(*inputs: torch.Tensor) -> torch.Tensor:
        real = []
        for x in inputs:
            q = Q.quantize_per_tensor(x, *SAME, -128, 127, torch.int8)
            real.append(Q.dequantize_per_tensor(q, *SAME, -128, 127, torch.int8))
        result = Q.quantize_per_tensor(function(*real), *numbers, -128, 127, torch.int8)
        return Q.dequantize_per_tensor(result, *numbers, -128, 127, torch.int8)

    return Fn(whole)


def names_of(data: bytes) -> list[str]:
    """The operators between the ends."""
    (plan,) = read_program(data).plans
    names = [name.partition("::")[2].partition(".")[0] for name, _ in plan.calls()]
    return [name for name in names if name not in ("quantize_per_tensor", "dequantize_per_tensor")]


def check(data: bytes, expected: Callable[..., Any], shapes: list[tuple[int, ...]], step: float) -> None:
    """No number more than a step off, one in a thousand off at all."""
    program, generator = rushlight.load(data), torch.Generator().manual_seed(5)
    apart = []
    for _ in range(4):
        inputs = [torch.randn(shape, generator=generator) for shape in shapes]
        got, wanted = np.asarray(program.forward(*inputs)[0]), np.asarray(expected(*inputs))
        apart.append(np.rint((got - wanted) / step).ravel())
    steps = np.abs(np.concatenate(apart))
    assert steps.max() <= 1
    assert (steps > 0).mean() <= 1e-3


@pytest.mark.parametrize("name", FUNCTIONS)
def test_an_official_program_computes_in_integers(name: str) -> None:
    function, shapes, numbers, operators = FUNCTIONS[name]
    model = module(function, numbers)
    exported = torch.export.export(model, tuple(torch.randn(shape) for shape in shapes))
    edge = to_edge(exported, compile_config=EdgeCompileConfig(_check_ir_validity=False))
    before = bytes(edge.to_executorch().buffer)
    done = convert(read_program(before), own_operators())
    assert done.methods[0].in_float == []
    # Conversion keeps indices that nothing reads; a host drops them when it loads the program.
    kept = {"max_pool2d": "max_pool2d_with_indices"}
    assert names_of(done.buffer) == [kept.get(each, each) for each in operators]
    floats = rushlight.load(before, integers=False)
    check(done.buffer, lambda *inputs: floats.forward(*inputs)[0], shapes, numbers[0])


@pytest.mark.parametrize("name", [*FUNCTIONS, *OWN_ALONE])
def test_an_own_program_computes_in_integers(name: str) -> None:
    function, shapes, numbers, operators = (FUNCTIONS | OWN_ALONE)[name]
    model = module(function, numbers)
    exported = rushlight.export(model, tuple(torch.randn(shape) for shape in shapes))
    assert exported.report.methods[0].remarks == []
    assert [each for each in names_of(exported.buffer) if each != "_clone_dim_order"] == operators
    check(exported.buffer, model, shapes, numbers[0])
