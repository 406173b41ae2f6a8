# SPDX-License-Identifier: BSD-3-Clause
"""Generates a method's tensors: constant objects, and a structure with the tensors that change.

Tensors whose shape and memory never change are constexpr objects, shared if equal, and take no RAM.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from rushlight.codegen.bake import literals
from rushlight.codegen.bake.plan import CPP_TYPES, MethodPlan, has_bytes, is_planned
from rushlight.codegen.bake.pools import Pools
from rushlight.codegen.bake.weights import Weights
from rushlight.program import TensorInfo
from rushlight.program.model import Dynamism, KernelCall, Kind

_DYNAMISM = {
    Dynamism.STATIC: "STATIC",
    Dynamism.BOUNDED: "DYNAMIC_BOUND",
    Dynamism.UNBOUNDED: "DYNAMIC_UNBOUND",
}


def strides_of(tensor: TensorInfo) -> list[int]:
    """Strides in elements, as runtime/tensor/tensor.cpp computes them."""
    strides, stride = [0] * len(tensor.sizes), 1
    for dimension in reversed(tensor.dim_order):
        strides[dimension] = stride
        stride *= max(tensor.sizes[dimension], 1)
    return strides


@dataclass
class MethodTensors:
    """The C++ of a plan's tensors. `t[n]` is the handle of the n-th tensor; `state` has everything that
    changes: `tensors` (loose or resizable ones), `handles` (of tensors to which others are moved),
    `numbers`, and the `sizes` and `strides` of resizable tensors."""

    plan: MethodPlan
    pools: Pools
    weights: Weights
    symbol: str  # the program's prefix for linker symbols

    def __post_init__(self) -> None:
        plan = self.plan
        # Tensors without memory first, so that they are contiguous.
        changing = [i for i in plan.tensors if not plan.is_fixed(i)]
        changing.sort(key=lambda index: index not in plan.loose)
        self.changing = {index: position for position, index in enumerate(changing)}
        self.handles = {index: position for position, index in enumerate(plan.moved)}
        self.numbers = {index: position for position, index in enumerate(plan.numbers)}
        self._sizes = 0
        self.arenas: dict[int, int] = {}
        for tensor in map(plan.tensor, [*plan.tensors, *plan.initial_states]):
            if is_planned(tensor):
                self.arenas[tensor.memory_id] = plan.method.buffer_sizes[tensor.memory_id]
        self.arenas = dict(sorted(self.arenas.items()))
        self._objects: list[str] = []
        self._object_of = self._shared_objects()
        self._handles: dict[str, int] = {}
        for index in plan.tensors:
            if index not in plan.moved:
                self._handles.setdefault(self._initial_handle(index), len(self._handles))

    @property
    def has_state(self) -> bool:
        """True if the method writes anything other than planned memory."""
        return bool(self.changing or self.handles or self.numbers)

    def arena(self, memory_id: int) -> str:
        """The name of an arena."""
        return f"{self.symbol}_{self.plan.id}_arena{memory_id}"

    def handle(self, index: int) -> str:
        """The expression for the Tensor that value `index` is at run time."""
        if index in self.handles:
            return f"state.handles[{self.handles[index]}]"
        return f"t[{self._handles[self._initial_handle(index)]}]"

    def expression(self, index: int) -> str:
        """The address of the tensor's memory, a constant expression; nullptr without memory."""
        tensor = self.plan.tensor(index)
        if is_planned(tensor):
            return _at(self.arena(tensor.memory_id), tensor.memory_offset)
        if has_bytes(tensor):
            if tensor.nbytes == 0:
                return f"{self.symbol}_weights"
            return _at(f"{self.symbol}_weights", self.weights.add(tensor))
        return "nullptr"

    def definitions(self) -> list[str]:
        """All definitions, for the method's namespace."""
        changing = [self._object(index) for index in self.changing]
        lines: list[str] = []
        if self._objects:
            lines += ["constexpr rl::TensorImpl impls[] = {", *(f"{text}," for text in self._objects), "};"]
        if self.has_state:
            lines += self._state(changing)
        if self._handles:
            lines += ["constexpr rl::Tensor t[] = {", *(f"{handle}," for handle in self._handles), "};"]
        return lines

    def _shared_objects(self) -> dict[int, int]:
        """The index in `_objects` of each fixed tensor. Equal tensors share an object, unless one call
        receives both: kernels may compare tensors by their objects' addresses."""
        texts = {i: self._object(i) for i in self.plan.tensors if i not in self.changing}
        alone: set[int] = set()
        for instruction in self.plan.method.instructions:
            if isinstance(instruction, KernelCall):
                met: dict[str, int] = {}
                for index in self._tensors_in(instruction):
                    if index in texts and met.setdefault(texts[index], index) != index:
                        alone.add(index)
        positions: dict[tuple[str, int], int] = {}
        for index, text in texts.items():
            key = (text, index if index in alone else -1)
            if key not in positions:
                positions[key] = len(positions)
                self._objects.append(text)
        return {i: positions[texts[i], i if i in alone else -1] for i in texts}

    def _tensors_in(self, call: KernelCall) -> list[int]:
        found: list[int] = []
        for index in call.arguments:
            value = self.plan.method.values[index]
            if value.kind in (Kind.TENSOR_LIST, Kind.OPTIONAL_TENSOR_LIST):
                assert isinstance(value.data, tuple)
                found += value.data
            else:
                found.append(index)
        return found

    def _state(self, changing: list[str]) -> list[str]:
        parts = [
            ("rl::TensorImpl", "tensors", changing),
            ("rl::Tensor", "handles", [self._initial_handle(index) for index in self.handles]),
            ("rl::EValue", "numbers", [self.number(index) for index in self.numbers]),
            ("int32_t", "sizes", [str(size) for size in self._dynamic_dims("sizes")]),
            ("int32_t", "strides", [str(stride) for stride in self._dynamic_dims("strides")]),
        ]
        parts = [part for part in parts if part[2]]
        return [
            "struct State {",
            *(f"  {kind} {name}[{len(items)}];" for kind, name, items in parts),
            "};",
            "extern State state;",
            "constexpr State initial = {",
            *(
                line
                for _, _, items in parts
                for line in ("    {", *(f"        {i}," for i in items), "    },")
            ),
            "};",
            "State state = initial;",
        ]

    def _initial_handle(self, index: int) -> str:
        if index in self.changing:
            return f"rl::Tensor(&state.tensors[{self.changing[index]}])"
        return f"rl::baked::handle(impls[{self._object_of[index]}])"

    def _dynamic_dims(self, what: str) -> list[int]:
        dims: list[int] = []
        for index in self.changing:
            tensor = self.plan.tensor(index)
            if tensor.dynamism is not Dynamism.STATIC:
                dims += tensor.sizes if what == "sizes" else strides_of(tensor)
        return dims

    def number(self, index: int) -> str:
        """The initial EValue of a scalar."""
        value = self.plan.method.values[index]
        data: Any = value.data
        match value.kind:
            case Kind.INT:
                return f"rl::EValue({literals.integer(int(data))})"
            case Kind.DOUBLE:
                return f"rl::EValue({literals.double(float(data))})"
            case _:
                return f"rl::EValue({literals.boolean(data)})"

    def _object(self, index: int) -> str:
        """The initializer of a TensorImpl."""
        tensor = self.plan.tensor(index)
        kind = f"rl::ScalarType::{CPP_TYPES[tensor.dtype][0]}"
        storage = f"rl::Storage::{self._storage(index)}"
        if tensor.dynamism is not Dynamism.STATIC:
            return self._resizable(index, tensor, kind, storage)
        shape = ""
        if tensor.sizes:
            sizes = self.pools.array("int32_t", tensor.sizes)
            strides = self.pools.array("int32_t", strides_of(tensor))
            order = self.pools.array("uint8_t", tensor.dim_order)
            shape = f"{sizes}, {strides}, {order}, {math.prod(tensor.sizes)}, "
        return f"rl::baked::fixed({kind}, {shape}{self.expression(index)}, {storage})"

    def _resizable(self, index: int, tensor: TensorInfo, kind: str, storage: str) -> str:
        dynamism = f"rl::TensorShapeDynamism::{_DYNAMISM[tensor.dynamism]}"
        shape = ""
        if tensor.sizes:
            order = self.pools.array("uint8_t", tensor.dim_order)
            start = self._sizes
            self._sizes += len(tensor.sizes)
            shape = f"&state.sizes[{start}], &state.strides[{start}], {order}, {math.prod(tensor.sizes)}, "
        return f"rl::baked::resizable({kind}, {shape}{self.expression(index)}, {storage}, {dynamism})"

    def _storage(self, index: int) -> str:
        tensor = self.plan.tensor(index)
        if is_planned(tensor):
            return "Planned"
        if has_bytes(tensor):
            return "Constant"
        return "Lent" if index in self.plan.method.inputs else "None"


def _at(base: str, offset: int) -> str:
    return f"{base} + {offset}" if offset else base
