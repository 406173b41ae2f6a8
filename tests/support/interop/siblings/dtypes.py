# SPDX-License-Identifier: BSD-3-Clause
"""Element types other than float32 in arithmetic and in networks, converted and mixed."""

from __future__ import annotations

from collections.abc import Callable

import torch
from executorch.exir import EdgeCompileConfig
from torch import Tensor, nn
from torch.nn import functional

from support.interop.models import Fn
from support.interop.official import Case, one, tolerance_of

"""Tolerance of float16 and bfloat16."""
UNCHECKED = EdgeCompileConfig(_check_ir_validity=False)
"""For types that the edge dialect does not list."""
INTEGERS = ("uint8", "int8", "int16", "int32", "int64")


def integer_arithmetic(a: Tensor, b: Tensor) -> tuple[Tensor, ...]:
    floor = torch.div(a, b, rounding_mode="floor")
    return a + b, a - b, a * b, floor, a % b, a & b, a | b, a ^ b, ~a, a.sum(0), a.amax(1), a < b


def integer_shapes(a: Tensor, b: Tensor) -> tuple[Tensor, ...]:
    return torch.cat([a, b], 1), a.t(), a[1:, ::2], torch.stack([a, b]), a.unsqueeze(1), a.flip(0), a.clone()


def conversions(x: Tensor) -> tuple[Tensor, ...]:
    names = ("bool", *INTEGERS, "float16", "bfloat16", "float32", "float64")
    return tuple(x.to(getattr(torch, name)) for name in names)


def mixed(i: Tensor, f: Tensor, h: Tensor, flag: Tensor) -> tuple[Tensor, ...]:
    return i + f, f * h, flag * f, i / 2, i + 0.5, torch.where(flag, i, f), i.float().mean(), flag.sum()


def image_network(dtype: torch.dtype) -> nn.Module:
    layers = [nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2)]
    return nn.Sequential(*layers, nn.Conv2d(8, 4, 1), nn.Flatten(), nn.Linear(64, 5)).to(dtype)


def activations(x: Tensor) -> tuple[Tensor, ...]:
    names = ("relu", "gelu", "silu", "hardtanh", "leaky_relu", "elu", "softplus", "logsigmoid")
    return tuple(getattr(functional, name)(x) for name in names)


def functions(x: Tensor) -> tuple[Tensor, ...]:
    positive = x.abs() + 0.5
    return x.exp(), positive.log(), positive.sqrt(), positive.rsqrt(), x.sin(), x.cos(), x.tanh(), x.sigmoid()


def _integers(name: str, function: Callable[..., object]) -> Case:
    dtype = getattr(torch, name)
    low = 0 if name.startswith("u") else -100
    return one(
        Fn(function), (torch.randint(low, 100, (4, 6)).to(dtype), torch.randint(1, 9, (4, 6)).to(dtype))
    )


def _unsigned(name: str) -> Case:
    dtype = getattr(torch, name)
    x = torch.tensor([[0, 1, 2**15 + 3], [5, 2**16 - 1, 7]]).to(dtype)
    return one(
        Fn(lambda x: (x.to(torch.int64), x.to(torch.float32), x.view(3, 2), x.clone())), (x,), edge=UNCHECKED
    )


def _of(dtype: torch.dtype, function: Callable[..., object], *shape: int) -> Case:
    return one(Fn(function), (torch.randn(shape).to(dtype),), tolerance=tolerance_of(dtype))


def _image(dtype: torch.dtype) -> Case:
    return one(image_network(dtype), (torch.randn(1, 3, 8, 8).to(dtype),), tolerance=tolerance_of(dtype))


def _mixed() -> Case:
    floats = torch.randn(3, 4)
    inputs = (torch.randint(-9, 9, (3, 4)), floats, floats.half(), floats > 0)
    return one(Fn(mixed), inputs, tolerance=tolerance_of(torch.float16))


def _complex() -> Case:
    x = torch.randn(3, 4, dtype=torch.complex64)
    return one(Fn(lambda x, y: (x + y, x * y)), (x, x.flip(0)), edge=UNCHECKED)


def _attention(dtype: torch.dtype) -> Case:
    inputs = tuple(torch.randn(1, 2, 6, 8).to(dtype) for _ in range(3))
    return one(Fn(functional.scaled_dot_product_attention), inputs, tolerance=tolerance_of(dtype))


CASES: dict[str, Callable[[], Case]] = {
    **{f"arithmetic_{name}": lambda name=name: _integers(name, integer_arithmetic) for name in INTEGERS},
    **{f"shapes_{name}": lambda name=name: _integers(name, integer_shapes) for name in ("int16", "uint8")},
    **{f"unsigned_{name}": lambda name=name: _unsigned(name) for name in ("uint16", "uint32")},
    "conversions": lambda: one(Fn(conversions), (torch.randn(3, 5) * 50,)),
    "conversions_from_int": lambda: one(Fn(conversions), (torch.randint(-99, 99, (3, 5)),)),
    "mixed": _mixed,
    "complex": _complex,
    "image_float16": lambda: _image(torch.float16),
    "image_bfloat16": lambda: _image(torch.bfloat16),
    "image_float64": lambda: _image(torch.float64),
    "activations_float16": lambda: _of(torch.float16, activations, 3, 7),
    "activations_bfloat16": lambda: _of(torch.bfloat16, activations, 3, 7),
    "functions_float64": lambda: _of(torch.float64, functions, 3, 7),
    "functions_float16": lambda: _of(torch.float16, functions, 3, 7),
    "attention_float16": lambda: _attention(torch.float16),
    "attention_bfloat16": lambda: _attention(torch.bfloat16),
}
