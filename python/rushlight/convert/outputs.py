# SPDX-License-Identifier: BSD-3-Clause
"""Keeps outputs in the kind of memory that the file assigned: planned, or the caller's."""

from __future__ import annotations

from collections.abc import Sequence

from rushlight.convert.graph import ProgramGraph
from rushlight.lowered.instructions import Operand, Place, TensorOperand

_COPY = "aten::clone"


def places(outputs: Sequence[Operand]) -> list[Place | None]:
    """The memory kind of each output; None for outputs that are no tensors."""
    return [each.storage.place if isinstance(each, TensorOperand) else None for each in outputs]


def keep_memory_kinds(graph: ProgramGraph, wanted: Sequence[Place | None]) -> None:
    """Inserts a copy for each output whose memory kind the rules have changed."""
    outputs = graph.method.lowered.outputs
    for position, (output, place) in enumerate(zip(outputs, wanted, strict=True)):
        if not isinstance(output, TensorOperand) or place is None or output.storage.place is place:
            continue
        copy = graph.insert(None, _COPY, {"self": output, "memory_format": None}, output, output.dtype)
        copy.storage.place = place
        outputs[position] = copy
