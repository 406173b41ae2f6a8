# SPDX-License-Identifier: BSD-3-Clause
"""rushlight::cached_attention against its composition in torch eager: norms, rotary embedding, the rows of
the cache, and softmax over the positions that a token sees."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from support.cached_attention import CACHES, CLOSE, NAME, Layer, Reference, State, tokens_of
from support.harness import KernelRefused, Kernels, Variant, assert_equal, poison


def check(
    kernels: Kernels, layer: Layer, counts: list[int], *, variant: Variant | None = None, threads: int = 1
) -> None:
    """Makes calls with `counts` tokens each, one after the other, and compares results and caches."""
    state = State(layer)
    reference = Reference(state)
    position = 0
    for number, count in enumerate(counts):
        qkv = tokens_of(layer, count, number)
        state.tensors["input_pos"].fill_(position)
        out = poison(torch.empty(1, count, layer.heads * layer.depth))
        dynamic = [out] if number % 2 else []
        kernels.run(
            NAME, state.arguments(qkv, out), dynamic=dynamic, variant=variant or Variant(), threads=threads
        )
        assert_equal(out, reference.call(qkv, position), **CLOSE)
        position += count


def variants(kernels: Kernels) -> list[Variant]:
    return kernels.variants(NAME)


@pytest.mark.parametrize("cache", CACHES)
@pytest.mark.parametrize("interleaved", [False, True])
@pytest.mark.parametrize("norms", [False, True])
def test_prefill_then_tokens_one_by_one(
    kernels: Kernels, cache: torch.dtype, interleaved: bool, norms: bool
) -> None:
    layer = Layer(cache=cache, interleaved=interleaved, norms=norms)
    for variant in variants(kernels):
        check(kernels, layer, [13, 1, 1, 5, 1], variant=variant)


LAYERS = st.builds(
    Layer,
    heads=st.sampled_from([1, 2, 3]),
    key_heads=st.sampled_from([1, 2, 3]),
    depth=st.sampled_from([1, 2, 7, 16, 24, 33, 64, 80]),
    context=st.integers(40, 300),
    cache=st.sampled_from(CACHES),
    norms=st.booleans(),
    interleaved=st.booleans(),
    scale=st.sampled_from([0.1, 0.3, 1.0]),
    window=st.sampled_from([0, 0, 1, 2, 9, 130, 1000]),
    softcap=st.sampled_from([0.0, 0.0, 2.0, 30.0]),
).flatmap(
    lambda layer: st.builds(
        lambda group, half: replace(layer, heads=layer.key_heads * group, rotary=2 * half),
        st.sampled_from([1, 2, 3, 4, 7]),
        st.sampled_from([0, layer.depth // 4, layer.depth // 2]),
    )
)


@given(layer=LAYERS, data=st.data(), threads=st.sampled_from([1, 2, 3]))
@settings(deadline=None, max_examples=60)
def test_any_layer_and_calls(kernels: Kernels, layer: Layer, data: st.DataObject, threads: int) -> None:
    counts: list[int] = []
    while len(counts) < 4 and sum(counts) < layer.context:
        left = layer.context - sum(counts)
        counts.append(data.draw(st.one_of(st.integers(1, min(left, 9)), st.integers(1, left))))
    variant = data.draw(st.sampled_from(variants(kernels)))
    check(kernels, layer, counts, variant=variant, threads=threads)


@pytest.mark.parametrize("cache", CACHES)
@pytest.mark.parametrize("window", [0, 100, 600])
def test_many_keys(kernels: Kernels, cache: torch.dtype, window: int) -> None:
    layer = Layer(heads=6, depth=32, rotary=32, context=1100, cache=cache, window=window)
    for variant in variants(kernels):
        check(kernels, layer, [520, 1, 2, 300, 3, 1], variant=variant)


@pytest.mark.parametrize("cache", CACHES)
@pytest.mark.parametrize("count", [1, 2, 70, 400])
def test_results_do_not_depend_on_threads(kernels: Kernels, cache: torch.dtype, count: int) -> None:
    layer = Layer(heads=6, depth=32, rotary=16, context=1500, cache=cache, softcap=20.0)
    results = []
    for threads in (1, 2, 5):
        state = State(layer)
        for start, tokens in ((0, 1000), (1000, count)):
            out = torch.empty(1, tokens, layer.heads * layer.depth)
            state.tensors["input_pos"].fill_(start)
            kernels.run(NAME, state.arguments(tokens_of(layer, tokens), out), threads=threads)
        results.append(out)
    assert all(torch.equal(results[0], each) for each in results[1:])


@pytest.mark.parametrize("cache", CACHES)
def test_rows_behind_the_tokens_are_neither_read_nor_written(kernels: Kernels, cache: torch.dtype) -> None:
    layer = Layer(cache=cache)
    for variant in variants(kernels):
        state = State(layer)
        held = [state.tensors[f"{name}_{kind}"] for name in ("key", "value") for kind in ("cache", "scales")]
        for each in held:
            if each is not None:
                each.fill_(77 if each.dtype == torch.int8 else math.nan)
        out = poison(torch.empty(1, 5, 32))
        kernels.run(NAME, state.arguments(tokens_of(layer, 5), out), variant=variant)
        assert torch.isfinite(out).all()
        for each in held:
            if each is not None:
                rest = each[:, :, 5:]
                assert (rest == 77).all() if each.dtype == torch.int8 else rest.isnan().all()


def test_rows_of_zeros_have_scale_zero(kernels: Kernels) -> None:
    layer = Layer(cache=torch.int8)
    for variant in variants(kernels):
        state = State(layer)
        out = poison(torch.empty(1, 3, 32))
        kernels.run(NAME, state.arguments(torch.zeros(1, 3, layer.width), out), variant=variant)
        assert not out.any() and not state.tensors["key_scales"].any()


def test_no_tokens(kernels: Kernels) -> None:
    for variant in variants(kernels):
        out = torch.empty(1, 0, 32)
        kernels.run(NAME, State(Layer()).arguments(tokens_of(Layer(), 0), out), variant=variant)


def test_scores_of_any_size_do_not_overflow(kernels: Kernels) -> None:
    layer = Layer(scale=300.0)
    for variant in variants(kernels):
        check(kernels, layer, [20, 1], variant=variant)


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"input_pos": torch.tensor([-1])}, "5 tokens to fit in a cache of 40, got position -1"),
        ({"input_pos": torch.tensor([36])}, "got position 36"),
        ({"input_pos": torch.tensor([2**62])}, "input_pos"),
        ({"input_pos": torch.tensor([0, 1])}, "input_pos: expected size 1 of dimension 0, got 2"),
        ({"input_pos": torch.tensor([0], dtype=torch.int32)}, "input_pos: expected int64, got int32"),
        ({"qkv": torch.zeros(5, 64)}, "qkv: expected 3 dimensions, got 2"),
        ({"qkv": torch.zeros(2, 5, 64)}, "qkv: expected size 1 of dimension 0, got 2"),
        ({"qkv": torch.zeros(1, 5, 65)}, "qkv: expected 8 heads of 8 values in dimension 2, got 65"),
        ({"qkv": torch.zeros(1, 5, 64).double()}, "qkv: expected float32"),
        ({"key_cache": torch.zeros(1, 2, 40, 9)}, "qkv: expected 8 heads of 9 values"),
        ({"key_cache": torch.zeros(1, 2, 40, 0)}, "at least 1 value"),
        ({"key_cache": torch.zeros(1, 3, 40, 8)}, "key_cache: expected size 2 of dimension 1, got 3"),
        ({"key_cache": torch.zeros(2, 40, 8)}, "key_cache: expected 4 dimensions, got 3"),
        ({"value_cache": torch.zeros(1, 2, 41, 8)}, "value_cache: expected size 40 of dimension 2, got 41"),
        ({"value_cache": torch.zeros(1, 2, 40, 8).half()}, "value_cache: expected float32, got float16"),
        ({"key_scales": torch.zeros(1, 2, 40)}, "key_scales: expected none for a cache of float32"),
        ({"key_cache": torch.zeros(1, 2, 40, 8).char()}, "key_scales: expected a tensor for a cache of int8"),
        ({"cos": torch.zeros(39, 4)}, "cos: expected a row for each of 40 positions, got 39"),
        ({"cos": torch.zeros(40, 5)}, "cos: expected at most 4 pairs of values, got 5"),
        ({"sin": torch.zeros(40, 3)}, "sin: expected size 4 of dimension 1, got 3"),
        ({"query_norm": torch.zeros(7)}, "query_norm: expected size 8 of dimension 0, got 7"),
        ({"key_norm": torch.zeros(8).half()}, "key_norm: expected float32, got float16"),
        ({"heads": 0}, "heads: expected 1 to"),
        ({"heads": 2**40}, "heads: expected 1 to"),
        ({"key_heads": 3}, "key_heads: expected a divisor of 4 heads, got 3"),
        ({"key_heads": 0}, "key_heads: expected a divisor"),
        ({"window": -1}, "window: expected 0 or more, got -1"),
        ({"softcap": -1.0}, "softcap: expected a finite number, 0 or more"),
        ({"softcap": math.nan}, "softcap"),
        ({"out": torch.zeros(1, 4, 32)}, "out"),
        ({"out": torch.zeros(1, 5, 32).half()}, "out: expected float32, got float16"),
    ],
)
def test_what_does_not_fit_is_refused_and_nothing_is_written(
    kernels: Kernels, changed: dict[str, Any], named: str
) -> None:
    state = State(Layer())
    out = torch.full((1, 5, 32), 113.0)
    with pytest.raises(KernelRefused) as caught:
        kernels.run(NAME, state.arguments(tokens_of(state.layer, 5), out, **changed))
    assert any(named in line for line in caught.value.log), caught.value.log
    assert not state.tensors["key_cache"].any() and not state.tensors["value_cache"].any()
    assert (out == 113).all()


@pytest.mark.parametrize("name", ["qkv", "value_cache", "cos", "out"])
def test_tensors_that_overlap_what_is_written_are_refused(kernels: Kernels, name: str) -> None:
    state = State(Layer())
    other = state.tensors["key_cache"].flatten()
    shapes = {"qkv": (1, 5, 64), "value_cache": (1, 2, 40, 8), "cos": (40, 4), "out": (1, 5, 32)}
    shape = shapes[name]
    changed = {name: other[: math.prod(shape)].view(shape)}
    with pytest.raises(KernelRefused, match="memory that the call does not write"):
        kernels.run(NAME, state.arguments(tokens_of(state.layer, 5), torch.empty(1, 5, 32), **changed))


@given(layer=LAYERS, data=st.data(), threads=st.sampled_from([1, 2, 3]))
@settings(deadline=None, max_examples=40)
def test_the_scratch_memory_that_is_asked_for_serves_every_smaller_call(
    kernels: Kernels, layer: Layer, data: st.DataObject, threads: int
) -> None:
    layer = replace(layer, context=data.draw(st.integers(60, 5000)))
    most = data.draw(st.integers(1, 60))
    largest = State(layer).arguments(tokens_of(layer, most), torch.empty(1, most, layer.heads * layer.depth))
    asked = kernels.scratch_bytes(NAME, largest, threads=threads)
    tokens = data.draw(st.one_of(st.just(most), st.integers(1, most)))
    state = State(layer)
    state.tensors["input_pos"].fill_(data.draw(st.integers(0, layer.context - tokens)))
    outs = []
    for memory in (asked, 1 << 24):
        out = torch.empty(1, tokens, layer.heads * layer.depth)
        arguments = state.arguments(tokens_of(layer, tokens), out)
        kernels.run(NAME, arguments, temporary_bytes=memory, threads=threads)
        outs.append(out)
    # With less the portable loop computes it, whose bits are others.
    assert torch.equal(outs[0], outs[1])


def test_without_scratch_memory_nothing_is_written(kernels: Kernels) -> None:
    for variant in variants(kernels):
        state = State(Layer())
        out = torch.full((1, 5, 32), 113.0)
        with pytest.raises(KernelRefused, match="out of scratch memory: need 32 bytes"):
            kernels.run(
                NAME, state.arguments(tokens_of(state.layer, 5), out), temporary_bytes=0, variant=variant
            )
        assert not state.tensors["key_cache"].any() and (out == 113).all()
