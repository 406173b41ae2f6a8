# SPDX-License-Identifier: BSD-3-Clause
"""Converts programs: delegates to plain calls, and quantized float subgraphs to integer operators."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import ModuleType
from typing import Any

import numpy as np

from rushlight.codegen.table import Operator
from rushlight.convert.delegates import has_delegates, without_delegates
from rushlight.convert.graph import ProgramCall, ProgramGraph
from rushlight.convert.order import arrange
from rushlight.convert.outputs import keep_memory_kinds, memory_kinds
from rushlight.convert.reading import Unread, read
from rushlight.convert.views import elide_views
from rushlight.integers.graph import Call
from rushlight.integers.match import rewrite_graph
from rushlight.integers.names import DEQUANTIZE, QUANTIZE
from rushlight.integers.rules import Settings
from rushlight.lowered.data import ArrayPool
from rushlight.lowered.emit import Emitter, Pools
from rushlight.lowered.in_place import reuse_inputs
from rushlight.lowered.planning import plan_memory
from rushlight.program import (
    Method,
    Program,
    ProgramParts,
    Storage,
    TensorInfo,
    Value,
    parts_of,
    write_program,
)
from rushlight.program.dim_order import row_major
from rushlight.runtime import native

NOT_QUANTIZED = "it has no quantized tensors"
"""The reason why most programs stay unchanged."""

Source = str | os.PathLike[str] | bytes | bytearray | memoryview


@dataclass(frozen=True)
class Float:
    """A quantized call that computes in float: its index in the file, its operator, and the reason."""

    instruction: int
    operator: str
    reason: str


@dataclass
class MethodConversion:
    """The conversion of a method: `delegates` is the number replaced by plain calls, `kept_delegates` has the
    reasons of the others; `kept` is the reason why the method was not converted at all; `origins` has, for
    each instruction, the index of its origin in the file. `planned_before` and `planned_after` are the
    arena's bytes."""

    name: str
    delegates: int = 0
    kept_delegates: list[str] = field(default_factory=list)
    replaced: list[str] = field(default_factory=list)
    in_float: list[Float] = field(default_factory=list)
    kept: str = ""
    planned_before: int = 0
    planned_after: int = 0
    origins: list[int] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """The report of the method as JSON types."""
        return {
            "name": self.name,
            "delegates": self.delegates,
            "kept_delegates": self.kept_delegates,
            "in_integers": self.replaced,
            "in_float": [vars(each) for each in self.in_float],
            "kept": self.kept or None,
            "planned_before": self.planned_before,
            "planned_after": self.planned_after,
        }


@dataclass
class Conversion:
    """The conversion of a program. `parts` is None if nothing changed."""

    methods: list[MethodConversion]
    parts: ProgramParts | None = None

    @property
    def is_changed(self) -> bool:
        """True if a delegate was replaced, or an operator newly computes in integers."""
        return self.parts is not None

    @cached_property
    def buffer(self) -> bytes:
        """The bytes of the converted file. Only valid if `is_changed`."""
        assert self.parts is not None
        return write_program(self.parts).tobytes()

    def to_json(self) -> dict[str, Any]:
        """The report as JSON types."""
        return {"changed": self.is_changed, "methods": [method.to_json() for method in self.methods]}


def is_quantized(program: Program) -> bool:
    """True if a program has operators to which the rules apply."""
    names = {name.partition(".")[0] for method in program.plans for name in method.operators}
    return {QUANTIZE, DEQUANTIZE} <= names


def convert(
    program: Program,
    operators: Mapping[str, Operator],
    *,
    settings: Settings = Settings(),  # noqa: B008
    integers: bool = True,
    module: ModuleType | None = None,
    data_files: Sequence[str | os.PathLike[str]] = (),
) -> Conversion:
    """Converts a program: delegates lowered to XNNPACK become plain calls, and quantized float subgraphs
    become integer operators. A method that cannot be proven convertible stays unchanged, with the reason.

    Args:
        program: the program to convert.
        operators: the operators that the converted program may call, by name.
        settings: the rounding of integer operators.
        integers: convert quantized subgraphs.
        module: the native module that reads delegates' payloads. Default: the package's own.
        data_files: data files (.ptd) with weights of delegates.

    Errors: InvalidProgram; InvalidArgument for data files.
    """
    done = [MethodConversion(plan.name, planned_before=sum(plan.buffer_sizes)) for plan in program.plans]
    if has_delegates(program):
        used = native.default_module() if module is None else module
        program, reports = without_delegates(program, used, data_files)
        for each, report in zip(done, reports, strict=True):
            each.delegates, each.kept_delegates, each.origins = report.replaced, report.kept, report.origins
    plain = Conversion(done, parts_of(program)) if any(each.delegates for each in done) else Conversion(done)
    for each, plan in zip(done, program.plans, strict=True):
        each.planned_after = sum(plan.buffer_sizes)
    reason = _reason_to_keep(program)
    if not any(each.delegates for each in done) and not (integers and is_quantized(program)):
        reason = reason or NOT_QUANTIZED
    if reason:
        for each in done:
            each.kept = reason
        return plain
    parts = parts_of(program)
    pools = Pools(ArrayPool(), ArrayPool())
    converter = _Converter(program, operators, pools, settings if integers else None)
    methods = [converter.method(plan, each) for plan, each in zip(parts.methods, done, strict=True)]
    if not any(each.replaced or each.delegates for each in done):
        return Conversion(done)
    named = dict(parts.named_data)
    return Conversion(done, ProgramParts(tuple(methods), pools.constants.pieces, pools.mutable.pieces, named))


def _reason_to_keep(program: Program) -> str:
    if len(program.mutable_groups) > 1:
        return f"it has {len(program.mutable_groups)} groups of initial state"
    if len(program.plans) > 1 and program.mutable_groups:
        return "its methods may share state"
    return ""


class _Converter:
    """Converts the methods of one program into shared pools."""

    def __init__(
        self,
        program: Program,
        operators: Mapping[str, Operator],
        pools: Pools,
        settings: Settings | None,
    ) -> None:
        self.program, self.operators, self.pools = program, operators, pools
        self.settings = settings

    def method(self, plan: Method, done: MethodConversion) -> Method:
        """Converts a method if possible and fills in its report `done`."""
        try:
            method = read(plan, self.operators, self.program.constant)
        except Unread as reason:
            done.kept = str(reason)
            return self._unchanged(plan)
        graph = ProgramGraph(method, self.operators)
        ends = memory_kinds(method.lowered.outputs)
        before = _conversions(graph)
        if self.settings is not None:
            report = rewrite_graph(graph, self.settings)
            done.replaced = report.replaced
            done.in_float = [_reported(call, reason) for call, reason in report.refused]
        if _conversions(graph) >= before and not done.delegates:
            done.replaced = []
            return self._unchanged(plan)
        keep_memory_kinds(graph, ends)
        arrange(graph)
        elide_views(method)
        reuse_inputs(method.lowered, self._has_trait)
        planned = plan_memory(method.lowered)
        emitter = Emitter(method.lowered, planned.memory_map, self.pools)
        made = emitter.method()
        done.planned_after = sum(made.buffer_sizes)
        before_delegates = done.origins
        done.origins = [
            before_delegates[origin.handle] if before_delegates else origin.handle
            for origin in emitter.origins
        ]
        return made

    def _has_trait(self, row: str, trait: str) -> bool:
        return trait in self.operators[row].traits

    def _unchanged(self, plan: Method) -> Method:
        """The method unchanged, with its constants added to the pools."""
        values = tuple(self._pooled(value) for value in plan.values)
        return replace(plan, values=values)

    def _pooled(self, value: Value) -> Value:
        tensor = value.data
        if not isinstance(tensor, TensorInfo) or tensor.storage not in (Storage.CONSTANT, Storage.MUTABLE):
            return value
        pool = self.pools.constants if tensor.storage is Storage.CONSTANT else self.pools.mutable
        data = np.frombuffer(self.program.constant(tensor), np.uint8)
        return replace(value, data=replace(tensor, buffer_index=pool.add(data, row_major(1))))


def _conversions(graph: ProgramGraph) -> int:
    """The number of calls that quantize or dequantize."""
    return sum(call.operator in (QUANTIZE, DEQUANTIZE) for call in graph.calls())


def _reported(call: Call, reason: str) -> Float:
    assert isinstance(call, ProgramCall)
    return Float(call.call.origin.handle, call.operator, reason)
