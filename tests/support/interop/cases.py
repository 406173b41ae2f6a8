# SPDX-License-Identifier: BSD-3-Clause
"""The cases of tests/interop: the network, inputs and settings of each program."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import executorch.kernels.quantized  # noqa: F401  has the out variants of quantized operators
import torch
from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (
    XNNPACKQuantizer,
    get_symmetric_quantization_config,
)
from executorch.exir import ExecutorchBackendConfig
from torch import Tensor, nn
from torch.nn import functional
from torchao.quantization import Int8DynamicActivationIntxWeightConfig, PerGroup, quantize_
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

from support.interop import cortex_m, llama, models
from support.interop.models import Fn
from support.interop.official import INT8_TOLERANCE, Arguments, Case, Entry, one, tolerance_of

QUANTIZED_NOTE = (
    "PT2E static int8 (XNNPACKQuantizer): q/dq graph, and its XNNPACK lowering; expected is the converted "
    "graph in eager"
)


def quantize_int8(module: nn.Module, example: Arguments, *, is_dynamic: bool = False) -> nn.Module:
    """int8, weights per channel, static ranges calibrated on the example and normal noise."""
    config = get_symmetric_quantization_config(is_per_channel=True, is_dynamic=is_dynamic)
    quantizer = XNNPACKQuantizer().set_global(config)
    prepared = prepare_pt2e(module, quantizer)
    prepared(*example)
    for _ in range(7):
        prepared(*[torch.randn_like(value) if value.is_floating_point() else value for value in example])
    return convert_pt2e(prepared, fold_quantize=True)


def arithmetic(a: Tensor, b: Tensor) -> tuple[Tensor, ...]:
    return a + b, a * b, a > b, a.sum(1), torch.where(a > b, a, b)


def logic(a: Tensor, b: Tensor) -> tuple[Tensor, ...]:
    return a & b, a | b, ~a, a ^ b, a.any(1), a.all()


def double_mm(a: Tensor, b: Tensor) -> tuple[Tensor, ...]:
    return a @ b, a.exp(), a.softmax(-1), functional.gelu(a)


def softmaxes(x: Tensor) -> tuple[Tensor, Tensor]:
    return x.softmax(-1), x.log_softmax(-1)


def pair(dtype: torch.dtype, shape: tuple[int, ...] = (4, 6)) -> tuple[Tensor, Tensor]:
    """Two tensors of small values."""
    if dtype is torch.bool:
        return torch.rand(shape) > 0.5, torch.rand(shape) > 0.5
    if dtype.is_floating_point:
        return torch.randn(shape, dtype=torch.float64).to(dtype), torch.randn(shape).to(dtype)
    return torch.randint(0, 5, shape).to(dtype), torch.randint(0, 5, shape).to(dtype)


def _model(module: nn.Module, *shape: int, **settings: Any) -> Case:
    models.with_statistics(module)
    return one(module, (torch.randn(shape),), xnnpack=True, **settings)


def _int8(module: nn.Module, *shape: int) -> Case:
    return _model(module, *shape, tolerance=INT8_TOLERANCE, note=QUANTIZED_NOTE, prepare=quantize_int8)


def _delegated(module: nn.Module, *shape: int, **settings: Any) -> Case:
    """Two calls, the second one with larger values."""
    models.with_statistics(module)
    return one(module, (torch.randn(shape),), (3 * torch.randn(shape),), delegated=True, **settings)


def _few_bits(module: nn.Module) -> nn.Module:
    """int8 activations with dynamic ranges, and weights of 4 bits in groups of 32."""
    config = Int8DynamicActivationIntxWeightConfig(
        weight_dtype=torch.int4, weight_granularity=PerGroup(32), intx_packing_format="unpacked_to_int8"
    )
    quantize_(module, config)
    return module


def _dtype(dtype: torch.dtype) -> Case:
    function = logic if dtype is torch.bool else arithmetic
    return one(Fn(function), pair(dtype), tolerance=tolerance_of(dtype))


def _double(function: Callable[..., Any], *shape: int) -> Case:
    tolerance = tolerance_of(torch.float64)
    return one(Fn(function), pair(torch.float64, shape or (4, 6)), tolerance=tolerance)


def _low_precision(dtype: torch.dtype) -> Case:
    return one(
        models.low_precision_mlp(dtype), (torch.randn(4, 16).to(dtype),), tolerance=tolerance_of(dtype)
    )


def _batches() -> Case:
    return one(
        models.mlp(16, 32, 8),
        *[(torch.randn(batch, 16),) for batch in (4, 1, 64)],
        dynamic_shapes=({0: torch.export.Dim("batch", min=1, max=64)},),
    )


def _sequences() -> Case:
    return one(
        models.SequenceAttention(),
        *[(torch.randint(0, 50, (1, length)),) for length in (7, 2, 32)],
        dynamic_shapes=({1: torch.export.Dim("length", min=2, max=32)},),
    )


def _channels_last() -> Case:
    image = torch.randn(1, 3, 8, 8).to(memory_format=torch.channels_last)
    return one(nn.Conv2d(3, 8, 3).to(memory_format=torch.channels_last), (image,))


def _kv_cache() -> Case:
    tokens = [tuple(torch.randn(1, 2, 1, 4) for _ in range(3)) for _ in range(6)]
    return one(models.KvCache(), *[(*token, torch.tensor([i])) for i, token in enumerate(tokens)])


def _counter() -> Case:
    x = torch.randn(3)
    return one(models.Counter(), *[(x,)] * 4)


def _two_methods() -> Case:
    layer = nn.Linear(4, 4)
    inputs = [torch.randn(2, 4) for _ in range(3)]
    return Case(
        {
            "encode": Entry(models.SharedLinear(layer, False), [(inputs[0],)]),
            "decode": Entry(models.SharedLinear(layer, True), [(inputs[1], inputs[2])]),
        },
        constant_methods={"get_vocab": 123, "get_name": "hello", "get_eps": 1e-5, "get_flag": True},
        note="two methods sharing weights, and constant methods",
    )


def _external() -> Case:
    return one(
        models.mlp(16, 32, 8),
        (torch.randn(4, 16),),
        backend=lambda: ExecutorchBackendConfig(external_constants=True),
    )


def _lists_and_dicts() -> Case:
    named = {"a": torch.randn(2), "b": torch.randn(2)}
    return one(models.ListsAndDicts(), ([torch.randn(2, 3), torch.randn(1, 3)], named))


DTYPES = ("bool", "uint8", "int8", "int32", "int64", "float16", "bfloat16", "float64")
NEGATIVE_INFINITY = [[0.0, -torch.inf], [88.0, -88.0], [1e4, 1e4]]

CASES: dict[str, Callable[[], Case]] = {
    "model_mlp": lambda: _model(models.mlp(784, 256, 10), 1, 784),
    "model_dscnn": lambda: _model(models.DsCnn(), 1, 1, 49, 10),
    "model_resnet8": lambda: _model(models.ResNet8(), 1, 3, 32, 32),
    "model_dscnn_int8": lambda: _int8(models.DsCnn(), 1, 1, 49, 10),
    "model_resnet8_int8": lambda: _int8(models.ResNet8(), 1, 3, 32, 32),
    "delegated_cnn": lambda: _delegated(models.small_cnn(), 1, 3, 12, 12),
    "delegated_cnn_int8": lambda: _delegated(
        models.small_cnn()[:-1], 1, 3, 12, 12, prepare=quantize_int8, tolerance=0
    ),
    "delegated_mlp_dynamic": lambda: _delegated(
        models.mlp(40, 24, 7), 3, 40, prepare=partial(quantize_int8, is_dynamic=True)
    ),
    "delegated_linear_4bit": lambda: _delegated(_few_bits(nn.Linear(64, 10)), 3, 64),
    "bf16_mlp": lambda: _low_precision(torch.bfloat16),
    "half_mlp": lambda: _low_precision(torch.float16),
    "bilinear_pixelshuffle": lambda: one(Fn(models.enlarge), (torch.randn(1, 4, 8, 8),)),
    "channels_last_conv": _channels_last,
    "const_out": lambda: one(models.ConstantOutput(), (torch.randn(3),)),
    "dynamic_mlp": _batches,
    "dynamic_seq": _sequences,
    "external_ptd": _external,
    "gru": lambda: one(nn.GRU(8, 16, batch_first=True), (torch.randn(1, 5, 8),)),
    "i64_scalar_big": lambda: one(Fn(models.big_scalars), (torch.tensor([1, 2**60 + 7, 3, -5]),)),
    "index_put_gather": lambda: one(
        Fn(models.index_and_gather), (torch.randn(5, 5), torch.tensor([0, 2, 4]))
    ),
    "kv_cache_renamed": _kv_cache,
    "list_dict_inputs": _lists_and_dicts,
    "list_split_cat": lambda: one(Fn(models.split_and_stack), (torch.randn(3, 4), torch.randn(3, 4))),
    "multi_method": _two_methods,
    "mutable_counter": _counter,
    "optional_none": lambda: one(models.OptionalInputs(), (torch.randn(3), None, 3)),
    "scalar0d": lambda: one(Fn(lambda x: x * 2 + 1), (torch.tensor(3.0),)),
    "scan": lambda: one(models.DecayingSum(), (torch.randn(3), torch.randn(5, 3))),
    "sort_topk": lambda: one(Fn(models.sort_and_sum), (torch.randn(5, 8),)),
    "cond_sum": lambda: one(Fn(models.cond_sum), (torch.ones(3, 4),), (-torch.ones(3, 4),)),
    "softplus": lambda: one(nn.Softplus(), (torch.randn(1, 4),)),
    "softmax_neginf": lambda: one(Fn(softmaxes), (torch.tensor(NEGATIVE_INFINITY),)),
    "f64_add": lambda: _double(torch.add),
    "f64_mul": lambda: _double(torch.mul),
    "f64_mm": lambda: _double(double_mm, 6, 6),
    "f64_sum": lambda: _double(lambda a, b: a.sum(1)),
    "f64_where": lambda: _double(lambda a, b: torch.where(a > b, a, b)),
    **{f"dtype_{name}": lambda name=name: _dtype(getattr(torch, name)) for name in DTYPES},
    **cortex_m.CASES,
    **llama.CASES,
}
