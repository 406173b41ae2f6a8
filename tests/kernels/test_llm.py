# SPDX-License-Identifier: BSD-3-Clause
"""Operators of ExecuTorch's language models against its own library, and against torch if it has none."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch

from support.harness import KernelRefused, Kernels, assert_equal, poison, random_tensor, with_dim_order

custom_ops = pytest.importorskip("executorch.extension.llm.custom_ops.custom_ops", exc_type=ImportError)
LLAMA = torch.ops.llama

UPDATE, WITH_INDICES = "llama::update_cache.out", "llama::update_cache_with_indices.out"
SDPA, WITH_CACHE = "llama::custom_sdpa.out", "llama::sdpa_with_kv_cache.out"
QUANTIZED = "llama::custom_quantized_sdpa.out"
HADAMARD = "llama::fast_hadamard_transform.out"
FLOATS = [torch.float32, torch.float16, torch.bfloat16]
# Weights and sums of these operators are rounded at other steps than the official ones.
CLOSE = {
    torch.float32: {"rtol": 2e-5, "atol": 3e-6},
    torch.float16: {"rtol": 4e-3, "atol": 2e-3},
    torch.bfloat16: {"rtol": 2e-2, "atol": 2e-2},
}


def attention_inputs(
    length: int = 3, heads: int = 4, own: int = 2, depth: int = 8, context: int = 16, batch: int = 1
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Queries and a cache of keys and of values."""
    return (
        random_tensor((batch, length, heads, depth), torch.float32, low=-2, high=2, seed=1),
        random_tensor((batch, context, own, depth), torch.float32, low=-2, high=2, seed=2),
        random_tensor((batch, context, own, depth), torch.float32, low=-2, high=2, seed=3),
    )


def mask_of(length: int, context: int) -> torch.Tensor:
    """A mask with finite values, and keys that are masked out."""
    mask = random_tensor((length, context), torch.float32, seed=4)
    return mask.masked_fill(random_tensor((length, context), torch.bool, seed=5), -math.inf)


def refused(kernels: Kernels, name: str, arguments: list[Any]) -> KernelRefused:
    with pytest.raises(KernelRefused) as caught:
        kernels.run(name, arguments)
    return caught.value


# --- caches ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [*FLOATS, torch.int8, torch.int64, torch.float64, torch.bool])
@pytest.mark.parametrize("start", [0, 3, 13])
def test_rows_of_a_cache_are_replaced(kernels: Kernels, dtype: torch.dtype, start: int) -> None:
    value = random_tensor((2, 3, 4, 5), dtype)
    before = random_tensor((2, 16, 4, 5), dtype, seed=1)
    cache, expected, out = before.clone(), before.clone(), poison(torch.empty(1, dtype=dtype))
    LLAMA.update_cache(value, expected, start)
    kernels.run(UPDATE, [value, cache, start, out], dynamic=[out])
    assert torch.equal(cache, expected)
    assert not torch.equal(cache, before)


@pytest.mark.parametrize("start", [-1, 14, 16, 1 << 62, -(1 << 63)])
def test_rows_past_the_end_of_a_cache_are_refused_and_nothing_is_written(
    kernels: Kernels, start: int
) -> None:
    cache = torch.zeros(1, 16, 2, 4)
    error = refused(kernels, UPDATE, [torch.ones(1, 3, 2, 4), cache, start, torch.empty(1)])
    assert error.error == "InvalidArgument"
    assert f"start_pos: expected 0 to 13 (3 positions in a cache of 16), got {start}" in error.log[0]
    assert not cache.any()


@pytest.mark.parametrize(
    ("value", "cache"),
    [((1, 3, 2, 4), (1, 16, 2, 5)), ((1, 3, 2, 4), (2, 16, 2, 4)), ((3, 2, 4), (16, 2, 4))],
)
def test_caches_of_other_sizes_are_refused(
    kernels: Kernels, value: tuple[int, ...], cache: tuple[int, ...]
) -> None:
    refused(kernels, UPDATE, [torch.ones(value), torch.ones(cache), 0, torch.empty(1)])
    indices = torch.zeros(1, 3, dtype=torch.int64)
    refused(kernels, WITH_INDICES, [torch.ones(value), torch.ones(cache), 0, indices, torch.empty(1)])


def test_caches_of_another_dtype_are_refused(kernels: Kernels) -> None:
    value, cache = torch.ones(1, 3, 2, 4, dtype=torch.int32), torch.ones(1, 16, 2, 4)
    assert refused(kernels, UPDATE, [value, cache, 0, torch.empty(1)]).error == "InvalidType"


def test_caches_of_another_dim_order(kernels: Kernels) -> None:
    cache = with_dim_order(torch.zeros(2, 16, 4, 5), [0, 2, 1, 3])
    value = random_tensor((2, 3, 4, 5), torch.float32)
    kernels.run(UPDATE, [value, cache, 7, torch.empty(1)])
    assert torch.equal(cache[:, 7:10], value)
    assert not cache[:, :7].any() and not cache[:, 10:].any()


@pytest.mark.parametrize("dtype", [torch.float32, torch.int8, torch.float64])
@pytest.mark.parametrize("indices", [[[3, 15, 0], [1, 2, 3]], [[5, 5, 5], [0, 1, 0]]])
def test_rows_at_indices(kernels: Kernels, dtype: torch.dtype, indices: list[list[int]]) -> None:
    value, at = random_tensor((2, 3, 4, 5), dtype), torch.tensor(indices)
    cache = random_tensor((2, 16, 4, 5), dtype, seed=1)
    expected, out = cache.clone(), torch.empty(1, dtype=dtype)
    LLAMA.update_cache_with_indices(value, expected, 0, at)
    kernels.run(WITH_INDICES, [value, cache, 100, at, out], dynamic=[out])
    assert torch.equal(cache, expected)


@pytest.mark.parametrize("index", [-1, 16, 1 << 40])
def test_an_index_that_a_cache_does_not_have_is_refused_and_nothing_is_written(
    kernels: Kernels, index: int
) -> None:
    cache = torch.zeros(1, 16, 2, 4)
    at = torch.tensor([[3, 4, index]])
    error = refused(kernels, WITH_INDICES, [torch.ones(1, 3, 2, 4), cache, 0, at, torch.empty(1)])
    assert error.error == "InvalidArgument" and str(index) in error.log[0]
    assert not cache.any()


@pytest.mark.parametrize("at", [torch.zeros(1, 3, dtype=torch.int32), torch.zeros(3, dtype=torch.int64)])
def test_indices_of_another_kind_are_refused(kernels: Kernels, at: torch.Tensor) -> None:
    value, cache = torch.ones(1, 3, 2, 4), torch.zeros(1, 16, 2, 4)
    refused(kernels, WITH_INDICES, [value, cache, 0, at, torch.empty(1)])


# --- attention ------------------------------------------------------------------------------------------


def check_sdpa(
    kernels: Kernels, tensors: tuple[torch.Tensor, ...], start: int, *options: Any, threads: int = 1
) -> None:
    """Compares with the official library, for all variants and for static and dynamic outputs."""
    mask, is_causal, scale = (*options, None, True, None)[: max(len(options), 3)][:3]
    dtype = tensors[0].dtype
    expected = LLAMA.custom_sdpa(*tensors, start, mask, 0.0, is_causal, scale)
    for variant in kernels.variants(SDPA):
        for dynamic in (False, True):
            out = poison(torch.empty_like(tensors[0]))
            arguments = [*tensors, start, mask, 0.0, is_causal, scale, out]
            kernels.run(SDPA, arguments, dynamic=[out] if dynamic else (), variant=variant, threads=threads)
            assert_equal(out, expected, **CLOSE[dtype])


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(("mask", "is_causal"), [(False, True), (False, False), (True, False)])
def test_attention_to_a_cache(kernels: Kernels, dtype: torch.dtype, mask: bool, is_causal: bool) -> None:
    tensors = tuple(tensor.to(dtype) for tensor in attention_inputs(batch=2))
    check_sdpa(kernels, tensors, 5, mask_of(3, 16) if mask else None, is_causal, None)
    check_sdpa(kernels, tensors, 5, mask_of(3, 16) if mask else None, is_causal, 0.2)


@pytest.mark.parametrize("length", [1, 2, 5, 33, 130])
@pytest.mark.parametrize("start", [0, 1, 127, 400])
@pytest.mark.parametrize("heads", [(1, 1), (6, 6), (6, 2), (9, 3)])
def test_lengths_positions_and_groups_of_heads(
    kernels: Kernels, length: int, start: int, heads: tuple[int, int]
) -> None:
    tensors = attention_inputs(length, *heads, depth=16, context=600)
    check_sdpa(kernels, tensors, start, threads=2)


@pytest.mark.parametrize("depth", [1, 7, 64, 100, 128])
def test_depths_of_heads(kernels: Kernels, depth: int) -> None:
    for length in (1, 20):
        check_sdpa(kernels, attention_inputs(length, 4, 2, depth, 64), 11)
        check_sdpa(kernels, attention_inputs(length, 4, 2, depth, 64), 11, mask_of(length, 64), False, None)


def test_a_query_that_sees_no_key_is_zero(kernels: Kernels) -> None:
    mask = torch.full((3, 16), -math.inf)
    mask[0, 2] = 0
    query, key, value = attention_inputs()
    for variant in kernels.variants(SDPA):
        out = poison(torch.empty_like(query))
        kernels.run(SDPA, [query, key, value, 0, mask, 0.0, False, None, out], variant=variant)
        assert_equal(out[:, 0], value[:, 2].repeat_interleave(2, 1))
        assert not out[:, 1:].any()


def test_without_memory_for_a_block_it_is_computed_all_the_same(kernels: Kernels) -> None:
    tensors = attention_inputs(20, context=64)
    out = torch.empty_like(tensors[0])
    kernels.run(SDPA, [*tensors, 30, None, 0.0, True, None, out], temporary_bytes=0)
    assert_equal(out, LLAMA.custom_sdpa(*tensors, 30, None, 0.0, True), **CLOSE[torch.float32])


@pytest.mark.parametrize("start", [-1, 14, 1 << 62])
def test_queries_past_the_end_of_a_cache_are_refused(kernels: Kernels, start: int) -> None:
    query, key, value = attention_inputs()
    out = poison(torch.empty_like(query))
    error = refused(kernels, SDPA, [query, key, value, start, None, 0.0, True, None, out])
    assert error.error == "InvalidArgument"
    assert f"start_pos: expected 0 to 13 (3 positions in a cache of 16), got {start}" in error.log[0]
    assert torch.equal(out, poison(out.clone()))


def test_arguments_that_do_not_fit_are_refused(kernels: Kernels) -> None:
    query, key, value = attention_inputs()
    out, mask = torch.empty_like(query), mask_of(3, 16)

    def call(*tensors: torch.Tensor, mask: torch.Tensor | None = None, is_causal: bool = False) -> str:
        return refused(kernels, SDPA, [*tensors, 2, mask, 0.0, is_causal, None, out]).error

    assert call(query, key, value, mask=mask, is_causal=True) == "InvalidArgument"
    for wrong in (mask[:, :5], mask[:1], mask[None], mask_of(3, 20)):
        assert call(query, key, value, mask=wrong.contiguous()) == "InvalidArgument"
    assert call(query, key, value, mask=mask.half()) == "InvalidType"
    assert call(query, key, value, mask=mask > 0) == "InvalidType"
    assert call(query, key, value[:, :10].contiguous()) == "InvalidArgument"
    assert call(query, key[..., :4].contiguous(), value[..., :4].contiguous()) == "InvalidArgument"
    assert call(query[:, :, :3].contiguous(), key, value) == "InvalidArgument"
    assert call(query[0], key, value) == "InvalidArgument"
    assert call(query, key.half(), value) == "InvalidType"
    assert call(query.double(), key.double(), value.double()) == "InvalidType"
    assert call(query, key[:, :, :0].contiguous(), value[:, :, :0].contiguous()) == "InvalidArgument"


def test_attention_without_heads_or_positions(kernels: Kernels) -> None:
    for query, key in (
        ((1, 0, 4, 8), (1, 16, 2, 8)),
        ((1, 3, 0, 8), (1, 16, 2, 8)),
        ((0, 3, 4, 8), (0, 16, 2, 8)),
    ):
        cache, out = torch.ones(key), torch.empty(query)
        kernels.run(SDPA, [torch.ones(query), cache, cache, 2, None, 0.0, True, None, out])


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(("mask", "is_causal"), [(False, True), (False, False), (True, False)])
@pytest.mark.parametrize("length", [1, 7])
def test_attention_that_fills_its_cache(
    kernels: Kernels, dtype: torch.dtype, mask: bool, is_causal: bool, length: int
) -> None:
    query, key_cache, value_cache = (tensor.to(dtype) for tensor in attention_inputs(length))
    key = random_tensor((1, length, 2, 8), dtype, low=-2, high=2, seed=7)
    value = random_tensor((1, length, 2, 8), dtype, low=-2, high=2, seed=8)
    rest = [5, length, mask_of(length, 16) if mask else None, 0.0, is_causal, None]
    caches = key_cache.clone(), value_cache.clone()
    expected = LLAMA.sdpa_with_kv_cache(query, key, value, *caches, *rest)
    for variant in kernels.variants(WITH_CACHE):
        own = key_cache.clone(), value_cache.clone()
        out = poison(torch.empty_like(query))
        kernels.run(WITH_CACHE, [query, key, value, *own, *rest, out], dynamic=[out], variant=variant)
        assert_equal(out, expected, **CLOSE[dtype])
        assert torch.equal(own[0], caches[0]) and torch.equal(own[1], caches[1])


def test_positions_past_the_end_leave_both_caches_as_they_were(kernels: Kernels) -> None:
    query, key_cache, value_cache = attention_inputs()
    new = torch.ones(1, 3, 2, 8)
    before = key_cache.clone(), value_cache.clone()
    out = torch.empty_like(query)
    for start, mask in ((14, None), (-1, None), (14, mask_of(3, 16))):
        rest = [start, 3, mask, 0.0, mask is None, None, out]
        error = refused(kernels, WITH_CACHE, [query, new, new, key_cache, value_cache, *rest])
        assert error.error == "InvalidArgument" and f"got {start}" in error.log[0]
    assert torch.equal(key_cache, before[0]) and torch.equal(value_cache, before[1])


# --- attention in int8 ----------------------------------------------------------------------------------


def quantized(tensor: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """int8 values, zero points and scales of each token."""
    low, high = tensor.amin(-1, keepdim=True).clamp(max=0), tensor.amax(-1, keepdim=True).clamp(min=0)
    scale = (high - low) / 255
    zero = (-128 - low / scale).round().clamp(-128, 127)
    numbers = (tensor / scale + zero).round().clamp(-128, 127)
    return numbers.to(torch.int8), zero.to(torch.int8), scale


@pytest.mark.parametrize("heads_first", [False, True])
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize(("length", "start"), [(1, 0), (1, 40), (7, 9), (40, 0)])
@pytest.mark.parametrize("depth", [4, 64, 80])
def test_attention_to_a_cache_of_int8(
    kernels: Kernels, heads_first: bool, masked: bool, length: int, start: int, depth: int
) -> None:
    floats = attention_inputs(length, 6, 2, depth, 64, batch=2)
    if heads_first:
        floats = tuple(tensor.transpose(1, 2).contiguous() for tensor in floats)  # type: ignore[assignment]
    (query, *of_query), (key, *of_key), (value, *of_value) = (quantized(tensor) for tensor in floats)
    mask = mask_of(length, 64) if masked else None
    rest = [start, mask, 0.0, not masked, 0.3, *of_query, *of_key, *of_value, heads_first]
    expected = LLAMA.custom_quantized_sdpa(query, key, value, *rest)
    out = poison(torch.empty(query.shape))
    kernels.run(QUANTIZED, [query, key, value, *rest, out], dynamic=[out])
    assert_equal(out, expected, rtol=2e-4, atol=2e-5)


def test_int8_arguments_that_do_not_fit_are_refused(kernels: Kernels) -> None:
    (query, *of_query), (key, *of_key), (value, *of_value) = (quantized(each) for each in attention_inputs())
    out = torch.empty(query.shape)

    def call(start: int, *parameters: Any) -> KernelRefused:
        arguments = [query, key, value, start, None, 0.0, True, None, *parameters, False, out]
        return refused(kernels, QUANTIZED, arguments)

    good = [*of_query, *of_key, *of_value]
    assert "got 14" in call(14, *good).log[0]
    for i in range(6):
        assert call(0, *good[:i], None, *good[i + 1 :]).error == "InvalidArgument"
        assert call(0, *good[:i], good[i][:, :2].contiguous(), *good[i + 1 :]).error == "InvalidArgument"
        assert call(0, *good[:i], good[i].double(), *good[i + 1 :]).error == "InvalidType"


# --- other operators ------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.float64])
@pytest.mark.parametrize("size", [1, 2, 8, 128, 28, 56, 28 * 16])
def test_hadamard_transform(kernels: Kernels, dtype: torch.dtype, size: int) -> None:
    x = random_tensor((2, 3, size), dtype, low=-1, high=1)
    close = 1e-2 if dtype == torch.float16 else 1e-5
    kernels.check(HADAMARD, x, rtol=close, atol=close)
    kernels.check(HADAMARD, x[0, 0], rtol=close, atol=close)


def test_hadamard_transform_of_other_layouts(kernels: Kernels) -> None:
    x = with_dim_order(random_tensor((2, 8, 3, 16), torch.float32), [0, 2, 3, 1])
    out = torch.empty(2, 8, 3, 16)
    kernels.run(HADAMARD, [x, out])
    assert_equal(out, LLAMA.fast_hadamard_transform(x.contiguous()), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("shape", [(2, 3), (2, 12), (2, 84), ()])
def test_sizes_without_a_hadamard_matrix_are_refused(kernels: Kernels, shape: tuple[int, ...]) -> None:
    refused(kernels, HADAMARD, [torch.ones(shape), torch.ones(shape)])


def test_fallback_copies(kernels: Kernels) -> None:
    for dtype in (torch.float32, torch.int8, torch.bool):
        x = random_tensor((2, 3, 4), dtype)
        out = poison(torch.empty_like(x))
        kernels.run("llama::fallback.out", [x, out], dynamic=[out])
        assert torch.equal(out, x)


def delta_rule_inputs(
    length: int, heads: int, own: int, channels: int, width: int, *, scalar: bool
) -> list[torch.Tensor]:
    """Query, key, value, decay, beta and state; keys have length 1, as in the models."""

    def numbers(*shape: int, low: float = -1, high: float = 1) -> torch.Tensor:
        return random_tensor(shape, torch.float32, low=low, high=high, seed=len(made))

    made: list[torch.Tensor] = []
    made.append(numbers(2, heads, length, channels))
    made.append(torch.nn.functional.normalize(numbers(2, own, length, channels), dim=-1))
    made.append(numbers(2, own, length, width))
    made.append(numbers(2, own, length, *([] if scalar else [channels]), low=0.5))
    made.append(numbers(2, own, length, low=0))
    made.append(numbers(2, own, channels, width))
    return made


@pytest.mark.parametrize("scalar", [False, True])
@pytest.mark.parametrize("length", [1, 5, 40])
@pytest.mark.parametrize(("heads", "own"), [(3, 3), (4, 2)])
@pytest.mark.parametrize(("channels", "width"), [(5, 6), (16, 100), (1, 1)])
def test_gated_delta_rule(
    kernels: Kernels, scalar: bool, length: int, heads: int, own: int, channels: int, width: int
) -> None:
    inputs = delta_rule_inputs(length, heads, own, channels, width, scalar=scalar)
    expected, expected_state = LLAMA.gated_delta_rule(*inputs)
    for name in ("llama::gated_delta_rule.out", "llama::channelwise_gated_delta_rule.out"):
        out, state = poison(torch.empty_like(expected)), poison(torch.empty_like(expected_state))
        kernels.run(name, [*inputs, out, state], dynamic=[out, state], threads=2)
        assert_equal(out, expected, rtol=1e-4, atol=1e-4)
        assert_equal(state, expected_state, rtol=1e-4, atol=1e-4)


def test_gated_delta_rule_in_two_parts_is_that_of_the_whole(kernels: Kernels) -> None:
    inputs = delta_rule_inputs(9, 4, 2, 8, 8, scalar=False)
    name = "llama::gated_delta_rule.out"
    whole, state = torch.empty(2, 4, 9, 8), torch.empty(2, 2, 8, 8)
    kernels.run(name, [*inputs, whole, state])
    carried = inputs[5]
    for begin, end in ((0, 4), (4, 9)):
        part = [each[:, :, begin:end].contiguous() for each in inputs[:5]]
        out, after = torch.empty(2, 4, end - begin, 8), torch.empty(2, 2, 8, 8)
        kernels.run(name, [*part, carried, out, after])
        assert torch.equal(out, whole[:, :, begin:end])
        carried = after
    assert torch.equal(carried, state)


def test_delta_rules_of_other_sizes_are_refused(kernels: Kernels) -> None:
    inputs = delta_rule_inputs(5, 4, 2, 8, 6, scalar=False)
    out, state = torch.empty(2, 4, 5, 6), torch.empty(2, 2, 8, 6)
    for i in range(6):
        wrong = [each[..., :-1].contiguous() if j == i else each for j, each in enumerate(inputs)]
        if i == 2:
            wrong[5] = inputs[5]
        error = refused(kernels, "llama::gated_delta_rule.out", [*wrong, out, state])
        assert error.error == "InvalidArgument"
        wrong = [each.double() if j == i else each for j, each in enumerate(inputs)]
        error = refused(kernels, "llama::gated_delta_rule.out", [*wrong, out, state])
        assert error.error == "InvalidType"
    odd = [inputs[0][:, :3].contiguous(), *inputs[1:]]
    refused(kernels, "llama::gated_delta_rule.out", [*odd, torch.empty(2, 3, 5, 6), state])


@pytest.mark.parametrize("dtype", [torch.float32, torch.uint8])
@pytest.mark.parametrize(("height", "width"), [(4, 4), (2, 6), (8, 4), (0, 4)])
def test_tiles_of_an_image(kernels: Kernels, dtype: torch.dtype, height: int, width: int) -> None:
    image = random_tensor((3, height, width), dtype)
    tiles = image.view(3, height // 2, 2, width // 2, 2).permute(1, 3, 0, 2, 4).reshape(-1, 3, 2, 2)
    out = poison(torch.empty_like(tiles))
    kernels.run("preprocess::tile_crop.out", [image, 2, out], dynamic=[out])
    assert torch.equal(out, tiles)


def test_tiles_that_do_not_fill_an_image_are_refused(kernels: Kernels) -> None:
    for shape, size in (((3, 4, 5), 2), ((3, 5, 4), 2), ((3, 4, 4), 0), ((3, 4, 4), -2), ((4, 4), 2)):
        refused(kernels, "preprocess::tile_crop.out", [torch.ones(shape), size, torch.empty(4, 3, 2, 2)])
