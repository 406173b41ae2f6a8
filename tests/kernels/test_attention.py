# SPDX-License-Identifier: BSD-3-Clause
"""scaled_dot_product_attention against torch."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

from support.harness import (
    FLOATING,
    KernelRefused,
    Kernels,
    assert_equal,
    poison,
    random_tensor,
    with_dim_order,
)

NAME = "aten::scaled_dot_product_attention.out"

# Scores are sums of products, added in another order than PyTorch's.
CLOSE = {"rtol": 2e-5, "atol": 2e-6}
TOLERANCES = {
    torch.float16: {"rtol": 2e-3, "atol": 1e-3},
    torch.bfloat16: {"rtol": 2e-2, "atol": 8e-3},
    torch.float32: CLOSE,
    torch.float64: {"rtol": 1e-12, "atol": 1e-12},
}


def inputs(
    queries: tuple[int, ...], keys: int, width: int | None = None, dtype: torch.dtype = torch.float32
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Query of shape `queries` ([..., length, depth]), `keys` keys, and as many values of `width`."""
    batch, depth = queries[:-2], queries[-1]
    return (
        random_tensor(queries, dtype, low=-2, high=2, seed=1),
        random_tensor((*batch, keys, depth), dtype, low=-2, high=2, seed=2),
        random_tensor((*batch, keys, depth if width is None else width), dtype, low=-2, high=2, seed=3),
    )


def run(kernels: Kernels, tensors: tuple[torch.Tensor, ...], out: torch.Tensor, **options: Any) -> None:
    """Calls the kernel; the shape of `out` is its bound."""
    defaults = {"attn_mask": None, "dropout_p": 0.0, "is_causal": False, "scale": None, "enable_gqa": False}
    kernels.run(NAME, [*tensors, *(defaults | options).values(), out], dynamic=[out])


def check(
    kernels: Kernels,
    tensors: tuple[torch.Tensor, ...],
    *,
    out_dim_order: list[int] | None = None,
    **options: Any,
) -> torch.Tensor:
    """Compares with eager in float64 (a mask of floats likewise); returns the result."""
    query, key, value = tensors
    wide = dict(options)
    if (mask := wide.get("attn_mask")) is not None:
        mask = mask if mask.dtype == torch.bool else mask.double()
        wide["attn_mask"] = torch.atleast_2d(mask)  # some of PyTorch's kernels need a mask of rank 2 or more
    expected = scaled_dot_product_attention(query.double(), key.double(), value.double(), **wide)
    out = torch.empty(expected.shape, dtype=query.dtype)
    if out_dim_order:
        out = with_dim_order(out, out_dim_order)
    run(kernels, tensors, poison(out), **options)
    assert_equal(out, expected.to(query.dtype), **TOLERANCES[query.dtype])
    return out


@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize("is_causal", [False, True])
def test_every_dtype(kernels: Kernels, dtype: torch.dtype, is_causal: bool) -> None:
    check(kernels, inputs((2, 3, 7, 20), 11, dtype=dtype), is_causal=is_causal)


@pytest.mark.parametrize("queries", [(5, 8), (3, 5, 8), (2, 3, 5, 8), (2, 1, 2, 3, 5, 8)])
def test_every_rank(kernels: Kernels, queries: tuple[int, ...]) -> None:
    check(kernels, inputs(queries, 9))


@pytest.mark.parametrize("length", [1, 2, 15, 64, 65, 130])
@pytest.mark.parametrize("keys", [1, 3, 63, 64, 129, 300])
@pytest.mark.parametrize("is_causal", [False, True])
def test_lengths_around_the_edges_of_blocks(
    kernels: Kernels, length: int, keys: int, is_causal: bool
) -> None:
    check(kernels, inputs((2, length, 24), keys), is_causal=is_causal)


@pytest.mark.parametrize("depth", [1, 3, 16, 33, 64, 80, 128])
@pytest.mark.parametrize("width", [1, 5, 32, 63, 65, 200])
def test_depths_and_widths(kernels: Kernels, depth: int, width: int) -> None:
    check(kernels, inputs((2, 17, depth), 37, width))


@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize("shape", [(6, 70), (1, 70), (6, 1), (70,), (2, 3, 6, 70), (2, 1, 1, 70), (3, 6, 1)])
def test_masks_of_truth_and_of_numbers_broadcast(
    kernels: Kernels, shape: tuple[int, ...], dtype: torch.dtype
) -> None:
    tensors = inputs((2, 3, 6, 8), 70, dtype=dtype)
    seen = random_tensor(shape, torch.bool)
    seen[..., 0] = True
    check(kernels, tensors, attn_mask=seen)
    check(kernels, tensors, attn_mask=random_tensor(shape, dtype))
    check(kernels, tensors, attn_mask=random_tensor(shape, torch.float32))
    check(kernels, tensors, attn_mask=torch.zeros(shape, dtype=dtype).masked_fill(~seen, -math.inf))


def test_a_mask_of_another_dim_order(kernels: Kernels) -> None:
    mask = with_dim_order(random_tensor((2, 3, 6, 70), torch.float32), [3, 1, 2, 0])
    check(kernels, inputs((2, 3, 6, 8), 70), attn_mask=mask)


@pytest.mark.parametrize("dtype", FLOATING)
def test_rows_that_see_no_key_are_zero(kernels: Kernels, dtype: torch.dtype) -> None:
    tensors = inputs((1, 2, 6, 8), 70, dtype=dtype)
    seen = torch.ones(6, 70, dtype=torch.bool)
    seen[2] = False
    seen[4, :69] = False
    out = check(kernels, tensors, attn_mask=seen)
    assert not out[..., 2, :].any() and torch.equal(out[..., 4, :], tensors[2][..., 69, :])
    check(kernels, tensors, attn_mask=torch.zeros(6, 70, dtype=dtype).masked_fill(~seen, -math.inf))
    # The lowest finite value is an ordinary score.
    lowest = torch.full((6, 70), torch.finfo(dtype).min, dtype=dtype)
    out = torch.empty_like(tensors[0])
    run(kernels, tensors, out, attn_mask=lowest)
    assert torch.isfinite(out).all()


def test_the_first_key_that_is_seen_comes_late(kernels: Kernels) -> None:
    seen = torch.zeros(5, 300, dtype=torch.bool)
    seen[:, 290:] = True
    check(kernels, inputs((5, 8), 300), attn_mask=seen)


def test_a_mask_and_causality_hold_both(kernels: Kernels) -> None:
    tensors = inputs((1, 2, 9, 8), 9)
    seen = random_tensor((9, 9), torch.bool)
    out = torch.empty(1, 2, 9, 8)
    run(kernels, tensors, out, attn_mask=seen, is_causal=True)
    assert_equal(out, scaled_dot_product_attention(*tensors, attn_mask=seen.tril()), **CLOSE)


@pytest.mark.parametrize("scale", [0.0, 0.3, -1.5, 4.0])
def test_scales(kernels: Kernels, scale: float) -> None:
    tensors = inputs((2, 5, 8), 70)
    out = torch.empty(2, 5, 8)
    run(kernels, tensors, out, scale=scale)
    assert_equal(out, ((tensors[0] @ tensors[1].mT) * scale).softmax(-1) @ tensors[2], **CLOSE)


@pytest.mark.parametrize("heads", [(2, 2), (1, 1), (1, 2), (4, 1), (4, 4)])
@pytest.mark.parametrize("length", [1, 5])
def test_heads_of_keys_and_values_serve_groups(kernels: Kernels, heads: tuple[int, int], length: int) -> None:
    query = random_tensor((2, 4, length, 8), torch.float32, low=-2, high=2)
    key = random_tensor((2, heads[0], 70, 8), torch.float32, seed=1)
    value = random_tensor((2, heads[1], 70, 9), torch.float32, seed=2)
    check(kernels, (query, key, value), enable_gqa=True)
    check(kernels, (query[0], key[0], value[0]), enable_gqa=True)


@pytest.mark.parametrize(
    "batches",
    [((2, 1), (3,), ()), ((), (2, 3), (1,)), ((2, 3), (1, 1), (2, 1)), ((1,), (1,), (4, 2))],
)
def test_leading_dimensions_broadcast(kernels: Kernels, batches: tuple[tuple[int, ...], ...]) -> None:
    shapes = [(*batches[0], 5, 8), (*batches[1], 7, 8), (*batches[2], 7, 9)]
    query, key, value = (random_tensor(shape, torch.float32, seed=i) for i, shape in enumerate(shapes))
    check(kernels, (query, key, value))


def test_a_mask_is_per_score_where_values_stretch_further(kernels: Kernels) -> None:
    query, key = random_tensor((2, 1, 5, 8), torch.float32), random_tensor((2, 1, 7, 8), torch.float32)
    value = random_tensor((2, 3, 7, 8), torch.float32)
    check(kernels, (query, key, value), attn_mask=random_tensor((2, 1, 5, 7), torch.float32))


@pytest.mark.parametrize("order", [[0, 2, 1, 3], [3, 2, 1, 0], [0, 1, 3, 2]])
@pytest.mark.parametrize("length", [1, 65])
def test_any_dim_orders(kernels: Kernels, order: list[int], length: int) -> None:
    query, key, value = inputs((2, 3, length, 20), 70)
    laid = (with_dim_order(query, order), with_dim_order(key, order), with_dim_order(value, order))
    check(kernels, laid)
    check(kernels, (query, key, value), out_dim_order=order, is_causal=True)


@pytest.mark.parametrize("shape", [(0, 5, 8), (2, 0, 8), (2, 5, 0)])
def test_nothing_to_compute_or_nothing_to_compare(kernels: Kernels, shape: tuple[int, ...]) -> None:
    check(kernels, inputs(shape, 7, 6))


def test_no_keys_or_no_width(kernels: Kernels) -> None:
    assert not check(kernels, inputs((2, 5, 8), 0, 6)).any()
    check(kernels, inputs((2, 5, 8), 7, 0))


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_numbers_that_are_none_stay_in_their_rows(kernels: Kernels, number: float) -> None:
    query, key, value = inputs((2, 70, 8), 70)
    query[0, 3, 2] = number
    value[1, 66, 1] = number
    check(kernels, (query, key, value))


def test_scores_of_any_size_do_not_overflow(kernels: Kernels) -> None:
    query, key, value = inputs((2, 9, 8), 70)
    check(kernels, (query * 1e3, key * 10, value))


def test_what_does_not_fit_is_refused(kernels: Kernels) -> None:
    query, key, value = inputs((2, 3, 5, 8), 7)

    def refused(*tensors: torch.Tensor, out: torch.Tensor | None = None, **options: Any) -> KernelRefused:
        with pytest.raises(KernelRefused) as caught:
            run(kernels, tensors, torch.empty(2, 3, 5, 8) if out is None else out, **options)
        return caught.value

    assert "dropout_p" in refused(query, key, value, dropout_p=0.5).log[0]
    assert "query" in refused(query[0, 0, 0], key, value).log[0]
    assert "key" in refused(query, key[..., :4].contiguous(), value).log[0]
    assert "value" in refused(query, key, value[..., :4, :].contiguous()).log[0]
    assert refused(query, key[:, :2].contiguous(), value).error == "InvalidArgument"
    assert "heads" in refused(query, key[:, :2].contiguous(), value, enable_gqa=True).log[0]
    assert "at least 3" in refused(query[0, 0], key[0, 0], value[0, 0], enable_gqa=True).log[0]
    assert refused(query, key.double(), value).error == "InvalidType"
    assert refused(query.int(), key.int(), value.int()).error == "InvalidType"
    assert refused(query, key, value, out=torch.empty(2, 3, 5, 8).double()).error == "InvalidType"
    for shape in ((5, 6), (4, 3, 5, 7), (1, 1, 1, 5, 7)):
        assert "attn_mask" in refused(query, key, value, attn_mask=torch.zeros(shape)).log[0]
    for dtype in (torch.int32, torch.float64, torch.float16):
        assert refused(query, key, value, attn_mask=torch.zeros(5, 7, dtype=dtype)).error == "InvalidType"
    static = torch.empty(2, 3, 5, 7)
    assert refused(query, key, value, out=static).error == "InvalidArgument"


@pytest.mark.parametrize("length", [1, 70])
def test_without_scratch_memory(kernels: Kernels, length: int) -> None:
    query, key, value = inputs((2, length, 8), 70)
    out = torch.empty(2, length, 8)
    kernels.run(NAME, [query, key, value, None, 0.0, True, None, False, out], temporary_bytes=0)
    assert_equal(out, scaled_dot_product_attention(query, key, value, is_causal=True), **CLOSE)
