# SPDX-License-Identifier: BSD-3-Clause
"""Checks whether a program can run, without running it: compares its operators, dtypes, delegates and memory
with the operator table and a target."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from rushlight import targets
from rushlight.codegen.promise import Operand, call_problem
from rushlight.codegen.table import OperatorTable, load_table
from rushlight.convert.api import convert
from rushlight.errors import InvalidArgument
from rushlight.program import (
    DebugRecord,
    Device,
    Method,
    TensorInfo,
    Value,
    arena_bytes,
    read_data_file,
    read_model,
    read_program,
    record_beside,
)
from rushlight.program.model import DelegateCall, KernelCall
from rushlight.run.capacity import capacity_findings
from rushlight.run.findings import Finding, raise_if_any
from rushlight.sources import source_root


@dataclass(frozen=True)
class CheckReport:
    """The findings of a check; the program runs if there are none. `calls` is the number of calls of
    `operators`. `external` are the keys that data files must contain. With `has_record` findings name
    source lines. `memory` has the bytes of planned memory and of the method arena by method, for pointers
    of the target, or of this machine without a target. `conversion` tells for each method which parts
    compute in integers (MethodConversion.to_json)."""

    model: str
    target: str | None
    findings: list[Finding]
    calls: int
    operators: list[str]
    delegates: list[str]
    model_bytes: int
    memory: dict[str, dict[str, int]]
    external: list[str] = field(default_factory=list)
    has_record: bool = False
    conversion: list[dict[str, Any]] = field(default_factory=list)

    @property
    def runs(self) -> bool:
        """True if there are no findings."""
        return not self.findings

    def to_json(self) -> dict[str, Any]:
        """The report as JSON types."""
        findings = [finding.to_json() for finding in self.findings]
        return {"runs": self.runs, **vars(self), "findings": findings}

    def raise_if_any(self) -> None:
        """Error: NotRunnable with all findings."""
        where = f" on {self.target}" if self.target else ""
        raise_if_any(self.findings, f"{self.model} cannot run{where}")


def check(
    model: str | os.PathLike[str],
    *,
    target: str | None = None,
    built: Mapping[str, Collection[str]] | None = None,
    backends: Collection[str] = (),
    data_files: Sequence[str | os.PathLike[str]] | None = None,
    table: OperatorTable | None = None,
    integers: bool = True,
) -> CheckReport:
    """Checks a program or bundled program of any exporter.

    `target` also checks the memory of that machine. `built` restricts the operators and their dtypes to a
    build's (BuildResult.selection), `backends` are the ids of its backends. `data_files` are checked for
    the keys of external tensors. `table` is an operator table that replaces kernels/ops.yaml. With
    `integers` a program that can be converted is checked in the form in which it runs: with its quantized
    parts in integers.

    Errors: InvalidProgram, InvalidArgument (no such file), UnknownTarget.
    """
    path = Path(model)
    if not path.is_file():
        raise InvalidArgument(f"model {path}: no such file")
    chosen = None if target is None else targets.get(target)
    given = read_model(path)
    record = record_beside(path, given)
    files = None if data_files is None else [Path(file) for file in data_files]
    table = table or load_table(source_root() / "kernels" / "ops.yaml")
    done = convert(given, table.operators, integers=integers, data_files=files or ())
    program = read_program(done.buffer) if done.is_changed else given
    origins_of = {each.name: each.origins for each in done.methods if each.origins}
    findings: list[Finding] = []
    for method in program.plans:
        origins = origins_of.get(method.name)
        listed = [*_calls(method, table, built), *_delegates(method, backends)]
        findings += [_located(each, origins, record) for each in listed]
        findings += _devices(method)
        findings += [] if files is None else _external(method, files)
    if chosen is not None:
        stored = len(program.data) + sum(file.stat().st_size for file in files or [])
        findings += capacity_findings(program.plans, chosen, stored)
    return CheckReport(
        model=str(path),
        target=target,
        findings=findings,
        calls=sum(1 for method in program.plans for _ in _kernel_calls(method)),
        operators=sorted({name for method in program.plans for name in method.operators}),
        delegates=sorted({delegate.id for method in program.plans for delegate in method.delegates}),
        model_bytes=len(program.data),
        memory={method.name: _memory(method, chosen or targets.get("host")) for method in program.plans},
        external=sorted({tensor.name for method in program.plans for tensor in method.external_tensors()}),
        has_record=record is not None,
        conversion=[each.to_json() for each in done.methods],
    )


def _memory(method: Method, target: targets.Target) -> dict[str, int]:
    return {
        "planned": sum(method.buffer_sizes[1:]),
        "method_arena": arena_bytes(method, 8 * target.pointer_bytes),
    }


def _kernel_calls(method: Method) -> Iterator[tuple[int, int, KernelCall]]:
    """The kernel calls of a method, each with its chain and its index in the chain."""
    for chain, instructions in enumerate(method.chains):
        for index, instruction in enumerate(instructions):
            if isinstance(instruction, KernelCall):
                yield chain, index, instruction


def _calls(
    method: Method,
    table: OperatorTable,
    built: Mapping[str, Collection[str]] | None,
) -> Iterator[Finding]:
    called = set()
    for chain, index, call in _kernel_calls(method):
        name = method.operators[call.operator]
        called.add(name)
        operands = [_operand(method, method.values[value]) for value in call.arguments]
        problem = call_problem(table, name, operands, built=built)
        if problem is not None:
            yield Finding(
                method.name,
                problem.reason,
                problem.message,
                problem.remedy,
                name,
                index,
                chain,
            )
    # A loader resolves all operators that a method lists.
    for name in method.operators:
        problem = None if name in called else call_problem(table, name, built=built)
        if problem is not None:
            yield Finding(method.name, problem.reason, problem.message, problem.remedy, name)


def _operand(method: Method, value: Value) -> Operand:
    tensors = tuple((tensor.dtype, len(tensor.sizes)) for tensor in method.tensors_of(value))
    return Operand(value.kind.name.lower().replace("_", " "), tensors)


def _located(finding: Finding, origins: Sequence[int] | None, record: DebugRecord | None) -> Finding:
    """The finding with the instruction's index in the file before conversion, and the model's source line."""
    if finding.instruction is None:
        return finding
    index = finding.instruction if origins is None else origins[finding.instruction]
    origin = record.method(finding.method).at(index, finding.chain) if record else None
    return replace(finding, instruction=index, source=str(origin) if origin else "")


def _delegates(method: Method, backends: Collection[str]) -> Iterator[Finding]:
    remedy = "export without that delegate, or build with the backend"
    called = set()
    for chain, instructions in enumerate(method.chains):
        for index, call in enumerate(instructions):
            if isinstance(call, DelegateCall):
                called.add(call.delegate)
                name = method.delegates[call.delegate].id
                if name not in backends:
                    message = f"backend '{name}' is missing"
                    yield Finding(method.name, "delegate", message, remedy, name, index, chain)
    for number, delegate in enumerate(method.delegates):
        if number not in called and delegate.id not in backends:
            yield Finding(method.name, "delegate", f"backend '{delegate.id}' is missing", remedy, delegate.id)


def _devices(method: Method) -> Iterator[Finding]:
    tensors = [value.data.device for value in method.values if isinstance(value.data, TensorInfo)]
    for device in dict.fromkeys([*method.buffer_devices.values(), *tensors]):
        if device != Device():
            message = f"memory on {device} is asked for, rushlight has the CPU only"
            yield Finding(method.name, "device", message, "export the model for the CPU")


def _external(method: Method, files: Iterable[Path]) -> Iterator[Finding]:
    """Finds external tensors that are missing in the data files, or have another dtype or shape there."""
    held = {entry.key: entry for path in files for entry in read_data_file(path).entries}
    remedy = "give the .ptd file that was exported with the program"
    for tensor in method.external_tensors():
        entry = held.get(tensor.name)
        if entry is None:
            yield Finding(method.name, "data", f"tensor '{tensor.name}' is in no data file", remedy)
        elif (entry.dtype, entry.sizes) != (tensor.dtype, tensor.sizes):
            message = (
                f"tensor '{tensor.name}': {tensor.dtype} {list(tensor.sizes)} expected, "
                f"the data file has {entry.dtype or 'no tensor'} {list(entry.sizes)}"
            )
            yield Finding(method.name, "data", message, remedy)
