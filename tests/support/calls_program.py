# SPDX-License-Identifier: BSD-3-Clause
"""Recorded calls of operators as one program, and the results of a board for it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from rushlight.run.api import run
from rushlight.run.cases import Call, Case
from support.harness import DTYPE_NUMBERS, MEMORY_FORMAT_NUMBERS, dim_order
from support.opinfo.judging import judge
from support.opinfo.recording import RecordedCall
from support.programs import Plan, numbers, program, scalar, string, tensor, tensors

ALIGNMENT = 64
"""Bytes between the starts of tensors: a cache line, as PyTorch aligns its tensors."""


class CallsProgram:
    """A program of several calls, which it makes `repeats` times. All their tensors are inputs, in order, and
    all outs are outputs."""

    def __init__(self, calls: Sequence[RecordedCall], repeats: int = 1) -> None:
        rows = sorted({call.row for call in calls})
        self._plan = Plan(operators=[row.partition(".")[::2] for row in rows])
        self._outs = {id(out) for call in calls for out in call.outs}
        self._end = 0
        for call in calls:
            kinds = [str(argument.type) for argument in call.schema.arguments]
            arguments = [self._value(*item) for item in zip(call.arguments, kinds, strict=True)]
            self._plan.calls.append((rows.index(call.row), arguments))
        self._plan.calls *= repeats
        self._plan.buffer_sizes = [0, self._end]

    def file(self) -> bytes:
        """The program's file."""
        return program(self._plan)

    def _add(self, build: Any) -> int:
        self._plan.values.append(build)
        return len(self._plan.values) - 1

    def _value(self, item: Any, kind: str) -> int:
        """Adds an argument of a kind as schemas name them ("Optional[List[int]]"); returns its index."""
        if isinstance(item, torch.Tensor):
            return self._tensor(item)
        if item is not None and "List" in kind:
            return self._list(item if isinstance(item, (list, tuple)) else [item], kind)
        if isinstance(item, str):
            return self._add(string(item))
        if isinstance(item, (torch.layout, torch.device)):
            item = 0
        item = {**DTYPE_NUMBERS, **MEMORY_FORMAT_NUMBERS}.get(item, item)
        return self._add(scalar(float(item) if item is not None and "float" in kind else item))

    def _list(self, items: Sequence[Any], kind: str) -> int:
        if "Tensor" in kind:
            indices = [-1 if item is None else self._tensor(item) for item in items]
            return self._add(tensors(indices, optional="Optional[Tensor]" in kind))
        if "float" in kind or "bool" in kind:
            return self._add(numbers(float if "float" in kind else bool, items))
        return self._add(numbers(int, [self._add(scalar(int(item))) for item in items]))

    def _tensor(self, item: torch.Tensor) -> int:
        name = str(item.dtype).removeprefix("torch.")
        added = self._add(tensor(name, item.shape, offset=self._end, dim_order=dim_order(item)))
        self._end += -(-item.nbytes // ALIGNMENT) * ALIGNMENT
        self._plan.inputs.append(added)
        if id(item) in self._outs:
            self._plan.outputs.append(added)
        return added


def computed(calls: Sequence[RecordedCall], board: str, folder: Path) -> list[list[torch.Tensor]]:
    """The outs of each call as a board computes them."""
    model = folder / "calls.pte"
    model.write_bytes(CallsProgram(calls).file())
    inputs = [item.numpy() for call in calls for item in call.tensors]
    outcome = run(
        model, Case("calls", 0.0, [Call("forward", inputs, None)]), target=board, build_folder=folder
    )
    left = [torch.tensor(array) for array in outcome.calls[0].result.outputs]
    return [[left.pop(0) for _ in call.outs] for call in calls]


def problem(call: RecordedCall, outs: Sequence[torch.Tensor]) -> str:
    """A message that describes the error in the outs; empty if they are right."""
    try:
        judge(call.row, call.function, call.given, outs, call.expected)
    except AssertionError as wrong:
        return f"{call}: {' '.join(str(wrong).split())}"
    return ""
