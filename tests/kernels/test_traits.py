# SPDX-License-Identifier: BSD-3-Clause
"""The promises of operator table rows on dim orders and views (TRAITS of rushlight.codegen.table), on tensors
of rank 4. Calls of PyTorch's own samples are in opinfo/replay.py."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from rushlight.codegen.table import load_table
from rushlight.export.dialect import integers
from rushlight.integers.rules.images import positions
from rushlight.integers.rules.norm import fixed_point
from support.harness import Kernels, assert_equal, poison, random_tensor, with_dim_order

TABLE = load_table(Path(__file__).parents[2] / "kernels" / "ops.yaml")
NCHW, NHWC = [0, 1, 2, 3], [0, 2, 3, 1]
ORDERS = [NCHW, NHWC, [0, 2, 1, 3], [3, 2, 1, 0]]

X = random_tensor((2, 8, 6, 5), torch.float32, low=-4, high=4)
Y = random_tensor((2, 8, 6, 5), torch.float32, low=1, high=4, seed=1)
BYTES = (X * 20).to(torch.int8)
WEIGHT, BIAS = random_tensor((8, 8, 3, 3), torch.float32), random_tensor((8,), torch.float32)
CONVOLUTION = (WEIGHT, BIAS, [1, 1], [1, 1], [1, 1], False, [0, 0], 1)
BYTE_WEIGHT = (WEIGHT * 20).to(torch.int8)
ONE_SCALE = torch.tensor([1 << 30], dtype=torch.int32), torch.tensor([-8], dtype=torch.int8)
TO = "single", -5, -100, 127
NORM = fixed_point(np.linspace(-40, 50, 8), np.linspace(-30, 20, 8))
assert NORM is not None
SCALE, ZERO = torch.tensor([0.05], dtype=torch.float64), torch.tensor([3])

# The arguments of each row: the first one, and a residual, have the dim order of the result.
KEEP_ORDER: dict[str, tuple[Any, ...]] = {
    "aten::_adaptive_avg_pool2d.out": (X, [3, 2]),
    "aten::adaptive_avg_pool2d.out": (X, [3, 2]),
    "aten::avg_pool2d.out": (X, [2, 2], [2, 2]),
    "aten::convolution.out": (X, *CONVOLUTION),
    "aten::max_pool2d_with_indices.out": (X, [2, 2]),
    "rushlight::max_pool2d.out": (X, [2, 2]),
    "aten::upsample_bilinear2d.out": (X, [12, 7], False),
    "aten::upsample_bilinear2d.vec_out": (X, None, False, [2.0, 1.5]),
    "aten::upsample_nearest2d.out": (X, [12, 7]),
    "aten::upsample_nearest2d.vec_out": (X, None, [2.0, 1.5]),
}
# The same for operators without an out overload in PyTorch, with the dtype of the result.
OWN_KEEP_ORDER: dict[str, tuple[tuple[Any, ...], torch.dtype]] = {
    "quantized_decomposed::dequantize_per_tensor.out": (
        (BYTES, 0.05, 3, -128, 127, torch.int8, None),
        torch.float32,
    ),
    "quantized_decomposed::dequantize_per_tensor.Tensor_out": (
        (BYTES, SCALE, ZERO, -128, 127, torch.int8, None),
        torch.float32,
    ),
    "quantized_decomposed::quantize_per_tensor.out": ((X, 0.05, 3, -128, 127, torch.int8), torch.int8),
    "quantized_decomposed::quantize_per_tensor.Tensor_out": (
        (X, SCALE, ZERO, -128, 127, torch.int8),
        torch.int8,
    ),
    "rushlight::convolution_act.out": ((X, *CONVOLUTION, Y, "clamp", -1.0, 6.0), torch.float32),
    "rushlight::convolution_act.clamp_out": ((X, *CONVOLUTION, Y, -1.0, 6.0), torch.float32),
    "rushlight::quantized_adaptive_avg_pool2d.out": ((BYTES, 3, [6, 5], *ONE_SCALE, *TO), torch.int8),
    "rushlight::quantized_avg_pool2d.out": (
        (BYTES, 3, [3, 3], [1, 1], [1, 1], False, True, None, *ONE_SCALE, *TO),
        torch.int8,
    ),
    "rushlight::quantized_convolution.out": (
        (BYTES, 3, BYTE_WEIGHT, None, *ONE_SCALE, [1, 1], [1, 1], [1, 1], False, [0, 0], 1, *TO),
        torch.int8,
    ),
    "rushlight::quantized_curve.out": (
        (BYTES.to(torch.int16), torch.arange(8, dtype=torch.int32).reshape(2, 4), -128, 127, torch.int8),
        torch.int8,
    ),
    "rushlight::quantized_group_norm.out": (
        (BYTES, torch.from_numpy(NORM[0]), torch.from_numpy(NORM[1]), 2, 5, 2, *NORM[2:], *TO[1:]),
        torch.int8,
    ),
    "rushlight::quantized_interpolate2d.out": (
        (
            BYTES,
            3,
            *(torch.from_numpy(positions(size, size, False, 1.3)) for size in X.shape[2:]),
            ONE_SCALE[0],
            torch.tensor([-21], dtype=torch.int8),
            *TO,
        ),
        torch.int8,
    ),
    "rushlight::quantized_lookup.out": ((BYTES, torch.arange(256).to(torch.int8)), torch.int8),
}
POINTWISE: dict[str, tuple[Any, ...]] = {
    "aten::_to_copy.out": (BYTES,),
    "aten::floor_divide.Scalar_out": (X, 3),
    "aten::floor_divide.out": (X, Y),
    "aten::hardswish.out": (X,),
    "aten::native_dropout.out": (X, 0.5, False),
    "rushlight::quantized_add.out": (
        BYTES,
        (Y * 20).to(torch.int8),
        1 << 20,
        -(1 << 19),
        1 << 20,
        21,
        *TO[1:],
    ),
    "rushlight::quantized_div.out": (BYTES, 3, (Y * 20).to(torch.int8), -5, 1 << 30, 0, *TO[1:]),
    "rushlight::quantized_mul.out": (BYTES, 3, (Y * 20).to(torch.int8), -5, *ONE_SCALE, *TO),
}
READ_ANY_ORDER: dict[str, tuple[Any, ...]] = {
    "aten::amax.out": (X, [2, 3], True),
    "aten::amin.out": (X, [1]),
    "aten::mean.dtype_out": (Y,),
    "aten::mean.out": (Y, [2, 3], True),
    "aten::sum.IntList_out": (Y, [2]),
    "aten::sum.out": (Y,),
    "rushlight::quantized_mean.out": (BYTES, 3, [2, 3], True, *ONE_SCALE, *TO),
}
MEAN, VARIANCE = X.mean((0, 2, 3)), X.var((0, 2, 3))
# The result has the dim order of the inputs of its rank; also in other orders than theirs.
FOLLOW_ORDER: dict[str, tuple[Any, ...]] = {
    "aten::_native_batch_norm_legit.no_stats_out": (X, BIAS, BIAS + 1, True, 0.1, 1e-5),
    "aten::_native_batch_norm_legit_no_training.out": (X, BIAS, BIAS + 1, MEAN, VARIANCE, 0.1, 1e-5),
    "aten::cat.out": ([X, Y, X[:, :3]], 1),
    "aten::channel_shuffle.out": (X, 4),
    "aten::constant_pad_nd.out": (X, [1, 0, 2, -1], 0.5),
    "aten::flip.out": (X, [1, 3]),
    "aten::native_group_norm.out": (X, BIAS, BIAS + 1, 2, 8, 30, 4, 1e-5),
    "aten::pixel_shuffle.out": (X, 2),
    "aten::pixel_unshuffle.out": (X[..., :4], 2),
    "aten::reflection_pad2d.out": (X, [1, 2, 3, 0]),
    "aten::replication_pad2d.out": (X, [1, 2, 3, 0]),
    "aten::roll.out": (X, [3, -1], [1, 2]),
    "aten::slice_copy.Tensor_out": (X, 1, 1, 7, 2),
    "aten::split_copy.Tensor_out": (X, 3, 1),
    "aten::split_with_sizes_copy.out": (X, [1, 5, 2], 1),
}
ANY_ORDER: dict[str, tuple[Any, ...]] = {
    "aten::scaled_dot_product_attention.out": (X, Y[:, :, :4], Y[:, :, 2:]),
}
VIEWS: dict[str, tuple[Any, ...]] = {
    "aten::squeeze_copy.dim_out": (X[:, :1], 1),
    "aten::squeeze_copy.dims_out": (X[:, :1], [0, 1]),
    "aten::squeeze_copy.out": (X[:, :1],),
    "aten::unsqueeze_copy.out": (X, 2),
    "aten::view_copy.out": (X, [4, 3, -1]),
}


@pytest.mark.parametrize(
    ("trait", "samples"),
    [
        ("keeps_order", KEEP_ORDER | OWN_KEEP_ORDER),
        ("pointwise", POINTWISE),
        ("reads_any_order", READ_ANY_ORDER),
        ("any_order", ANY_ORDER),
        ("follows_order", FOLLOW_ORDER),
        ("view", VIEWS),
    ],
)
def test_each_row_with_a_trait_is_called_here(trait: str, samples: dict[str, Any]) -> None:
    assert {name for name, row in TABLE.operators.items() if trait in row.traits} == samples.keys()


def test_rows_that_draw_are_those_that_pytorch_seeds() -> None:
    """All but operators whose function draws only if an argument says so: for torch, both are seeded."""
    seeded = set()
    for name in TABLE.operators:
        base, _, overload = name.removeprefix("aten::").partition(".")
        function = getattr(getattr(torch.ops.aten, base, None), overload or "default", None)
        if name.startswith("aten::") and function is not None:
            tags = {tag for each in (base, f"{base}_") for tag in tags_of(each)} | set(function.tags)
            seeded |= {name} if torch.Tag.nondeterministic_seeded in tags else set()
    draws = {name for name, row in TABLE.operators.items() if "draws" in row.traits}
    assert seeded == draws


def test_an_argument_that_a_call_changes_in_part_is_not_the_last_one_before_the_results() -> None:
    """Hosts tell results, which are written as a whole and end a signature, from caches."""
    for name, row in TABLE.operators.items():
        positional = row.schema.text.split(", *,")[0].split("->")[0]
        assert "!" not in positional.rpartition(", ")[2], f"{name}: add the argument before another one"


def tags_of(base: str) -> set[torch.Tag]:
    """The tags of all overloads of an operator: PyTorch tags the functional ones."""
    packet = getattr(torch.ops.aten, base, None)
    return (
        set()
        if packet is None
        else {tag for each in packet.overloads() for tag in getattr(packet, each).tags}
    )


def in_order(value: Any, order: list[int]) -> Any:
    if isinstance(value, list):
        return [in_order(each, order) for each in value]
    is_image = isinstance(value, torch.Tensor) and value.dim() == 4
    return with_dim_order(value.contiguous(), order) if is_image else value


def definition(name: str) -> Any:
    """The definition of an operator that PyTorch lacks; None for PyTorch's operators."""
    return integers.overload(name.removesuffix(".out")) if name.startswith("rushlight::") else None


@pytest.mark.parametrize("weight_order", [NCHW, NHWC], ids=["", "weight_last"])
@pytest.mark.parametrize("name", KEEP_ORDER)
def test_a_result_has_the_order_of_the_first_input(
    kernels: Kernels, name: str, weight_order: list[int]
) -> None:
    arguments = [in_order(v, weight_order if v is WEIGHT else NHWC) for v in KEEP_ORDER[name]]
    kernels.check(name, *arguments, out_dim_order=NHWC, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("weight_order", [NCHW, NHWC], ids=["", "weight_last"])
@pytest.mark.parametrize("name", OWN_KEEP_ORDER)
def test_a_result_is_the_same_in_the_order_of_the_first_input(
    kernels: Kernels, name: str, weight_order: list[int]
) -> None:
    given, dtype = OWN_KEEP_ORDER[name]
    plain, last = (poison(with_dim_order(torch.empty(X.shape, dtype=dtype), order)) for order in (NCHW, NHWC))
    kernels.run(name, [*given, plain])
    arguments = [in_order(v, weight_order if v is WEIGHT else NHWC) for v in given]
    for variant in kernels.variants(name):
        kernels.run(name, [*arguments, poison(last)], variant=variant)
        assert_equal(last, plain, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("order", ORDERS, ids=str)
@pytest.mark.parametrize("name", POINTWISE)
def test_a_result_of_elements_has_their_order(kernels: Kernels, name: str, order: list[int]) -> None:
    arguments = [in_order(value, order) for value in POINTWISE[name]]
    kernels.check(name, *arguments, eager=definition(name), out_dim_order=order)


@pytest.mark.parametrize("order", ORDERS, ids=str)
@pytest.mark.parametrize("name", READ_ANY_ORDER)
def test_inputs_are_read_in_any_order(kernels: Kernels, name: str, order: list[int]) -> None:
    arguments = [in_order(value, order) for value in READ_ANY_ORDER[name]]
    kernels.check(name, *arguments, eager=definition(name), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("given", "out"), list(itertools.product(ORDERS, ORDERS)), ids=str)
@pytest.mark.parametrize("name", FOLLOW_ORDER)
def test_a_result_follows_any_order(kernels: Kernels, name: str, given: list[int], out: list[int]) -> None:
    arguments = [in_order(value, given) for value in FOLLOW_ORDER[name]]
    if name == "aten::cat.out":
        arguments[0][1] = in_order(arguments[0][1], out)
    results = eager_results(name, FOLLOW_ORDER[name])
    outs = [
        poison(with_dim_order(torch.empty_like(each), out))
        if each.dim() == 4
        else poison(torch.empty_like(each))
        for each in results
    ]
    for variant in kernels.variants(name):
        kernels.run(name, [*arguments, *([outs] if "split" in name else outs)], variant=variant)
        for result, expected in zip(outs, results, strict=True):
            assert_equal(result, expected, rtol=1e-5, atol=1e-5)


def eager_results(name: str, arguments: list[Any]) -> list[torch.Tensor]:
    """PyTorch's results, row-major."""
    base, _, overload = name.removeprefix("aten::").partition(".")
    packet = getattr(torch.ops.aten, base)
    overload = overload.removesuffix("_out").removesuffix("out") or "default"
    results = getattr(packet, overload)(*arguments)
    return [each.contiguous() for each in (results if isinstance(results, (tuple, list)) else [results])]


@pytest.mark.parametrize(("given", "out"), list(itertools.product(ORDERS, ORDERS)), ids=str)
@pytest.mark.parametrize("name", ANY_ORDER)
def test_each_tensor_has_its_own_order(kernels: Kernels, name: str, given: list[int], out: list[int]) -> None:
    query, *others = ANY_ORDER[name]
    arguments = [in_order(query, given), *(in_order(other, out) for other in others)]
    kernels.check(name, *arguments, out_dim_order=out, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", VIEWS)
def test_a_view_has_the_elements_of_its_input_in_their_order(kernels: Kernels, name: str) -> None:
    source, *rest = VIEWS[name]
    source = source.contiguous()
    kernels.check(name, source, *rest, eager=lambda x, *_: x.reshape(viewed(name, x, rest)))


def viewed(name: str, x: torch.Tensor, rest: list[Any]) -> torch.Size:
    """The result's sizes in PyTorch."""
    packet = getattr(torch.ops.aten, name.removeprefix("aten::").partition(".")[0])
    result: torch.Tensor = packet(x, *rest)
    return result.shape
