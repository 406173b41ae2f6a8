# SPDX-License-Identifier: BSD-3-Clause
"""bake(): generates C++ from a program."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rushlight.codegen.bake import example, project
from rushlight.codegen.bake.example import Sample
from rushlight.codegen.bake.names import identifier, pascal, unique
from rushlight.codegen.bake.plan import MethodPlan, make_plan
from rushlight.codegen.bake.pools import Pools
from rushlight.codegen.bake.source import BakedMethod, header_text, source_text
from rushlight.codegen.bake.tensors import MethodTensors
from rushlight.codegen.bake.weights import Weights
from rushlight.codegen.emit import selected_operators
from rushlight.codegen.includes import shared_sources
from rushlight.codegen.libraries import load_tables
from rushlight.codegen.opinfo import of_program, shown
from rushlight.codegen.selection import Selection
from rushlight.codegen.table import OperatorTable, for_small_targets
from rushlight.errors import InvalidArgument, OperatorNotFound
from rushlight.files import write_bytes
from rushlight.program import (
    DataEntry,
    DebugRecord,
    Method,
    Program,
    read_data_file,
    read_model,
    record_beside,
)
from rushlight.program.model import KernelCall
from rushlight.runtime.needs import kernel_needs
from rushlight.sources import source_root

PathLike = str | os.PathLike[str]

TEMPORARY_BYTES = 16384
"""The default scratch in bytes for kernels that allocate some, the same as the runner's."""

_SCRATCH = "allocate_temp("


@dataclass(frozen=True)
class Baked:
    """The result of bake(): `name` is the namespace and library, `files` are relative to `folder`. Sizes in
    bytes: `weights` for constants and initial states; by method `planned` for the arenas, and `temporary`
    for the kernels' scratch on boards."""

    name: str
    folder: Path
    files: tuple[str, ...]
    methods: tuple[str, ...]
    operators: tuple[str, ...]
    weights: int
    planned: dict[str, int]
    temporary: dict[str, int]

    def to_json(self) -> dict[str, Any]:
        """The result as JSON types."""
        return {
            **vars(self),
            "folder": str(self.folder),
            "files": list(self.files),
            "methods": list(self.methods),
            "operators": list(self.operators),
        }


def bake(
    model: PathLike,
    folder: PathLike,
    *,
    name: str | None = None,
    methods: Sequence[str] = (),
    data_files: Iterable[PathLike] = (),
    weights: str = "incbin",
    temporary_bytes: int | None = None,
    kernels: Iterable[PathLike] = (),
    table: OperatorTable | None = None,
    sample: Sample | None = None,
) -> Baked:
    """Writes the C++ of a program (.pte or .bpte) to `folder`: NAME.cpp, NAME.h, the weights,
    NAME_example.cpp, selected_operators.yaml and CMakeLists.txt. A file whose content does not change
    keeps its time stamp.

    Args:
        model: the program file.
        folder: the folder to write to; it is created.
        name: converted to a C++ identifier. Default: the file's name, or for model.pte its folder's.
        methods: the methods to bake. Default: all.
        data_files: data files (.ptd) with the program's external tensors.
        weights: "incbin" (an assembler file that includes a binary one) or "array" (C++).
        temporary_bytes: the scratch in bytes of each method's kernels. Default: the runner's, or 0 if no
            kernel allocates scratch; for hosts the kernels' own maximum if that is larger and this
            installation's runtime knows it.
        kernels: kernel libraries in addition to rushlight's.
        table: an operator table to use instead of all libraries.
        sample: also write NAME_check.cpp, an application that executes the sample and checks its outputs.

    Errors: InvalidArgument, InvalidProgram, MethodNotFound, BackendNotFound, OperatorNotFound,
    NotBakeable.
    """
    path, out = Path(model), Path(folder)
    if not path.is_file():
        raise InvalidArgument(f"model {path}: expected a file, got none")
    if weights not in ("incbin", "array"):
        raise InvalidArgument(f"weights: expected 'incbin' or 'array', got '{weights}'")
    program = read_model(path)
    table = table or load_tables(source_root() / "kernels" / "ops.yaml", [str(Path(k)) for k in kernels])
    chosen = [program.method(method) for method in methods] or list(program.plans)
    name = program_name(path, name)
    _check_operators(chosen, table, path)
    blob = Weights(program, _external(data_files))
    pools = Pools()
    needs = kernel_needs(path)
    record = _record(path, program)
    baked = []
    for plan in _plans(chosen, table):
        scratch = _temporary(plan, for_small_targets(table), temporary_bytes)
        on_hosts = _temporary(plan, table, temporary_bytes)
        if temporary_bytes is None and not isinstance(needs, str) and plan.method.name in needs:
            on_hosts = max(on_hosts, needs[plan.method.name].scratch)
        tensors = MethodTensors(plan, pools, blob, name)
        baked.append(BakedMethod(tensors, table, scratch, on_hosts, record.method(plan.method.name)))
    origin = shown(path.resolve())
    files: dict[str, str | bytes] = {f"{name}.cpp": source_text(name, origin, baked, blob, pools)}
    files[f"{name}.h"] = header_text(name, origin, baked, blob)
    files[f"{name}_example.cpp"] = example.smallest(name, baked)
    if sample is not None:
        files[f"{name}_check.cpp"] = example.checking(name, baked, sample)
    if blob.blob and weights == "array":
        files[f"{name}_weights.cpp"] = project.weights_array(name, bytes(blob.blob))
    elif blob.blob:
        files[f"{name}_weights.S"] = project.weights_assembly(name)
        files[f"{name}_weights.bin"] = bytes(blob.blob)
    files["selected_operators.yaml"] = _selection(program, chosen, table, origin)
    files["CMakeLists.txt"] = project.cmake_lists(name)
    _write(out, files)
    return Baked(
        name=name,
        folder=out.resolve(),
        files=tuple(files),
        methods=tuple(method.name for method in chosen),
        operators=tuple(sorted(_called(chosen))),
        weights=len(blob.blob),
        planned={b.plan.method.name: b.planned_bytes for b in baked},
        temporary={b.plan.method.name: b.temporary_bytes for b in baked},
    )


def _record(path: Path, program: Program) -> DebugRecord:
    """The debug record beside the file; an empty one if it is missing or unreadable, because layer names only
    appear in comments."""
    with contextlib.suppress(InvalidArgument):
        if record := record_beside(path, program):
            return record
    return DebugRecord("", ())


def program_name(model: Path, name: str | None = None) -> str:
    """The name of a file's baked program."""
    return identifier(name or (model.resolve().parent.name if model.stem == "model" else model.stem))


def _plans(methods: Sequence[Method], table: OperatorTable) -> list[MethodPlan]:
    names = unique(method.name for method in methods)
    return [make_plan(m, name, pascal(name), table) for m, name in zip(methods, names, strict=True)]


def _called(methods: Iterable[Method]) -> set[str]:
    return {
        method.operators[instruction.operator]
        for method in methods
        for instruction in method.instructions
        if isinstance(instruction, KernelCall)
    }


def _check_operators(methods: Sequence[Method], table: OperatorTable, path: Path) -> None:
    missing = {name: [path.name] for name in _called(methods) if name not in table.operators}
    if missing:
        raise OperatorNotFound(missing, table.libraries, table.operators)


def _external(data_files: Iterable[PathLike]) -> dict[str, DataEntry]:
    entries: dict[str, DataEntry] = {}
    for path in map(Path, data_files):
        for entry in read_data_file(path).entries:
            if entry.key in entries:
                raise InvalidArgument(
                    f"data file {path}: expected unique keys, got '{entry.key}' of another data file"
                )
            entries[entry.key] = entry
    return entries


def _temporary(plan: MethodPlan, table: OperatorTable, given: int | None) -> int:
    """The bytes of scratch; 0 if no kernel's sources allocate any."""
    if given is not None:
        return given
    rows = [table.operators[name] for name in sorted(_called([plan.method]))]
    sources = {path.resolve() for row in rows for path in table.source_paths(row)}
    _, _, read = shared_sources(table.path.resolve().parents[1], sorted(sources))
    asks = any(_SCRATCH in file.read_text(encoding="utf-8") for file in read)
    return TEMPORARY_BYTES if asks else 0


def _selection(program: Program, methods: Sequence[Method], table: OperatorTable, origin: str) -> str:
    """selected_operators.yaml: the operators that the methods call, with the dtypes that they need."""
    info = of_program(replace(program, plans=tuple(methods)), table, origin)
    called = _called(methods)
    info.needs = {name: need for name, need in info.needs.items() if name in called}
    selection = Selection(table, by_dtype=True, info=info)
    return selected_operators(selection, selection.resolve())


def _write(out: Path, files: dict[str, str | bytes]) -> None:
    out.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        data = content.encode() if isinstance(content, str) else content
        path = out / name
        if not path.is_file() or path.read_bytes() != data:
            write_bytes(path, data)
