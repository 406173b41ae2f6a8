# SPDX-License-Identifier: BSD-3-Clause
"""A method's inputs and outputs as the application uses them: typed functions over plain arrays."""

from __future__ import annotations

import math
from dataclasses import dataclass

from rushlight.codegen.bake.plan import CPP_TYPES, is_planned
from rushlight.codegen.bake.tensors import MethodTensors
from rushlight.program import TensorInfo
from rushlight.program.dim_order import is_row_major
from rushlight.program.model import Dynamism


@dataclass(frozen=True)
class Port:
    """A tensor that is an input or output; `name` is input0, output0, and so on."""

    name: str
    position: int
    index: int
    tensor: TensorInfo
    is_input: bool
    handle: str
    has_memory: bool  # in the program: planned or constant
    is_fixed: bool

    @property
    def element(self) -> str:
        """The C++ type of an element."""
        return CPP_TYPES[self.tensor.dtype][1]

    @property
    def is_dynamic(self) -> bool:
        """True if calls pass or receive sizes."""
        return self.tensor.dynamism is not Dynamism.STATIC

    def parameters(self) -> list[str]:
        """The parameters for it in the function that executes the method."""
        const = "const " if self.is_input else ""
        listed = [f"{const}{self.element}* {self.name}"]
        if self.is_dynamic and self.tensor.sizes:
            listed.append(f"{const}int32_t* {self.name}_sizes")
        return listed

    def description(self, prefix: str) -> list[str]:
        """A struct of constants for the header."""
        sizes = ", ".join(map(str, self.tensor.sizes)) or "1"
        bound = ", at most" if self.is_dynamic else ""
        order = self.tensor.dim_order
        layout = "" if is_row_major(order) else f", in memory by dimensions {', '.join(map(str, order))}"
        return [
            f"struct {prefix}{self.name.capitalize()} {{  // {self.tensor.dtype}{bound}{layout}",
            f"  using Element = {self.element};",
            f"  static constexpr ::rushlight::ScalarType kType = "
            f"::rushlight::ScalarType::{CPP_TYPES[self.tensor.dtype][0]};",
            f"  static constexpr size_t kRank = {len(self.tensor.sizes)};",
            f"  static constexpr int32_t kSizes[] = {{{sizes}}};",
            f"  static constexpr size_t kElements = {math.prod(self.tensor.sizes)};",
            f"  static constexpr size_t kBytes = {self.tensor.nbytes};",
            "};",
        ]


@dataclass(frozen=True)
class Ports:
    """The tensors among a method's inputs and outputs."""

    tensors: MethodTensors
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]

    @staticmethod
    def of(tensors: MethodTensors) -> Ports:
        """The ports of a method."""
        method = tensors.plan.method
        return Ports(
            tensors,
            tuple(_ports(tensors, method.inputs, True)),
            tuple(_ports(tensors, method.outputs, False)),
        )

    def accessors(self) -> list[tuple[str, str, str]]:
        """(return type, name, expression) of the functions that return the memory of inputs and outputs."""
        found = []
        for port in (*self.inputs, *self.outputs):
            if not port.has_memory:
                continue
            const = "" if port.is_input else "const "
            read = "mutable" if port.is_input else "const"
            expression = f"{port.handle}.{read}_data_ptr<{port.element}>()"
            found.append((f"{const}{port.element}*", port.name, expression))
        return found

    def parameters(self) -> list[str]:
        """The parameters of the function with inputs and outputs; empty without tensors."""
        return [p for port in (*self.inputs, *self.outputs) for p in port.parameters()]

    def transfer(self) -> tuple[list[str], list[str]]:
        """The statements before the method is executed, and after it."""
        before = [line for port in self.inputs for line in self._take(port)]
        after: list[str] = []
        for port in self.outputs:
            if port.index in self.tensors.plan.loose and port.index not in self.tensors.plan.method.inputs:
                before.append(
                    f"RL_TRY(rl::set_output_memory({port.position}, rl::EValue({port.handle}), "
                    f"{{reinterpret_cast<uint8_t*>({port.name}), {port.tensor.nbytes}}}));"
                )
            after += self._give(port)
        return before, after

    def _take(self, port: Port) -> list[str]:
        if port.is_fixed:
            if port.tensor.nbytes == 0:
                return []
            target = f"{port.handle}.mutable_data_ptr()"
            return [f"std::memmove({target}, {port.name}, {port.tensor.nbytes});"]
        sizes = "nullptr"
        if port.tensor.sizes:
            sizes = f"{port.name}_sizes" if port.is_dynamic else f"{port.handle}.sizes().data()"
        return [f"RL_TRY(rl::baked::take_input({port.position}, {port.handle}, {port.name}, {sizes}));"]

    @staticmethod
    def _give(port: Port) -> list[str]:
        if port.is_fixed:
            if port.tensor.nbytes == 0:
                return []
            source = f"{port.handle}.const_data_ptr()"
            return [f"std::memmove({port.name}, {source}, {port.tensor.nbytes});"]
        sizes = f"{port.name}_sizes" if port.is_dynamic and port.tensor.sizes else "nullptr"
        return [f"rl::baked::give_output({port.handle}, {port.name}, {sizes});"]


def _ports(tensors: MethodTensors, indices: tuple[int, ...], is_input: bool) -> list[Port]:
    plan = tensors.plan
    ports = []
    for position, index in enumerate(indices):
        tensor = plan.method.values[index].data
        if not isinstance(tensor, TensorInfo):
            continue
        stays = index not in plan.moved
        ports.append(
            Port(
                name=f"{'input' if is_input else 'output'}{position}",
                position=position,
                index=index,
                tensor=tensor,
                is_input=is_input,
                handle=tensors.handle(index),
                has_memory=is_planned(tensor) or (not is_input and index not in plan.loose),
                is_fixed=plan.is_fixed(index) and stays,
            )
        )
    return ports
