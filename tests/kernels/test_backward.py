# SPDX-License-Identifier: BSD-3-Clause
"""Operators that compute gradients, against torch."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from support.harness import FLOATING, INTEGRAL, Kernels, assert_equal, poison, random_tensor, with_dim_order

# input, weight, and stride, padding, dilation, transposed, output_padding, groups
CONVOLUTIONS: list[tuple[list[int], list[int], list[Any]]] = [
    ([2, 3, 7, 8], [4, 3, 3, 2], [[2, 1], [1, 0], [1, 2], False, [0, 0], 1]),
    ([2, 6, 7, 5], [4, 3, 4, 2], [[1, 2], [1, 0], [2, 1], False, [0, 0], 2]),
    ([1, 4, 9], [4, 1, 3], [[3], [2], [1], False, [0], 4]),
    ([2, 2, 4, 5, 6], [3, 2, 2, 3, 2], [[2, 1, 2], [0, 1, 1], [1, 1, 2], False, [0, 0, 0], 1]),
    ([2, 4, 5, 4], [4, 3, 3, 2], [[2, 3], [1, 0], [1, 2], True, [1, 2], 1]),
    ([2, 4, 5], [4, 3, 3], [[2], [1], [3], True, [2], 2]),
    ([1, 3, 1, 1], [2, 3, 1, 1], [[1, 1], [0, 0], [1, 1], False, [0, 0], 1]),
]


def convolution_case(shapes: tuple[list[int], list[int], list[Any]], dtype: torch.dtype) -> list[Any]:
    input = random_tensor(shapes[0], dtype, low=-1, high=1)
    weight = random_tensor(shapes[1], dtype, low=-1, high=1, seed=1)
    output = torch.convolution(input, weight, None, *shapes[2])
    return [random_tensor(output.shape, dtype, low=-1, high=1, seed=2), input, weight, None, *shapes[2]]


def check_each(kernels: Kernels, name: str, arguments: list[Any], **tolerance: float) -> None:
    """The three gradients at once, and each alone: an unrequested gradient stays unchanged."""
    function = getattr(torch.ops.aten, name)
    expected = function(*arguments, [True] * 3)
    for mask in [[True] * 3, [True, False, False], [False, True, False], [False, False, True]]:
        outs = [poison(torch.empty(value.shape, dtype=value.dtype)) for value in expected]
        asked = [out for out, wanted in zip(outs, mask, strict=True) if wanted]
        kernels.run(f"aten::{name}.out", [*arguments, mask, *outs], dynamic=asked)
        for out, value, wanted in zip(outs, expected, mask, strict=True):
            assert_equal(out, value if wanted else poison(torch.empty_like(value)), **tolerance)


@pytest.mark.parametrize("shapes", CONVOLUTIONS, ids=lambda shapes: str(shapes[0]))
def test_convolution(kernels: Kernels, shapes: Any) -> None:
    check_each(kernels, "convolution_backward", convolution_case(shapes, torch.float32), rtol=1e-4, atol=1e-5)
    check_each(kernels, "convolution_backward", convolution_case(shapes, torch.float64))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_convolution_of_16_bit_floats(kernels: Kernels, dtype: torch.dtype) -> None:
    arguments = convolution_case(CONVOLUTIONS[1], dtype)
    wide = [value.double() if isinstance(value, torch.Tensor) else value for value in arguments]
    expected = torch.ops.aten.convolution_backward(*wide, [True] * 3)
    outs = [torch.empty(value.shape, dtype=dtype) for value in expected]
    kernels.run("aten::convolution_backward.out", [*arguments, [True] * 3, *outs])
    for out, value in zip(outs, expected, strict=True):
        assert_equal(out, value.to(dtype))


def test_convolution_of_no_samples(kernels: Kernels) -> None:
    rest = [None, [1], [0], [1], False, [0], 1, [True] * 3]
    outs = [torch.ones(0, 3, 5), torch.ones(2, 3, 3), torch.ones(2)]
    arguments = [torch.empty(0, 2, 3), torch.empty(0, 3, 5), torch.ones(2, 3, 3), *rest, *outs]
    kernels.run("aten::convolution_backward.out", arguments, dynamic=outs[1:])
    assert all((out == 0).all() for out in outs)


def test_convolution_in_another_dim_order(kernels: Kernels) -> None:
    arguments = convolution_case(CONVOLUTIONS[0], torch.float32)
    moved = [with_dim_order(value, [0, 2, 3, 1]) for value in arguments[:3]]
    check_each(kernels, "convolution_backward", [*moved, *arguments[3:]], rtol=1e-4, atol=1e-5)


def test_convolutions_that_are_refused(kernels: Kernels) -> None:
    name, arguments = "aten::convolution_backward.out", convolution_case(CONVOLUTIONS[0], torch.float32)
    outs = [torch.empty(2, 3, 7, 8), torch.empty(4, 3, 3, 2), torch.empty(4)]
    other = [torch.empty(2, 4, 3, 3), *arguments[1:]]
    assert "grad_output" in kernels.refuse(name, *other, [True] * 3, outs=outs).log[0]
    assert "output_mask" in kernels.refuse(name, *arguments, [True] * 2, outs=outs).log[0]
    assert "groups" in kernels.refuse(name, *arguments[:-1], 0, [True] * 3, outs=outs).log[0]
    integers = [value.int() if isinstance(value, torch.Tensor) else value for value in arguments]
    whole = [out.int() for out in outs]
    assert kernels.refuse(name, *integers, [True] * 3, outs=whole).error == "InvalidType"


@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize(("shape", "rank"), [((4, 3, 5), 1), ((2, 3, 4, 5), 2), ((3, 4), 2), ((0, 3), 1)])
def test_layer_norm(kernels: Kernels, shape: tuple[int, ...], rank: int, dtype: torch.dtype) -> None:
    input, grad = random_tensor(shape, dtype), random_tensor(shape, dtype, seed=1)
    normalized = list(shape[len(shape) - rank :])
    weight, bias = random_tensor(normalized, dtype, seed=2), random_tensor(normalized, dtype, seed=3)
    _, mean, rstd = torch.native_layer_norm(input, normalized, weight, bias, 1e-5)
    tolerance = {"rtol": 2e-2, "atol": 2e-2} if dtype.itemsize == 2 else {"rtol": 1e-5, "atol": 2e-5}
    arguments = [grad, input, normalized, mean, rstd, weight, bias]
    check_each(kernels, "native_layer_norm_backward", arguments, **tolerance)


def test_layer_norm_without_weight_and_with_those_of_float32(kernels: Kernels) -> None:
    input, grad = random_tensor((4, 5), torch.float32), random_tensor((4, 5), torch.float32, seed=1)
    _, mean, rstd = torch.native_layer_norm(input, [5], None, None, 1e-5)
    ones = torch.ones(5)
    arguments = [grad, input, [5], mean, rstd]
    expected = torch.ops.aten.native_layer_norm_backward(*arguments, ones, ones, [True] * 3)
    outs = [torch.empty_like(value) for value in expected]
    kernels.run("aten::native_layer_norm_backward.out", [*arguments, None, None, [True] * 3, *outs])
    for out, value in zip(outs, expected, strict=True):
        assert_equal(out, value, rtol=1e-5, atol=1e-5)
    weights = [ones * 2, ones]
    halves = [grad.half(), input.half(), [5], mean, rstd, *weights]
    check_each(kernels, "native_layer_norm_backward", halves, rtol=2e-2, atol=2e-2)


@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize(
    ("shape", "groups"), [((2, 6, 5), 3), ((3, 4, 2, 3), 1), ((2, 8), 4), ((2, 4, 3), 2)]
)
def test_group_norm(kernels: Kernels, shape: tuple[int, ...], groups: int, dtype: torch.dtype) -> None:
    input, grad = random_tensor(shape, dtype), random_tensor(shape, dtype, seed=1)
    weight = random_tensor((shape[1],), dtype, seed=2)
    size = [shape[0], shape[1], torch.Size(shape[2:]).numel(), groups]
    _, mean, rstd = torch.native_group_norm(input, weight, None, *size, 1e-5)
    tolerance = {"rtol": 5e-2, "atol": 5e-2} if dtype.itemsize == 2 else {"rtol": 2e-5, "atol": 3e-5}
    check_each(kernels, "native_group_norm_backward", [grad, input, mean, rstd, weight, *size], **tolerance)


def test_norms_in_another_dim_order(kernels: Kernels) -> None:
    input, grad = (
        random_tensor((2, 6, 4, 5), torch.float32),
        random_tensor((2, 6, 4, 5), torch.float32, seed=1),
    )
    weight = random_tensor((6,), torch.float32, seed=2)
    moved = [with_dim_order(grad, [0, 2, 3, 1]), with_dim_order(input, [1, 0, 3, 2])]
    _, mean, rstd = torch.native_group_norm(input, None, None, 2, 6, 20, 3, 1e-5)
    group = ("native_group_norm_backward", [mean, rstd, weight, 2, 6, 20, 3])
    ones = torch.ones(4, 5)
    _, mean, rstd = torch.native_layer_norm(input, [4, 5], None, None, 1e-5)
    for name, rest in [group, ("native_layer_norm_backward", [[4, 5], mean, rstd, ones, ones])]:
        expected = getattr(torch.ops.aten, name)(grad, input, *rest, [True] * 3)
        outs = [torch.empty(value.shape) for value in expected]
        kernels.run(f"aten::{name}.out", [*moved, *rest, [True] * 3, *outs])
        for out, value in zip(outs, expected, strict=True):
            assert_equal(out, value, rtol=2e-5, atol=3e-5)


@pytest.mark.parametrize("dtype", [torch.bool, torch.int32, torch.int8, *FLOATING])
@pytest.mark.parametrize("index_dtype", [torch.int32, torch.int64])
def test_embedding(kernels: Kernels, dtype: torch.dtype, index_dtype: torch.dtype) -> None:
    indices = torch.tensor([[1, 3, 1], [0, 4, 1]], dtype=index_dtype)
    grad = random_tensor((2, 3, 4), dtype)
    tolerance = {"rtol": 1e-2, "atol": 1e-2} if dtype.itemsize == 2 else {}
    name = "aten::embedding_dense_backward.out"
    kernels.check(name, grad, indices, 5, -1, False, **tolerance)
    kernels.check(name, grad, indices, 6, 3, False, **tolerance)
    if dtype.is_floating_point:
        kernels.check(name, grad, indices, 5, -1, True, **tolerance)
    kernels.check(name, grad[:0], indices[:0], 5, -1, False)


def test_embeddings_that_are_refused(kernels: Kernels) -> None:
    name, out = "aten::embedding_dense_backward.out", torch.empty(2, 4)
    kernels.refuse(name, torch.ones(3, 4), torch.tensor([0, 2, 1]), 2, -1, False, outs=[out])
    kernels.refuse(name, torch.ones(3, 4), torch.tensor([0, -2, 1]), 2, -1, False, outs=[out])
    assert (
        "grad_output"
        in kernels.refuse(name, torch.ones(2, 4), torch.tensor([0, 1, 1]), 2, -1, False, outs=[out]).log[0]
    )


@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize("dim", [0, -1])
def test_softmax(kernels: Kernels, dtype: torch.dtype, dim: int) -> None:
    grad, values = random_tensor((3, 4, 5), dtype), random_tensor((3, 4, 5), dtype, seed=1)
    tolerance = {torch.float16: 5e-3, torch.bfloat16: 4e-2, torch.float32: 3e-6}.get(dtype, 1e-12)
    for name, output in [("_softmax", values.softmax(dim)), ("_log_softmax", values.log_softmax(dim))]:
        function = getattr(torch.ops.aten, f"{name}_backward_data")
        expected = function(grad, output, dim, dtype)
        out = torch.empty_like(expected)
        kernels.run(f"aten::{name}_backward_data.out", [grad, output, dim, dtype, out], dynamic=[out])
        assert_equal(out, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize(
    "shapes", [([1, 6, 1], [2, 1, 3]), ([2, 3], [3, 2]), ([1, 3], [3]), ([1, 3], [2, 3])]
)
def test_softmax_of_unequal_shapes_is_refused(kernels: Kernels, shapes: tuple[list[int], list[int]]) -> None:
    for grad, output in [shapes, shapes[::-1]]:
        for name in ["_softmax", "_log_softmax"]:
            arguments = [torch.ones(grad), torch.ones(output), 0, torch.float32]
            refused = kernels.refuse(f"aten::{name}_backward_data.out", *arguments, outs=[torch.ones(grad)])
            assert refused.error == "InvalidArgument" and "same shape" in refused.log[0]


def test_softmax_of_no_dimension_and_of_nothing(kernels: Kernels) -> None:
    for grad in [torch.tensor(2.0), torch.empty(2, 0)]:
        out = torch.empty_like(grad)
        kernels.run("aten::_softmax_backward_data.out", [grad, grad, -1, torch.float32, out])
        assert_equal(out, torch.ops.aten._softmax_backward_data(grad, grad, -1, torch.float32))


@pytest.mark.parametrize("dtype", FLOATING)
def test_activations(kernels: Kernels, dtype: torch.dtype) -> None:
    grad, values = random_tensor((7, 9), dtype), random_tensor((7, 9), dtype, seed=1)
    tolerance = {"rtol": 1e-2, "atol": 1e-2} if dtype.itemsize == 2 else {"rtol": 5e-6, "atol": 1e-6}
    if dtype == torch.float64:
        tolerance = {}
    kernels.check("aten::gelu_backward.grad_input", grad, values, **tolerance)
    kernels.check("aten::gelu_backward.grad_input", grad, values, approximate="tanh", **tolerance)
    kernels.check("aten::threshold_backward.grad_input", grad, values, 0.5)
    kernels.check("aten::native_dropout_backward.out", grad, values > 0, 1.25, **tolerance)


@pytest.mark.parametrize("dtype", [torch.bool, *INTEGRAL])
def test_gradients_of_integers_are_floating(kernels: Kernels, dtype: torch.dtype) -> None:
    grad, mask = random_tensor((7, 9), dtype), random_tensor((7, 9), torch.bool, seed=1)
    kernels.check("aten::native_dropout_backward.out", grad, mask, 1.25)


def test_what_activations_refuse(kernels: Kernels) -> None:
    ones = torch.ones(3)
    refused = kernels.refuse("aten::gelu_backward.grad_input", ones, ones, approximate="sine", outs=[ones])
    assert "approximate" in refused.log[0]
    assert "mask" in kernels.refuse("aten::native_dropout_backward.out", ones, ones, 2.0, outs=[ones]).log[0]
