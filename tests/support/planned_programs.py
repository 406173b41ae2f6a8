# SPDX-License-Identifier: BSD-3-Clause
"""The requests behind the memory plan of an existing program, from its tensors and instructions."""

from __future__ import annotations

from rushlight.memory import Request
from rushlight.program.model import (
    DelegateCall,
    Free,
    JumpFalse,
    KernelCall,
    Kind,
    Method,
    Move,
    Storage,
    TensorInfo,
)

ALIGNMENT = 16


class _Block:
    """Bytes of a buffer that one or more tensors share while they live: views and in-place results."""

    def __init__(self, index: int, tensor: TensorInfo, first: int, last: int) -> None:
        self.names = [tensor.name or f"value {index}"]
        self.bank = tensor.memory_id
        self.low, self.high = tensor.memory_offset, tensor.memory_offset + tensor.nbytes
        self.first, self.last = first, last

    def meets(self, other: _Block) -> bool:
        """True if both live at the same time and share bytes."""
        in_time = self.first <= other.last and other.first <= self.last
        return in_time and self.bank == other.bank and self.low < other.high and other.low < self.high

    def join(self, other: _Block) -> None:
        self.names += other.names
        self.low, self.high = min(self.low, other.low), max(self.high, other.high)
        self.first, self.last = min(self.first, other.first), max(self.last, other.last)

    def request(self) -> Request:
        nbytes = self.high - self.low
        return Request(" = ".join(self.names), nbytes, self.first, self.last, ALIGNMENT, self.bank)


def planned_requests(method: Method) -> list[Request]:
    """A request for each block of planned memory, fixed to its bank."""
    blocks: list[_Block] = []
    for index, (first, last) in lifetimes(method).items():
        tensor = method.values[index].data
        assert isinstance(tensor, TensorInfo)
        _add(blocks, _Block(index, tensor, first, last))
    return [block.request() for block in blocks]


def lifetimes(method: Method) -> dict[int, tuple[int, int]]:
    """First and last use of each planned tensor, by index of its value. Inputs and state live from the
    beginning, outputs and state to the end; a tensor used inside and outside of a loop lives during the
    whole loop."""
    end = len(method.instructions)
    uses: dict[int, list[int]] = {}
    for position, instruction in enumerate(method.instructions):
        for index in _used(method, instruction):
            uses.setdefault(index, []).append(position)
    for index in (i for value in method.inputs for i in _tensors(method, value)):
        uses.setdefault(index, []).append(-1)
    for index in (i for value in method.outputs for i in _tensors(method, value)):
        uses.setdefault(index, []).append(end)
    for index, value in enumerate(method.values):
        if isinstance(value.data, TensorInfo) and value.data.storage is Storage.MUTABLE:
            uses.setdefault(index, []).extend((-1, end))
    lives = {index: (min(at), max(at)) for index, at in uses.items()}
    for position, instruction in enumerate(method.instructions):
        if isinstance(instruction, JumpFalse) and instruction.target <= position:
            lives = {index: _over_loop(*life, instruction.target, position) for index, life in lives.items()}
    return lives


def _over_loop(first: int, last: int, begin: int, end: int) -> tuple[int, int]:
    """The lifetime of a tensor if `begin` to `end` is repeated."""
    outside = first < begin or last > end
    meets = first <= end and last >= begin
    return (min(first, begin), max(last, end)) if outside and meets else (first, last)


def _add(blocks: list[_Block], block: _Block) -> None:
    """Joins the block with the blocks that it meets, until it meets none."""
    while True:
        met = [other for other in blocks if block.meets(other)]
        if not met:
            break
        for other in met:
            block.join(other)
            blocks.remove(other)
    blocks.append(block)


def _used(method: Method, instruction: object) -> list[int]:
    if isinstance(instruction, KernelCall | DelegateCall):
        values = instruction.arguments
    elif isinstance(instruction, Move):
        values = (instruction.source, instruction.destination)
    elif isinstance(instruction, JumpFalse):
        values = (instruction.condition,)
    else:
        assert isinstance(instruction, Free)
        values = (instruction.value,)
    return [index for value in values for index in _tensors(method, value)]


def _tensors(method: Method, index: int) -> list[int]:
    """The planned tensors that a value is or lists, as indices of values."""
    value = method.values[index]
    if value.kind in (Kind.TENSOR_LIST, Kind.OPTIONAL_TENSOR_LIST):
        assert isinstance(value.data, tuple)
        return [item for entry in value.data if entry >= 0 for item in _tensors(method, entry)]
    tensor = value.data
    planned = isinstance(tensor, TensorInfo) and tensor.storage in (Storage.PLANNED, Storage.MUTABLE)
    return [index] if planned else []
