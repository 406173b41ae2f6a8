# SPDX-License-Identifier: BSD-3-Clause
"""Generates a kernel call in C++: each value converted to the kernel's parameter type."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from rushlight.codegen.bake import literals
from rushlight.codegen.bake.plan import ANY, NUMBERS
from rushlight.codegen.bake.tensors import MethodTensors
from rushlight.codegen.schema import Argument
from rushlight.errors import NotBakeable
from rushlight.program.model import Kind, Value

_LISTS = {Kind.INT_LIST: "int64_t", Kind.DOUBLE_LIST: "double", Kind.BOOL_LIST: "bool"}


@dataclass
class Arguments:
    """The arguments of one call. `locals` are statements to place before it."""

    tensors: MethodTensors
    lists: TensorLists
    location: str
    locals: list[str] = field(default_factory=list)

    def expression(self, argument: Argument, index: int) -> str:
        """The expression for a value, whose kind has been checked against the argument."""
        value = self._value(index)
        if argument.base in ANY:
            return self._any(argument, index, value)
        if argument.optional and value.kind is Kind.NONE:
            return self.lists.no_tensor() if argument.base == "Tensor" else "std::nullopt"
        if argument.is_list:
            listed = self._list(argument, index, value)
            return self._optional(argument.cpp_type, listed) if argument.optional else listed
        if argument.base == "Tensor":
            return self._tensor(argument, index)
        one = self._number(argument, index, value)
        return self._optional(argument.cpp_type, one) if argument.optional else one

    def _value(self, index: int) -> Value:
        return self.tensors.plan.method.values[index]

    @staticmethod
    def _optional(cpp_type: str, expression: str) -> str:
        plain = cpp_type.removeprefix("const ").removesuffix("&").replace("<Span", "<rl::Span")
        return f"{plain.replace('<Scalar>', '<rl::Scalar>')}({expression})"

    def _tensor(self, argument: Argument, index: int) -> str:
        handle = self.tensors.handle(index)
        if argument.optional:
            if index not in self.tensors.handles:
                handle = self.lists.optional(handle)
                return f"rl::baked::written({handle})" if argument.mutable else handle
            return self._local("std::optional<rl::Tensor>", handle)
        if argument.mutable and index not in self.tensors.handles:
            return f"rl::baked::written({handle})"
        return handle

    def _number(self, argument: Argument, index: int, value: Value) -> str:
        if argument.base == "str":
            return _string(value)
        kind = {"Scalar": "scalar", "float": "double", "bool": "bool"}.get(argument.base, "int")
        if index in self.tensors.numbers:
            return f"{self._variable(index)}.to_{kind}()"
        return _constant(kind, value)

    def _variable(self, index: int) -> str:
        return f"state.numbers[{self.tensors.numbers[index]}]"

    def _list(self, argument: Argument, index: int, value: Value) -> str:
        if argument.base == "Tensor":
            return self._tensor_list(argument, value)
        items = value.data
        assert isinstance(items, tuple)
        if value.kind is not Kind.INT_LIST:
            return self.tensors.pools.span(_LISTS[value.kind], items)
        data: dict[int, Any] = {item: self._value(item).data for item in items}
        if not any(item in self.tensors.numbers for item in items):
            return self.tensors.pools.span("int64_t", [data[item] for item in items])
        gathered = ", ".join(
            f"{self._variable(item)}.to_int()"
            if item in self.tensors.numbers
            else literals.integer(int(data[item]))
            for item in items
        )
        return f"rl::Span<const int64_t>({self._array('const int64_t', gathered)})"

    def _tensor_list(self, argument: Argument, value: Value) -> str:
        items = value.data
        assert isinstance(items, tuple)
        kind = "std::optional<rl::Tensor>" if argument.optional_items else "rl::Tensor"
        const = "" if argument.mutable else "const "
        if not items:
            return f"rl::Span<{const}{kind}>()"
        handles = [
            "std::nullopt" if item < 0 or self._value(item).kind is Kind.NONE else self.tensors.handle(item)
            for item in items
        ]
        if any(item in self.tensors.handles for item in items):
            return f"rl::Span<{const}{kind}>({self._array(const + kind, ', '.join(handles))})"
        name = self.lists.array(kind, handles)
        if argument.mutable:
            name = f"const_cast<{kind}*>({name})"
        return f"rl::Span<{const}{kind}>({name}, {len(items)})"

    def _any(self, argument: Argument, index: int, value: Value) -> str:
        if index in self.tensors.numbers:
            return self._variable(index)
        match value.kind:
            case Kind.TENSOR:
                content = f"rl::EValue({self.tensors.handle(index)})"
            case Kind.NONE:
                content = "rl::EValue()"
            case Kind.STRING:
                content = f"rl::EValue({_string(value)})"
            case kind if kind in NUMBERS:
                content = self.tensors.number(index)
            case _:
                raise NotBakeable(
                    f"{self.location}: '{argument.name}': expected no list for a value of any kind"
                )
        return self._local("rl::EValue", content) if argument.mutable else content

    def _local(self, kind: str, initial: str) -> str:
        name = f"local{len(self.locals)}"
        self.locals.append(f"{kind} {name} = {initial};")
        return name

    def _array(self, kind: str, items: str) -> str:
        name = f"local{len(self.locals)}"
        self.locals.append(f"{kind} {name}[] = {{{items}}};")
        return name


@dataclass
class TensorLists:
    """The constant arrays of a method's tensor handles and optional handles, without duplicates."""

    _arrays: dict[tuple[str, tuple[str, ...]], str] = field(default_factory=dict)

    def array(self, kind: str, items: Sequence[str]) -> str:
        """The name of an array with these items."""
        return self._arrays.setdefault((kind, tuple(items)), f"list{len(self._arrays)}")

    def optional(self, handle: str) -> str:
        """A constant std::optional<Tensor>."""
        return f"{self.array('std::optional<rl::Tensor>', [handle])}[0]"

    def no_tensor(self) -> str:
        """An empty std::optional<Tensor>."""
        return self.optional("std::nullopt")

    def definitions(self) -> list[str]:
        """The definitions of all arrays in C++."""
        return [
            f"constexpr {kind} {name}[] = {{{', '.join(items)}}};"
            for (kind, items), name in self._arrays.items()
        ]


def _constant(kind: str, value: Value) -> str:
    """A number as a literal of the parameter's type, with EValue's conversions."""
    number = value.data
    assert isinstance(number, (bool, int, float))
    if kind == "int":
        return literals.integer(int(number))
    if kind == "bool":
        return literals.boolean(number)
    if kind == "double":
        return literals.double(float(number))
    if value.kind is Kind.DOUBLE:
        return f"rl::Scalar({literals.double(float(number))})"
    if value.kind is Kind.BOOL:
        return f"rl::Scalar({literals.boolean(number)})"
    return f"rl::Scalar({literals.integer(int(number))})"


def _string(value: Value) -> str:
    text = str(value.data)
    return f"std::string_view({literals.string(text)}, {len(text.encode('utf-8', 'surrogatepass'))})"
