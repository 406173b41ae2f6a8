# SPDX-License-Identifier: BSD-3-Clause
"""Keeps outputs in the kind of memory that the file assigned: planned, or the caller's."""

from __future__ import annotations

from collections.abc import Sequence

from rushlight.convert.graph import ProgramGraph
from rushlight.lowered.instructions import MemoryKind, Operand, TensorOperand

_COPY = "aten::clone"


def memory_kinds(outputs: Sequence[Operand]) -> list[MemoryKind | None]:
    """The memory kind of each output; None for outputs that are no tensors."""
    return [each.storage.kind if isinstance(each, TensorOperand) else None for each in outputs]


def keep_memory_kinds(graph: ProgramGraph, wanted: Sequence[MemoryKind | None]) -> None:
    """Inserts a copy for each output whose memory kind the rules have changed."""
    outputs = graph.method.lowered.outputs
    for position, (output, kind) in enumerate(zip(outputs, wanted, strict=True)):
        if not isinstance(output, TensorOperand) or kind is None or output.storage.kind is kind:
            continue
        copy = graph.insert(None, _COPY, {"self": output, "memory_format": None}, output, output.dtype)
        copy.storage.kind = kind
        outputs[position] = copy
