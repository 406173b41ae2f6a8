# SPDX-License-Identifier: BSD-3-Clause
"""A program as read from its file: methods, values, instructions, segments."""

from __future__ import annotations

import enum
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from rushlight.errors import MethodNotFound
from rushlight.program.dtypes import element_size


class Kind(enum.Enum):
    """The kind of a value, in the order of the file format."""

    NONE = 1
    INT = 2
    BOOL = 3
    DOUBLE = 4
    TENSOR = 5
    STRING = 6
    INT_LIST = 7
    DOUBLE_LIST = 8
    BOOL_LIST = 9
    TENSOR_LIST = 10
    OPTIONAL_TENSOR_LIST = 11


class Dynamism(enum.Enum):
    """The dynamism of a tensor's shape: static, bounded by the given sizes, or unbounded."""

    STATIC = 0
    BOUNDED = 1
    UNBOUNDED = 2


class Storage(enum.Enum):
    """The location of a tensor's bytes: in the file, in planned memory (without or with initial bytes from
    the file), in the caller's memory, or in another file."""

    CONSTANT = "constant"
    PLANNED = "planned"
    MUTABLE = "mutable"
    INPUT = "input"
    EXTERNAL = "external"


DEVICE_TYPES = {0: "cpu", 1: "cuda"}


@dataclass(frozen=True)
class Device:
    """A memory's device: the device type's integer, and the index among devices of that type."""

    type: int = 0
    index: int = 0

    def __str__(self) -> str:
        name = DEVICE_TYPES.get(self.type, f"device type {self.type}")
        return name if self == Device() else f"{name}:{self.index}"


@dataclass(frozen=True)
class TensorInfo:
    """A tensor's dtype, shape and location. `buffer_index` is an index of the constants (CONSTANT) or of the
    mutable data group `mutable_group` (MUTABLE); `memory_id` and `memory_offset` (bytes) locate planned
    memory; `name` is the fully qualified name, if the file has it."""

    dtype: str
    sizes: tuple[int, ...]
    dim_order: tuple[int, ...]
    dynamism: Dynamism
    storage: Storage
    buffer_index: int = 0
    memory_id: int = 0
    memory_offset: int = 0
    mutable_group: int = 0
    name: str = ""
    device: Device = Device()

    @property
    def nbytes(self) -> int:
        """The bytes of the elements, at the upper bound of the shape."""
        return math.prod(self.sizes) * element_size(self.dtype)


@dataclass(frozen=True)
class Value:
    """A value of a method. `data` is None, an int, bool, float, TensorInfo or str; a tuple of bools or
    floats; or for INT_LIST, TENSOR_LIST and OPTIONAL_TENSOR_LIST a tuple of value indices (-1 is None)."""

    kind: Kind
    data: object = None


@dataclass(frozen=True)
class KernelCall:
    """Calls an operator (by index) on values (by index)."""

    operator: int
    arguments: tuple[int, ...]


@dataclass(frozen=True)
class DelegateCall:
    """Calls a delegate (by index) on values (by index)."""

    delegate: int
    arguments: tuple[int, ...]


@dataclass(frozen=True)
class Move:
    """Copies value `source` to value `destination`."""

    source: int
    destination: int


@dataclass(frozen=True)
class JumpFalse:
    """Jumps to instruction `target` if value `condition` is false."""

    condition: int
    target: int


@dataclass(frozen=True)
class Free:
    """Releases the memory of a tensor."""

    value: int


Instruction = KernelCall | DelegateCall | Move | JumpFalse | Free


@dataclass(frozen=True)
class Delegate:
    """A part of the graph compiled for a backend: its id, payload and settings."""

    id: str
    payload: memoryview = field(repr=False)
    compile_specs: tuple[tuple[str, memoryview], ...] = field(repr=False)


@dataclass(frozen=True)
class Method:
    """A method of a program. `operators` are full names ("aten::add.out"); `buffer_sizes` (bytes) are indexed
    by memory id, with 0 reserved; `buffer_devices` are by memory id, missing ones are on the CPU.
    `input_structure` and `output_structure` record the nesting of arguments for exporters; runtimes ignore
    them."""

    name: str
    values: tuple[Value, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    chains: tuple[tuple[Instruction, ...], ...]
    operators: tuple[str, ...]
    delegates: tuple[Delegate, ...]
    buffer_sizes: tuple[int, ...]
    buffer_devices: Mapping[int, Device] = field(default_factory=dict)
    input_structure: str = ""
    output_structure: str = ""

    @property
    def instructions(self) -> tuple[Instruction, ...]:
        """The instructions of all chains; jump targets are relative to their chain."""
        return tuple(instruction for chain in self.chains for instruction in chain)

    def calls(self) -> Iterator[tuple[str, list[Value]]]:
        """Each kernel call: the operator's name and its arguments, return values last."""
        for instruction in self.instructions:
            if isinstance(instruction, KernelCall):
                arguments = [self.values[index] for index in instruction.arguments]
                yield self.operators[instruction.operator], arguments

    def external_tensors(self) -> list[TensorInfo]:
        """The tensors whose data is in a data file, under their name."""
        tensors = [value.data for value in self.values if isinstance(value.data, TensorInfo)]
        return [tensor for tensor in tensors if tensor.storage is Storage.EXTERNAL]

    def tensors_of(self, value: Value) -> list[TensorInfo]:
        """The tensors that a value is or holds."""
        if isinstance(value.data, TensorInfo):
            return [value.data]
        if value.kind not in (Kind.TENSOR_LIST, Kind.OPTIONAL_TENSOR_LIST):
            return []
        assert isinstance(value.data, tuple)
        items = [self.values[index].data for index in value.data if index >= 0]
        return [item for item in items if isinstance(item, TensorInfo)]


@dataclass(frozen=True)
class Segment:
    """Data after the program: offset in the file and size, in bytes."""

    offset: int
    size: int


@dataclass(frozen=True)
class SegmentSlices:
    """Offsets in bytes inside one segment; entry 0 is reserved."""

    segment: int
    offsets: tuple[int, ...]


@dataclass(frozen=True)
class Program:
    """A program file. Constants are in `constants`, or in `inline_constants` (older files)."""

    version: int
    plans: tuple[Method, ...]
    segments: tuple[Segment, ...]
    constants: SegmentSlices | None
    inline_constants: tuple[memoryview, ...] = field(repr=False)
    mutable_groups: tuple[SegmentSlices | None, ...]
    named_data: tuple[tuple[str, int], ...]
    data: memoryview = field(repr=False)
    program_size: int

    def method(self, name: str) -> Method:
        """The method of that name. Errors: MethodNotFound."""
        for method in self.plans:
            if method.name == name:
                return method
        raise MethodNotFound(name, [method.name for method in self.plans])

    def segment(self, index: int) -> memoryview:
        """The bytes of a segment."""
        segment = self.segments[index]
        return self.data[segment.offset : segment.offset + segment.size]

    def constant(self, tensor: TensorInfo) -> memoryview:
        """The file's bytes for a CONSTANT or MUTABLE tensor, whose range was checked when the file was
        read."""
        if tensor.storage is Storage.CONSTANT and self.constants is None:
            return self.inline_constants[tensor.buffer_index][: tensor.nbytes]
        group = self.constants
        if tensor.storage is Storage.MUTABLE:
            group = self.mutable_groups[tensor.mutable_group]
        assert group is not None
        start = group.offsets[tensor.buffer_index]
        return self.segment(group.segment)[start : start + tensor.nbytes]
