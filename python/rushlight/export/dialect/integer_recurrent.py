# SPDX-License-Identifier: BSD-3-Clause
"""Recurrent layers in integers; they match the kernels bit for bit: see
kernels/quantization/integer_recurrent.h."""

from __future__ import annotations

from functools import partial

import numpy as np
import torch

from rushlight.export.dialect.fused import NAMESPACE
from rushlight.integers.graph import Array
from rushlight.integers.recurrent import GATES, Numbers, run, short

_LIBRARY = torch.library.Library(NAMESPACE, "FRAGMENT")
for _kind in GATES:
    _LIBRARY.define(
        f"quantized_{_kind}(Tensor input, Tensor hidden, Tensor cell, Tensor weight, Tensor hidden_weight, "
        "Tensor multipliers, Tensor hidden_multipliers, Tensor bias, int shift, Tensor tables, "
        "int cell_bits, int output_multiplier, int output_shift, int output_zero_point, int output_min, "
        "int output_max, bool reverse) -> (Tensor, Tensor)"
    )


def _recurrent(
    kind: str,
    input: torch.Tensor,
    hidden: torch.Tensor,
    cell: torch.Tensor,
    weight: torch.Tensor,
    hidden_weight: torch.Tensor,
    multipliers: torch.Tensor,
    hidden_multipliers: torch.Tensor,
    bias: torch.Tensor,
    shift: int,
    tables: torch.Tensor,
    cell_bits: int,
    output_multiplier: int,
    output_shift: int,
    output_zero_point: int,
    output_min: int,
    output_max: int,
    reverse: bool,
) -> tuple[torch.Tensor, torch.Tensor]:
    def wide(tensor: torch.Tensor) -> Array:
        return np.asarray(tensor.detach().cpu().to(torch.int64).numpy())

    left, right = wide(input) @ wide(weight).T * wide(multipliers), wide(hidden_weight).T
    scales, starts = wide(hidden_multipliers), wide(bias).reshape(4, -1)

    def gates(step: int, before: Array) -> list[Array]:
        count = GATES[kind]
        a, b = (
            each.reshape(len(each), count, -1).swapaxes(0, 1)
            for each in (left[step], before @ right * scales)
        )
        sums = [*(a + b)] if kind == "lstm" else [*(a + b)[:2], a[2], b[2]]
        return [short((start + each) >> shift) for start, each in zip(starts, sums, strict=True)]

    numbers = Numbers(
        kind,
        np.asarray(tables.numpy()),
        cell_bits,
        output_multiplier,
        output_shift,
        output_zero_point,
        output_min,
        output_max,
    )
    output, last = run(numbers, gates, len(input), wide(hidden), wide(cell), reverse)
    return torch.from_numpy(output).to(input.dtype), torch.from_numpy(last).to(cell.dtype)


def _shapes(
    input: torch.Tensor, hidden: torch.Tensor, cell: torch.Tensor, *_: object
) -> tuple[torch.Tensor, torch.Tensor]:
    return input.new_empty(input.shape[0], *hidden.shape), torch.empty_like(cell)


for _kind in GATES:
    _LIBRARY.impl(f"quantized_{_kind}", partial(_recurrent, _kind), "CompositeExplicitAutograd")
    torch.library.register_fake(f"{NAMESPACE}::quantized_{_kind}", _shapes)

OPERATORS = {kind: getattr(torch.ops.rushlight, f"quantized_{kind}").default for kind in GATES}
"""The operator for each kind of layer."""
