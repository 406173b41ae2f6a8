# SPDX-License-Identifier: BSD-3-Clause
"""A method of a program file with the interface of rushlight.integers.graph.Graph; values are tensor
operands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rushlight.codegen.table import Operator
from rushlight.convert import contracts, pointwise
from rushlight.convert.reading import ReadMethod
from rushlight.integers import graph as protocol
from rushlight.integers.graph import Array
from rushlight.lowered.instructions import (
    Call,
    Instruction,
    MemoryKind,
    Operand,
    Origin,
    Storage,
    TensorOperand,
    leaves,
)
from rushlight.program.dim_order import row_major
from rushlight.program.dtypes import FLOATING, element_size


@dataclass(frozen=True)
class ProgramCall:
    """A call of a method. If `is_hidden`, rules see no operator name, because the call changes memory with
    other readers."""

    call: Call
    is_hidden: bool = False

    @property
    def operator(self) -> str:
        """See rushlight.integers.graph.Call."""
        return "" if self.is_hidden else self.call.row.partition(".")[0]

    @property
    def arguments(self) -> Mapping[str, Any]:
        """See rushlight.integers.graph.Call."""
        pairs = zip(self.call.kinds, self.call.arguments, strict=True)
        return {kind.name: operand for kind, operand in pairs if not kind.mutable}

    @property
    def result(self) -> Any:
        """See rushlight.integers.graph.Call."""
        return self.call.results[0] if self.call.results else None


class ProgramGraph:
    """See rushlight.integers.graph.Graph."""

    def __init__(self, method: ReadMethod, operators: Mapping[str, Operator]) -> None:
        self.method, self.operators = method, operators
        self.code: list[Instruction] = method.lowered.code
        self._makers: dict[TensorOperand, Call] = {}
        self._readers: dict[TensorOperand, list[Call]] = {}
        self._there: set[Call] = set()
        self._shared = _shared_storages(method)
        for instruction in self.code:
            assert isinstance(instruction, Call)
            self._enter(instruction)

    def calls(self) -> Sequence[ProgramCall]:
        return [self._seen(call) for call in self.code if isinstance(call, Call)]

    def maker(self, value: Any) -> ProgramCall | None:
        call = self._makers.get(value) if isinstance(value, TensorOperand) else None
        return None if call is None or value.storage in self.method.written_again else self._seen(call)

    def is_present(self, call: protocol.Call) -> bool:
        return _call(call) in self._there

    def inputs(self, call: protocol.Call) -> Sequence[TensorOperand]:
        return list(dict.fromkeys(_reads(_call(call))))

    def results(self, call: protocol.Call) -> Sequence[TensorOperand | None]:
        results = _call(call).results
        used = [self._is_used(each) for each in results]
        last = max((position for position, is_used in enumerate(used) if is_used), default=-1)
        return [each if used[position] else None for position, each in enumerate(results[: last + 1])]

    def is_pointwise(self, call: protocol.Call) -> bool:
        results = _call(call).results
        return call.operator in pointwise.FUNCTIONS and len(results) == 1

    def readers(self, value: TensorOperand) -> Sequence[ProgramCall]:
        return [self._seen(call) for call in self._readers.get(value, ())]

    def is_output(self, value: TensorOperand) -> bool:
        ends = self.method.lowered.outputs
        return value.storage in self._shared or any(leaf is value for leaf in leaves(ends))

    def constant(self, value: Any) -> Array | None:
        if not isinstance(value, TensorOperand) or value.storage.kind is not MemoryKind.CONSTANT:
            return None
        data: Array | None = value.storage.data
        return None if data is None or data.dtype.kind == "V" else data

    def dtype(self, value: TensorOperand) -> str:
        return value.dtype

    def is_tensor(self, value: Any) -> bool:
        return isinstance(value, TensorOperand)

    def sizes(self, value: TensorOperand) -> tuple[Any, ...]:
        return (value.symbols,) * len(value.sizes) if value.is_dynamic else value.sizes

    def can_call(self, operator: str, dtype: str) -> bool:
        row = self.operators.get(f"{operator}.out")
        return row is not None and dtype in row.dtypes

    def can_repeat(self, call: protocol.Call, dtype: str) -> bool:
        row = self.operators.get(_call(call).row)
        return row is not None and dtype in row.dtypes

    def replace(self, last: protocol.Call, operator: str, arguments: Mapping[str, Any]) -> None:
        old = _call(last)
        made = self._made(operator, arguments, old.results[0], old.origin)
        self._leave(old)
        self.code[self.code.index(old)] = made
        self._enter(made)
        self._drop_unread(_reads(old))

    def repeat(
        self, call: protocol.Call, changes: Mapping[str, Any], dtype: str
    ) -> Sequence[TensorOperand | None]:
        old = _call(call)
        fresh = {
            id(each): _like(each, dtype if each.dtype in FLOATING else each.dtype) for each in old.results
        }
        arguments = [
            _renewed(operand, fresh) if kind.mutable else changes.get(kind.name, operand)
            for kind, operand in zip(old.kinds, old.arguments, strict=True)
        ]
        made = Call(
            old.row, arguments, list(old.kinds), [fresh[id(each)] for each in old.results], old.origin
        )
        self._put(old, made)
        return [None if each is None else fresh[id(each)] for each in self.results(call)]

    def substitute(self, old: TensorOperand, new: TensorOperand) -> None:
        fresh = {id(old): new}
        for call in dict.fromkeys(self._readers.get(old, ())):
            self._leave(call)
            call.arguments = _renewed(call.arguments, fresh)
            self._enter(call)
        lowered = self.method.lowered
        lowered.outputs = _renewed(lowered.outputs, fresh)
        self._drop_unread([old])

    def compute(self, call: protocol.Call, known: Mapping[Any, Array]) -> Array | None:
        found = {}
        for name, value in call.arguments.items():
            if not isinstance(value, TensorOperand):
                found[name] = value
                continue
            array = known.get(value)
            array = self.constant(value) if array is None else array
            if array is None:
                return None
            # A one-element constant becomes a scalar, so that it broadcasts whatever its rank.
            found[name] = array.reshape(()) if array.size == 1 else array
        return pointwise.compute(call.operator, found)

    def insert(
        self,
        before: protocol.Call | None,
        operator: str,
        arguments: Mapping[str, Any],
        like: TensorOperand,
        dtype: str,
    ) -> TensorOperand:
        """See rushlight.integers.graph.Graph; `before` may be None for the end of the code."""
        call = None if before is None else _call(before)
        result = _like(like, dtype)
        self._put(call, self._made(operator, arguments, result, call.origin if call else Origin()))
        return result

    def replace_input(self, call: Call, old: TensorOperand, new: TensorOperand) -> None:
        """Makes one call read another value."""
        self._leave(call)
        call.arguments = _renewed(call.arguments, {id(old): new})
        self._enter(call)

    def replace_output(self, old: TensorOperand, copied: Callable[[None], TensorOperand]) -> None:
        """Returns a copy of an output instead of the value itself, created after the last call, in the
        output's memory."""
        copy = copied(None)
        copy.storage.kind, old.storage.kind = old.storage.kind, MemoryKind.PLANNED
        lowered = self.method.lowered
        lowered.outputs = _renewed(lowered.outputs, {id(old): copy})

    # Bookkeeping

    def _seen(self, call: Call) -> ProgramCall:
        touched = [*_reads(call), *call.results]
        again = self.method.written_again
        changes = any(isinstance(each, TensorOperand) and each.storage in again for each in touched)
        return ProgramCall(call, changes or not contracts.hold(call))

    def _is_used(self, value: Operand) -> bool:
        return isinstance(value, TensorOperand) and (bool(self._readers.get(value)) or self.is_output(value))

    def _enter(self, call: Call) -> None:
        self._there.add(call)
        for value in _reads(call):
            self._readers.setdefault(value, []).append(call)
        for value in call.results:
            if isinstance(value, TensorOperand):
                self._makers[value] = call

    def _leave(self, call: Call) -> None:
        self._there.discard(call)
        for value in set(_reads(call)):
            self._readers[value] = [each for each in self._readers[value] if each is not call]

    def _put(self, before: Call | None, made: Call) -> None:
        self.code.insert(len(self.code) if before is None else self.code.index(before), made)
        self._enter(made)

    def _drop_unread(self, values: Sequence[TensorOperand]) -> None:
        """Removes the calls that computed these values and their predecessors, if nothing reads their
        results."""
        waiting = list(values)
        while waiting:
            call = self._makers.get(waiting.pop())
            if call is None or call not in self._there or not self._is_dead(call):
                continue
            self._leave(call)
            self.code.remove(call)
            waiting += _reads(call)

    def _is_dead(self, call: Call) -> bool:
        return not _writes_what_it_reads(call) and not any(
            not isinstance(each, TensorOperand)
            or each.storage in self.method.written_again
            or self._is_used(each)
            for each in call.results
        )

    def _made(
        self, operator: str, arguments: Mapping[str, Any], result: TensorOperand, origin: Origin
    ) -> Call:
        row = self.operators[f"{operator}.out"]
        kinds = list(row.schema.arguments)
        operands: list[Operand] = []
        for kind in kinds:
            operand = result if kind.mutable else arguments.get(kind.name)
            if isinstance(operand, np.ndarray):
                operand = _constant(operand, kind.name)
            elif kind.base == "float" and isinstance(operand, int):
                operand = float(operand)
            operands.append(operand)
        return Call(row.name, operands, kinds, [result], origin)


def _call(call: protocol.Call) -> Call:
    assert isinstance(call, ProgramCall)
    return call.call


def _reads(call: Call) -> list[TensorOperand]:
    """The tensors that a call reads, with repetition; includes tensors that it updates."""
    pairs = zip(call.kinds, call.arguments, strict=True)
    given = [operand for kind, operand in pairs if not kind.mutable]
    return [leaf for leaf in leaves(given) if isinstance(leaf, TensorOperand)]


def _writes_what_it_reads(call: Call) -> bool:
    base = call.row.partition(".")[0]
    return base.endswith("_") or base.startswith("executorch_prim::")


def _renewed(operand: Operand, fresh: Mapping[int, TensorOperand]) -> Any:
    if isinstance(operand, list):
        return [_renewed(item, fresh) for item in operand]
    return fresh.get(id(operand), operand)


def _like(value: TensorOperand, dtype: str) -> TensorOperand:
    count = value.nbytes // element_size(value.dtype)
    storage = Storage(value.storage.name, count * element_size(dtype), bank=value.storage.bank)
    order = row_major(len(value.sizes)) if value.storage.kind is MemoryKind.CONSTANT else value.dim_order
    return TensorOperand(dtype, value.sizes, order, storage, value.is_dynamic, 0, value.symbols)


def _constant(array: Array, name: str) -> TensorOperand:
    storage = Storage(name, array.nbytes, MemoryKind.CONSTANT, np.ascontiguousarray(array))
    return TensorOperand(array.dtype.name, array.shape, row_major(array.ndim), storage)


def _shared_storages(method: ReadMethod) -> set[Storage]:
    """Storages that are read under several shapes or change: they have more dependents than their listed
    readers."""
    lowered = method.lowered
    tensors: dict[TensorOperand, None] = {}
    for instruction in lowered.code:
        assert isinstance(instruction, Call)
        listed = [*leaves(instruction.arguments), *instruction.results]
        tensors.update(dict.fromkeys(leaf for leaf in listed if isinstance(leaf, TensorOperand)))
    ends = leaves([*lowered.inputs, *lowered.outputs])
    tensors.update(dict.fromkeys(leaf for leaf in ends if isinstance(leaf, TensorOperand)))
    count = Counter(tensor.storage for tensor in tensors)
    return {storage for storage, several in count.items() if several > 1} | method.written_again
