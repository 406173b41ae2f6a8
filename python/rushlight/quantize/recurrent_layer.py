# SPDX-License-Identifier: BSD-3-Clause
"""The operator `rushlight::recurrent_layer`, one layer in one direction. It computes in float until the
quantization of its states is known, then rounds in each step as the integer kernels do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from rushlight.integers.graph import Array
from rushlight.integers.recurrent import GATE_FRACTION, GATES, Numbers, run, short

aten = torch.ops.aten
_LIBRARY = torch.library.Library("rushlight", "FRAGMENT")
# scale (0: the layer computes in float), zero_point, low and high quantize the hidden states; cell_bits is
# the number of fraction bits of the cell. For a GRU, `cell` is the hidden state again, in 16 bits. Results:
# the hidden states of all steps, the last cell, and the largest magnitude of each cell.
_LIBRARY.define(
    "recurrent_layer(str kind, Tensor input, Tensor hidden, Tensor cell, Tensor weight, "
    "Tensor hidden_weight, Tensor? bias, Tensor? hidden_bias, bool reverse, float scale=0.0, "
    "int zero_point=0, int low=-128, int high=127, int cell_bits=0) -> (Tensor, Tensor, Tensor)"
)


def lstm_step(given: Any, kept: Any, state: Sequence[Any]) -> list[Any]:
    """The state after a step, from the input's part of the gates, the state's part, and the state before. A
    state is a list of tensors whose first element is the step's output."""
    gates = aten.chunk.default(aten.add.Tensor(given, kept), 4, 1)
    taken, forgotten, shown = (aten.sigmoid.default(gates[index]) for index in (0, 1, 3))
    new = aten.mul.Tensor(taken, aten.tanh.default(gates[2]))
    cell = aten.add.Tensor(aten.mul.Tensor(forgotten, state[1]), new)
    return [aten.mul.Tensor(shown, aten.tanh.default(cell)), cell]


def gru_step(given: Any, kept: Any, state: Sequence[Any]) -> list[Any]:
    """As lstm_step()."""
    given, kept = aten.chunk.default(given, 3, 1), aten.chunk.default(kept, 3, 1)
    reset, update = (aten.sigmoid.default(aten.add.Tensor(given[i], kept[i])) for i in (0, 1))
    new = aten.tanh.default(aten.add.Tensor(given[2], aten.mul.Tensor(reset, kept[2])))
    change = aten.mul.Tensor(update, aten.sub.Tensor(state[0], new))
    return [aten.add.Tensor(new, change)]


def decomposed_layer(
    kind: str,
    input: torch.Tensor,
    hidden: torch.Tensor,
    cell: torch.Tensor,
    weight: torch.Tensor,
    hidden_weight: torch.Tensor,
    bias: torch.Tensor | None,
    hidden_bias: torch.Tensor | None,
    reverse: bool,
    scale: float = 0.0,
    zero_point: int = 0,
    low: int = -128,
    high: int = 127,
    cell_bits: int = 0,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The layer as PyTorch's operators: its steps, each with a quantize of the hidden state. Gates and cells
    are floats."""
    ops = torch.ops.quantized_decomposed
    form = scale, zero_point, low, high, torch.int8
    given = functional.linear(input, weight, bias)
    steps, largest = input.shape[0], cell.abs()
    outputs = [hidden] * steps
    state = [hidden, cell] if kind == "lstm" else [cell]
    for step in range(steps)[:: -1 if reverse else 1]:
        kept = functional.linear(hidden, hidden_weight, hidden_bias)
        state = (lstm_step if kind == "lstm" else gru_step)(given[step], kept, state)
        hidden = state[0]
        if scale:
            numbers = ops.quantize_per_tensor.default(hidden, *form)
            hidden = ops.dequantize_per_tensor.default(numbers, *form)
        outputs[step] = hidden
        largest = torch.maximum(largest, state[-1].abs())
    return torch.stack(outputs) if steps else hidden.new_empty(0, *hidden.shape), state[-1], largest


def _doubled(tensor: torch.Tensor) -> Array:
    return np.asarray(tensor.detach().cpu().to(torch.float64).numpy())


def _layer(
    kind: str,
    input: torch.Tensor,
    hidden: torch.Tensor,
    cell: torch.Tensor,
    weight: torch.Tensor,
    hidden_weight: torch.Tensor,
    bias: torch.Tensor | None,
    hidden_bias: torch.Tensor | None,
    reverse: bool,
    scale: float = 0.0,
    zero_point: int = 0,
    low: int = -128,
    high: int = 127,
    cell_bits: int = 0,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    if not scale:
        apart = decomposed_layer(kind, input, hidden, cell, weight, hidden_weight, bias, hidden_bias, reverse)
        return apart[0], apart[1].clone(), apart[2]
    numbers = Numbers.of(kind, cell_bits, scale, zero_point, low, high)
    if numbers is None:
        raise ValueError(f"recurrent_layer: expected a scale of hidden states in range, got {scale}")
    starts = [0.0 if each is None else _doubled(each) for each in (bias, hidden_bias)]
    given, right = _doubled(input) @ _doubled(weight).T + starts[0], _doubled(hidden_weight).T

    def gates(step: int, before: Array) -> list[Array]:
        kept = (before - zero_point) * scale @ right + starts[1]
        a, b = (np.split(each, GATES[kind], axis=1) for each in (given[step], kept))
        sums = [x + y for x, y in zip(a, b, strict=True)]
        sums = sums if kind == "lstm" else [*sums[:2], a[2], b[2]]
        return [
            short(np.floor(np.clip(each, -64, 64) * 2.0**GATE_FRACTION + 0.5).astype(np.int64))
            for each in sums
        ]

    first = np.clip(np.rint(_doubled(hidden) / scale) + zero_point, low, high).astype(np.int64)
    first_cell = short(np.rint(_doubled(cell) * 2.0**cell_bits)).astype(np.int64)
    made, last = run(numbers, gates, len(input), first, first_cell, reverse)
    output = torch.from_numpy((made - zero_point) * np.float64(scale)).to(input.dtype)
    state = torch.from_numpy(last * 2.0**-cell_bits).to(cell.dtype)
    return output, state, state.abs()


def _shapes(
    kind: str, input: torch.Tensor, hidden: torch.Tensor, cell: torch.Tensor, *_: object, **__: object
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    return input.new_empty(input.shape[0], *hidden.shape), torch.empty_like(cell), torch.empty_like(cell)


_LIBRARY.impl("recurrent_layer", _layer, "CompositeExplicitAutograd")
torch.library.register_fake("rushlight::recurrent_layer", _shapes)

recurrent_layer = torch.ops.rushlight.recurrent_layer.default
NUMBERS = 9
"""The index of the first quantization argument of the hidden states; cell_bits is the last argument."""
