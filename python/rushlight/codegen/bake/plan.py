# SPDX-License-Identifier: BSD-3-Clause
"""Analyses how a method's instructions use its values, and checks that the method can be baked: the checks of
the runtime's loader happen here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rushlight.codegen.promise import Operand, call_problem
from rushlight.codegen.schema import Argument
from rushlight.codegen.table import OperatorTable
from rushlight.errors import BackendNotFound, InvalidProgram, NotBakeable
from rushlight.program import Device, Method, Storage, TensorInfo
from rushlight.program.dtypes import element_size
from rushlight.program.model import (
    DelegateCall,
    Dynamism,
    Instruction,
    JumpFalse,
    KernelCall,
    Kind,
    Move,
)

NUMBERS = (Kind.INT, Kind.BOOL, Kind.DOUBLE)
ANY = ("Any", "Generator")
_PLANNED = (Storage.PLANNED, Storage.MUTABLE)
_MAX_ELEMENTS = (1 << 31) - 1


@dataclass(frozen=True)
class MethodPlan:
    """A method with its names (`id`: forward, `pascal`: Forward), and sets of its values by index: `used` are
    referenced anywhere, `numbers` are scalars that instructions write, `moved` are tensors to which others
    are moved, `loose` are used tensors without memory in the program. `makes_views` is True if some
    tensors become views of others."""

    method: Method
    id: str
    pascal: str
    used: frozenset[int]
    numbers: tuple[int, ...]
    moved: tuple[int, ...]
    loose: tuple[int, ...]
    makes_views: bool

    def tensor(self, index: int) -> TensorInfo:
        """The tensor of value `index`."""
        data = self.method.values[index].data
        assert isinstance(data, TensorInfo)
        return data

    @property
    def tensors(self) -> list[int]:
        """The indices of the used tensors."""
        return [i for i in sorted(self.used) if self.method.values[i].kind is Kind.TENSOR]

    def is_fixed(self, index: int) -> bool:
        """True if neither the shape nor the memory of the tensor ever changes."""
        return self.tensor(index).dynamism is Dynamism.STATIC and index not in self.loose

    @property
    def initial_states(self) -> list[int]:
        """The planned tensors with initial bytes in a file, used or not."""
        return [
            index
            for index, value in enumerate(self.method.values)
            if isinstance(value.data, TensorInfo) and is_planned(value.data) and has_bytes(value.data)
        ]


def is_planned(tensor: TensorInfo) -> bool:
    """True if the program assigns writable memory to the tensor."""
    return tensor.storage in _PLANNED or (tensor.storage is Storage.EXTERNAL and tensor.memory_id > 0)


def has_bytes(tensor: TensorInfo) -> bool:
    """True if a file has the tensor's bytes."""
    return tensor.storage in (Storage.CONSTANT, Storage.MUTABLE, Storage.EXTERNAL)


def make_plan(method: Method, name: str, pascal: str, table: OperatorTable) -> MethodPlan:
    """Analyses a method whose operators are in the table.

    Errors: BackendNotFound, NotBakeable, InvalidProgram.
    """
    if method.delegates:
        ids = list(dict.fromkeys(delegate.id for delegate in method.delegates))
        raise BackendNotFound(ids, [])
    what = f"method '{method.name}'"
    if not method.chains:
        raise InvalidProgram(f"{what}: expected instructions, got none")
    if any(device != Device() for device in method.buffer_devices.values()):
        raise NotBakeable(f"{what}: expected all memory on the CPU, got another device")
    for index, value in enumerate(method.values):
        if isinstance(value.data, TensorInfo):
            _check_tensor(value.data, f"{what}: tensor {index}")
    used: set[int] = set()
    numbers: set[int] = set()
    moved: set[int] = set()
    viewed: set[int] = set()
    for location, instruction in _instructions(method, what):
        match instruction:
            case Move(source, destination):
                kind = method.values[destination].kind
                _check_move(method, source, destination, location)
                used |= {source, destination}
                (numbers if kind in NUMBERS else moved).add(destination)
            case JumpFalse(condition, _):
                _check_condition(method, condition, location)
                used.add(condition)
            case DelegateCall():
                raise InvalidProgram(f"{location}: expected a delegate of the method, got an unknown one")
            case KernelCall():
                for argument, index in _arguments(method, instruction, table, location):
                    used |= {index, *_items(method, index)}
                    if argument.base in ANY and argument.mutable:
                        kind = method.values[index].kind
                        if kind in NUMBERS:
                            numbers.add(index)
                        elif kind is Kind.TENSOR:
                            viewed.add(index)
    used |= {*method.inputs, *method.outputs}
    _check_ends(method, moved, what)
    loose = {
        index
        for index in used
        if isinstance(tensor := method.values[index].data, TensorInfo)
        and not is_planned(tensor)
        and not has_bytes(tensor)
    }
    moved = {index for index in moved if method.values[index].kind is Kind.TENSOR}
    plan = MethodPlan(
        method=method,
        id=name,
        pascal=pascal,
        used=frozenset(used),
        numbers=tuple(sorted(numbers)),
        moved=tuple(sorted(moved)),
        loose=tuple(sorted(loose)),
        makes_views=bool(viewed),
    )
    for location, instruction in _instructions(method, what):
        if isinstance(instruction, KernelCall):
            _check_writes(plan, list(_arguments(method, instruction, table, location)), location)
    return plan


def _instructions(method: Method, what: str) -> Iterator[tuple[str, Instruction]]:
    for chain, instructions in enumerate(method.chains):
        where = f"chain {chain}, " if len(method.chains) > 1 else ""
        for index, instruction in enumerate(instructions):
            yield f"{what}, {where}instruction {index}", instruction


def _arguments(
    method: Method, call: KernelCall, table: OperatorTable, location: str
) -> Iterator[tuple[Argument, int]]:
    """The schema's arguments with the values passed for them, without return values. Errors:
    InvalidProgram."""
    name = method.operators[call.operator]
    operands = [Operand(_kind(method.values[index].kind)) for index in call.arguments]
    problem = call_problem(table, name, operands)
    if problem is not None:
        raise InvalidProgram(f"{location}: {problem}")
    yield from zip(table.operators[name].schema.arguments, call.arguments, strict=False)


def _kind(kind: Kind) -> str:
    return kind.name.lower().replace("_", " ")


def _items(method: Method, index: int) -> list[int]:
    """The values in a list of values."""
    value = method.values[index]
    if value.kind not in (Kind.INT_LIST, Kind.TENSOR_LIST, Kind.OPTIONAL_TENSOR_LIST):
        return []
    assert isinstance(value.data, tuple)
    expected = {Kind.INT_LIST: (Kind.INT,), Kind.TENSOR_LIST: (Kind.TENSOR,)}.get(
        value.kind, (Kind.TENSOR, Kind.NONE)
    )
    items = [item for item in value.data if item >= 0]
    for item in items:
        if method.values[item].kind not in expected:
            raise InvalidProgram(
                f"method '{method.name}': item {item} of the list {index} is of kind "
                f"{_kind(method.values[item].kind)}"
            )
    return items


def _check_tensor(tensor: TensorInfo, what: str) -> None:
    if tensor.device != Device():
        raise NotBakeable(f"{what}: expected the CPU, got {tensor.device}")
    if cpp_type(tensor.dtype) is None:
        raise InvalidProgram(f"{what}: expected a dtype of the runtime, got {tensor.dtype}")
    count = 1
    for size in tensor.sizes:
        count *= max(size, 1)
    if count > _MAX_ELEMENTS:
        raise InvalidProgram(f"{what}: expected at most {_MAX_ELEMENTS} elements, got {count}")
    if is_planned(tensor) and tensor.memory_offset % element_size(tensor.dtype):
        raise InvalidProgram(
            f"{what}: expected an offset aligned for {tensor.dtype}, got {tensor.memory_offset}"
        )


def _check_move(method: Method, source: int, destination: int, location: str) -> None:
    kinds = [method.values[index].kind for index in (source, destination)]
    if kinds[0] is not kinds[1]:
        raise InvalidProgram(f"{location}: moves a {_kind(kinds[0])} to a {_kind(kinds[1])}")
    if kinds[0] not in (*NUMBERS, Kind.TENSOR, Kind.NONE):
        raise NotBakeable(f"{location}: moves a {_kind(kinds[0])}")


def _check_condition(method: Method, condition: int, location: str) -> None:
    kind = method.values[condition].kind
    if kind not in (*NUMBERS, Kind.TENSOR):
        raise InvalidProgram(f"{location}: its condition is a {_kind(kind)}")


def _check_ends(method: Method, moved: set[int], what: str) -> None:
    """Checks inputs and outputs."""
    for position, index in enumerate(method.inputs):
        value = method.values[index]
        if not isinstance(value.data, TensorInfo):
            continue
        if has_bytes(value.data) and not is_planned(value.data):
            raise InvalidProgram(f"{what}: input {position} is a constant")
        if index in moved:
            raise InvalidProgram(f"{what}: another tensor is moved to input {position}")
    single = (*NUMBERS, Kind.TENSOR, Kind.NONE, Kind.STRING)
    for what_end, indices in (("input", method.inputs), ("output", method.outputs)):
        for position, index in enumerate(indices):
            if method.values[index].kind not in single:
                raise NotBakeable(f"{what}: {what_end} {position} is a {_kind(method.values[index].kind)}")


def _check_writes(plan: MethodPlan, arguments: list[tuple[Argument, int]], location: str) -> None:
    """Checks that a call writes no constant and resizes no tensor that it also reads
    (runtime/executor/arguments.cpp)."""
    uses = tensor_uses(plan.method, arguments)
    for index, is_written in uses:
        tensor = plan.tensor(index)
        lent = index in plan.loose and index in plan.method.inputs
        constant = has_bytes(tensor) and not is_planned(tensor)
        if is_written and (constant or (lent and tensor.dynamism is not Dynamism.STATIC)):
            raise InvalidProgram(
                f"{location}: expected to write planned memory, got value {index}, which is constant or lent"
            )
        is_resized = is_written and tensor.dynamism is not Dynamism.STATIC
        if is_resized and sum(other == index for other, _ in uses) > 1:
            raise InvalidProgram(f"{location}: expected not to resize value {index}, which it also reads")


def tensor_uses(method: Method, arguments: list[tuple[Argument, int]]) -> list[tuple[int, bool]]:
    """The tensors passed to a call, each with True if it is written. Omits values of any kind (`ANY`)."""
    uses = []
    for argument, index in arguments:
        if argument.base in ANY:
            continue
        indices = [index] if method.values[index].kind is Kind.TENSOR else _items(method, index)
        uses += [(i, argument.mutable) for i in indices if method.values[i].kind is Kind.TENSOR]
    return uses


CPP_TYPES = {
    "uint8": ("Byte", "uint8_t"),
    "int8": ("Char", "int8_t"),
    "int16": ("Short", "int16_t"),
    "int32": ("Int", "int32_t"),
    "int64": ("Long", "int64_t"),
    "float16": ("Half", "::rushlight::Half"),
    "float32": ("Float", "float"),
    "float64": ("Double", "double"),
    "complex32": ("ComplexHalf", "::rushlight::Complex<::rushlight::Half>"),
    "complex64": ("ComplexFloat", "::rushlight::Complex<float>"),
    "complex128": ("ComplexDouble", "::rushlight::Complex<double>"),
    "bool": ("Bool", "bool"),
    "qint8": ("QInt8", "int8_t"),
    "quint8": ("QUInt8", "uint8_t"),
    "qint32": ("QInt32", "int32_t"),
    "bfloat16": ("BFloat16", "::rushlight::BFloat16"),
    "uint16": ("UInt16", "uint16_t"),
    "uint32": ("UInt32", "uint32_t"),
    "uint64": ("UInt64", "uint64_t"),
}
"""The enumerator in runtime/tensor/scalar_type.h and the C++ element type, by dtype."""


def cpp_type(dtype: str) -> tuple[str, str] | None:
    """The entry of CPP_TYPES; None for a dtype that the runtime lacks."""
    return CPP_TYPES.get(dtype)
