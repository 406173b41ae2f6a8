# SPDX-License-Identifier: BSD-3-Clause
"""Operators of language models on other processors: attention over a cache, gated activations, norms, and
products of block weights."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.nn import functional

from rushlight.codegen.table import load_table
from rushlight.sources import source_root
from support.block_weights import BlockForm, draw_block_weight
from support.boards import need, parameters
from support.cached_attention import CACHES, CLOSE, NAME, Layer, Reference, State, tokens_of
from support.calls_program import computed
from support.harness import assert_equal, random_tensor
from support.opinfo.recording import RecordedCall

pytestmark = pytest.mark.device

GATED = "rushlight::gated_act.out"
OPERATORS = load_table(source_root() / "kernels" / "ops.yaml").operators
TARGETS = ["cortex-m4", "cortex-m55", "rv32imafc", "rv64gcv", "linux-aarch64", "linux-riscv64"]

# Layers with the number of tokens and the first position: decoding, and calls of many tokens.
LAYERS = [
    (Layer(heads=3, key_heads=1, depth=20, rotary=20, context=30), 1, 29),
    (Layer(heads=4, key_heads=2, depth=16, rotary=8, context=30, norms=True, softcap=5.0), 2, 20),
    (Layer(heads=4, key_heads=4, depth=9, rotary=8, context=60, interleaved=True, window=7), 40, 17),
    (Layer(heads=6, key_heads=2, depth=8, rotary=8, context=40), 40, 0),
]


def recorded(name: str, arguments: Sequence[Any], outs: list[torch.Tensor]) -> RecordedCall:
    """A call of an operator that PyTorch lacks."""
    schema = torch._C.parse_schema(OPERATORS[name].schema.text)
    return RecordedCall(name, schema, None, {}, list(arguments), outs, [])


def filled(layer: Layer) -> State:
    """A layer whose cache holds values."""
    state = State(layer)
    for seed, (name, tensor) in enumerate(state.tensors.items()):
        if name.endswith("_scales") and tensor is not None:
            tensor.copy_(random_tensor(tensor.shape, tensor.dtype, low=0.001, high=0.02, seed=seed))
        elif name.endswith("_cache"):
            most = 127 if layer.cache == torch.int8 else 2
            tensor.copy_(random_tensor(tensor.shape, tensor.dtype, low=-most, high=most, seed=seed))
    return state


@pytest.mark.parametrize("board", parameters(TARGETS))
def test_a_target_computes_what_pytorch_does(board: str, tmp_path: Path) -> None:
    need(board)
    calls, layers, gates = [], [], []
    for cache in CACHES:
        for number, (given, tokens, position) in enumerate(LAYERS):
            layer = Layer(**(vars(given) | {"cache": cache}))
            state = filled(layer)
            state.tensors["input_pos"].fill_(position)
            qkv, out = tokens_of(layer, tokens, number), torch.zeros(1, tokens, layer.heads * layer.depth)
            names = ["key_cache", "value_cache", "key_scales", "value_scales"]
            written = [name for name in names if state.tensors[name] is not None]
            outs = [*(state.tensors[name] for name in written), out]
            calls.append(recorded(NAME, state.arguments(qkv, out), outs))
            layers.append((state, Reference(state), written, qkv, position))
    for activation, function in (("silu", functional.silu), ("gelu", functional.gelu)):
        values = random_tensor((3, 46), torch.float32)
        out = torch.zeros(3, 23)
        calls.append(recorded(GATED, [values, activation, out], [out]))
        gate, up = values.double().chunk(2, -1)
        gates.append((function(gate) * up).float())
    results = computed(calls, board, tmp_path)
    for (state, reference, written, qkv, position), outs in zip(layers, results, strict=False):
        state.tensors.update(zip(written, outs, strict=False))
        assert_equal(outs[-1], reference.call(qkv, position), **CLOSE)
    for expected, outs in zip(gates, results[len(layers) :], strict=True):
        assert_equal(outs[0], expected, rtol=1e-6, atol=1e-6)


LINEAR, RMS_NORM = "rushlight::block_linear.out", "rushlight::rms_norm.out"
# All forms, with feature counts that end in a panel and depths that end in a group; two dtypes of
# activations.
PRODUCTS = [
    (BlockForm(4, 32, "float16", False), 40, 96, 1, 16),
    (BlockForm(4, 32, "float16", True), 16, 100, 6, 16),
    (BlockForm(4, 64, "float32", True), 17, 70, 1, 8),
    (BlockForm(8, 16, "float16", False), 33, 40, 5, 16),
    (BlockForm(8, 32, "float32", True), 16, 64, 2, 8),
    (BlockForm(4, 16, "float16", False), 8, 24, 1, 16),
    (BlockForm(16, 0, "float16", False), 20, 30, 3, 16),
]


def products() -> list[RecordedCall]:
    """Linear layers, with and without bias and residual."""
    calls = []
    for seed, (form, features, depth, rows, activation_bits) in enumerate(PRODUCTS):
        weight = torch.from_numpy(draw_block_weight(form, features, depth, seed).stored)
        out = torch.zeros(rows, features)
        bias = random_tensor((features,), torch.float32, seed=seed) if seed % 2 == 0 else None
        residual = random_tensor((rows, features), torch.float32, seed=seed) if seed % 3 == 0 else None
        row = random_tensor((rows, depth), torch.float32, seed=seed)
        facts = [
            features,
            form.bits,
            form.group,
            getattr(torch, form.scales),
            form.has_minimum,
            activation_bits,
        ]
        calls.append(recorded(LINEAR, [row, weight, bias, residual, *facts, out], [out]))
    return calls


# Cortex-M3 has no floating-point unit; the board kernels support it, too.
@pytest.mark.parametrize("board", parameters([*TARGETS, "cortex-m3"]))
def test_products_of_block_weights_are_those_of_the_host(board: str, tmp_path: Path) -> None:
    need(board)
    calls, norms = products(), []
    for count, has_weight in ((96, True), (7, False), (1, True)):
        values, out = random_tensor((3, count), torch.float32), torch.zeros(3, count)
        weight = random_tensor((count,), torch.float32, seed=1) if has_weight else None
        calls.append(recorded(RMS_NORM, [values, [count], weight, 1e-5, out], [out]))
        norms.append(functional.rms_norm(values, [count], weight, 1e-5))
    got, expected = computed(calls, board, tmp_path), computed(calls, "host", tmp_path)
    for (form, *_), board_outs, host_outs in zip(PRODUCTS, got, expected, strict=False):
        close = {"rtol": 1e-5, "atol": 1e-5} if form.bits == 16 else {"rtol": 0.0, "atol": 0.0}
        assert_equal(board_outs[0], host_outs[0], **close)
    for norm, outs in zip(norms, got[len(PRODUCTS) :], strict=True):
        assert_equal(outs[0], norm, rtol=2e-6, atol=1e-6)
