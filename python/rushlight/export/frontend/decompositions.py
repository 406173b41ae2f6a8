# SPDX-License-Identifier: BSD-3-Clause
"""Which operators are taken apart, and into what.

The rule: an operator that the runtime has a kernel for is kept whole; any other one is decomposed as
Core ATen's table says, or by one of PyTorch's further decompositions. `SPLIT` names those that are taken
apart although there is a kernel, because what they become is no slower and other code has it anyway.
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

# By name without overload. Views become permute and view; constructors become full.
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
    """The table for ExportedProgram.run_decompositions, a copy of the caller's own.

    Args:
        library: what the runtime has.
        keep: operators to leave whole besides (a partitioner's, a user's).
        for_backends: nothing becomes an operator that only rushlight has; backends look for PyTorch's own.
    """
    kept = frozenset(keep)
    # Whoever registers operators registers decompositions, too.
    registered = len(torch._C._dispatch_get_all_op_names())
    tables = _TABLES.setdefault(library, {})
    key = kept, registered, for_backends
    if key not in tables:
        tables[key] = _made(library, kept, for_backends)
    return dict(tables[key])


# Making a table takes a tenth of a second: as long as the rest of a small export.
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
    """torchao's operators that quantize, where it is imported: composite ones, which rules know."""
    names = ("choose_qparams_affine", "quantize_affine", "dequantize_affine")
    known = torch._C._dispatch_get_all_op_names()
    return [getattr(torch.ops.torchao, name).default for name in names if f"torchao::{name}" in known]


def recurrent_layers() -> list[OpOverload]:
    """The quantizer's operator for whole recurrent layers, where the quantizer is imported."""
    known = "rushlight::recurrent_layer" in torch._C._dispatch_get_all_op_names()
    return [torch.ops.rushlight.recurrent_layer.default] if known else []


def is_kept(function: OpOverload, library: OperatorLibrary) -> bool:
    """Whether the operator goes into programs as it is."""
    return function._schema.name not in SPLIT and library.find(function) is not None


def _is_further(function: Any, library: OperatorLibrary) -> bool:
    """Whether one of PyTorch's decompositions outside of Core ATen's table is wanted."""
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
    """One operator for the steps of each layer and direction: nothing depends on how many there are."""
    directions = 2 if bidirectional else 1
    each = 4 if has_biases else 2
    # Hidden states that are projected have one weight more.
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
            place = layer * directions + reverse
            of_input, of_hidden, *biases = params[place * each : (place + 1) * each]
            gates = aten.linear(x, of_input, biases[0] + biases[1] if biases else None)
            output, *state = fused.lstm(gates, hx[0][place], hx[1][place], of_hidden, reverse == 1)
            outputs.append(output)
            last.append(tuple(state))
        x = torch.cat(outputs, -1) if bidirectional else outputs[0]
    hidden, cell = (torch.stack(parts) for parts in zip(*last, strict=True))
    return x.transpose(0, 1) if batch_first else x, hidden, cell


def _steps_of_layer(*arguments: Any, **named: Any) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    from rushlight.quantize.recurrent_layer import take_apart  # it was imported, or no graph had the operator

    return take_apart(*arguments, **named)


# Decompositions that PyTorch does not bring.
_OWN: Decompositions = {
    aten.normal_functional.default: _normal,
    aten.rrelu_with_noise_functional.default: _rrelu_with_noise,
}
