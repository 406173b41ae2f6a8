# SPDX-License-Identifier: BSD-3-Clause
"""Quantization without a delegate: PT2E static, dynamic, per channel, and its operators called directly."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (
    XNNPACKQuantizer,
    get_symmetric_quantization_config,
)
from executorch.exir import ExecutorchBackendConfig
from torch import Tensor, nn
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

from support.interop import models
from support.interop.cases import quantize_int8
from support.interop.models import Fn
from support.interop.official import INT8_TOLERANCE, Arguments, Case, one

q = torch.ops.quantized_decomposed


def _pt2e(**settings: Any) -> Callable[[nn.Module, Arguments], nn.Module]:
    """A `prepare` of Case with XNNPACKQuantizer's symmetric configuration."""

    def prepare(module: nn.Module, example: Arguments) -> nn.Module:
        configuration = get_symmetric_quantization_config(**settings)
        quantizer = XNNPACKQuantizer().set_global(configuration)
        prepared = prepare_pt2e(module, quantizer)
        for _ in range(4):
            prepared(*example)
        return convert_pt2e(prepared)

    return prepare


def _net(module: nn.Module, *shape: int, prepare: Any = quantize_int8) -> Case:
    models.with_statistics(module)
    return one(module, (torch.randn(shape),), tolerance=INT8_TOLERANCE, prepare=prepare)


def _convolutions() -> nn.Module:
    first = models.convolution(3, 8, 3, padding=1)
    return nn.Sequential(
        first, nn.MaxPool2d(2), models.convolution(8, 8, 3, groups=8), nn.Flatten(), nn.Linear(32, 4)
    )


class Residual(nn.Module):
    """Additions, multiplication and concatenation of quantized tensors."""

    def __init__(self) -> None:
        super().__init__()
        self.a, self.b = nn.Conv2d(3, 3, 1), nn.Conv2d(3, 3, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        a, b = self.a(x), self.b(x)
        return torch.cat([a + b, a * b], 1).mean((2, 3))


def per_tensor(dtype: torch.dtype) -> Callable[[Tensor], Any]:
    """Quantizes and dequantizes with the whole range of a type."""
    info = torch.iinfo(dtype)

    def function(x: Tensor) -> Any:
        zero = 0 if info.min < 0 else 128
        values = q.quantize_per_tensor(x, 0.05, zero, info.min, min(info.max, 2**31 - 1), dtype)
        back = q.dequantize_per_tensor(values, 0.05, zero, info.min, min(info.max, 2**31 - 1), dtype)
        return values, back

    return function


def per_tensor_tensor(x: Tensor) -> Any:
    scale, zero = q.choose_qparams.tensor(x, -128, 127, 1e-6, torch.int8)
    values = q.quantize_per_tensor.tensor(x, scale, zero, -128, 127, torch.int8)
    return scale, zero, values, q.dequantize_per_tensor.tensor(values, scale, zero, -128, 127, torch.int8)


def per_token(x: Tensor) -> Any:
    scale, zero = q.choose_qparams_per_token_asymmetric(x, torch.int8)
    values = q.quantize_per_token(x, scale, zero, -128, 127, torch.int8)
    return q.dequantize_per_token(values, scale, zero, -128, 127, torch.int8, torch.float32)


def per_channel(x: Tensor) -> Any:
    scales, zeros = torch.linspace(0.01, 0.05, 4), torch.tensor([0, 3, -5, 1])
    values = q.quantize_per_channel(x, scales, zeros, 1, -128, 127, torch.int8)
    return values, q.dequantize_per_channel(values, scales, zeros, 1, -128, 127, torch.int8)


class WeightOnly(nn.Module):
    """A linear layer whose int8 weights are dequantized per channel on each call."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("weight", torch.randint(-8, 7, (6, 16)).to(torch.int8))
        self.register_buffer("scales", torch.rand(6) * 0.1)
        self.register_buffer("zeros", torch.zeros(6, dtype=torch.int64))

    def forward(self, x: Tensor) -> Tensor:
        weight = q.dequantize_per_channel(self.weight, self.scales, self.zeros, 0, -8, 7, torch.int8)
        return nn.functional.linear(x, weight)


class ByteEmbedding(nn.Module):
    """Embedding of int8 rows with one scale for each row."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("weight", torch.randint(-128, 127, (20, 8)).to(torch.int8))
        self.register_buffer("scales", torch.rand(20))

    def forward(self, tokens: Tensor) -> Tensor:
        return q.embedding_byte(self.weight, self.scales, None, -128, 127, tokens)


def _fused(module: nn.Module, *shape: int) -> Case:
    case = _net(module, *shape)
    case.backend = lambda: ExecutorchBackendConfig(do_quant_fusion_and_const_prop=True)
    return case


CASES: dict[str, Callable[[], Case]] = {
    "linear": lambda: _net(models.mlp(16, 8, 4), 2, 16),
    "linear_per_tensor": lambda: _net(models.mlp(16, 8, 4), 2, 16, prepare=_pt2e()),
    "linear_dynamic": lambda: _net(
        models.mlp(16, 8, 4), 2, 16, prepare=_pt2e(is_per_channel=True, is_dynamic=True)
    ),
    "linear_dynamic_per_tensor": lambda: _net(models.mlp(16, 8, 4), 2, 16, prepare=_pt2e(is_dynamic=True)),
    "convolutions": lambda: _net(_convolutions(), 1, 3, 8, 8),
    "convolutions_per_tensor": lambda: _net(_convolutions(), 1, 3, 8, 8, prepare=_pt2e()),
    "residual": lambda: _net(Residual(), 1, 3, 6, 6),
    "fused_add": lambda: _fused(Residual(), 1, 3, 6, 6),
    "per_tensor_int8": lambda: _net(Fn(per_tensor(torch.int8)), 3, 5, prepare=None),
    "per_tensor_uint8": lambda: _net(Fn(per_tensor(torch.uint8)), 3, 5, prepare=None),
    "per_tensor_int16": lambda: _net(Fn(per_tensor(torch.int16)), 3, 5, prepare=None),
    "per_tensor_int32": lambda: _net(Fn(per_tensor(torch.int32)), 3, 5, prepare=None),
    "per_tensor_tensor": lambda: _net(Fn(per_tensor_tensor), 3, 5, prepare=None),
    "per_token": lambda: _net(Fn(per_token), 3, 5, prepare=None),
    "per_channel": lambda: _net(Fn(per_channel), 3, 4, 2, prepare=None),
    "weight_only": lambda: _net(WeightOnly(), 2, 16, prepare=None),
    "embedding_byte": lambda: one(ByteEmbedding(), (torch.tensor([[1, 5, 19]]),)),
}
