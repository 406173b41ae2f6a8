# SPDX-License-Identifier: BSD-3-Clause
"""Generates the translation unit and the header of a baked program."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rushlight.codegen.bake import literals
from rushlight.codegen.bake.body import Body
from rushlight.codegen.bake.plan import NUMBERS, MethodPlan
from rushlight.codegen.bake.pools import Pools
from rushlight.codegen.bake.ports import Ports
from rushlight.codegen.bake.tensors import MethodTensors
from rushlight.codegen.bake.weights import Weights
from rushlight.codegen.table import OperatorTable
from rushlight.program.debug import MethodOrigins
from rushlight.program.model import Kind

ARENA_ALIGNMENT = 16
_EMPTY_ARENA = 16
"""The bytes of an empty arena, which still needs an address."""


@dataclass
class BakedMethod:
    """The C++ of one method."""

    tensors: MethodTensors
    table: OperatorTable
    temporary_bytes: int
    host_temporary_bytes: int  # with host kernels
    origins: MethodOrigins

    def __post_init__(self) -> None:
        self.plan: MethodPlan = self.tensors.plan
        self.ports = Ports.of(self.tensors)
        self.body = Body(self.tensors, self.table, "scratch.fresh()", self.origins)
        self.inner = f"{self.plan.id}_baked"

    @property
    def constants(self) -> list[tuple[str, int | str, str]]:
        """(name, value, comment) of the sizes in the header."""
        pascal = self.plan.pascal
        rows: list[tuple[str, int | str, str]] = [
            (f"k{pascal}Arena{i}Bytes", max(size, _EMPTY_ARENA), f"memory id {i}")
            for i, size in self.tensors.arenas.items()
        ]
        rows.append((f"k{pascal}PlannedBytes", self.planned_bytes, "all arenas"))
        rows.append((f"k{pascal}TemporaryBytes", self._temporary(), "scratch of kernels"))
        return rows

    def _temporary(self) -> int | str:
        if self.temporary_bytes == self.host_temporary_bytes:
            return self.temporary_bytes
        return f"RUSHLIGHT_PREPARE_KERNELS ? {self.host_temporary_bytes} : {self.temporary_bytes}"

    @property
    def planned_bytes(self) -> int:
        """The bytes of all arenas."""
        return sum(max(size, _EMPTY_ARENA) for size in self.tensors.arenas.values())

    def arenas(self) -> list[tuple[str, str]]:
        """(name, size constant) of each arena."""
        pascal = self.plan.pascal
        return [(self.tensors.arena(i), f"k{pascal}Arena{i}Bytes") for i in self.tensors.arenas]

    def header(self) -> list[str]:
        """The method's declarations for the header, in the program's namespace."""
        plan = self.plan
        lines = [f"// Method {literals.comment(plan.method.name)}.", ""]
        for name, value, note in self.constants:
            lines.append(f"inline constexpr size_t {name} = {value};  // {note}")
        for port in (*self.ports.inputs, *self.ports.outputs):
            lines += ["", *port.description(plan.pascal)]
        accessors = self.ports.accessors()
        if accessors:
            lines += [
                "",
                "// The memory of inputs, which the caller fills before an execution, and of outputs.",
            ]
            lines += [f"{kind} {plan.id}_{name}();" for kind, name, _ in accessors]
        lines += [
            "",
            f"// Executes the method with the inputs' present content.\n::rushlight::Error {plan.id}();",
        ]
        if parameters := self.ports.parameters():
            lines += [
                "",
                f"// Executes the method with these inputs and copies the outputs.\n"
                f"::rushlight::Error {plan.id}({', '.join(parameters)});",
            ]
        lines += [
            "",
            "// Resets state to the program's initial state; the first execution does that too.",
            f"void {plan.id}_reset();",
            "",
            "// For generic code over baked programs.",
            f"extern const ::rushlight::baked::Method {plan.id}_method;",
            "",
        ]
        return lines

    def inner_namespace(self) -> list[str]:
        """The parts local to the translation unit: tensors, state, and the function that executes the
        method."""
        objects = self.tensors.definitions()
        body = self.body.statements()  # also fills the lists
        lines = [f"namespace {self.inner} {{", "", "namespace rl = ::rushlight;", "", *objects]
        lines += [*self.body.lists.definitions(), "", *self.body.shared.lines, ""]
        lines += [*self._reset(), "", "rl::Error run() {"]
        lines += ["if (!ready) reset();"] if self.plan.initial_states else []
        size = f"k{self.plan.pascal}TemporaryBytes"
        lines.append(f"[[maybe_unused]] rl::baked::Scratch<{size}> scratch(scratch_memory);")
        lines += [
            *body,
            "return rl::Error::Ok;",
            "}",
            "",
            *self._values(),
            "",
            f"}}  // namespace {self.inner}",
        ]
        return lines

    def _reset(self) -> list[str]:
        lines = ["void reset() {"]
        if self.tensors.has_state:
            lines.append("state = initial;")
        for index in self.plan.initial_states:
            tensor = self.plan.tensor(index)
            if tensor.nbytes:
                offset = self.tensors.weights.add(tensor)
                source = f"{self.tensors.symbol}_weights + {offset}"
                lines.append(f"std::memcpy({self.tensors.expression(index)}, {source}, {tensor.nbytes});")
        if self.plan.initial_states:
            return ["bool ready;", "", *lines, "ready = true;", "}"]
        return [*lines, "}"]

    def _values(self) -> list[str]:
        method = self.plan.method
        lines: list[str] = []
        for name, indices in (("input", method.inputs), ("output", method.outputs)):
            lines.append(f"rl::EValue {name}([[maybe_unused]] size_t index) {{")
            lines += ["switch (index) {"] if indices else []
            lines += [f"case {i}: return {self._value(index)};" for i, index in enumerate(indices)]
            lines += ["}"] if indices else []
            lines += ["return rl::EValue();", "}"]
        return lines

    def _value(self, index: int) -> str:
        value = self.plan.method.values[index]
        if value.kind is Kind.TENSOR:
            return f"rl::EValue({self.tensors.handle(index)})"
        if index in self.tensors.numbers:
            return f"state.numbers[{self.tensors.numbers[index]}]"
        if value.kind is Kind.STRING:
            text = str(value.data)
            size = len(text.encode("utf-8", "surrogatepass"))
            return f"rl::EValue(std::string_view({literals.string(text)}, {size}))"
        return self.tensors.number(index) if value.kind in NUMBERS else "rl::EValue()"

    def functions(self) -> list[str]:
        """The definitions of the functions declared in the header."""
        plan, inner = self.plan, self.inner
        lines: list[str] = []
        for kind, name, expression in self.ports.accessors():
            lines += [f"{kind} {plan.id}_{name}() {{", f"using namespace {inner};"]
            lines += [f"return {expression};", "}", ""]
        lines += [f"::rushlight::Error {plan.id}() {{ return {inner}::run(); }}", ""]
        if parameters := self.ports.parameters():
            before, after = self.ports.transfer()
            lines += [f"::rushlight::Error {plan.id}({', '.join(parameters)}) {{"]
            lines += [f"using namespace {inner};"]
            lines += [f"if (!{inner}::ready) {inner}::reset();"] if plan.initial_states else []
            lines += [*before, f"RL_TRY({inner}::run());", *after, "return ::rushlight::Error::Ok;", "}", ""]
        lines += [f"void {plan.id}_reset() {{ {inner}::reset(); }}", "", *self._descriptor(), ""]
        return lines

    def _descriptor(self) -> list[str]:
        method, inner = self.plan.method, self.inner
        state = f"sizeof({inner}::state)" if self.tensors.has_state else "0"
        return [
            f"constexpr ::rushlight::baked::Method {self.plan.id}_method = {{",
            f"{literals.string(method.name)}, {len(method.inputs)}, {len(method.outputs)},",
            f"{self.planned_bytes}, {state}, k{self.plan.pascal}TemporaryBytes,",
            f"&{inner}::reset, &{inner}::run, &{inner}::input, &{inner}::output,",
            "};",
        ]


def header_text(name: str, origin: str, methods: Sequence[BakedMethod], weights: Weights) -> str:
    """The text of NAME.h."""
    lines = [
        "// SPDX-License-Identifier: BSD-3-Clause",
        f"// Generated by `rushlight bake` from {literals.comment(origin)}; do not edit.",
        "#pragma once",
        "",
        "#include <cstddef>",
        "#include <cstdint>",
        "",
        '#include "runtime/baked/method.h"',
        '#include "runtime/base/error.h"',
        '#include "runtime/tensor/scalar_type.h"',
        "",
        f"namespace {name} {{",
        "",
        f"inline constexpr size_t kWeightsBytes = {len(weights.blob)};",
        "",
        *(line for method in methods for line in method.header()),
        "// All methods, by name.",
        "extern const ::rushlight::baked::Program program;",
        "",
        f"}}  // namespace {name}",
        "",
    ]
    arenas = [arena for method in methods for arena in method.arenas()]
    if arenas:
        lines += [
            f"// With {name.upper()}_EXTERN_ARENAS the application defines these arrays itself,",
            f"// aligned to {ARENA_ALIGNMENT}.",
            'extern "C" {',
            *(f"extern uint8_t {arena}[{name}::{size}];" for arena, size in arenas),
            "}",
        ]
    return "\n".join(lines).rstrip() + "\n"


def source_text(
    name: str, origin: str, methods: Sequence[BakedMethod], weights: Weights, pools: Pools
) -> str:
    """The text of NAME.cpp; also fills `weights` and `pools`."""
    inner = [[*method.inner_namespace(), ""] for method in methods]
    macro = name.upper()
    scratch = "".join(f"k{method.plan.pascal}TemporaryBytes, " for method in methods)
    lines = [
        "// SPDX-License-Identifier: BSD-3-Clause",
        f"// Generated by `rushlight bake` from {literals.comment(origin)}; do not edit.",
        f'#include "{name}.h"',
        "",
        "#include <algorithm>",
        "#include <cstring>",
        "",
        '#include "runtime/baked/steps.h"',
        "",
        "// The kernel of each operator in this build.",
        '#include "rushlight/selected_kernels.h"',
        "",
    ]
    if weights.blob:
        lines += [f'extern "C" const uint8_t {name}_weights[{name}::kWeightsBytes];', ""]
    arenas = [arena for method in methods for arena in method.arenas()]
    if arenas:
        lines += [
            f"// {macro}_ARENA is added to the declaration of an arena, for example a section attribute.",
            f"#ifndef {macro}_ARENA",
            f"#define {macro}_ARENA RL_BAKED_ARENA",
            "#endif",
            f"#ifndef {macro}_EXTERN_ARENAS",
            *(
                f'extern "C" {{ alignas({ARENA_ALIGNMENT}) {macro}_ARENA uint8_t {arena}[{name}::{size}]; }}'
                for arena, size in arenas
            ),
            "#endif",
            "",
        ]
    lines += [
        f"namespace {name} {{",
        "",
        "namespace {",
        "",
        "namespace rl = ::rushlight;",
        "",
        *pools.definitions(),
        "",
        "// Shared by all methods, of which one executes at a time.",
        f"constexpr size_t kScratchBytes = std::max<size_t>({{{scratch}size_t{{1}}}});",
        "[[maybe_unused]] alignas(64) uint8_t scratch_memory[kScratchBytes];",
        "",
        *(line for part in inner for line in part),
        "}  // namespace",
        "",
        *(line for method in methods for line in method.functions()),
        "namespace {",
        "constexpr ::rushlight::baked::Method all_methods[] = {",
        *(f"{method.plan.id}_method," for method in methods),
        "};",
        "}  // namespace",
        "",
        "constexpr ::rushlight::baked::Program program = {",
        f"{literals.string(name)}, kWeightsBytes, all_methods,",
        "};",
        "",
        f"}}  // namespace {name}",
    ]
    return indented(lines)


def indented(lines: Sequence[str]) -> str:
    """Indents the lines by their brace depth; namespaces do not count."""
    depth, shown = 0, []
    for line in lines:
        text = line.strip()
        outer = text.startswith(("namespace ", 'extern "C" {', "}  // namespace", "#"))
        closes = text.startswith("}") and not outer
        depth = max(depth - closes, 0)
        shown.append(text if outer else "  " * depth + text if text else "")
        depth += text.endswith("{") and not outer
    return "\n".join(shown) + "\n"
