# SPDX-License-Identifier: BSD-3-Clause
"""Reads a method of a file as a lowered method: calls with the arguments of their schemas, and tensors that
are written once.

A method with anything unproven is refused with a reason: jumps, delegates, memory that no instruction
wrote. Shapes are not checked: kernels check them when the converted program is executed, as in any
program. Cost: linear in instructions, except that overlap checks are linear in live storages per access.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rushlight.codegen.table import Operator
from rushlight.convert import contracts
from rushlight.convert.memory import PlannedMemory
from rushlight.errors import InvalidArgument
from rushlight.lowered.instructions import (
    Call,
    LoweredMethod,
    MemoryKind,
    NumberOperand,
    Operand,
    Origin,
    Storage,
    TensorOperand,
)
from rushlight.program.arrays import as_array
from rushlight.program.dim_order import inverse, is_row_major
from rushlight.program.dtypes import element_size
from rushlight.program.model import (
    Device,
    Dynamism,
    KernelCall,
    Kind,
    Method,
    TensorInfo,
    Value,
)
from rushlight.program.model import Storage as Where

VIEW = "aten::view_copy.out"
_ET_VIEW = "executorch_prim::et_view.default"
MOST_CALLS = 10_000
"""The maximum number of instructions of a converted method: moving calls takes quadratic time."""

_NUMBERS = {Kind.INT: int, Kind.BOOL: bool, Kind.DOUBLE: float}
_PLANNED = (Where.PLANNED, Where.MUTABLE)


class Unread(Exception):
    """The reason why a method stays unchanged."""


@dataclass
class ReadMethod:
    """A method as read from a file. Storages in `fixed` may hold several values during an execution, or parts
    that are read under other shapes: no call that touches them may move, and their layout must not change.
    `written_again` is the subset that changes after its first write."""

    lowered: LoweredMethod
    fixed: set[Storage] = field(default_factory=set)
    written_again: set[Storage] = field(default_factory=set)


def read(
    method: Method, operators: Mapping[str, Operator], constant: Callable[[TensorInfo], memoryview]
) -> ReadMethod:
    """Reads the method as instructions over storages. `constant` returns the bytes of a tensor in the file.

    Errors: Unread with the reason.
    """
    return _Reader(method, operators, constant).read()


class _Reader:
    def __init__(
        self,
        method: Method,
        operators: Mapping[str, Operator],
        constant: Callable[[TensorInfo], memoryview],
    ) -> None:
        self.method, self.operators, self.constant = method, operators, constant
        self.result = ReadMethod(LoweredMethod(method.name))
        self.memory = PlannedMemory()
        self.tensors: dict[int, TensorOperand] = {}
        self.first: dict[Storage, TensorOperand] = {}
        self.numbers: dict[int, NumberOperand] = {}
        self.views: dict[tuple[int, Storage], TensorOperand] = {}
        self.viewed: set[Storage] = set()

    def read(self) -> ReadMethod:
        method, lowered = self.method, self.result.lowered
        self._check_method()
        self._find_numbers()
        lowered.in_spec, lowered.out_spec = method.input_structure, method.output_structure
        for index, value in enumerate(method.values):
            if isinstance(value.data, TensorInfo) and value.data.storage is Where.MUTABLE:
                lowered.mutable.append(self._state(index, value.data))
        lowered.inputs = [self._input(index) for index in method.inputs]
        for position, call in enumerate(method.instructions):
            assert isinstance(call, KernelCall)
            self._call(position, call)
        lowered.outputs = [self._operand(index) for index in method.outputs]
        return self.result

    def _check_method(self) -> None:
        method = self.method
        kinds = sorted({type(i).__name__ for i in method.instructions if not isinstance(i, KernelCall)})
        _need(not kinds, f"it has instructions of the kind {', '.join(kinds)}")
        _need(len(method.chains) == 1, f"it has {len(method.chains)} chains")
        _need(len(method.instructions) <= MOST_CALLS, f"it has more than {MOST_CALLS:,} instructions")
        tensors = [value.data for value in method.values if isinstance(value.data, TensorInfo)]
        for tensor in tensors:
            aligned = tensor.memory_offset % min(element_size(tensor.dtype), 8) == 0
            _need(aligned, f"a tensor of {tensor.dtype} is at byte {tensor.memory_offset}")
        on_devices = method.buffer_devices or any(tensor.device != Device() for tensor in tensors)
        _need(not on_devices, "it has memory on devices")
        free = any(tensor.dynamism is Dynamism.UNBOUNDED for tensor in tensors)
        _need(not free, "it has tensors of unbounded size")
        _need(len(set(method.inputs)) == len(method.inputs), "two of its inputs are the same value")

    def _find_numbers(self) -> None:
        """Finds the scalar values that instructions write."""
        for position, instruction in enumerate(self.method.instructions):
            assert isinstance(instruction, KernelCall)
            row = self._row(instruction)
            for argument, index in zip(row.schema.arguments, instruction.arguments, strict=False):
                value = self.method.values[index]
                if argument.mutable and argument.base == "Any" and value.kind is not Kind.TENSOR:
                    _need(value.kind in _NUMBERS, f"instruction {position} writes a {value.kind.name}")
                    initial: Any = value.data
                    self.numbers.setdefault(index, NumberOperand(_NUMBERS[value.kind], initial))
        for index in self.method.inputs:
            value = self.method.values[index]
            if value.kind in _NUMBERS:
                known: Any = value.data
                self.numbers.setdefault(index, NumberOperand(_NUMBERS[value.kind], known))

    def _row(self, call: KernelCall) -> Operator:
        name = self.method.operators[call.operator]
        row = self.operators.get(name)
        if row is None:
            raise Unread(f"it calls the unknown operator {name}")
        return row

    def _state(self, index: int, tensor: TensorInfo) -> TensorOperand:
        """A tensor whose initial elements are in the file and which persists between executions."""
        _need(not self.memory.touched(tensor), f"value {index} shares memory with other state")
        storage = self._storage(index, tensor, MemoryKind.MUTABLE)
        storage.name = tensor.name or storage.name
        storage.data = self._array(tensor)
        self.result.fixed.add(storage)
        self.result.written_again.add(storage)
        self.memory.put(tensor, storage)
        return self._bind(index, tensor, storage)

    def _input(self, index: int) -> Operand:
        tensor = self.method.values[index].data
        if not isinstance(tensor, TensorInfo):
            return self._operand(index)
        if tensor.storage is Where.INPUT:
            return self._operand(index)
        _need(tensor.storage is Where.PLANNED, f"input value {index} is {tensor.storage.value}")
        _need(not self.memory.touched(tensor), f"input value {index} shares memory with others")
        storage = self._storage(index, tensor, MemoryKind.PLANNED)
        self.memory.put(tensor, storage)
        return self._bind(index, tensor, storage)

    def _storage(self, index: int, tensor: TensorInfo, kind: MemoryKind) -> Storage:
        bank = tensor.memory_id if tensor.storage in _PLANNED else None
        return Storage(f"value {index}", tensor.nbytes, kind, bank=bank)

    def _bind(self, index: int, tensor: TensorInfo, storage: Storage, offset: int = 0) -> TensorOperand:
        dynamic = tensor.dynamism is not Dynamism.STATIC
        operand = TensorOperand(
            tensor.dtype,
            tensor.sizes,
            tensor.dim_order,
            storage,
            dynamic,
            offset,
            (f"value {index}",) if dynamic else (),
        )
        self.tensors[index] = operand
        self.first.setdefault(storage, operand)
        return operand

    def _array(self, tensor: TensorInfo) -> Any:
        """The elements of a constant; raw bytes (numpy's V dtypes) if numpy lacks the dtype."""
        data = self.constant(tensor)
        try:
            return as_array(data, tensor.dtype, tensor.sizes, tensor.dim_order)
        except InvalidArgument:
            kind = np.dtype(f"V{element_size(tensor.dtype)}")
            stored = np.frombuffer(data[: tensor.nbytes], kind)
            shape = [tensor.sizes[dim] for dim in tensor.dim_order]
            return stored.reshape(shape).transpose(inverse(tensor.dim_order))

    # Reading

    def _operand(self, index: int) -> Operand:
        """The operand for a value at this position of the code."""
        if index in self.numbers:
            return self.numbers[index]
        value = self.method.values[index]
        if value.kind is Kind.TENSOR:
            assert isinstance(value.data, TensorInfo)
            return self._tensor(index, value.data)
        return self._plain(value)

    def _plain(self, value: Value) -> Operand:
        match value.kind:
            case Kind.INT_LIST | Kind.TENSOR_LIST:
                assert isinstance(value.data, tuple)
                return [self._operand(item) for item in value.data]
            case Kind.OPTIONAL_TENSOR_LIST:
                assert isinstance(value.data, tuple)
                return [None if item < 0 else self._operand(item) for item in value.data]
            case Kind.DOUBLE_LIST | Kind.BOOL_LIST:
                assert isinstance(value.data, tuple)
                return list(value.data)
        return value.data

    def _tensor(self, index: int, tensor: TensorInfo) -> TensorOperand:
        """The operand of a tensor that is read."""
        known = self.tensors.get(index)
        if tensor.storage not in _PLANNED:
            return self._outside(index, tensor) if known is None else known
        if tensor.nbytes == 0:
            return known or self._bind(index, tensor, self._storage(index, tensor, MemoryKind.PLANNED))
        found = self.memory.find(tensor)
        if found is None:
            raise Unread(f"value {index} is read, but no single instruction wrote all of it")
        storage, offset = found
        if known is not None and (known.storage, known.offset) == (storage, offset):
            return known
        return self._seen_otherwise(index, tensor, storage, offset)

    def _outside(self, index: int, tensor: TensorInfo) -> TensorOperand:
        """A tensor outside planned memory: a constant, or the caller's."""
        if tensor.storage is Where.INPUT:
            is_end = index in self.method.inputs or index in self.method.outputs
            _need(is_end, f"value {index} has no memory")
            return self._bind(index, tensor, self._storage(index, tensor, MemoryKind.CALLER))
        storage = self._storage(index, tensor, MemoryKind.CONSTANT)
        if tensor.storage is Where.EXTERNAL:
            storage.name, storage.external = tensor.name, True
        else:
            storage.data = self._array(tensor)
        return self._bind(index, tensor, storage)

    def _seen_otherwise(self, index: int, tensor: TensorInfo, storage: Storage, offset: int) -> TensorOperand:
        """A tensor that reads bytes written as another tensor: that tensor, a view of it, or an alias whose
        bytes must stay in place."""
        first, key = self.first[storage], (index, storage)
        if key in self.views:
            return self.views[key]
        _need(
            tensor.dtype == first.dtype,
            f"value {index} is read as {tensor.dtype}, but was written as {first.dtype}",
        )
        plain = offset == 0 and tensor.nbytes == first.nbytes
        static = not first.is_dynamic and tensor.dynamism is Dynamism.STATIC
        if plain and static and storage not in self.result.fixed:
            if (tensor.sizes, tensor.dim_order) == (first.sizes, first.dim_order):
                self.tensors[index] = first
                return first
            if is_row_major(first.dim_order) and is_row_major(tensor.dim_order):
                self.views[key] = self._view(index, tensor, first)
                return self.views[key]
        self.result.fixed.add(storage)
        self.views[key] = self._bind(index, tensor, storage, offset)
        return self.views[key]

    def _view(self, index: int, tensor: TensorInfo, source: TensorOperand) -> TensorOperand:
        """Inserts a call for the other shape; `elide_views` removes it if possible."""
        made = self._bind(index, tensor, self._storage(index, tensor, MemoryKind.PLANNED))
        del self.tensors[index]
        self.viewed |= {source.storage, made.storage}
        row = self.operators.get(VIEW)
        if row is None:
            raise Unread(f"it has views, and the operator table lacks {VIEW}")
        arguments = [source, list(tensor.sizes), made]
        kinds = list(row.schema.arguments)
        self.result.lowered.code.append(Call(VIEW, arguments, kinds, [made], Origin()))
        return made

    # Calls

    def _call(self, position: int, call: KernelCall) -> None:
        row = self._row(call)
        what, arguments = f"instruction {position} ({row.name})", row.schema.arguments
        given = call.arguments[: len(arguments)]
        extra = len(call.arguments) - len(arguments)
        _need(0 <= extra <= 1, f"{what} has {len(call.arguments)} arguments")
        outs = _outs(row)
        operands: list[Operand] = []
        # All reads before the first write, because a result may overlap an input.
        for argument, index in zip(arguments, given, strict=True):
            kind = self.method.values[index].kind
            _need(contracts.fits(argument, kind), f"{what} has a {kind.name} as '{argument.name}'")
            operands.append(None if argument.name in outs else self._operand(index))
        results: list[Operand] = []
        if row.name == _ET_VIEW:
            operands[-1] = self._aliased(given[-1], operands[0], what)
            results.append(operands[-1])
        self._check_overlaps(row, given, outs, what)
        for slot, argument in enumerate(arguments):
            if argument.name in outs:
                operands[slot] = self._written_operand(given[slot])
                results += operands[slot] if argument.is_list else [operands[slot]]
            elif argument.mutable and row.name != _ET_VIEW:
                self._changed(operands[slot])
                results.append(operands[slot])
        origin = Origin(position, position)
        self.result.lowered.code.append(Call(row.name, operands, list(arguments), results, origin))

    def _check_overlaps(self, row: Operator, given: Sequence[int], outs: set[str], what: str) -> None:
        """Errors: Unread if a result overlaps an input, unless the kernel supports that in place."""
        ends: list[list[TensorInfo]] = [[], []]
        for argument, index in zip(row.schema.arguments, given, strict=True):
            for tensor in self.method.tensors_of(self.method.values[index]):
                if tensor.storage in _PLANNED:
                    ends[argument.name in outs].append(tensor)
        in_place = "in_place" in row.traits
        for read, written in itertools.product(*ends):
            same = (read.memory_offset, read.nbytes) == (written.memory_offset, written.nbytes)
            _need(not _overlap(read, written) or (same and in_place), f"{what} overwrites its input")

    def _written_operand(self, index: int) -> Operand:
        value = self.method.values[index]
        if value.kind is Kind.TENSOR_LIST:
            assert isinstance(value.data, tuple)
            return [self._written(item) for item in value.data]
        return None if value.kind is Kind.NONE else self._written(index)

    def _written(self, index: int) -> TensorOperand:
        """The operand of a tensor that is completely overwritten."""
        tensor = self.method.values[index].data
        if not isinstance(tensor, TensorInfo):
            raise Unread(f"value {index} is written but is no tensor")
        if tensor.storage is Where.INPUT:
            operand = self._tensor(index, tensor)
            if operand in self.result.lowered.inputs or operand.storage in self.result.fixed:
                self._changed(operand)
            self.result.fixed.add(operand.storage)
            return operand
        _need(tensor.storage in _PLANNED, f"value {index} is written but is {tensor.storage.value}")
        state = [s for s in self.memory.touched(tensor) if s.kind is MemoryKind.MUTABLE]
        if state or tensor.storage is Where.MUTABLE:
            operand = self._tensor(index, tensor)
            self._changed(operand)
            return operand
        storage = self._storage(index, tensor, MemoryKind.PLANNED)
        if tensor.nbytes:
            self.memory.put(tensor, storage)
        return self._bind(index, tensor, storage)

    def _changed(self, operand: Operand) -> None:
        """Marks the storage of a tensor that is partly overwritten."""
        if isinstance(operand, TensorOperand):
            _need(operand.storage.kind is not MemoryKind.CONSTANT, "it writes to a constant")
            _need(
                operand.storage not in self.viewed,
                "it overwrites a tensor that it has read under another shape",
            )
            self.result.fixed.add(operand.storage)
            self.result.written_again.add(operand.storage)

    def _aliased(self, index: int, source: Operand, what: str) -> TensorOperand:
        """The result of a view created at run time, which aliases its source."""
        tensor = self.method.values[index].data
        is_tensor = isinstance(tensor, TensorInfo) and isinstance(source, TensorOperand)
        _need(is_tensor, f"{what} does not map a tensor to a tensor")
        assert isinstance(tensor, TensorInfo) and isinstance(source, TensorOperand)
        _need(
            tensor.storage in (Where.INPUT, Where.PLANNED),
            f"{what} has a result outside planned and the caller's memory",
        )
        _need(
            tensor.nbytes <= source.nbytes and tensor.dtype == source.dtype,
            f"{what} views bytes outside its source, or another dtype",
        )
        same = tensor.storage is Where.INPUT or self.memory.find(tensor) == (source.storage, source.offset)
        _need(same, f"{what} has a result with separate memory")
        self.result.fixed.add(source.storage)
        return self._bind(index, tensor, source.storage, source.offset)


def _outs(row: Operator) -> set[str]:
    """The names of the arguments that a call only writes: returned ones, and tensor lists of schemas with "->
    ()"."""
    base = row.name.partition(".")[0]
    if base.endswith("_") or base.startswith("executorch_prim::"):
        return set()
    lists = [argument for argument in row.schema.arguments if argument.mutable and argument.is_list]
    return {each.name for each in (*row.schema.returned, *lists) if each.base == "Tensor"}


def _overlap(a: TensorInfo, b: TensorInfo) -> bool:
    ends = [each.memory_offset + each.nbytes for each in (a, b)]
    return a.memory_id == b.memory_id and a.memory_offset < ends[1] and b.memory_offset < ends[0]


def _need(condition: bool, reason: str) -> None:
    if not condition:
        raise Unread(reason)
