# SPDX-License-Identifier: BSD-3-Clause
"""Replaces delegates lowered to XNNPACK by plain calls of the method.

The native module reads a payload and returns its calls (backends/xnnpack) as a separate program. This
module inlines that program into the method: its inputs and outputs become the delegate's arguments.
"""

from __future__ import annotations

import contextlib
import itertools
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import ModuleType
from typing import Any

from rushlight.errors import InvalidProgram
from rushlight.program import (
    Method,
    Program,
    ProgramParts,
    Storage,
    TensorInfo,
    Value,
    parts_of,
    read_data_file,
    read_program,
    write_program,
)
from rushlight.program.dim_order import is_row_major
from rushlight.program.model import DelegateCall, Dynamism, Instruction, JumpFalse, KernelCall, Kind
from rushlight.runtime import native
from rushlight.status import Status

XNNPACK = "XnnpackBackend"
_VIEW, _PERMUTE = "aten::view_copy.out", "aten::permute_copy.out"
_MEMORY = 1
"""The memory id of tensors between the calls."""
_ALIGNMENT = 64


@dataclass
class MethodDelegates:
    """The result for a method's delegates. `origins` has, for each instruction, the index of its origin in
    the file."""

    replaced: int = 0
    kept: list[str] = field(default_factory=list)
    origins: list[int] = field(default_factory=list)


_OWN = "rushlight."
"""The prefix of keys for readers of the program, such as a vocabulary; other keys belong to delegates."""


def has_delegates(program: Program) -> bool:
    """True if a program calls XNNPACK."""
    return any(delegate.id == XNNPACK for plan in program.plans for delegate in plan.delegates)


def named_data(
    parts: ProgramParts, data_files: Sequence[str | os.PathLike[str]] = ()
) -> dict[str, memoryview | bytes]:
    """The data that payloads look up by name: in the program, and in data files. Errors: InvalidProgram,
    InvalidArgument."""
    named: dict[str, Any] = {}
    for entries in (read_data_file(path).entries for path in data_files):
        for entry in entries:
            named.setdefault(entry.key, entry.data)
    return {**named, **parts.named_data}


def without_delegates(
    program: Program, module: ModuleType, data_files: Sequence[str | os.PathLike[str]] = ()
) -> tuple[Program, list[MethodDelegates]]:
    """The program with plain calls instead of XNNPACK delegates, and a report for each method. A delegate
    that the native module `module` cannot lower stays, with the reason. Weights in data files (.ptd) move
    into the program.

    Errors: InvalidProgram; InvalidArgument for several groups of mutable data or an unreadable data file.
    """
    parts = parts_of(program)
    named = named_data(parts, data_files)
    constants = list(parts.constants)
    written: list[Method] = []
    reports: list[MethodDelegates] = []
    for plan in parts.methods:
        rewriter = _Rewriter(plan, named, constants, module)
        written.append(rewriter.method())
        reports.append(rewriter.report)
    left = {
        key: data
        for key, data in parts.named_data.items()
        if key.startswith(_OWN) or any(plan.delegates for plan in written)
    }
    made = ProgramParts(tuple(written), constants, parts.mutable, left)
    return read_program(write_program(made).tobytes()), reports


def payload_programs(
    program: Program, module: ModuleType, data_files: Sequence[str | os.PathLike[str]] = ()
) -> list[bytes]:
    """The programs that a host's backend creates from XNNPACK payloads: for each delegate one for tensors of
    exactly its sizes and one for smaller ones. Delegates that `module` cannot lower have none.

    Errors: InvalidProgram; InvalidArgument for an unreadable data file.
    """
    named = named_data(parts_of(program), data_files)
    delegates = [each for plan in program.plans for each in plan.delegates if each.id == XNNPACK]
    made = []
    for delegate, dynamic in itertools.product(delegates, (False, True)):
        with contextlib.suppress(module.RuntimeFailure):
            made.append(module.lower_xnnpack(delegate.payload, named, dynamic)["program"])
    return made


class _Rewriter:
    """Rewrites one method. Appends constants to a list that all methods share."""

    def __init__(
        self, plan: Method, named_data: Mapping[str, Any], constants: list[Any], module: ModuleType
    ) -> None:
        self.plan, self.named_data, self.constants, self.module = plan, named_data, constants, module
        self.values = list(plan.values)
        self.operators = list(plan.operators)
        self.report = MethodDelegates()
        self.buffer_sizes = list(plan.buffer_sizes) or [0]
        if len(self.buffer_sizes) <= _MEMORY:
            self.buffer_sizes.append(0)
        # Delegates execute one after another, so their calls can share the same memory.
        self.base = -(-self.buffer_sizes[_MEMORY] // _ALIGNMENT) * _ALIGNMENT
        self.lowered = [self._lower(index) for index in range(len(plan.delegates))]

    def method(self) -> Method:
        """The method with delegates replaced by calls where possible."""
        plan = self.plan
        kept = [index for index, lowered in enumerate(self.lowered) if lowered is None]
        numbers = {index: position for position, index in enumerate(kept)}
        chains = []
        first = 0
        for chain in plan.chains:
            chains.append(self._chain(chain, first, numbers))
            first += len(chain)
        return replace(
            plan,
            values=tuple(self.values),
            operators=tuple(self.operators),
            chains=tuple(chains),
            delegates=tuple(plan.delegates[index] for index in kept),
            buffer_sizes=tuple(self.buffer_sizes),
        )

    def _lower(self, index: int) -> Mapping[str, Any] | None:
        """The native module's result for a delegate, for tensors of its calls' sizes; None if it cannot be
        lowered."""
        delegate = self.plan.delegates[index]
        if delegate.id != XNNPACK:
            self.report.kept.append(f"delegate {delegate.id}: expected {XNNPACK}, got another backend")
            return None
        calls = [each for each in self.plan.instructions if isinstance(each, DelegateCall)]
        arguments = [argument for call in calls if call.delegate == index for argument in call.arguments]
        tensors = [self.values[argument].data for argument in arguments]
        dynamic = any(
            isinstance(each, TensorInfo) and each.dynamism is not Dynamism.STATIC for each in tensors
        )
        try:
            lowered: Mapping[str, Any] = self.module.lower_xnnpack(
                delegate.payload, dict(self.named_data), dynamic
            )
        except self.module.RuntimeFailure as failure:
            error = native.exception(failure, self.module)
            if failure.args[0] not in (Status.NotSupported, Status.NotFound):
                raise error from None
            self.report.kept.append(f"delegate {delegate.id}: {error.message}")
            return None
        self.report.replaced += 1
        return lowered

    def _chain(
        self, chain: Sequence[Instruction], first: int, numbers: Mapping[int, int]
    ) -> tuple[Instruction, ...]:
        made: list[Instruction] = []
        starts: list[int] = []
        for position, instruction in enumerate(chain):
            starts.append(len(made))
            if isinstance(instruction, DelegateCall):
                lowered = self.lowered[instruction.delegate]
                if lowered is None:
                    made.append(replace(instruction, delegate=numbers[instruction.delegate]))
                else:
                    made += _Inlined(self, lowered, instruction.arguments).calls()
            else:
                made.append(instruction)
            self.report.origins += [first + position] * (len(made) - starts[-1])
        starts.append(len(made))
        return tuple(
            replace(each, target=starts[each.target]) if isinstance(each, JumpFalse) else each
            for each in made
        )

    def operator(self, name: str) -> int:
        """The index of an operator in the method's list; adds it if it is new."""
        if name not in self.operators:
            self.operators.append(name)
        return self.operators.index(name)

    def add(self, value: Value) -> int:
        """Appends a value; returns its index."""
        self.values.append(value)
        return len(self.values) - 1

    def tensor(self, index: int) -> TensorInfo:
        """The tensor of a value. Errors: InvalidProgram if it is no tensor."""
        data = self.values[index].data
        if not isinstance(data, TensorInfo):
            raise InvalidProgram(
                f"method '{self.plan.name}': value {index}: expected a tensor as a delegate's argument"
            )
        return data


class _Inlined:
    """One delegate call, inlined as calls of the method."""

    def __init__(self, method: _Rewriter, lowered: Mapping[str, Any], arguments: Sequence[int]) -> None:
        self.method, self.lowered = method, lowered
        self.inner = read_program(lowered["program"]).plans[0]
        self.indices: dict[int, int] = {}
        self.before: list[Instruction] = []
        self.behind: list[Instruction] = []
        for index, argument in zip(self.inner.inputs, lowered["inputs"], strict=True):
            self._bind(index, self._argument(arguments, argument), is_output=False)
        for index, argument in zip(self.inner.outputs, lowered["outputs"], strict=True):
            self._bind(index, self._argument(arguments, argument), is_output=True)
        sizes, own = method.buffer_sizes, self.inner.buffer_sizes
        sizes[_MEMORY] = max(sizes[_MEMORY], method.base + sum(own))

    def calls(self) -> list[Instruction]:
        """The instructions, with copies of arguments whose layout differs."""
        made: list[Instruction] = []
        for instruction in self.inner.instructions:
            assert isinstance(instruction, KernelCall)
            operator = self.method.operator(self.inner.operators[instruction.operator])
            made.append(KernelCall(operator, tuple(self._value(index) for index in instruction.arguments)))
        return [*self.before, *made, *self.behind]

    def _argument(self, arguments: Sequence[int], index: int) -> int:
        if index >= len(arguments):
            raise InvalidProgram(
                f"delegate {XNNPACK}: expected one of {len(arguments)} arguments, got index {index}"
            )
        return arguments[index]

    def _bind(self, index: int, outer: int, *, is_output: bool) -> None:
        """Binds a value of the payload's program to an argument: the argument itself, an alias with other
        sizes, or a copy."""
        inner, given = self._tensor(index), self.method.tensor(outer)
        if index in self.indices:
            return
        if (inner.sizes, inner.dim_order, inner.dtype) == (given.sizes, given.dim_order, given.dtype):
            self.indices[index] = outer
            return
        static = inner.dynamism is Dynamism.STATIC and given.dynamism is Dynamism.STATIC
        if given.storage is Storage.PLANNED and static and inner.nbytes == given.nbytes:
            alias = replace(given, sizes=inner.sizes, dim_order=inner.dim_order)
            self.indices[index] = self.method.add(Value(Kind.TENSOR, alias))
            return
        own = replace(inner, storage=Storage.PLANNED, memory_id=_MEMORY, memory_offset=self._reserve(inner))
        self.indices[index] = self.method.add(Value(Kind.TENSOR, own))
        if is_output:
            self.behind.append(self._copy(self.indices[index], outer))
        else:
            self.before.append(self._copy(outer, self.indices[index]))

    def _reserve(self, tensor: TensorInfo) -> int:
        """The offset of new memory that no other tensor uses."""
        sizes = self.method.buffer_sizes
        offset = -(-max(sizes[_MEMORY], self.method.base + sum(self.inner.buffer_sizes)) // _ALIGNMENT)
        sizes[_MEMORY] = offset * _ALIGNMENT + tensor.nbytes
        return offset * _ALIGNMENT

    def _copy(self, source: int, target: int) -> Instruction:
        """Copies the elements in memory order, under the target's sizes."""
        given, wanted = self.method.tensor(source), self.method.tensor(target)
        if len(given.sizes) != len(wanted.sizes):
            if not (is_row_major(given.dim_order) and is_row_major(wanted.dim_order)):
                raise InvalidProgram(
                    f"delegate {XNNPACK}: value {source}: expected rank {len(wanted.sizes)}, "
                    f"got {len(given.sizes)}"
                )
            return self._call(_VIEW, source, list(wanted.sizes), target)
        dims = [0] * len(wanted.sizes)
        for to, of in zip(wanted.dim_order, given.dim_order, strict=True):
            dims[to] = of
        return self._call(_PERMUTE, source, dims, target)

    def _call(self, name: str, source: int, numbers: Sequence[int], target: int) -> Instruction:
        items = tuple(self.method.add(Value(Kind.INT, number)) for number in numbers)
        listed = self.method.add(Value(Kind.INT_LIST, items))
        return KernelCall(self.method.operator(name), (source, listed, target))

    def _tensor(self, index: int) -> TensorInfo:
        data = self.inner.values[index].data
        assert isinstance(data, TensorInfo)
        return data

    def _value(self, index: int) -> int:
        """The method's value index for a value of the payload's program."""
        if index not in self.indices:
            value = self.inner.values[index]
            if isinstance(value.data, TensorInfo):
                made = replace(value, data=self._placed(value.data))
            elif value.kind in (Kind.INT_LIST, Kind.TENSOR_LIST):
                assert isinstance(value.data, tuple)
                made = replace(value, data=tuple(self._value(item) for item in value.data))
            else:
                made = value
            self.indices[index] = self.method.add(made)
        return self.indices[index]

    def _placed(self, tensor: TensorInfo) -> TensorInfo:
        """The tensor (an intermediate or a constant) with its offset or index in the method."""
        if tensor.storage is Storage.EXTERNAL:
            constants = self.method.constants
            constants.append(self.lowered["constants"][tensor.name])
            return replace(tensor, storage=Storage.CONSTANT, buffer_index=len(constants), name="")
        offset = self.method.base + tensor.memory_offset
        return replace(tensor, memory_id=_MEMORY, memory_offset=offset)
