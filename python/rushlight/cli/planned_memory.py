# SPDX-License-Identifier: BSD-3-Clause
"""The memory plan of a method, read back from its file: which bytes of the planned buffers hold a tensor at
which instructions. The file has offsets, and lifetimes follow from the instructions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rushlight.memory.report import live_bytes
from rushlight.memory.requests import Bank, BankUse, Placement, Plan, Request
from rushlight.program.model import DelegateCall, KernelCall, Method, Move, Storage, TensorInfo

_HELD = (Storage.PLANNED, Storage.MUTABLE)


@dataclass
class _Life:
    """A tensor in planned memory from its first to its last instruction; `user` is the first operator."""

    tensor: TensorInfo
    first: int
    last: int
    user: str

    @property
    def bytes_at(self) -> tuple[int, int, int]:
        return self.tensor.memory_id, self.tensor.memory_offset, self.tensor.nbytes


def memory_plan(method: Method) -> Plan:
    """The plan in the file. A jump counts as if the instructions behind it ran in order."""
    lives = _joined(_lives(method))
    requests = tuple(
        Request(
            f"{life.user}, {index}", life.tensor.nbytes, life.first, life.last, 1, note=_shape(life.tensor)
        )
        for index, life in enumerate(lives)
    )
    placements = tuple(Placement(life.tensor.memory_id, life.tensor.memory_offset) for life in lives)
    uses = []
    for number, size in enumerate(method.buffer_sizes[1:], 1):
        held = [r for r, placement in zip(requests, placements, strict=True) if placement.bank == number]
        most = max((live for _, live in live_bytes(held)), default=0)
        uses.append(BankUse(Bank(f"planned memory {number}", number), size, most))
    bound = sum(use.lower_bound for use in uses)
    return Plan(requests, placements, tuple(uses), bound, "file", 0.0, False)


def _lives(method: Method) -> list[_Life]:
    """The life of each value that is a tensor in planned memory, and has bytes."""
    lives: dict[int, _Life] = {}

    def use(index: int, position: int, user: str) -> None:
        tensor = method.values[index].data
        if isinstance(tensor, TensorInfo) and tensor.storage in _HELD and tensor.nbytes:
            life = lives.setdefault(index, _Life(tensor, position, position, user))
            life.last = position

    end = len(method.instructions) + 1
    for index in method.inputs:
        use(index, 0, "input")
    for index, value in enumerate(method.values):
        if isinstance(value.data, TensorInfo) and value.data.storage is Storage.MUTABLE:
            use(index, 0, "state")
    for position, (user, arguments) in enumerate(_calls(method), 1):
        for index in _flat(method, arguments):
            use(index, position, user.partition("::")[2] or user)
    for index in method.outputs:
        use(index, end, "output")
    for life in lives.values():
        life.last = end if life.tensor.storage is Storage.MUTABLE else life.last
    return list(lives.values())


def _calls(method: Method) -> Iterator[tuple[str, tuple[int, ...]]]:
    """The name and the values of each instruction."""
    for instruction in method.instructions:
        if isinstance(instruction, KernelCall):
            yield method.operators[instruction.operator], instruction.arguments
        elif isinstance(instruction, DelegateCall):
            yield method.delegates[instruction.delegate].id, instruction.arguments
        elif isinstance(instruction, Move):
            yield "move", (instruction.source, instruction.destination)
        else:
            yield "", ()


def _flat(method: Method, arguments: tuple[int, ...]) -> Iterator[int]:
    """The values of the arguments, and those in lists of tensors."""
    for index in arguments:
        value = method.values[index]
        yield index
        if value.kind.name.endswith("TENSOR_LIST") and isinstance(value.data, tuple):
            yield from (item for item in value.data if item >= 0)


def _joined(lives: list[_Life]) -> list[_Life]:
    """Joins lives of the same bytes that touch: views and in-place results share bytes with their source."""
    joined: list[_Life] = []
    for life in sorted(lives, key=lambda each: (each.bytes_at, each.first)):
        before = joined[-1] if joined else None
        if before is not None and before.bytes_at == life.bytes_at and life.first <= before.last:
            before.last = max(before.last, life.last)
        else:
            joined.append(life)
    return joined


def _shape(tensor: TensorInfo) -> str:
    name = f"{tensor.name} " if tensor.name else ""
    return f"{name}{tensor.dtype} {list(tensor.sizes)}"
