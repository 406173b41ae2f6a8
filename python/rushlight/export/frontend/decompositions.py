# SPDX-License-Identifier: BSD-3-Clause
"""Chooses the operators to decompose, and their decompositions.

Rule: an operator with a kernel in the runtime stays whole; any other is decomposed by Core ATen's table or
by one of PyTorch's further decompositions. `SPLIT` lists operators that are decomposed although they have
a kernel, because the result is no slower and uses kernels that programs need anyway.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch._ops import OpOverload

from rushlight.export.dialect import fused
from rushlight.export.frontend.operators import OperatorLibrary

aten = torch.ops.aten

# Names without overload. Views become permute and view; constructors become full.
SPLIT = frozenset(
    {
        "aten::t",
        "aten::transpose",
        "aten::zeros",
        "aten::ones",
        "aten::new_zeros",
        "aten::new_ones",
        "aten::new_full",
        "aten::new_empty",
        "aten::zeros_like",
        "aten::ones_like",
        "aten::empty_like",
        "aten::zero",
        "aten::narrow_copy",
        "aten::detach",
        "aten::resize_as",
    }
)

Decompositions = dict[OpOverload, Callable[..., Any]]


def decomposition_table(
    library: OperatorLibrary, keep: Iterable[OpOverload] = (), for_backends: bool = False
) -> Decompositions:
    """The table for ExportedProgram.run_decompositions; the caller owns the copy.

    Args:
        library: the operators of the runtime.
        keep: further operators to leave whole (a partitioner's, a user's).
        for_backends: True decomposes to PyTorch's operators only, because backends match those.
    """
    kept = frozenset(keep)
    # Registering operators may register decompositions too: their count is part of the cache key.
    registered = len(torch._C._dispatch_get_all_op_names())
    tables = _TABLES.setdefault(library, {})
    key = kept, registered, for_backends
    if key not in tables:
        tables[key] = _made(library, kept, for_backends)
    return dict(tables[key])


# The cache of tables: building one takes 0.1 s, as long as the rest of a small export.
_TABLES: WeakKeyDictionary[OperatorLibrary, dict[tuple[frozenset[OpOverload], int, bool], Decompositions]]
_TABLES = WeakKeyDictionary()


def _made(library: OperatorLibrary, kept: frozenset[OpOverload], for_backends: bool) -> Decompositions:
    table = dict(torch.export.default_decompositions())
    for function in list(table):
        if function in kept or is_kept(function, library):
            del table[function]
    for function, rule in torch._decomp.decomposition_table.items():
        if function not in table and function not in kept and _is_further(function, library):
            table[function] = rule
    for function, rule in _OWN.items():
        if function not in kept and not is_kept(function, library):
            table[function] = rule
    if not for_backends and library.find(fused.lstm) is not None and aten.lstm.input not in kept:
        table[aten.lstm.input] = _lstm
    for function in recurrent_layers():
        if function not in kept:
            table[function] = _steps_of_layer
    return table


def affine_operators() -> list[OpOverload]:
    """torchao's composite quantization operators, which the integer rules know; empty if torchao is not
    imported."""
    names = ("choose_qparams_affine", "quantize_affine", "dequantize_affine")
    known = torch._C._dispatch_get_all_op_names()
    return [getattr(torch.ops.torchao, name).default for name in names if f"torchao::{name}" in known]


def recurrent_layers() -> list[OpOverload]:
    """The quantizer's operator for whole recurrent layers; empty if the quantizer is not imported."""
    known = "rushlight::recurrent_layer" in torch._C._dispatch_get_all_op_names()
    return [torch.ops.rushlight.recurrent_layer.default] if known else []


def is_kept(function: OpOverload, library: OperatorLibrary) -> bool:
    """True if the operator stays whole in programs."""
    return function._schema.name not in SPLIT and library.find(function) is not None


def _is_further(function: Any, library: OperatorLibrary) -> bool:
    """True for an operator with a decomposition outside Core ATen's table that should be used: no core
    operator, no out overload, no operator that stays whole."""
    if not isinstance(function, OpOverload) or is_kept(function, library):
        return False
    is_out = any(argument.is_out for argument in function._schema.arguments)
    return not is_out and torch.Tag.core not in function.tags


def _normal(like: torch.Tensor, mean: float = 0.0, std: float = 1.0, generator: Any = None) -> torch.Tensor:
    noise: torch.Tensor = aten.randn_like(like)
    return noise * std + mean


def _rrelu_with_noise(
    x: torch.Tensor,
    noise: torch.Tensor,
    lower: float = 0.125,
    upper: float = 1 / 3,
    training: bool = False,
    generator: Any = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    if not training:
        return aten.leaky_relu(x, (lower + upper) / 2), noise
    slopes = torch.where(x <= 0, aten.rand_like(x) * (upper - lower) + lower, 1.0)
    return x * slopes, slopes


def _lstm(
    input: torch.Tensor,
    hx: list[torch.Tensor],
    params: list[torch.Tensor],
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
    batch_first: bool,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Decomposes an LSTM to one `rushlight::lstm` per layer and direction, independent of the number of time
    steps. Layers with projections, and dropout in training, use PyTorch's decomposition to single steps."""
    directions = 2 if bidirectional else 1
    each = 4 if has_biases else 2
    # Projected hidden states have one more weight per layer.
    if len(params) != num_layers * directions * each or (train and dropout):
        whole = torch._decomp.decompositions.lstm_impl
        results: tuple[torch.Tensor, torch.Tensor, torch.Tensor] = whole(
            input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first
        )
        return results
    last: list[tuple[torch.Tensor, torch.Tensor]] = []
    x = input.transpose(0, 1) if batch_first else input
    for layer in range(num_layers):
        outputs = []
        for reverse in range(directions):
            position = layer * directions + reverse
            of_input, of_hidden, *biases = params[position * each : (position + 1) * each]
            gates = aten.linear(x, of_input, biases[0] + biases[1] if biases else None)
            output, *state = fused.lstm(gates, hx[0][position], hx[1][position], of_hidden, reverse == 1)
            outputs.append(output)
            last.append(tuple(state))
        x = torch.cat(outputs, -1) if bidirectional else outputs[0]
    hidden, cell = (torch.stack(parts) for parts in zip(*last, strict=True))
    return x.transpose(0, 1) if batch_first else x, hidden, cell


def _steps_of_layer(*arguments: Any, **named: Any) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    from rushlight.quantize.recurrent_layer import (
        decomposed_layer,
    )  # imported already if a graph has the operator

    return decomposed_layer(*arguments, **named)


# Decompositions that PyTorch lacks.
_OWN: Decompositions = {
    aten.normal_functional.default: _normal,
    aten.rrelu_with_noise_functional.default: _rrelu_with_noise,
}
