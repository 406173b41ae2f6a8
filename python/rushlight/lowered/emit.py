# SPDX-License-Identifier: BSD-3-Clause
"""Emits a lowered method with its memory plan as a method of a program: values get their indices.

Each tensor and each scalar that instructions write has its own value; equal constants share one.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from rushlight.errors import ExportFailed
from rushlight.lowered.data import DataPool
from rushlight.lowered.instructions import (
    Call,
    DelegateCall,
    Instruction,
    JumpFalse,
    Label,
    LoweredMethod,
    MemoryKind,
    Move,
    NumberOperand,
    Operand,
    Origin,
    Storage,
    TensorOperand,
)
from rushlight.program import model
from rushlight.program.dim_order import DimOrder, row_major
from rushlight.program.model import Dynamism, Kind, TensorInfo, Value

_NUMBER_KINDS = {int: Kind.INT, float: Kind.DOUBLE, bool: Kind.BOOL}


@dataclass(frozen=True)
class MemoryMap:
    """The plan's result: (memory id, offset) of each storage by `id()`, and the bytes of each memory id (0 is
    reserved)."""

    positions: dict[int, tuple[int, int]]
    buffer_sizes: tuple[int, ...]


@dataclass
class Pools:
    """The data that a program's methods share: constants, initial states, tensors for the data file, and
    delegates' blobs by name in the program file and in the data file."""

    constants: DataPool
    mutable: DataPool
    external: dict[str, tuple[TensorOperand, Any]] = field(default_factory=dict)
    named_data: dict[str, bytes] = field(default_factory=dict)
    external_data: dict[str, bytes] = field(default_factory=dict)


@dataclass
class Emitter:
    """Collects the values, operators and instructions of one method."""

    lowered: LoweredMethod
    memory: MemoryMap
    pools: Pools
    values: list[Value] = field(default_factory=list)
    operators: dict[str, int] = field(default_factory=dict)
    delegates: list[model.Delegate] = field(default_factory=list)
    origins: list[Origin] = field(default_factory=list)
    _known: dict[object, int] = field(default_factory=dict)

    def method(self) -> model.Method:
        """Emits the whole method. Errors: ExportFailed for values that the format cannot hold."""
        lowered = self.lowered
        inputs = tuple(self.value(operand) for operand in lowered.inputs)
        labels = _label_positions(lowered.code)
        code = []
        for instruction in lowered.code:
            if not isinstance(instruction, Label):
                code.append(self._instruction(instruction, labels))
                self.origins.append(instruction.origin)
        outputs = tuple(self.value(operand) for operand in lowered.outputs)
        return model.Method(
            name=lowered.name,
            values=tuple(self.values),
            inputs=inputs,
            outputs=outputs,
            chains=(tuple(code),),
            operators=tuple(self.operators),
            delegates=tuple(self.delegates),
            buffer_sizes=self.memory.buffer_sizes,
            input_structure=lowered.in_spec,
            output_structure=lowered.out_spec,
        )

    def _instruction(self, instruction: Instruction, labels: dict[int, int]) -> model.Instruction:
        match instruction:
            case Call():
                return self._call(instruction)
            case DelegateCall():
                arguments = tuple(self.value(argument) for argument in instruction.arguments)
                return model.DelegateCall(self._delegate(instruction), arguments)
            case Move():
                return model.Move(self.value(instruction.source), self.value(instruction.destination))
            case JumpFalse():
                return model.JumpFalse(self.value(instruction.condition), labels[id(instruction.target)])
        raise AssertionError(instruction)

    def _call(self, call: Call) -> model.KernelCall:
        pairs = zip(call.arguments, call.kinds, strict=True)
        arguments = [self.argument(argument, kind) for argument, kind in pairs]
        # The results of a PyTorch kernel follow its arguments; prim operators have none.
        if call.row.partition("::")[0] != "executorch_prim" and not any(k.base == "Any" for k in call.kinds):
            if len(call.results) == 1 and not _has_list_of_outs(call):
                arguments.append(self.value(call.results[0]))
            elif call.results:
                arguments.append(self._list(Kind.TENSOR_LIST, map(self.value, call.results)))
        number = self.operators.setdefault(call.row, len(self.operators))
        return model.KernelCall(number, tuple(arguments))

    def _delegate(self, call: DelegateCall) -> int:
        lowered = call.module
        specs = tuple((spec.key, memoryview(spec.value)) for spec in lowered.compile_specs)
        payload = memoryview(lowered.processed_bytes)
        self.delegates.append(model.Delegate(lowered.backend_id, payload, specs))
        pools = self.pools
        named = [(pools.named_data, key, data) for key, data in lowered.named_data.items()]
        named += [(pools.external_data, key, data) for key, data in lowered.external_data.items()]
        for pool, key, data in named:
            if pool.setdefault(key, data) != data or (key in pools.named_data and key in pools.external_data):
                raise ExportFailed(
                    f"named data '{key}': expected one content and file from all backends, got different ones"
                )
        return len(self.delegates) - 1

    def argument(self, operand: Operand, kind: Any) -> int:
        """The value index of a kernel's argument, converted to the type in the schema."""
        if isinstance(operand, list):
            base, optional = kind.base, kind.optional_items
            if base == "Tensor":
                items = [-1 if item is None else self.value(item) for item in operand]
                return self._list(Kind.OPTIONAL_TENSOR_LIST if optional else Kind.TENSOR_LIST, items)
            if base == "bool":
                return self._shared(Kind.BOOL_LIST, tuple(map(bool, operand)))
            if base == "float":
                return self._shared(Kind.DOUBLE_LIST, tuple(map(float, operand)))
            return self._list(Kind.INT_LIST, map(self.value, operand))
        return self.value(operand)

    def _list(self, kind: Kind, items: Iterable[int]) -> int:
        return self._shared(kind, tuple(items))

    def _shared(self, kind: Kind, data: tuple[Any, ...]) -> int:
        return self._once((kind, data), lambda: Value(kind, data))

    def _once(self, key: object, make: Callable[[], Value]) -> int:
        if key not in self._known:
            value = make()
            self._known[key] = len(self.values)
            self.values.append(value)
        return self._known[key]

    def value(self, operand: Operand) -> int:
        """The value index of an operand that is no list: one per tensor and scalar, one for equal
        constants."""
        match operand:
            case TensorOperand():
                return self._once(id(operand), lambda: Value(Kind.TENSOR, self._tensor(operand)))
            case NumberOperand():
                kind = _NUMBER_KINDS[operand.kind]
                return self._once(id(operand), lambda: Value(kind, operand.kind(operand.initial)))
            case None:
                return self._once(None, lambda: Value(Kind.NONE))
            case bool():
                return self._once((bool, operand), lambda: Value(Kind.BOOL, operand))
            case int():
                return self._once((int, operand), lambda: Value(Kind.INT, operand))
            case float():
                return self._once((float, struct.pack("<d", operand)), lambda: Value(Kind.DOUBLE, operand))
            case str():
                return self._once((str, operand), lambda: Value(Kind.STRING, operand))
        raise ExportFailed(
            f"value {operand!r}: expected a type of the program format, got {type(operand).__name__}"
        )

    def _tensor(self, operand: TensorOperand) -> TensorInfo:
        storage = operand.storage
        memory_id, offset = self.memory.positions.get(id(storage), (0, -operand.offset))
        common: dict[str, Any] = {
            "dtype": operand.dtype,
            "sizes": operand.sizes,
            "dim_order": operand.dim_order,
            "dynamism": Dynamism.BOUNDED if operand.is_dynamic else Dynamism.STATIC,
            "memory_id": memory_id,
            # A constant's data is in the file: with an offset, loaders would treat it as planned.
            "memory_offset": offset + operand.offset if memory_id else 0,
        }
        match storage.kind:
            case MemoryKind.PLANNED:
                return TensorInfo(**common, storage=model.Storage.PLANNED)
            case MemoryKind.CALLER:
                return TensorInfo(**common, storage=model.Storage.INPUT)
            case MemoryKind.MUTABLE if storage.data is not None and any(
                operand is state for state in self.lowered.mutable
            ):
                index = self.pools.mutable.add(storage.data, operand.dim_order)
                return TensorInfo(
                    **common, storage=model.Storage.MUTABLE, buffer_index=index, name=storage.name
                )
            case MemoryKind.MUTABLE:  # no initial bytes, or another tensor has them
                return TensorInfo(**common, storage=model.Storage.PLANNED)
        return self._constant(operand, storage, common)

    def _constant(self, operand: TensorOperand, storage: Storage, common: dict[str, Any]) -> TensorInfo:
        data = storage.data
        if storage.external:
            self.pools.external.setdefault(storage.name, (operand, data))
            return TensorInfo(**common, storage=model.Storage.EXTERNAL, name=storage.name)
        assert data is not None
        constants = self.pools.constants
        if operand.offset or operand.nbytes != storage.nbytes:
            part = constants.part(data, operand.offset, operand.nbytes, operand.sizes)
            index = constants.add(part, row_major(len(operand.sizes)))
        else:
            index = constants.add(data, self._stored_order(storage, operand))
        return TensorInfo(**common, storage=model.Storage.CONSTANT, buffer_index=index)

    def _stored_order(self, storage: Storage, operand: TensorOperand) -> DimOrder:
        """The dim order of a constant's data; row-major if the operand is a view of another rank."""
        rank = self.pools.constants.rank(storage.data)
        return operand.dim_order if len(operand.sizes) == rank else row_major(rank)


def _has_list_of_outs(call: Call) -> bool:
    return any(kind.mutable and kind.is_list for kind in call.kinds)


def _label_positions(code: Iterable[Instruction]) -> dict[int, int]:
    """The index of the instruction after each label."""
    positions, index = {}, 0
    for instruction in code:
        if isinstance(instruction, Label):
            positions[id(instruction)] = index
        else:
            index += 1
    return positions
