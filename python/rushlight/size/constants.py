# SPDX-License-Identifier: BSD-3-Clause
"""The sizes of arenas and stack as a C++ header, for an application that reserves them itself."""

from __future__ import annotations

from collections.abc import Sequence

from rushlight.codegen.bake.literals import comment, string
from rushlight.codegen.bake.names import unique
from rushlight.size.arenas import MethodArenas
from rushlight.size.report import SizeReport

_HEAD = """// Written by `rushlight size --header` for {what}.
// All sizes are in bytes; the memory is aligned to 16.
#pragma once

#include <cstddef>

namespace rushlight_memory {{

// {stack_note}
inline constexpr std::size_t kStack = {stack};
// Of it, what Method::load() and Method::execute() take.
inline constexpr std::size_t kLoadStack = {load};
inline constexpr std::size_t kExecuteStack = {execute};

struct MethodMemory {{
  const char* method;
  std::size_t arena;
  const std::size_t* planned;  // memory id 1 first
  std::size_t planned_count;
  std::size_t temporary;
}};
"""

_METHOD = """
// {method}
namespace {identifier} {{
inline constexpr std::size_t kArena = {arena};
inline constexpr std::size_t kPlanned[] = {{{planned}}};
inline constexpr std::size_t kPlannedCount = {count};
inline constexpr std::size_t kTemporary = {temporary};
// Tensors that the application lends.
inline constexpr std::size_t kInputs = {inputs};
inline constexpr std::size_t kOutputs = {outputs};
}}  // namespace {identifier}
"""


def constants_header(report: SizeReport) -> str:
    """The header's text. If several models have a method of the same name, the namespace begins with the
    model's name, and `kMethods` has the maximum over all of them."""
    stack = report.stack
    parts = [
        _HEAD.format(
            what=comment(f"{_models(report)} on {report.target}"),
            stack_note=_stack_note(report),
            stack=_aligned(report.stack_bytes or 0),
            load=stack.load if stack else 0,
            execute=stack.execute if stack else 0,
        )
    ]
    for method, identifier in zip(report.methods, _namespaces(report.methods), strict=True):
        parts.append(
            _METHOD.format(
                method=comment(f"{method.model} {method.method}"),
                identifier=identifier,
                arena=method.method_arena,
                planned=", ".join(map(str, method.planned)) or "0",
                count=len(method.planned),
                temporary=method.temporary,
                inputs=method.inputs,
                outputs=method.outputs,
            )
        )
    return "".join([*parts, _table(report.methods), "\n}  // namespace rushlight_memory\n"])


def _models(report: SizeReport) -> str:
    return ", ".join(dict.fromkeys(method.model for method in report.methods))


def _stack_note(report: SizeReport) -> str:
    if report.stack is None:
        return "Measured in one run: no bound." if report.stack_peak else "Not known."
    return (
        "The most that the program needs, from reset."
        if report.stack.is_bound
        else "No bound: not everything is known, see the report."
    )


def _table(methods: Sequence[MethodArenas]) -> str:
    rows = []
    planned_arrays: list[str] = []
    for name in dict.fromkeys(method.method for method in methods):
        alike = [method for method in methods if method.method == name]
        count = max(len(method.planned) for method in alike)
        planned = [max((m.planned[i] for m in alike if i < len(m.planned)), default=0) for i in range(count)]
        array = f"kPlannedOf{len(planned_arrays)}"
        listed = ", ".join(map(str, planned)) or "0"
        planned_arrays.append(f"inline constexpr std::size_t {array}[] = {{{listed}}};\n")
        arena = max(method.method_arena for method in alike)
        temporary = max(method.temporary for method in alike)
        rows.append(f"    {{{string(name)}, {arena}, {array}, {count}, {temporary}}},\n")
    return (
        "\n"
        + "".join(planned_arrays)
        + "inline constexpr MethodMemory kMethods[] = {\n"
        + "".join(rows)
        + "};\n"
    )


def _aligned(size: int) -> int:
    return -(-size // 16) * 16


def _namespaces(methods: Sequence[MethodArenas]) -> list[str]:
    """A distinct C++ identifier for each method, whatever its name is."""
    names = [method.method for method in methods]
    return unique(
        name if names.count(name) == 1 else f"{method.model.removesuffix('.pte')}_{name}"
        for name, method in zip(names, methods, strict=True)
    )
