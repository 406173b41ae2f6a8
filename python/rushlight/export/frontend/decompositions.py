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

from rushlight.export.frontend import recurrent
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
    for resampling in (aten.upsample_linear1d, aten.upsample_bicubic2d, aten.upsample_trilinear3d):
        if resampling.vec not in kept and is_kept(resampling.default, library):
            table[resampling.vec] = _with_sizes(resampling.default)
    for function, (operator, rule) in ({} if for_backends else recurrent.LAYERS).items():
        if function not in kept and library.find(operator) is not None:
            table[function] = rule
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


def _with_sizes(operator: OpOverload) -> Callable[..., torch.Tensor]:
    """Decomposes the overload of an upsampling that takes sizes or factors to the one that takes both, which
    has a kernel; PyTorch's own decomposition gathers and blends element by element."""

    def resized(
        x: torch.Tensor, output_size: Any, align_corners: bool, scale_factors: Any = None
    ) -> torch.Tensor:
        sizes = torch._decomp.decompositions.upsample_compute_output_size(
            x.size(), output_size, scale_factors
        )
        factors = [None] * len(sizes) if scale_factors is None else scale_factors
        result: torch.Tensor = operator(x, sizes, align_corners, *factors)
        return result

    return resized


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
